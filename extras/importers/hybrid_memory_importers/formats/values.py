"""Values of other programs' JSON, taken as what they should be or not at all: texts, moments, names, tags, metadata.

What a reader makes a record of fits the limits of a memory where it can be made to: a long name is cut, metadata beyond measure are left
out. A field that is of another type than it should be counts as missing.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from hybrid_memory.errors import InvalidInput
from hybrid_memory.moments import is_in_range
from hybrid_memory.validation import METADATA_DEPTH, METADATA_LIMIT, NAME_LIMIT, TAG_LIMIT, TAGS_LIMIT, depth_of
from hybrid_memory_importers.formats.reading import HEAD, begins_as, moment
from hybrid_memory_importers.json_stream import json_items, json_lines
from hybrid_memory_importers.record import Skipped

if TYPE_CHECKING:
    from hybrid_memory.model import Json
    from hybrid_memory_importers.source import Source, SourceFile

_LARGE = 32 << 20  # bytes of an object that is read at once
_ROOM = METADATA_LIMIT // 2  # for what an import adds
_SHORT = 500  # characters of a value that stays where metadata are too much


def values_of(files: Sequence[SourceFile], lists: Sequence[str] = ()) -> Iterator[Any]:
    """Yield the values of JSON files: the items of an array, the lines of JSON lines, else the one value that a file holds.

    A line that cannot be read, and one file of several, is a `Skipped`. Of one large object only the items of its ``lists`` are given, one
    after the other, so that it is never in memory as a whole.

    Raises:
        InvalidInput: the only file is no JSON.
    """
    for file in files:
        try:
            yield from _values_in(file, lists)
        except InvalidInput as error:
            if len(files) == 1:
                raise
            yield Skipped(f"a file that cannot be read: {error.problem}", file.path)


def json_files(source: Source, endings: tuple[str, ...] = (".json", ".jsonl")) -> list[SourceFile]:
    """Return the files of a source that are JSON by their names; a single file is, whatever it is called."""
    files = list(source.files())
    return [file for file in files if file.path.lower().endswith(endings)] or files[:1]


def _values_in(file: SourceFile, lists: Sequence[str]) -> Iterator[Any]:
    head = file.head(HEAD)
    if lists and file.size > _LARGE and begins_as(head, b"{") and not _is_lines(head):
        for field in lists:
            with file.open() as stream:
                yield from json_items(stream, f"{field}.item")
        return
    with file.open() as stream:
        if begins_as(head, b"["):
            yield from json_items(stream, "item")
        elif _is_lines(head.removeprefix(b"\xef\xbb\xbf").lstrip()):
            for _, value in json_lines(stream):
                yield value
        else:
            yield from json_items(stream, "")


def _is_lines(head: bytes) -> bool:
    first, ended, rest = head.partition(b"\n")
    if not ended or not rest.strip():
        return False
    try:
        json.loads(first)
    except (ValueError, RecursionError):
        return False
    return True


def text_of(value: object) -> str | None:
    """Return a text that says something, without blanks around it; None for anything else."""
    if not isinstance(value, str):
        return None
    text = value.strip()
    # Half a surrogate pair can be written in JSON, but is no text.
    return (text if text.isascii() else text.encode("utf-8", "replace").decode()) or None


def name_of(value: object) -> str | None:
    """Return a name of at most the characters that a memory's names have; numbers count as names."""
    text = str(value) if isinstance(value, int) and not isinstance(value, bool) else text_of(value)
    return None if text is None else text[:NAME_LIMIT].strip() or None


def moment_of(value: object) -> datetime | None:
    """Return the moment that a value names, if it is one that a memory can have."""
    found = moment(value)
    return found if found is not None and is_in_range(found) else None


def tags_of(*values: object) -> tuple[str, ...]:
    """Return the texts of some lists, or of texts with commas, as tags, each once."""
    found: list[str] = []
    for value in values:
        parts: Iterable[object] = (
            value.split(",") if isinstance(value, str) else value if isinstance(value, list) else ()
        )
        found += [tag[:TAG_LIMIT].strip() for one in parts if (tag := text_of(one)) is not None]
    return tuple(dict.fromkeys(found))[:TAGS_LIMIT]


def metadata_of(*values: object) -> dict[str, Json]:
    """Return objects as one metadata, without what is empty; of too much of it, its short values."""
    found = {
        name: inner
        for value in values
        if isinstance(value, Mapping)
        for name, inner in value.items()
        if inner not in (None, "", [], {}) and isinstance(name, str)
    }
    if _fits(found):
        return found
    kept: dict[str, Json] = {}
    for name, inner in found.items():
        short = isinstance(inner, bool | int | float) or (isinstance(inner, str) and len(inner) <= _SHORT)
        if short and len(name) <= NAME_LIMIT and _fits({**kept, name: inner}):
            kept[name] = inner
    return kept


def dicts_of(value: object) -> list[Mapping[str, Any]]:
    """Return the objects of a list; none for anything else."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _fits(value: Mapping[str, Any]) -> bool:
    if depth_of(value, METADATA_DEPTH) >= METADATA_DEPTH:
        return False
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
        text.encode()
    except (ValueError, TypeError):
        return False
    return len(text) <= _ROOM
