"""The steps of a search, from the rows that pass the filters to a ranking.

`rank` is called by `NamespaceIndex.search` and reads like a list of the steps: cover the question by words, compare vectors,
add what the question says about time, choose candidates, add what their conversation and the best hit tell, weigh, detect
updates, order, and leave duplicates out.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hybrid_memory.clock import to_micros
from hybrid_memory.retrieval import bm25, ranking_signals
from hybrid_memory.retrieval.arrays import Floats, Mask
from hybrid_memory.retrieval.bm25 import Coverage, LexicalIndex
from hybrid_memory.retrieval.candidates import MAX_CANDIDATES, Candidates, SessionNeighbours, select_candidates, total
from hybrid_memory.retrieval.deduplication import group_duplicates, without_duplicate_pairs
from hybrid_memory.retrieval.feedback import add_pseudo_relevance_feedback
from hybrid_memory.retrieval.memory_columns import FADED, MemoryColumns
from hybrid_memory.retrieval.query import Ranking, Scorer, SearchQuery
from hybrid_memory.retrieval.query_expansion import NO_EXPANSIONS, ExpansionTable
from hybrid_memory.retrieval.update_detection import find_updates
from hybrid_memory.retrieval.vectors import Matrix, top_k
from hybrid_memory.text import terms

Weights = tuple[float, float, float]

# How much recency, relevance and importance weigh unless the question says otherwise. Recency settles what is otherwise alike.
# That the newest of several values comes first is left to `find_updates`: recency would have to weigh so much for it that old
# memories are lost.
DEFAULT_WEIGHTS: Mapping[Scorer, Weights] = {
    Scorer.FUSED: (0.02, 1.0, 0.0),
    Scorer.REFERENCE: (1.0, 1.0, 1.0),
    Scorer.LEXICAL: (0.0, 1.0, 0.0),
    Scorer.DENSE: (0.0, 1.0, 0.0),
}

# Below both a row is weak: neither its words nor its vector say that it has to do with the question. Low on purpose. Measured
# with the first built-in table and before near words counted, 0.5 % of the wanted memories of conversations and 5 to 7 % of
# those worded quite differently lay below, and 19 % and 50 to 84 % of all others.
MIN_COVERAGE = 0.1
MIN_COSINE = 0.15
# A row that its context carries to this share of the best score is not weak either, if any row is strong by itself.
CARRIED_SHARE = 0.3
# A row below this share of the best score is weak whatever it matches: beside the best it is noise, and costs tokens. On our
# development sets no wanted memory among the first eight lies below with the built-in embedder, and 4 in 1,000 with MiniLM.
FAINT_SHARE = 0.15

# Below this confidence nothing is said to be known. It lies between two points measured on a development set: below 0.6 are
# 15 % of the questions without an answer and 2 % of the others, below 0.7 35 and 8 %. The chance that an answerable question has
# the greater confidence is .80 there with the built-in embedder and .82 with a contextual one, each store judged by what was
# fitted on the others.
MIN_CONFIDENCE = 0.65
# Where a memory holds this share of the question's words themselves, or is this near to it in meaning, something is known
# whatever the confidence.
KNOWN_COVERAGE = 0.5
KNOWN_COSINE = 0.5
CONFIDENCE_HITS = 5  # the lead of the best over this one tells how far it stands out

_PROPOSED_ROWS = 256  # how many of the nearest rows an approximate index is asked for
_GATHER_BELOW_SHARE = 4  # a selective filter pays for copying vectors: below a quarter of the rows


@dataclass(frozen=True, slots=True)
class SearchContext:
    """What a search reads. ``named`` tells for each speaker's number whether the question names that speaker."""

    columns: MemoryColumns
    lexical: LexicalIndex
    matrix: Matrix
    neighbours: SessionNeighbours
    named: Mask
    expansions: ExpansionTable


