"""The words of a line of somebody's Markdown: links by their words, no marks of emphasis, no images, nothing that a reader does not see."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass

_LONGEST = 20_000  # characters of a paragraph that is looked at; a longer one is data, and stays as it is
_SIGNS = re.compile(r"[*_\[\]<>`~=\\#^&!]|[ ]{2,}\n")  # without them a text is what it says
_CODE = re.compile(r"(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.DOTALL)
_IMAGE = re.compile(r"!\[\[[^\[\]\n]*\]\]|!\[[^\[\]]*\]\([^()\s]*(?:\s+\"[^\"]*\")?\)")
_WIKILINK = re.compile(r"\[\[([^\[\]|\n]+)(?:\|([^\[\]|\n]*))?\]\]")
_LINK = re.compile(r"\[([^\[\]]*)\]\(<?([^()\s<>]*)>?(?:\s+\"[^\"]*\")?\)")
_REFERENCE = re.compile(r"\[([^\[\]]+)\]\[[^\[\]]*\]")
_FOOTNOTE = re.compile(r"\[\^[^\[\]\s]+\]")
_AUTOLINK = re.compile(r"<((?:https?|mailto):[^<>\s]+)>")
_BREAK_TAG = re.compile(r"<br\s*/?>", re.IGNORECASE)
_TAG_OF_HTML = re.compile(
    r"</?[A-Za-z][\w:-]*[\s/][^<>]*>|</?(?:a|abbr|b|big|blockquote|center|cite|code|dd|del|details|div|dl|dt|em|font|h[1-6]|hr|i|img|ins"
    r"|kbd|li|mark|ol|p|pre|q|s|samp|script|small|span|strike|strong|style|sub|summary|sup|t[dhrt]|table|tbody|thead|u|ul|var|video)>"
    r"|</[A-Za-z][^<>]*>",
    re.IGNORECASE,
)
"""A tag with attributes, or a known one; "<ticket>" is what somebody wrote."""
_STRONG = re.compile(r"(\*\*|__|==)(?=\S)([^\n]*?\S)\1")
_EMPHASIS = re.compile(
    r"(?<![\w*])\*(?=[^\s*])([^*\n]*[^\s*])\*(?![\w*])|(?<![\w_])_(?=[^\s_])([^_\n]*[^\s_])_(?![\w_])"
)
_STRUCK = re.compile(r"~~(?=\S)([^~\n]*)~~")
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
_BLOCK_ID = re.compile(r"[ \t]\^[A-Za-z0-9-]+$")
_TAG = re.compile(r"(?<![\w/&#])#([\w/-]*[^\W\d_][\w/-]*)")
_TAGS_AT_END = re.compile(r"(?:(?:^|\s)#[\w/-]+)+\s*$")
_TAGS_AT_START = re.compile(r"^\s*(?:#[\w/-]+\s+)+")
_BLANKS = re.compile(r"[ \t]*\n[ \t]*")


@dataclass(frozen=True, slots=True)
class Line:
    """What a piece of Markdown says, its tags, the notes that it links to, and whether all of it was crossed out."""

    text: str
    tags: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    crossed_out: bool = False


def words_of(markdown: str) -> Line:
    """Return what a paragraph, heading or cell says. Code stays as it is; what is crossed out is not said."""
    if len(markdown) > _LONGEST:
        return Line(markdown.strip())
    if _SIGNS.search(markdown) is None:
        return Line(_BLANKS.sub(" ", markdown).strip())
    pieces: list[str] = []
    tags: list[str] = []
    links: list[str] = []
    reached = 0
    for code in _CODE.finditer(markdown):
        pieces += [_plain(markdown[reached : code.start()], tags, links), code[0]]
        reached = code.end()
    pieces.append(_plain(markdown[reached:], tags, links))
    text = "".join(pieces)
    text = _TAGS_AT_START.sub("", _TAGS_AT_END.sub("", _BLOCK_ID.sub("", text)))
    text = _TAG.sub(r"\1", text) if tags else text
    text = _BLANKS.sub(" ", text).replace("\x00", "\n").strip()
    return Line(
        text, tuple(dict.fromkeys(tags)), tuple(dict.fromkeys(links)), crossed_out=not text and "~~" in markdown
    )


def _plain(text: str, tags: list[str], links: list[str]) -> str:
    """Return what a text without code says; notes the tags and links in it."""
    for pattern, instead in (
        (_IMAGE, ""),
        (_FOOTNOTE, ""),
        (_AUTOLINK, r"\1"),
        (_BREAK_TAG, "\x00"),
        (_TAG_OF_HTML, ""),
        (_STRUCK, ""),
    ):
        text = pattern.sub(instead, text)
    links += [f"{found[1].partition('#')[0].strip()}.md" for found in _WIKILINK.finditer(text)]
    links += [found[2] for found in _LINK.finditer(text) if "://" not in found[2]]
    text = _WIKILINK.sub(lambda found: found[2] or found[1].rpartition("#")[0] or found[1], text)
    text = _LINK.sub(_link, text)
    text = _REFERENCE.sub(r"\1", text)
    for _ in range(2):  # bold in italics, and the other way round
        text = _STRONG.sub(r"\2", text)
        text = _EMPHASIS.sub(lambda found: found[1] or found[2], text)
    tags += [found[1].strip("/") for found in _TAG.finditer(text)]
    return html.unescape(_ESCAPED.sub(r"\1", re.sub(r"(?:\\|[ ]{2,})\n", "\x00", text)))


def _link(found: re.Match[str]) -> str:
    words, target = found[1].strip(), found[2]
    if not target.startswith(("http://", "https://")) or target == words:
        return words
    return f"{words} ({target})" if words else target
