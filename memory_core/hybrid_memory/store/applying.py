"""The rule by which `Ops` change a namespace: pure, and the same for every store."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from hybrid_memory.errors import ConcurrentModification, ConstraintViolation
from hybrid_memory.model import Memory, MemoryId, Tier
from hybrid_memory.store.checks import check_memory, check_moment, check_text, to_object
from hybrid_memory.store.interface import Attach, Change, LogEntry, Move, Ops, Patch, Put

_KEPT_BY_PATCH = (
    "id",
    "namespace",
    "content",
    "terms",
    "content_hash",
    "created_at",
    "occurred_at",
    "kind",
    "agent",
    "origin",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Applied:
    """What a store must do for some `Ops`, each memory once and in its last state.

    ``put`` are new rows. ``replaced`` are existing rows whose changeable fields are written anew. ``moved`` are
    the other existing rows that change: of these only ``tier`` and ``rev`` differ. ``before`` holds the former state of
    every existing row that was asked for. ``vectors`` belong to ``put`` and to ``attached``, which are existing rows.
    """

    log: tuple[LogEntry, ...]
    put: tuple[Memory, ...]
    replaced: tuple[Memory, ...]
    moved: tuple[Memory, ...]
    attached: tuple[MemoryId, ...]
    before: Mapping[MemoryId, Memory]
    after: Mapping[MemoryId, Memory]
    vectors: Mapping[MemoryId, NDArray[np.float32]]
    result: str

    @property
    def memories(self) -> dict[MemoryId, Memory]:
        """The state after the write of every memory that the log names."""
        return {entry.id: self.after[entry.id] for entry in self.log}


def apply_ops(
    ops: Ops,
    *,
    namespace: str,
    head: int,
    at: datetime,
    dimensions: int | None,
    stored: Callable[[Iterable[MemoryId]], Mapping[MemoryId, Memory]],
) -> Applied:
    """Work out what ``ops`` do to a namespace at position ``head``: first puts, then patches, moves and vectors that follow.

    ``stored`` gives existing memories by id; ``dimensions`` is the pinned embedder's, None without one. Whether the id
    of a put exists already is for the store to find out.

    Raises:
        ConstraintViolation: a value cannot be stored, or a vector does not fit the pinned embedder.
        ConcurrentModification: a patch was made from another revision, or a memory to change does not exist.
    """
    check_text(namespace, ops.action, ops.actor)
    for buffer in ops.buffers:
        check_text(buffer.session, buffer.agent, buffer.state)
        check_moment(buffer.touched_at)
    check_moment(*(touch.at for touch in ops.touches))
    work = _Work(ops, namespace, head, at)
    for put in ops.puts:
        work.put(put, dimensions)
    wanted = {patch.memory.id for patch in ops.patches}
    wanted |= {move.id for move in ops.moves} | {attach.id for attach in ops.vectors}
    before = dict(stored(wanted - work.after.keys()))
    work.after.update(before)
    for patch in ops.patches:
        work.patch(patch)
    for move in ops.moves:
        work.move(move)
    for attach in ops.vectors:
        work.attach(attach, dimensions)
    new = [put.memory.id for put in ops.puts]
    changed = [id_ for id_, was in before.items() if work.after[id_].rev != was.rev]
    return Applied(
        log=tuple(work.log),
        put=tuple(work.after[id_] for id_ in new),
        replaced=tuple(work.after[id_] for id_ in changed if id_ in work.patched),
        moved=tuple(work.after[id_] for id_ in changed if id_ not in work.patched),
        attached=tuple(one.id for one in ops.vectors if one.id in before),
        before=before,
        after=work.after,
        vectors=work.vectors,
        result=to_object(ops.result),
    )


def patched(stored: Memory, wished: Memory) -> Memory:
    """Return ``wished`` with what a patch may not change taken from ``stored``, and the next ``rev``."""
    kept = {name: getattr(stored, name) for name in _KEPT_BY_PATCH}
    return replace(wished, **kept, rev=stored.rev + 1)


def fitting_vector(vector: NDArray[np.float32], dimensions: int | None) -> NDArray[np.float32]:
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


class _Work:
    """The state of one application."""

    def __init__(self, ops: Ops, namespace: str, head: int, at: datetime) -> None:
        self.log: list[LogEntry] = []
        self.after: dict[MemoryId, Memory] = {}
        self.vectors: dict[MemoryId, NDArray[np.float32]] = {}
        self.patched: set[MemoryId] = set()
        self._ops = ops
        self._namespace = namespace
        self._head = head
        self._at = at

    def put(self, put: Put, dimensions: int | None) -> None:
        memory = put.memory
        check_memory(memory, self._namespace)
        if memory.id in self.after:
            raise ConstraintViolation("one write cannot put the same id twice")
        if put.vector is not None:
            self.vectors[memory.id] = fitting_vector(put.vector, dimensions)
        self.after[memory.id] = memory
        self._announce(Change.PUT, memory)

    def patch(self, patch: Patch) -> None:
        check_memory(patch.memory, self._namespace)
        now = self._existing(patch.memory.id)
        if now.rev != patch.memory.rev:
            raise ConcurrentModification("a memory changed since it was read; read it again and repeat")
        self.after[now.id] = patched(now, patch.memory)
        self.patched.add(now.id)
        self._announce(Change.PATCH, self.after[now.id])

    def move(self, move: Move) -> None:
        now = self._existing(move.id)
        if now.tier is move.tier:
            return
        self.after[now.id] = replace(now, tier=move.tier, rev=now.rev + 1)
        self._announce(Change.PATCH, self.after[now.id])

    def attach(self, attach: Attach, dimensions: int | None) -> None:
        now = self._existing(attach.id)
        self.vectors[now.id] = fitting_vector(attach.vector, dimensions)
        self._announce(Change.PATCH, now)

    def _existing(self, id_: MemoryId) -> Memory:
        try:
            return self.after[id_]
        except KeyError:
            raise ConcurrentModification("a memory to be changed does not exist here; read again and repeat") from None

    def _announce(self, change: Change, memory: Memory) -> None:
        self.log.append(
            LogEntry(
                position=self._head + len(self.log) + 1,
                change=change,
                id=memory.id,
                rev=memory.rev,
                at=self._at,
                actor=self._ops.actor,
                action=self._ops.action,
                digest=memory.content_hash,
            )
        )


def is_member(memory: Memory, session: str, agent: str, tier: Tier) -> bool:
    """Say whether a live memory belongs to a session's agent and stands in a tier."""
    return (
        (memory.session, memory.agent, memory.tier) == (session, agent, tier)
        and memory.forgotten_at is None
        and memory.superseded_by is None
    )
