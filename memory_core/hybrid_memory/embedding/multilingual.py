"""The multilingual table: sums of word-piece vectors for eleven languages, with numpy alone and nothing to download.

Chinese, Japanese, Korean, German, French, Spanish, Italian, Portuguese, Dutch, Russian and English. A text's vector is made as
in ``static.py``: the sum of its pieces' rows, made unit length, goes through one small layer and is made unit length again.
Rows and layer were fitted to the sentence vectors of multilingual-e5-small (``tools/README.md``). The rows are stored in 4 bits.
Pieces are those of XLM-RoBERTa's vocabulary in lower case, 48,000 of them, cut as a unigram model does (Kudo, 2018,
https://arxiv.org/abs/1804.10959).
"""

from __future__ import annotations

import functools
import hashlib
import math
import threading
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from hybrid_memory.errors import EmbedderUnavailable

DATA = Path(__file__).with_name("data") / "multilingual"
FILES = ("table.npy", "scale.npy", "layer.npy", "pieces.txt", "score.npy")
DIGEST = "f778c382e4bc2327"  # the `digest_of` the shipped files; a test computes it again
DIMENSIONS = 256
MEGABYTES = 7
LICENCE = "mit"

_WORD_BEGINS = "\u2581"  # stands for the blank before a word in SentencePiece's pieces
_UNKNOWN_COST = 10.0  # by which a character without a piece is less likely than the rarest piece, as in SentencePiece
_MAX_CACHED_WORDS = 50_000
_MAX_CACHED_CHARACTERS = 24  # longer ones are hardly words, and seldom come again
_MANY_ROWS = 512  # a text of more pieces repeats some; each is added once with its count
_NIBBLE, _NIBBLE_ZERO = 15, 8


def digest_of(folder: Path) -> str:
    """Return 16 hex digits of the SHA-256 over the files in the order of `FILES`."""
    digest = hashlib.sha256()
    for name in FILES:
        digest.update((folder / name).read_bytes())
    return digest.hexdigest()[:16]


class MultilingualEmbedder:
    """Embeds by table lookup, loaded at the first call, safe from several threads.

    ``folder`` holds another table of the same form: ``table.npy`` (uint8, rows x dimensions / 2: two values of 4 bits in a byte,
    the even one low, 8 is zero), float16 ``scale.npy`` (rows x equal parts of a row), ``layer.npy`` as in `StaticEmbedder`,
    ``pieces.txt`` (one a line), float16 ``score.npy`` (log probability of each piece). None is the shipped one. There is no
    truncation.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._loaded: _Table | None = None
        self._digest: str | None = DIGEST if folder is None else None

    @property
    def identity(self) -> str:
        """``multilingual-v1:`` and the digest of the files.

        Raises:
            EmbedderUnavailable: a folder of one's own cannot be read.
        """
        if self._digest is None:
            try:
                self._digest = digest_of(self._folder or DATA)
            except OSError as error:
                raise _unreadable(error) from error
        return f"multilingual-v1:{self._digest}"

    @property
    def dimensions(self) -> int:
        """The length of a vector: 256 for the shipped table."""
        return int(self._table().rows.shape[1])

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return (texts, dimensions) float32 unit rows; a text without a known piece gives a zero row."""
        table = self._table()
        vectors = np.zeros((len(texts), table.rows.shape[1]), np.float32)
        for at, text in enumerate(texts):
            rows = table.rows_of(text)
            if rows:
                vectors[at] = table.contextual(_unit(table.sum_of(rows)))
        return vectors

    def tokens(self, text: str) -> list[str]:
        """Return the pieces that a text is made of, those of its vector."""
        table = self._table()
        return [table.pieces[row] for row in table.rows_of(text)]

    def piece_vectors(self, text: str) -> NDArray[np.float32]:
        """Return (pieces, dimensions): the row of each piece that a text is made of."""
        table = self._table()
        used = table.rows_of(text)
        weight = table.scale[used]
        parts = table.rows[used].reshape(*weight.shape, -1).astype(np.float32)
        vectors: NDArray[np.float32] = (weight[:, :, None] * parts).reshape(len(used), table.rows.shape[1])
        return vectors

    def _table(self) -> _Table:
        if self._loaded is None:
            with self._lock:
                if self._loaded is None:
                    self._loaded = _shipped() if self._folder is None else _load(self._folder)
        return self._loaded


