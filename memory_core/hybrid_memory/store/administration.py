"""A store as a whole: what administration needs of one alongside what the memory itself needs (`hybrid_memory.store.base.Store`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, cast

from hybrid_memory.store.transfer import TransferableStore

if TYPE_CHECKING:
    from pathlib import Path

    from hybrid_memory.store.base import Store
    from hybrid_memory.store.erasing import Eraser
    from hybrid_memory.store.findings import Report
    from hybrid_memory.store.restoring import Restorer
    from hybrid_memory.store.syncing import SyncStore
    from hybrid_memory.store.transfer import Refusal


class WholeStore(TransferableStore, Protocol):
    """A store that keeps memories beyond its process: it is copied, exported, synchronised, checked and erased from."""

    @property
    def syncing(self) -> SyncStore:
        """The part of the store that is synchronised."""
        ...

    def eraser(self, home: Path) -> Eraser:
        """Return what erases in this store, also when it is closed by then, and in its copies in the folder ``home``."""
        ...

    def restorer(self, home: Path) -> Restorer:
        """Return what puts a backup in the place of this store, also when it is closed by then; files are put aside in ``home``."""
        ...


class ServedStore(WholeStore, Protocol):
    """A store on a server, which is mended while it is open: whoever keeps the server can do more."""

    def repair(self, home: Path, refusal: Refusal) -> Report:
        """Put rows aside that cannot be read, in the quarantine of the folder ``home``, and mend what only a note needs.

        Returns what was done, and what a check finds afterwards. ``refusal`` says what an import would not take.
        """
        ...


def whole_store(store: Store) -> WholeStore | None:
    """Return a store with what administration needs of it, None for one that lives in memory alone."""
    return cast("WholeStore", store) if hasattr(store, "transfer") else None
