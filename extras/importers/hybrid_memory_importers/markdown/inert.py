"""Stored words as Markdown that does nothing: no HTML, no link, no embedded file, no code that an editor would run; and back again.

A backslash goes before each character that could begin such a thing, and before no other, so that plain sentences stay as they are. In
Markdown a backslash before punctuation is not shown, and any reader takes it away again.

What acts, and where: HTML and comments (``<``), links, images, embedded notes and footnotes (``[``), blocks that plug-ins run
(backticks and tildes in threes, inline queries), comments that hide words (``%%``), and the signs of template languages (``<%``,
``{{``, ``{%``), which act on a file before anybody reads it as Markdown.
"""

from __future__ import annotations

import re

_PUNCTUATION = r"[!-/:-@\[-`{-~]"
_ACTS = re.compile(rf"\\(?={_PUNCTUATION})|<%?|\[|`{{3,}}|`+(?=\s*[=$])|~{{3,}}|%{{2,}}|\{{[{{%]")
_ESCAPED = re.compile(rf"\\({_PUNCTUATION})")
# Characters that a terminal or an editor acts on or drops: shown as the pictures that Unicode has of them.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ufeff\ufffe\uffff]")
_PICTURES = 0x2400
_PICTURE_OF_DELETE = "\u2421"
_LAST_WITH_PICTURE = 0x1F
_DELETE = 0x7F
_UNSHOWN = "\ufffd"


def inert(text: str) -> str:
    """Return Markdown that shows a text and does nothing. `spoken` gives the text back, unless it holds control characters."""
    shown = _CONTROL.sub(_picture, text.replace("\r\n", "\n").replace("\r", "\n"))
    return _ACTS.sub(lambda found: "".join("\\" + one for one in found[0]), shown)


def inert_line(text: str, longest: int) -> str:
    """Return the beginning of a text as Markdown of one line, also for the words of a link."""
    return inert(first_line(text, longest)).replace("]", "\\]")


def spoken(markdown: str) -> str:
    """Return the words of what `inert` wrote, or of what a person made of it."""
    return _ESCAPED.sub(r"\1", markdown)


def first_line(text: str, longest: int) -> str:
    """Return the beginning of a text in one line, cut between words, at most ``longest`` characters and a sign that there is more."""
    line = " ".join(_CONTROL.sub(" ", text[: 4 * longest]).split())
    if len(line) <= longest and len(text) <= 4 * longest:
        return line
    cut = line[:longest]
    at = cut.rfind(" ")
    return (cut[:at] if at > longest // 2 else cut).rstrip() + "…"


def is_shown_whole(text: str) -> bool:
    """Return True if a text comes back from its Markdown even after an editor took blanks off the ends of lines."""
    return text == text.strip() and _FRAGILE.search(text) is None


_FRAGILE = re.compile("[ \t\u00a0]\n|[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")


def _picture(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code <= _LAST_WITH_PICTURE:
        return chr(_PICTURES + code)
    return _PICTURE_OF_DELETE if code == _DELETE else _UNSHOWN
