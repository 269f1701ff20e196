"""Embeds with any model that fastembed runs, from a folder or from a cache; nothing is downloaded here.

fastembed is imported here and in ``fastembed_models.py`` alone, and only when the first vector is wanted: the import
takes some 0.4 s, a model 0.1 s to 0.2 s. Without ``local_files_only`` fastembed would try the network for half a minute before it gives up.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hybrid_memory.errors import EmbedderUnavailable
from hybrid_memory.settings import model_folders

BATCH_SIZE = 32  # texts run together; a batch is padded to its longest
_MODEL_FILE = "model.onnx"
_MEAN, _CLS = "mean", "cls"
_UNUSED_DIMENSIONS = 1  # in a description, where nothing reads them: those of the first vector count


class FastEmbedder:
    """Embeds with one onnxruntime thread; loaded at first use, safe from several threads.

    ``model`` is a name that fastembed knows; with ``folder`` its files are taken from there, and ``model`` may be any
    name: one unknown to fastembed is run as the folder describes (``1_Pooling/config.json`` or
    ``config.json`` for the pooling, mean if neither tells); the dimensions are those of what it gives. ``cache_dir`` None: `model_folders`.
    """

    def __init__(self, model: str, folder: Path | None = None, cache_dir: Path | None = None) -> None:
        self._name = model
        self._folder = folder
        self._cache_dir = cache_dir
        self._lock = threading.Lock()
        self._model: Any = None
        self._dimensions = 0
        self._identity: str | None = None

    @property
    def identity(self) -> str:
        """``fastembed:<model>@<16 digits of the SHA-256 of its files>``; without the digits while it cannot be loaded."""
        if self._identity is None:
            try:
                self._loaded()
            except EmbedderUnavailable:
                return f"fastembed:{self._name}"
        return self._identity or f"fastembed:{self._name}"

    @property
    def dimensions(self) -> int:
        """The length of a vector.

        Raises:
            EmbedderUnavailable: the model cannot be loaded.
        """
        self._loaded()
        return self._dimensions

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return (texts, dimensions) float32 unit rows.

        The texts are run sorted by length, because a batch is padded to its longest: about twice the throughput.

        Raises:
            EmbedderUnavailable: the model cannot be loaded or run.
        """
        model = self._loaded()
        rows = np.zeros((len(texts), self._dimensions), np.float32)
        order = sorted(range(len(texts)), key=lambda at: len(texts[at]))
        try:
            found = model.embed([texts[at] for at in order], batch_size=BATCH_SIZE)
            for at, vector in zip(order, found, strict=True):
                rows[at] = vector
        except Exception as error:  # onnxruntime raises classes of its own that share no base
            raise EmbedderUnavailable(f"the model {self._name} failed to run ({type(error).__name__})") from error
        np.nan_to_num(rows, copy=False, nan=0, posinf=0, neginf=0)  # what a model cannot embed is like nothing
        lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
        rows /= np.where(lengths > 0, lengths, np.float32(1))[:, None]
        return rows

    def _loaded(self) -> Any:
        if self._model is None:
            with self._lock:
                if self._model is None:
                    self._load()
        return self._model

    def _load(self) -> None:
        if self._folder is not None and not self._folder.is_dir():
            raise EmbedderUnavailable(f"the folder of the embedding model {self._name} does not exist")
        try:
            from fastembed import TextEmbedding
            from loguru import logger
        except ImportError as error:
            raise EmbedderUnavailable("fastembed is not installed; install hybrid-memory-mcp with it") from error
        logger.disable("fastembed")  # it would print local paths; what went wrong is in our error
        failure: Exception = FileNotFoundError()
        for folder in self._folders():
            try:
                model = TextEmbedding(
                    self._name if self._folder is None else _name_for_folder(self._name, self._folder),
                    cache_dir=str(folder),
                    threads=1,
                    local_files_only=True,
                    specific_model_path=str(self._folder) if self._folder else None,
                )
                self._dimensions = len(next(iter(model.embed(["size"]))))
                self._identity = f"fastembed:{self._name}@{_digest(model)}"
            except Exception as error:  # noqa: BLE001 - loaders, tokenizers and onnxruntime raise many unrelated classes
                failure = error
            else:
                self._model = model
                return
        raise EmbedderUnavailable(
            f"the embedding model {self._name} is not on this machine or cannot be loaded ({type(failure).__name__}); "
            "download it by the command line, or name a folder that holds it"
        ) from failure

    def _folders(self) -> tuple[Path, ...]:
        """Return the caches to look into; those that are not there are not made."""
        if self._folder is not None:
            return (self._folder,)
        if self._cache_dir is not None:
            return (self._cache_dir,)
        return tuple(place for place in model_folders() if place.is_dir())


def find_cached(source: str, file: str) -> Path | None:
    """Return a file of a repository on the hub if it is in one of the `model_folders`."""
    from huggingface_hub import try_to_load_from_cache

    for folder in model_folders():
        found = try_to_load_from_cache(source, file, cache_dir=folder)
        if isinstance(found, str):
            return Path(found)
    return None


def _name_for_folder(name: str, folder: Path) -> str:
    """Return the name under which fastembed knows how to run a folder's model; one it does not know is described to it.

    Descriptions are kept for the life of the process and cannot be replaced, so ours are named for their folder.
    """
    from fastembed import TextEmbedding
    from fastembed.common.model_description import ModelSource, PoolingType

    known = {model["model"].lower() for model in TextEmbedding.list_supported_models()}
    if name.lower() in known:
        return name
    described_name = f"{name}@{hashlib.sha256(str(folder).encode()).hexdigest()[:16]}"
    if described_name.lower() not in known:
        TextEmbedding.add_custom_model(
            model=described_name,
            pooling=PoolingType.CLS if _pooling(folder) == _CLS else PoolingType.MEAN,
            normalization=True,
            sources=ModelSource(hf=described_name),
            dim=_UNUSED_DIMENSIONS,
            model_file=_MODEL_FILE if (folder / _MODEL_FILE).exists() else f"onnx/{_MODEL_FILE}",
        )
    return described_name


def is_folder_description(name: str) -> bool:
    """Return True if a name that fastembed lists is one of ours for a folder."""
    return "@" in name


def _pooling(folder: Path) -> str:
    for described in (folder / "1_Pooling" / "config.json", folder / "config.json"):
        if described.exists():
            config = json.loads(described.read_text(encoding="utf-8"))
            if "pooling_mode_cls_token" in config:
                return _CLS if config["pooling_mode_cls_token"] else _MEAN
    return _MEAN


def _digest(model: Any) -> str:
    """Return 16 hex digits of the SHA-256 of the files that decide the vectors, which stand where fastembed keeps them."""
    inner = model.model
    folder, graph = Path(inner._model_dir), inner.model_description.model_file  # noqa: SLF001 - no public way
    digest = hashlib.sha256()
    for name in (graph, f"{graph}_data", "tokenizer.json", "1_Pooling/config.json"):
        if (folder / name).is_file():
            with (folder / name).open("rb") as file:
                while block := file.read(1 << 20):
                    digest.update(block)
    return digest.hexdigest()[:16]
