"""How a `WriteBatch` changes a namespace: pure, and the same for every store. Each store calls `build_change_set` in its `write`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from hybrid_memory.embedding.passages import are_sound
from hybrid_memory.errors import ConcurrentModification, ConstraintViolation
from hybrid_memory.model import Memory, MemoryId, Tier
from hybrid_memory.store.audit_notes import note_of_change, note_of_insert
from hybrid_memory.store.encoding import check_moment, check_text
from hybrid_memory.store.memory_fields import UNCHANGEABLE, check_memory
from hybrid_memory.store.writing import ChangeType, Insert, LogEntry, SetTier, SetVector, Update, WriteBatch


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeSet:
    """What a store must do for a `WriteBatch`, each memory once and in its last state.

    ``inserted`` are new rows. ``updated_rows`` are existing rows whose changeable fields are written again. ``retiered`` are
    the other existing rows that change: of these only ``tier`` and ``rev`` differ. ``before`` holds the former state of
    every existing row that was asked for, ``removed`` are those that go. ``vectors`` belong to ``inserted`` and to ``revectored``, which
    are existing rows, and ``passages`` to some of those.
    """

    log: tuple[LogEntry, ...]
    inserted: tuple[Memory, ...]
    updated_rows: tuple[Memory, ...]
    retiered: tuple[Memory, ...]
    revectored: tuple[MemoryId, ...]
    before: Mapping[MemoryId, Memory]
    after: Mapping[MemoryId, Memory]
    vectors: Mapping[MemoryId, NDArray[np.float32]]
    passages: Mapping[MemoryId, bytes]
    removed: tuple[Memory, ...] = ()

    @property
    def memories(self) -> dict[MemoryId, Memory]:
        """The state after the write of every memory that the log names, and that is still there."""
        return {entry.id: self.after[entry.id] for entry in self.log if entry.id in self.after}


def build_change_set(
    batch: WriteBatch,
    *,
    namespace: str,
    head: int,
    at: datetime,
    dimensions: int | None,
    stored: Callable[[Iterable[MemoryId]], Mapping[MemoryId, Memory]],
) -> ChangeSet:
    """Work out what a batch does to a namespace at position ``head``: first inserts, then updates, tiers and vectors that follow.

    ``stored`` gives existing memories by id; ``dimensions`` is the pinned embedder's, None without one. Whether the id
    of an insert exists already is for the store to find out.

    Raises:
        ConstraintViolation: a value cannot be stored, or a vector does not fit the pinned embedder.
        ConcurrentModification: an update was made from another revision, or a memory to change does not exist.
    """
    check_text(namespace, batch.action, batch.actor)
    for buffer in batch.buffers:
        check_text(buffer.session, buffer.agent, buffer.state)
        check_moment(buffer.touched_at)
    check_moment(*(use.at for use in batch.uses))
    # Inserts first, so that the other changes of this batch may concern the new memories too.
    builder = _ChangeSetBuilder(batch, namespace, head, at)
    for insert in batch.inserts:
        builder.insert(insert, dimensions)
    # What else is changed is read once.
    wanted = {update.memory.id for update in batch.updates}
    wanted |= {set_tier.id for set_tier in batch.tier_changes} | {set_vector.id for set_vector in batch.vectors}
    wanted |= set(batch.removals)
    before = dict(stored(wanted - builder.after.keys()))
    builder.after.update(before)
    for update in batch.updates:
        builder.update(update)
    for set_tier in batch.tier_changes:
        builder.set_tier(set_tier)
    for set_vector in batch.vectors:
        builder.set_vector(set_vector, dimensions)
    removed = tuple(builder.remove(id_) for id_ in batch.removals)
    # A row that was changed several times is written once, in its last state.
    new = [insert.memory.id for insert in batch.inserts]
    changed = [id_ for id_, one in before.items() if id_ in builder.after and builder.after[id_].rev != one.rev]
    return ChangeSet(
        log=tuple(builder.log),
        inserted=tuple(builder.after[id_] for id_ in new),
        updated_rows=tuple(builder.after[id_] for id_ in changed if id_ in builder.updated),
        retiered=tuple(builder.after[id_] for id_ in changed if id_ not in builder.updated),
        revectored=tuple(set_vector.id for set_vector in batch.vectors if set_vector.id in before),
        before=before,
        after=builder.after,
        vectors=builder.vectors,
        passages=builder.passages,
        removed=removed,
    )


def updated(stored: Memory, wished: Memory) -> Memory:
    """Return ``wished`` with what an update may not change taken from ``stored``, and the next ``rev``."""
    kept = {name: getattr(stored, name) for name in UNCHANGEABLE}
    return replace(wished, **kept, rev=stored.rev + 1)


def checked_vector(vector: NDArray[np.float32], dimensions: int | None) -> NDArray[np.float32]:
    """Return a private float32 copy of a vector that fits the pinned embedder.

    Raises:
        ConstraintViolation: no embedder is pinned, the shape is another, or a component is not finite.
    """
    if dimensions is None:
        raise ConstraintViolation("no embedder is pinned; pin one before storing vectors")
    row = np.array(vector, dtype=np.float32)
    if row.shape != (dimensions,):
        raise ConstraintViolation(f"a vector must have {dimensions} components, as the pinned embedder gives them")
    if not np.isfinite(row).all():
        raise ConstraintViolation("a vector holds a component that is not a finite number")
    row.flags.writeable = False
    return row


def checked_passages(passages: bytes, dimensions: int | None) -> bytes:
    """Return the passages of a memory that fit the pinned embedder.

    Raises:
        ConstraintViolation: they are none of this length.
    """
    if not are_sound(passages, dimensions or 0):
        raise ConstraintViolation("passages must be packed, with as many components as the pinned embedder gives them")
    return passages


class _ChangeSetBuilder:
    """Builds one `ChangeSet`: each method applies one change to ``after`` and adds its line to the log."""

    def __init__(self, batch: WriteBatch, namespace: str, head: int, at: datetime) -> None:
        self.log: list[LogEntry] = []
        self.after: dict[MemoryId, Memory] = {}
        self.vectors: dict[MemoryId, NDArray[np.float32]] = {}
        self.passages: dict[MemoryId, bytes] = {}
        self.updated: set[MemoryId] = set()
        self._batch = batch
        self._namespace = namespace
        self._head = head
        self._at = at

    def insert(self, insert: Insert, dimensions: int | None) -> None:
        memory = insert.memory
        check_memory(memory, self._namespace)
        if memory.id in self.after:
            raise ConstraintViolation("one write cannot put the same id twice")
        if insert.vector is not None:
            self._vector(memory.id, insert.vector, insert.passages, dimensions)
        self.after[memory.id] = memory
        self._announce(ChangeType.INSERT, memory, note_of_insert(memory))

    def update(self, update: Update) -> None:
        check_memory(update.memory, self._namespace)
        current = self._existing(update.memory.id)
        if current.rev != update.memory.rev:
            raise ConcurrentModification("a memory changed since it was read; read it again and repeat")
        after = self.after[current.id] = updated(current, update.memory)
        self.updated.add(current.id)
        self._announce(ChangeType.UPDATE, after, note_of_change(current, after, update.reason))

    def set_tier(self, set_tier: SetTier) -> None:
        current = self._existing(set_tier.id)
        if current.tier is set_tier.tier:
            return
        after = self.after[current.id] = replace(current, tier=set_tier.tier, rev=current.rev + 1)
        self._announce(ChangeType.UPDATE, after, note_of_change(current, after, set_tier.reason))

    def set_vector(self, set_vector: SetVector, dimensions: int | None) -> None:
        current = self._existing(set_vector.id)
        self._vector(current.id, set_vector.vector, set_vector.passages, dimensions)
        self._announce(ChangeType.UPDATE, current, "vector")

    def remove(self, id_: MemoryId) -> Memory:
        memory = self._existing(id_)
        del self.after[id_]
        self._announce(ChangeType.PURGE, replace(memory, content_hash=""), "")
        return memory

    def _vector(
        self, id_: MemoryId, vector: NDArray[np.float32], passages: bytes | None, dimensions: int | None
    ) -> None:
        self.vectors[id_] = checked_vector(vector, dimensions)
        self.passages.pop(id_, None)
        if passages is not None:
            self.passages[id_] = checked_passages(passages, dimensions)

    def _existing(self, id_: MemoryId) -> Memory:
        try:
            return self.after[id_]
        except KeyError:
            raise ConcurrentModification("a memory to be changed does not exist here; read again and repeat") from None

    def _announce(self, change: ChangeType, memory: Memory, note: str) -> None:
        self.log.append(
            LogEntry(
                position=self._head + len(self.log) + 1,
                change=change,
                id=memory.id,
                rev=memory.rev,
                at=self._at,
                actor=self._batch.actor,
                action=self._batch.action,
                digest=memory.content_hash,
                note=note,
            )
        )


def is_member(memory: Memory, session: str, agent: str, tier: Tier) -> bool:
    """Return True if a live memory belongs to a session's agent and is in a tier."""
    return (
        (memory.session, memory.agent, memory.tier) == (session, agent, tier)
        and memory.forgotten_at is None
        and memory.superseded_by is None
    )
