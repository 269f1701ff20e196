"""What a store keeps of its synchronisation with others, and a step of it: the extra `sync` decides, a store applies.

A step is one transaction: the decision looks at a `SyncView` and returns a `SyncBatch`. Times of changes are stamps: microseconds since
1970 that never go back within a namespace and always advance (stamps).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias

from hybrid_memory.clock import from_micros

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from hybrid_memory.model import Json, Memory, MemoryId, Usage
    from hybrid_memory.store.transfer import MemoryItem

SYNC = "sync"
"""The action of the log's entries that a synchronisation makes: they tell of other machines' changes, which are not sent again."""

FOLDERS: Final = "folders"
"""The note that lists the keys of the folders that a store was synchronised through, one a line."""
LAST: Final = "last "
"""Before a folder's key: the note of when there was last anything to tell or hear."""
PATH: Final = "path "
"""Before a folder's key: the note of its machine and path."""

ItemKey: TypeAlias = tuple[str, str, str, int]
"""What is kept alongside memories in a namespace: its kind ("buffer", "conversation", "entry"), two names, and the number of an entry."""


@dataclass(frozen=True, slots=True)
class LoggedChange:
    """An entry of the log, as far as it says what changed."""

    position: int
    change: str
    id: MemoryId
    at: int
    action: str
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RowStamps:
    """What is known of the changes of a memory.

    ``stamps`` say when a field was last changed, by its name; a field that is as it was written has none. ``gone`` is the stamp of its
    purge, ``born`` that of its coming again after one; 0 for never. ``raw`` has what a field was set to where the row shows what follows
    from other memories (a version, a duplicate).
    """

    born: int = 0
    gone: int = 0
    stamps: Mapping[str, int] = field(default_factory=dict)
    raw: Mapping[str, str | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ItemState:
    """What is stored with memories under a key: ``value`` is its JSON, None where it is removed; ``stamp`` when that was said."""

    value: Mapping[str, Json] | None
    stamp: int


@dataclass(frozen=True, slots=True)
class ChangedItem:
    """An item that is not as the last synchronisation left it; ``known``: it was there then; ``at`` is its own time or 0."""

    key: ItemKey
    at: int
    known: bool


@dataclass(frozen=True, slots=True)
class LogMark:
    """Up to where the log of a namespace has been looked at, the link of that entry, and the newest stamp of the namespace."""

    position: int = 0
    link: str | None = None
    clock: int = 0


class SyncView(Protocol):
    """One moment of one namespace, under its write lock."""

    @property
    def mark(self) -> LogMark:
        """Up to where the log has been looked at."""
        ...

    @property
    def now(self) -> datetime:
        """The store's time."""
        ...

    def is_same_log(self) -> bool:
        """Return False if the log behind the mark is another one than it was: the namespace was erased meanwhile."""
        ...

    def log(self, after: int, limit: int) -> Sequence[LoggedChange]:
        """Return entries of the log behind a position."""
        ...

    def link_at(self, position: int) -> str | None:
        """Return the link of an entry of the log."""
        ...

    def memories(self, ids: Iterable[MemoryId]) -> dict[MemoryId, Memory]:
        """Return the memories that exist."""
        ...

    def usage(self, ids: Iterable[MemoryId]) -> dict[MemoryId, Usage]:
        """Return how memories were used."""
        ...

    def rows(self, ids: Iterable[MemoryId]) -> dict[MemoryId, RowStamps]:
        """Return what is known of the changes of memories, purged ones included."""
        ...

    def linked(self, ids: Collection[MemoryId]) -> set[MemoryId]:
        """Return memories that one of some supersedes, or that supersede one of them."""
        ...

    def referring(self, ids: Collection[MemoryId]) -> set[MemoryId]:
        """Return memories with a link of any sort to one of some."""
        ...

    def same_words(self, digests: Collection[str]) -> set[MemoryId]:
        """Return the memories with some digests of words."""
        ...

    def entangled(self, ids: Collection[MemoryId]) -> set[MemoryId]:
        """Return which of some memories have versions, or the words of another."""
        ...

    def changed_items(self) -> Sequence[ChangedItem]:
        """Return what alongside memories is not as the last synchronisation left it."""
        ...

    def items(self, keys: Collection[ItemKey]) -> dict[ItemKey, ItemState]:
        """Return what is known of items, removed ones included."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncBatch:
    """What one step changes, applied together.

    ``updates`` are rows as they were and as they are to be, ``rows`` what is then known of memories. ``usage`` is set, not added; ``heard``
    is the use that other machines know. ``items`` are set; ``own`` are the keys of those that this machine changed.
    """

    mark: LogMark
    rows: Mapping[MemoryId, RowStamps] = field(default_factory=dict)
    inserts: tuple[MemoryItem, ...] = ()
    updates: tuple[tuple[Memory, Memory], ...] = ()
    removed: tuple[MemoryId, ...] = ()
    usage: Mapping[MemoryId, Usage] = field(default_factory=dict)
    heard: Mapping[MemoryId, Usage] = field(default_factory=dict)
    items: Mapping[ItemKey, ItemState] = field(default_factory=dict)
    own: frozenset[ItemKey] = frozenset()
    result: Any = None


SyncDecision: TypeAlias = Callable[[SyncView], SyncBatch]
"""A pure function of the view."""


@dataclass(frozen=True, slots=True)
class FolderMark:
    """What a folder has of a namespace: the log up to ``sent``, without what was purged up to ``cleaned``, items up to a write.

    ``cleaned`` is -1 where words went that the log does not name: with a namespace, or with an entry of a conversation.
    """

    sent: int = 0
    cleaned: int = 0
    written: int = 0


@dataclass(frozen=True, slots=True)
class Erasure:
    """What lost words: memories, and whatever is not in the store any more, if it is ``unnamed``."""

    ids: frozenset[MemoryId]
    unnamed: bool

    def __bool__(self) -> bool:
        """Return whether there is anything."""
        return self.unnamed or bool(self.ids)


@dataclass(frozen=True, slots=True)
class Outgoing:
    """What is to be sent of a namespace, up to where in its log."""

    ids: tuple[MemoryId, ...]
    items: tuple[ItemKey, ...]
    mark: FolderMark

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing."""
        return not (self.ids or self.items)


class SyncStore(Protocol):
    """The part of a store that is synchronised."""

    def identity(self) -> str | None:
        """Return what the store is wherever its hubs run, and no copy of it is; None where it is what lies in the folder of its hub."""
        ...

    def alone(self) -> AbstractContextManager[bool]:
        """Hold that no other hub synchronises this store; gives False if one does."""
        ...

    def notes(self) -> dict[str, str]:
        """Return what was noted for the synchronisation, by name."""
        ...

    def note(self, name: str, value: str) -> None:
        """Note something by name."""
        ...

    def writes(self) -> tuple[int, str]:
        """Return how many writes the store has had, and what else must be equal where nothing changed."""
        ...

    def namespaces(self) -> Sequence[str]:
        """Return all namespaces that there is or was anything in."""
        ...

    def write(self, namespace: str, decide: SyncDecision, *, actor: str) -> SyncBatch:
        """Let a decision look, then do what it says, in one transaction."""
        ...

    def read(self, namespace: str, look: Callable[[SyncView], Any]) -> Any:
        """Let somebody look at one moment of a namespace."""
        ...

    def outgoing(self, folder: str, namespace: str, *, relay: bool) -> Outgoing:
        """Return what a folder does not have yet; with ``relay`` also what came from other machines."""
        ...

    def sent(
        self, folder: str, namespace: str, mark: FolderMark, segments: Collection[str], usage: Mapping[MemoryId, Usage]
    ) -> None:
        """Note that something was sent, in some segments, and the use of memories that was told."""
        ...

    def to_clean(self, folder: str, namespace: str) -> tuple[Erasure, FolderMark]:
        """Return what lost words since a folder was cleaned, and the mark after it."""
        ...

    def cleaned(self, folder: str, namespace: str, mark: FolderMark) -> None:
        """Note that a folder was cleaned."""
        ...

    def segments(self, folder: str) -> set[str]:
        """Return the names of the segments of a folder that are known here."""
        ...

    def know(self, folder: str, segments: Collection[str]) -> None:
        """Note that segments are known here."""
        ...

    def unknow(self, folder: str, segments: Collection[str]) -> None:
        """Note that segments are no longer there."""
        ...

    def unsent(self, folder: str, namespace: str) -> int:
        """Return about how many memories a folder does not have as they are."""
        ...

    def forget_folder(self, folder: str) -> None:
        """Forget what a folder has: everything is sent again."""
        ...


def known_folders(store: SyncStore) -> dict[str, datetime | None]:
    """Return the folders that a store was synchronised through, each with the last time that there was anything to tell or hear."""
    notes = store.notes()
    return {
        notes.get(PATH + folder, folder): from_micros(int(notes[LAST + folder])) if LAST + folder in notes else None
        for folder in notes.get(FOLDERS, "").split("\n")
        if folder
    }
