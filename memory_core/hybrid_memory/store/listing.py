"""Which memories a list holds, and how a memory is. Pure; `MemoryStore` lists by it, `duck/list_table.py` says the same in SQL."""

from __future__ import annotations

from datetime import datetime

from hybrid_memory.model import Memory
from hybrid_memory.requests import ListRequest, MemoryState


def state_of(memory: Memory, now: datetime) -> MemoryState:
    """Return how a memory is at a moment."""
    if memory.forgotten_at is not None:
        return MemoryState.FORGOTTEN
    if memory.superseded_by is not None:
        return MemoryState.SUPERSEDED
    if memory.expires_at is not None and memory.expires_at <= now:
        return MemoryState.EXPIRED
    return MemoryState.CURRENT


def is_listed(memory: Memory, wanted: ListRequest, now: datetime) -> bool:
    """Return True if a memory passes all filters of a list."""
    happened = memory.occurred_at or memory.created_at
    equal = (
        (wanted.kind, memory.kind),
        (wanted.tier, memory.tier),
        (wanted.origin, memory.origin),
        (wanted.trust, memory.trust),
        (wanted.session, memory.session),
        (wanted.state, state_of(memory, now)),
        (wanted.pinned or None, memory.pinned),
    )
    return (
        not (wanted.without_episodes and memory.is_episode)
        and all(asked is None or asked == found for asked, found in equal)
        and set(wanted.tags) <= set(memory.tags)
        and (wanted.since is None or happened >= wanted.since)
        and (wanted.until is None or happened < wanted.until)
    )
