"""One statement after another out of notes that somebody keeps about a person, in Markdown. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from hybrid_memory_importers.standing_alone import apart


def statements_of_notes(text: str) -> Iterator[tuple[str, str]]:
    """Yield the heading and the words of each statement: a sentence of a bullet or paragraph, with those behind it that need it."""
    heading = ""
    for paragraph in _paragraphs(text):
        titled = _HEADING.fullmatch(paragraph)
        if titled is not None:
            heading = (titled["hash"] or titled["bold"] or "").strip(" *:#")
            continue
        for statement in apart(paragraph):
            if any(one.isalnum() for one in statement):
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


_HEADING = re.compile(r"#{1,6}\s+(?P<hash>.+)|\*\*(?P<bold>[^*]{1,80})\*\*:?")
_BULLET = re.compile(r"^(?:[-*•–+]\s+|\d{1,3}[.)]\s+|\[[ xX]\]\s+)+")
_RULE = re.compile(r"[-*_=]{3,}|`{3,}\w*")
