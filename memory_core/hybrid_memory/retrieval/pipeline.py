"""From rows to a ranking: the steps of a search."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hybrid_memory.clock import to_micros
from hybrid_memory.retrieval import ranking_signals
from hybrid_memory.retrieval.bm25 import LexicalIndex
from hybrid_memory.retrieval.candidates import MAX_CANDIDATES, Candidates, SessionNeighbours, select_candidates, total
from hybrid_memory.retrieval.confidence import CONFIDENCE_HITS, confidence, is_known
from hybrid_memory.retrieval.context import add_context
from hybrid_memory.retrieval.deduplication import group_duplicates, without_duplicate_pairs
from hybrid_memory.retrieval.feedback import add_pseudo_relevance_feedback, find_updates
from hybrid_memory.retrieval.matching import Coverage, count_terms, per_term_scores, score
from hybrid_memory.retrieval.memory_columns import FADED, MemoryColumns
from hybrid_memory.retrieval.query import Ranking, Scorer, SearchQuery
from hybrid_memory.retrieval.query_expansion import NO_EXPANSIONS, ExpansionTable
from hybrid_memory.retrieval.ranking_signals import Floats
from hybrid_memory.retrieval.timing import EVENT_COVERED, MOST_EVENTS, event_bonus, period_bonus
from hybrid_memory.retrieval.top import top_k
from hybrid_memory.retrieval.vectors import Matrix
from hybrid_memory.text import terms

WEIGHTS: Mapping[Scorer, tuple[float, float, float]] = {
    Scorer.FUSED: (0.02, 1.0, 0.0),
    Scorer.REFERENCE: (1.0, 1.0, 1.0),
    Scorer.LEXICAL: (0.0, 1.0, 0.0),
    Scorer.DENSE: (0.0, 1.0, 0.0),
}
"""How much recency, relevance and importance weigh unless the question says otherwise.

Recency settles what is otherwise alike. That the newest of several values comes first is not left to it
(`hybrid_memory.retrieval.update_detection`): by itself it would have to weigh so much that old memories are lost.
"""

FLOOR_COVERAGE = 0.1
FLOOR_COSINE = 0.15
"""Below both a row is *weak*: neither its words nor its vector say that it has to do with the question.

Low on purpose. Measured with the first built-in table and before near words counted, 0.5 % of the wanted memories of
conversations and 5 to 7 % of those worded quite differently lay below, and 19 % and 50 to 84 % of all others.
"""

CARRIED = 0.3
"""A row that its context carries to this share of the best score is not weak either, if any row is strong by itself."""
FAINT = 0.15
"""A row with less than this share of the best score is weak whatever it matches: beside the best it is noise, and costs tokens.

On our development sets no wanted memory among the first eight lies below it with the built-in embedder, and 4 in 1,000 with MiniLM.
"""

_PROPOSED = 256
"""How many of the nearest rows an approximate index is asked for."""
_GATHER_BELOW = 4
"""A selective filter pays for gathering rows: below a quarter of them."""


@dataclass(frozen=True, slots=True)
class SearchContext:
    """What a search reads. ``named`` tells for each speaker's number whether the question names that speaker."""

    rows: MemoryColumns
    lexical: LexicalIndex
    matrix: Matrix
    neighbours: SessionNeighbours
    named: NDArray[np.bool_]
    near: ExpansionTable


