"""The arithmetic of ranking: pure functions of numbers, each with its source.

Where none is named, form and constants were chosen by measurement: on dialogues, whose questions repeat the words of their
answers, and on questions that share no word with their answer.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

K1 = 0.9
B = 0.4
MIN_TERM_FACTOR = 0.6
DENSE_WEIGHT = 0.12
DENSE_WEIGHT_UNCOVERED = 0.3
REPLY = 0.45
FOLLOWED = 0.2
SESSION = 0.6
SESSION_BEST = 2
SESSION_LOOK = 1_000
SPEAKER = 0.15
ECHO = 0.2
ECHO_WORDS = 5
HALF_LIFE_DAYS = 180.0
REFERENCE_DECAY = 0.99
MICROS_AN_HOUR = 3_600_000_000
DAY = 24 * MICROS_AN_HOUR

Floats = NDArray[np.float32]


def idf(rows: int, holding: int) -> float:
    """Return the weight of a term that ``holding`` of ``rows`` rows hold; always positive.

    The probabilistic inverse document frequency with 1 added inside the logarithm, as Lucene has it (Robertson and
    Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009).
    """
    return math.log1p((rows - holding + 0.5) / (holding + 0.5))


def idfs(rows: int, holding: NDArray[np.int64]) -> Floats:
    """Return the `idf` of many terms."""
    return np.log1p((rows - holding + 0.5) / (holding + 0.5)).astype(np.float32)


def saturation(counts: Floats, relative_lengths: Floats) -> Floats:
    """Return BM25's factor of a term that occurs ``counts`` times (Robertson and Zaragoza, 2009).

    It is 1 for one occurrence in a row of mean length and at most ``K1 + 1``. ``relative_lengths`` are the rows' lengths
    divided by the mean. However long a row is, a term it holds counts at least `MIN_TERM_FACTOR`; otherwise a long text among short
    ones is not found by the very word that it alone holds (Lv and Zhai, "Lower-Bounding Term Frequency Normalization",
    2011, with a bound in place of their added constant). `MIN_TERM_FACTOR` acts from five times the mean length on.
    """
    damping = np.float32(K1) * (np.float32(1 - B) + np.float32(B) * relative_lengths)
    factors = counts * np.float32(K1 + 1) / (counts + damping)
    return np.maximum(factors, np.float32(MIN_TERM_FACTOR)).astype(np.float32, copy=False)


def dense_weight(best_coverage: float) -> float:
    """Return how much of a fused score the vectors decide: the more, the less of the question any row covers in words.

    A fixed weight after stretching both lists to 0..1 lets the best match by words win even where it matches badly.
    """
    return min(max(DENSE_WEIGHT + DENSE_WEIGHT_UNCOVERED * (1 - best_coverage), 0.0), 0.9)


def relative(cosines: Floats) -> Floats:
    """Return the squares of the positive cosines divided by the greatest.

    Squared, because the cosines of one question lie close together, those of a bag of words above all, and a lead among them
    tells more than their height.
    """
    positive = np.maximum(cosines, np.float32(0))
    greatest = positive.max(initial=np.float32(0))
    return np.square(positive / greatest) if greatest > 0 else positive


def half_life(age_micros: NDArray[np.int64], days: float = HALF_LIFE_DAYS) -> Floats:
    """Return 1 for something new, half of it after ``days``, a quarter after twice as long; 1 for the future."""
    ages = np.maximum(age_micros, 0) / (DAY * days)
    return np.exp2(-ages).astype(np.float32)


def hourly_decay(age_micros: NDArray[np.int64], decay: float = REFERENCE_DECAY) -> Floats:
    """Return ``decay ** hours``, the recency of Park et al., "Generative Agents" (2023); 1 for the future."""
    hours = np.maximum(age_micros, 0) / MICROS_AN_HOUR
    return np.power(decay, hours).astype(np.float32)


def reply_context(
    scores: Floats,
    before: NDArray[np.int32],
    after: NDArray[np.int32],
    asks: NDArray[np.bool_],
    spoken: NDArray[np.bool_],
) -> Floats:
    """Return what neighbours in a session add: an answer is found by its question, an utterance a little by what follows.

    ``before`` and ``after`` are the neighbours' places in ``scores``, -1 where there is none; ``spoken`` are utterances.
    """
    asked = np.where((before >= 0) & asks[before], scores[before], np.float32(0))
    followed = np.where((after >= 0) & spoken, scores[after], np.float32(0))
    return (REPLY * asked + FOLLOWED * followed).astype(np.float32)


def session_bonus(scores: Floats, sessions: NDArray[np.int32]) -> Floats:
    """Return for each row a share of the mean of its session's two best scores (0 where there are fewer).

    A conversation that speaks about the question several times is likely to hold the answer. Only the 1,000 best rows
    are looked at.
    """
    best = np.arange(len(scores))
    if len(scores) > SESSION_LOOK:
        best = np.argpartition(-scores, SESSION_LOOK)[:SESSION_LOOK]
    best = best[np.lexsort((-scores[best], sessions[best]))]
    of = sessions[best]
    first = np.flatnonzero(np.diff(of, prepend=of[:1] - 1))
    place = np.arange(len(of)) - np.repeat(first, np.diff(first, append=len(of)))
    top = place < SESSION_BEST
    sums = np.bincount(of[top], scores[best][top], minlength=int(sessions.max(initial=-1)) + 1)
    return (sums[sessions] * (SESSION / SESSION_BEST)).astype(np.float32)


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
