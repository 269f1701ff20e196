"""Recall by likeness, recency and importance.

Both retrievers follow DB-GPT's: recency is ``(1 - decay_rate) ** hours`` since the last access (0.99 to the power of the
hours by default, a half-life of 69 hours), the score is the sum of the terms, and the best ``k`` are the answer. The idea
is that of Generative Agents (Park et al., 2023, https://arxiv.org/abs/2304.03442, section 4.1).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from hybrid_memory.clock import Clock, SystemClock
from hybrid_memory.model import Json, MemoryId
from hybrid_memory_dbgpt.async_tools import to_utc
from hybrid_memory_dbgpt.vector_store import Document, FoundColumns, VectorStore, number_of

_SECONDS_PER_HOUR = 3600
_MARKERS = re.compile(r"\[FORGET\]|\[MERGE\]")


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallRules:
    """Settings of long-term recall.

    ``fetch`` limits how many of the most alike are scored; None scores all whose cosine reaches ``score_threshold``.
    ``refresh`` keeps the time of a recall, so that recalled memories stay fresh.
    """

    k: int = 4
    fetch: int | None = None
    decay_rate: float = 0.01
    score_threshold: float = 0.0
    refresh: bool = True


@dataclass(frozen=True, slots=True)
class Weights:
    """Factors of recency (``alpha``), relevance (``beta``) and importance (``gamma``)."""

    alpha: float = 1.0
    beta: float = 1.0
    gamma: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked:
    """A candidate with the terms of its score. ``skipped`` ones are never part of an answer."""

    document: Document
    relevance: float
    recency: float
    importance: float
    score: float
    skipped: bool = False


@runtime_checkable
class TouchableStore(Protocol):
    """A vector store that can keep when its documents were recalled."""

    def touch(self, ids: Sequence[MemoryId], moment: datetime) -> None:
        """Note that documents were recalled at a moment."""
        ...


@runtime_checkable
class VectorLookup(Protocol):
    """A vector store that can give the vectors of its documents."""

    def vectors(self, ids: Iterable[MemoryId]) -> Mapping[MemoryId, NDArray[np.float32]]:
        """Return the stored vectors, by id."""
        ...


@runtime_checkable
class ColumnSearch(Protocol):
    """A vector store that can give what a search found as columns, without a document for each."""

    def search_columns(
        self, text: str, topk: int | None, score_threshold: float, filters: Mapping[str, Json]
    ) -> FoundColumns:
        """Do what `VectorStore.similar_search_with_scores` does."""
        ...


class StreamStorage(Protocol):
    """Keeps a stream of documents outside the vector store."""

    def load(self) -> list[Document]:
        """Return the stream as it was saved last."""
        ...

    def save(self, stream: Sequence[Document]) -> None:
        """Keep the whole stream."""
        ...


def recency(accessed_at: NDArray[np.float64], now: datetime, decay_rate: float) -> NDArray[np.float64]:
    """Return ``(1 - decay_rate) ** hours`` for times in seconds since 1970, 0 where the time is unknown (not-a-number).

    An access in the future counts as one of this moment, that is 1.
    """
    hours = np.maximum(0.0, (now.timestamp() - accessed_at) / _SECONDS_PER_HOUR)
    # The power is Python's: numpy's may differ in the last bit from one place of an array to another, which breaks ties.
    powers = np.array([float((1 - decay_rate) ** one) for one in hours.tolist()], np.float64)
    return np.where(np.isnan(accessed_at), 0.0, powers)


class TimeWeightedEmbeddingRetriever:
    """Combines likeness with recency. Blocking; call it from a worker thread.

    With ``external_storage`` it keeps all documents in a stream there, and the last ``k`` of them are candidates alongside
    the ``top_k`` most alike; recalled documents get a new time of access in the stream. Without it, times are kept in
    the vector store's metadata.
    """

    def __init__(
        self,
        index_store: VectorStore,
        *,
        decay_rate: float = 0.01,
        top_k: int = 100,
        k: int = 4,
        other_score_keys: Sequence[str] = (),
        default_salience: float | None = None,
        external_storage: StreamStorage | None = None,
        clock: Clock | None = None,
    ) -> None:
        self._store = index_store
        self._decay_rate = decay_rate
        self._top_k = top_k
        self._k = k
        self._other_score_keys = tuple(other_score_keys)
        self._default_salience = default_salience
        self._storage = external_storage
        self._clock: Clock = clock or SystemClock()
        self.memory_stream: list[Document] = external_storage.load() if external_storage else []
        self._loaded = len(self.memory_stream)

    @property
    def vector_store(self) -> VectorStore:
        """Where the documents are."""
        return self._store

    def load_document(self, documents: Sequence[Document], current_time: datetime | None = None) -> list[MemoryId]:
        """Store documents and return their ids; what has no time yet gets ``current_time`` (now by default)."""
        now = self._clock.now() if current_time is None else to_utc(current_time)
        prepared = [self._prepared(document, at, now) for at, document in enumerate(documents)]
        ids = self._store.load_document(prepared)
        self._loaded += len(prepared)
        if self._storage:
            self.memory_stream += [replace(one, id=given) for one, given in zip(prepared, ids, strict=True)]
            self._storage.save(self.memory_stream)
        return ids

    def retrieve(
        self, query: str, now: datetime | None = None, filters: Mapping[str, Json] | None = None
    ) -> list[Document]:
        """Return the ``k`` best documents, best first, each with its new time of access."""
        moment = self._clock.now() if now is None else to_utc(now)
        found = self._store.similar_search_with_scores(query, self._top_k, 0, filters or {})
        if self._storage is None:
            best = self._best([(one, one.score or 0.0) for one in found], moment)
            answer = [replace(one, last_accessed_at=moment) for one in best]
            if isinstance(self._store, TouchableStore):
                self._store.touch([one.id for one in answer if one.id is not None], moment)
            return answer
        relevant = {one.id: one.score or 0.0 for one in found}
        recent = self.memory_stream[-self._k :]
        candidates = recent + [one for one in self.memory_stream[: -self._k or None] if one.id in relevant]
        best = self._best([(one, relevant.get(one.id, self._default_salience or 0.0)) for one in candidates], moment)
        for one in best:
            one.last_accessed_at = moment
        self._storage.save(self.memory_stream)
        return [replace(one) for one in best]

    def _prepared(self, document: Document, offset: int, now: datetime) -> Document:
        accessed = to_utc(document.last_accessed_at) if document.last_accessed_at else now
        created = to_utc(document.created_at) if document.created_at else now
        metadata = {
            **document.metadata,
            "buffer_idx": self._loaded + offset,
            "last_accessed_at": accessed.timestamp(),
            "created_at": created.timestamp(),
        }
        return replace(document, metadata=metadata, last_accessed_at=accessed, created_at=created)

    def _best(self, candidates: Sequence[tuple[Document, float]], now: datetime) -> list[Document]:
        documents = [document for document, _ in candidates]
        fresh = recency(FoundColumns.of_documents(documents).accessed_at, now, self._decay_rate)
        others = [sum(number_of(one.metadata.get(key), 0.0) for key in self._other_score_keys) for one in documents]
        scores = fresh + np.array([relevance for _, relevance in candidates]) + np.array(others)
        return [documents[at] for at in np.argsort(-scores, kind="stable")[: self._k].tolist()]


class LongTermRetriever:
    """Ranks long-term memories: ``alpha`` x recency + ``beta`` x cosine + ``gamma`` x importance. Blocking.

    Importance counts as it was stored, without scaling. Documents without a time of access count by cosine alone.
    Texts that hold the markers [FORGET] or [MERGE] are ranked but never returned. An empty query has no cosine: the
    fresh and important come first.
    """

    def __init__(self, vector_store: VectorStore, rules: RecallRules) -> None:
        self._store = vector_store
        self._rules = rules

    @property
    def vector_store(self) -> VectorStore:
        """Where the documents are."""
        return self._store

    @property
    def rules(self) -> RecallRules:
        """The settings."""
        return self._rules

    def rank(self, query: str, filters: Mapping[str, Json], now: datetime, weights: Weights) -> list[Ranked]:
        """Return every candidate with its score, best first; equals keep the order of their cosine."""
        return list(self._best_first(query, filters, now, weights))

    def retrieve(self, query: str, filters: Mapping[str, Json], now: datetime, weights: Weights) -> list[Document]:
        """Return the ``k`` best documents, best first, and note their recall where the store can keep that."""
        ranked = self._best_first(query, filters, now, weights)
        best = list(islice((one.document for one in ranked if not one.skipped), self._rules.k))
        ids = [one.id for one in best if one.id is not None]
        if self._rules.refresh and isinstance(self._store, TouchableStore):
            self._store.touch(ids, now)
        # Only what is returned gets its vector: looking all candidates' up takes as long as ranking them.
        vectors = self._store.vectors(ids) if isinstance(self._store, VectorLookup) else {}
        return [
            replace(one, last_accessed_at=now, vector=vectors.get(one.id, one.vector) if one.id else one.vector)
            for one in best
        ]

    def _best_first(self, query: str, filters: Mapping[str, Json], now: datetime, weights: Weights) -> Iterator[Ranked]:
        """Score all candidates at once, then make the document of one after another, the best first."""
        rules, store = self._rules, self._store
        if isinstance(store, ColumnSearch):
            found = store.search_columns(query, rules.fetch, rules.score_threshold, filters)
        else:
            found = FoundColumns.of_documents(
                store.similar_search_with_scores(query, rules.fetch, rules.score_threshold, filters)
            )
        fresh = recency(found.accessed_at, now, rules.decay_rate)
        importances = np.where(np.isnan(found.accessed_at), 0.0, found.importances)
        scores = weights.alpha * fresh + weights.beta * found.cosines + weights.gamma * importances
        for at in np.argsort(-scores, kind="stable").tolist():
            document = found.document(at)
            yield Ranked(
                document=document,
                relevance=float(found.cosines[at]),
                recency=float(fresh[at]),
                importance=float(importances[at]),
                score=float(scores[at]),
                skipped=_MARKERS.search(document.content) is not None,
            )
