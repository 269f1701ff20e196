"""The ranking signals: what each adds to the score of a row. Pure functions of numbers, called by ``rank.py``.

Recency, the conversation that a row is part of, and time in the question; the weights are in ``ranking_parameters.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hybrid_memory.clock import to_micros
from hybrid_memory.retrieval.arrays import ABSENT, Floats
from hybrid_memory.retrieval.candidates import total

if TYPE_CHECKING:
    from hybrid_memory.retrieval.candidates import Candidates
    from hybrid_memory.retrieval.memory_columns import MemoryColumns
    from hybrid_memory.retrieval.ranking_parameters import RankingParameters
    from hybrid_memory.retrieval.time_expressions.parsing import TimeExpressions, Window

SURE_NAME = 0.8  # the strength from which a word of the question is treated as a name

MICROS_PER_HOUR = 3_600_000_000
MICROS_PER_DAY = 24 * MICROS_PER_HOUR

HALF_LIFE_DAYS = 180.0  # recency only settles what is otherwise alike, so it fades slowly
REFERENCE_DECAY_PER_HOUR = 0.99  # the value of the reference system; the form is of Park et al., see `hourly_decay`

SESSION_BEST_SCORES = 2  # how many scores of a session lend to each of its turns: one alone may be chance
SESSION_ROWS = 1_000  # how many of the best rows are looked at for it

_OUTSIDE_PERIOD = 0.7  # nearness just outside a period; 1 within
# How far the bonus reaches after a period and before it, in lengths of the period: one tells of a thing afterwards.
_DECAY_AFTER_PERIOD = 0.5
_DECAY_BEFORE_PERIOD = 0.15
MAX_STATED_DAYS = 31  # two days that a memory names are taken for a period if they lie no further apart
_MAX_PERIOD_MICROS = 90 * MICROS_PER_DAY  # longer and open periods reach no further than one of this length
MAX_WINDOWS = 16  # a question may hold hundreds of times, each of which costs a look at every row; the first count


def half_life(age_micros: NDArray[np.int64], days: float = HALF_LIFE_DAYS) -> Floats:
    """Return 1 for something new, half of it after ``days``, a quarter after twice as long; 1 for the future."""
    ages = np.maximum(age_micros, 0) / (MICROS_PER_DAY * days)
    return np.exp2(-ages).astype(np.float32)


def hourly_decay(age_micros: NDArray[np.int64], decay: float = REFERENCE_DECAY_PER_HOUR) -> Floats:
    """Return ``decay ** hours``, the recency of Park et al., "Generative Agents" (2023); 1 for the future."""
    hours = np.maximum(age_micros, 0) / MICROS_PER_HOUR
    return np.power(decay, hours).astype(np.float32)


def neighbours_lend(
    scores: Floats,
    before: NDArray[np.int32],
    after: NDArray[np.int32],
    asks: NDArray[np.bool_],
    parameters: RankingParameters,
) -> Floats:
    """Return what neighbours in a session add: an answer is found by its question, an utterance a little by what follows.

    ``before`` and ``after`` are the neighbours' places in ``scores``, -1 where there is none.
    """
    asked = np.where((before >= 0) & asks[before], scores[before], np.float32(0))
    followed = np.where(after >= 0, scores[after], np.float32(0))
    lent = np.float32(parameters.reply_weight) * asked + np.float32(parameters.followed_weight) * followed
    return lent.astype(np.float32, copy=False)


def best_of_session(scores: Floats, sessions: NDArray[np.int32]) -> Floats:
    """Return for each row the mean of its session's two best scores (0 for each that is missing).

    A conversation that speaks about the question several times is likely to hold the answer. Only the 1,000 best rows
    are looked at.
    """
    left, of = scores, sessions
    if len(scores) > SESSION_ROWS:
        best = np.argpartition(-scores, SESSION_ROWS)[:SESSION_ROWS]
        left, of = scores[best], sessions[best]
    sums = np.zeros(int(sessions.max(initial=-1)) + 1)
    # The best of each session is taken out as often as scores count, which is faster than sorting.
    for _ in range(SESSION_BEST_SCORES):
        highest = np.zeros(len(sums), np.float32)
        np.maximum.at(highest, of, left)
        sums += highest
        holder = np.full(len(sums), ABSENT, np.intp)
        at = np.flatnonzero(left == highest[of])
        holder[of[at]] = at
        stays = np.ones(len(left), np.bool_)
        stays[holder[holder >= 0]] = False
        left, of = left[stays], of[stays]
    return (sums[sessions] / SESSION_BEST_SCORES).astype(np.float32)


def best_first(scores: Floats, faded: NDArray[np.bool_], created_at: NDArray[np.int64]) -> NDArray[np.intp]:
    """Return the order by falling score; among equals faded rows come last, then newer rows first, then lower places.

    Sorting without the further keys and then once more among equals only is several times faster than by all keys.
    """
    order = np.argsort(-scores)
    sorted_scores = scores[order]
    same = sorted_scores[1:] == sorted_scores[:-1]
    tied = np.flatnonzero(np.append(same, False) | np.append(False, same))
    if len(tied):
        among = np.sort(order[tied])
        order[tied] = among[np.lexsort((-created_at[among], faded[among], -scores[among]))]
    return order


def add_context(
    candidates: Candidates,
    strong: NDArray[np.bool_],
    columns: MemoryColumns,
    asks: NDArray[np.bool_],
    named: NDArray[np.bool_],
    parameters: RankingParameters,
) -> NDArray[np.bool_]:
    """Add the summands of context; return which rows are strong because they answer a question that is.

    Turns of a dialogue need each other to be understood; notes stand for themselves.
    """
    speaker = columns.speaker.values[candidates.rows]
    spoken = columns.turns(candidates.rows)
    answers = np.zeros(len(spoken), np.bool_)
    if not spoken.any():
        return answers
    asking = asks[candidates.rows]
    own = total({name: part for name, part in candidates.parts.items() if name in ("lexical", "dense")})
    lent = np.where(spoken, np.maximum(own - np.float32(parameters.context_floor), 0), np.float32(0))
    nothing = np.float32(0)
    reply = neighbours_lend(lent, candidates.before, candidates.after, asking, parameters)
    candidates.add("reply", np.where(spoken, reply, nothing))
    session = best_of_session(lent, columns.conversation.values[candidates.rows])
    candidates.add("session", np.where(spoken, np.float32(parameters.session_weight) * session, nothing))
    if named.any():
        candidates.add("speaker", np.where(spoken & named[speaker], np.float32(parameters.speaker_weight), nothing))
    answers |= spoken & (candidates.before >= 0) & asking[candidates.before] & strong[candidates.before]
    return answers


def in_period(times: NDArray[np.int64], window: Window) -> Floats:
    """Return 1 within a window (times in microseconds), falling off outside it: more slowly after it, when people tell of it.

    Multiplied by how literally the window is to be taken.
    """
    since = None if window.since is None else to_micros(window.since)
    until = None if window.until is None else to_micros(window.until)
    length = (
        _MAX_PERIOD_MICROS
        if since is None or until is None
        else min(max(until - since, MICROS_PER_DAY), _MAX_PERIOD_MICROS)
    )
    near = np.ones(len(times))
    if until is not None:
        late = times >= until
        near[late] = _OUTSIDE_PERIOD * np.exp(-(times[late] - until) / (_DECAY_AFTER_PERIOD * length + MICROS_PER_DAY))
    if since is not None:
        early = times < since
        near[early] = _OUTSIDE_PERIOD * np.exp(
            -(since - times[early]) / (_DECAY_BEFORE_PERIOD * length + MICROS_PER_DAY / 2)
        )
    return np.asarray(window.certainty * near, np.float32)


def in_windows(times: NDArray[np.int64], windows: Sequence[Window], ends: NDArray[np.int64] | None = None) -> Floats:
    """Return how far times lie in the windows of a question, at least one, from 0 to 1: half for the best of them, half for all.

    A question may name alternatives ("May or June") as well as a period within another ("this year, in March"). With ``ends``
    times are those of periods, of which the moment counts that is nearest to the beginning of the window.
    """
    nearest = every = in_period(_nearest_moment(times, ends, windows[0]), windows[0])
    for window in windows[1:MAX_WINDOWS]:
        nearness = in_period(_nearest_moment(times, ends, window), window)
        nearest, every = np.maximum(nearest, nearness), every * nearness
    return np.asarray((nearest + every) / 2, np.float32)


def _nearest_moment(begins: NDArray[np.int64], ends: NDArray[np.int64] | None, window: Window) -> NDArray[np.int64]:
    if ends is None or window.since is None:
        return begins
    moment: NDArray[np.int64] = np.maximum(np.minimum(to_micros(window.since), ends), begins)
    return moment


def asks_about_now(time: TimeExpressions, now: datetime) -> bool:
    """Return True if what changed since is what the question wants: not where it speaks of the past or of a closed period."""
    closed = bool(time.windows) and all(window.until is not None and window.until <= now for window in time.windows)
    bygone = any(anchor.relation in ("before", "on") for anchor in time.anchors)
    return not closed and not bygone and time.asked_state not in ("past", "first")
