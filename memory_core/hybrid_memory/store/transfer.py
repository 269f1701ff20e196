"""What a store gives and takes as a whole: for backups, exports, imports and purges (`hybrid_memory.admin`)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias

from hybrid_memory.store.base import Store

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from hybrid_memory.model import Json, Memory, MemoryId, Trust, Usage
    from hybrid_memory.store.writing import BufferState


@dataclass(frozen=True, slots=True)
class MemoryItem:
    """A memory with what is kept alongside it; each may be missing, and there are no passages without a vector."""

    memory: Memory
    usage: Usage | None = None
    vector: NDArray[np.float32] | None = None
    passages: bytes | None = None


@dataclass(frozen=True, slots=True)
class BufferItem:
    """The attention buffers of a session's agent in a namespace."""

    namespace: str
    buffer: BufferState


@dataclass(frozen=True, slots=True)
class ConversationItem:
    """A conversation of the log of messages and plans; ``last`` is the highest number that it ever gave."""

    namespace: str
    name: str
    kind: str
    last: int


@dataclass(frozen=True, slots=True)
class EntryItem:
    """One entry of a conversation."""

    namespace: str
    conversation: str
    kind: str
    number: int
    body: Mapping[str, Json]


TransferItem: TypeAlias = MemoryItem | BufferItem | ConversationItem | EntryItem

Refusal: TypeAlias = Callable[[TransferItem], str | None]
"""Returns why an import would refuse an item, None where it takes it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreContents:
    """What some namespaces hold at one moment. ``items`` is read once; how many of each there are comes before it.

    What cannot be read is counted and not among the items. They come namespace by namespace, memories by time of creation (of
    one moment in the order of storing) before the rest.
    """

    embedder: str | None
    dimensions: int | None
    namespaces: tuple[str, ...]
    memories: int
    buffers: int
    conversations: int
    entries: int
    items: Iterator[TransferItem]

    @property
    def total(self) -> int:
        """How many items there are."""
        return self.memories + self.buffers + self.conversations + self.entries


@dataclass(frozen=True, slots=True)
class ExistingMemory:
    """What tells whether a memory that is to come in is the one that is there, and whether it may be linked to."""

    namespace: str
    id: MemoryId
    content_hash: str
    created_at: int
    trust: Trust
    superseded_by: MemoryId | None


@dataclass(frozen=True, slots=True)
class ImportCounts:
    """How many items came in, and how many were there already."""

    new: int
    there: int


@dataclass(frozen=True, slots=True)
class ImportRows:
    """The memories of one import that are in a namespace: by its ``action`` in the log, ``first`` and ``last`` by time of creation."""

    action: str
    namespace: str
    at: datetime
    memories: int
    first: datetime
    last: datetime


@dataclass(frozen=True, slots=True)
class UndoneImport:
    """How many memories of an import left the store, of which namespaces, and what made of them stays (namespace and id)."""

    memories: int
    namespaces: tuple[str, ...]
    resting_on: tuple[tuple[str, MemoryId], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PurgeSelection:
    """What is to be erased in a namespace: some ids, a session, all that is forgotten, or everything.

    ``derived`` takes along the insights and summaries that were made from it.
    """

    namespace: str
    ids: tuple[MemoryId, ...] = ()
    session: str | None = None
    forgotten: bool = False
    everything: bool = False
    derived: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class PurgePlan:
    """What a selection comes to.

    ``ids`` are all memories that go: ``named`` of them by the selection itself, ``versions`` because a later one supersedes them
    and goes, ``derived`` because they were made from one that goes. ``missing`` are ids that are not there. ``entries``
    and ``buffers`` go with their session or namespace. What stays although it may say something alike: ``newer`` versions
    of what goes, memories in the ``same_words``, what was derived from it (``kept_derived``),
    and more trusted older versions, which are current again (``kept_older``). ``derived_elsewhere`` are memories of other namespaces, with
    these, that rest on what goes: conclusions in a project on what the person said. A purge takes nothing of another namespace.
    """

    ids: frozenset[MemoryId]
    named: int
    versions: int
    derived: int
    missing: tuple[MemoryId, ...]
    entries: int
    buffers: int
    newer: tuple[MemoryId, ...]
    same_words: tuple[MemoryId, ...]
    kept_derived: tuple[MemoryId, ...]
    kept_older: tuple[MemoryId, ...] = ()
    derived_elsewhere: tuple[tuple[str, MemoryId], ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to erase."""
        return not (self.ids or self.entries or self.buffers)


@dataclass(frozen=True, slots=True)
class RedactionPlan:
    """What a redaction comes to: ``ids`` that were named and are there, ``missing`` ones, ``kinds`` of secrets in them.

    ``values`` are the secrets themselves, which are never shown; ``others`` the memories alongside the named ones that hold one of them,
    ``entries`` how many entries of conversations do.
    """

    ids: tuple[MemoryId, ...]
    missing: tuple[MemoryId, ...]
    kinds: tuple[str, ...]
    values: tuple[tuple[str, str], ...]
    others: tuple[MemoryId, ...]
    entries: int


TableSums: TypeAlias = Mapping[str, tuple[int, int]]
"""For each table the number of its rows and the sum of their hashes."""


class TransferStore(Protocol):
    """The part of a store that is copied, exported and filled as a whole."""

    def copy_to(self, file: Path) -> TableSums:
        """Write a copy of this moment to a new database file in the folder of backups, alongside reads and writes.

        Raises:
            StoreFull, StoreReadOnly, EngineUnavailable: it could not be written; nothing is left of it.
        """
        ...

    def export_items(self, namespaces: Sequence[str] | None, *, vectors: bool) -> StoreContents:
        """Return what some namespaces hold, all of them when none is named."""
        ...

    def plan_purge(self, selection: PurgeSelection) -> PurgePlan:
        """Return what a purge of a selection would erase; nothing is changed."""
        ...

    def plan_redaction(self, namespace: str, ids: Sequence[MemoryId], words: str | None) -> RedactionPlan:
        """Return what taking the secrets out of some memories would come to; ``words`` are to go though they are not recognised."""
        ...

    def existing(self, keys: Sequence[tuple[str, MemoryId]]) -> dict[tuple[str, MemoryId], ExistingMemory]:
        """Return those memories that exist, by namespace and id."""
        ...

    def same_words(self, namespace: str, digests: Sequence[str]) -> list[ExistingMemory]:
        """Return the memories of a namespace whose words have one of some digests."""
        ...

    def imports(self) -> list[ImportRows]:
        """Return the imports of which memories are in the store, by time and namespace."""
        ...

    def known_imports(self) -> list[str]:
        """Return the actions of all imports that there ever were, also of those that were undone."""
        ...

    def undo_import(
        self, action: str, *, actor: str, remaining_state: Callable[[str, frozenset[MemoryId]], str | None]
    ) -> UndoneImport:
        """Delete the memories that came in with an import, and all references to them, in one transaction.

        ``remaining_state`` gives a buffer's state without some memories, None when nothing is left of it.
        """
        ...

    def import_items(self, items: Sequence[TransferItem], *, action: str, actor: str) -> ImportCounts:
        """Store items as they are, in one transaction; what is there already stays as it is.

        Raises:
            ConstraintViolation: an id or number exists with other contents, or a value cannot be stored; nothing was changed.
        """
        ...


class TransferableStore(Store, Protocol):
    """A store that can be copied, exported and filled as a whole."""

    @property
    def transfer(self) -> TransferStore:
        """The part of the store that does that."""
        ...
