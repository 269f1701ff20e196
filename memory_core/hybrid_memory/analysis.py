"""What is computed from a text before it meets the store: its digest, its terms and its vector."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING

from hybrid_memory.errors import EmbedderUnavailable
from hybrid_memory.model import Analysis, Memory
from hybrid_memory.store.interface import Attach
from hybrid_memory.text import content_hash, dense_text, lexical_text, terms

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from hybrid_memory.embedding.interface import Embedder
    from hybrid_memory.store.interface import Store


class Analyst:
    """Analyses texts with the embedder that the store is pinned to; without it, by words alone."""

    def __init__(self, store: Store, embedder: Embedder) -> None:
        self._store = store
        self._embedder = embedder
        self._accepted: bool | None = None

    @property
    def identity(self) -> str:
        """The embedder's identity."""
        return self._embedder.identity

    @property
    def degraded(self) -> bool:
        """Whether a text could lately not be given a vector."""
        return self._accepted is False

    def dimensions(self) -> int | None:
        """Return the length of the store's vectors; None when there is no model."""
        pinned = self._store.info().dimensions
        if pinned is not None:
            return pinned
        try:
            return self._embedder.dimensions
        except EmbedderUnavailable:
            return None

    def late_vectors(self, memories: Iterable[Memory]) -> tuple[Attach, ...]:
        """Return the vectors of memories that were stored without one; none while the model is missing."""
        found = (
            (memory.id, self.vector(dense_text(_said(memory.content, memory.key), memory.speaker)))
            for memory in memories
        )
        return tuple(Attach(memory_id, vector) for memory_id, vector in found if vector is not None)

    def analyse(self, content: str, speaker: str | None, when: datetime, key: str | None = None) -> Analysis:
        """Analyse a statement by a speaker about a time; a working memory is found by its ``key`` as well."""
        said = _said(content, key)
        return Analysis(
            content_hash(content),
            terms(lexical_text(said, speaker, when)),
            self.vector(dense_text(said, speaker)),
        )

    def question(self, text: str) -> NDArray[np.float32] | None:
        """Return the unit vector of a question; None also where nothing has a vector yet, so that asking stores nothing."""
        if not self._accepted and self._store.info().embedder is None:
            return None
        return self.vector(text)

    def warm(self) -> None:
        """Load the model, if it is there."""
        with suppress(EmbedderUnavailable):
            self._embedder.embed(["warm"])

    def vector(self, text: str) -> NDArray[np.float32] | None:
        """Return the unit vector of a text; None when the model is missing or is not the one of the store."""
        try:
            if not self._accepted:
                self._accepted = self._store.pin_embedder(self._embedder.identity, self._embedder.dimensions)
            return self._embedder.embed([text])[0] if self._accepted else None
        except EmbedderUnavailable:
            self._accepted = False
            return None


def _said(content: str, key: str | None) -> str:
    return f"{key}: {content}" if key else content
