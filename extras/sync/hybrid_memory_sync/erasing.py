"""What another machine purged or redacted leaves the files of this store too: the database's old bytes and logs, and backups if asked.

A synchronisation takes it out of the store's rows. Until the files are written again it is noted which memories these were, so that
a process that is killed in between is made up for by the next synchronisation. Backups and quarantine are the way back from a purge that
nobody meant: somebody who can write into the folder, or an old machine that is wiped, would else erase the last copy of everything on
all machines. So they are left until a person at this machine says so; what they may still hold is noted.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from hybrid_memory.admin.purge import remaining_state
from hybrid_memory.model import MemoryId
from hybrid_memory.store.erasing import CatchUpJob
from hybrid_memory.store.home_files import find_copies
from hybrid_memory_sync.synchronise import Erased

if TYPE_CHECKING:
    from hybrid_memory.store.administration import WholeStore
    from hybrid_memory.store.erasing import Eraser, OnStep, Purged

NOTE = "erase"
_IN_COPIES = "erase in copies"


def note_waiting(store: WholeStore, erased: Erased) -> None:
    """Note what is to leave the store's files, alongside what is noted already."""
    waiting = _noted(store)
    for namespace, ids in erased.ids.items():
        waiting.setdefault(namespace, []).extend(ids)
    for memory in erased.redacted:
        waiting.setdefault(memory.namespace, []).append(memory.id)
    store.syncing.note(NOTE, json.dumps(waiting))


def is_waiting(store: WholeStore) -> bool:
    """Return True if something is to leave the store's files."""
    return bool(_noted(store))


def left_in_copies(store: WholeStore, home: Path) -> int:
    """Return how many memories that others purged or redacted may stand in backups or quarantine."""
    copies = find_copies(home)
    if not (copies.backups or copies.set_aside):
        return 0
    return sum(len(set(ids)) for ids in _noted(store, _IN_COPIES).values())


def erase_waiting(
    eraser: Eraser, now: datetime, *, actor: str, copies_too: bool = False, on_step: OnStep = lambda _: None
) -> Purged:
    """Take what was noted out of the bytes that a store left behind; with ``copies_too`` out of its backups as well.

    Raises:
        StoreLocked: somebody has the store open who must not.
        StoreFull: there is no room for the new files; they are as they were.
    """

    def make_job(store: WholeStore) -> CatchUpJob:
        waiting = _noted(store)
        if copies_too:
            waiting = _joined(waiting, _noted(store, _IN_COPIES))
        # What is there was redacted; the rest is gone.
        there = [one for namespace, ids in waiting.items() for one in store.get(namespace, ids).values()]
        kept = {(one.namespace, one.id) for one in there}
        gone = {name: tuple(one for one in ids if (name, one) not in kept) for name, ids in waiting.items()}
        return CatchUpJob(gone, tuple(there))

    return eraser.erase(
        make_job, now, actor=actor, remaining_state=remaining_state, on_step=on_step, copies_too=copies_too
    )


def forget_waiting(store: WholeStore, home: Path, *, copies_too: bool = False) -> None:
    """Note that nothing is to leave the store's files any more, but for its backups where these were left."""
    copies = find_copies(home)
    left = {} if copies_too or not (copies.backups or copies.set_aside) else _noted(store)
    if left or copies_too:
        known = {} if copies_too else _noted(store, _IN_COPIES)
        store.syncing.note(_IN_COPIES, json.dumps(_joined(known, left)))
    store.syncing.note(NOTE, json.dumps({}))


def _joined(
    first: Mapping[str, Sequence[MemoryId]], second: Mapping[str, Sequence[MemoryId]]
) -> dict[str, list[MemoryId]]:
    return {name: sorted({*first.get(name, ()), *second.get(name, ())}) for name in {**first, **second}}


def _noted(store: WholeStore, note: str = NOTE) -> dict[str, list[MemoryId]]:
    return {
        namespace: [MemoryId(one) for one in ids]
        for namespace, ids in json.loads(store.syncing.notes().get(note, "{}")).items()
    }
