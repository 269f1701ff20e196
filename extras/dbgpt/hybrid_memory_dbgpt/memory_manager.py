"""`MemoryManager`: four types of memory behind two calls, over the same service as everything else.

Short-term memory is the window of one conversation. What the window lets go is kept: what earned it goes to long-term by
the rules of the tiers, the rest is summarised into an episodic memory that names its sources.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, Self

import anyio

from hybrid_memory.clock import SystemClock, SystemRandomSource
from hybrid_memory.errors import InvalidInput
from hybrid_memory.ids import new_session
from hybrid_memory.language.text import excerpt
from hybrid_memory.model import Json, Kind, Memory, MemoryId, MemoryType, Origin, Scope, Tier
from hybrid_memory.requests import ReadRequest, Where, WriteRequest, WriteResult
from hybrid_memory.settings import StoreSettings
from hybrid_memory.tiers.importance import heuristic_importance
from hybrid_memory_dbgpt.async_tools import run_blocking
from hybrid_memory_dbgpt.fragments import AgentMemoryFragment
from hybrid_memory_dbgpt.scoring import ImportanceScorer, rating_of

if TYPE_CHECKING:
    from hybrid_memory.clock import Clock, RandomSource
    from hybrid_memory.service.memory_service import MemoryService

_HIGHEST_RATING = 10.0  # of an `ImportanceScorer`
# Set by hand: a summary is a short read, and one long statement does not fill it.
_SUMMARY_CHARACTERS = 2000
_LINE_CHARACTERS = 240
_PAGE_MEMORIES = 100  # the most that one read returns: what has left the window is sorted out afterwards
_MAX_CONVERSATION_MEMORIES = 10_000  # that are looked through for what is in no summary yet


class MemoryTypes:
    """The names of the four types."""

    SHORT_TERM = "short_term"
    WORKING = "working"
    LONG_TERM = "long_term"
    EPISODIC = "episodic"


@dataclass
class MemoryEntry:
    """One memory as the manager gives it: ``embedding`` is empty while the model is missing."""

    content: str
    embedding: list[float]
    metadata: dict[str, Any]
    timestamp: datetime
    source: str
    importance_score: float
    id: str = ""
    memory_type: str = MemoryTypes.SHORT_TERM


class Summarizer(Protocol):
    """Turns what left a window into a few sentences."""

    async def summarize(self, entries: Sequence[str]) -> str:
        """Return the summary of some statements, oldest first."""
        ...


class ExtractiveSummarizer:
    """Summarises without a model: the weightiest statements, shortened, in their order."""

    def __init__(self, keep: int = 5) -> None:
        self._keep = keep

    async def summarize(self, entries: Sequence[str]) -> str:
        """Return up to ``keep`` statements by `heuristic_importance`, one a line."""
        weighty = sorted(range(len(entries)), key=lambda at: -heuristic_importance(entries[at]))[: self._keep]
        lines = [excerpt(entries[at], _LINE_CHARACTERS) for at in sorted(weighty)]
        return excerpt("\n".join(lines), _SUMMARY_CHARACTERS)


@dataclass(frozen=True, kw_only=True)
class MemoryConfig:
    """How a manager remembers.

    ``path``: folder of the store, a temporary one when None. ``window``: entries of a conversation's short-term memory.
    ``summarize_after``: entries that left the window and make one summary. ``service``: an open service to share; its own
    settings then hold, and it is not closed with the manager.
    """

    path: Path | str | None = None
    namespace: str = "default"
    agent: str = "default"
    window: int = 20
    summarize_after: int = 5
    importance_scorer: ImportanceScorer[Any] | None = None
    summarizer: Summarizer = field(default_factory=ExtractiveSummarizer)
    service: MemoryService | None = None
    clock: Clock = field(default_factory=SystemClock)
    random_source: RandomSource = field(default_factory=SystemRandomSource)


class MemoryManager:
    """Adds and finds memories of four types for one conversation.

    Use it as an async context manager, or `close` it.
    """

    def __init__(self, config: MemoryConfig | None = None, *, conversation_id: str | None = None) -> None:
        self.config = config or MemoryConfig()
        self._owned = self.config.service is None
        self._service = self.config.service
        session = conversation_id or new_session(self.config.random_source)
        self.scope = Scope(
            namespace=self.config.namespace, session=session, agent=self.config.agent, actor="memory manager"
        )
        self._left: list[MemoryId] | None = None
        self._opening = anyio.Lock()
        self._temporary: tempfile.TemporaryDirectory[str] | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exception: object) -> None:
        await self.close()

    async def add_memory(
        self,
        content: str,
        memory_type: str = MemoryTypes.SHORT_TERM,
        metadata: Mapping[str, Json] | None = None,
    ) -> str:
        """Store a memory and return its id.

        Of the metadata, ``source`` names where it comes from ("unknown" when absent), ``importance`` (0..1) rates it,
        ``key`` names a working memory, ``role`` "user" or "assistant" says whose words they are.

        Raises:
            InvalidInput: names the argument that is wrong.
        """
        metadata = dict(metadata or {})
        request = WriteRequest(
            content=content,
            memory_type=_memory_type(memory_type),
            importance=await self._importance(content, metadata),
            metadata=metadata,
            source=str(metadata.get("source", "unknown")),
            speaker=_text_or_none(metadata.get("role")),
            origin=Origin.USER if metadata.get("role") == "user" else Origin.AGENT,
            key=_text_or_none(metadata.get("key")),
        )
        service = await self.service()
        result = await run_blocking(None, lambda: service.write(self.scope, request))
        await self._keep_what_left(result)
        return result.id

    async def search_memory(
        self,
        query: str,
        memory_type: str = MemoryTypes.SHORT_TERM,
        limit: int = 5,
        metadata_filter: Mapping[str, Json] | None = None,
    ) -> list[MemoryEntry]:
        """Return the memories of a type that answer a query, best first; an empty query gives the newest.

        Short-term and working memory are those of this conversation; long-term and episodic those of the namespace. What left
        the window is short-term until it is summarised.

        Raises:
            InvalidInput: names the argument that is wrong.
        """
        wanted = _memory_type(memory_type)
        own = wanted in (MemoryType.SHORT_TERM, MemoryType.WORKING)
        where = Where(
            memory_type=wanted,
            session=self.scope.session if own else None,
            metadata=dict(metadata_filter or {}),
        )
        service = await self.service()
        request = ReadRequest(
            query=query, limit=_PAGE_MEMORIES if wanted is MemoryType.SHORT_TERM else limit, where=where
        )
        result = await run_blocking(None, lambda: service.read(self.scope, request))
        waiting = set(self._left or ())
        found = [hit.memory for hit in result.hits if hit.memory.tier is not Tier.FADED or hit.memory.id in waiting][
            :limit
        ]
        ids = [memory.id for memory in found]
        vectors = await run_blocking(None, lambda: service.store.vectors(self.scope.namespace, ids))
        return [_entry(memory, vectors.get(memory.id), wanted) for memory in found]

    async def summarize(self) -> str | None:
        """Summarise now what left the window; returns the id of the episodic memory, None when nothing had left."""
        await self.service()
        if not self._left:
            return None
        parents, self._left = tuple(self._left), []
        try:
            return await self._summarize(parents)
        except BaseException:
            self._left[:0] = parents
            raise

    async def _summarize(self, parents: tuple[MemoryId, ...]) -> str:
        service = await self.service()
        memories = await run_blocking(None, lambda: service.store.get(self.scope.namespace, parents))
        # To the summarizer, which may be a model elsewhere, no secrets.
        texts = [service.secrets.shown(memories[one]).content for one in parents if one in memories]
        request = WriteRequest(
            content=await self.config.summarizer.summarize(texts),
            memory_type=MemoryType.EPISODIC,
            origin=Origin.DERIVED,
            source=self.scope.session,
            parents=parents,
        )
        result = await run_blocking(None, lambda: service.write(self.scope, request))
        return result.id

    async def close(self) -> None:
        """Let go of the service if the manager opened it."""
        if self._owned and self._service is not None:
            await run_blocking(None, self._service.close)
            self._service = None
        if self._temporary is not None:
            self._temporary.cleanup()
            self._temporary = None

    async def service(self) -> MemoryService:
        """Return the service behind the manager, opened at first use."""
        async with self._opening:
            if self._service is None:
                self._service = await run_blocking(None, self._open)
            if self._left is None:
                service = self._service
                self._left = await run_blocking(None, lambda: self._unsummarised(service))
            return self._service

    async def _importance(self, content: str, metadata: Mapping[str, Json]) -> float:
        """Return the importance of a statement: what the metadata says, else the scorer's rating, else the heuristic."""
        explicit = metadata.get("importance")
        if isinstance(explicit, int | float) and not isinstance(explicit, bool):
            return heuristic_importance(content, explicit=float(explicit))
        if self.config.importance_scorer is None:
            return heuristic_importance(content)
        rating = await rating_of(self.config.importance_scorer, AgentMemoryFragment(content), None)
        return min(rating / _HIGHEST_RATING, 1.0)

    async def _keep_what_left(self, result: WriteResult) -> None:
        left = [move.id for move in result.moved if move.after is Tier.FADED]
        self._left = [*(self._left or ()), *left]
        if len(self._left) >= self.config.summarize_after:
            await self.summarize()

    def _unsummarised(self, service: MemoryService) -> list[MemoryId]:
        """Return what left this conversation's window before this object was made and is in no summary yet, oldest first."""
        known = service.recent(self.scope, limit=_MAX_CONVERSATION_MEMORIES, session=self.scope.session)
        summarised = {parent for memory in known if memory.kind is Kind.SUMMARY for parent in memory.parents}
        return [
            memory.id
            for memory in reversed(known)
            if memory.tier is Tier.FADED and memory.kind is Kind.OBSERVATION and memory.id not in summarised
        ]

    def _open(self) -> MemoryService:
        from hybrid_memory.service.memory_service import MemoryService

        if self.config.path is None:
            self._temporary = tempfile.TemporaryDirectory(prefix="hybrid-memory-")
        home = Path(self._temporary.name if self._temporary else self.config.path or "")
        settings = StoreSettings(sensory_buffer=0, short_term_buffer=self.config.window, keeps_decisions=False)
        if self._temporary:  # what nobody is to keep does not go where everybody looks
            settings = settings.model_copy(update={"store": None})
        return MemoryService.open(
            home, clock=self.config.clock, random_source=self.config.random_source, settings=settings
        )


