"""What was asked of the memory, by whom, and what was shown: noted alongside readings, and stored when there is time.

Who reads waits for nothing: a note is put into a queue here, and stored by a background step, the next write, an idle moment or the end of
the process. What a process that is killed had not stored is lost; so is the oldest where readings come faster than they can be stored.
What looks like a secret in a question is masked before it is stored, whatever the setting ``secrets`` says.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING

from hybrid_memory.errors import EngineUnavailable, StoreError, StoreFull
from hybrid_memory.language.text import excerpt
from hybrid_memory.model import Json, MemoryId, Scope
from hybrid_memory.moments import EARLIEST
from hybrid_memory.requests import ReadRequest, ReadResult, Where
from hybrid_memory.secret_detection.masking import masked, masked_json
from hybrid_memory.store.readings import Asked, Outcome, Reading, Way

if TYPE_CHECKING:
    from hybrid_memory.store.readings import ReadingStore

QUESTION_CHARACTERS = 500  # of a question that are kept: what it asks, without what was pasted behind it
_LOOKED_AT = 4_000  # characters in which secrets are looked for before the question is cut
_FILTER_CHARACTERS = 2_000  # of all filters together; longer ones are told by their names alone
_WAITING = 512  # readings in the queue
STORED_AT_ONCE = 64  # so many are stored by a background step or the next write; fewer wait for an idle moment


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """What a reading put before a model: the ids in their order, and about how many tokens that cost."""

    ids: Sequence[MemoryId] = ()
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class _Note:
    """A reading that waits: as cheap to make as can be."""

    at: datetime
    scope: Scope
    way: Way
    request: ReadRequest
    shown: Shown
    matched: int
    outcome: Outcome
    asked: Asked | None


class ReadingJournal:
    """Notes readings and tells them. Safe for threads. ``keep`` readings of ``days`` days are kept at most; 0 keeps none and notes none."""

    def __init__(self, store: ReadingStore, *, keep: int, days: float) -> None:
        self._store = store
        self._keep = keep
        self._days = timedelta(days=days)
        self._waiting: deque[_Note] = deque(maxlen=_WAITING)
        self._lock = threading.Lock()

    @property
    def is_on(self) -> bool:
        """Whether readings are noted."""
        return self._keep > 0

    @property
    def limits(self) -> tuple[int, float]:
        """How many readings are kept at most, and for how many days."""
        return self._keep, self._days / timedelta(days=1)

    @property
    def is_due(self) -> bool:
        """Whether so many readings wait that they should not wait for an idle moment."""
        return len(self._waiting) >= STORED_AT_ONCE

    def note(
        self,
        scope: Scope,
        way: Way,
        request: ReadRequest,
        result: ReadResult,
        shown: Shown,
        now: datetime,
        asked: Asked | None = None,
    ) -> None:
        """Note a reading; ``asked`` is told by the request where it is not given.

        A prompt that showed nothing is not noted: nobody asked the memory anything, and a journal is no record of what people type.
        """
        if not self.is_on or (request.quiet and not shown.ids):
            return
        note = _Note(now, scope, way, request, shown, result.total, _outcome(result), asked)
        with self._lock:
            self._waiting.append(note)

    def flush(self, now: datetime, *, forget_old: bool = True) -> None:
        """Store what waits, and let go what is too old or too much; a failure of the store is no failure of anything else.

        ``forget_old`` False keeps what is old, where the clock may be wrong.
        """
        with self._lock:
            waiting = list(self._waiting)
            self._waiting.clear()
        try:
            self._store.add(
                [_reading(one) for one in waiting], keep=self._keep, since=self._since(now, forget_old=forget_old)
            )
        except (EngineUnavailable, StoreFull):
            with self._lock:
                room = _WAITING - len(self._waiting)
                self._waiting.extendleft(reversed(waiting[max(len(waiting) - room, 0) :]))
        except StoreError:
            pass  # the store is gone or closed, and its journal with it

    def flush_waiting(self, now: datetime, *, forget_old: bool = True) -> None:
        """As `flush`, but do nothing where nothing waits."""
        if self._waiting:
            self.flush(now, forget_old=forget_old)

    def latest(self, namespaces: Sequence[str] | None, now: datetime) -> list[Reading]:
        """Return the readings of some namespaces (None: of all), the latest first, those that wait included."""
        with suppress(StoreError):
            self.flush_waiting(now, forget_old=False)
        since = self._since(now, forget_old=True)
        return [one for one in self._store.latest(namespaces) if one.at >= since]

    def _since(self, now: datetime, *, forget_old: bool) -> datetime:
        try:
            return max(now - self._days, EARLIEST) if forget_old else EARLIEST
        except OverflowError:
            return EARLIEST


def _outcome(result: ReadResult) -> Outcome:
    if not result.total and not result.hits:
        return Outcome.NOTHING
    if result.unknown or (result.hits and all(hit.weak for hit in result.hits)):
        return Outcome.UNKNOWN
    return Outcome.WEAK if result.recalled is None else Outcome.FOUND


def _reading(note: _Note) -> Reading:
    """Return a note as it is to be stored: without secrets, and cut."""
    request = note.request
    whole = request.query.strip()[:_LOOKED_AT].encode("utf-8", "replace").decode()  # no half of a character
    question = excerpt(masked(whole), QUESTION_CHARACTERS)
    return Reading(
        at=note.at,
        namespace=note.scope.namespace,
        session=masked(note.scope.session),
        client=note.scope.actor,
        way=note.way,
        asked=note.asked or _asked(request),
        question=question,
        filters=_filters(request.where),
        shown=tuple(note.shown.ids),
        matched=note.matched,
        outcome=note.outcome,
        tokens=note.shown.tokens,
    )


def _asked(request: ReadRequest) -> Asked:
    if request.ids:
        return Asked.IDS
    if request.cursor is not None:
        return Asked.MORE
    return Asked.QUESTION if request.query.strip() else Asked.BRIEF


_NO_FILTERS = Where()


def _filters(where: Where) -> dict[str, Json]:
    """Return the filters that are given, by their names, without secrets."""
    given = {one.name: getattr(where, one.name) for one in fields(where)}
    told = {name: _plain(value) for name, value in given.items() if value != getattr(_NO_FILTERS, name)}
    if len(str(told)) > _FILTER_CHARACTERS:
        return dict.fromkeys(told, "...")
    found: dict[str, Json] = masked_json(told)
    return found


def _plain(value: object) -> Json:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, StrEnum):
        return value.value
    if isinstance(value, tuple):
        return list(value)
    return dict(value) if isinstance(value, Mapping) else str(value)
