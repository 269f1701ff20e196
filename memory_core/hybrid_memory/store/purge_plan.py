"""What is to be erased from a store, and what that takes along."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hybrid_memory.model import MemoryId


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
    and goes, ``derived`` because they were made from one that goes. ``missing`` counts ids that are not there. ``entries``
    and ``buffers`` go with their session or namespace. What stays although it may say something alike: ``newer`` versions
    of what goes, memories in the ``same_words``, and what was derived from it (``kept_derived``).
    """

    ids: frozenset[MemoryId]
    named: int
    versions: int
    derived: int
    missing: int
    entries: int
    buffers: int
    newer: tuple[MemoryId, ...]
    same_words: tuple[MemoryId, ...]
    kept_derived: tuple[MemoryId, ...]

    @property
    def nothing(self) -> bool:
        """Whether there is nothing to erase."""
        return not (self.ids or self.entries or self.buffers)
