"""The journal of readings: who asked what, when, and which memories were shown. Values, and the part of a store that keeps them.

It is a help for the person, bounded and alongside the memories: nothing is decided from it, no export or synchronisation takes it along,
and whatever takes a memory out of a store takes the readings along that showed it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from hybrid_memory.model import Json, MemoryId


class Way(StrEnum):
    """How a reading came about: an assistant called the tool, a hook of its client asked, or the client took a resource or a prompt."""

    TOOL = "tool"
    HOOK = "hook"
    RESOURCE = "resource"
    PROMPT = "prompt"


class Asked(StrEnum):
    """What was asked for: an answer, a further page of one, a brief, memories by their ids, or the latest of a session."""

    QUESTION = "question"
    MORE = "more"
    BRIEF = "brief"
    IDS = "ids"
    LATEST = "latest"


class Outcome(StrEnum):
    """What came of it: one memory that clearly fits and so counts as used; several of which none stands out; nothing that fits; no hit.

    An answer always holds something near. That something near was there is no answer, so only the first counts as one.
    """

    FOUND = "found"
    WEAK = "weak"
    UNKNOWN = "unknown"
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """One reading. ``number`` orders them, the later the higher; the store gives it.

    ``filters`` is what narrowed the question, by the tool's names. ``shown`` are the memories that stood in the answer, in their order,
    ``matched`` how many there were on all pages, ``tokens`` about what the answer cost the model.
    """

    at: datetime
    namespace: str
    session: str
    client: str
    way: Way
    asked: Asked
    question: str = ""
    filters: Mapping[str, Json] = field(default_factory=dict)
    shown: tuple[MemoryId, ...] = ()
    matched: int = 0
    outcome: Outcome = Outcome.FOUND
    tokens: int = 0
    number: int = 0

    @property
    def is_question(self) -> bool:
        """Whether somebody asked something: what a hook adds to a prompt nobody asked for, and a prompt without is not noted."""
        return self.asked is Asked.QUESTION and self.way is not Way.HOOK

    @property
    def is_answered(self) -> bool:
        """Whether a question found a memory that clearly fits."""
        return self.is_question and self.outcome is Outcome.FOUND

    @property
    def is_unanswered(self) -> bool:
        """Whether a question found nothing that fits."""
        return self.is_question and self.outcome in (Outcome.UNKNOWN, Outcome.NOTHING)

    @property
    def used(self) -> MemoryId | None:
        """The memory that counts as used by it: the one that stands out, which is the first."""
        asked = self.asked is Asked.QUESTION and self.outcome is Outcome.FOUND
        return self.shown[0] if asked and self.shown else None


class ReadingStore(Protocol):
    """The part of a store that keeps the journal of readings."""

    def add(self, readings: Sequence[Reading], *, keep: int, since: datetime) -> None:
        """Store readings behind those that are there, in one transaction; of all, at most the latest ``keep``, none before ``since``.

        A store that several hubs share keeps that for each namespace by itself, and there ``keep`` 0 takes nothing away: what the other
        hubs keep is theirs.
        Announces nothing, and moves no head: nothing that is remembered has changed.
        """
        ...

    def latest(self, namespaces: Sequence[str] | None = None) -> Sequence[Reading]:
        """Return the readings of some namespaces (None: of all), the latest first."""
        ...
