"""The ends of conversations: one that says so, and those that ended without saying so, which are swept up later."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from hybrid_memory.decisions import sessions
from hybrid_memory.model import MemoryType, Scope
from hybrid_memory.requests import Where
from hybrid_memory.service.background import LEASE_SECONDS
from hybrid_memory.service.rwlock import ReadWriteLock, shared
from hybrid_memory.service.tidying import tidy
from hybrid_memory.store.writing import SWEEP, WriteBatch

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from hybrid_memory.changes.endings import EndingModel
    from hybrid_memory.model import Memory, MemoryId
    from hybrid_memory.service.committing import Commits
    from hybrid_memory.store.writing import WriteView
    from hybrid_memory.tiers.flow import FlowRules

MOST_EPISODES = 20_000
"""So many of a namespace are kept."""

_MOST_LINKS = 5_000
_AT_ONCE = 200  # rows of one transaction, so that other writes need not wait


class Conversations:
    """Ends the conversations of one service. One is over by itself after ``idle`` without a word. Safe to call from several threads."""

    def __init__(
        self,
        commits: Commits,
        flow: FlowRules,
        idle: timedelta,
        lock: ReadWriteLock,
        *,
        episode_days: float,
        endings: Callable[[], EndingModel | None],
    ) -> None:
        self.lock = lock
        self._commits = commits
        self._flow = flow
        self._idle = idle
        self._episode_days = episode_days
        self._endings = endings

    def end(self, scope: Scope) -> None:
        """End a conversation in one namespace."""
        index = self._commits.indexes.get(scope.namespace)
        where = Where(memory_type=MemoryType.WORKING, session=scope.session)

        def decide(view: WriteView) -> WriteBatch:
            tasks = index.select(where, self._commits.time.now())
            return sessions.decide_end(scope, tasks, self._flow, index.vectors_of, view)

        self._commits.commit(scope.namespace, None, decide, index=index)

    @shared
    def sweep_again(self, scope: Scope) -> None:
        """Sweep from a background step, which holds no lock."""
        self.sweep(scope)

    def sweep(self, scope: Scope) -> None:
        """End the conversations that ended without saying so, remove old episodes, let what is over fade; not while another hub does."""
        if self._commits.time.jumped:  # the next start sweeps, if the clock was right
            return
        for namespace in scope.namespaces:
            self._sweep(replace(scope, namespace=namespace, personal=None))

    def _sweep(self, scope: Scope) -> None:
        lease = self._commits.store.lease(f"sessions of {scope.namespace}", LEASE_SECONDS)
        if lease is None:
            return
        index = self._commits.indexes.get(scope.namespace)

        def sweep(view: WriteView) -> WriteBatch:
            tasks = index.select(Where(memory_type=MemoryType.WORKING), self._commits.time.now())
            return sessions.decide_sweep(view, scope, tasks, self._idle, self._flow, index.vectors_of)

        try:
            self._commits.commit(scope.namespace, None, sweep, index=index)
            sweep_episodes(self._commits, scope.namespace, self._episode_days)
            tidy(self._commits, scope.namespace, self._endings())
        finally:
            lease.release()


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
