"""What a store in memory holds, and who may use it when."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, TypeVar

from hybrid_memory.errors import ConstraintViolation, LogTrimmed, StoreClosed
from hybrid_memory.model import Memory, MemoryId, Usage
from hybrid_memory.store.audit_chain import ChainedEntry
from hybrid_memory.store.encoding import check_moment, object_to_json
from hybrid_memory.store.memory_fields import object_from_json
from hybrid_memory.store.writing import KEPT_UNDOS, BufferState, LogEntry, RecordUse, UndoRecord, WriteBatch

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


_Value = TypeVar("_Value")


@dataclass(slots=True)
class NamespaceRecords:
    """One namespace."""

    name: str = ""
    memories: dict[MemoryId, Memory] = field(default_factory=dict)
    vectors: dict[MemoryId, NDArray[np.float32]] = field(default_factory=dict)
    passages: dict[MemoryId, bytes] = field(default_factory=dict)
    usage: dict[MemoryId, Usage] = field(default_factory=dict)
    buffers: dict[tuple[str, str], BufferState] = field(default_factory=dict)
    log: list[LogEntry] = field(default_factory=list)
    chain: list[ChainedEntry] = field(default_factory=list)
    trimmed_before: int = 0
    undos: dict[str, UndoRecord] = field(default_factory=dict)

    @property
    def head(self) -> int:
        """The position of the last change."""
        return len(self.log)

    def changes_after(self, after: int) -> list[LogEntry]:
        """Return the log behind a position.

        Raises:
            LogTrimmed: it does not reach back that far any more.
        """
        if after + 1 < self.trimmed_before:
            raise LogTrimmed("the change log no longer reaches back that far; load a snapshot")
        return self.log[max(after, 0) :]


@dataclass(slots=True)
class ConversationEntries:
    """One conversation's entries of one kind."""

    last: int = 0
    bodies: dict[int, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class StoredRequest:
    """What a request led to."""

    namespace: str
    result: str
    position: int
    at: datetime


@dataclass(slots=True)
class NextVectors:
    """An embedder that is to take over, and its vectors by namespace and id."""

    identity: str
    dimensions: int
    vectors: dict[tuple[str, MemoryId], NDArray[np.float32]] = field(default_factory=dict)
    passages: dict[tuple[str, MemoryId], bytes] = field(default_factory=dict)


class StoreData:
    """What the store holds, and who may use it when: the store and its embedder change share it."""

    def __init__(self) -> None:
        self.embedder: tuple[str, int] | None = None
        self.namespaces: dict[str, NamespaceRecords] = {}
        self.deciding = False
        self.closed = False
        self.lock = threading.RLock()

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Hold the lock of a store that is open.

        Raises:
            StoreClosed: it is closed.
        """
        with self.lock:
            if self.closed:
                raise StoreClosed("the memory store is closed; open it again")
            yield

    @contextmanager
    def writing(self) -> Iterator[None]:
        """As `reading`, for a change.

        Raises:
            ConstraintViolation: a decision of this thread is running.
        """
        with self.reading():
            if self.deciding:
                raise ConstraintViolation("a decision cannot write; give the changes back as its result")
            yield


def record_uses(records: NamespaceRecords, uses: Iterable[RecordUse]) -> None:
    """Add to the usage statistics; unknown ids are ignored."""
    for use in uses:
        check_moment(use.at)
        if use.id in records.memories:
            known = records.usage.get(use.id, Usage(accessed_at=use.at, count=0))
            records.usage[use.id] = Usage(accessed_at=max(known.accessed_at, use.at), count=known.count + use.count)


def keep_undo(records: NamespaceRecords, batch: WriteBatch, at: datetime) -> None:
    """Keep what undoes a write, and let go what was used up and what is too old."""
    if batch.undone is not None:
        records.undos.pop(batch.undone, None)
    if batch.undo is not None:
        body = object_from_json(object_to_json(batch.undo.body))
        records.undos[batch.undo.id] = replace(batch.undo, body=body, namespace=records.name, at=at, actor=batch.actor)
        for old in list(records.undos)[:-KEPT_UNDOS]:
            del records.undos[old]


def existing(values: Mapping[MemoryId, _Value], ids: Iterable[MemoryId]) -> dict[MemoryId, _Value]:
    """Return those of some values that exist, by id."""
    return {id_: values[id_] for id_ in ids if id_ in values}
