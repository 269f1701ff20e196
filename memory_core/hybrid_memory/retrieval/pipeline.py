"""The steps of a search, from the rows that pass the filters to a ranking.

`rank` is called by `NamespaceIndex.search` and reads like a list of the steps: weigh the question's words, cover it by words,
compare vectors, fuse both, add what the question says about time, choose candidates, add what their conversation, the names, the
events and the best hit tell, weigh that against recency and importance, order, leave duplicates out, find possible updates among the
hits, and judge whether what is asked for is unknown. Each step's numbers are in ``ranking_parameters.py``. Where memories are found that
are trusted less than who asks, the steps are gone through twice, so that those change nothing about the others (``shares.py``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hybrid_memory.clock import to_micros
from hybrid_memory.retrieval import bm25, fusion, ranking_signals, term_weights
from hybrid_memory.retrieval.answering import answers
from hybrid_memory.retrieval.arrays import Floats, Mask
from hybrid_memory.retrieval.bm25 import Coverage, LexicalIndex
from hybrid_memory.retrieval.candidates import MAX_CANDIDATES, Candidates, SessionNeighbours, select_candidates, total
from hybrid_memory.retrieval.deduplication import DEDUPLICATED_HITS, group_duplicates
from hybrid_memory.retrieval.feedback import add_pseudo_relevance_feedback
from hybrid_memory.retrieval.memory_columns import FADED, MemoryColumns
from hybrid_memory.retrieval.query import Below, Ranking, Scorer, SearchQuery
from hybrid_memory.retrieval.query_expansion import NO_EXPANSIONS, ExpansionTable
from hybrid_memory.retrieval.question import Question, QuestionWord
from hybrid_memory.retrieval.question_languages import in_languages
from hybrid_memory.retrieval.ranking_parameters import FITTED, RankingParameters
from hybrid_memory.retrieval.shares import below, taken
from hybrid_memory.retrieval.term_weights import WeighedQuestion
from hybrid_memory.retrieval.unknown import is_unknown
from hybrid_memory.retrieval.update_detection import find_rivals
from hybrid_memory.retrieval.vectors import Matrix, top_k
from hybrid_memory.store.snapshots import NO_TIME

if TYPE_CHECKING:
    from hybrid_memory.retrieval.time_expressions.parsing import Anchor, Window

Weights = tuple[float, float, float]

# Below both a row is weak: neither its words nor its vector say that it has to do with the question. Low on purpose.
MIN_COVERAGE = 0.1
MIN_COSINE = 0.15
# A row that its context carries to this share of the best score is not weak either, if any row is strong by itself.
CARRIED_SHARE = 0.3
# A row below this share of the best score is weak whatever it matches: beside the best it is noise, and costs tokens.
FAINT_SHARE = 0.15

_PROPOSED_ROWS = 256  # how many of the nearest rows an approximate index is asked for
_GATHER_BELOW_SHARE = 4  # a selective filter pays for copying vectors: below a quarter of the rows


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
    expansions: ExpansionTable
    parameters: RankingParameters = FITTED
    apart: bool = False


def rank(query: SearchQuery, context: SearchContext) -> Ranking:
    """Return the rows that pass the filters, best first; those trusted less than who asks apart, where there are both."""
    columns = context.columns
    visible = columns.visible(
        query.now, as_of=query.where.as_of, asked_at=query.asked_at, min_trust=query.where.min_trust
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
        rivals = replace(rivals, may=rivals.may & ~columns.is_trusted(rivals.rows)[:, None])
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
    context = replace(context, parameters=replace(context.parameters, updates=0.0))
    ranking = _rank(query, context, matching, visible)
    hidden = ~visible[ranking.ids.rows]
    shown = np.flatnonzero(hidden & ~ranking.weak)
    places = np.cumsum(~hidden, dtype=np.intp)[shown]
    return Below(ranking=taken(ranking, shown), places=places) if len(shown) else None


def _rank(query: SearchQuery, context: SearchContext, mask: Mask, visible: Mask) -> Ranking:
    """Return the rows of a mask, best first, as if there were none but the visible ones."""
    columns, lexical, parameters = context.columns, context.lexical, context.parameters
    fused = Scorer(query.scorer) is Scorer.FUSED

    query = _in_languages(query, lexical)

    # 1. What passed the filters. Words are weighed by their rarity among all visible rows, so that a filter does not change their weight.
    found = np.flatnonzero(mask)

    # 2. How far each row covers the question by words. The other scorers are what the fused one is measured against.
    if fused:
        table = context.expansions if _known(query, parameters) else NO_EXPANSIONS
        weighed = term_weights.weigh(query.question, lexical, visible, table, parameters)
    else:
        weighed = term_weights.by_rarity(query.question, lexical, visible)
    coverage = bm25.score(lexical, weighed.query_terms)

    # 3. How near it is by meaning, and both as one score.
    likeness = _likeness(query, context, visible, mask, found, coverage)
    parts = (
        _fused(query, context, weighed, coverage, likeness, found)
        if fused
        else _alone(query, coverage, likeness, found)
    )

    # 4. The period that the question names.
    time = query.question.time
    if fused and time.windows and parameters.period_weight:
        parts["period"] = np.float32(parameters.period_weight) * _nearness(columns, found, time.windows)

    # 5. Only the best go on; what follows compares rows with each other.
    candidates = select_candidates(
        found,
        likeness.cosine,
        parts,
        context.neighbours,
        prefilter=lambda: _prefilter_scores(query, context, found, parts),
    )
    strong = _matches_itself(query, candidates, coverage)

    # 6. What their conversation, the names and events of the question, and the best hit tell about the candidates.
    if fused:
        strong |= ranking_signals.add_context(
            candidates, strong, columns, lexical.asks, context.named(query.question), parameters
        )
        ranking_signals.add_missing_names(candidates, weighed.names, lexical, visible, parameters)
        _add_events(query, candidates, context, visible)
        add_pseudo_relevance_feedback(candidates, query.question.terms, lexical, visible, parameters)

    # 7. The query's own weights of relevance, recency and importance.
    weights = _weights(query, parameters)
    candidates.scale(weights[1])
    candidates.parts |= _query_independent_scores(query, columns, candidates.rows, weights)

    # 8. and 9. Order, and duplicates.
    ranking = _build_ranking(context, candidates, strong, fused=fused)

    # 10. and 11. Which hits may be the newer word on the same thing, and whether what is asked for is anywhere.
    return _judged(ranking, query, context, weighed, coverage, candidates, visible) if fused else ranking


def _in_languages(query: SearchQuery, lexical: LexicalIndex) -> SearchQuery:
    """Return a query whose words have the stems that most memories have."""
    question = in_languages(query.question, lexical.languages(), lexical.frequencies, lexical.hasher)
    return query if question is query.question else replace(query, question=question)


def _judged(
    ranking: Ranking,
    query: SearchQuery,
    context: SearchContext,
    weighed: WeighedQuestion,
    coverage: Coverage,
    candidates: Candidates,
    visible: Mask,
) -> Ranking:
    """Return a ranking with what it claims: the last two steps of `rank`."""
    columns, lexical = context.columns, context.lexical
    # 10. Hits that speak of the same thing; their texts decide which is the newer word on it (`settle_updates`).
    rivals = None
    if context.parameters.updates:
        rivals = find_rivals(query, candidates, weighed, coverage, columns, lexical, context.matrix)
    # 11. What is asked for may be nowhere in the memory, whatever the filters leave of it; if they leave nothing, nothing is claimed.
    unknown = len(ranking.ids) > 0 and is_unknown(
        query.question, lexical, visible, columns.speaker.values >= 0, context.expansions
    )
    ranking = replace(ranking, rivals=rivals, unknown=unknown)
    if not context.apart:
        return ranking
    # What is trusted less has to stand behind it only while this answers.
    answered = not unknown and _answers(ranking, query.question, context, coverage, candidates, visible)
    return replace(ranking, answered=answered)


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
    return answers(question, context.lexical, visible, context.expansions, rows, cosines, coverage.expanded[rows])


def _build_ranking(
    context: SearchContext,
    candidates: Candidates,
    strong: Mask,
    *,
    fused: bool,
) -> Ranking:
    """Return the candidates in their order, those marked that are weak, each text once: two steps of `rank`."""
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
    """How near the rows found are to the question: cosines, those after the mean is subtracted, and the same of a sample of all rows.

    A row without a vector, or of whose words the embedder knows none, has a cosine of 0. All are empty without a vector of the question.
    """

    cosine: Floats
    centred: Floats
    sampled: Floats
    sampled_centred: Floats


def _known(query: SearchQuery, parameters: RankingParameters) -> float:
    return fusion.known_weight(query.question.known_share, parameters)


def _likeness(
    query: SearchQuery, context: SearchContext, visible: Mask, mask: Mask, found: NDArray[np.intp], coverage: Coverage
) -> _Likeness:
    matrix, vector = context.matrix, query.vector
    if vector is None or not matrix.fits(vector):
        nothing = np.zeros(0, np.float32)
        return _Likeness(np.zeros(len(found), np.float32), nothing, nothing, nothing)
    centre = matrix.centre(visible, fusion.sample)
    sampled = centre.sampled
    rows = _rows_to_compare(vector, matrix, mask, found, coverage)
    if rows is None:
        everywhere = matrix.scores(vector)
        centred = matrix.centred_scores(vector, everywhere, centre)
        return _Likeness(_of(everywhere, found), _of(centred, found), everywhere[sampled], centred[sampled])
    cosine, centred = np.zeros((2, len(found)), np.float32)
    at = np.searchsorted(found, rows)
    cosine[at] = matrix.scores(vector, rows)
    centred[at] = matrix.centred_scores(vector, cosine[at], centre, rows)
    of_sample = matrix.scores(vector, sampled)
    return _Likeness(cosine, centred, of_sample, matrix.centred_scores(vector, of_sample, centre, sampled))


def _of(values: NDArray[Any], found: NDArray[np.intp]) -> NDArray[Any]:
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
        likely = found[top_k(coverage.expanded[found], MAX_CANDIDATES)]
        return np.union1d(proposed, likely[coverage.expanded[likely] > 0])
    return found if len(found) * _GATHER_BELOW_SHARE < len(matrix.has) else None


def _fused(
    query: SearchQuery,
    context: SearchContext,
    weighed: WeighedQuestion,
    coverage: Coverage,
    likeness: _Likeness,
    found: NDArray[np.intp],
) -> dict[str, Floats]:
    """Return the summands that words and vector bring; without a vector the words speak alone."""
    parameters = context.parameters
    worded = np.float32(weighed.worded_share)
    covered = worded * fusion.relative(_of(coverage.expanded, found))
    if not len(likeness.sampled):
        return {"lexical": covered}
    spoken = context.columns.turns(found)
    plain = fusion.standardized(likeness.cosine, likeness.sampled)
    centred = fusion.standardized(likeness.centred, likeness.sampled_centred)
    share = np.where(spoken, np.float32(0), np.float32(parameters.centred_share))
    dense = (1 - share) * plain + share * centred
    dense[likeness.cosine == 0] = 0
    known = 1.0 if query.multilingual else _known(query, parameters)
    weight = fusion.dense_weights(weighed.unknown_share, known, spoken, parameters, multilingual=query.multilingual)
    return {"lexical": (1 - weight) * covered, "dense": worded * weight * dense / np.float32(parameters.dense_spread)}


def _alone(query: SearchQuery, coverage: Coverage, likeness: _Likeness, found: NDArray[np.intp]) -> dict[str, Floats]:
    """Return the summand of words or of the vector, as the scorer says; without a vector that of the words."""
    if Scorer(query.scorer) is Scorer.LEXICAL or not len(likeness.sampled):
        return {"lexical": coverage.expanded[found]}
    return {"dense": likeness.cosine}


def _matches_itself(query: SearchQuery, candidates: Candidates, coverage: Coverage) -> Mask:
    """Return which candidates are strong by their own words or vector."""
    by_words = coverage.expanded[candidates.rows] >= MIN_COVERAGE
    if Scorer(query.scorer) is Scorer.LEXICAL:
        return by_words
    return by_words | (candidates.cosine >= MIN_COSINE)


def _add_events(query: SearchQuery, candidates: Candidates, context: SearchContext, visible: Mask) -> None:
    """Add what the events tell that the question names as times: the memory that tells best of an event gives its time."""
    columns, weight = context.columns, context.parameters.event_weight
    if not weight:
        return
    for anchor, teller in tellers_of_events(query.question, context.lexical, visible).items():
        if teller is not None:
            event_at = int(columns.happened_at(np.array([teller]))[0])
            bonus = ranking_signals.event_bonus(columns.happened_at(candidates.rows), anchor, event_at)
            candidates.add("event", np.float32(weight) * bonus)


def tellers_of_events(question: Question, lexical: LexicalIndex, visible: Mask) -> dict[Anchor, int | None]:
    """Return the events that a question names as times, each with the visible row that tells best of it; None where none does."""
    anchors = [one for one in dict.fromkeys(question.time.anchors) if one.relation != "during"]
    tellers: dict[Anchor, int | None] = {}
    for anchor in anchors[: ranking_signals.MAX_EVENTS]:
        event = Question(words=tuple(map(QuestionWord, dict.fromkeys(lexical.hasher.terms(anchor.phrase)))))
        told = bm25.score(lexical, term_weights.by_rarity(event, lexical, visible).query_terms).exact
        told = np.where(visible, told, np.float32(0))
        teller = int(told.argmax()) if len(told) else 0
        tellers[anchor] = teller if len(told) and told[teller] >= ranking_signals.EVENT_COVERED else None
    return tellers


def _weights(query: SearchQuery, parameters: RankingParameters) -> Weights:
    """Return the weights of recency, relevance and importance: the query's own, or those of its scorer."""
    recency, relevance, importance = {
        Scorer.FUSED: (parameters.recency, 1.0, 0.0),
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
    recency, relevance, importance = weights = _weights(query, context.parameters)
    scores = np.float32(relevance) * total(parts)
    if importance or recency > context.parameters.recency * relevance:
        scores += total(_query_independent_scores(query, context.columns, found, weights))
    return scores