class Message(Protocol):
    """What a conversation's message must have."""

    content: str
    role: str


class ConversationContext:
    """A conversation: its messages in order, and the memory they go into."""

    def __init__(self, conversation_id: str, memory_config: MemoryConfig | None = None) -> None:
        self.id = conversation_id
        self.history: list[Message] = []
        self.memory = MemoryManager(memory_config, conversation_id=conversation_id)

    async def add_message(self, message: Message) -> str:
        """Append a message and remember it in short-term; returns the memory's id."""
        self.history.append(message)
        return await self.memory.add_memory(
            content=message.content,
            memory_type=MemoryTypes.SHORT_TERM,
            metadata={"role": message.role, "source": self.id},
        )

    async def relevant_memories(self, query: str, limit: int = 5) -> list[MemoryEntry]:
        """Return what short-term memory knows about a query, for a prompt."""
        return await self.memory.search_memory(query, MemoryTypes.SHORT_TERM, limit)

    async def close(self) -> None:
        """Close the memory."""
        await self.memory.close()


def _memory_type(name: str) -> MemoryType:
    try:
        return MemoryType(name)
    except ValueError:
        raise InvalidInput("memory_type", "must be short_term, working, long_term or episodic") from None


def _text_or_none(value: Json) -> str | None:
    return value if isinstance(value, str) and value else None


def _entry(memory: Memory, vector: Any, memory_type: MemoryType) -> MemoryEntry:
    return MemoryEntry(
        content=memory.content,
        embedding=[] if vector is None else [float(x) for x in vector],
        metadata=dict(memory.metadata),
        timestamp=memory.created_at,
        source=memory.source or "unknown",
        importance_score=memory.importance,
        id=memory.id,
        memory_type=memory_type.value,
    )
