"""How an operation erases: while the store is closed, or alongside the calls of clients, as the store wants it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from hybrid_memory.errors import StoreError
from hybrid_memory.store.administration import whole_store
from hybrid_memory.store.syncing import known_folders

if TYPE_CHECKING:
    from collections.abc import Callable

    from hybrid_memory.service.memory_service import MemoryService
    from hybrid_memory.store.administration import WholeStore
    from hybrid_memory.store.erasing import Eraser
    from hybrid_memory_mcp.admin.operations import OperationRequest

T = TypeVar("T")


def opened_store(service: MemoryService) -> WholeStore:
    """Return the store of a service with what administration needs of it.

    Raises:
        StoreError: it lives in memory alone.
    """
    store = whole_store(service.store)
    if store is None:
        raise StoreError("this memory is kept nowhere; open one in a folder")
    return store


def run_eraser(request: OperationRequest, work: Callable[[Eraser], T]) -> T:
    """Let somebody erase in the store of a request; nothing of what went is left in this process's memory afterwards."""
    eraser = request.run(lambda service: opened_store(service).eraser(request.home))
    if eraser.needs_closed_store:
        return request.run_exclusive(lambda: work(eraser))
    done = request.run(lambda service: work(opened_store(service).eraser(request.home)))
    request.run_exclusive(lambda: None)  # the next call opens it again
    return done


def synchronised_folders(request: OperationRequest) -> list[dict[str, Any]]:
    """Return the folders through which the store is synchronised, each with its last time."""
    known = request.run(lambda service: known_folders(opened_store(service).syncing))
    return [{"folder": name, "last": at and at.isoformat(timespec="seconds")} for name, at in known.items()]
