"""One memory's life: who wrote it, its versions, what happened to each of them and why, and how often it was recalled.

Called by the operation ``history`` of the command line. It is told from the audit log, so what was purged has a history too.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from hybrid_memory.errors import NotFound
from hybrid_memory.model import Memory, MemoryId
from hybrid_memory.secret_detection.secret_policy import SecretPolicy
from hybrid_memory.store.writing import ChangeType

if TYPE_CHECKING:
    from hybrid_memory.store.base import Store
    from hybrid_memory.store.writing import LogEntry


@dataclass(frozen=True, slots=True)
class MemoryEvent:
    """One thing that happened to a version: ``action`` is the name of the write, ``note`` what changed; ``by`` is the client."""

    at: datetime
    id: MemoryId
    action: str
    by: str
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryVersion:
    """One version as it is now; ``recalls`` counts how often it was recalled, the last time at ``recalled_at``."""

    memory: Memory
    recalls: int
    recalled_at: datetime | None


@dataclass(frozen=True, slots=True)
class MemoryHistory:
    """The versions that are still there, the oldest first, and all events in order. Without versions all were purged."""

    id: MemoryId
    versions: tuple[MemoryVersion, ...]
    events: tuple[MemoryEvent, ...]


def memory_history(
    store: Store,
    namespace: str,
    memory_id: MemoryId,
    secrets: SecretPolicy | None,
    *,
    known: Collection[MemoryId] = (),
) -> MemoryHistory:
    """Return the life of a memory with its earlier and later versions; ``secrets`` says what is shown of them, None reveals them.

    ``known`` are versions that the caller knows of already: they are read together, where others are read link by link.

    Raises:
        NotFound: there never was such a memory in this namespace.
    """
    versions = _versions(store, namespace, memory_id, known)
    ids = [one.id for one in versions] or [memory_id]
    log = store.history(namespace, ids)
    if not log and not versions:
        raise NotFound("id: there is and was no such memory here; --namespace looks elsewhere")
    usage = store.usage(namespace, ids)
    return MemoryHistory(
        memory_id,
        tuple(
            MemoryVersion(
                memory=one if secrets is None else secrets.shown(one),
                recalls=usage[one.id].count if one.id in usage else 0,
                recalled_at=usage[one.id].accessed_at if one.id in usage else None,
            )
            for one in versions
        ),
        tuple(_events(log)),
    )


def _versions(store: Store, namespace: str, memory_id: MemoryId, known: Collection[MemoryId]) -> list[Memory]:
    """Return all versions that are linked with one, the oldest first."""
    found: dict[MemoryId, Memory] = {}
    wanted = {memory_id, *known}
    while wanted:
        read = store.get(namespace, wanted)
        found |= read
        linked = {one for memory in read.values() for one in (memory.supersedes, memory.superseded_by)}
        wanted = {one for one in linked if one is not None and one not in found}
    return sorted(found.values(), key=lambda memory: (memory.created_at, memory.id))


def _events(log: Iterable[LogEntry]) -> Iterable[MemoryEvent]:
    for entry in log:
        note = "erased for good" if entry.change is ChangeType.PURGE else entry.note
        yield MemoryEvent(entry.at, entry.id, entry.action, entry.actor, note)
