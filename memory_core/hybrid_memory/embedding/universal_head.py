"""How a memory's vector is made of its meaning and its words: the one place that a better fit would replace.

The encoder's 512 values and the English table's 256 are put end to end, the words with a weight of .6, and turned by a fixed
projection to 384 values; it was fitted by ``tools/fit_universal.py`` so that it loses least of the likeness of two texts.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from hybrid_memory.embedding.static import DIGEST, StaticEmbedder

PROJECTION = Path(__file__).with_name("data") / "universal.npy"
DIMENSIONS = 384
WORDS_WEIGHT = 0.6
TABLE_DIGEST = DIGEST

Floats = NDArray[np.float32]


class Head:
    """Makes the vectors; safe from several threads.

    Raises:
        EmbedderUnavailable: the table cannot be read.
        OSError, ValueError: the projection cannot.
    """

    def __init__(self) -> None:
        self._projection = np.load(PROJECTION, allow_pickle=False).astype(np.float32)
        self._words = StaticEmbedder()
        _ = self._words.dimensions  # loads it

    def vectors(self, meanings: Floats, texts: Sequence[str]) -> Floats:
        """Return unit rows for the encoder's rows of some texts; where there is nothing of a text its row is zero."""
        rows: Floats = side_by_side(meanings, self._words.embed(texts)) @ self._projection
        lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
        rows /= np.where(lengths > 0, lengths, np.float32(1))[:, None]
        return rows


def side_by_side(meanings: Floats, words: Floats) -> Floats:
    """Return rows of the encoder and of the table put end to end; a text without an English word has zeros for the table."""
    return np.concatenate([meanings, words * np.float32(math.sqrt(WORDS_WEIGHT))], 1)
