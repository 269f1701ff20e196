"""The built-in embedder: word pieces looked up in a small table, with numpy alone and nothing to download.

The sum of ``scale[row] * table[row]`` over a text's word pieces, made unit length, goes through one small layer that
sees which words stand together: ``v + relu(v @ into + bias) @ out``, made unit length again. All of it was fitted to the
sentence vectors of all-MiniLM-L6-v2 (``tools/README.md``); the bag of rows follows the idea of static sentence embeddings
(Model2Vec, https://github.com/MinishLab/model2vec). Word pieces are those of BERT (Devlin et al., 2019).
"""

from __future__ import annotations

import hashlib
import math
import threading
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from hybrid_memory.embedding.vocabulary import row_of_piece
from hybrid_memory.errors import EmbedderUnavailable
from hybrid_memory.language.lazy_pattern import LazyPattern

DATA = Path(__file__).with_name("data")
SIZES = {"table.npy": 7_559_296, "scale.npy": 59_184, "vocab.txt": 219_689, "layer.npy": 262_784}
DIGEST = "b5429c7889a31630"  # the `digest_of` the shipped files; a test computes it again

_MAX_WORD_CHARACTERS = 100  # a longer word has no pieces, as in BERT
_MAX_CACHED_WORDS = 50_000  # words and characters whose pieces are remembered
_MANY_ROWS = 512  # a text of more pieces repeats some; each is added once with its count
_PLAIN_WORD = LazyPattern(r"[a-z0-9]+|[!-/:-@\[-`{-~]")
_VANISHING = frozenset(("Mn", "Cc", "Cf", "Co", "Cs"))
_IDEOGRAPHS = (
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B81F),
    (0x2B920, 0x2CEAF),
    (0x2F800, 0x2FA1F),
)


def digest_of(folder: Path) -> str:
    """Return 16 hex digits of the SHA-256 over the files in the order of `SIZES`."""
    digest = hashlib.sha256()
    for name in SIZES:
        digest.update((folder / name).read_bytes())
    return digest.hexdigest()[:16]


class StaticEmbedder:
    """Embeds by table lookup: some 50,000 short texts a second, loaded at the first call, safe from several threads.

    ``folder`` holds another table of the same form (int8 ``table.npy`` rows x dimensions, float16 ``scale.npy``,
    ``vocab.txt`` with one piece a line, float16 ``layer.npy`` with a line of weights into, bias, weights out for each
    hidden unit); None is the shipped one. Tokens unknown to the vocabulary are left out; there is no truncation.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._loaded: _Table | None = None
        self._digest: str | None = DIGEST if folder is None else None

    @property
    def identity(self) -> str:
        """``static-v2:`` and the digest of the files.

        Raises:
            EmbedderUnavailable: a folder of one's own cannot be read.
        """
        if self._digest is None:
            try:
                self._digest = digest_of(self._folder or DATA)
            except OSError as error:
                raise _unreadable(error) from error
        return f"static-v2:{self._digest}"

    @property
    def dimensions(self) -> int:
        """The length of a vector: 256 for the shipped table."""
        return int(self._table().table.shape[1])

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return (texts, dimensions) float32 unit rows; a text without a known token gives a zero row."""
        table = self._table()
        vectors = np.zeros((len(texts), table.table.shape[1]), np.float32)
        for at, text in enumerate(texts):
            rows = table.rows(text)
            if rows:
                vectors[at] = table.contextual(_unit(table.sum_of(rows)))
        return vectors

    def tokens(self, text: str) -> list[str]:
        """Return the word pieces that a text is made of, those of its vector."""
        table = self._table()
        pieces = list(table.row_of)
        return [pieces[row] for row in table.rows(text)]

    def _table(self) -> _Table:
        if self._loaded is None:
            with self._lock:
                if self._loaded is None:
                    self._loaded = _load(self._folder)
        return self._loaded