def rank(query: SearchQuery, material: SearchContext) -> Ranking:
    """Return the rows that pass the filters, best first."""
    rows = material.rows
    scorer = Scorer(query.scorer)
    visible = rows.visible(query.now, as_of=query.where.as_of, asked_at=query.asked_at)
    mask = visible & rows.matching(query.where)
    found = np.flatnonzero(mask)
    near = material.near if scorer is Scorer.FUSED else NO_EXPANSIONS
    matches = score(material.lexical, query.terms, visible, near)
    cosine = _cosines(query, material.matrix, mask, found, matches.covered)
    parts = _relevance(scorer, matches, cosine, found, has_vector=material.matrix.fits(query.vector))
    if scorer is Scorer.FUSED and query.time.windows:
        parts["period"] = period_bonus(rows.happened_at(found), query.time.windows)
    chosen = select_candidates(
        found, cosine, parts, material.neighbours, promise=lambda: _prefilter_scores(query, scorer, rows, found, parts)
    )
    strong = _strong(scorer, chosen, matches)
    if scorer is Scorer.FUSED:
        strong |= add_context(chosen, strong, rows, material.lexical.asks, material.named)
        _add_events(query, chosen, material, visible)
        add_pseudo_relevance_feedback(chosen, query.terms, material.lexical, visible)
    weights = _weights(query, scorer)
    usual = _query_independent_scores(query, scorer, rows, chosen.rows, WEIGHTS[scorer])
    certain = _confidence(total(chosen.parts | usual), chosen, matches, material.lexical)
    chosen.scale(weights[1])
    chosen.parts |= (
        usual if weights == WEIGHTS[scorer] else _query_independent_scores(query, scorer, rows, chosen.rows, weights)
    )
    newer = {}
    if scorer is Scorer.FUSED:
        if not is_known(certain, float(matches.exact[chosen.rows].max(initial=0)), float(chosen.cosine.max(initial=0))):
            strong[:] = False
        newer = find_updates(query, chosen, matches, rows, material.lexical, material.matrix)
    scores = chosen.total()
    if scorer is Scorer.FUSED and strong.any():
        strong |= scores >= CARRIED * scores.max()
        strong &= scores >= FAINT * scores.max()
    order = ranking_signals.best_first(
        scores, rows.tier.values[chosen.rows] == FADED, rows.created_at.values[chosen.rows]
    )
    stays, folded = group_duplicates(chosen.rows[order], rows.said)
    order = order[stays]
    return Ranking(
        ids=rows.ids.values[chosen.rows[order]],
        scores=scores[order],
        weak=~strong[order],
        parts=chosen.parts,
        places=order,
        newer={
            rows.ids.name(earlier): rows.ids.name(later)
            for earlier, later in without_duplicate_pairs(newer, folded).items()
        },
        repeats={rows.ids.name(row): tuple(map(rows.ids.name, others)) for row, others in folded.items()},
        confidence=certain,
    )


def _cosines(
    query: SearchQuery, matrix: Matrix, mask: NDArray[np.bool_], found: NDArray[np.intp], covered: Floats
) -> Floats:
    """Return the cosines of the rows that were found.

    With an approximate index of very many vectors they are those of the rows that it proposes and of the rows that words
    make likely; that of any other row counts as nothing.
    """
    if query.vector is None or not matrix.fits(query.vector):
        return np.zeros(len(found), np.float32)
    proposed = matrix.proposed(query.vector, min(_PROPOSED, len(found)), mask)
    if proposed is not None:
        words = covered[found]
        likely = found[top_k(words, MAX_CANDIDATES)]
        rows = np.union1d(proposed, likely[covered[likely] > 0])
        cosine = np.zeros(len(found), np.float32)
        cosine[np.searchsorted(found, rows)] = matrix.scores(query.vector, rows)
        return cosine
    if len(found) * _GATHER_BELOW < len(matrix.has):
        return matrix.scores(query.vector, found)
    return matrix.scores(query.vector)[found]


def _relevance(
    scorer: Scorer, matches: Coverage, cosine: Floats, found: NDArray[np.intp], *, has_vector: bool
) -> dict[str, Floats]:
    """Return the summands that words and vector bring; without a vector the words speak alone, whatever the scorer."""
    covered = matches.covered[found]
    if scorer is Scorer.LEXICAL or not has_vector:
        return {"lexical": covered}
    if scorer is Scorer.FUSED:
        weight = np.float32(ranking_signals.dense_weight(float(matches.exact[found].max(initial=0))))
        return {"lexical": (1 - weight) * covered, "dense": weight * ranking_signals.relative(cosine)}
    return {"dense": cosine}


