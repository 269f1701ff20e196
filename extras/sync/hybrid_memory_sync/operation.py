"""The operation ``sync``: let the store and a folder tell each other what is new (`hybrid_memory_sync`)."""

from __future__ import annotations

import threading
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hybrid_memory.clock import SystemClock, SystemRandomSource
from hybrid_memory.errors import StoreError
from hybrid_memory_mcp.admin.erasing import opened_store, run_eraser
from hybrid_memory_mcp.hooks.state import Conversations
from hybrid_memory_sync import erasing
from hybrid_memory_sync.folder import SyncFolder
from hybrid_memory_sync.synchronise import Erased, Synced, synchronise

if TYPE_CHECKING:
    from hybrid_memory.service.memory_service import MemoryService
    from hybrid_memory_mcp.admin.operations import OperationRequest

_RUNNING = threading.Lock()  # one process has the store open, so no other lock is needed


def sync(request: OperationRequest) -> dict[str, Any]:
    """Synchronise with a folder.

    Arguments are ``folder``, ``namespace`` (None: all), ``preview``, which only counts, ``retire`` (the name of a machine that is gone for
    good, or None) and ``backups``: what others purged leaves this store's backups too.

    Raises:
        InvalidInput: the folder is none that can be used.
        StoreError: another synchronisation is under way.
    """
    given = request.arguments
    folder = SyncFolder.check(Path(given["folder"]), request.home)
    if not _RUNNING.acquire(blocking=False):
        raise StoreError("another synchronisation of this memory is under way; try again when it is done")
    try:
        erased = Erased()

        def work(service: MemoryService) -> Synced:
            store = opened_store(service)
            if not given["preview"]:
                service.flush_recalls()
            try:
                return synchronise(
                    store,
                    request.home,
                    folder,
                    SystemRandomSource(),
                    embed=service.encode_texts,
                    actor=request.scope.actor,
                    namespace=given["namespace"],
                    preview=bool(given["preview"]),
                    retire=given.get("retire"),
                    erased=erased,
                    on_progress=request.on_progress,
                )
            finally:
                if not erased.is_empty:
                    erasing.note_waiting(store, erased)

        done = request.run(work)
        if not done.preview:
            _erase(request, copies_too=bool(given.get("backups")))
        left = request.run(lambda service: erasing.left_in_copies(opened_store(service), request.home))
    finally:
        _RUNNING.release()
    if done.new or done.changed or done.purged:
        request.provider.announce(request.run(lambda service: service.store.namespaces()))
    return asdict(done) | {"in_backups": left}


def _erase(request: OperationRequest, *, copies_too: bool) -> None:
    """Take what was purged elsewhere out of the store's files, which must be closed for that."""

    def is_needed(service: MemoryService) -> bool:
        store = opened_store(service)
        return erasing.is_waiting(store) or (copies_too and erasing.left_in_copies(store, request.home) > 0)

    if not request.run(is_needed):
        return
    now, actor = SystemClock().now(), request.scope.actor
    run_eraser(request, lambda eraser: erasing.erase_waiting(eraser, now, actor=actor, copies_too=copies_too))
    Conversations(str(request.home)).forget_words()  # what waits for a hub may say it again
    request.run(lambda service: erasing.forget_waiting(opened_store(service), request.home, copies_too=copies_too))
