"""Starts another project's server with a stand-in for its embedding model, which cannot be downloaded here.

    PEER/bin/python stand_in.py PACKAGE.MODULE:FUNCTION [ARGUMENTS]

Runs in the peer's own Python, with the standard library and numpy, which the peer has. Words and pairs of words are
hashed with signs into 384 numbers: about no cost, and no meaning, so its figures are those of server and store without inference.
"""

from __future__ import annotations

import importlib.abc
import importlib.util
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec
from itertools import pairwise
from types import ModuleType
from typing import Any

SIZE = 384


def vector(text: str) -> Any:
    """Return a unit vector of the words of a text."""
    import numpy as np

    words = text.lower().split()
    numbers = np.zeros(SIZE, dtype=np.float32)
    for part in [*words, *map(" ".join, pairwise(words))]:
        code = zlib.crc32(part.encode())
        numbers[code % SIZE] += 1.0 if code & 0x8000_0000 else -1.0
    return numbers / (float(np.linalg.norm(numbers)) or 1.0)


def _fastembed(module: ModuleType) -> None:
    def start(self: Any, model_name: str, **_rest: Any) -> None:
        self.model_name = model_name

    def embed(_self: Any, texts: Iterable[str], **_rest: Any) -> Iterator[Any]:
        return map(vector, texts)

    changed: dict[str, Any] = {"__init__": start, "passage_embed": embed, "query_embed": embed, "embed": embed}
    vars(module)["TextEmbedding"] = type("TextEmbedding", (module.TextEmbedding,), changed)


def _chroma(module: ModuleType) -> None:
    def _forward(_self: Any, documents: Sequence[str], batch_size: int = 32) -> Any:  # noqa: ARG001 - a foreign signature
        import numpy as np

        return np.array([vector(text) for text in documents])

    model = module.ONNXMiniLM_L6_V2
    model._download_model_if_not_exists = lambda _self: None  # noqa: SLF001 - what would ask the network
    model._forward = _forward  # noqa: SLF001 - the model itself


_CHANGES: dict[str, Callable[[ModuleType], None]] = {
    "fastembed": _fastembed,
    "chromadb.utils.embedding_functions.onnx_mini_lm_l6_v2": _chroma,
}


class _After(importlib.abc.MetaPathFinder):
    """Changes a module right after it was imported, so that what a peer imports late stays late."""

    def __init__(self) -> None:
        self._busy = False

    def find_spec(self, name: str, _path: Sequence[str] | None, _target: ModuleType | None = None) -> ModuleSpec | None:
        """Find what the others find, with one more step of execution."""
        if name not in _CHANGES or self._busy:
            return None
        self._busy = True
        spec = importlib.util.find_spec(name)
        self._busy = False
        if spec and spec.loader:
            loader: Any = spec.loader
            run = loader.exec_module

            def exec_module(module: ModuleType) -> None:
                run(module)
                _CHANGES[name](module)

            loader.exec_module = exec_module
        return spec


def main() -> None:
    """Start the function that the first argument names, with the arguments behind it."""
    place, _, function = sys.argv[1].partition(":")
    sys.argv = sys.argv[1:]
    sys.meta_path.insert(0, _After())
    getattr(import_module(place), function)()


if __name__ == "__main__":
    main()
