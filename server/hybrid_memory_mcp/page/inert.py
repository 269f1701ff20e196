"""Stored text for a page: shown as it is, and able to do nothing.

Markup in it is escaped. What would turn the order of the letters round, or cannot be seen, is shown as a symbol with its name; the text
stands in an element of its own direction, so that it moves nothing beside it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup, escape

from hybrid_memory.text import visible

_CONTROL_PICTURES = 0x2400
_SHORT_NAMES = {
    "\x7f": "␡", "\u2028": "LS", "\u2029": "PS", "\u202a": "LRE", "\u202b": "RLE", "\u202c": "PDF", "\u202d": "LRO", "\u202e": "RLO",
    "\u200b": "ZWSP", "\u200c": "ZWNJ", "\u200d": "ZWJ", "\u200e": "LRM", "\u200f": "RLM", "\u061c": "ALM",
    "\u2060": "WJ", "\u2066": "LRI", "\u2067": "RLI", "\u2068": "FSI", "\u2069": "PDI", "\ufeff": "BOM",
}  # fmt: skip
_BREAKS = re.compile(r"\s+")
_LONGEST_FOLD = 10_000  # characters laid into a page unseen; longer texts stand whole on the memory's own page


def inert(
    text: object, cut: int | None = None, href: str | None = None, marks: Sequence[Mapping[str, Any]] = ()
) -> Markup:
    """Return stored text as HTML that does nothing.

    Of a text longer than ``cut`` characters the rest is folded away. Where it is very long, ``href`` is linked in the place of the rest.
    ``marks`` are places that stand out, in order and apart: each has ``begin``, ``end`` and ``near`` (it stands out less).
    """
    whole = str(text)
    if cut is None or len(whole) <= cut + cut // 4:  # nothing is folded away for a few words
        return Markup('<bdi class="words" dir="auto">{}</bdi>').format(_marked(whole, 0, len(whole), marks))
    shown = Markup('<bdi class="words" dir="auto">{}<span class="cut">…</span></bdi>').format(
        _marked(whole, 0, cut, marks)
    )
    if len(whole) > _LONGEST_FOLD and href is not None:
        return shown + Markup(' <a class="more" href="{}">show all {} characters</a>').format(href, f"{len(whole):,}")
    return shown + Markup(
        '<details class="more"><summary>show all {} characters</summary><bdi class="words" dir="auto">{}</bdi></details>'
    ).format(f"{len(whole):,}", _marked(whole, cut, len(whole), marks))


def _marked(text: str, begin: int, end: int, marks: Sequence[Mapping[str, Any]]) -> Markup:
    """Return a part of a text, escaped, with what of the marks lies in it."""
    parts: list[Markup] = []
    at = begin
    for one in marks:
        first, last = max(one["begin"], at), min(one["end"], end)
        if first < last:
            parts += [_visible(text[at:first]), Markup("<mark>{}</mark>").format(_visible(text[first:last]))]
            at = last
    return Markup("").join([*parts, _visible(text[at:end])])


def excerpt(text: object, length: int = 80) -> str:
    """Return the beginning of stored text as one plain line, for lists, titles and labels; it must still be escaped."""
    whole = str(text).strip()
    begin = whole[: length * 4]
    line = visible(_BREAKS.sub(" ", begin), lambda one: f"⟦{_sign(one)}⟧").strip()
    cut = len(line) > length or len(begin) < len(whole)
    return (line[: length - 1].rstrip() + "…" if cut else line) or "(no words)"


def _visible(text: str) -> Markup:
    """Return escaped text in which hidden characters are symbols, and each end of a line is one character."""
    return Markup(visible(str(escape(text.replace("\r\n", "\n"))), _symbol))  # noqa: S704 - escaped, and signs of ours


def _symbol(character: str) -> Markup:
    name = unicodedata.name(character, "control character")
    return Markup('<span class="hidden-sign" title="U+{} {}">{}</span>').format(
        f"{ord(character):04X}", name.lower(), _sign(character)
    )


def _sign(character: str) -> str:
    code = ord(character)
    if code < ord(" "):
        return chr(_CONTROL_PICTURES + code)
    return _SHORT_NAMES.get(character, f"{code:04X}")
