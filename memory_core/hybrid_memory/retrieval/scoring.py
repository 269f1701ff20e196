"""From rows to a ranking: the steps of a search."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hybrid_memory.clock import to_micros
from hybrid_memory.retrieval import ranking
from hybrid_memory.retrieval.ask import Ask, Ranking, Scorer
from hybrid_memory.retrieval.lexical import LexicalIndex
from hybrid_memory.retrieval.ranking import Floats
from hybrid_memory.retrieval.rows import FADED, Rows
from hybrid_memory.retrieval.vectors import Matrix

WEIGHTS: Mapping[Scorer, tuple[float, float, float]] = {
    Scorer.FUSED: (0.05, 1.0, 0.0),
    Scorer.REFERENCE: (1.0, 1.0, 1.0),
    Scorer.LEXICAL: (0.0, 1.0, 0.0),
    Scorer.DENSE: (0.0, 1.0, 0.0),
}
"""How much recency, relevance and importance weigh unless the question says otherwise.

Recency is small: it settles what is otherwise alike. Four times as much finds the newest of several values more often (.35
instead of .28 of the questions in our development set) but loses a tenth of the answers in other words.
"""

FLOOR_COVERAGE = 0.1
FLOOR_COSINE = 0.15
"""Below both a row is *weak*: neither its words nor its vector say that it has to do with the question.

With the built-in embedder on our development sets, 0.5 % of the wanted memories of conversations and 5 to 7 % of those worded
quite differently lie below, and 19 % and 50 to 84 % of all others; 0.15 and 0.25 would lose 5 % and 20 to 30 %.
"""

_GATHER_BELOW = 4
"""A selective filter pays for gathering rows: below a quarter of them."""


@dataclass(frozen=True, slots=True)
class Neighbours:
    """For each row the row before and after it in its session, -1 for none."""

    before: NDArray[np.int32]
    after: NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Material:
    """What a search reads. ``named`` tells for each speaker's number whether the question names that speaker."""

    rows: Rows
    lexical: LexicalIndex
    matrix: Matrix
    neighbours: Neighbours
    named: NDArray[np.bool_]


def rank(ask: Ask, material: Material) -> Ranking:
    """Return all rows that pass the filters, best first."""
    rows = material.rows
    visible = rows.visible(ask.now, as_of=ask.where.as_of, asked_at=ask.asked_at)
    found = np.flatnonzero(visible & rows.matching(ask.where))
    scorer = Scorer(ask.scorer)
    coverage = material.lexical.coverage(ask.text_terms, visible)[found]
    cosine = _cosines(ask, material.matrix, found)
    strong = (coverage >= FLOOR_COVERAGE) | (cosine >= FLOOR_COSINE)
    parts = _relevance(scorer, coverage, cosine, has_vector=material.matrix.fits(ask.vector))
    if scorer is Scorer.FUSED:
        strong |= _add_context(parts, strong, found, material)
    weights = _weights(ask, scorer)
    if weights[1] != 1:
        parts = {name: np.float32(weights[1]) * part for name, part in parts.items()}
    parts |= _standing(ask, scorer, rows, found, weights)
    scores = _total(parts)
    order = ranking.best_first(scores, rows.tier.values[found] == FADED, rows.created_at.values[found])
    return Ranking(
        ids=rows.ids.values[found[order]],
        scores=scores[order],
        weak=~strong[order],
        parts=parts,
        places=order,
    )


def _cosines(ask: Ask, matrix: Matrix, found: NDArray[np.intp]) -> Floats:
    if ask.vector is None or not matrix.fits(ask.vector):
        return np.zeros(len(found), np.float32)
    if len(found) * _GATHER_BELOW < len(matrix.has):
        return matrix.scores(ask.vector, found)
    return matrix.scores(ask.vector)[found]


def _relevance(scorer: Scorer, coverage: Floats, cosine: Floats, *, has_vector: bool) -> dict[str, Floats]:
    """Return the summands that words and vector bring; without a vector the words speak alone, whatever the scorer."""
    if scorer is Scorer.LEXICAL or not has_vector:
        return {"lexical": coverage}
    if scorer is Scorer.FUSED:
        weight = np.float32(ranking.dense_weight(float(coverage.max(initial=0))))
        return {"lexical": (1 - weight) * coverage, "dense": weight * ranking.relative(cosine)}
    return {"dense": cosine}


def _add_context(
    parts: dict[str, Floats], strong: NDArray[np.bool_], found: NDArray[np.intp], material: Material
) -> NDArray[np.bool_]:
    """Add what a row's session and speaker tell to the parts; return which rows are strong by the question they answer."""
    rows = material.rows
    own = _total(parts)
    place = np.full(len(rows), -1, np.int32)
    place[found] = np.arange(len(found), dtype=np.int32)
    before, after = (
        _places(place, neighbour[found]) for neighbour in (material.neighbours.before, material.neighbours.after)
    )
    asks = material.lexical.asks[found]
    parts["reply"] = ranking.reply_context(own, before, after, asks)
    parts["session"] = ranking.session_bonus(own, rows.session.values[found])
    if material.named.any():
        speaker = rows.speaker.values[found]
        parts["speaker"] = np.where(
            (speaker >= 0) & material.named[speaker], np.float32(ranking.SPEAKER), np.float32(0)
        )
    answers: NDArray[np.bool_] = (before >= 0) & asks[before] & strong[before]
    return answers


def _places(place: NDArray[np.int32], neighbour: NDArray[np.int32]) -> NDArray[np.int32]:
    return np.where(neighbour >= 0, place[neighbour], np.int32(-1))


def _total(parts: Mapping[str, Floats]) -> Floats:
    first, *others = parts.values()
    total = first.copy()
    for part in others:
        total += part
    return total


def _weights(ask: Ask, scorer: Scorer) -> tuple[float, float, float]:
    own = WEIGHTS[scorer]
    return (
        own[0] if ask.alpha is None else ask.alpha,
        own[1] if ask.beta is None else ask.beta,
        own[2] if ask.gamma is None else ask.gamma,
    )


def _standing(
    ask: Ask, scorer: Scorer, rows: Rows, found: NDArray[np.intp], weights: tuple[float, float, float]
) -> dict[str, Floats]:
    """Return the summands that do not depend on the question: recency and importance.

    The reference formula forgets by the hour since the last use; ours by the half-life of what happened. Ages are those of
    the first page, so that pages fit together.
    """
    parts: dict[str, Floats] = {}
    now = to_micros(ask.asked_at or ask.now)
    if weights[0] and scorer is Scorer.REFERENCE:
        used = rows.accessed_at.values[found]
        ages = now - np.where(used >= 0, used, rows.created_at.values[found])
        parts["recency"] = np.float32(weights[0]) * ranking.hourly_decay(ages)
    elif weights[0]:
        parts["recency"] = np.float32(weights[0]) * ranking.half_life(now - rows.happened_at()[found])
    if weights[2]:
        parts["importance"] = (weights[2] * rows.importance.values[found]).astype(np.float32)
    return parts
