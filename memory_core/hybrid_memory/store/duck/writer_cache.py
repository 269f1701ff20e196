"""What the store's only writer knows without asking the database; loaded by the first write, kept by `engine.Engine`."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Generic, TypeAlias, TypeVar

from hybrid_memory.clock import Clock, from_micros, never_back
from hybrid_memory.errors import StoreDamaged
from hybrid_memory.model import Memory, MemoryId, Tier
from hybrid_memory.moments import EARLIEST_MICROS, LATEST_MICROS
from hybrid_memory.store.batch import is_member
from hybrid_memory.store.duck.duckdb_errors import DAMAGED
from hybrid_memory.store.duck.sql_session import SqlSession
from hybrid_memory.store.memory_fields import MOST
from hybrid_memory.store.writing import BufferState

_HEADS = """
    SELECT log.namespace, coalesce(max(position) FILTER (position < 4611686018427387904), 0),
        coalesce(max(trimmed_before), 0), coalesce(max(made_at) FILTER (made_at BETWEEN $1 AND $2), 0),
        coalesce(arg_max(link, position) FILTER (position < 4611686018427387904), '')
    FROM log LEFT JOIN namespace ON namespace.name = log.namespace GROUP BY log.namespace
"""
_REQUESTS = "SELECT relay, number FROM request"
_BUFFER_KEYS = "SELECT namespace, session, agent FROM buffer"
_MARK = "SELECT store, number FROM mark"
_MARKED = "SELECT namespace FROM mark"
_EMBEDDER = "SELECT number, identity, dimensions FROM embedder ORDER BY number DESC LIMIT 1"

_CACHED_ROWS = 1024  # of each sort; set by hand
_MAX_CACHED_CHARACTERS = 4_000  # of a memory, set by hand; a longer one is read again, so that the cache stays small

MembersKey: TypeAlias = tuple[str, str, str, Tier]
"""Namespace, session, agent and tier."""

_Key = TypeVar("_Key")
_Value = TypeVar("_Value")


@dataclass(frozen=True, slots=True)
class Head:
    """Where a namespace's log ends, from where it is still told, and the link of its last entry ("" before the chain)."""

    position: int = 0
    trimmed_before: int = 0
    link: str = ""

    @classmethod
    def of(cls, position: int, trimmed_before: int, link: str = "") -> Head:
        """Return the head of what a store says; a mark beyond the log's end is none."""
        return cls(position, trimmed_before if trimmed_before <= position + 1 else 0, link)


@dataclass(frozen=True, slots=True)
class PinnedEmbedder:
    """The embedder of a store; its vectors are in the table ``vector_<number>``."""

    number: int
    identity: str
    dimensions: int


@dataclass(frozen=True, slots=True)
class Mark:
    """The id of a store, and how many writes were ever committed to it."""

    store: str
    number: int


class LruCache(Generic[_Key, _Value]):
    """The values that were used last, at most `_CACHED_ROWS` of them."""

    def __init__(self) -> None:
        self._values: OrderedDict[_Key, _Value] = OrderedDict()

    def get(self, key: _Key) -> _Value | None:
        """Return a value, None where it is not at hand."""
        value = self._values.get(key)
        if value is not None:
            self._values.move_to_end(key)
        return value

    def put(self, key: _Key, value: _Value) -> None:
        """Keep a value; the one unused for longest makes room."""
        self._values[key] = value
        self._values.move_to_end(key)
        if len(self._values) > _CACHED_ROWS:
            self._values.popitem(last=False)

    def drop(self, key: _Key) -> None:
        """Keep a value no longer."""
        self._values.pop(key, None)


@dataclass(slots=True, kw_only=True)
class WriterCache:
    """What rows say, changed along with them and dropped when a transaction fails.

    Right because the holder of the store's lock is the only one who changes the rows. ``requests`` and ``buffers`` say
    which rows exist; ``marked`` is the namespace whose head is in the mark. The three `LruCache` hold rows themselves, since the
    members of the buffers are asked for at every write.
    """

    heads: dict[str, Head]
    requests: dict[str, set[int]]
    buffers: set[tuple[str, str, str]]
    last_at: int
    mark: int
    embedder: PinnedEmbedder | None
    marked: str | None = None
    buffers_by_key: LruCache[tuple[str, str, str], BufferState] = field(default_factory=LruCache)
    memories: LruCache[tuple[str, MemoryId], Memory] = field(default_factory=LruCache)
    members: LruCache[MembersKey, dict[MemoryId, Memory]] = field(default_factory=LruCache)

    def write_time(self, clock: Clock) -> datetime:
        """Return the time of a write that happens now, UTC; not before the last write's if the clock went back by a little."""
        return never_back(clock.now().astimezone(UTC), from_micros(self.last_at))

    def note(self, memory: Memory) -> None:
        """Keep a memory's newest state at hand, unless it is long."""
        self._note_membership(memory)
        if len(memory.content) > _MAX_CACHED_CHARACTERS:
            self.memories.drop((memory.namespace, memory.id))
        else:
            self.memories.put((memory.namespace, memory.id), memory)

    def _note_membership(self, memory: Memory) -> None:
        for tier in Tier:
            members = self.members.get((memory.namespace, memory.session, memory.agent, tier))
            if members is None:
                continue
            if is_member(memory, memory.session, memory.agent, tier):
                members[memory.id] = memory
            else:
                members.pop(memory.id, None)


def load_writer_cache(session: SqlSession) -> WriterCache:
    """Read the cache from the tables."""
    namespaces = session.rows(_HEADS, EARLIEST_MICROS, LATEST_MICROS)
    requests: dict[str, set[int]] = {}
    for relay, number in session.rows(_REQUESTS):
        requests.setdefault(relay, set()).add(number)
    return WriterCache(
        heads={name: Head.of(head, trimmed, link) for name, head, trimmed, _, link in namespaces},
        requests=requests,
        buffers={(namespace, name, agent) for namespace, name, agent in session.rows(_BUFFER_KEYS)},
        last_at=max((last for *_, last, _ in namespaces), default=0),
        mark=read_mark(session).number,
        marked=session.rows(_MARKED)[0][0],
        embedder=pinned_embedder(session),
    )


def read_mark(session: SqlSession) -> Mark:
    """Return the id of the store and the number of its last write.

    Raises:
        StoreDamaged: there is none, or none that could be counted on from.
    """
    rows = session.rows(_MARK)
    if len(rows) != 1 or not 0 <= rows[0][1] < MOST:
        raise StoreDamaged(DAMAGED)
    return Mark(*rows[0])


def pinned_embedder(session: SqlSession) -> PinnedEmbedder | None:
    """Return the pinned embedder."""
    row = session.row(_EMBEDDER)
    return PinnedEmbedder(*row) if row else None
