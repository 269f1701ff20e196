"""What another machine purged or redacted leaves the files of this store too: the database's old bytes, backups, quarantine and logs.

A synchronisation takes it out of the store's rows. Until the files are written anew it is noted which memories these were, so that
a process that is killed in between is made up for by the next synchronisation.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from hybrid_memory.admin.purge import Purged, erase_everywhere, remaining_state
from hybrid_memory.model import Memory, MemoryId
from hybrid_memory.store.duck.purge_rows import purge_rows
from hybrid_memory.store.duck.redact_rows import exchange_words
from hybrid_memory.store.transfer import PurgeSelection
from hybrid_memory.sync.synchronise import Erased

if TYPE_CHECKING:
    from hybrid_memory.admin.backup import OnStep
    from hybrid_memory.store.duck.sql_session import SqlSession
    from hybrid_memory.store.duck.store import DuckStore

NOTE = "erase"


def note_waiting(store: DuckStore, erased: Erased) -> None:
    """Note what is to leave the store's files, beside what is noted already."""
    waiting = _noted(store)
    for namespace, ids in erased.ids.items():
        waiting.setdefault(namespace, []).extend(ids)
    for memory in erased.redacted:
        waiting.setdefault(memory.namespace, []).append(memory.id)
    store.syncing.note(NOTE, json.dumps(waiting))


def is_waiting(store: DuckStore) -> bool:
    """Return True if something is to leave the store's files."""
    return bool(_noted(store))


def erase_waiting(home: Path, now: datetime, *, actor: str, on_step: OnStep = lambda _: None) -> Purged:
    """Write the files of a store, which nobody may have open, anew, without what was noted.

    Raises:
        StoreLocked: somebody has the store open.
        StoreFull: there is no room for the new files; they are as they were.
    """

    def make_plan(store: DuckStore) -> tuple[Mapping[str, Sequence[MemoryId]], list[Memory]]:
        waiting = _noted(store)
        # What is there was redacted; the rest is gone.
        there = [one for namespace, ids in waiting.items() for one in store.get(namespace, ids).values()]
        kept = {(one.namespace, one.id) for one in there}
        gone = {name: [one for one in ids if (name, one) not in kept] for name, ids in waiting.items()}
        return gone, there

    def erase(session: SqlSession, plan: tuple[Mapping[str, Sequence[MemoryId]], list[Memory]]) -> int:
        gone, redacted = plan
        count = 0
        for namespace, ids in gone.items():
            if ids:
                selection = PurgeSelection(namespace=namespace, ids=tuple(ids))
                count += purge_rows(session, selection, ids, at=now, actor=actor, remaining_state=remaining_state)
        count += exchange_words(session, redacted)
        return count

    return erase_everywhere(home, now, make_plan, erase, on_step)


def forget_waiting(store: DuckStore) -> None:
    """Note that nothing is to leave the store's files any more."""
    store.syncing.note(NOTE, json.dumps({}))


def _noted(store: DuckStore) -> dict[str, list[MemoryId]]:
    return {
        namespace: [MemoryId(one) for one in ids]
        for namespace, ids in json.loads(store.syncing.notes().get(NOTE, "{}")).items()
    }
