"""The network of the multilingual Universal Sentence Encoder (Yang et al., 2019, https://arxiv.org/abs/1907.04307), in numpy.

Each piece of a text has a row of 512 values, kept in 8 bits. Three convolutions over pairs, triples and fives of neighbouring pieces
stand next to the rows; their sum over the text goes through a few dense layers. Texts that are run together lie one behind the
other with rows of zeros between them, so no window sees two texts and each large matrix is read once for all.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hybrid_memory.embedding.mapped_arrays import Arrays, Rows

Floats = NDArray[np.float32]

TABLE = "table"  # the name of the pieces' rows among the arrays
WIDTH = 512  # of the rows and of a text's vector
SEEN = 1_280  # at a piece: its row and three convolutions
_PARTS = 17  # the rows lie in so many parts, by turns, each with its own range of values
_ORDERS = ((2, 0), (3, 1), (5, 2))  # pieces in a window, and how many of them come before the middle
_GAP = 2  # rows of zeros before, between and behind the texts: as far as a window reaches
_CHANNELS = 256  # of each convolution


def arrays_of(weights: Arrays) -> dict[str, NDArray[Any]]:
    """Return the arrays for `Network` from those of the package: the parts of the table put together, by number of the piece."""
    part = weights["q1"]
    table = np.empty((_PARTS * len(part), WIDTH), np.uint8)
    for at in range(_PARTS):
        table[at::_PARTS] = weights[f"q{at + 1}"]
    arrays = {
        TABLE: table,
        "low": weights["lo"],
        "step": weights["scale"],
        "eps": np.float32(weights["eps"]).reshape(1),
    }
    for name, parts in {
        "into": "proj{}",
        "into_bias": "proj_b{}",
        "into_gain": "ln_g{}",
        "into_shift": "ln_b{}",
    }.items():
        arrays[name] = np.concatenate([weights[parts.format(order)] for order, _ in _ORDERS], -1)
    names = ["ln_g", "ln_b", "cnn_W", "cnn_b", "d0", "d1", "d2", "d3", "p1", "p3"]
    names += [f"{kind}_{order}" for order, _ in _ORDERS for kind in ("w1", "b1", "w2", "b2")]
    return arrays | {name: weights[name] for name in names}


class Network:
    """Runs the arrays of `arrays_of`; keeps nothing of a run, so it is safe from several threads."""

    def __init__(self, arrays: Arrays, table: Rows) -> None:
        """``table`` gives the rows of `TABLE`."""
        self._of = arrays
        self._table = table
        self._eps = arrays["eps"][0]

    def sums(self, texts: Sequence[Sequence[int]]) -> Floats:
        """Return (texts, 1280): what was seen at the pieces of each text, at least one piece a text, added up."""
        of = self._of
        lengths = np.array([len(pieces) for pieces in texts])
        pieces = np.array([piece for text in texts for piece in text])
        places = np.arange(len(pieces)) + _GAP * (1 + np.repeat(np.arange(len(texts)), lengths))
        part = pieces % _PARTS
        rows = self._table.at(pieces).astype(np.float32) * of["step"][part, None] + of["low"][part, None]
        narrow = self._levelled(rows @ of["into"] + of["into_bias"], of["into_gain"], of["into_shift"])
        seen = [rows]
        for (order, before), channels in zip(_ORDERS, np.split(narrow, len(_ORDERS), 1), strict=True):
            windows = places[:, None] + np.arange(-before, order - before)
            seen.append(self._convolved(channels, places, windows, order))
        features = self._levelled(np.concatenate(seen, 1), of["ln_g"], of["ln_b"])
        total: Floats = np.add.reduceat(features, np.cumsum(lengths) - lengths)
        return total

    def vectors(self, sums: Floats, counts: Floats) -> Floats:
        """Return (texts, 512) unit rows for the sums of texts of so many pieces."""
        of = self._of
        texts = (sums @ of["cnn_W"] + counts[:, None] * of["cnn_b"]) / np.sqrt(counts)[:, None]
        first = np.maximum(texts @ of["d0"], 0)
        second = np.maximum(texts @ of["p1"] + first @ of["d1"], 0)
        third = np.maximum(second @ of["d2"], 0)
        last = np.tanh(second @ of["p3"] + third @ of["d3"])
        unit: Floats = last / np.sqrt(np.einsum("ij,ij->i", last, last))[:, None]
        return unit

    def _convolved(self, channels: Floats, places: NDArray[np.intp], windows: NDArray[np.intp], order: int) -> Floats:
        spread = np.zeros((int(places[-1]) + 1 + _GAP, _CHANNELS), np.float32)
        for layer in "12":
            spread[places] = channels
            seen = spread[windows].reshape(len(places), -1) @ self._of[f"w{layer}_{order}"]
            channels = channels + np.maximum(seen + self._of[f"b{layer}_{order}"], 0)
        return channels

    def _levelled(self, rows: Floats, gain: Floats, shift: Floats) -> Floats:
        rows = rows - rows.mean(1, keepdims=True)
        spread = np.einsum("ij,ij->i", rows, rows)[:, None] / np.float32(rows.shape[1])
        levelled: Floats = rows / np.sqrt(spread + self._eps) * gain + shift
        return levelled
