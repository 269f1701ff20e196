"""When a memory was true and when it was believed, of all rows at once. Pure.

A memory has two spans of time. It was *believed* from the moment in which it was learned until something replaced it or it was forgotten.
It was *true* from the time that it speaks of (that of learning, where it names none) until what replaced it became true, or its time was
over. What replaced it for the very time that it speaks of corrected it: then the end of its truth is not known, only that of the belief.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import numpy as np

from hybrid_memory.clock import to_micros
from hybrid_memory.requests import MemoryState
from hybrid_memory.retrieval.arrays import ABSENT
from hybrid_memory.store.listing import state_of
from hybrid_memory.store.snapshots import NO_TIME

if TYPE_CHECKING:
    from datetime import datetime

    from numpy.typing import NDArray

    from hybrid_memory.model import Memory
    from hybrid_memory.retrieval.memory_columns import MemoryColumns

STATES = tuple(MemoryState)
_FORGOTTEN, _SUPERSEDED, _EXPIRED, _CURRENT = (STATES.index(one) for one in MemoryState)


@dataclass(frozen=True, slots=True)
class RowTimes:
    """The two spans of some rows, aligned, in microseconds; `NO_TIME` where a span has no end.

    ``corrected`` marks what was replaced by something about the very same time. ``state`` are places in `STATES`.
    """

    learned: NDArray[np.int64]
    believed_until: NDArray[np.int64]
    true_from: NDArray[np.int64]
    true_until: NDArray[np.int64]
    corrected: NDArray[np.bool_]
    state: NDArray[np.int8]

    def at(self, places: NDArray[np.intp]) -> RowTimes:
        """Return those of some places."""
        return RowTimes(*(getattr(self, one.name)[places] for one in fields(self)))


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryTimes:
    """The two spans of one memory; None where a span has no end, or nobody knows it.

    ``stated`` says that it names its own time. ``ended`` is how it came to an end: "changed" (something else became true), "corrected"
    (something else is true of the same time), "over" (its time ran out), "forgotten", None for not at all.
    """

    learned: datetime
    believed_until: datetime | None
    true_from: datetime
    true_until: datetime | None
    stated: bool
    ended: str | None


def times_of(memory: Memory, successor: Memory | None, now: datetime) -> MemoryTimes:
    """Return when one memory was true and believed; ``successor`` is what replaced it, None where that is not known."""
    true_from = memory.occurred_at or memory.created_at
    believed, true = [memory.forgotten_at], [memory.expires_at]
    corrected = False
    if memory.superseded_by is not None and successor is not None:
        later = successor.occurred_at or successor.created_at
        believed.append(successor.created_at)
        corrected = later <= true_from
        true.append(None if corrected else later)
    return MemoryTimes(
        learned=memory.created_at,
        believed_until=min((one for one in believed if one is not None), default=None),
        true_from=true_from,
        true_until=min((one for one in true if one is not None), default=None),
        stated=memory.occurred_at is not None,
        ended=_ENDED[state_of(memory, now)] if not corrected or memory.forgotten_at is not None else "corrected",
    )


_ENDED = {
    MemoryState.FORGOTTEN: "forgotten",
    MemoryState.SUPERSEDED: "changed",
    MemoryState.EXPIRED: "over",
    MemoryState.CURRENT: None,
}


def row_times(columns: MemoryColumns, rows: NDArray[np.intp], now: datetime) -> RowTimes:
    """Return when some rows were true and believed, as far as is known ``now``."""
    learned = columns.created_at.values[rows]
    happened = columns.happened_at()
    forgotten, expires = columns.forgotten_at.values[rows], columns.expires_at.values[rows]
    successor = columns.successor.values[rows]
    replaced = np.flatnonzero(successor >= 0)
    newer = successor[replaced]
    believed_until, true_until = forgotten.copy(), expires.copy()
    believed_until[replaced] = _earlier(believed_until[replaced], columns.created_at.values[newer])
    # What is true of the very time that the earlier one speaks of corrected it; when that ceased to be true nobody said.
    later = happened[newer] > happened[rows[replaced]]
    changed, corrected = replaced[later], np.zeros(len(rows), np.bool_)
    corrected[replaced[~later]] = True
    true_until[changed] = _earlier(true_until[changed], happened[newer[later]])
    state = np.full(len(rows), _CURRENT, np.int8)
    state[(expires != NO_TIME) & (expires <= to_micros(now))] = _EXPIRED
    state[successor != ABSENT] = _SUPERSEDED
    state[forgotten != NO_TIME] = _FORGOTTEN
    return RowTimes(learned, believed_until, happened[rows], true_until, corrected, state)


def _earlier(first: NDArray[np.int64], second: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the earlier of two times, the one that there is where the other is none."""
    return np.where(first == NO_TIME, second, np.minimum(first, second))
