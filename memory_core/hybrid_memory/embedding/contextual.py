"""What a small transformer makes of each piece of a text, in its context, by numpy alone: the first layers of multilingual-e5-small.

Fitted models that judge a person's sentences read these states next to the sentence vectors of ``universal.py``: a sentence vector tells
what a text is about, the states how it is said. It embeds nothing that is searched.

``tools/build_contextual.py`` makes the file from published weights (Wang et al., 2024, https://arxiv.org/abs/2402.05672): weights in
4 bits, blocks of 32 with a scale, and the pieces of the vocabulary that the languages of this project use.
"""

from __future__ import annotations

import functools
import threading
import unicodedata
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hybrid_memory.embedding.unigram import BEGIN, END, UnigramTokenizer
from hybrid_memory.errors import EmbedderUnavailable

FILE = Path(__file__).with_name("data") / "contextual" / "encoder.npz"
WIDTH = 384
_INNER = 1_536
READ_AFTER = (6, 8)
"""After which layers the states are read; the last of them is the last that runs."""
ADAPTED_AFTER = 5
"""The layers behind this one may be adapted to what a model judges."""
SEEN = WIDTH * len(READ_AFTER)
"""Values that are seen at a piece."""
MOST_PIECES = 400  # of a text; what follows is not seen
SHAPES = {"qkv": (3 * WIDTH, WIDTH), "out": (WIDTH, WIDTH), "wide": (_INNER, WIDTH), "narrow": (WIDTH, _INNER)}
"""The matrices of a layer, in the order in which the file holds them."""
VECTORS = {
    "qkv_bias": 3 * WIDTH,
    "out_bias": WIDTH,
    "wide_bias": _INNER,
    "narrow_bias": WIDTH,
    "middle_gain": WIDTH,
    "middle_shift": WIDTH,
    "last_gain": WIDTH,
    "last_shift": WIDTH,
}
"""The vectors of a layer, in the order in which the file holds them."""
_BLOCK = 32

HEADS = 12
EPS = 1e-12
# Pieces that are run together: a matrix is read once for so many, and what is in between fits the processor's cache.
_BATCH_PIECES = 512

Floats = NDArray[np.float32]
Layers = Sequence[Mapping[str, Floats]]


