"""Waiting for an embedding model that a service loads alongside its work, so that no figure is one of words alone."""

from __future__ import annotations

import time

from hybrid_memory.model import Scope
from hybrid_memory.requests import ReadRequest, ReadResult
from hybrid_memory.service.memory_service import MemoryService

_TIMEOUT_SECONDS = 300
_PAUSE_SECONDS = 0.1


def complete(service: MemoryService, scope: Scope) -> None:
    """Return when every memory of the namespace has its vector.

    Raises:
        SystemExit: the model is not there.
    """
    patience = _TIMEOUT_SECONDS
    while (status := service.status(scope)).pending_vectors and patience:
        if not service.run_background_step():
            patience -= 1
            time.sleep(_PAUSE_SECONDS)
    if not status.pending_vectors:
        return
    raise SystemExit(f"{status.pending_vectors} memories have no vector: {' '.join(status.notices)}")


def settle(service: MemoryService) -> None:
    """Do all background work that a server does when it is idle."""
    while service.run_background_step():
        pass


def read(service: MemoryService, scope: Scope, request: ReadRequest) -> ReadResult:
    """Return the answer to a question that got its vector.

    Raises:
        SystemExit: the model is not there.
    """
    for _ in range(_TIMEOUT_SECONDS):
        result = service.read(scope, request)
        if not result.words_alone:
            return result
        time.sleep(_PAUSE_SECONDS)
    raise SystemExit("the embedding model is not there")
