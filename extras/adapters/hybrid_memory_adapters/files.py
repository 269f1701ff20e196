"""Text files below ``/memories`` in a store: what the commands of Anthropic's memory tool do, without that package.

The answers and errors are those of the SDK's own tool on a disk, which models know. Two things differ: folders exist as long as there is a
file in them, and the size of a folder is that of its files.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from posixpath import normpath
from typing import Any

from hybrid_memory.errors import HybridMemoryError
from hybrid_memory.model import ITEM_SESSIONS
from hybrid_memory_adapters.hub_store import HubStore

ROOT = "/memories"
SESSION = ITEM_SESSIONS[0]  # the collection of the files
_NUMBER_WIDTH = 6  # of a line's number
_LEVELS = 2  # of folders that a view shows
_CONTEXT = 2  # lines before and behind a change
_BLANK = "blank"  # in the metadata of a file without a visible character, which is no statement: its text
_NOT_THERE = "The path {} does not exist. Please provide a valid path."


class FileError(Exception):
    """What a model reads when a command cannot be done."""


class MemoryFiles:
    """The files of a namespace, by their paths."""

    def __init__(self, store: HubStore) -> None:
        self._store = store

    def view(self, path: str, view_range: Sequence[int] | None = None) -> str:
        """Return a file with line numbers, or what is in a folder, two levels deep."""
        place = checked(path)
        item = self._item(place)
        if item is not None:
            return file_text(path, _text(item), view_range)
        files = self._files()
        below = _below(place, files)
        if place != ROOT and not below:
            raise FileError(_NOT_THERE.format(path))
        return folder_text(path, {one[len(place) + 1 :]: len(files[one].encode()) for one in below})

    def create(self, path: str, text: str) -> str:
        """Store a new file."""
        place = checked(path)
        files = self._files()
        if place in files or place == ROOT or _below(place, files):
            raise FileError(f"File {path} already exists")
        self._refuse_file_as_folder(place, files)
        self._put(place, text, "")
        return f"File created successfully at: {path}"

    def str_replace(self, path: str, old: str, new: str) -> str:
        """Replace a text that is in a file once."""
        place, item = self._file(path)
        text, line = replaced(path, _text(item), old, new)
        self._put(place, text, item["id"])
        lines = text.split("\n")
        first = max(0, line - _CONTEXT)
        snippet = _numbered(lines[first : line + _CONTEXT + 1], first + 1)
        return (
            f"The memory file has been edited. Here is the snippet showing the change (with line numbers):\n{snippet}"
        )

    def insert(self, path: str, line: int, text: str) -> str:
        """Insert a text behind a line; 0 is the beginning."""
        place, item = self._file(path)
        self._put(place, inserted(_text(item), line, text), item["id"])
        return f"The file {path} has been edited."

    def delete(self, path: str) -> str:
        """Forget a file, or a folder with all that is in it."""
        place = checked(path)
        if place == ROOT:
            raise FileError("Cannot delete the /memories directory itself")
        found = self._named(path, place, self._files())
        self._store.ask("forget_items", session=SESSION, keys=found)
        return f"Successfully deleted {path}"

    def rename(self, old_path: str, new_path: str) -> str:
        """Give a file, or a folder with all that is in it, another path."""
        old, new = checked(old_path), checked(new_path)
        if old == ROOT:
            raise FileError("Cannot rename the /memories directory itself")
        files = self._files()
        if new == ROOT or new in files or _below(new, files):
            raise FileError(f"The destination {new_path} already exists")
        found = self._named(old_path, old, files)
        if new.startswith(f"{old}/"):
            raise FileError(f"Cannot move {old_path} into itself")
        self._refuse_file_as_folder(new, files)
        for one in found:
            self._put(new + one[len(old) :], files[one], "")
        self._store.ask("forget_items", session=SESSION, keys=found)
        return f"Successfully renamed {old_path} to {new_path}"

    def clear(self) -> str:
        """Forget all files."""
        self._store.ask("forget_items", session=SESSION, keys=list(self._files()))
        return "All memory cleared"

    def _files(self) -> dict[str, str]:
        return {one["key"]: _text(one) for one in self._store.items(SESSION) if one.get("key")}

    def _file(self, path: str) -> tuple[str, Mapping[str, Any]]:
        place = checked(path)
        item = self._item(place)
        if item is None:
            is_folder = place == ROOT or bool(_below(place, self._files()))
            raise FileError(f"The path {path} is not a file." if is_folder else _NOT_THERE.format(path))
        return place, item

    def _item(self, place: str) -> Mapping[str, Any] | None:
        found: Mapping[str, Any] | None = self._store.ask("item", session=SESSION, key=place)["item"]
        return found

    def _put(self, place: str, text: str, seen: str) -> None:
        blank = not text.strip()
        content, metadata = (f"The file {place} is blank.", {_BLANK: text}) if blank else (text, {})
        try:
            self._store.ask("put_item", session=SESSION, key=place, content=content, metadata=metadata, seen=seen)
        except HybridMemoryError as error:
            raise FileError(str(error)) from error

    def _named(self, path: str, place: str, files: Mapping[str, str]) -> list[str]:
        found = [place] if place in files else _below(place, files)
        if not found:
            raise FileError(f"The path {path} does not exist")
        return found

    def _refuse_file_as_folder(self, place: str, files: Mapping[str, str]) -> None:
        for folder in map(str, PurePosixPath(place).parents):
            if folder in files:
                raise FileError(f"The path {folder} is a file, so nothing can be in it")


def checked(path: str) -> str:
    """Return a path without dots and repeated slashes.

    Raises:
        FileError: it leads out of ``/memories``.
    """
    if path != ROOT and not path.startswith(f"{ROOT}/"):
        raise FileError(f"Path must start with {ROOT}, got: {path}")
    place = normpath(path)
    if place != ROOT and not place.startswith(f"{ROOT}/"):
        raise FileError(f"Path {path} would escape {ROOT} directory")
    return place


def file_text(path: str, text: str, view_range: Sequence[int] | None = None) -> str:
    """Return a file as a model sees it; of a range, the last line is -1 for all that follow the first."""
    lines, first = text.split("\n"), 1
    if view_range and len(view_range) == 2:  # noqa: PLR2004 - first and last line
        first = max(1, view_range[0])
        lines = lines[first - 1 :] if view_range[1] == -1 else lines[first - 1 : view_range[1]]
    return f"Here's the content of {path} with line numbers:\n{_numbered(lines, first)}"


def folder_text(path: str, sizes: Mapping[str, int]) -> str:
    """Return a folder as a model sees it; ``sizes`` are those of all files in it, by their paths from there."""
    shown: dict[tuple[str, ...], int] = {}
    for file, size in sizes.items():
        parts = tuple(file.split("/"))
        if not any(part.startswith(".") for part in parts[:_LEVELS]):
            for depth in range(1, min(len(parts), _LEVELS) + 1):
                name = parts[:depth] if depth == len(parts) else (*parts[: depth - 1], f"{parts[depth - 1]}/")
                shown[name] = shown.get(name, 0) + size
    ordered = sorted(shown, key=lambda name: tuple(part.rstrip("/") for part in name))
    lines = [f"{size_text(sum(sizes.values()))}\t{path}"]
    lines += [f"{size_text(shown[name])}\t{path}/{''.join(_joined(name))}" for name in ordered]
    header = f"Here're the files and directories up to 2 levels deep in {path}, excluding hidden items:"
    return "\n".join((header, *lines))


def size_text(size: int) -> str:
    """Return a number of bytes as the SDK's own tool writes it."""
    step = min(max(size.bit_length() - 1, 0) // 10, 3)
    number = size / 1024**step
    return f"{int(number) if number == int(number) else format(number, '.1f')}{'BKMG'[step]}"


def replaced(path: str, text: str, old: str, new: str) -> tuple[str, int]:
    """Return a text with ``old`` replaced, and the index of the line where that is.

    Raises:
        FileError: it is not there, or there more than once.
    """
    if text.count(old) == 1:
        return text.replace(old, new), text[: text.find(old)].count("\n")
    if old not in text:
        raise FileError(f"No replacement was performed, old_str `{old}` did not appear verbatim in {path}.")
    places = [at for at in range(len(text) + 1) if text.startswith(old, at)]
    lines = ", ".join(str(text[:at].count("\n") + 1) for at in places)
    raise FileError(
        f"No replacement was performed. Multiple occurrences of old_str `{old}` in lines: {lines}. Please ensure it is unique"
    )


def inserted(text: str, line: int, more: str) -> str:
    """Return a text with more lines behind one of its lines.

    Raises:
        FileError: it has no such line.
    """
    lines = text.removesuffix("\n").split("\n") if text else []
    if not 0 <= line <= len(lines):
        raise FileError(f"Invalid `insert_line` parameter: {line}. It should be within the range [0, {len(lines)}].")
    joined = "\n".join((*lines[:line], more.rstrip("\n"), *lines[line:]))
    return joined if joined.endswith("\n") else f"{joined}\n"


def _numbered(lines: Sequence[str], first: int) -> str:
    return "\n".join(f"{number:>{_NUMBER_WIDTH}}\t{line}" for number, line in enumerate(lines, first))


def _joined(name: tuple[str, ...]) -> tuple[str, ...]:
    return (*(part if part.endswith("/") else f"{part}/" for part in name[:-1]), name[-1])


def _below(place: str, files: Mapping[str, str]) -> list[str]:
    return sorted(one for one in files if one.startswith(f"{place}/"))


def _text(item: Mapping[str, Any]) -> str:
    return str(item["metadata"].get(_BLANK, item["content"]))
