"""What is written and how it is recognised again: every sentence has a mark of its own."""

from __future__ import annotations

import random
import re

_MARK = re.compile(r"mk[0-9a-f]{16}")
_WHO = ("Ada", "Bruno", "Chen", "Dara", "Elif", "Femi", "Greta", "Hugo", "Ines", "Jonas", "Kaja", "Lior")
_WHAT = (
    "moved the quarterly review to the small meeting room",
    "wants the old bridge on every map of the valley",
    "keeps the spare key of the workshop under the flower pot",
    "never orders anything with peanuts or sesame",
    "plans to repaint the kitchen in a pale green",
    "promised to bring the projector to the reading club",
    "found the missing invoice between two cook books",
    "prefers trains to planes for anything below nine hours",
    "asked for the weekly report as a single page",
    "learned to repair clocks from a neighbour in Porto",
)
_WHY = (
    "because the garden is too loud in the morning",
    "since the doctor advised it after the holidays",
    "which nobody else in the team had noticed before",
    "as was agreed by telephone last Thursday",
    "although the budget had been spent by then",
    "so that the children can join after school",
    "because the last storm damaged half of the roof",
    "and will tell the others when the time has come",
)
_REFUSED = re.compile(r'\\?"success\\?":\s*false|\bfail(?:ed|ure)?\b|\berror\b|\brefus', re.IGNORECASE)
TOPICS = (*_WHAT, *_WHY)


def sentence(rng: random.Random) -> tuple[str, str]:
    """Return a new mark and a sentence of about 130 characters with it."""
    mark = f"mk{rng.getrandbits(64):016x}"
    return mark, f"{rng.choice(_WHO)} {rng.choice(_WHAT)}, {rng.choice(_WHY)} ({mark})."


def secret(rng: random.Random) -> tuple[str, str, str]:
    """Return a new mark, a sentence with it that no other resembles, and a question that asks for it without the mark.

    Without, because some servers repeat the question in their answer.
    """
    mark, word = f"mk{rng.getrandbits(64):016x}", "".join(rng.choices("bdfgklmnprstvz", k=10))
    said = f"The password of the cellar is {word}"
    return mark, f"{said} ({mark}).", said


def marks_in(text: str) -> set[str]:
    """Return the marks that stand in a text."""
    return set(_MARK.findall(text))


def refuses(text: str) -> bool:
    """Return True if the text of an answer tells of a failure, whatever its error flag says."""
    return _REFUSED.search(text) is not None