def _strong(scorer: Scorer, chosen: Candidates, matches: Coverage) -> NDArray[np.bool_]:
    by_words = matches.covered[chosen.rows] >= FLOOR_COVERAGE
    if scorer is Scorer.LEXICAL:
        return by_words
    return by_words | (chosen.cosine >= FLOOR_COSINE)


def _add_events(query: SearchQuery, chosen: Candidates, material: SearchContext, visible: NDArray[np.bool_]) -> None:
    """Add what the events tell that the question names as times: the memory that tells best of an event gives its time."""
    times = material.rows.happened_at(chosen.rows)
    for anchor in [one for one in dict.fromkeys(query.time.anchors) if one.relation != "during"][:MOST_EVENTS]:
        told = score(material.lexical, terms(anchor.phrase), visible, NO_EXPANSIONS).exact
        told = np.where(visible, told, np.float32(0))
        teller = int(told.argmax()) if len(told) else 0
        if len(told) and told[teller] >= EVENT_COVERED:
            event_at = material.rows.happened_at(np.array([teller]))[0]
            chosen.add("event", event_bonus(times, anchor, int(event_at)))


def _weights(query: SearchQuery, scorer: Scorer) -> tuple[float, float, float]:
    own = WEIGHTS[scorer]
    return (
        own[0] if query.alpha is None else query.alpha,
        own[1] if query.beta is None else query.beta,
        own[2] if query.gamma is None else query.gamma,
    )


def _query_independent_scores(
    query: SearchQuery,
    scorer: Scorer,
    rows: MemoryColumns,
    found: NDArray[np.intp],
    weights: tuple[float, float, float],
) -> dict[str, Floats]:
    """Return the summands that do not depend on the question: recency and importance.

    The reference formula forgets by the hour since the last use; ours by the half-life of what happened. Ages are those of
    the first page, so that pages fit together.
    """
    parts: dict[str, Floats] = {}
    now = to_micros(query.asked_at or query.now)
    if weights[0] and scorer is Scorer.REFERENCE:
        used = rows.accessed_at.values[found]
        ages = now - np.where(used >= 0, used, rows.created_at.values[found])
        parts["recency"] = np.float32(weights[0]) * ranking_signals.hourly_decay(ages)
    elif weights[0]:
        parts["recency"] = np.float32(weights[0]) * ranking_signals.half_life(now - rows.happened_at(found))
    if weights[2]:
        parts["importance"] = (weights[2] * rows.importance.values[found]).astype(np.float32)
    return parts


def _prefilter_scores(
    query: SearchQuery, scorer: Scorer, rows: MemoryColumns, found: NDArray[np.intp], parts: dict[str, Floats]
) -> Floats:
    """Return by what the rows are chosen that are weighed closely: with recency and importance, unless these are light."""
    recency, relevance, importance = weights = _weights(query, scorer)
    scores = np.float32(relevance) * total(parts)
    if importance or recency > WEIGHTS[Scorer.FUSED][0] * relevance:
        scores += total(_query_independent_scores(query, scorer, rows, found, weights))
    return scores


def _confidence(scores: Floats, chosen: Candidates, matches: Coverage, lexical: LexicalIndex) -> float:
    """Return the confidence of a ranking by its scores as usually weighted, for which alone the formula holds.

    Without vectors it is how far the words of the question are covered.
    """
    covered = np.minimum(matches.covered[chosen.rows], 1)
    if not chosen.cosine.any():
        return float(covered.max(initial=0))
    highest = np.sort(np.partition(scores, max(len(scores) - CONFIDENCE_HITS, 0))[-CONFIDENCE_HITS:])
    words, rarest = matches.words, 0.0
    if words.shares:
        held = per_term_scores(words, count_terms([lexical.terms_of(int(chosen.rows[scores.argmax()]))]))
        rarest = float(held[0, np.argmax(words.shares)])
    return confidence(
        terms=len(words.terms),
        gap=float(highest[-1] - highest[0]),
        rarest=rarest,
        best_exact=min(float(matches.exact[chosen.rows].max()), 1.0),
        best_product=float((covered * np.maximum(chosen.cosine, 0)).max()),
    )
