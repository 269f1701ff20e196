"""The second look at a ranking: what its best hits bring in, and which of them are the newer word."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hybrid_memory.retrieval import ranking_signals
from hybrid_memory.retrieval.matching import count_terms, per_term_scores
from hybrid_memory.retrieval.timing import asks_about_now
from hybrid_memory.retrieval.top import top_k
from hybrid_memory.retrieval.update_detection import CHANGE_TERMS, COMPARED_HITS, PairFeatures, boosted, is_update
from hybrid_memory.text import QUESTION_TERM, without_date_terms

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hybrid_memory.retrieval.bm25 import LexicalIndex
    from hybrid_memory.retrieval.candidates import Candidates
    from hybrid_memory.retrieval.matching import Coverage
    from hybrid_memory.retrieval.memory_columns import MemoryColumns
    from hybrid_memory.retrieval.query import SearchQuery
    from hybrid_memory.retrieval.ranking_signals import Floats
    from hybrid_memory.retrieval.vectors import Matrix

_COMMON = 0.1
_RARE = 64
_YEAR = 365 * ranking_signals.DAY


def add_pseudo_relevance_feedback(
    chosen: Candidates, query: Sequence[int], lexical: LexicalIndex, counted: NDArray[np.bool_]
) -> None:
    """Add what rows share with the best hit beyond the question, so that its continuation is found; nothing where no row has to do with it.

    The rarest words of the hit that are held by others too form a second question (pseudo-relevance feedback as in Lavrenko
    and Croft, "Relevance-Based Language Models", 2001, with one document). The best hit itself keeps its lead.
    """
    if len(chosen) < 2:  # noqa: PLR2004 - one hit has no others
        return
    scores = chosen.total()
    top = int(scores.argmax())
    if scores[top] <= 0:
        return
    number, mean_length = lexical.statistics(counted)
    own = np.setdiff1d(without_date_terms(lexical.terms_of(int(chosen.rows[top]))), [*query, QUESTION_TERM])
    held = lexical.frequencies(own.tolist())
    own = own[np.sort(top_k(np.where(held > 1, -held, -len(lexical) - 1), _RARE))]
    # Counted once more for few terms: what is hidden, forgotten above all, must not show in the scores of the rest.
    holding = np.array(lexical.document_frequencies(own.tolist(), counted), np.int64)
    others = (holding > 1) & (holding <= _COMMON * number + 2)
    own, weights = own[others], ranking_signals.idfs(number, holding[others])
    if not len(own):
        return
    rare = top_k(weights, ranking_signals.ECHO_WORDS)
    shared = np.zeros(len(lexical), np.float32)
    postings = lexical.postings(own[rare].tolist())
    for weight, parts in zip(weights[rare], postings.values(), strict=True):
        for held_by, counts in parts:
            relative = lexical.lengths[held_by] / np.float32(mean_length)
            shared[held_by] += weight * ranking_signals.saturation(counts.astype(np.float32), relative)
    part = shared[chosen.rows] * np.float32(ranking_signals.ECHO / float(weights[rare].sum()))
    part[top] = max(float(part.max()), ranking_signals.ECHO)
    chosen.add("echo", part)


def find_updates(
    query: SearchQuery,
    chosen: Candidates,
    matches: Coverage,
    rows: MemoryColumns,
    lexical: LexicalIndex,
    matrix: Matrix,
) -> dict[int, int]:
    """Lift the newer word on a thing above the older where the question is about now; return row by row what is newer."""
    if len(chosen) < 2 or not matches.words.terms:  # noqa: PLR2004 - one hit has no others
        return {}
    scores = chosen.total()
    first = top_k(scores, COMPARED_HITS)
    times = rows.happened_at(chosen.rows[first])
    pairs = _newer_pairs(chosen.rows[first], times, matches, rows, lexical, matrix)
    if asks_about_now(query.time, query.where.as_of or query.asked_at or query.now):
        lift = np.zeros(len(chosen), np.float32)
        lift[first] = boosted(scores[first].tolist(), times.tolist(), pairs) - scores[first]
        if lift.any():
            chosen.add("newer", lift)
    latest: dict[int, int] = {}
    for earlier, later in sorted(pairs, key=lambda pair: times[pair[1]]):
        latest[int(chosen.rows[first[earlier]])] = int(chosen.rows[first[later]])
    return latest


def _newer_pairs(
    first: NDArray[np.intp],
    times: NDArray[np.int64],
    matches: Coverage,
    rows: MemoryColumns,
    lexical: LexicalIndex,
    matrix: Matrix,
) -> list[tuple[int, int]]:
    """Return the pairs of places in ``first`` whose later one is taken for the newer word, each (earlier, later)."""
    words = [lexical.terms_of(int(row)) for row in first]
    by_words = per_term_scores(matches.words, count_terms(words))
    shares = np.array(matches.words.shares, np.float32)
    covered = by_words @ shares
    vectors = matrix.gather(first)
    common = np.minimum(by_words[:, None, :], by_words[None, :, :]) @ shares
    change = np.array([not CHANGE_TERMS.isdisjoint(held.tolist()) for held in words])
    tags = [frozenset(rows.tags.of(int(row))) for row in first]
    spoken = rows.speaker.values[first] >= 0
    exact = matches.exact[first]
    found = is_update(
        PairFeatures(
            cosine=vectors @ vectors.T,
            common=common,
            change=change[None, :],
            tags=np.array([[not one.isdisjoint(other) for other in tags] for one in tags]),
            words=_shared_words([without_date_terms(held) for held in words], matches.words.terms, lexical),
            years=((times[None, :] - times[:, None]) / _YEAR).astype(np.float32),
            ratio=np.minimum(covered[None, :] / np.maximum(covered[:, None], np.float32(1e-6)), np.float32(1)),
        ),
        both_spoken=spoken[:, None] & spoken[None, :],
        earlier_exact=exact[:, None],
        later_exact=exact[None, :],
    )
    return [(earlier, later) for earlier, later in np.argwhere(found).tolist()]


def _shared_words(held: Sequence[NDArray[np.int32]], asked: Sequence[int], lexical: LexicalIndex) -> Floats:
    """Return for rows of terms the weight of what two share beyond the question, as a share of the lighter one's."""
    counts = count_terms(held)
    weights = ranking_signals.idfs(len(lexical), lexical.frequencies(counts.terms))
    has = counts.counts > 0
    unasked = np.where(np.isin(counts.terms, asked), np.float32(0), weights)
    whole = has @ weights
    lighter = np.minimum(whole[:, None], whole[None, :])
    common = (has * unasked) @ has.T.astype(np.float32)
    return np.asarray(common / np.where(lighter > 0, lighter, 1), np.float32)
