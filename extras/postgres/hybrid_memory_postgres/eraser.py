"""`PostgresEraser`: erases for good in a PostgreSQL store, while all hubs go on, and in the backups of this hub's folder.

1. the copies in the folder, which are database files of their own;
2. the rows, in one transaction for each namespace; every hub hears of it by the log;
3. the tables are written anew, so that the bytes go too (`rewriting`).

A process that dies before the second step has erased nothing, and does it again. One that dies behind it has left a note in the store:
the next erasure and `doctor --repair` finish the third step.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, assert_never

from hybrid_memory.store.erasing import CatchUpJob, ErasureJob, OnStep, Purged, PurgeJob, RedactionJob, RemainingState
from hybrid_memory.store.transfer import PurgeSelection
from hybrid_memory_postgres.connections import EVERYTHING
from hybrid_memory_postgres.migrating import refuse_later
from hybrid_memory_postgres.purge_rows import purge_rows
from hybrid_memory_postgres.redact_rows import exchange_words, redact_rows
from hybrid_memory_postgres.rewriting import COPIES_REMAIN, LOG_REMAINS, is_unwritten, rewrite_tables

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

    from hybrid_memory.model import MemoryId
    from hybrid_memory.store.whole import WholeStore
    from hybrid_memory_postgres.appending import LockedHead
    from hybrid_memory_postgres.connections import Connections

Told = Callable[[str, int], None]
"""Called with a namespace and the position of its last change, when that is committed."""


class PostgresEraser:
    """Erases in an open PostgreSQL store, and in the copies in the folder of this hub; see `hybrid_memory.store.erasing.Eraser`."""

    needs_closed_store = False

    def __init__(self, store: WholeStore, connections: Connections, home: Path, told: Told) -> None:
        self._store = store
        self._connections = connections
        self._home = home
        self._told = told

    def erase(
        self,
        make_job: Callable[[WholeStore], ErasureJob],
        now: datetime,
        *,
        actor: str,
        remaining_state: RemainingState,
        on_step: OnStep = lambda _: None,
        copies_too: bool = True,
    ) -> Purged:
        """Erase in the copies, then in the tables, and write these anew."""
        from hybrid_memory.store.duck.erase_files import erase_in_copies

        with self._connections.reading(EVERYTHING) as session:
            refuse_later(session)
        if is_unwritten(self._connections):
            rewrite_tables(self._connections)
        job = make_job(self._store)
        rewritten, removed = erase_in_copies(
            self._home,
            job,
            now,
            actor=actor,
            remaining_state=remaining_state,
            on_step=on_step,
            copies_too=copies_too,
        )
        on_step("copies")
        memories = self._erase_rows(job, now, actor, remaining_state)
        on_step("erased")
        problems = rewrite_tables(self._connections)
        on_step("done")
        return Purged(
            memories=memories,
            rewritten=rewritten,
            removed=removed,
            elsewhere=(*problems, LOG_REMAINS, COPIES_REMAIN),
        )

    def _erase_rows(self, job: ErasureJob, now: datetime, actor: str, remaining_state: RemainingState) -> int:
        match job:
            case PurgeJob():
                return self._purge(job.selection, job.ids, now, actor, remaining_state)
            case RedactionJob():
                with self._connections.transaction(EVERYTHING) as session:
                    count, head = redact_rows(session, job.namespace, job.plan, now=now, actor=actor)
                self._tell(head)
                return count
            case CatchUpJob():
                # The rows are gone already, and noted in the log; what still names them may not be.
                count = 0
                for namespace in sorted({one.namespace for one in job.redacted}):
                    with self._connections.transaction(EVERYTHING) as session:
                        count += exchange_words(session, namespace, job.redacted)
                for namespace, gone in sorted(job.gone.items()):
                    if gone:
                        named = PurgeSelection(namespace=namespace, ids=gone)
                        count += self._purge(named, frozenset(gone), now, actor, remaining_state)
                return count
            case _:
                assert_never(job)

    def _purge(
        self,
        selection: PurgeSelection,
        ids: frozenset[MemoryId],
        now: datetime,
        actor: str,
        remaining_state: RemainingState,
    ) -> int:
        with self._connections.transaction(EVERYTHING) as session:
            count, head = purge_rows(session, selection, ids, now=now, actor=actor, remaining_state=remaining_state)
        if head is not None:
            self._tell(head)
        return count

    def _tell(self, head: LockedHead) -> None:
        self._told(head.namespace, head.position)
