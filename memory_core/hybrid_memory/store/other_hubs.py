"""Several hubs over one store: what one hears of the others, and who does what only one may do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from hybrid_memory.model import Memory, MemoryId
    from hybrid_memory.store.writing import LogEntry


@dataclass(frozen=True, slots=True)
class News:
    """A part of a namespace's log, in order, with the memories that it names as they are now (not those that were purged since).

    ``vectors`` and ``passages`` are those that the memories have.
    """

    log: Sequence[LogEntry]
    memories: Mapping[MemoryId, Memory]
    vectors: Mapping[MemoryId, NDArray[np.float32]]
    passages: Mapping[MemoryId, bytes]


class Follower(Protocol):
    """Who wants to know what other hubs do to a store: called in a thread of the store's, to which it returns at once."""

    def on_change(self, namespace: str, head: int) -> None:
        """Another hub has written to a namespace: its log now ends at ``head``, or further on."""
        ...

    def on_hint(self, namespace: str, position: int) -> None:
        """Somebody says that a namespace of which `marks` tells has come to a position; whether it is so only its log knows."""
        ...

    def on_exchange(self) -> None:
        """What was read of the store before may be true no more, and no log says why: something was erased, or restored."""
        ...

    def on_embedder(self) -> None:
        """The store has another embedder, and the vectors of that one."""
        ...

    def marks(self) -> Mapping[str, int]:
        """Return up to where each namespace that is held in memory was followed; the log may be shortened behind that."""
        ...


EMBEDDER_LEASE = "embedder"
"""The lease under which a store's embedder is changed: who lost it can change nothing of that any more."""


class Lease(Protocol):
    """The right to do some late work of a store, which one hub at a time has; it is renewed until `release`, or until the hub dies.

    A hub that stood still for longer than its lease may have lost it without knowing. What it then writes as late work is refused by
    the store where doing it twice would do harm.
    """

    @property
    def fence(self) -> int:
        """A number that is greater than that of each former holder."""
        ...

    @property
    def is_held(self) -> bool:
        """Whether it is certain that no other hub has it now."""
        ...

    def release(self) -> None:
        """Let another hub have it at once; calling it again does nothing."""
        ...


@dataclass(frozen=True, slots=True)
class OtherHub:
    """Another hub that serves the same store: its name (that of its machine), its version, and when it was last heard of."""

    name: str
    version: str
    started_at: datetime
    seen_at: datetime


class OwnLease:
    """A lease of a store that no other hub can have open."""

    fence = 1
    is_held = True

    def release(self) -> None:
        """Do nothing."""
