"""Erasing for good: what may be asked of a store, and who does it in the store and in all its copies (`hybrid_memory.admin.purge`).

Deleting a row leaves its bytes behind. How they go is the store's own matter: a file is written again without them, a server rewrites
its tables. So a store gives an `Eraser`, which also says whether the store must be closed meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, TypeAlias

if TYPE_CHECKING:
    from datetime import datetime

    from hybrid_memory.model import Memory, MemoryId
    from hybrid_memory.store.administration import WholeStore
    from hybrid_memory.store.transfer import PurgeSelection, RedactionPlan

OnStep: TypeAlias = Callable[[str], None]
"""Told the name of each step when it is done; tests kill the process there."""

RemainingState: TypeAlias = Callable[[str, "frozenset[MemoryId]"], "str | None"]
"""Returns a buffer's state without some memories, None when nothing is left of it."""


@dataclass(frozen=True, slots=True)
class PurgeJob:
    """Take memories out, and what was made of them: those that a selection came to, and those that it comes to in each copy."""

    selection: PurgeSelection
    ids: frozenset[MemoryId]


@dataclass(frozen=True, slots=True)
class RedactionJob:
    """Take secrets out of memories, and keep the memories."""

    namespace: str
    plan: RedactionPlan


@dataclass(frozen=True, slots=True)
class CatchUpJob:
    """Take out what the rows of the store no longer hold: the memories that are ``gone`` of each namespace, and former words of others.

    ``redacted`` are memories as they are now. In a copy that still has them as they were, they get these words.
    """

    gone: Mapping[str, tuple[MemoryId, ...]] = field(default_factory=dict)
    redacted: tuple[Memory, ...] = ()


ErasureJob: TypeAlias = PurgeJob | RedactionJob | CatchUpJob


@dataclass(frozen=True, slots=True, kw_only=True)
class Purged:
    """What an erasure did: memories that went or lost words, copies that were rewritten, files that were removed because they could not be.

    ``elsewhere`` names, a sentence each, what may still hold the bytes and is out of this program's reach.
    """

    memories: int
    rewritten: int
    removed: int
    elsewhere: tuple[str, ...] = ()


class Eraser(Protocol):
    """Erases in one store and in all its copies in its folder."""

    @property
    def needs_closed_store(self) -> bool:
        """Whether nobody may have the store open meanwhile."""
        ...

    def erase(
        self,
        make_job: Callable[[WholeStore], ErasureJob],
        now: datetime,
        *,
        actor: str,
        remaining_state: RemainingState,
        on_step: OnStep = lambda _: None,
        copies_too: bool = True,
    ) -> Purged:
        """Do the job that ``make_job`` makes of the open store; it raises where there is nothing to do, and nothing is changed then.

        The copies go first and the store last, so that an erasure that was killed is not done, and is done again. Without ``copies_too``
        they stay as they are. A copy that cannot be rewritten is removed.

        Raises:
            StoreLocked: somebody has the store open who must not.
            StoreFull: there is no room; the store is unchanged.
        """
        ...
