"""`PostgresEraser`: erases for good in a PostgreSQL store, while all hubs go on, and in the backups of this hub's folder.

1. the copies in the folder, which are database files of their own;
2. the rows, in one transaction for each namespace; every hub hears of it by the log;
3. the tables are written again, so that the bytes go too (`rewriting`).

A process that dies before the second step has erased nothing, and does it again. One that dies behind it has left a note in the store:
the next erasure and `doctor --repair` finish the third step.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, assert_never

from hybrid_memory.store.erasing import CatchUpJob, ErasureJob, OnStep, Purged, PurgeJob, RedactionJob, RemainingState
from hybrid_memory.store.redaction_rules import redaction_log
from hybrid_memory.store.sql.purging import delete_memories, delete_namespace, plan_purge
from hybrid_memory.store.sql.readings import forget_readings_of
from hybrid_memory.store.sql.redacting import exchange_words, redact_words
from hybrid_memory.store.sql.rows import existing_ids
from hybrid_memory.store.transfer import PurgeSelection
from hybrid_memory_postgres.appending import append_entries, lock_head
from hybrid_memory_postgres.connections import EVERYTHING
from hybrid_memory_postgres.migrating import refuse_later
from hybrid_memory_postgres.own import COUNT_ERASURE, COUNT_STEP, POSTGRES
from hybrid_memory_postgres.rewriting import COPIES_REMAIN, LOG_REMAINS, is_unwritten, rewrite_tables

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

    from hybrid_memory.model import MemoryId
    from hybrid_memory.store.administration import WholeStore
    from hybrid_memory_postgres.appending import LockedHead
    from hybrid_memory_postgres.connections import Connections

_NOTE_UNWRITTEN = "UPDATE store SET unwritten = true"
_DELETE_VECTORS = "DELETE FROM vector WHERE namespace = $1"

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
        """Erase in the copies, then in the tables, and write these again."""
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
                    head = lock_head(session, job.namespace)
                    session.send(_NOTE_UNWRITTEN)
                    session.send(COUNT_ERASURE)  # what the former words were found by is in other hubs' memory
                    changed = redact_words(session, POSTGRES, job.namespace, job.plan)
                    log = redaction_log(changed, head.position, head.time_of_write(now), actor)
                    head = append_entries(session, head, log)
                self._tell(head)
                return len(changed)
            case CatchUpJob():
                # The rows are gone already, and noted in the log; what still names them may not be.
                count = 0
                for namespace in sorted({one.namespace for one in job.redacted}):
                    with self._connections.transaction(EVERYTHING) as session:
                        lock_head(session, namespace)
                        session.send(_NOTE_UNWRITTEN)
                        session.send(COUNT_ERASURE)
                        count += exchange_words(session, POSTGRES, namespace, job.redacted)
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
        """Delete what was chosen, and every reference to it; of a namespace that is erased as a whole nothing stays.

        ``ids`` go, and what the selection comes to now, under the lock of the namespace.
        """
        namespace = selection.namespace
        with self._connections.transaction(EVERYTHING) as session:
            head = lock_head(session, namespace)
            at = head.time_of_write(now)
            session.send(_NOTE_UNWRITTEN)
            step = session.rows(COUNT_STEP)[0][0]
            wanted = {*ids, *plan_purge(session, selection).ids}
            # A question says what its answer was about: what was asked goes with what was shown, wherever it was asked.
            forget_readings_of(session, wanted)
            if selection.everything:
                count = delete_namespace(session, namespace, at, step)
                session.send(_DELETE_VECTORS, namespace)
                session.send(COUNT_ERASURE)  # positions begin again
                return count
            existing = frozenset(existing_ids(session, namespace, wanted))
            log = delete_memories(
                session,
                POSTGRES,
                selection,
                existing,
                position=head.position,
                at=at,
                actor=actor,
                remaining_state=remaining_state,
                written=step,
            )
            head = append_entries(session, head, log)
        self._tell(head)
        return len(existing)

    def _tell(self, head: LockedHead) -> None:
        self._told(head.namespace, head.position)