@dataclass(frozen=True, slots=True)
class _Table:
    table: NDArray[np.int8]
    scale: NDArray[np.float32]
    row_of: Mapping[str, int]
    known: dict[str, tuple[int, ...]]
    into: NDArray[np.float32]
    bias: NDArray[np.float32]
    out: NDArray[np.float32]

    def rows(self, text: str) -> list[int]:
        return [row for word in split_words(text) for row in self._pieces_of(word)]

    def sum_of(self, rows: list[int]) -> NDArray[np.float32]:
        weight = self.scale[rows]
        used = np.asarray(rows)
        if len(rows) > _MANY_ROWS:
            used, counts = np.unique(used, return_counts=True)
            weight = self.scale[used] * counts.astype(np.float32)
        total: NDArray[np.float32] = weight @ self.table[used].astype(np.float32)
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
            known = self._cut(word)
            if len(self.known) >= _MAX_CACHED_WORDS:
                self.known.clear()
            self.known[word] = known
        return known

    def _cut(self, word: str) -> tuple[int, ...]:
        """Return the rows of the longest pieces from the left; none if a rest is left that no piece begins."""
        if len(word) > _MAX_WORD_CHARACTERS:
            return ()
        rows: list[int] = []
        start, size = 0, len(word)
        while start < size:
            prefix = "##" if start else ""
            for end in range(size, start, -1):
                row = self.row_of.get(prefix + word[start:end])
                if row is not None:
                    break
            else:
                return ()
            rows.append(row)
            start = end
        return tuple(rows)


class _Folding(dict[int, str]):
    """What becomes of each character, as BERT's normaliser and pre-tokeniser do it; filled as characters turn up."""

    def __missing__(self, code: int) -> str:
        if len(self) >= _MAX_CACHED_WORDS:
            self.clear()
        character = chr(code)
        folded = self[code] = self._folded(character, unicodedata.category(character))
        return folded

    @staticmethod
    def _folded(character: str, category: str) -> str:
        if character in "\t\n\r" or category[0] == "Z":
            return " "
        if category in _VANISHING or character == "\ufffd":
            return ""
        code = ord(character)
        apart = category[0] == "P" or (code < 0x80 and not character.isalnum())  # noqa: PLR2004 - the end of ASCII
        if apart or any(first <= code <= last for first, last in _IDEOGRAPHS):
            return f" {character} "
        return character.lower()


_FOLDING = _Folding()


def _unit(vector: NDArray[np.float32]) -> NDArray[np.float32]:
    length = math.sqrt(vector @ vector)
    return vector / np.float32(length) if length > 0 else vector


def split_words(text: str) -> list[str]:
    """Return the words that are cut into pieces: lower case, without accents; ideographs and punctuation stand alone."""
    if text.isascii() and text.isprintable():
        return _PLAIN_WORD.findall(text.lower())
    return unicodedata.normalize("NFD", text).translate(_FOLDING).split()


def _load(folder: Path | None) -> _Table:
    source = folder or DATA
    try:
        if folder is None and any((source / name).stat().st_size != size for name, size in SIZES.items()):
            raise EmbedderUnavailable("the built-in embedder's files are incomplete; install the package again")
        table = np.load(source / "table.npy", mmap_mode="r", allow_pickle=False)
        scale = np.load(source / "scale.npy", allow_pickle=False).astype(np.float32)
        layer = np.load(source / "layer.npy", allow_pickle=False).astype(np.float32)
        row_of = row_of_piece() if folder is None else _rows_of(source / "vocab.txt")
    except (OSError, ValueError) as error:
        raise _unreadable(error) from error
    if table.ndim != 2 or not len(table) == len(scale) == len(row_of):  # noqa: PLR2004 - rows and columns
        raise EmbedderUnavailable("table, scales and vocabulary of the static embedder do not belong together")
    size = table.shape[1]
    if layer.ndim != 2 or layer.shape[1] != 2 * size + 1:  # noqa: PLR2004 - rows and columns
        raise EmbedderUnavailable("table and layer of the static embedder do not belong together")
    into, bias, out = (
        np.ascontiguousarray(layer[:, :size]),
        layer[:, size].copy(),
        np.ascontiguousarray(layer[:, size + 1 :]),
    )
    return _Table(table, scale, row_of, {}, into, bias, out)


def _rows_of(vocabulary: Path) -> dict[str, int]:
    return {piece: row for row, piece in enumerate(vocabulary.read_text(encoding="utf-8").split("\n"))}


def _unreadable(error: Exception) -> EmbedderUnavailable:
    return EmbedderUnavailable(f"the static embedder's files cannot be read ({type(error).__name__})")
