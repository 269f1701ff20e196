"""The steps of a search, from the rows that pass the filters to a ranking; read `_rank` from top to bottom.

Each step is there because it wins half a point on sets that it was not fitted to, or a class of questions
(docs/benchmarks-details.md, "Finding"); its numbers are in ``ranking_parameters.py``. Where memories are found that are trusted
less than who asks, the steps are gone through twice, so that those change nothing about the others (``shares.py``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hybrid_memory.clock import to_micros
from hybrid_memory.retrieval import bm25, ranking_signals, term_weights
from hybrid_memory.retrieval.answering import answers
from hybrid_memory.retrieval.arrays import Floats, Mask
from hybrid_memory.retrieval.bm25 import Coverage, LexicalIndex
from hybrid_memory.retrieval.candidates import MAX_CANDIDATES, Candidates, SessionNeighbours, select_candidates, total
from hybrid_memory.retrieval.deduplication import DEDUPLICATED_HITS, group_duplicates
from hybrid_memory.retrieval.memory_columns import FADED, MemoryColumns
from hybrid_memory.retrieval.newer import find_newer
from hybrid_memory.retrieval.query import Below, Ranking, Scorer, SearchQuery
from hybrid_memory.retrieval.question import Question
from hybrid_memory.retrieval.question_languages import in_languages
from hybrid_memory.retrieval.ranking_parameters import FITTED, RankingParameters
from hybrid_memory.retrieval.shares import below, taken
from hybrid_memory.retrieval.term_weights import WeighedQuestion
from hybrid_memory.retrieval.unknown import is_unknown
from hybrid_memory.retrieval.vectors import Matrix, top_k
from hybrid_memory.store.snapshots import NO_TIME

if TYPE_CHECKING:
    from hybrid_memory.retrieval.time_expressions.parsing import Window

Weights = tuple[float, float, float]

# Below both a row is weak: neither its words nor its vector say that it has to do with the question. Low on purpose.
MIN_COVERAGE = 0.1
MIN_COSINE = 0.15
# A row that its context carries to this share of the best score is not weak either, if any row is strong by itself.
CARRIED_SHARE = 0.3
# A row below this share of the best score is weak whatever it matches: alongside the best it is noise, and costs tokens.
FAINT_SHARE = 0.15
# An embedder of English alone counts only as far as English words make up a question's letters: from none below the first share
# to fully above the second.
KNOWN_FROM, KNOWN_TO = 0.3, 0.7
LONG_MESSAGE = 60  # words; a longer text asks for many things

_PROPOSED_ROWS = 256  # how many of the nearest rows an approximate index is asked for
_GATHER_BELOW_SHARE = 4  # a selective filter pays for copying vectors: below a quarter of the rows
_MIN_DEVIATION = 0.05  # of cosines; a few memories that lie closer together do not tell what is usual


@dataclass(frozen=True, slots=True)
class SearchContext:
    """What a search reads. ``named`` tells for each speaker's number whether a question names that speaker.

    ``apart``: others are found besides what is ranked, so whether that answers is judged.
    """

    columns: MemoryColumns
    lexical: LexicalIndex
    matrix: Matrix
    neighbours: SessionNeighbours
    named: Callable[[Question], Mask]
    parameters: RankingParameters = FITTED
    apart: bool = False


def rank(query: SearchQuery, context: SearchContext) -> Ranking:
    """Return the rows that pass the filters, best first; those trusted less than who asks apart, where there are both."""
    columns = context.columns
    visible = columns.visible(
        query.now,
        as_of=query.where.as_of,
        asked_at=query.asked_at,
        min_trust=query.where.min_trust,
        replaced=query.history,
    )
    found = columns.matching(query.where) & visible
    trusted = columns.trusted_among(visible)
    if trusted is None:
        return _rank(query, context, found, visible)
    trusted_found = found & trusted
    count = np.count_nonzero(trusted_found)
    if not count:
        return _rank(query, context, found, visible)
    apart = count != np.count_nonzero(found)
    alone = replace(context, lexical=context.lexical.alone(trusted, columns.is_trusted), apart=apart)
    ranking = _rank(query, alone, trusted_found, trusted)
    if not apart:
        return ranking
    return _with_below(ranking, _rank(query, context, found, visible), columns)


def _with_below(ranking: Ranking, everything: Ranking, columns: MemoryColumns) -> Ranking:
    """Return a ranking of what is trusted, with the rest of everything below it.

    The rest can take back that something is unknown, never claim it; what is newer than one of them is told, what is newer than a
    trusted one was found without them. Who repeats the words of a trusted hit is shown with it.
    """
    rows = everything.ids.rows
    said = dict(
        zip(columns.contents_of(ranking.ids.rows[:DEDUPLICATED_HITS]), ranking.ids[:DEDUPLICATED_HITS], strict=False)
    )
    untrusted = ~columns.is_trusted(rows)
    best = np.flatnonzero(untrusted)[:DEDUPLICATED_HITS]
    repeats = dict(ranking.repeats)
    for place, content in zip(best.tolist(), columns.contents_of(rows[best]), strict=True):
        if content in said:
            untrusted[place] = False
            one = everything.ids[place]
            repeats[said[content]] = (*repeats.get(said[content], ()), one, *everything.repeats.get(one, ()))
    rivals = everything.rivals
    if rivals is not None:
        updates = tuple(one for one in rivals.updates if not columns.is_trusted(int(rivals.rows[one.earlier])))
        rivals = replace(rivals, updates=updates)
    ranking = replace(ranking, unknown=ranking.unknown and everything.unknown, repeats=repeats)
    return below(ranking, replace(everything, rivals=rivals), untrusted)


def rank_hidden(query: SearchQuery, context: SearchContext) -> Below | None:
    """Return what passes the filters and no reading finds, forgotten, replaced or over, each at its place among what is found.

    Scored as if it could be found; the weak are left out. None where there is nothing of the kind.
    """
    columns = context.columns
    visible = columns.visible(query.now, as_of=query.where.as_of, min_trust=query.where.min_trust)
    matching = columns.matching(query.where)
    if not np.any(matching & ~visible):
        return None
    context = replace(context, parameters=replace(context.parameters, updates=False))
    ranking = _rank(query, context, matching, visible)
    hidden = ~visible[ranking.ids.rows]
    shown = np.flatnonzero(hidden & ~ranking.weak)
    places = np.cumsum(~hidden, dtype=np.intp)[shown]
    return Below(ranking=taken(ranking, shown), places=places) if len(shown) else None


def _rank(query: SearchQuery, context: SearchContext, mask: Mask, visible: Mask) -> Ranking:
    """Return the rows of a mask, best first, as if there were none but the visible ones."""
    columns, lexical, parameters = context.columns, context.lexical, context.parameters
    fused = Scorer(query.scorer) is Scorer.FUSED
    question = in_languages(query.question, lexical.languages(), lexical.frequencies, lexical.hasher)
    query = replace(query, question=question)

    # 1. What passed the filters. Words are weighed by their rarity among all visible rows, so that a filter does not change their weight.
    found = np.flatnonzero(mask)

    # 2. How far each row covers the question by words.
    weighed = term_weights.weigh(question, lexical, visible, parameters)
    coverage = bm25.score(lexical, weighed.query_terms)

    # 3. How near it is by meaning, a long text by its best passage too; and both as one score.
    likeness = _likeness(query, context, visible, mask, found, coverage)
    parts = (
        _fused(query, context, weighed, coverage, likeness, found)
        if fused
        else _alone(query, coverage, likeness, found)
    )

    # 4. The period that the question names.
    if fused and question.time.windows:
        parts["period"] = np.float32(parameters.period_weight) * _nearness(columns, found, question.time.windows)

    # 5. Only the best go on; what follows compares rows with each other.
    candidates = select_candidates(
        found,
        likeness.cosine,
        parts,
        context.neighbours,
        prefilter=lambda: _prefilter_scores(query, context, found, parts),
    )
    strong = _matches_itself(query, candidates, coverage)

    # 6. What their conversation tells about the candidates.
    if fused:
        named = context.named(question)
        strong |= ranking_signals.add_context(candidates, strong, columns, lexical.asks, named, parameters)

        candidates.weaken(columns.is_episode(candidates.rows), parameters.episode_share)

    # 7. The query's own weights of relevance, recency and importance.
    weights = _weights(query)
    candidates.scale(weights[1])
    candidates.parts |= _query_independent_scores(query, columns, candidates.rows, weights)

    # 8. and 9. Order, and duplicates.
    ranking = _build_ranking(context, candidates, strong, fused=fused)
    if not fused:
        return ranking

    # 10. and 11. Which hits are likely newer than others, and whether what is asked for is anywhere.
    return _judged(ranking, query, context, weighed, coverage, candidates, visible)


def _judged(
    ranking: Ranking,
    query: SearchQuery,
    context: SearchContext,
    weighed: WeighedQuestion,
    coverage: Coverage,
    candidates: Candidates,
    visible: Mask,
) -> Ranking:
    """Return a ranking with what it claims: the last two steps."""
    columns, lexical, question = context.columns, context.lexical, query.question
    # 10. `settle` looks at the texts of these few.
    if context.parameters.updates:
        rivals = find_newer(query, candidates, weighed, coverage, columns, lexical, context.matrix)
        ranking = replace(ranking, rivals=rivals)
    # 11. Whatever the filters leave of the memory; if they leave nothing, nothing is claimed.
    unknown = len(ranking.ids) > 0 and is_unknown(question, lexical, visible)
    if not context.apart:
        return replace(ranking, unknown=unknown)
    # What is trusted less has to come behind only while this answers.
    answered = not unknown and _answers(ranking, question, context, coverage, candidates, visible)
    return replace(ranking, unknown=unknown, answered=answered)


def _answers(
    ranking: Ranking,
    question: Question,
    context: SearchContext,
    coverage: Coverage,
    candidates: Candidates,
    visible: Mask,
) -> bool:
    strong = np.flatnonzero(~ranking.weak)[:DEDUPLICATED_HITS]
    rows = ranking.ids.rows[strong]
    cosines = candidates.cosine[ranking.positions[strong]]
    return answers(question, context.lexical, visible, rows, cosines, coverage.scores[rows])


def _build_ranking(
    context: SearchContext,
    candidates: Candidates,
    strong: Mask,
    *,
    fused: bool,
) -> Ranking:
    """Return the candidates in their order, those marked that are weak, each text once: two steps of `rank`."""
    columns = context.columns
    # 8. Order; faded memories come last among equals. What is weak alongside the best is marked.
    scores = candidates.total()
    if fused and strong.any():
        highest = scores.max()
        strong |= scores >= CARRIED_SHARE * highest
        strong &= scores >= FAINT_SHARE * highest
    order = ranking_signals.best_first(
        scores, columns.tier.values[candidates.rows] == FADED, columns.created_at.values[candidates.rows]
    )

    # 9. Memories that say the same in the same words are shown as one.
    stays, duplicates = group_duplicates(candidates.rows[order], partial(_told, columns))
    order = order[stays]
    name, ranked = columns.ids.name, candidates.rows[order]
    return Ranking(
        ids=columns.ids.values[ranked],
        scores=scores[order],
        weak=~strong[order],
        has_vector=context.matrix.has[ranked],
        parts=candidates.parts,
        positions=order,
        repeats={name(row): tuple(map(name, others)) for row, others in duplicates.items()},
    )


def _told(columns: MemoryColumns, rows: NDArray[np.intp]) -> list[tuple[object, bool]]:
    """Return what is equal for rows that say the same and are both trusted, or both not."""
    return list(zip(columns.contents_of(rows), columns.is_trusted(rows).tolist(), strict=True))


@dataclass(frozen=True, slots=True)
class _Likeness:
    """How near the rows found are to the question, and the same of a sample of all visible rows, empty without a vector of the question.

    A row without a vector, or of whose words the embedder knows none, has a cosine of 0.
    """

    cosine: Floats
    sampled: Floats


def _likeness(
    query: SearchQuery, context: SearchContext, visible: Mask, mask: Mask, found: NDArray[np.intp], coverage: Coverage
) -> _Likeness:
    matrix, vector = context.matrix, query.vector
    if vector is None or not matrix.fits(vector):
        return _Likeness(np.zeros(len(found), np.float32), np.zeros(0, np.float32))
    sample = matrix.sample(visible)
    share = context.parameters.passage_share
    passages = matrix.best_passages(vector) if share and Scorer(query.scorer) is Scorer.FUSED else None
    rows = _rows_to_compare(vector, matrix, mask, found, coverage)
    if rows is None:
        everywhere = _with_passages(matrix.scores(vector), passages, share)
        return _Likeness(_of(everywhere, found), everywhere[sample])
    cosine = np.zeros(len(found), np.float32)
    cosine[np.searchsorted(found, rows)] = _with_passages(
        matrix.scores(vector, rows), None if passages is None else passages[rows], share
    )
    sampled = _with_passages(matrix.scores(vector, sample), None if passages is None else passages[sample], share)
    return _Likeness(cosine, sampled)


def _with_passages(whole: Floats, best: Floats | None, share: float) -> Floats:
    """Return the likeness of texts by the whole and, where there are several passages, by the best of them."""
    if best is None:
        return whole
    return np.where(np.isnan(best), whole, whole + np.float32(share) * (best - whole)).astype(np.float32, copy=False)


def _of(values: Floats, found: NDArray[np.intp]) -> Floats:
    """Return the values of the rows found, without a copy where these are all."""
    return values if len(found) == len(values) else values[found]


def _nearness(columns: MemoryColumns, rows: NDArray[np.intp], windows: Sequence[Window]) -> Floats:
    """Return how far what rows tell lies in the windows of the question: when it happened, a day that they name, or between two."""
    near = ranking_signals.in_windows(columns.happened_at(rows), windows)
    places, days = columns.days.of(rows)
    if not len(places):
        return near
    noons = days.astype(np.int64) * ranking_signals.MICROS_PER_DAY + ranking_signals.MICROS_PER_DAY // 2
    begins, ends = noons, noons.copy()
    together = (places[1:] == places[:-1]) & (np.diff(days) <= ranking_signals.MAX_STATED_DAYS)
    ends[:-1][together] = noons[1:][together]
    np.maximum.at(near, places, ranking_signals.in_windows(begins, windows, ends))
    return near


def _rows_to_compare(
    vector: NDArray[np.float32], matrix: Matrix, mask: Mask, found: NDArray[np.intp], coverage: Coverage
) -> NDArray[np.intp] | None:
    """Return the rows whose vectors are compared, None for all.

    With an approximate index of very many vectors they are the rows that it proposes and those that words make likely.
    """
    proposed = matrix.proposed(vector, min(_PROPOSED_ROWS, len(found)), mask)
    if proposed is not None:
        likely = found[top_k(coverage.scores[found], MAX_CANDIDATES)]
        return np.union1d(proposed, likely[coverage.scores[likely] > 0])
    return found if len(found) * _GATHER_BELOW_SHARE < len(matrix.has) else None


def _fused(
    query: SearchQuery,
    context: SearchContext,
    weighed: WeighedQuestion,
    coverage: Coverage,
    likeness: _Likeness,
    found: NDArray[np.intp],
) -> dict[str, Floats]:
    """Return the summands that words and vector bring; without a vector the words speak alone.

    Words count relative to the best row, the vector by standard deviations from the mean. Ranks would throw away how far the best
    stands out.
    """
    worded = np.float32(weighed.worded_share)
    words = _of(coverage.scores, found)
    highest = words.max(initial=np.float32(0))
    covered = worded * (words / highest if highest > 0 else words)
    if not len(likeness.sampled):
        return {"lexical": covered}
    above = likeness.cosine - likeness.sampled.mean()
    dense = above / np.float32(max(float(likeness.sampled.std()), _MIN_DEVIATION))
    dense[likeness.cosine == 0] = 0
    noted, said = dense_weights(query, weighed.unknown_share, context.parameters)
    weight = np.where(context.columns.turns(found), np.float32(said), np.float32(noted))
    spread = np.float32(context.parameters.dense_spread)
    return {"lexical": (1 - weight) * covered, "dense": worded * weight * dense / spread}


def dense_weights(query: SearchQuery, unknown_share: float, parameters: RankingParameters) -> tuple[float, float]:
    """Return which share of its score the vector decides of a note, and of a turn of a conversation.

    The greater, the more of the question no memory holds in words (``unknown_share``): fixed weights suit either questions that
    repeat the memory's words or those that do not.
    """
    known = (query.question.known_share - KNOWN_FROM) / (KNOWN_TO - KNOWN_FROM)
    known = 1.0 if query.multilingual else min(max(known, 0.0), 1.0)
    if len(query.question.text.split()) > LONG_MESSAGE:
        unknown_share = 0.0  # of a long message much is in no memory, which says nothing about the rest
    noted = parameters.dense_weight + parameters.dense_weight_unknown * unknown_share
    said = parameters.spoken_dense_weight + parameters.spoken_dense_weight_unknown * unknown_share
    most = parameters.max_dense_weight
    return known * min(noted, most), known * min(said, most)


def _alone(query: SearchQuery, coverage: Coverage, likeness: _Likeness, found: NDArray[np.intp]) -> dict[str, Floats]:
    """Return the summand of words or of the vector, as the scorer says; without a vector that of the words."""
    if Scorer(query.scorer) is Scorer.LEXICAL or not len(likeness.sampled):
        return {"lexical": coverage.scores[found]}
    return {"dense": likeness.cosine}


def _matches_itself(query: SearchQuery, candidates: Candidates, coverage: Coverage) -> Mask:
    """Return which candidates are strong by their own words or vector."""
    by_words = coverage.scores[candidates.rows] >= MIN_COVERAGE
    if Scorer(query.scorer) is Scorer.LEXICAL:
        return by_words
    return by_words | (candidates.cosine >= MIN_COSINE)


def _weights(query: SearchQuery) -> Weights:
    """Return the weights of recency, relevance and importance: the query's own, or those of its scorer."""
    recency, relevance, importance = {
        Scorer.FUSED: (0.0, 1.0, 0.0),
        Scorer.REFERENCE: (1.0, 1.0, 1.0),
        Scorer.LEXICAL: (0.0, 1.0, 0.0),
        Scorer.DENSE: (0.0, 1.0, 0.0),
    }[Scorer(query.scorer)]
    return (
        recency if query.alpha is None else query.alpha,
        relevance if query.beta is None else query.beta,
        importance if query.gamma is None else query.gamma,
    )


