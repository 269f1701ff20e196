"""Where long-term memory is kept: the interface that the retrievers use, and its form over the project's own store."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, Self

from hybrid_memory.clock import Clock, RandomSource, SystemClock, SystemRandomSource, from_micros
from hybrid_memory.encoding.word_encoding import with_encoded_words
from hybrid_memory.errors import InvalidInput, NotFound
from hybrid_memory.ids import new_id
from hybrid_memory.language.text import content_hash
from hybrid_memory.model import Json, Kind, Memory, MemoryId, MemoryType, Origin, Tier
from hybrid_memory.requests import Where
from hybrid_memory.store.base import Store
from hybrid_memory.store.snapshots import NO_TIME
from hybrid_memory.store.writing import BufferState, Insert, RecordUse, SetTier, Update, WriteBatch, WriteView
from hybrid_memory_dbgpt.embeddings import Embeddings, TextEmbedder, unit_rows
from hybrid_memory_dbgpt.shared_stores import close_store, open_store, with_index

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from hybrid_memory.language.terms import TermHasher

_ACTOR = "agent"
_NAME = "agent_memory"
_UNRATED = 0.5
_MICROSECONDS_A_SECOND = 1_000_000


@dataclass(slots=True, kw_only=True)
class Document:
    """A text in long-term memory. ``metadata`` holds JSON values; ``score`` is the cosine of the search it came from."""

    content: str
    metadata: dict[str, Json] = field(default_factory=dict)
    id: MemoryId | None = None
    score: float | None = None
    vector: NDArray[np.floating[Any]] | None = None
    last_accessed_at: datetime | None = None
    created_at: datetime | None = None
    is_insight: bool = False
    parents: tuple[MemoryId, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class BufferWrite:
    """What a step of the buffers leaves behind: new rows with their tiers, moves between tiers, and the buffers themselves."""

    session: str
    agent: str
    rows: tuple[tuple[Document, Tier], ...] = ()
    moves: tuple[SetTier, ...] = ()
    state: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FoundColumns:
    """What a search found, as columns of one length, the most alike first; ``document`` makes the document of a place.

    ``accessed_at`` is when a document was recalled or, before its first recall, written last: seconds since 1970, not-a-number
    where that is unknown. ``importances`` are those of the metadata, 0 where there is none.
    """

    cosines: NDArray[np.float64]
    accessed_at: NDArray[np.float64]
    importances: NDArray[np.float64]
    document: Callable[[int], Document]

    @classmethod
    def of_documents(cls, documents: Sequence[Document]) -> Self:
        """Return documents that a search found as columns."""
        import numpy as np

        accessed = [
            number_of(one.metadata.get("last_accessed_at"), math.nan)
            if one.last_accessed_at is None
            else one.last_accessed_at.timestamp()
            for one in documents
        ]
        return cls(
            cosines=np.array([one.score or 0.0 for one in documents], np.float64),
            accessed_at=np.array(accessed, np.float64),
            importances=np.array([number_of(one.metadata.get("importance"), 0.0) for one in documents], np.float64),
            document=documents.__getitem__,
        )


class VectorStore(Protocol):
    """Keeps texts and finds them by likeness. Blocking; called from worker threads."""

    def load_document(self, documents: Sequence[Document]) -> list[MemoryId]:
        """Store documents durably and return their ids. Raises if one cannot be stored."""
        ...

    def similar_search_with_scores(
        self, text: str, topk: int | None, score_threshold: float, filters: Mapping[str, Json]
    ) -> list[Document]:
        """Return at most ``topk`` documents whose cosine reaches the threshold, most alike first.

        Every entry of ``filters`` must equal the document's metadata. An empty text asks for all, at score 0.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class DuckDBVectorConfig:
    """Where a `DuckDBVectorStore` keeps its memories: a folder, and a name within it that is a wall of its own.

    ``embedding_fn`` None is the built-in embedder. What ``vector_store_config`` says counts where this one says nothing,
    as in an older form of DB-GPT's configuration.
    """

    name: str | None = None
    persist_path: str | Path | None = None
    embedding_fn: Embeddings | None = None
    vector_store_config: DuckDBVectorConfig | None = None


