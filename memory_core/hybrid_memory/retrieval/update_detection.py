"""Which of two memories about the same thing is the later word on it, and how that reorders a ranking.

Nothing says so but the memories themselves. That the later one changes what the earlier one told is the more likely the more
of the question both cover by the same words, the more alike they are, the more rare words and tags they share, the later it
is, and if it uses a word of change. The likelihood is a logistic regression fitted on pairs of a development set (57 true and
1,450 false pairs for each of two embedders, regularised; leaving each store out in turn, the figures of the whole ranking
were the same to 2 points). The idea of moving the later of two similar hits up is common; the features are ours.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hybrid_memory.retrieval.arrays import Floats, Mask
from hybrid_memory.retrieval.bm25 import count_terms, idfs, per_term_scores
from hybrid_memory.retrieval.ranking_signals import MICROS_PER_DAY, asks_about_now
from hybrid_memory.retrieval.vectors import top_k
from hybrid_memory.text import terms

if TYPE_CHECKING:
    from hybrid_memory.retrieval.bm25 import Coverage, LexicalIndex
    from hybrid_memory.retrieval.candidates import Candidates
    from hybrid_memory.retrieval.memory_columns import MemoryColumns
    from hybrid_memory.retrieval.query import SearchQuery
    from hybrid_memory.retrieval.vectors import Matrix

COMPARED_HITS = 12  # how many of the best hits are compared with each other; a page has about ten

_CHANGE = (
    "now longer anymore moved moves changed change switched switch raised instead new replaced replace replaces again back "
    "closed dropped drop rolled slips slipped lengthened shortened retires retired leaves becomes became updated update "
    "postponed cancelled canceled rather fell rose passed satisfactory finally stopped stops quit joined upgraded revised "
    "correction corrected actually increased reduced lowered extended renewed previously formerly since gives gave takes "
    "took left went"
)
CHANGE_TERMS = frozenset(terms(_CHANGE))
"""Terms of English words that tell of a change."""

_VERBATIM_COVERAGE = 0.8  # a memory that holds this share of the question's own words gives way to none
_PARTIAL_COVERAGE = 0.5  # that holds less than this
_MIN_ODDS_UTTERANCES = 3.0  # log odds from which one utterance updates another; else 0
_RAISE = 1e-6  # how far a newer hit is put above the older one, at least
_YEAR_MICROS = 365 * MICROS_PER_DAY


@dataclass(frozen=True, slots=True, kw_only=True)
class PairFeatures:
    """What speaks for later memories being the newer word on what earlier ones told: arrays of one shape.

    Each is from 0 to 1 but ``years``. ``cosine`` of their vectors; ``common``: how much of the question both cover by the
    same words; ``change``: whether the later one has a word of change; ``tags``: whether they share one; ``terms``: the
    share of rare words that they have in common beyond the question; ``years`` between them, counted up to 2; ``ratio`` of
    the question covered by the later to that by the earlier, at most 1.
    """

    cosine: Floats
    common: Floats
    change: Mask
    tags: Mask
    terms: Floats
    years: Floats
    ratio: Floats


def log_odds(features: PairFeatures) -> Floats:
    """Return the logarithm of the odds that the later memory changes what the earlier one told."""
    odds: Floats = (
        5.5 * features.cosine
        + 10.0 * features.common
        + 2.2 * features.change
        + 2.9 * features.tags
        + 8.7 * features.terms
        + 3.3 * np.minimum(features.years, 2.0)
        + 0.8 * features.ratio
        - 12.5
    )
    return odds


def is_update(features: PairFeatures, *, both_spoken: Mask, earlier_exact: Floats, later_exact: Floats) -> Mask:
    """Return where the later of two memories is taken for the newer word on the same thing.

    Between two utterances of conversations, which repeat each other's words all the time, the odds must be better. A memory
    that holds nearly all words of the question themselves (``earlier_exact``) gives way to none with less than half of them.
    """
    verbatim = (earlier_exact >= _VERBATIM_COVERAGE) & (later_exact < _PARTIAL_COVERAGE)
    later: Mask = (
        (features.years > 0) & ~verbatim & (log_odds(features) > np.where(both_spoken, _MIN_ODDS_UTTERANCES, 0.0))
    )
    return later


def boosted(scores: Sequence[float], times: Sequence[int], newer: Sequence[tuple[int, int]]) -> NDArray[np.float32]:
    """Return the scores with every later place raised just above the earlier ones that it replaces.

    ``newer`` holds pairs (earlier place, later place). Chains are followed in the order of ``times``.
    """
    raised = [float(score) for score in scores]
    for later in sorted(range(len(raised)), key=lambda place: times[place]):
        for earlier, follower in newer:
            if follower == later and raised[earlier] >= raised[later]:
                raised[later] = raised[earlier] + max(_RAISE, math.ulp(raised[earlier]) * 2**30)
    return np.array(raised, np.float32)


def find_updates(
    query: SearchQuery,
    candidates: Candidates,
    coverage: Coverage,
    columns: MemoryColumns,
    lexical: LexicalIndex,
    matrix: Matrix,
) -> dict[int, int]:
    """Lift the newer word on a thing above the older where the question is about now; return row by row what is newer."""
    if len(candidates) < 2 or not coverage.query_terms.terms:  # noqa: PLR2004 - one hit has no others
        return {}
    scores = candidates.total()
    first = top_k(scores, COMPARED_HITS)
    times = columns.happened_at(candidates.rows[first])
    pairs = _update_pairs(candidates.rows[first], times, coverage, columns, lexical, matrix)
    if asks_about_now(query.question.time, query.where.as_of or query.asked_at or query.now):
        lift = np.zeros(len(candidates), np.float32)
        lift[first] = boosted(scores[first].tolist(), times.tolist(), pairs) - scores[first]
        if lift.any():
            candidates.add("newer", lift)
    latest: dict[int, int] = {}
    for earlier, later in sorted(pairs, key=lambda pair: times[pair[1]]):
        latest[int(candidates.rows[first[earlier]])] = int(candidates.rows[first[later]])
    return latest


def _update_pairs(
    first: NDArray[np.intp],
    times: NDArray[np.int64],
    coverage: Coverage,
    columns: MemoryColumns,
    lexical: LexicalIndex,
    matrix: Matrix,
) -> list[tuple[int, int]]:
    """Return the pairs of places in ``first`` whose later one is taken for the newer word, each (earlier, later)."""
    held = lexical.terms_of_rows(first)
    by_words = per_term_scores(coverage.query_terms, count_terms(held))
    shares = np.array(coverage.query_terms.shares, np.float32)
    covered = by_words @ shares
    vectors = matrix.gather(first)
    common = np.minimum(by_words[:, None, :], by_words[None, :, :]) @ shares
    change = np.array([not CHANGE_TERMS.isdisjoint(one.tolist()) for one in held])
    spoken = columns.speaker.values[first] >= 0
    exact = coverage.exact[first]
    found = is_update(
        PairFeatures(
            cosine=vectors @ vectors.T,
            common=common,
            change=change[None, :],
            tags=_share_a_tag([columns.tags.of(row) for row in first.tolist()]),
            terms=_shared_terms(held, coverage.query_terms.terms, lexical),
            years=((times[None, :] - times[:, None]) / _YEAR_MICROS).astype(np.float32),
            ratio=np.minimum(covered[None, :] / np.maximum(covered[:, None], np.float32(1e-6)), np.float32(1)),
        ),
        both_spoken=spoken[:, None] & spoken[None, :],
        earlier_exact=exact[:, None],
        later_exact=exact[None, :],
    )
    return [(earlier, later) for earlier, later in np.argwhere(found).tolist()]


def _share_a_tag(tags: Sequence[Sequence[str]]) -> Mask:
    """Return for each two of some rows whether they have a tag in common."""
    shared = np.zeros((len(tags), len(tags)), np.bool_)
    tagged = [(at, frozenset(names)) for at, names in enumerate(tags) if names]
    for at, names in tagged:
        for other, others in tagged:
            shared[at, other] = not names.isdisjoint(others)
    return shared


def _shared_terms(held: Sequence[NDArray[np.int32]], asked: Sequence[int], lexical: LexicalIndex) -> Floats:
    """Return for rows of terms the weight of what two share beyond the question, as a share of the lighter one's."""
    counts = count_terms(held)
    weights = idfs(len(lexical), lexical.frequencies(counts.terms))
    has = counts.counts > 0
    known = frozenset(asked)
    unasked = np.where([term in known for term in counts.terms], np.float32(0), weights)
    whole = has @ weights
    lighter = np.minimum(whole[:, None], whole[None, :])
    common = (has * unasked) @ has.T.astype(np.float32)
    return np.asarray(common / np.where(lighter > 0, lighter, 1), np.float32)
