"""A person's own words in what they sent: without code, logs, quotes, pasted documents, and what a program put in tags. Pure.

Each step reads the text once, and no expression can look at a character more than a bounded number of times.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from hybrid_memory.language import lexicon
from hybrid_memory.language.lazy_pattern import LazyPattern

# Set by hand.
_LONGEST_TYPED = 2_500  # characters of a turn; what is longer was pasted, but for its first and its last paragraph
_MOST_LINES = 25  # of a turn; as above
_LONGEST_FRAME = 600  # characters of a paragraph before or behind something pasted
_LONGEST_OF_ONESELF = 8_000  # characters of a turn in which somebody speaks of themselves
_FEW_OF_ONESELF = 60  # characters of it, of which one is "I" or "my"
_LONG_WORD = 4  # characters of a word that a title writes with a capital
_MOST_OF_TITLE = 8  # of its long words
_FEW_WORDS = 3  # in quotation marks: a name or a title, no speech
GAP = "\0"
"""Stands where something was taken out of a line: a sentence that holds it is not whole."""


def own_lines(text: str, *, titles: bool = False) -> Iterator[str]:
    """Yield the lines of a message that its author wrote themselves, without bullets; none where all of it is told or pasted.

    With ``titles`` a long title in quotation marks stays ("my novel is called ..."), and so does a long message of somebody who speaks of
    themselves.
    """
    text = lowered_safe(text)
    plain = _without_tags(_without_fences(text))
    if plain.count("'") > 1 or not _QUOTES.isdisjoint(plain):
        plain = _QUOTED.sub(_gap_unless_title if titles else _gap_for_speech, plain)
    paragraphs = [part for part in _BLANK_LINES.split(plain) if part.strip()]
    lines = plain.count("\n") + 1
    if (len(plain) > _LONGEST_TYPED or lines > _MOST_LINES) and not (titles and _is_of_oneself(plain)):
        ends = [paragraphs[0], paragraphs[-1]] if len(paragraphs) > 1 else []
        paragraphs = [part for part in ends if len(part) <= _LONGEST_FRAME and "\n" not in part.strip()]
    for paragraph in paragraphs:
        written = paragraph.split("\n")
        typed = [line for line in written if not _is_machine_line(line)]
        machine = len(written) - len(typed)
        if machine and 2 * machine >= len(written):
            continue
        for line in typed:
            if not _QUOTE_LINE.match(line):
                yield _BULLET.sub("", line, count=1).strip()


def lowered_safe(text: str) -> str:
    """Return a text without the characters that have a meaning here, and with one sort of line ends."""
    return text.replace(GAP, " ").replace("\r\n", "\n").replace("\r", "\n").replace("\u2028", "\n")


def is_pasted(text: str) -> bool:
    """Return True if a message is mail or a letter: headers, or a greeting line and a closing line."""
    colons = text.count(":")
    if colons > 1 and len(_MAIL_HEADER.findall(text)) > 1:
        return True
    if not colons and "," not in text:
        return False  # no line ends as a greeting does
    return _SALUTATION.search(text) is not None and _CLOSING.search(text) is not None


def _without_fences(text: str) -> str:
    """Return a text without fenced code; a fence that is never closed reaches to the end."""
    if "```" not in text and "~~~" not in text:
        return text
    parts = _FENCE.split(text)
    return "\n\n".join(part for at, part in enumerate(parts) if at % 2 == 0)


def _without_tags(text: str) -> str:
    """Return a text without elements like ``<context>...</context>`` and what is in them; one never closed reaches to the end."""
    if "<" not in text:
        return text
    parts: list[str] = []
    reached, depth = 0, 0
    closed = frozenset(tag[0] for tag in _TAG.finditer(text) if tag[1])
    for tag in _TAG.finditer(text):
        if tag[0].endswith("/>") or _is_placeholder(tag, text, closed):
            continue
        if tag[1]:
            if depth:
                depth -= 1
                reached = tag.end()
            continue
        if not depth:
            parts.append(text[reached : tag.start()])
        depth += 1
        reached = len(text)
    if not depth:
        parts.append(text[reached:])
    return GAP.join(parts)


def _is_placeholder(tag: re.Match[str], text: str, closed: Collection[str]) -> bool:
    """Return True for the tag of "feat/<ticket>-name", which is part of a word and closed nowhere."""
    if tag[1] or f"</{tag[0][1:]}" in closed:
        return False
    before, behind = text[: tag.start()][-1:], text[tag.end() : tag.end() + 1]
    return ((before.isalnum() or before in _JOINS) and before != "") or (behind in _JOINS and behind != "")


def _gap_for_speech(found: re.Match[str]) -> str:
    """A name in quotation marks stays, speech leaves a gap."""
    inside = found[0][1:-1]
    few = len(inside.split()) <= _FEW_WORDS and (inside.isascii() or len(inside) <= 4 * _FEW_WORDS)
    return found[0] if few else GAP


def _gap_unless_title(found: re.Match[str]) -> str:
    """A name or a title in quotation marks stays, speech leaves a gap."""
    long_words = [word for word in found[0][1:-1].split() if len(word) >= _LONG_WORD]
    titled = len(long_words) <= _MOST_OF_TITLE and all(word[:1].isupper() for word in long_words)
    return found[0] if long_words and titled and found[0][1].isupper() else _gap_for_speech(found)


def _is_of_oneself(text: str) -> bool:
    """Return True for a long message in which somebody speaks of themselves from line to line."""
    lines = [line for line in text.split("\n") if line.strip()]
    own = len(_ONESELF.findall(text))
    return len(text) <= _LONGEST_OF_ONESELF and own * _FEW_OF_ONESELF >= len(text) and own >= len(lines) // 3


def _is_machine_line(line: str) -> bool:
    if _MACHINE_LINE.match(line) is not None or line.rstrip().endswith((";", "{")):
        return True
    return any(mark in line for mark in _CODE_MARKS) or ("()" in line and _CALL.search(line) is not None)


_ONESELF = LazyPattern(
    lambda: rf"\b(?:{lexicon.any_of(lexicon.words('people.oneself'))}|mein\w{{0,2}})\b", re.IGNORECASE
)
_JOINS = "/_-"  # of a word that has a placeholder in it
_FENCE = LazyPattern(r"(?m)^[ \t>]*(?:```|~~~)[^\n]*$|```")
_BLANK_LINES = LazyPattern(r"\n[ \t]*\n")
_TAG = LazyPattern(r"<(/?)[A-Za-z][\w:.-]{0,60}(?:\s[^<>\n]{0,300})?/?>")
_QUOTED = LazyPattern(
    r'"[^"\n]{1,1000}"|“[^“”\n]{1,1000}[”]|„[^„“”\n]{1,1000}[“”]|«[^«»\n]{1,1000}»|「[^「」\n]{1,1000}」|『[^『』\n]{1,1000}』'
    r"|(?<![\w'])'[^'\n]{12,1000}'(?!\w)"
)
_QUOTES = frozenset('"“„«「『')
_QUOTE_LINE = LazyPattern(r"\s*(?:>|\|)")
_BULLET = LazyPattern(r"^\s*(?:[-*•–]\s+|\d{1,2}[.)]\s+|#{1,6}\s+|\[[ x]\]\s+)+")
_MACHINE_LINE = LazyPattern(
    r"\s*(?:\||\$ |>>> |\+\+\+ |--- |@@ |[+-]\S|diff --git|index [0-9a-f]{7}|commit [0-9a-f]{7}"
    r"|Traceback|File \"|at \S+\(|\S+(?:Error|Exception)\b"
    r"|\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\[?\d\d:\d\d:\d\d|\[?(?:INFO|DEBUG|TRACE|WARN(?:ING)?|ERROR|FATAL)\b"
    r"|(?:import|from|export|const|let|var|def|class|function|return|public|private|package|using"
    r"|#include|@\w+)\b[^\n]{0,200}[;{}():=]"
    r"|(?:select|insert|update|delete|create|alter)\b[^\n]{0,200};\s*$|//|/\*|\*/|#!|</?\w|[{}\[\]();]+\s*$"
    r"|[\w.$-]{1,60}\s*[:=]\s*[\"'{\[]|\"[\w-]{1,60}\"\s*:|https?://\S+\s*$|[\w./~-]{0,60}[$%#] \w)"
)
_CODE_MARKS = ("=>", "{{", "}}", "</")
_CALL = LazyPattern(r"\w\(\)")
_LINES = re.IGNORECASE | re.MULTILINE
_MAIL_HEADER = LazyPattern(lambda: rf"^[ \t]*{lexicon.any_of(lexicon.words('letters.headers'))}:[ \t]", _LINES)
_SALUTATION = LazyPattern(
    lambda: rf"^[ \t]*(?:{lexicon.pattern('letters.greetings')})\b[^\n.?!]{{0,60}}[,:][ \t]*$", _LINES
)
_CLOSING = LazyPattern(lambda: rf"^[ \t]*(?:{lexicon.pattern('letters.closings')})\b[^\n]{{0,40}},?[ \t]*$", _LINES)
