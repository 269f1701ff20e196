"""What is over, and later copies of what is kept already, fade in the background: found when asked for, and used again they come back."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from hybrid_memory.model import Memory, MemoryId, Tier, Verdict
from hybrid_memory.retrieval.near_copies import copy_key
from hybrid_memory.service.profile import Fetch, over_now
from hybrid_memory.store.writing import SetTier, WriteBatch

if TYPE_CHECKING:
    from collections.abc import Hashable
    from datetime import datetime

    from hybrid_memory.changes.endings import EndingModel
    from hybrid_memory.retrieval.index import NamespaceIndex
    from hybrid_memory.service.committing import Commits
    from hybrid_memory.store.writing import WriteView

IS_OVER = "it is over"
SAID_BEFORE = "said before"
_AT_ONCE = 200  # rows of one transaction, so that other writes need not wait


def tidy(commits: Commits, namespace: str, endings: EndingModel | None) -> int:
    """Let the long-term memories of a namespace fade that are over, or say what an earlier one says; returns how many did."""
    index, now = commits.indexes.get(namespace), commits.time.now()
    fetch = partial(commits.store.get, namespace)
    why = dict.fromkeys(copies(index, fetch, now), SAID_BEFORE) | dict.fromkeys(
        all_over(index, fetch, endings, now), IS_OVER
    )
    fading = [one for one, memory in index.memories(list(why), fetch).items() if _may_fade(memory)]
    for at in range(0, len(fading), _AT_ONCE):

        def decide(view: WriteView, ids: tuple[MemoryId, ...] = tuple(fading[at : at + _AT_ONCE])) -> WriteBatch:
            still = [one.id for one in view.get(ids).values() if _may_fade(one)]
            changes = tuple(SetTier(one, Tier.FADED, why[one]) for one in still)
            return WriteBatch(action="tidy", actor="memory", tier_changes=changes)

        commits.commit(namespace, None, decide, index=index)
    return len(fading)


def all_over(index: NamespaceIndex, fetch: Fetch, endings: EndingModel | None, now: datetime) -> frozenset[MemoryId]:
    """Return the live memories that speak of what has passed."""
    passed = [] if endings is None else index.passed(now)
    return over_now(endings, index, index.memories(passed, fetch).values(), now) if endings and passed else frozenset()


def copies(index: NamespaceIndex, fetch: Fetch, now: datetime) -> dict[MemoryId, MemoryId]:
    """Return the live statements that say in nearly the same words what an earlier one says, of the same trust, and that one."""
    firsts: dict[Hashable, Memory] = {}
    found: dict[MemoryId, MemoryId] = {}
    memories = index.memories([one for some in index.of_same_words(now) for one in some], fetch)
    for one in sorted(memories.values(), key=lambda one: (one.created_at, one.id)):
        happened = one.occurred_at and one.occurred_at.date()
        first = firsts.setdefault((copy_key(one.content), one.namespace, one.trust, one.kind, happened), one)
        if first is not one:
            found[one.id] = first.id
    return found


def _may_fade(memory: Memory) -> bool:
    return (
        memory.tier is Tier.LONG_TERM
        and not memory.pinned
        and memory.verdict is not Verdict.TRUE
        and memory.forgotten_at is None
        and memory.superseded_by is None
    )
