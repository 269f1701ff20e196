"""Edits of TOML text that leave every other byte as it is: a table is added as a block, changed line by line, and taken out again."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hybrid_memory_mcp.clients.jsonc import DamagedText, UnexpectedShape, newline_of

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_KEY = re.compile(r"""[ \t]*(?:([A-Za-z0-9_-]+)|"((?:[^"\\\n]|\\.)*)"|'([^'\n]*)')[ \t]*(\.?)""")
_LINE_OF_ERROR = re.compile(r"at line (\d+)")
_PIECES = re.compile(
    r'"""(?:[^\\]|\\.)*?"{3,5}'
    r"|'''.*?'{3,5}"
    r'|"(?:[^"\\\n]|\\.)*"'
    r"|'[^'\n]*'"
    r"|\#[^\n]*"
    r"|[\[\]{}]|\n",
    re.DOTALL,
)


@dataclass(frozen=True)
class Statement:
    """A header or a key with its value. Offsets of the text; ``end`` is behind the line end. ``value`` is where the value begins."""

    path: tuple[str, ...]
    start: int
    value: int
    value_end: int
    end: int
    header: bool = False


def parse(text: str) -> dict[str, Any]:
    """Return the value of a TOML text.

    Raises:
        DamagedText: it is none.
    """
    try:
        return tomllib.loads(text.replace("\r\n", "\n"))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        found = _LINE_OF_ERROR.search(str(error))
        line = int(found[1]) if found else text.count("\n") + 1
        problem = re.sub(r" \(at .*", "", str(error)) or "it is nested too deep"
        raise DamagedText(problem[:1].lower() + problem[1:], line) from None


def statements(text: str) -> Iterator[Statement]:
    """Give the statements of a sound text in their order."""
    at, table = 0, tuple[str, ...]()
    while at < len(text):
        end_of_line = text.find("\n", at)
        end_of_line = len(text) if end_of_line < 0 else end_of_line + 1
        begin = at + len(text[at:end_of_line]) - len(text[at:end_of_line].lstrip(" \t\r\n"))
        if begin >= end_of_line or text[begin] == "#":
            at = end_of_line
            continue
        if text[begin] == "[":
            double = text.startswith("[[", begin)
            table, place = _key_path(text, begin + 1 + double)
            if double:
                table = (*table, "")  # one of several, so that no path leads into it
            yield Statement(table, at, place, place, end_of_line, header=True)
            at = end_of_line
            continue
        path, place = _key_path(text, begin)
        value = place + 1
        while text[value : value + 1] in (" ", "\t"):
            value += 1
        value_end, end = _end_of_value(text, value)
        yield Statement((*table, *path), at, value, value_end, end)
        at = end


def _key_path(text: str, at: int) -> tuple[tuple[str, ...], int]:
    path: list[str] = []
    while True:
        found = _KEY.match(text, at)
        assert found is not None  # noqa: S101 - the text is sound
        bare, quoted, literal, dot = found.groups()
        path.append(next(iter(tomllib.loads(f'"{quoted}" = 0'))) if quoted is not None else bare or literal or "")
        at = found.end()
        if not dot:
            return tuple(path), at


def _end_of_value(text: str, at: int) -> tuple[int, int]:
    """Return where a value ends, and where the line that it ends on does."""
    depth, end = 0, len(text)
    last = at
    for found in _PIECES.finditer(text, at):
        piece = found[0]
        if piece in ("[", "{"):
            depth += 1
        elif piece in ("]", "}"):
            depth -= 1
        elif piece == "\n" and not depth:
            end = found.end()
            break
        if piece[0] == "#" and not depth:
            last = max(last, at + len(text[at : found.start()].rstrip()))
            newline = text.find("\n", found.start())
            return last, len(text) if newline < 0 else newline + 1
    return at + len(text[at:end].rstrip()), end


def key_text(path: Sequence[str]) -> str:
    """Return a path of keys as TOML writes it."""
    return ".".join(key if _BARE.fullmatch(key) else _quoted(key) for key in path)


def value_text(value: Any) -> str:
    """Return a text, a number, a list or a table as TOML writes it in one line."""
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key_text([key])} = {value_text(one)}" for key, one in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(value_text(one) for one in value) + "]"
    return _quoted(value)