class ContextualEncoder:
    """Runs the arrays of the file; keeps nothing of a run, so it is safe from several threads."""

    seen = SEEN
    most_pieces = MOST_PIECES

    def __init__(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        self._tokenizer = UnigramTokenizer(arrays, normalise=functools.partial(unicodedata.normalize, "NFKC"))
        self._table, self._table_scale = arrays["table"], arrays["table_scale"]
        self._places = arrays["places"].astype(np.float32)
        self._gain, self._shift = arrays["first"]
        layers = [
            _layer(values, scales, vectors)
            for values, scales, vectors in zip(arrays["layers"], arrays["layer_scales"], arrays["vectors"], strict=True)
        ]
        self._first, self.last = layers[:ADAPTED_AFTER], tuple(layers[ADAPTED_AFTER:])

    def pieces(self, text: str) -> list[int]:
        """Return the numbers of a text's pieces."""
        return self._tokenizer.pieces(text)

    def states(self, texts: Sequence[Sequence[int]]) -> list[Floats]:
        """Return of each text, given by its pieces, (pieces, `SEEN`): what is seen at each; at those past `MOST_PIECES` nothing."""
        return [one[0] for one in self.states_by(texts, [self.last])]

    def states_by(self, texts: Sequence[Sequence[int]], ways: Sequence[Layers]) -> list[Floats]:
        """Return of each text (ways, pieces, `SEEN`): what `states` does, by several versions of the last layers."""
        found: list[Floats] = []
        for some in _batches(texts):
            rows, spans = self._begun(some)
            seen = [_seen_by(layers, rows, spans) for layers in ways]
            for text, (start, end) in zip(some, spans, strict=True):
                own = np.zeros((len(ways), len(text), SEEN), np.float32)
                for at, one in enumerate(seen):
                    own[at, : end - start - 2] = one[start + 1 : end - 1]
                found.append(own)
        return found

    def adapted(self, adapter: Mapping[str, Floats]) -> Layers:
        """Return the last layers with low-rank matrices added (Hu et al., 2021, https://arxiv.org/abs/2106.09685).

        Of each matrix NAME of a layer (``SHAPES``), ``NAME_in`` is (layers, rank, values in) and ``NAME_out`` (layers, values out, rank).
        """
        return [
            {
                **layer,
                **{name: layer[name] + (adapter[f"{name}_out"][at] @ adapter[f"{name}_in"][at]).T for name in SHAPES},
            }
            for at, layer in enumerate(self.last)
        ]

    def begun(self, texts: Sequence[Sequence[int]]) -> list[Floats]:
        """Return of each text (pieces + 2, `WIDTH`): the states that the last layers start from, with its begin and end."""
        found: list[Floats] = []
        for some in _batches(texts):
            rows, spans = self._begun(some)
            found += [rows[start:end] for start, end in spans]
        return found

    def _begun(self, texts: Sequence[Sequence[int]]) -> tuple[Floats, list[tuple[int, int]]]:
        """Return the states of some texts behind each other, and from where to where each goes."""
        whole = [[BEGIN, *text[:MOST_PIECES], END] for text in texts]
        ends = np.cumsum([len(one) for one in whole])
        spans = list(zip((ends - [len(one) for one in whole]).tolist(), ends.tolist(), strict=True))
        rows = self._rows(np.array([piece for one in whole for piece in one]))
        rows += np.concatenate([self._places[: len(one)] for one in whole])
        rows = _levelled(rows, self._gain, self._shift)
        for layer in self._first:
            rows = _through(layer, rows, spans)
        return rows, spans

    def _rows(self, pieces: NDArray[np.intp]) -> Floats:
        return _floats(self._table[pieces], self._table_scale[pieces]).reshape(len(pieces), WIDTH)


def load_contextual() -> ContextualEncoder:
    """Return the encoder; its file is read at the first call, in a fifth of a second.

    Raises:
        EmbedderUnavailable: the file cannot be read.
    """
    with _LOADING:  # two that load at once would take twice the memory
        return _loaded()


_LOADING = threading.Lock()


@functools.cache
def _loaded() -> ContextualEncoder:
    with installed_arrays(FILE) as arrays:
        return ContextualEncoder(arrays)


@contextmanager
def installed_arrays(path: Path) -> Iterator[dict[str, NDArray[Any]]]:
    """Give the arrays of a file of the installation, to be read within the block.

    Raises:
        EmbedderUnavailable: the file cannot be read, or the block does not find in it what it needs.
    """
    try:
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as held:
            yield {name: held[name] for name in held.files}
    except (OSError, ValueError, KeyError, IndexError, EOFError, zipfile.BadZipFile) as error:
        raise EmbedderUnavailable(
            f"a file of hybrid-memory-mcp cannot be read ({type(error).__name__}); install it again"
        ) from error


def _batches(texts: Sequence[Sequence[int]]) -> Iterator[Sequence[Sequence[int]]]:
    start, room = 0, _BATCH_PIECES
    for at, text in enumerate(texts):
        size = min(len(text), MOST_PIECES) + 2
        if at > start and size > room:
            yield texts[start:at]
            start, room = at, _BATCH_PIECES
        room -= size
    if start < len(texts):
        yield texts[start:]


def _layer(values: NDArray[np.uint8], scales: NDArray[np.float16], vectors: Floats) -> dict[str, Floats]:
    """Return the matrices of a layer, each as it is multiplied with rows, and its vectors."""
    flat = _floats(values, scales).reshape(-1)
    layer, at = {}, 0
    for name, (height, width) in SHAPES.items():
        layer[name] = np.ascontiguousarray(flat[at : at + height * width].reshape(height, width).T)
        at += height * width
    at = 0
    for name, size in VECTORS.items():
        layer[name] = vectors[at : at + size]
        at += size
    return layer


def _floats(values: NDArray[np.uint8], scales: NDArray[np.float16]) -> Floats:
    """Return the values of blocks of 32: of each byte the low half is one of the first sixteen, 8 standing for zero."""
    packed = values.reshape(*scales.shape, _BLOCK // 2)
    whole = np.concatenate([packed & 15, packed >> 4], axis=-1).astype(np.float32)
    whole -= 8
    whole *= scales.astype(np.float32)[..., None]
    return whole


def _seen_by(layers: Layers, rows: Floats, spans: Sequence[tuple[int, int]]) -> Floats:
    """Return what the last layers make of the states that they start from, (rows, `SEEN`)."""
    read = []
    for number, layer in enumerate(layers, ADAPTED_AFTER + 1):
        rows = _through(layer, rows, spans)
        if number in READ_AFTER:
            read.append(rows)
    return np.concatenate(read, axis=1)


def _through(layer: Mapping[str, Floats], rows: Floats, spans: Sequence[tuple[int, int]]) -> Floats:
    attended = _attended(rows @ layer["qkv"] + layer["qkv_bias"], spans)
    rows = _levelled(rows + attended @ layer["out"] + layer["out_bias"], layer["middle_gain"], layer["middle_shift"])
    wide = rows @ layer["wide"]
    wide += layer["wide_bias"]
    narrow = _gelu(wide) @ layer["narrow"]
    return _levelled(rows + narrow + layer["narrow_bias"], layer["last_gain"], layer["last_shift"])


def _attended(mixed: Floats, spans: Sequence[tuple[int, int]]) -> Floats:
    """Return what each piece takes from those of its own text."""
    found = np.empty((len(mixed), WIDTH), np.float32)
    for start, end in spans:
        parts = mixed[start:end].reshape(end - start, 3, HEADS, WIDTH // HEADS)
        query, key, value = (np.ascontiguousarray(parts[:, at].swapaxes(0, 1)) for at in range(3))
        odds = query @ key.swapaxes(1, 2)
        odds *= np.float32((WIDTH // HEADS) ** -0.5)
        odds -= odds.max(2, keepdims=True)
        np.exp(odds, out=odds)
        odds /= odds.sum(2, keepdims=True)
        found[start:end] = (odds @ value).swapaxes(0, 1).reshape(end - start, WIDTH)
    return found


def _gelu(rows: Floats) -> Floats:
    """Return the Gaussian error linear units of rows, by the tanh approximation (Hendrycks and Gimpel, 2016)."""
    inner = rows * rows
    inner *= np.float32(0.044715)
    inner += 1
    inner *= rows
    inner *= np.float32(0.7978845608)
    np.tanh(inner, out=inner)
    inner += 1
    inner *= rows
    inner *= np.float32(0.5)
    return inner


def _levelled(rows: Floats, gain: Floats, shift: Floats) -> Floats:
    rows = rows - rows.mean(1, keepdims=True)
    spread = np.einsum("ij,ij->i", rows, rows)[:, None] / np.float32(WIDTH)
    levelled: Floats = rows / np.sqrt(spread + np.float32(EPS)) * gain + shift
    return levelled
