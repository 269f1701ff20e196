"""Recalls that wait to be stored, so that a read waits for no transaction."""

from __future__ import annotations

import threading
from collections import deque
from functools import partial
from typing import TYPE_CHECKING

from hybrid_memory.decisions import sessions
from hybrid_memory.errors import ConcurrentModification, EngineUnavailable, OutcomeUnknown, StoreFull

if TYPE_CHECKING:
    from datetime import datetime

    from hybrid_memory.model import Scope
    from hybrid_memory.requests import ReadResult
    from hybrid_memory.service.committing import Commits
    from hybrid_memory.tiers.flow import FlowRules

_MAX_WAITING_RECALLS = 4096  # beyond it the oldest are lost: they are statistics and must not use up memory
_RECALLS_BEFORE_WRITE = 256  # so many waiting recalls are stored by the next write; fewer wait for an idle moment


class WaitingRecalls:
    """The recalls of one service that are not yet stored. Safe to call from several threads, under the service's shared lock."""

    def __init__(self, commits: Commits, flow: FlowRules) -> None:
        self._commits = commits
        self._flow = flow
        self._waiting: deque[tuple[str, sessions.Recall]] = deque(maxlen=_MAX_WAITING_RECALLS)
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._waiting)

    @property
    def is_due(self) -> bool:
        """Whether so many wait that the next write is to store them."""
        return len(self._waiting) >= _RECALLS_BEFORE_WRITE

    def add(self, scope: Scope, result: ReadResult, now: datetime) -> None:
        """Note the memory that a reading recalled, in the namespace that it lies in."""
        recalled = [hit.memory for hit in result.hits if hit.memory.id == result.recalled]
        with self._lock:
            for one in recalled:
                self._waiting.append((one.namespace, sessions.Recall(one.id, scope.session, scope.agent, now)))

    def flush(self) -> None:
        """Store what recalls changed since the last time. Cheap when there is nothing.

        What a full or busy store has not taken waits for the next time, so each recall counts once. What it may have taken, when nobody
        knows, counts as taken.
        """
        with self._lock:
            pending = list(self._waiting)
            self._waiting.clear()
        for namespace in list(dict.fromkeys(name for name, _ in pending)):
            index = self._commits.indexes.at_hand(namespace)
            recalls = [recall for name, recall in pending if name == namespace]
            decide = partial(sessions.decide_recalls, recalls, self._flow, index.vectors_of)
            try:
                self._commits.commit(namespace, None, decide)
            except OutcomeUnknown:
                pass
            except (ConcurrentModification, EngineUnavailable, StoreFull):
                with self._lock:
                    room = _MAX_WAITING_RECALLS - len(self._waiting)
                    self._waiting.extendleft(reversed(pending[max(len(pending) - room, 0) :]))
                raise
            self._commits.indexes.record_uses(namespace, sessions.uses_of(recalls))
            pending = [one for one in pending if one[0] != namespace]
