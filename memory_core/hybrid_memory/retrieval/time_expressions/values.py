"""What a question or statement says about time."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

Relation = Literal["before", "after", "during", "on", "around", "since", "until"]
AskedState = Literal["past", "current", "first", "any"]


@dataclass(frozen=True, slots=True)
class Window:
    """From ``since`` up to, but not including, ``until``; None is open. Both are aware.

    ``certainty`` says how literally to take it: 1.0 for a named day or month, less for "around", about 0.3 for "recently".
    """

    since: datetime | None
    until: datetime | None
    certainty: float


@dataclass(frozen=True, slots=True)
class Anchor:
    """An event that stands for a time: "before the move" is the relation "before" and the phrase "the move"."""

    relation: Relation
    phrase: str


@dataclass(frozen=True, slots=True)
class TimeExpressions:
    """What a question says about time.

    ``windows`` are alternatives: the question is about any of them. ``asked_state`` tells whether it asks about something past
    or an earlier state, the current state, the first one, or does not say. ``spans`` are the places of the time words,
    sorted and apart; the words of anchors' phrases are not among them.
    """

    windows: tuple[Window, ...] = ()
    anchors: tuple[Anchor, ...] = ()
    asked_state: AskedState = "any"
    spans: tuple[tuple[int, int], ...] = ()
