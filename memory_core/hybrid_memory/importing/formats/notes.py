"""One statement after another out of notes that somebody keeps about a person, in Markdown. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

_LONGEST_WHOLE = 240  # characters of a paragraph that is one statement


def statements_of_notes(text: str) -> Iterator[tuple[str, str]]:
    """Yield the heading and the words of each statement: a bullet, a short paragraph, or the sentences of a long one.

    A sentence that begins with "he" or "it" stays with the one before, without which it says nothing.
    """
    heading = ""
    for paragraph in _paragraphs(text):
        titled = _HEADING.fullmatch(paragraph)
        if titled is not None:
            heading = (titled["hash"] or titled["bold"] or "").strip(" *:#")
            continue
        for statement in _statements(paragraph):
            yield heading, statement


def _paragraphs(text: str) -> Iterator[str]:
    """Yield headings, bullets and paragraphs, each on one line."""
    held: list[str] = []
    for line in [*text.splitlines(), ""]:
        own = line.strip()
        starts = _BULLET.match(own) is not None or _HEADING.fullmatch(own) is not None
        if held and (starts or not own or _HEADING.fullmatch(held[-1])):
            yield " ".join(held)
            held = []
        if own and _RULE.fullmatch(own) is None:
            held.append(_BULLET.sub("", own, count=1))


def _statements(paragraph: str) -> Iterator[str]:
    if len(paragraph) <= _LONGEST_WHOLE:
        if any(one.isalnum() for one in paragraph):
            yield paragraph
        return
    held = ""
    for sentence in _END.split(paragraph):
        own = sentence.strip()
        if not own:
            continue
        if held and (_LOOSE.match(own) or len(held) < _SHORT):
            held = f"{held} {own}"
            continue
        if held:
            yield held
        held = own
    if held:
        yield held


_SHORT = 25  # characters: "e.g." and "Dr." end no sentence, and what is so short says little
_HEADING = re.compile(r"#{1,6}\s+(?P<hash>.+)|\*\*(?P<bold>[^*]{1,80})\*\*:?")
_BULLET = re.compile(r"^(?:[-*•–+]\s+|\d{1,3}[.)]\s+|\[[ xX]\]\s+)+")
_RULE = re.compile(r"[-*_=]{3,}|`{3,}\w*")
_END = re.compile(r"(?<=[.!?])\s+(?=[A-ZÀ-ÖØ-Þ\"“(*])|(?<=[。！？])")
_LOOSE = re.compile(
    r"(?i)(?:he|she|they|it|this|that|these|those|his|her|their|its|also|additionally|however|both|er|sie|es|il|elle|ils|ella|él|ele|ela)\b"
)