def rank(query: SearchQuery, context: SearchContext) -> Ranking:
    """Return the rows that pass the filters, best first."""
    columns, lexical, scorer = context.columns, context.lexical, Scorer(query.scorer)
    fused = scorer is Scorer.FUSED

    # 1. Filters. Terms are weighed by their rarity among all visible columns, so that a filter does not change their weight.
    visible = columns.visible(query.now, as_of=query.where.as_of, asked_at=query.asked_at)
    mask = columns.matching(query.where)
    mask &= visible
    found = np.flatnonzero(mask)

    # 2. Relevance by words and vectors. Near words count for the fused scorer alone: the others are what it is measured against.
    coverage = bm25.score(lexical, query.terms, visible, context.expansions if fused else NO_EXPANSIONS)
    cosine = _cosines(query, context.matrix, mask, found, coverage.expanded)
    parts = _relevance(scorer, coverage, cosine, found, has_vector=context.matrix.fits(query.vector))

    # 3. The period that the question names.
    if fused and query.time.windows:
        parts["period"] = ranking_signals.period_bonus(columns.happened_at(found), query.time.windows)

    # 4. Only the best go on; what follows compares rows with each other.
    candidates = select_candidates(
        found,
        cosine,
        parts,
        context.neighbours,
        prefilter=lambda: _prefilter_scores(query, scorer, columns, found, parts),
    )
    strong = _matches_itself(scorer, candidates, coverage)

    # 5. What their conversation, the events that the question names and the best hit tell about the candidates.
    if fused:
        strong |= ranking_signals.add_context(candidates, strong, columns, lexical.asks, context.named)
        _add_events(query, candidates, context, visible)
        add_pseudo_relevance_feedback(candidates, query.terms, lexical, visible)

    # 6. Confidence is told from the scores as usually weighted, for which alone its formula was fitted; then the query's weights.
    defaults, weights = DEFAULT_WEIGHTS[scorer], _weights(query, scorer)
    usual = _query_independent_scores(query, scorer, columns, candidates.rows, defaults)
    certain = _confidence(total(candidates.parts | usual), candidates, coverage, lexical)
    candidates.scale(weights[1])
    candidates.parts |= (
        usual if weights == defaults else _query_independent_scores(query, scorer, columns, candidates.rows, weights)
    )

    # 7. Which hit is the newer word on the same thing; it is put above the older one where the question is about now.
    newer: dict[int, int] = {}
    if fused:
        if not _is_known(certain, coverage, candidates):
            strong[:] = False
        newer = find_updates(query, candidates, coverage, columns, lexical, context.matrix)

    # 8. and 9. Order, and duplicates.
    return _build_ranking(context, candidates, strong, newer, certain, fused=fused)


def _build_ranking(
    context: SearchContext,
    candidates: Candidates,
    strong: Mask,
    newer: Mapping[int, int],
    certain: float,
    *,
    fused: bool,
) -> Ranking:
    """Return the candidates in their order, those marked that are weak, each text once: the last two steps of `rank`."""
    columns = context.columns
    # 8. Order; faded memories come last among equals. What is weak beside the best is marked.
    scores = candidates.total()
    if fused and strong.any():
        highest = scores.max()
        strong |= scores >= CARRIED_SHARE * highest
        strong &= scores >= FAINT_SHARE * highest
    order = ranking_signals.best_first(
        scores, columns.tier.values[candidates.rows] == FADED, columns.created_at.values[candidates.rows]
    )

    # 9. Memories that say the same in the same words are shown as one.
    stays, duplicates = group_duplicates(candidates.rows[order], columns.contents_of)
    order = order[stays]
    newer = without_duplicate_pairs(newer, duplicates)
    name, ranked = columns.ids.name, candidates.rows[order]
    return Ranking(
        ids=columns.ids.values[ranked],
        scores=scores[order],
        weak=~strong[order],
        has_vector=context.matrix.has[ranked],
        parts=candidates.parts,
        positions=order,
        newer={name(earlier): name(later) for earlier, later in newer.items()},
        repeats={name(row): tuple(map(name, others)) for row, others in duplicates.items()},
        confidence=certain,
    )


def confidence(*, terms: int, gap: float, rarest: float, best_exact: float, best_product: float) -> float:
    """Return the likelihood, from 0 to 1, that the best hits answer a question.

    ``terms``: distinct words of the question, of which a long one has fewer in common with any memory; ``gap``: how far the
    best score lies above the fifth; ``rarest``: how well the best hit has the question's rarest word; ``best_exact``: the
    greatest coverage of any row by the question's own words, at most 1; ``best_product``: the greatest product of a row's
    coverage and cosine, which must outweigh the coverage alone.

    A logistic regression fitted on a development set in which one question of eight has no answer (assistant-dev; the script
    that fitted it is not in this repository).
    """
    odds = 4.3 * gap + 1.9 * math.log1p(terms) + 1.5 * rarest + 5.5 * best_product - 2.1 * best_exact - 3.55
    return 1 / (1 + math.exp(-odds))


def is_known(certain: float, best_exact: float, best_cosine: float) -> bool:
    """Return True if something is known about a question, by its confidence, best coverage by its own words and best cosine."""
    return certain >= MIN_CONFIDENCE or best_exact >= KNOWN_COVERAGE or best_cosine >= KNOWN_COSINE


def _is_known(certain: float, coverage: Coverage, candidates: Candidates) -> bool:
    best_exact = float(coverage.exact[candidates.rows].max(initial=0))
    return is_known(certain, best_exact, float(candidates.cosine.max(initial=0)))


def _cosines(query: SearchQuery, matrix: Matrix, mask: Mask, found: NDArray[np.intp], expanded: Floats) -> Floats:
    """Return the cosines of the rows that were found.

    With an approximate index of very many vectors they are those of the rows that it proposes and of the rows that words
    make likely; that of any other row counts as nothing.
    """
    if query.vector is None or not matrix.fits(query.vector):
        return np.zeros(len(found), np.float32)
    proposed = matrix.proposed(query.vector, min(_PROPOSED_ROWS, len(found)), mask)
    if proposed is not None:
        likely = found[top_k(expanded[found], MAX_CANDIDATES)]
        rows = np.union1d(proposed, likely[expanded[likely] > 0])
        cosine = np.zeros(len(found), np.float32)
        cosine[np.searchsorted(found, rows)] = matrix.scores(query.vector, rows)
        return cosine
    if len(found) * _GATHER_BELOW_SHARE < len(matrix.has):
        return matrix.scores(query.vector, found)
    return matrix.scores(query.vector)[found]


