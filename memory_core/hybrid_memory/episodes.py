"""Episodes do not stay: those that are too old, or too many, are swept in the background.

An episode is what a person said in passing (`hybrid_memory.model.Kind`). What was promoted is no episode any more, and stays.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from hybrid_memory.store.writing import SWEEP, WriteBatch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hybrid_memory.committing import Commits
    from hybrid_memory.model import Memory, MemoryId
    from hybrid_memory.store.writing import WriteView

MOST_EPISODES = 20_000
"""So many of a namespace are kept."""

_MOST_LINKS = 5_000
_AT_ONCE = 200  # rows of one transaction, so that other writes need not wait


def sweep_episodes(commits: Commits, namespace: str, days: float) -> int:
    """Remove the episodes of a namespace that are older than ``days``, or more than `MOST_EPISODES`; returns how many went.

    One that speaks of a day ahead stays until then, and one that another memory names (as the earlier saying of its words, say) as long as
    that does.
    """
    now = commits.time.now()
    index = commits.indexes.get(namespace)
    swept = 0
    chosen = index.episodes_to_sweep(now - timedelta(days=days), MOST_EPISODES, now)
    for at in range(0, len(chosen), _AT_ONCE):
        free = _unnamed(commits, namespace, chosen[at : at + _AT_ONCE])

        def decide(view: WriteView, free: Sequence[MemoryId] = tuple(free)) -> WriteBatch:
            going = tuple(one.id for one in view.get(free).values() if one.is_episode)
            return WriteBatch(action=SWEEP, actor="memory", removals=going, result={"swept": len(going)})

        swept += commits.commit(namespace, None, decide, index=index).result["swept"] if free else 0
    return swept


def _unnamed(commits: Commits, namespace: str, ids: Sequence[MemoryId]) -> list[MemoryId]:
    """Return those of some memories that no other memory names."""
    found = [one for _, one in commits.store.linked_to([namespace], ids, _MOST_LINKS)]
    if len(found) == _MOST_LINKS:  # there may be more
        return []
    named = {one for memory in commits.store.get(namespace, found).values() for one in _names(memory)}
    return [one for one in ids if one not in named]


def _names(memory: Memory) -> tuple[MemoryId | None, ...]:
    return (memory.supersedes, memory.superseded_by, memory.duplicate_of, memory.disputes, *memory.parents)
