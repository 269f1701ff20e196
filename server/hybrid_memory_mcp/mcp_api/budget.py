"""The arithmetic of a token budget: what a piece of text costs, and the longest beginning that still fits.

Costs are counted in quarter tokens, so that they add up exactly to `hybrid_memory.text.estimate_tokens` of the whole.
"""

from __future__ import annotations

import json
from typing import Any

CUT_MARK = "…[cut; read by ids]"
CUT_WHOLE = "…[cut; raise token_budget]"
QUARTERS = 4

_LINE_ENDS = {0x85: "\\u0085", 0x2028: "\\u2028", 0x2029: "\\u2029"}


def token_cost(text: str) -> int:
    """Return the cost in quarter tokens: one for an ASCII character, four for any other."""
    plain = len(text) if text.isascii() else len(text.encode("ascii", "ignore"))
    return plain + QUARTERS * (len(text) - plain)


def as_json(value: Any) -> str:
    """Return the JSON that a budget is about: as it stands in the structured part of a result."""
    return json.dumps(value, ensure_ascii=False)


def quoted(text: str) -> str:
    """Return stored text as a JSON string of one line, so that it cannot look like anything else of the answer."""
    return one_line(as_json(text))


def one_line(written: str) -> str:
    """Return JSON with the line ends that JSON lets stand, but many programs break lines at, escaped."""
    return written if written.isascii() else written.translate(_LINE_ENDS)


def truncate(text: str, room: int, mark: str = CUT_MARK) -> str:
    """Return the longest beginning of ``text`` followed by ``mark`` whose quoted form costs at most ``room``.

    Without room the mark stands alone.
    """
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        if token_cost(quoted(text[:middle] + mark)) <= room:
            low = middle
        else:
            high = middle - 1
    return text[:low].rstrip() + mark