def _relevance(
    scorer: Scorer, coverage: Coverage, cosine: Floats, found: NDArray[np.intp], *, has_vector: bool
) -> dict[str, Floats]:
    """Return the summands that words and vector bring; without a vector the words speak alone, whatever the scorer."""
    covered = coverage.expanded[found]
    if scorer is Scorer.LEXICAL or not has_vector:
        return {"lexical": covered}
    if scorer is Scorer.FUSED:
        weight = np.float32(ranking_signals.dense_weight(float(coverage.exact[found].max(initial=0))))
        return {"lexical": (1 - weight) * covered, "dense": weight * ranking_signals.relative(cosine)}
    return {"dense": cosine}


def _matches_itself(scorer: Scorer, candidates: Candidates, coverage: Coverage) -> Mask:
    """Return which candidates are strong by their own words or vector."""
    by_words = coverage.expanded[candidates.rows] >= MIN_COVERAGE
    if scorer is Scorer.LEXICAL:
        return by_words
    return by_words | (candidates.cosine >= MIN_COSINE)


def _add_events(query: SearchQuery, candidates: Candidates, context: SearchContext, visible: Mask) -> None:
    """Add what the events tell that the question names as times: the memory that tells best of an event gives its time."""
    columns = context.columns
    anchors = [one for one in dict.fromkeys(query.time.anchors) if one.relation != "during"]
    for anchor in anchors[: ranking_signals.MAX_EVENTS]:
        told = bm25.score(context.lexical, terms(anchor.phrase), visible, NO_EXPANSIONS).exact
        told = np.where(visible, told, np.float32(0))
        teller = int(told.argmax()) if len(told) else 0
        if len(told) and told[teller] >= ranking_signals.EVENT_COVERED:
            event_at = int(columns.happened_at(np.array([teller]))[0])
            candidates.add("event", ranking_signals.event_bonus(columns.happened_at(candidates.rows), anchor, event_at))


def _weights(query: SearchQuery, scorer: Scorer) -> Weights:
    recency, relevance, importance = DEFAULT_WEIGHTS[scorer]
    return (
        recency if query.alpha is None else query.alpha,
        relevance if query.beta is None else query.beta,
        importance if query.gamma is None else query.gamma,
    )


def _query_independent_scores(
    query: SearchQuery, scorer: Scorer, columns: MemoryColumns, found: NDArray[np.intp], weights: Weights
) -> dict[str, Floats]:
    """Return the summands that do not depend on the question: recency and importance.

    The reference formula forgets by the hour since the last use; ours by the half-life of what happened. Ages are those of
    the first page, so that pages fit together.
    """
    parts: dict[str, Floats] = {}
    recency, _, importance = weights
    now = to_micros(query.asked_at or query.now)
    if recency and scorer is Scorer.REFERENCE:
        used = columns.accessed_at.values[found]
        ages = now - np.where(used >= 0, used, columns.created_at.values[found])
        parts["recency"] = np.float32(recency) * ranking_signals.hourly_decay(ages)
    elif recency:
        parts["recency"] = np.float32(recency) * ranking_signals.half_life(now - columns.happened_at(found))
    if importance:
        parts["importance"] = (importance * columns.importance.values[found]).astype(np.float32)
    return parts


def _prefilter_scores(
    query: SearchQuery, scorer: Scorer, columns: MemoryColumns, found: NDArray[np.intp], parts: dict[str, Floats]
) -> Floats:
    """Return by what candidates are chosen: with recency and importance too, unless these are light."""
    recency, relevance, importance = weights = _weights(query, scorer)
    scores = np.float32(relevance) * total(parts)
    if importance or recency > DEFAULT_WEIGHTS[Scorer.FUSED][0] * relevance:
        scores += total(_query_independent_scores(query, scorer, columns, found, weights))
    return scores


def _confidence(scores: Floats, candidates: Candidates, coverage: Coverage, lexical: LexicalIndex) -> float:
    """Return the confidence of a ranking; without vectors it is how far the words of the question are covered."""
    covered = np.minimum(coverage.expanded[candidates.rows], 1)
    if not candidates.cosine.any():
        return float(covered.max(initial=0))
    highest = np.sort(np.partition(scores, max(len(scores) - CONFIDENCE_HITS, 0))[-CONFIDENCE_HITS:])
    words, rarest = coverage.query_terms, 0.0
    if words.shares:
        best = bm25.count_terms([lexical.terms_of(int(candidates.rows[scores.argmax()]))])
        rarest = float(bm25.per_term_scores(words, best)[0, np.argmax(words.shares)])
    return confidence(
        terms=len(words.terms),
        gap=float(highest[-1] - highest[0]),
        rarest=rarest,
        best_exact=min(float(coverage.exact[candidates.rows].max()), 1.0),
        best_product=float((covered * np.maximum(candidates.cosine, 0)).max()),
    )
