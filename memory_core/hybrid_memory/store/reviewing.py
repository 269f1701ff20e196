"""Which memories a person may want to look at, and why. Pure; `MemoryStore` chooses by it, `duck/review_table.py` says the same in SQL."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from hybrid_memory.model import Memory, MemoryId, Origin, Trust
from hybrid_memory.requests import MemoryState
from hybrid_memory.store.listing import state_of

HOOK_SOURCE = "hook:"
"""How the source of a memory begins that a hook wrote; the client's name follows."""


class Reason(StrEnum):
    """Why a memory waits for a person, the most pressing first.

    It says otherwise than a more trusted one; it holds a secret; a tool or a file said it; a hook wrote it by itself; it was imported.
    """

    DISPUTED = "disputed"
    SECRET = "secret"  # noqa: S105 - the name of a reason
    UNTRUSTED = "untrusted"
    HOOK = "hook"
    IMPORTED = "imported"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewRequest:
    """A page of what waits at a moment: of all, or for one ``reason``; ``secrets`` are the memories that hold one."""

    now: datetime
    reason: Reason | None = None
    secrets: frozenset[MemoryId] = frozenset()
    limit: int = 20
    offset: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewPage:
    """Memories by namespace and id with their reasons, the most pressing and then the newest first; and how many wait in all.

    ``counts`` are of each reason; a memory with several counts for each.
    """

    memories: Mapping[tuple[str, MemoryId], tuple[Reason, ...]] = field(default_factory=dict)
    total: int = 0
    counts: Mapping[Reason, int] = field(default_factory=dict)


def reasons_of(
    memory: Memory, live: Mapping[MemoryId, Memory], secrets: Collection[MemoryId], now: datetime
) -> tuple[Reason, ...]:
    """Return why a memory waits; not at all if it is not current, or a person has judged it. ``live`` are the current ones."""
    if state_of(memory, now) is not MemoryState.CURRENT or memory.verdict or memory.trust is Trust.CONFIRMED:
        return ()
    other = None if memory.disputes is None else live.get(memory.disputes)
    holds = {
        Reason.DISPUTED: other is not None and other.trust is not Trust.CONFIRMED,
        Reason.SECRET: memory.id in secrets,
        Reason.UNTRUSTED: memory.trust is Trust.UNTRUSTED,
        Reason.HOOK: (memory.source or "").startswith(HOOK_SOURCE) and not memory.is_episode,
        Reason.IMPORTED: memory.origin is Origin.IMPORT,
    }
    return tuple(one for one in Reason if holds[one])
