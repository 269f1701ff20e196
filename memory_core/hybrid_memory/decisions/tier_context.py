"""The attention buffers in a transaction; used by the other modules of this package.

`buffers_of` reads them, `buffer_changes` returns what must be stored of them, and `StoredTierContext` answers what the tier rules
(`tiers.flow`) ask about memories.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from hybrid_memory.errors import StoreDamaged
from hybrid_memory.ids import pair_draw
from hybrid_memory.model import BUFFER_TIERS, Kind, Memory, MemoryId, Moved, Tier, Trust, Usage
from hybrid_memory.store.writing import BufferState, SetTier, Update
from hybrid_memory.tiers.buffers import BufferEntry, Buffers, Item, decode_buffers, encode_buffers
from hybrid_memory.tiers.flow import with_new_version, without_memories

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from hybrid_memory.store.writing import WriteView

    VectorsOf = Callable[[Collection[MemoryId]], Mapping[MemoryId, NDArray[np.float32]]]


class StoredTierContext:
    """A `tiers.flow.TierContext` over a `WriteView`: each answer is looked up once, and only when a rule asks.

    ``vectors_of`` reads stored vectors from a cache; those that it lacks, because another write came between, are read from the
    view. ``fresh`` are the vectors of this write, ``extra_uses`` the uses that it adds, ``pinned`` what it pins, ``new`` is the memory
    that it adds.
    """

    def __init__(
        self,
        view: WriteView,
        buffers: Buffers,
        vectors_of: VectorsOf,
        fresh: Mapping[MemoryId, NDArray[np.float32]] | None = None,
        extra_uses: Mapping[MemoryId, int] | None = None,
        pinned: Collection[MemoryId] = (),
        new: Memory | None = None,
    ) -> None:
        self._view = view
        self._ids = tuple(dict.fromkeys(_ids_in(buffers)))
        self._vectors_of = vectors_of
        self._vectors: dict[MemoryId, NDArray[np.float32]] = dict(fresh or {})
        self._extra_uses = extra_uses or {}
        self._pinned = pinned
        self._new = new
        self._asked: set[MemoryId] = set()
        self._usage: dict[MemoryId, Usage] | None = None
        self._memories: dict[MemoryId, Memory] | None = None

    def similarity(self, first: MemoryId, second: MemoryId) -> float:
        """Return the cosine of two memories; NaN when one has no vector."""
        a, b = self._vector(first), self._vector(second)
        return float("nan") if a is None or b is None else float(a @ b)

    def draw(self, first: MemoryId, second: MemoryId) -> float:
        """Return a number in [0, 1) for a pair of memories, always the same."""
        return pair_draw(first, second)

    def uses(self, memory_id: MemoryId) -> int:
        """Return how often a memory was recalled or repeated before this write, and in it."""
        if self._usage is None:
            self._usage = self._view.usage((*self._ids, *self._extra_uses))
        known = self._usage.get(memory_id)
        return (known.count if known else 0) + self._extra_uses.get(memory_id, 0)

    def pinned(self, memory_id: MemoryId) -> bool:
        """Return True if a memory is pinned."""
        if memory_id in self._pinned:
            return True
        memory = self._memory(memory_id)
        return memory is not None and memory.pinned

    def is_decided(self, memory_id: MemoryId) -> bool:
        """Return True if somebody who is trusted decided to keep a memory."""
        memory = self._memory(memory_id)
        return memory is not None and memory.kind is not Kind.EPISODE and memory.trust is not Trust.UNTRUSTED

    def _memory(self, memory_id: MemoryId) -> Memory | None:
        if self._new is not None and self._new.id == memory_id:
            return self._new
        if self._memories is None:
            self._memories = self._view.get(self._ids)
        return self._memories.get(memory_id)

    def _vector(self, memory_id: MemoryId) -> NDArray[np.float32] | None:
        if memory_id not in self._vectors and memory_id not in self._asked:
            wanted = {memory_id, *self._ids} - self._asked
            self._asked |= wanted
            found = {**self._vectors_of(wanted), **self._vectors}
            missing = wanted - found.keys()
            self._vectors = {**self._view.vectors(missing), **found} if missing else found
        return self._vectors.get(memory_id)


def buffers_of(view: WriteView, session: str, agent: str) -> Buffers:
    """Return the buffers of a session's agent.

    Who is in them is what the tiers say; the stored state adds the enhancements of short-term. A state that cannot be read
    costs those enhancements, and stops nobody.
    """
    sensory = tuple(_item(one) for one in view.members(session, agent, Tier.SENSORY))
    state = view.buffer(session, agent)
    if state is None or state.state is None:
        return Buffers(sensory, ())
    try:
        return Buffers(sensory, decode_buffers(state.state).short_term)
    except StoreDamaged:
        members = view.members(session, agent, Tier.SHORT_TERM)
        return Buffers(sensory, tuple(BufferEntry(_item(one)) for one in members))


def _item(memory: Memory) -> Item:
    return Item(memory.id, "", memory.importance)


def buffer_changes(
    view: WriteView, session: str, agent: str, before: Buffers, after: Buffers
) -> tuple[BufferState, ...]:
    """Return what must be stored of changed buffers: short-term if it changed, a mark when a session's agent begins.

    Buffers that are empty altogether are removed.
    """
    known = view.buffer(session, agent) is not None
    if not after.sensory and not after.short_term:
        return (BufferState(session, agent, None, view.now),) if known else ()
    if known and before.short_term == after.short_term:
        return ()
    return (BufferState(session, agent, encode_buffers(Buffers((), after.short_term)), view.now),)


def buffers_without(
    view: WriteView, memories: Iterable[Memory], done: Collection[tuple[str, str]] = ()
) -> tuple[BufferState, ...]:
    """Return what is to be stored when memories leave attention; buffers of ``done`` (session, agent) are left out."""
    return buffers_with(view, (one for one in memories if (one.session, one.agent) not in done), {})


def buffers_with(
    view: WriteView, memories: Iterable[Memory], successors: Mapping[MemoryId, Item]
) -> tuple[BufferState, ...]:
    """Return what is to be stored when memories leave attention, each where it has one for its successor."""
    leaving: dict[tuple[str, str], set[MemoryId]] = {}
    for memory in memories:
        if memory.tier in BUFFER_TIERS:
            leaving.setdefault((memory.session, memory.agent), set()).add(memory.id)
    changes: list[BufferState] = []
    for (session, agent), ids in leaving.items():
        before = after = buffers_of(view, session, agent)
        for id_ in ids & successors.keys():
            after = with_new_version(after, id_, successors[id_])
        after = without_memories(after, ids - successors.keys())
        changes += buffer_changes(view, session, agent, before, after)
    return tuple(changes)


def changes_of(view: WriteView, moved: Iterable[Moved]) -> tuple[tuple[SetTier, ...], tuple[Update, ...]]:
    """Return what moves change: a tier, and where a group moved on together, the members as the head's parents.

    A buffer may name a memory that is not there any more, or whose row cannot be read: such a move changes nothing.
    """
    tier_changes: list[SetTier] = []
    updates: list[Update] = []
    moves = list(moved)
    here = view.get([move.id for move in moves]) if moves else {}
    for move in moves:
        head = here.get(move.id)
        if head is None:
            continue
        if not move.members:
            tier_changes.append(SetTier(move.id, move.after, move.reason))
        else:
            updates.append(
                Update(replace(head, tier=move.after, parents=joined(head.parents, move.members)), move.reason)
            )
    return tuple(tier_changes), tuple(updates)


def joined(parents: Iterable[MemoryId], members: Iterable[MemoryId]) -> tuple[MemoryId, ...]:
    """Return parents and new members, each once."""
    return tuple(dict.fromkeys((*parents, *members)))


def _ids_in(buffers: Buffers) -> Iterable[MemoryId]:
    for item in buffers.sensory:
        yield item.id
    for entry in buffers.short_term:
        yield entry.item.id
