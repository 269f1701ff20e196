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

import numpy as np
from numpy.typing import NDArray

DATA = Path(__file__).with_name("data")
_FULL_WEIGHT = 255  # stands for a weight of 1
_MAX_CACHED_TERMS = 4_096  # terms whose near words are remembered as a mapping


class ExpansionTable:
    """The near words of terms (`hybrid_memory.text`). Immutable.

    ``terms`` are rising int32; row i of ``near`` (places in ``terms``, most alike first) and ``weights`` (0..255) belongs to
    ``terms[i]``; a weight of 0 ends a row.
    """

    def __init__(self, terms: NDArray[np.int32], near: NDArray[np.uint16], weights: NDArray[np.uint8]) -> None:
        self._terms = terms
        self._near = near
        self._weights = weights
        self.expansions = functools.lru_cache(_MAX_CACHED_TERMS)(self._expansions)
        """Return the near terms of a term with weights above 0 and at most 1, the term itself (weight 1) first."""

    def knows(self, terms: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Return which of some terms have near words."""
        if not len(self._terms):
            return np.zeros(len(terms), np.bool_)
        at = np.minimum(np.searchsorted(self._terms, terms), len(self._terms) - 1)
        return np.asarray(self._terms[at] == terms)

    def _expansions(self, term: int) -> Mapping[int, float]:
        at = int(np.searchsorted(self._terms, np.int32(term)))
        found = {term: 1.0}
        if at < len(self._terms) and self._terms[at] == term:
            weights = self._weights[at]
            held = int(np.count_nonzero(weights))
            near = self._terms[self._near[at, :held]].tolist()
            found |= zip(near, (weights[:held] / _FULL_WEIGHT).tolist(), strict=True)
            found[term] = 1.0
        return found


NO_EXPANSIONS = ExpansionTable(np.zeros(0, np.int32), np.zeros((0, 0), np.uint16), np.zeros((0, 0), np.uint8))


@functools.cache
def expansion_table() -> ExpansionTable:
    """Return the shipped table; none where its files are missing, because search works without."""
    try:
        columns = [
            np.load(DATA / f"{name}.npy", mmap_mode="r", allow_pickle=False) for name in ("terms", "near", "weights")
        ]
    except (OSError, ValueError, EOFError):
        return NO_EXPANSIONS
    return ExpansionTable(*columns)
