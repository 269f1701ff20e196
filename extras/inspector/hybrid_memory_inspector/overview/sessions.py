"""The sessions of a namespace: how much was written in each, when, and what of it still holds. Pure."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING

import numpy as np

from hybrid_memory.clock import from_micros
from hybrid_memory.model import MemoryId
from hybrid_memory.retrieval.arrays import ABSENT, UNKNOWN
from hybrid_memory.store.snapshots import NO_TIME
from hybrid_memory_mcp.views.session_titles import session_runs

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hybrid_memory.retrieval.memory_columns import MemoryColumns

LEARNED_SHOWN = 3  # memories that stand for a session


class SessionOrder(StrEnum):
    """Which sessions come first: those written to last, those that began first, the largest."""

    LATEST = "latest"
    OLDEST = "oldest"
    LARGEST = "largest"


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionSummary:
    """One session. Of its ``memories``, ``current`` ones are found today, ``forgotten`` and ``replaced`` ones not.

    ``began`` and ``ended`` are ids of the first and the last that was written, ``learned`` those of the current ones that weigh most.
    """

    name: str
    memories: int
    current: int
    forgotten: int
    replaced: int
    first: datetime
    last: datetime
    began: MemoryId
    ended: MemoryId
    learned: tuple[MemoryId, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionPage:
    """Some sessions in order, and how many there are on all pages."""

    sessions: tuple[SessionSummary, ...]
    total: int


def session_page(
    columns: MemoryColumns,
    now: datetime,
    *,
    named: Collection[str] | None = None,
    order: SessionOrder = SessionOrder.LATEST,
    offset: int = 0,
    limit: int = 50,
) -> SessionPage:
    """Return one page of the sessions, of those with some names alone if any are given."""
    runs = session_runs(columns)
    names = columns.sessions.names
    codes = columns.session.values[runs.rows[runs.begins]]
    chosen = np.arange(len(codes), dtype=np.intp)
    if named is not None:
        chosen = np.array([at for at, code in enumerate(codes.tolist()) if names[code] in named], np.intp)
    created = columns.created_at.values
    if order is SessionOrder.LARGEST:
        key = -(runs.ends - runs.begins)[chosen]
    elif order is SessionOrder.OLDEST:
        key = created[runs.rows[runs.begins[chosen]]]
    else:
        key = -created[runs.rows[runs.ends[chosen] - 1]]
    page = chosen[np.argsort(key, kind="stable")][offset : offset + limit]
    live = columns.visible(now)
    return SessionPage(
        sessions=tuple(_summary(columns, runs.of(at), live, names[codes[at]]) for at in page.tolist()),
        total=len(chosen),
    )


def rows_of_session(columns: MemoryColumns, name: str) -> list[tuple[datetime, MemoryId]]:
    """Return when each memory of a session was written, and its id, the first first; forgotten and replaced ones too."""
    code = columns.sessions.find(name)
    if code == UNKNOWN:
        return []
    rows = np.flatnonzero((columns.session.values == code) & ~columns.gone.values)
    rows = rows[np.argsort(columns.created_at.values[rows], kind="stable")]
    times = columns.created_at.values[rows].tolist()
    return [(from_micros(at), one) for at, one in zip(times, columns.ids.ids_of(rows), strict=True)]


def summary_of(columns: MemoryColumns, now: datetime, name: str) -> SessionSummary | None:
    """Return the summary of one session, None where it holds no memory."""
    code = columns.sessions.find(name)
    rows = np.flatnonzero((columns.session.values == code) & ~columns.gone.values) if code != UNKNOWN else ()
    if not len(rows):
        return None
    ordered = rows[np.argsort(columns.created_at.values[rows], kind="stable")]
    return _summary(columns, ordered, columns.visible(now), name)


def _summary(columns: MemoryColumns, rows: NDArray[np.intp], live: NDArray[np.bool_], name: str) -> SessionSummary:
    current = rows[live[rows]]
    weighed = current[np.lexsort((-columns.created_at.values[current], -columns.importance.values[current]))]
    forgotten = columns.forgotten_at.values[rows] != NO_TIME
    created = columns.created_at.values
    first, last = columns.ids.ids_of(rows[[0, -1]])
    return SessionSummary(
        name=name,
        memories=len(rows),
        current=len(current),
        forgotten=int(np.count_nonzero(forgotten)),
        replaced=int(np.count_nonzero(~forgotten & (columns.successor.values[rows] != ABSENT))),
        first=from_micros(int(created[rows[0]])),
        last=from_micros(int(created[rows[-1]])),
        began=first,
        ended=last,
        learned=tuple(columns.ids.ids_of(weighed[:LEARNED_SHOWN])),
    )
