"""Shows a change of a file without showing what else is in it: only our own words are readable, of others' only the names."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any, Literal

from hybrid_memory_mcp.clients import jsonc, toml_text

HIDDEN = "…"
_LONGEST_LINE = 240
_LONG_NUMBER = re.compile(r"(?<![\w.-])-?\d(?:[\w.:+]|-(?=\d)){5,}")
"""A number or a date that may say something of somebody; ours are short."""


def diff(before: str, after: str, *, name: str, shape: Literal["json", "toml"], shown: Collection[str]) -> str:
    """Return a unified diff with one line of context; every text and comment that is not among ``shown`` is hidden."""
    old, new = (_lines(_hide(text, shape, shown)) for text in (before, after))
    # Only what lies between the first and the last difference is compared: files may have many megabytes.
    head = 0
    while head < min(len(old), len(new)) and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < min(len(old), len(new)) - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    head, tail = max(head - 1, 0), max(tail - 1, 0)
    lines = difflib.unified_diff(old[head : len(old) - tail], new[head : len(new) - tail], name, name, n=1, lineterm="")
    return "\n".join(_short(_moved(line, head)) for line in lines)


def _lines(text: str) -> list[str]:
    lines = [line.rstrip("\r") for line in text.split("\n")]
    return lines[:-1] if lines[-1] == "" else lines


def all_strings(value: Any) -> Iterator[str]:
    """Give every text in a value of JSON."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for one in value.values():
            yield from all_strings(one)
    elif isinstance(value, list | tuple):
        for one in value:
            yield from all_strings(one)


def _hide(text: str, shape: Literal["json", "toml"], shown: Collection[str]) -> str:
    allowed = {json.dumps(one, ensure_ascii=False) for one in shown}
    text = text.removeprefix("\ufeff")
    parts, at = [], 0
    for start, end, is_name in (jsonc.strings if shape == "json" else toml_text.pieces)(text):
        parts.append(_LONG_NUMBER.sub(HIDDEN, text[at:start]))
        parts.append(text[start:end] if is_name or text[start:end] in allowed else _hidden(text[start:end]))
        at = end
    return "".join([*parts, _LONG_NUMBER.sub(HIDDEN, text[at:])])


def _hidden(piece: str) -> str:
    quote = {'"': '"', "'": "'", "#": "# ", "/": piece[:2] + " "}[piece[0]]
    closing = quote if quote in "\"'" else " */" if piece.startswith("/*") else ""
    return quote + HIDDEN + "\n" * piece.count("\n") + closing


def _moved(line: str, by: int) -> str:
    """Correct the line numbers of a hunk's header."""
    if not line.startswith("@@ ") or not by:
        return line
    words = line.split(" ")
    for place in (1, 2):
        sign, (first, *rest) = words[place][0], words[place][1:].split(",")
        words[place] = sign + ",".join([str(int(first) + by), *rest])
    return " ".join(words)


def _short(line: str) -> str:
    if len(line) <= _LONGEST_LINE:
        return line
    half = _LONGEST_LINE // 2
    return f"{line[:half]} {HIDDEN} {line[-half:]}"
