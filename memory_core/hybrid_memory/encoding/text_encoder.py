"""Encoding of texts before the store sees them: content hash, terms with names and days, vector.

`MemoryService` encodes every statement and question here. The encoder follows the store's embedder: it uses the one that
made the stored vectors, and knows the one that the store is to change to.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING, TypeAlias

from hybrid_memory.embedding.background_embedder import BackgroundEmbedder
from hybrid_memory.embedding.passages import passages_of
from hybrid_memory.embedding.registry import is_multilingual
from hybrid_memory.encoding.word_encoding import encode_words, searchable_text
from hybrid_memory.errors import EmbedderUnavailable
from hybrid_memory.language.languages import language_of
from hybrid_memory.language.text import content_hash, dense_text
from hybrid_memory.model import EncodedText, Memory
from hybrid_memory.store.writing import SetVector

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from hybrid_memory.embedding.embedder import Embedder
    from hybrid_memory.store.base import Store
    from hybrid_memory.store.reprocessing import MemoryText

Embed: TypeAlias = "Callable[[Sequence[str]], NDArray[np.float32] | None]"
"""Returns the unit vectors of texts as rows, None while the model is not at hand."""

_NOT_HERE = "the store's vectors were made by another embedder, which is not on this machine"


class TextEncoder:
    """Encodes texts with the embedder that the store is pinned to; without it, by words alone.

    ``embedder`` is the one that the store shall have (the target). While the store's vectors are still of another one,
    ``previous`` is used, if it is that one.
    """

    def __init__(self, store: Store, embedder: Embedder, previous: Embedder | None = None) -> None:
        self._store = store
        self._target = embedder
        self._previous = previous
        self._active: Embedder | None = None
        self._problem: str | None = None

    @property
    def target(self) -> Embedder:
        """The embedder that the store shall have."""
        return self._target

    @property
    def problem(self) -> str | None:
        """Why a text could lately not be given a vector; None when it could."""
        return self._problem

    @property
    def identity(self) -> str | None:
        """What the embedder in use calls itself; None while there is none."""
        active = self._active
        return None if active is None else active.identity

    @property
    def multilingual(self) -> bool:
        """Whether the vectors in use know the words of many languages, not English alone."""
        return self._active is not None and is_multilingual(self._active.identity)

    def dimensions(self) -> int | None:
        """Return the length of the store's vectors; None when it has none yet."""
        pinned = self._store.embedder()
        return pinned[1] if pinned else None

    def vectors_for(self, memories: Iterable[Memory]) -> tuple[SetVector, ...]:
        """Return the vectors of memories that were stored without one; none while the model is missing."""
        waiting = list(memories)
        vectors = embedded(waiting, self.vectors)
        if vectors is None:
            return ()
        return tuple(SetVector(memory.id, *vector) for memory, vector in zip(waiting, vectors, strict=True))

    def encode(
        self, content: str, speaker: str | None, said_at: datetime | None, now: datetime, key: str | None = None
    ) -> EncodedText:
        """Encode a statement by a speaker, made ``now`` where no other time is known; a working memory is found by its ``key`` as well."""
        is_turn = speaker is not None and said_at is not None
        whole = dense_text(searchable_text(content, key), speaker)
        found = _embedded([_with_passages(whole, content, is_turn=is_turn)], self.vectors)
        return EncodedText(
            content_hash(content),
            encode_words(content, speaker, said_at or now, key, hasher=self._store.hasher),
            *((None, None) if found is None else found[0]),
        )

    def encode_query(self, text: str) -> NDArray[np.float32] | None:
        """Return the unit vector of a question; None also where nothing has a vector yet, so that asking stores nothing."""
        if self._active is None and self._store.embedder() is None:
            return None
        return self.vector(text)

    def load_model(self) -> None:
        """Load the model now, if it is there, instead of at the first text."""
        embedder = self._active or self._target
        with suppress(EmbedderUnavailable):
            if isinstance(embedder, BackgroundEmbedder):
                embedder.load_ahead()
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

    def terms(self, text: str) -> tuple[int, ...]:
        """Return the hashes of the terms of a text, as the store's statements hold them."""
        return self._store.hasher.terms(text, language_of(text))

    def active(self) -> Embedder | None:
        """Return the embedder whose vectors the store holds; None while it is not at hand. A new store gets the target."""
        if self._active is None:
            self._active = self._find_active()
        return self._active

    def pending_change(self) -> Embedder | None:
        """Return the target embedder if it is at hand and the store's vectors are another's."""
        if self._active is self._target:  # asked every second; the store need not be
            return None
        pinned = self._store.embedder()
        with suppress(EmbedderUnavailable):
            dimensions = self._target.dimensions
            if pinned not in (None, (self._target.identity, dimensions)):
                return self._target
        return None

    def switch_to(self, embedder: Embedder) -> None:
        """Go on with an embedder to which the store has changed."""
        self._target = self._active = embedder
        self._previous = self._problem = None

    def follow_store(self, make: Callable[[str], Embedder]) -> None:
        """Go on with the embedder that the store has by now, which another hub chose; ``make`` gives the one of an identity.

        It is the one that the store shall have: no hub undoes what another did. Where it is not on this machine search goes on by words.
        """
        pinned = self._store.embedder()
        known = [one for one in (self._target, self._previous) if one is not None]
        if pinned is not None and pinned[0] != self._target.identity:
            self._target = next((one for one in known if one.identity == pinned[0]), None) or make(pinned[0])
        self._active = self._previous = self._problem = None

    def _find_active(self) -> Embedder | None:
        pinned = self._store.embedder()
        candidates = [self._target] if pinned is None or self._previous is None else [self._target, self._previous]
        # One that is at hand comes before one whose model must be loaded first.
        candidates.sort(key=lambda embedder: isinstance(embedder, BackgroundEmbedder))
        problem: str | None = None
        for embedder in candidates:
            try:
                # In this order: an embedder knows its whole identity only when it is loaded, and the dimensions load it.
                dimensions = embedder.dimensions
                identity = embedder.identity
            except EmbedderUnavailable as error:
                problem = problem or str(error)
                continue
            if pinned is None and self._store.pin_embedder(identity, dimensions):
                self._problem = None
                return embedder
            if pinned == (identity, dimensions):
                self._problem = None
                return embedder
        self._problem = problem or _NOT_HERE
        return None


def embedded(
    memories: Sequence[Memory | MemoryText], embed: Embed
) -> list[tuple[NDArray[np.float32], bytes | None]] | None:
    """Return the vector of each memory with those of its passages as they are stored; None while the model is not at hand."""
    return _embedded([_with_passages(text_of(one), one.content, is_turn=one.is_turn) for one in memories], embed)


def text_of(memory: Memory | MemoryText) -> str:
    """Return the text whose vector a memory has."""
    return dense_text(searchable_text(memory.content, memory.key), memory.speaker)


def _with_passages(whole: str, content: str, *, is_turn: bool) -> list[str]:
    """Return the whole text and its passages; a turn of a conversation has none, however long it is."""
    return [whole] if is_turn else [whole, *passages_of(searchable_text(content, None))]


def _embedded(texts: Sequence[Sequence[str]], embed: Embed) -> list[tuple[NDArray[np.float32], bytes | None]] | None:
    rows = embed([text for one in texts for text in one]) if texts else None
    if rows is None:
        return None
    from hybrid_memory.embedding.passages import packed

    ends = [0, *itertools.accumulate(map(len, texts))]
    return [(rows[begin], packed(rows[begin + 1 : end])) for begin, end in itertools.pairwise(ends)]
