"""Checks and repairs a store as a whole, for the command ``doctor`` and for programs with stores of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from hybrid_memory.admin.trusted_lines import refusal
from hybrid_memory.errors import EngineUnavailable, NotEnoughMemory, StoreDamaged, StoreError
from hybrid_memory.store.findings import Finding, Report, Severity
from hybrid_memory.store.store_file import check_file, repair_file

if TYPE_CHECKING:
    from pathlib import Path

    from hybrid_memory.clock import Clock
    from hybrid_memory.store.administration import ServedStore
    from hybrid_memory.store.base import Store


def check_open(store: Store) -> Report:
    """Check a store that is open, alongside other calls; what its status reported is not told there any more."""
    return store.check(mark_seen=True, refusal=refusal)


def check(home: Path, clock: Clock) -> Report:
    """Open the store in a folder, which mends its write-ahead log if need be, check it, and close it.

    A store that cannot be opened because it is damaged is a finding, no error.

    Raises:
        StoreError: the store is in use, or cannot be opened for another reason.
    """
    try:
        return check_file(home, clock, refusal)
    except NotEnoughMemory:
        raise
    except (StoreDamaged, EngineUnavailable) as error:
        return unreadable_report(error)


def repair_open(store: Store, home: Path) -> Report:
    """Put rows of an open store on a server aside that cannot be read, and mend the rest; what was put aside lies in the folder ``home``.

    Raises:
        StoreError: it cannot be done; nothing was changed.
    """
    return cast("ServedStore", store).repair(home, refusal)


def unreadable_report(error: StoreError) -> Report:
    """Return the report of a store that could not even be opened."""
    return Report((Finding(Severity.ERROR, str(error), "run `hybrid-memory-mcp doctor --repair`"),))


def repair(home: Path, clock: Clock) -> Report:
    """Keep the damaged files of a store that nobody has open in its quarantine, and save what can be read.

    A store that is not damaged stays as it is.

    Raises:
        StoreError: the store is in use, or there is no room for the copies; nothing was changed.
    """
    return repair_file(home, clock.now(), refusal)
