"""Time in a question, as summands of the score: the period that it names, and events before or after which something was."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hybrid_memory.clock import to_micros
from hybrid_memory.retrieval.ranking_signals import DAY, Floats

if TYPE_CHECKING:
    from hybrid_memory.retrieval.time_expressions import Anchor, TimeExpressions, Window

PERIOD = 0.5
EVENT = 0.2
EVENT_COVERED = 0.5
"""How far the words of a memory must cover those of an event to be taken for it."""
MOST_EVENTS = 4
MOST_WINDOWS = 16
"""A question may hold hundreds of times, each of which costs a look at every row; the first are looked at."""
_OUTSIDE = 0.7
_AFTERGLOW = 0.5
_FOREGLOW = 0.15
_LONGEST = 90 * DAY
_MONTH = 30 * DAY
_AROUND = 3 * DAY


def in_period(times: NDArray[np.int64], window: Window) -> Floats:
    """Return 1 within a window (times in microseconds), falling off outside it: more slowly after it, when it is told of.

    Multiplied by how literally the window is to be taken.
    """
    since = None if window.since is None else to_micros(window.since)
    until = None if window.until is None else to_micros(window.until)
    length = _LONGEST if since is None or until is None else min(max(until - since, DAY), _LONGEST)
    near = np.ones(len(times))
    if until is not None:
        late = times >= until
        near[late] = _OUTSIDE * np.exp(-(times[late] - until) / (_AFTERGLOW * length + DAY))
    if since is not None:
        early = times < since
        near[early] = _OUTSIDE * np.exp(-(since - times[early]) / (_FOREGLOW * length + DAY / 2))
    return np.asarray(window.certainty * near, np.float32)


def period_bonus(times: NDArray[np.int64], windows: Sequence[Window]) -> Floats:
    """Return what the windows of a question, at least one, add: half for lying in the best of them, half for lying in all of them.

    A question may name alternatives ("May or June") as well as a period within another ("this year, in March").
    """
    nearest = every = in_period(times, windows[0])
    for window in windows[1:MOST_WINDOWS]:
        nearness = in_period(times, window)
        nearest, every = np.maximum(nearest, nearness), every * nearness
    return np.asarray(PERIOD / 2 * (nearest + every), np.float32)


def event_bonus(times: NDArray[np.int64], anchor: Anchor, event_at: int) -> Floats:
    """Return what lying before, after or about an event at ``event_at`` adds."""
    distance = times - event_at
    if anchor.relation in ("before", "until"):
        near = (distance < 0).astype(np.float64)
    elif anchor.relation in ("after", "since"):
        near = np.where(distance > 0, np.exp(-np.maximum(distance, 0) / _MONTH), 0)
    else:
        near = np.exp(-np.abs(distance) / _AROUND)
    return (EVENT * near).astype(np.float32)


def asks_about_now(when: TimeExpressions, now: datetime) -> bool:
    """Say whether what changed since is what the question wants: not where it speaks of the past or of a closed period."""
    closed = bool(when.windows) and all(window.until is not None and window.until <= now for window in when.windows)
    bygone = any(anchor.relation in ("before", "on") for anchor in when.anchors)
    return not closed and not bygone and when.asked_state not in ("past", "first")