class DuckDBVectorStore:
    """Long-term memory over a `Store`: real rows, exact cosine search in float32, filters by equality of metadata.

    ``name`` and ``embedding_fn`` count before those of the configuration. Without ``store``, ``persist_path`` names the
    folder of a DuckDB file that is opened, once for all objects of this process that name it, and closed when the last of
    them calls `close`; without both, memories live as long as the object. Only rows of the long-term tier are found; what
    the buffers of a `HybridMemory` hold or dropped is kept alongside them (`commit`). Safe to call from several threads.

    Raises:
        StoreError: the folder cannot be used, or another process has the store open.
    """

    def __init__(
        self,
        vector_store_config: DuckDBVectorConfig | None = None,
        name: str | None = None,
        embedding_fn: Embeddings | None = None,
        *,
        store: Store | None = None,
        clock: Clock | None = None,
        random_source: RandomSource | None = None,
    ) -> None:
        given = vector_store_config or DuckDBVectorConfig()
        inner = given.vector_store_config or DuckDBVectorConfig()
        self._name = name or given.name or inner.name or _NAME
        self._clock: Clock = clock or SystemClock()
        self._random_source: RandomSource = random_source or SystemRandomSource()
        path = given.persist_path or inner.persist_path
        self._shared = open_store(Path(path), self._clock) if store is None and path is not None else None
        opened = self._shared or with_index(store or _store_in_memory(self._clock))
        self._store, self._index_cache = opened.store, opened.index_cache
        self._embeddings: Embeddings = embedding_fn or given.embedding_fn or inner.embedding_fn or _static_embedder()
        self._embedder = TextEmbedder(self._embeddings)

    @property
    def name(self) -> str:
        """The name of the collection, which is its namespace in the store."""
        return self._name

    @property
    def store(self) -> Store:
        """The store behind."""
        return self._store

    @property
    def embedder_identity(self) -> str:
        """Name of what makes the vectors."""
        return self._embedder.identity

    @property
    def embeddings(self) -> Embeddings:
        """What makes the vectors."""
        return self._embeddings

    def close(self) -> None:
        """Let the folder go if this object named one; calling it again does nothing."""
        shared, self._shared = self._shared, None
        if shared is not None:
            close_store(shared)

    def load_document(self, documents: Sequence[Document]) -> list[MemoryId]:
        """Store documents durably and return their ids."""
        return self.commit(documents, None)

    def commit(self, documents: Sequence[Document], buffers: BufferWrite | None) -> list[MemoryId]:
        """Store documents and what a step of the buffers leaves behind, together or not at all; return the ids.

        Raises:
            InvalidInput: the store holds vectors of another embedder.
            StoreError: nothing was stored.
        """
        now = self._clock.now()
        session, agent = (buffers.session, buffers.agent) if buffers else ("default", "default")
        rows = buffers.rows if buffers else ()
        row_of = partial(_row_of, self._store.hasher)
        moves = buffers.moves if buffers else ()
        named = self._with_own_ids(documents, {one.id for one, _ in rows if one.id is not None}, now)
        texts = [one.content for one in named if one.vector is None]
        made = iter(self._embedder.raw(texts) if texts else ())
        vectors = self._checked([next(made) if one.vector is None else one.vector for one in named])
        lasting = [
            Insert(row_of(one, Tier.LONG_TERM, self.name, session, agent, now), vector)
            for one, vector in zip(named, vectors, strict=True)
        ]
        given = iter(self._checked([one.vector for one, _ in rows if one.vector is not None]))
        held = [
            Insert(row_of(one, tier, self.name, session, agent, now), None if one.vector is None else next(given))
            for one, tier in rows
        ]

        def decide(view: WriteView) -> WriteBatch:
            there = view.get([move.id for move in moves] + [row.memory.id for row in held])
            again = [SetTier(row.memory.id, row.memory.tier) for row in held if row.memory.id in there]
            return WriteBatch(
                action="remember" if lasting else "buffer",
                actor=_ACTOR,
                inserts=(*lasting, *(row for row in held if row.memory.id not in there)),
                tier_changes=(*(move for move in moves if move.id in there), *again),
                buffers=(BufferState(session, agent, buffers.state, view.now),) if buffers else (),
            )

        self._store.write(self.name, None, decide)
        return [one.id for one in named if one.id is not None]

    def buffered(self, session: str, agent: str) -> str | None:
        """Return the state that the last `commit` of this session's agent stored; None if there is none."""
        found = self._store.buffer(self.name, session, agent)
        return found.state if found else None

    def rows(self, ids: Iterable[MemoryId]) -> dict[MemoryId, Memory]:
        """Return the stored rows of any tier, by id."""
        return self._store.get(self.name, ids)

    def vectors(self, ids: Iterable[MemoryId]) -> dict[MemoryId, NDArray[np.float32]]:
        """Return the stored vectors, by id."""
        return self._index_cache.get(self.name).vectors_of(list(ids))

    def similar_search_with_scores(
        self, text: str, topk: int | None, score_threshold: float, filters: Mapping[str, Json]
    ) -> list[Document]:
        """Return at most ``topk`` (None: all) documents whose cosine reaches the threshold, most alike first, without vectors."""
        found = self.search_columns(text, topk, score_threshold, filters)
        return [found.document(at) for at in range(len(found.cosines))]

    def search_columns(
        self, text: str, topk: int | None, score_threshold: float, filters: Mapping[str, Json]
    ) -> FoundColumns:
        """Do what `similar_search_with_scores` does, and make documents only of those that are asked for."""
        import numpy as np

        query = self._embedder.query(text) if text.strip() else None
        index = self._index_cache.get(self.name)
        where = Where(memory_type=MemoryType.LONG_TERM, metadata=filters)
        scan = index.scan(query, where, self._clock.now())
        cosines = scan.cosines.astype(np.float64)
        rows = np.flatnonzero(cosines >= score_threshold)[:topk]
        by_id = index.memories([scan.ids[row] for row in rows.tolist()], partial(self._store.get, self.name))
        if len(by_id) < len(rows):  # some were purged since the scan
            rows = rows[[scan.ids[row] in by_id for row in rows.tolist()]]
        memories, cosines, recalled_at = list(by_id.values()), cosines[rows], scan.accessed_at[rows]
        written_at = [number_of(one.metadata.get("last_accessed_at"), math.nan) for one in memories]

        def document(at: int) -> Document:
            recalled = int(recalled_at[at])
            return _document_of(
                memories[at], float(cosines[at]), None if recalled == NO_TIME else from_micros(recalled)
            )

        return FoundColumns(
            cosines=cosines,
            accessed_at=np.where(recalled_at == NO_TIME, written_at, recalled_at / _MICROSECONDS_A_SECOND),
            importances=np.array([number_of(one.metadata.get("importance"), 0.0) for one in memories], np.float64),
            document=document,
        )

    def touch(self, ids: Sequence[MemoryId], moment: datetime) -> None:
        """Note that memories were recalled at a moment."""
        recalls = [RecordUse(one, moment) for one in ids]
        self._store.touch(self.name, recalls)
        self._index_cache.get(self.name).record_uses(recalls)

    def forget(self, ids: Sequence[MemoryId]) -> None:
        """Take memories out of every search; their rows stay, so that this can be undone.

        Raises:
            NotFound: one of them does not exist here.
        """

        def decide(view: WriteView) -> WriteBatch:
            rows = view.get(ids)
            if len(rows) != len(set(ids)):
                raise NotFound("no such memory here; search again")
            patches = tuple(Update(replace(rows[one], forgotten_at=view.now)) for one in dict.fromkeys(ids))
            return WriteBatch(action="forget", actor=_ACTOR, updates=patches)

        self._store.write(self.name, None, decide)

    def count(self, filters: Mapping[str, Json] | None = None) -> int:
        """Return how many long-term memories there are, those that equal the filters."""
        return len(self.documents(filters))

    def documents(self, filters: Mapping[str, Json] | None = None) -> list[Document]:
        """Return the long-term memories that equal the filters, newest first."""
        return self.similar_search_with_scores("", None, 0.0, filters or {})

    def _with_own_ids(self, documents: Sequence[Document], taken: set[MemoryId], now: datetime) -> list[Document]:
        """Give every document an id of its own; one whose id is taken, here or in the store, becomes a child of that row."""
        taken = taken | set(self._store.get(self.name, [one.id for one in documents if one.id is not None]))
        named: list[Document] = []
        for one in documents:
            if one.id is None:
                named.append(replace(one, id=new_id(now, self._random_source)))
            elif one.id in taken:
                named.append(replace(one, id=new_id(now, self._random_source), parents=(*one.parents, one.id)))
            else:
                named.append(one)
                taken.add(one.id)
        return named

    def _checked(self, vectors: Sequence[NDArray[np.floating[Any]]]) -> list[NDArray[np.float32] | None]:
        """Return unit vectors, None for those without length, of an embedder that the store accepts."""
        if not vectors:
            return []
        import numpy as np

        rows = unit_rows(np.asarray(vectors))
        if not self._store.pin_embedder(self._embedder.identity, rows.shape[1]):
            raise InvalidInput(
                "embeddings", "this store holds vectors of another embedder; open it with that one, or name a new store"
            )
        return [row if row.any() else None for row in rows]


