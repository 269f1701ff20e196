"""When each field of a memory was last changed, read from the audit log. Pure.

A stamp is a hybrid logical clock in one number: the microseconds of the log's entry, or one more than the newest stamp that this machine
had seen of the namespace, if the clock comes before it. So what was changed by somebody who knew of another change has the later stamp,
however wrong the clocks are; and the same entries have the same stamps in each copy of a store. (Kulkarni et al., "Logical Physical
Clocks", 2014.)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from hybrid_memory.model import MemoryId
from hybrid_memory.moments import LATEST_MICROS
from hybrid_memory.store.audit_notes import fields_of
from hybrid_memory.store.syncing import SYNC, LoggedChange, RowStamps
from hybrid_memory.store.writing import SWEEP, ChangeType

NEW = RowStamps()
"""What is known of a memory that is as it was written."""
LATEST_STAMP = LATEST_MICROS
"""No stamp lies behind it: a file could claim any."""
AHEAD_AT_MOST = 100 * 366 * 86_400 * 10**6
"""Microseconds by which a stamp may lie ahead of the clock of who reads it: clocks are wrong by years, not by a century."""
_LATEST_FOLLOWED = LATEST_STAMP - 10**12  # room for a million million changes after whatever a file claims


def next_stamp(clock: int, at: int) -> int:
    """Return the stamp of a change at a time, behind all that were seen."""
    return max(at, clock + 1, 1)


def follows(clock: int, heard: Iterable[int]) -> int:
    """Return the newest stamp that this machine has seen, after it heard of some; one that nothing could follow is not followed."""
    return max(clock, *(min(one, _LATEST_FOLLOWED) for one in heard), 0)


def stamped(
    entries: Iterable[LoggedChange], known: Mapping[MemoryId, RowStamps], clock: int
) -> tuple[dict[MemoryId, RowStamps], int]:
    """Return what is known of memories after some entries of the log, of those that it changes, and the newest stamp.

    ``known`` is what was known of them before. Entries of a synchronisation are passed over: their changes have stamps. So are those of
    a sweep: nobody else knows of these memories.
    """
    found: dict[MemoryId, RowStamps] = {}
    for entry in entries:
        if entry.action in (SYNC, SWEEP) or not entry.id:
            continue
        clock = next_stamp(clock, entry.at)
        before = found.get(entry.id) or known.get(entry.id) or NEW
        after = _after(before, entry, clock)
        if after is not before:
            found[entry.id] = after
    return found, clock


def _after(before: RowStamps, entry: LoggedChange, stamp: int) -> RowStamps:
    if entry.change == ChangeType.PURGE.value:
        return RowStamps(born=before.born, gone=stamp)
    if entry.change == ChangeType.INSERT.value:
        # Only what was purged before has to say that it is there again.
        return RowStamps(born=stamp, gone=before.gone) if before.gone else before
    fields = fields_of(entry.action, entry.note)
    if not fields:
        return before
    return replace(
        before,
        stamps={**before.stamps, **dict.fromkeys(fields, stamp)},
        raw={name: value for name, value in before.raw.items() if name not in fields},
    )
