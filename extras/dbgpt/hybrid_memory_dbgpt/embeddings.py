"""`TextEmbedder`: one way to embed with either kind of embedder, the project's own or that of LangChain and DB-GPT."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from hybrid_memory.embedding.embedder import Embedder


@runtime_checkable
class DocumentEmbeddings(Protocol):
    """The embedding interface that LangChain and DB-GPT share."""

    def embed_documents(self, texts: list[str]) -> Sequence[Sequence[float]]:
        """Return a vector for each text."""
        ...

    def embed_query(self, text: str) -> Sequence[float]:
        """Return the vector of a question."""
        ...


Embeddings: TypeAlias = Embedder | DocumentEmbeddings


class TextEmbedder:
    """Gives vectors as the source made them (`raw`), and unit float32 vectors for the store (`unit_rows`).

    The identity of a source that has none is its class's name, so vectors of two models behind one class count as alike;
    give such a source an ``identity`` attribute.
    """

    def __init__(self, source: Embeddings) -> None:
        self._source = source

    @property
    def identity(self) -> str:
        """Name of the source of the vectors."""
        named = getattr(self._source, "identity", None)
        kind = type(self._source)
        return named if isinstance(named, str) else f"{kind.__module__}.{kind.__qualname__}"

    def raw(self, texts: Sequence[str]) -> NDArray[np.floating[Any]]:
        """Return one row for each text, in the source's own lengths and precision."""
        if isinstance(self._source, DocumentEmbeddings):
            return np.asarray(self._source.embed_documents(list(texts)), np.float64)
        return self._source.embed(texts)

    def query(self, text: str) -> NDArray[np.float32]:
        """Return the unit vector of a question."""
        if isinstance(self._source, DocumentEmbeddings):
            rows = unit_rows(np.asarray([self._source.embed_query(text)], np.float64))
        else:
            rows = unit_rows(self._source.embed([text]))
        first: NDArray[np.float32] = rows[0]
        return first


def unit_rows(rows: NDArray[np.floating[Any]]) -> NDArray[np.float32]:
    """Return the rows at length 1 as float32; a row without length or with a value that is not finite becomes zeros."""
    wide = np.nan_to_num(rows.astype(np.float64), nan=0.0, posinf=0.0, neginf=0.0)
    lengths = np.linalg.norm(wide, axis=1, keepdims=True)
    unit: NDArray[np.float32] = np.divide(wide, lengths, out=np.zeros_like(wide), where=lengths > 0).astype(np.float32)
    return unit


def cosines(rows: Sequence[NDArray[np.floating[Any]]], one: NDArray[np.floating[Any]]) -> list[float]:
    """Return the cosine of ``one`` with each row; not-a-number where either has no length."""
    if not rows:
        return []
    matrix = np.asarray(rows, np.float64)
    vector = np.asarray(one, np.float64)
    lengths = np.linalg.norm(matrix, axis=1) * float(np.linalg.norm(vector))
    found = np.divide(matrix @ vector, lengths, out=np.full(len(rows), np.nan), where=lengths > 0)
    return [float(value) for value in found]