ChromaVectorConfig = DuckDBVectorConfig
"""DB-GPT's name for such a configuration; the store behind is DuckDB's all the same."""
ChromaStore = DuckDBVectorStore
"""DB-GPT's name for such a store."""


def number_of(value: Json, otherwise: float) -> float:
    """Return a JSON number as float; ``otherwise`` for everything else."""
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else otherwise


def _store_in_memory(clock: Clock) -> Store:
    from hybrid_memory.store.memory.store import MemoryStore

    return MemoryStore(clock)


def _static_embedder() -> Embeddings:
    from hybrid_memory.embedding.static import StaticEmbedder

    return StaticEmbedder()


def _share(importance: Json) -> float:
    """Bring an importance of any scale into 0..1; the value itself stays in the metadata."""
    if isinstance(importance, int | float):
        return min(max(float(importance), 0.0), 1.0)
    return _UNRATED


def _row_of(
    hasher: TermHasher, document: Document, tier: Tier, namespace: str, session: str, agent: str, now: datetime
) -> Memory:
    stored_session = document.metadata.get("session_id")
    row = Memory(
        id=MemoryId(document.id or ""),
        namespace=namespace,
        session=stored_session if isinstance(stored_session, str) else session,
        agent=agent,
        content=document.content,
        kind=Kind.INSIGHT if document.is_insight else Kind.OBSERVATION,
        tier=tier,
        importance=_share(document.metadata.get("importance")),
        created_at=document.created_at or now,
        content_hash=content_hash(document.content),
        metadata=document.metadata,
        origin=Origin.DERIVED if document.parents else Origin.AGENT,
        parents=document.parents,
    )
    return with_encoded_words(row, hasher)


def _document_of(memory: Memory, cosine: float, recalled_at: datetime | None) -> Document:
    return Document(
        content=memory.content,
        metadata=dict(memory.metadata),
        id=memory.id,
        score=cosine,
        last_accessed_at=recalled_at,
        created_at=memory.created_at,
        is_insight=memory.kind is Kind.INSIGHT,
        parents=memory.parents,
    )
