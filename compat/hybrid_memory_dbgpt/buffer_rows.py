"""What a hybrid memory's buffers leave in the store, and how they come back from there. Pure but for `stored_buffers`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from hybrid_memory.model import Kind, MemoryId, Tier
from hybrid_memory.store.base import SetTier
from hybrid_memory.tiers.buffers import BufferEntry, Buffers, Item, decode_buffers, encode_buffers
from hybrid_memory_dbgpt.buffers import BufferSnapshot
from hybrid_memory_dbgpt.fragments import DiscardedMemoryFragments, MemoryFragment
from hybrid_memory_dbgpt.vector_store import BufferWrite, Document, DuckDBVectorStore


@dataclass(frozen=True, slots=True)
class BufferKey:
    """Whose buffers they are."""

    session: str
    agent: str


@dataclass(frozen=True, slots=True)
class BuffersSnapshot:
    """Sensory and short-term memory at one moment."""

    sensory: BufferSnapshot
    short_term: BufferSnapshot


@dataclass(frozen=True, slots=True)
class StepResult:
    """What one step did: what left the buffers, and the fragments that came in and are no rows yet."""

    left: DiscardedMemoryFragments
    newcomers: Sequence[MemoryFragment]


@dataclass(frozen=True, slots=True)
class StoredBuffers:
    """Buffers without texts, and the rows that they speak of."""

    buffers: Buffers
    rows: dict[MemoryId, Document]


def buffer_write_of(
    key: BufferKey,
    before: BuffersSnapshot,
    after: BuffersSnapshot,
    newcomers: Sequence[MemoryFragment],
    *,
    vectors: bool,
) -> BufferWrite | None:
    """Return what a step must leave behind; None if nothing changed.

    A fragment that is in no buffer any more has faded: it was dropped, evicted, or merged into a long-term row that
    names it as a parent. ``vectors`` says whether the fragments' vectors are those of the store's embedder.
    """
    state, places = _encoded(after), _places(after)
    moves = tuple(
        SetTier(one, places.get(one, Tier.FADED))
        for one, tier in _places(before).items()
        if places.get(one, Tier.FADED) is not tier
    )
    rows = tuple(_row(one, places.get(one.id, Tier.FADED), vectors=vectors) for one in newcomers)
    if not moves and not rows and state == _encoded(before):
        return None
    return BufferWrite(session=key.session, agent=key.agent, rows=rows, moves=moves, state=state)


def stored_buffers(store: DuckDBVectorStore, key: BufferKey) -> StoredBuffers | None:
    """Return the buffers that stand in the store under a key; None if there are none.

    Raises:
        StoreError: the store failed, or what stands there cannot be read.
    """
    text = store.buffered(key.session, key.agent)
    if text is None:
        return None
    buffers = decode_buffers(text)
    ids = [item.id for item in _items(buffers)]
    vectors = store.vectors(ids)
    rows = {
        one: Document(
            id=one,
            content=memory.content,
            vector=vectors.get(one),
            is_insight=memory.kind is Kind.INSIGHT,
            parents=memory.parents,
        )
        for one, memory in store.rows(ids).items()
        if memory.forgotten_at is None
    }
    return StoredBuffers(buffers, rows)


def revived(found: StoredBuffers, kind: type[MemoryFragment]) -> tuple[Buffers, dict[MemoryId, MemoryFragment]]:
    """Return stored buffers with their texts, and their fragments; what is no row any more is left out."""
    fragments: dict[MemoryId, MemoryFragment] = {}
    for item in _items(found.buffers):
        row = found.rows.get(item.id)
        if row is None:
            continue
        fragments[item.id] = kind.build_from(
            row.content,
            row.vector,
            memory_id=item.id,
            importance=item.importance,
            is_insight=row.is_insight,
            parents=row.parents,
        )
    sensory = tuple(_told(item, fragments) for item in found.buffers.sensory if item.id in fragments)
    short_term = tuple(_held(held, fragments) for held in found.buffers.short_term if held.item.id in fragments)
    return Buffers(sensory, short_term), fragments


def _items(buffers: Buffers) -> list[Item]:
    held = [item for one in buffers.short_term for item in (one.item, *one.enhancers)]
    return [*buffers.sensory, *held]


def _told(item: Item, fragments: dict[MemoryId, MemoryFragment]) -> Item:
    return replace(item, text=fragments[item.id].raw_observation)


def _held(held: BufferEntry, fragments: dict[MemoryId, MemoryFragment]) -> BufferEntry:
    enhancers = tuple(_told(item, fragments) for item in held.enhancers if item.id in fragments)
    gone = len(held.enhancers) - len(enhancers)
    return BufferEntry(_told(held.item, fragments), held.count - gone, enhancers)


def _encoded(both: BuffersSnapshot) -> str | None:
    if not both.sensory.held and not both.short_term.held:
        return None
    return encode_buffers(Buffers(tuple(held.item for held in both.sensory.held), both.short_term.held))


def _places(both: BuffersSnapshot) -> dict[MemoryId, Tier]:
    sensory = {held.item.id: Tier.SENSORY for held in both.sensory.held}
    return sensory | {held.item.id: Tier.SHORT_TERM for held in both.short_term.held}


def _row(fragment: MemoryFragment, tier: Tier, *, vectors: bool) -> tuple[Document, Tier]:
    row = Document(
        id=fragment.id,
        content=fragment.raw_observation,
        metadata={} if fragment.importance is None else {"importance": fragment.importance},
        vector=fragment.embeddings if vectors else None,
        is_insight=fragment.is_insight,
        parents=fragment.parents,
    )
    return row, tier
