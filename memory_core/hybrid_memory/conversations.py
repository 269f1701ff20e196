"""The ends of conversations: one that says so, and those that ended without saying so, which are swept up later."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from hybrid_memory.background import LEASE_SECONDS
from hybrid_memory.decisions import sessions
from hybrid_memory.episodes import sweep_episodes
from hybrid_memory.model import MemoryType, Scope
from hybrid_memory.requests import Where
from hybrid_memory.rwlock import ReadWriteLock, shared
from hybrid_memory.tidying import tidy

if TYPE_CHECKING:
    from collections.abc import Callable

    from hybrid_memory.changes.endings import EndingModel
    from hybrid_memory.committing import Commits
    from hybrid_memory.store.writing import WriteBatch, WriteView
    from hybrid_memory.tiers.flow import FlowRules


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
