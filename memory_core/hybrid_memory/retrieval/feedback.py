"""Pseudo-relevance feedback: the best hit brings in what continues it."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hybrid_memory.retrieval.bm25 import idfs, saturation
from hybrid_memory.retrieval.vectors import top_k
from hybrid_memory.terms import QUESTION_TERM

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hybrid_memory.retrieval.bm25 import LexicalIndex
    from hybrid_memory.retrieval.candidates import Candidates
    from hybrid_memory.retrieval.ranking_parameters import RankingParameters

_RAREST_TERMS = 64  # of a long hit only so many terms are counted
_TERMS = 8  # of the hit, the rarest that others hold too, make the second question
_COMMON_SHARE = 0.1  # of the rows; a term that more of them hold tells nothing


def add_pseudo_relevance_feedback(
    candidates: Candidates,
    query: Sequence[int],
    lexical: LexicalIndex,
    counted: NDArray[np.bool_],
    parameters: RankingParameters,
) -> None:
    """Add what rows share with the best hit beyond the question, so that its continuation is found; nothing where no row has to do with it.

    The rarest words of the hit that are held by others too form a second question (pseudo-relevance feedback as in Lavrenko
    and Croft, "Relevance-Based Language Models", 2001, with one document). The best hit itself keeps its lead.
    """
    strongest = parameters.feedback_weight
    if len(candidates) < 2 or not strongest:  # noqa: PLR2004 - one hit has no others
        return
    scores = candidates.total()
    top = int(scores.argmax())
    if scores[top] <= 0:
        return
    number, mean_length = lexical.statistics(counted)
    hit = lexical.terms_of(int(candidates.rows[top])).tolist()
    # In the order of the text, so that of equally rare ones the same are taken whatever the key of the store.
    known = {*query, QUESTION_TERM}
    own = np.array([term for term in dict.fromkeys(hit) if term not in known], np.int32)
    held = lexical.frequencies(own.tolist())
    own = own[np.sort(top_k(np.where(held > 1, -held, -len(lexical) - 1), _RAREST_TERMS))]
    # Counted once more for few terms: what is hidden, forgotten above all, must not show in the scores of the rest.
    holding = np.array(lexical.document_frequencies(own.tolist(), counted), np.int64)
    others = (holding > 1) & (holding <= _COMMON_SHARE * number + 2)
    own, weights = own[others], idfs(number, holding[others])
    if not len(own):
        return
    rare = top_k(weights, _TERMS)
    shared = np.zeros(len(lexical), np.float32)
    for block in lexical.blocks(own[rare].tolist()):
        scores = saturation(block.counts, lexical.lengths[block.rows] / np.float32(mean_length))
        scores *= np.repeat(weights[rare], block.sizes)
        ends = np.cumsum(block.sizes).tolist()
        for first, end in itertools.pairwise((0, *ends)):
            shared[block.rows[first:end]] += scores[first:end]
    part = shared[candidates.rows] * np.float32(strongest / float(weights[rare].sum()))
    part[top] = max(float(part.max()), strongest)
    candidates.add("feedback", part)
