"""Which memories are doubtful, and why. Pure; `MemoryStore` chooses by it, `duck/list_table.py` says the same in SQL."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from hybrid_memory.model import Memory, MemoryId, Origin, Trust
from hybrid_memory.requests import MemoryState
from hybrid_memory.store.listing import state_of
from hybrid_memory.trust import BESIDE_OTHERS

HOOK_SOURCE = "hook:"
"""How the source of a memory begins that a hook wrote; the client's name follows."""


class Reason(StrEnum):
    """Why a memory waits for a person, the most pressing first.

    It is not trusted and contradicts one that is; it holds a secret; it may be somebody else's words; a tool or a file said it.
    A link between two that are trusted alike is a guess and no reason, and an import is no reason either: a person asked for it.
    """

    DISPUTED = "disputed"
    SECRET = "secret"  # noqa: S105 - the name of a reason
    PASTED = "pasted"
    UNTRUSTED = "untrusted"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewRequest:
    """What waits at a moment, at most ``limit``; ``secrets`` are the memories that hold one."""

    now: datetime
    secrets: frozenset[MemoryId] = frozenset()
    limit: int = 500


def reason_of(
    memory: Memory, live: Mapping[MemoryId, Memory], secrets: Collection[MemoryId], now: datetime
) -> Reason | None:
    """Return the most pressing reason why a memory waits; None if it is not current, or a person has judged it.

    ``live`` are the current memories.
    """
    if state_of(memory, now) is not MemoryState.CURRENT or memory.verdict or memory.trust is Trust.CONFIRMED:
        return None
    untrusted = memory.trust is Trust.UNTRUSTED
    other = None if memory.disputes is None else live.get(memory.disputes)
    if untrusted and other is not None and other.trust in (Trust.AGENT, Trust.USER):
        return Reason.DISPUTED
    if memory.id in secrets:
        return Reason.SECRET
    if (memory.source or "").endswith(BESIDE_OTHERS) and not memory.is_episode:
        return Reason.PASTED
    return Reason.UNTRUSTED if untrusted and memory.origin is not Origin.IMPORT else None
