"""The earlier statements that a new one may change: few enough to compare each with it."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from hybrid_memory.language.terms import QUESTION_TERM
from hybrid_memory.retrieval.bm25 import idfs
from hybrid_memory.retrieval.vectors import top_k

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hybrid_memory.model import MemoryId
    from hybrid_memory.retrieval.bm25 import LexicalIndex
    from hybrid_memory.retrieval.memory_columns import MemoryColumns
    from hybrid_memory.retrieval.vectors import Matrix

# `tools/fit_changes.py` fits the model for these.
BY_VECTOR, BY_WORDS, IN_SESSION = 6, 6, 4
_COMMON_WORD = 0.05  # share of the memories from which on a word finds no statement
_BORROWED, _MEAN, _DEVIATION = 30, 0.27, 0.08  # cosines of the lives that the model was fitted on
_FEW_MEMORIES = 500  # that hold a word, which finds them however large a share of all that is


@dataclass(frozen=True, slots=True)
class NearStatements:
    """Statements near to another one: ``vectors`` (statements, values), their ``terms``, and how rare each term is (0..1).

    ``usual``: mean and standard deviation of the cosines of all statements with that one.
    """

    ids: tuple[MemoryId, ...]
    vectors: NDArray[np.float32]
    terms: tuple[frozenset[int], ...]
    rarity: Mapping[int, float]
    usual: tuple[float, float]


NO_STATEMENTS = NearStatements((), np.zeros((0, 0), np.float32), (), {}, (0.0, 1.0))


def near_statements(
    columns: MemoryColumns,
    lexical: LexicalIndex,
    matrix: Matrix,
    stated: NDArray[np.bool_],
    vector: NDArray[np.float32],
    behind: NDArray[np.float32] | None,
    terms: Collection[int],
    session: str,
) -> NearStatements:
    """Return the ``stated`` rows nearest by either vector, those with the rarest words in common, and the last ones of a session."""
    near, _ = matrix.top(vector, BY_VECTOR, stated)
    nearer = [] if behind is None else matrix.top(behind, BY_VECTOR, stated)[0].tolist()
    rarity = _rarity(lexical, terms)
    here = np.flatnonzero(stated & (columns.session.values == columns.sessions.find(session)))
    found = [*nearer, *near.tolist(), *_near_by_words(lexical, rarity, stated), *here[-IN_SESSION:].tolist()]
    rows = np.array(list(dict.fromkeys(found)), np.intp)
    held = [frozenset(one.tolist()) for one in lexical.terms_of_rows(rows)]
    rarity |= _rarity(lexical, {term for one in held for term in one} - rarity.keys())
    usual = _usual(matrix.scores(vector, matrix.sample(stated)))
    return NearStatements(tuple(columns.ids.ids_of(rows)), matrix.gather(rows), tuple(held), rarity, usual)


def _usual(cosines: NDArray[np.float32]) -> tuple[float, float]:
    """Return mean and standard deviation of cosines, as if some more of other stores were among them: a few tell little."""
    count = len(cosines) + _BORROWED
    mean = (float(cosines.sum()) + _BORROWED * _MEAN) / count
    squares = float(np.square(cosines - mean).sum()) + _BORROWED * (_DEVIATION**2 + (_MEAN - mean) ** 2)
    return mean, math.sqrt(squares / count)


def _rarity(lexical: LexicalIndex, terms: Collection[int]) -> dict[int, float]:
    """Return for each term its inverse document frequency, as a share of that of a term that no memory holds."""
    wanted = [term for term in terms if term != QUESTION_TERM]
    rows = len(lexical)
    if not wanted or not rows:
        return dict.fromkeys(wanted, 1.0)
    weights = idfs(rows, lexical.frequencies(wanted)) / idfs(rows, np.zeros(1, np.int64))
    return dict(zip(wanted, weights.tolist(), strict=True))


def _near_by_words(lexical: LexicalIndex, rarity: Mapping[int, float], stated: NDArray[np.bool_]) -> list[int]:
    weights = np.zeros(len(lexical), np.float32)
    most = max(_FEW_MEMORIES, int(_COMMON_WORD * len(lexical)))
    for term, postings in lexical.postings(rarity).items():
        if sum(len(rows) for rows, _ in postings) <= most:
            for rows, _ in postings:
                weights[rows] += rarity[term]
    weights[~stated] = 0
    best = top_k(weights, min(BY_WORDS, len(weights)))
    return [int(row) for row in best if weights[row] > 0]
