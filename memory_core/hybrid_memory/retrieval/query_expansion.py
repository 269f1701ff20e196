"""Query expansion: words that mean nearly the same, so that a question finds what says it in other words.

A shipped table names for each stem up to 32 others with a weight. The weights join the likeness of the built-in embedder's
word pieces with the relations of WordNet 3.1 (Miller, "WordNet: A Lexical Database for English", 1995): a synonym or a kind
of the thing counts more. Letting a word stand for a near one is the translation model of retrieval (Berger and Lafferty,
"Information Retrieval as Statistical Translation", 1999) with embeddings in place of learnt translations (Zuccon et al.,
"Integrating and Evaluating Neural Word Embeddings in Information Retrieval", 2015). English only: words of other languages
are found by themselves and by their vectors. Made by ``tools/build_near_words.py``.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from hybrid_memory.terms import TermHasher

DATA = Path(__file__).with_name("data")
_STORES = 4  # of so many at most, the table is kept in their terms
_FULL_WEIGHT = 255  # stands for a weight of 1
_MAX_CACHED_TERMS = 4_096  # terms whose near words are remembered as a mapping


class ExpansionTable:
    """The near words of a store's terms (`hybrid_memory.terms`). Immutable.

    Row i of ``near`` (places in ``terms``, most alike first) and ``weights`` (0..255) belongs to ``terms[i]``; a weight of 0 ends a
    row. The terms, int32, are in any order.
    """

    def __init__(self, terms: NDArray[np.int32], near: NDArray[np.uint16], weights: NDArray[np.uint8]) -> None:
        self._terms = terms
        self._order = np.argsort(terms, kind="stable")
        self._rising = terms[self._order]
        self._near = near
        self._weights = weights
        self.expansions = functools.lru_cache(_MAX_CACHED_TERMS)(self._expansions)
        """Return the near terms of a term with weights above 0 and at most 1, the term itself (weight 1) first."""

    def knows(self, terms: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Return which of some terms have near words."""
        if not len(self._rising):
            return np.zeros(len(terms), np.bool_)
        at = np.minimum(np.searchsorted(self._rising, terms), len(self._rising) - 1)
        return np.asarray(self._rising[at] == terms)

    def _expansions(self, term: int) -> Mapping[int, float]:
        at = int(np.searchsorted(self._rising, np.int32(term)))
        found = {term: 1.0}
        if at < len(self._rising) and self._rising[at] == term:
            row = self._order[at]
            weights = self._weights[row]
            held = int(np.count_nonzero(weights))
            near = self._terms[self._near[row, :held]].tolist()
            found |= zip(near, (weights[:held] / _FULL_WEIGHT).tolist(), strict=True)
            found[term] = 1.0
        return found


NO_EXPANSIONS = ExpansionTable(np.zeros(0, np.int32), np.zeros((0, 0), np.uint16), np.zeros((0, 0), np.uint8))


@functools.lru_cache(maxsize=_STORES)
def expansion_table(hasher: TermHasher) -> ExpansionTable:
    """Return the shipped table in the terms of a store; none where its files are missing, because search works without."""
    columns = _columns()
    if columns is None:
        return NO_EXPANSIONS
    hashes, near, weights = columns
    return ExpansionTable(hasher.fold_all(hashes), near, weights)


@functools.cache
def _columns() -> tuple[NDArray[np.uint64], NDArray[np.uint16], NDArray[np.uint8]] | None:
    """Return the hashes of stems (`hybrid_memory.text.hash_of_word`), their near ones and their weights."""
    try:
        hashes, near, weights = (
            np.load(DATA / f"{name}.npy", mmap_mode="r", allow_pickle=False) for name in ("hashes", "near", "weights")
        )
    except (OSError, ValueError, EOFError):
        return None
    return hashes, near, weights