def _quoted(value: Any) -> str:
    """Return a text or a number as JSON writes it, which TOML reads, but for DEL, which TOML wants escaped."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def add_table(text: str, path: Sequence[str], values: Mapping[str, Any]) -> str:
    """Return the text with a table added at its end.

    Raises:
        UnexpectedShape: the table on the way is written in one line, or is none.
    """
    holder = parse(text).get(path[0])
    inline = any(one.path == tuple(path[:1]) and not one.header for one in statements(text))
    if inline or not isinstance(holder, dict | None):
        raise UnexpectedShape(f"`{path[0]}` is not written as tables of the form [{path[0]}.NAME]; please write it so")
    newline = newline_of(text)
    gap = newline if text and not text.endswith("\n") else ""
    gap += newline if text.strip() else ""
    table = table_text(path, values, newline)
    # A text without a last line end gets none, so that `remove_table` knows that there was none.
    return text + gap + (table.removesuffix(newline) if text and not text.endswith("\n") else table)


def table_text(path: Sequence[str], values: Mapping[str, Any], newline: str = "\n") -> str:
    """Return a table as TOML writes it: a header, and a line a value."""
    lines = [f"[{key_text(path)}]", *(f"{key_text([key])} = {value_text(value)}" for key, value in values.items())]
    return "".join(line + newline for line in lines)


def update_table(text: str, path: Sequence[str], values: Mapping[str, Any], gone: Sequence[str]) -> str:
    """Return the text with values in a table that is there, and without those that are ``gone``; a table as value goes key by key.

    Raises:
        UnexpectedShape: the table is not written under a header of its own.
    """
    for key in gone:
        text = _remove_all(text, (*path, key))
    for key, value in values.items():
        text = _set_value(text, (*path, key), value)
    return text


def _set_value(text: str, path: tuple[str, ...], value: Any) -> str:
    all_of_it = list(statements(text))
    at = next((one for one in all_of_it if one.path == path and not one.header), None)
    if at is not None:
        return text[: at.value] + value_text(value) + text[at.value_end :]
    below = [one for one in all_of_it if one.path[: len(path)] == path]
    if isinstance(value, Mapping) and below:
        for key, one in value.items():
            text = _set_value(text, (*path, key), one)
        return text
    header = next((one for one in all_of_it if one.header and one.path == path[:-1]), None)
    if header is None:
        raise UnexpectedShape(f"`{key_text(path[:-1])}` is not written as a table of the form [{key_text(path[:-1])}]")
    end = header.end
    for one in all_of_it[all_of_it.index(header) + 1 :]:
        if one.header:
            break
        end = one.end
    newline = newline_of(text)
    gap = "" if text[:end].endswith("\n") else newline
    return text[:end] + gap + f"{key_text(path[-1:])} = {value_text(value)}{newline}" + text[end:]


def remove_table(text: str, path: Sequence[str]) -> str:
    """Return the text without a table and all below it, and without the empty line before it.

    Raises:
        UnexpectedShape: it is within a line that holds others as well.
    """
    kept = _remove_all(text, tuple(path))
    if kept == text:
        raise UnexpectedShape(f"`{key_text(path)}` is not written as a table of the form [{key_text(path)}]")
    if kept and not text.endswith("\n") and kept.endswith("\n") and text.startswith(kept):
        return kept.removesuffix("\n").removesuffix("\r")
    return kept


def source_of(text: str, path: Sequence[str]) -> str:
    """Return a table and all below it as it is written in a text.

    Raises:
        UnexpectedShape: it is not written under a header of its own.
    """
    pieces, header = [], False
    for one in statements(text):
        if one.path[: len(path)] == tuple(path):
            header = header or one.header
            if not header:
                raise UnexpectedShape(f"`{key_text(path)}` was not written as a table of the form [{key_text(path)}]")
            pieces.append(text[one.start : one.end])
    return "".join(piece if piece.endswith("\n") else piece + newline_of(text) for piece in pieces)


def append(text: str, table: str) -> str:
    """Return the text with a table, as it is written, at its end."""
    newline = newline_of(text)
    gap = newline if text and not text.endswith("\n") else ""
    return text + gap + (newline if text.strip() else "") + table


def remove_below(text: str, path: Sequence[str], prefixes: Sequence[str]) -> str:
    """Return the text without the tables right below a path whose names begin with one of the prefixes."""
    names = [
        one.path[len(path)]
        for one in statements(text)
        if one.header and one.path[: len(path)] == tuple(path) != one.path
    ]
    for name in dict.fromkeys(names):
        if name.startswith(tuple(prefixes)):
            text = _remove_all(text, (*path, name))
    return text


def _remove_all(text: str, path: tuple[str, ...]) -> str:
    """Take out every statement at or below a path, with the comments between two that follow one another."""
    spans: list[list[int]] = []
    follows = False
    for one in statements(text):
        ours = one.path[: len(path)] == path
        if ours and follows:
            spans[-1][1] = one.end
        elif ours:
            spans.append([_start_with_gap(text, one.start) if one.header else one.start, one.end])
        follows = ours
    for start, end in reversed(spans):
        text = text[:start] + text[end:]
    return text


def _start_with_gap(text: str, start: int) -> int:
    for newline in ("\r\n", "\n"):
        if text.endswith(newline * 2, 0, start) or text[:start] == newline:
            return start - len(newline)
    return start


def pieces(text: str) -> Iterator[tuple[int, int, bool]]:
    """Give each quoted text and comment of a sound document: where it begins and ends, and whether it is (part of) a key."""
    keys = [(one.start, one.value) for one in statements(text)]
    for found in _PIECES.finditer(text):
        if found[0][0] in "\"'#":
            yield found.start(), found.end(), any(start <= found.start() < value for start, value in keys)
