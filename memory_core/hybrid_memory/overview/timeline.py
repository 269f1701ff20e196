"""What a namespace holds in the order of time: what passes some filters, how much of it in each part of a picture, and one page of it.

Pure. There are two orders of time: when something was learned, and when it was true (`overview.times`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING

import numpy as np

from hybrid_memory.clock import to_micros
from hybrid_memory.model import TRUST_ORDER, Kind, MemoryId, Tier, Trust
from hybrid_memory.overview.times import STATES, RowTimes, row_times
from hybrid_memory.requests import MemoryState
from hybrid_memory.retrieval.memory_columns import KINDS, TIERS
from hybrid_memory.store.snapshots import NO_TIME

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hybrid_memory.retrieval.memory_columns import Mask, MemoryColumns

_MOST_NAMED = 20  # sessions and tags of a facet; more would not be read


class TimeOrder(StrEnum):
    """Which time is meant: that of learning, or that of what is told."""

    LEARNED = "learned"
    TRUE = "true"


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelineFilter:
    """Which memories a timeline holds; all given filters must hold.

    ``state`` None: all but what was forgotten. ``as_of`` holds what was believed at a moment, as a reading of that moment finds it;
    ``true_at`` what was true at a moment, for all that is known now. ``changes``: only what took the place of something.
    """

    state: MemoryState | None = None
    tier: Tier | None = None
    kind: Kind | None = None
    trust: Trust | None = None
    session: str | None = None
    tag: str | None = None
    as_of: datetime | None = None
    true_at: datetime | None = None
    changes: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelineRows:
    """The rows that pass a filter, aligned with their times, in the order of storing; and how many more a filter less would leave.

    ``facets`` leads from a filter's name to the number of memories of each of its values, were it not set.
    """

    ids: Sequence[MemoryId]
    times: RowTimes
    facets: Mapping[str, Mapping[str, int]] = field(default_factory=dict)

    def by(self, order: TimeOrder) -> NDArray[np.int64]:
        """Return the time of each row."""
        return self.times.learned if order is TimeOrder.LEARNED else self.times.true_from

    def counts(self, order: TimeOrder, edges: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return how many rows of each state lie between neighbouring edges: (parts + 2, states), the first before all, the last behind."""
        part = np.searchsorted(edges, self.by(order), side="right")
        flat = part * len(STATES) + self.times.state
        return np.bincount(flat, minlength=(len(edges) + 1) * len(STATES)).reshape(-1, len(STATES)).astype(np.int64)

    def newest(self, order: TimeOrder, since: int | None = None, until: int | None = None) -> NDArray[np.intp]:
        """Return the places of the rows from ``since`` up to ``until``, the latest first; of one moment those stored last."""
        moments = self.by(order)
        mask = np.ones(len(moments), np.bool_)
        if since is not None:
            mask &= moments >= since
        if until is not None:
            mask &= moments < until
        found = np.flatnonzero(mask)[::-1]
        return found[np.argsort(-moments[found], kind="stable")]

    def extent(self, order: TimeOrder) -> tuple[int, int] | None:
        """Return the first and the last time; None without rows."""
        moments = self.by(order)
        return (int(moments.min()), int(moments.max())) if len(moments) else None


def timeline(columns: MemoryColumns, wanted: TimelineFilter, now: datetime) -> TimelineRows:
    """Return what passes a filter, with its times and the facets alongside it."""
    everything = np.flatnonzero(_reachable(columns, wanted, now))
    times = row_times(columns, everything, now)
    keep = _held_at(times, wanted.true_at)
    everything, times = everything[keep], times.at(keep)
    masks = _masks(columns, everything, times, wanted)
    chosen = np.flatnonzero(np.logical_and.reduce([*masks.values(), np.ones(len(everything), np.bool_)]))
    return TimelineRows(
        ids=columns.ids.values[everything[chosen]],
        times=times.at(chosen),
        facets=_facets(columns, everything, times, masks),
    )


def _reachable(columns: MemoryColumns, wanted: TimelineFilter, now: datetime) -> Mask:
    """Return what there is to choose from: everything that was not erased, or what a moment believed."""
    of_then = None if wanted.as_of is None else columns.visible(now, as_of=wanted.as_of)
    mask = ~columns.gone.values if of_then is None else of_then.copy()
    if wanted.changes:
        successors = columns.successor.values
        replacing = np.zeros(len(columns), np.bool_)
        replacing[successors[successors >= 0]] = True
        mask &= replacing
    return mask


def _held_at(times: RowTimes, moment: datetime | None) -> NDArray[np.intp]:
    """Return the places of what was true at a moment; all without one."""
    if moment is None:
        return np.arange(len(times.learned))
    at = to_micros(moment)
    ends = (times.true_until == NO_TIME) | (times.true_until > at)
    return np.flatnonzero((times.true_from <= at) & ends & ~times.corrected)


def _masks(columns: MemoryColumns, rows: NDArray[np.intp], times: RowTimes, wanted: TimelineFilter) -> dict[str, Mask]:
    """Return for each filter which rows pass it."""
    masks = {
        "state": times.state != STATES.index(MemoryState.FORGOTTEN)
        if wanted.state is None
        else times.state == STATES.index(wanted.state)
    }
    coded = (("tier", wanted.tier, TIERS), ("kind", wanted.kind, KINDS), ("trust", wanted.trust, TRUST_ORDER))
    for name, value, values in coded:
        if value is not None:
            masks[name] = getattr(columns, name).values[rows] == values.index(value)
    if wanted.session is not None:
        masks["session"] = columns.session.values[rows] == columns.sessions.find(wanted.session)
    if wanted.tag is not None:
        carrying = np.zeros(len(columns), np.bool_)
        carrying[columns.tags.having(wanted.tag)] = True
        masks["tag"] = carrying[rows]
    return masks


def _facets(
    columns: MemoryColumns, rows: NDArray[np.intp], times: RowTimes, masks: Mapping[str, Mask]
) -> dict[str, dict[str, int]]:
    """Return how many rows have which value of each filter, the others being as they are."""

    def others(name: str) -> NDArray[np.intp]:
        left = [mask for filtered, mask in masks.items() if filtered != name]
        return np.flatnonzero(np.logical_and.reduce([*left, np.ones(len(rows), np.bool_)]))

    found = {"state": _counted(times.state[others("state")], [one.value for one in STATES])}
    for name, values in (("tier", TIERS), ("kind", KINDS), ("trust", TRUST_ORDER)):
        codes = getattr(columns, name).values[rows[others(name)]]
        found[name] = _counted(codes, [one.value for one in values])
    sessions = _counted(columns.session.values[rows[others("session")]], columns.sessions.names)
    with_tag = np.zeros(len(columns), np.bool_)
    with_tag[rows[others("tag")]] = True
    named = {"session": sessions, "tag": columns.tags.counts(with_tag)}
    return found | {name: _most(counts) for name, counts in named.items()}


def _counted(codes: NDArray[np.signedinteger], names: Sequence[str]) -> dict[str, int]:
    counts = np.bincount(codes, minlength=len(names)).tolist()
    return {name: count for name, count in zip(names, counts, strict=True) if count}


def _most(counts: Mapping[str, int]) -> dict[str, int]:
    """Return the names with the highest counts, of equal ones those that come first in the alphabet."""
    order = sorted(((count, name) for name, count in counts.items() if count), key=lambda one: (-one[0], one[1]))
    return {name: count for count, name in order[:_MOST_NAMED]}
