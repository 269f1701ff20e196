"""What capture takes and gives: turns of a person, and the statements of them that are worth keeping."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class StatementKind(StrEnum):
    """What sort of statement a person made."""

    PREFERENCE = "preference"
    """How they like something, or want it done from now on."""
    DECISION = "decision"
    PLAN = "plan"
    """Something that will happen or has to be done."""
    CORRECTION = "correction"
    """It puts right what was said or assumed before."""
    FACT = "fact"
    """About persons, names, places, dates; and what they asked to remember."""


@dataclass(frozen=True, slots=True)
class Turn:
    """What a person typed, when they did (aware), and who: ``role`` other than "user" (an assistant, a tool) is passed over.

    ``answers`` is what the assistant said just before, or its end.
    """

    text: str
    said_at: datetime
    role: str = "user"
    answers: str = ""


@dataclass(frozen=True, slots=True)
class Statement:
    """Words of a person that stand alone: verbatim but for fillers, at most 300 characters of one turn.

    ``importance`` is 0..1, ``occurred_at`` when it was said, ``tags`` the kind as a word that the brief understands, or nothing. A
    ``fragment`` does not stand alone ("it's the 19th, not the 12th"): it is kept only with the statement that it corrects.
    ``beside_others`` says that its turn may also hold somebody else's words, of which this may be one: it replaces nothing. An ``episode``
    was said in passing, and is likely not worth keeping: one or more sentences behind each other. ``answers`` is that of its turn.
    """

    text: str
    kind: StatementKind
    importance: float
    occurred_at: datetime
    tags: tuple[str, ...] = ()
    fragment: bool = False
    beside_others: bool = False
    episode: bool = False
    answers: str = ""