@dataclass(frozen=True, slots=True)
class _Table:
    rows: NDArray[np.int8]
    scale: NDArray[np.float32]
    pieces: list[str]
    found: dict[str, tuple[int, float]]  # row and log probability of a piece
    longest: int
    unknown: float
    known: dict[str, tuple[int, ...]]
    into: NDArray[np.float32]
    bias: NDArray[np.float32]
    out: NDArray[np.float32]

    def rows_of(self, text: str) -> list[int]:
        return [row for word in fold(text).split() for row in self._pieces_of(word)]

    def sum_of(self, rows: list[int]) -> NDArray[np.float32]:
        used, weight = np.asarray(rows), self.scale[rows]
        if len(rows) > _MANY_ROWS:
            used, counts = np.unique(used, return_counts=True)
            weight = self.scale[used] * counts.astype(np.float32)[:, None]
        parts = self.rows[used].reshape(*weight.shape, -1).astype(np.float32)
        total: NDArray[np.float32] = np.einsum("rp,rpd->pd", weight, parts).reshape(-1)
        return total

    def contextual(self, bag: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the bag's vector after the layer: one text at a time, so that it does not depend on the batch."""
        hidden: NDArray[np.float32] = self.into @ bag
        hidden += self.bias
        np.maximum(hidden, 0, out=hidden)
        added: NDArray[np.float32] = hidden @ self.out
        return _unit(bag + added)

    def _pieces_of(self, word: str) -> tuple[int, ...]:
        known = self.known.get(word)
        if known is None:
            known = self._cut(_WORD_BEGINS + word)
            if len(word) <= _MAX_CACHED_CHARACTERS:
                if len(self.known) >= _MAX_CACHED_WORDS:
                    self.known.clear()
                self.known[word] = known
        return known

    def _cut(self, word: str) -> tuple[int, ...]:
        """Return the rows of the likeliest pieces of a word; characters that no piece has are left out."""
        size = len(word)
        best = [-math.inf] * (size + 1)
        best[0] = 0.0
        last: list[tuple[int, int]] = [(0, -1)] * (size + 1)  # where the last piece begins, and its row
        for start in range(size):
            score = best[start]
            for end in range(start + 1, min(start + self.longest, size) + 1):
                piece = self.found.get(word[start:end])
                if piece is not None and score + piece[1] > best[end]:
                    best[end] = score + piece[1]
                    last[end] = (start, piece[0])
            if score + self.unknown > best[start + 1]:
                best[start + 1] = score + self.unknown
                last[start + 1] = (start, -1)
        rows: list[int] = []
        end = size
        while end:
            end, row = last[end]
            if row >= 0:
                rows.append(row)
        return tuple(reversed(rows))


def fold(text: str) -> str:
    """Return the text as pieces are looked up in: compatible forms of characters joined, in lower case."""
    return unicodedata.normalize("NFKC", text).lower()


def _unit(vector: NDArray[np.float32]) -> NDArray[np.float32]:
    length = math.sqrt(vector @ vector)
    return vector / np.float32(length) if length > 0 else vector


@functools.cache
def _shipped() -> _Table:
    """Return the shipped table, which all embedders of a process share."""
    return _load(DATA)


def _load(folder: Path) -> _Table:
    try:
        packed = np.load(folder / "table.npy", allow_pickle=False)
        scale = np.load(folder / "scale.npy", allow_pickle=False).astype(np.float32)
        layer = np.load(folder / "layer.npy", allow_pickle=False).astype(np.float32)
        scores = np.load(folder / "score.npy", allow_pickle=False).astype(np.float64).tolist()
        pieces = (folder / "pieces.txt").read_text(encoding="utf-8").split("\n")
    except (OSError, ValueError) as error:
        raise _unreadable(error) from error
    size = 2 * packed.shape[-1]
    fits = len(packed) == len(scale) == len(scores) == len(pieces) and layer.shape[1:] == (2 * size + 1,)
    if packed.dtype != np.uint8 or not fits or scale.ndim != 2 or size % scale.shape[1]:  # noqa: PLR2004 - rows and parts
        raise EmbedderUnavailable("the files of the multilingual table do not belong together")
    rows = np.empty((len(packed), size), np.int8)
    rows[:, 0::2] = packed & _NIBBLE
    rows[:, 1::2] = packed >> 4
    rows -= _NIBBLE_ZERO
    return _Table(
        rows=rows,
        scale=scale,
        pieces=pieces,
        found={piece: (row, score) for row, (piece, score) in enumerate(zip(pieces, scores, strict=True))},
        longest=max(map(len, pieces)),
        unknown=min(scores) - _UNKNOWN_COST,
        known={},
        into=np.ascontiguousarray(layer[:, :size]),
        bias=layer[:, size].copy(),
        out=np.ascontiguousarray(layer[:, size + 1 :]),
    )


def _unreadable(error: Exception) -> EmbedderUnavailable:
    return EmbedderUnavailable(f"the multilingual table's files cannot be read ({type(error).__name__})")
