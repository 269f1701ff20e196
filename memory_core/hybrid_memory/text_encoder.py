"""What is computed from a text before it meets the store: its digest, its terms and its vector."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING

from hybrid_memory.embedding.background_embedder import BackgroundEmbedder
from hybrid_memory.errors import EmbedderUnavailable
from hybrid_memory.model import Analysis, Memory
from hybrid_memory.store.base import SetVector
from hybrid_memory.text import content_hash, dense_text, lexical_text, terms

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from hybrid_memory.embedding.embedder import Embedder
    from hybrid_memory.store.base import Store
    from hybrid_memory.store.embedder_change import MemoryText

_OTHER = "the store's vectors were made by another embedder, which is not on this machine"


class TextEncoder:
    """Analyses texts with the embedder that the store is pinned to; without it, by words alone.

    ``embedder`` is the wanted one. A store whose vectors are still of another one is served by ``former``, if that is it.
    """

    def __init__(self, store: Store, embedder: Embedder, former: Embedder | None = None) -> None:
        self._store = store
        self._wanted = embedder
        self._former = former
        self._active: Embedder | None = None
        self._problem: str | None = None

    @property
    def wanted(self) -> Embedder:
        """The embedder that the store shall have."""
        return self._wanted

    @property
    def problem(self) -> str | None:
        """Why a text could lately not be given a vector; None when it could."""
        return self._problem

    def dimensions(self) -> int | None:
        """Return the length of the store's vectors; None when it has none yet."""
        return self._store.info().dimensions

    def late_vectors(self, memories: Iterable[Memory]) -> tuple[SetVector, ...]:
        """Return the vectors of memories that were stored without one; none while the model is missing."""
        waiting = list(memories)
        vectors = self.vectors([text_of(memory) for memory in waiting]) if waiting else None
        if vectors is None:
            return ()
        return tuple(SetVector(memory.id, vector) for memory, vector in zip(waiting, vectors, strict=True))

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
        if self._active is None and self._store.info().embedder is None:
            return None
        return self.vector(text)

    def warm(self) -> None:
        """Load the model, if it is there."""
        embedder = self._active or self._wanted
        with suppress(EmbedderUnavailable):
            embedder.embed(["warm"])

    def vector(self, text: str) -> NDArray[np.float32] | None:
        """Return the unit vector of a text; None when the model is missing or is not the one of the store."""
        found = self.vectors([text])
        return None if found is None else found[0]

    def vectors(self, texts: Sequence[str]) -> NDArray[np.float32] | None:
        """Return the unit vectors of some texts as rows; None as in `vector`."""
        embedder = self.active()
        if embedder is None:
            return None
        try:
            return embedder.embed(texts)
        except EmbedderUnavailable as error:
            self._active, self._problem = None, str(error)
            return None

    def active(self) -> Embedder | None:
        """Return the embedder whose vectors the store holds; None while it is not at hand. A new store gets the wanted one."""
        if self._active is None:
            self._active = self._found()
        return self._active

    def wish(self) -> Embedder | None:
        """Return the wanted embedder if it is at hand and the store's vectors are another's."""
        info = self._store.info()
        with suppress(EmbedderUnavailable):
            dimensions = self._wanted.dimensions
            if info.embedder is not None and (info.embedder, info.dimensions) != (self._wanted.identity, dimensions):
                return self._wanted
        return None

    def use(self, embedder: Embedder) -> None:
        """Go on with an embedder to which the store has changed."""
        self._wanted = self._active = embedder
        self._former = self._problem = None

    def _found(self) -> Embedder | None:
        info = self._store.info()
        pinned = info.embedder
        known = [self._wanted] if pinned is None or self._former is None else [self._wanted, self._former]
        known.sort(key=lambda one: isinstance(one, BackgroundEmbedder))  # who need not be waited for comes first
        problem: str | None = None
        for one in known:
            try:
                own = (one.dimensions, one.identity)  # in this order, because a name is whole only when it is loaded
            except EmbedderUnavailable as error:
                problem = problem or str(error)
                continue
            if pinned is None and self._store.pin_embedder(own[1], own[0]):
                self._problem = None
                return one
            if (info.dimensions, pinned) == own:
                self._problem = None
                return one
        self._problem = problem or _OTHER
        return None


def text_of(memory: Memory | MemoryText) -> str:
    """Return the text whose vector a memory has."""
    return dense_text(_said(memory.content, memory.key), memory.speaker)


def _said(content: str, key: str | None) -> str:
    return f"{key}: {content}" if key else content