def _query_independent_scores(
    query: SearchQuery, columns: MemoryColumns, found: NDArray[np.intp], weights: Weights
) -> dict[str, Floats]:
    """Return the summands that do not depend on the question: recency and importance.

    The reference formula forgets by the hour since the last use; ours by the half-life of what happened. Ages are those of
    the first page, so that pages fit together.
    """
    parts: dict[str, Floats] = {}
    recency, _, importance = weights
    now = to_micros(query.asked_at or query.now)
    if recency and Scorer(query.scorer) is Scorer.REFERENCE:
        used = columns.accessed_at.values[found]
        ages = now - np.where(used != NO_TIME, used, columns.created_at.values[found])
        parts["recency"] = np.float32(recency) * ranking_signals.hourly_decay(ages)
    elif recency:
        parts["recency"] = np.float32(recency) * ranking_signals.half_life(now - columns.happened_at(found))
    if importance:
        parts["importance"] = (importance * columns.importance.values[found]).astype(np.float32)
    return parts


def _prefilter_scores(
    query: SearchQuery, context: SearchContext, found: NDArray[np.intp], parts: dict[str, Floats]
) -> Floats:
    """Return by what candidates are chosen: with recency and importance too, unless these are light."""
    recency, relevance, importance = weights = _weights(query)
    scores = np.float32(relevance) * total(parts)
    if importance or recency:
        scores += total(_query_independent_scores(query, context.columns, found, weights))
    return scores
