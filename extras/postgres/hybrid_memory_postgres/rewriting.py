"""Tables written again, so that the bytes of deleted rows leave their files.

A deleted row stays in a table's file until its place is used again. Writing the table again (what ``VACUUM FULL`` does too; here the
owner's function `rewrite_table`, which a hub that owns nothing may call) leaves out what no open transaction can still see. So what runs
since before the deletion is waited for.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from hybrid_memory.errors import ConcurrentModification
from hybrid_memory_postgres.connections import EVERYTHING

if TYPE_CHECKING:
    from hybrid_memory_postgres.connections import Connections

REWRITTEN = (
    *("memory", "vector", "usage", "log", "buffer", "request", "undo", "conversation", "entry", "reading"),
    *("sync_row", "sync_usage", "sync_item", "namespace"),
)
"""The tables that hold words, digests of words, or names: in their order."""

WAITS = 30.0  # seconds for transactions that may still see what was deleted
_PAUSE = 0.1
_TRIES = 6
_WAITS_FOR_TABLE = "3s"
_IS_UNWRITTEN = "SELECT unwritten FROM store"
_DONE = "UPDATE store SET unwritten = false"
# A number that is assigned now lies behind those of everything that was committed before.
_NOW = "SELECT pg_current_xact_id()::xid::text"
# The oldest state that anybody still sees: sessions of this database, standbys and slots that hold rows back, and prepared transactions.
_HELD_BACK = """
    SELECT (SELECT count(*) FROM pg_catalog.pg_stat_activity
            WHERE pid <> pg_backend_pid() AND (datname = current_database() OR datname IS NULL)
            AND (age(backend_xmin) > age($1::text::xid) OR age(backend_xid) > age($1::text::xid))),
        (SELECT count(*) FROM pg_catalog.pg_replication_slots WHERE age(xmin) > age($1::text::xid))
            + (SELECT count(*) FROM pg_catalog.pg_prepared_xacts
                WHERE database = current_database() AND age(transaction) > age($1::text::xid))
"""
# Anyone who waits for a table lets everybody behind it wait too.
_LOCK_TIMEOUT = "SELECT set_config('lock_timeout', $1, true)"
_REWRITE = "SELECT rewrite_table($1)"

LOG_REMAINS = (
    "the server's write-ahead log holds what was written lately until it is used again, "
    "and so do archives of it and standby servers"
)
COPIES_REMAIN = (
    "backups of the server (pg_dump, base backups, snapshots of its disks), "
    "and backups that other machines' hubs keep in their folders"
)
_SEEN = (
    "a transaction that was open all the time may still see what was erased, so its bytes could not leave the tables: end it, then run "
    "`hybrid-memory-mcp doctor --repair`"
)
_BUSY = (
    "some tables were in use all the time and could not be written anew: run `hybrid-memory-mcp doctor --repair` at a quiet time, or "
    "have an administrator run VACUUM FULL"
)


def is_unwritten(connections: Connections) -> bool:
    """Return whether rows were erased whose bytes may still be in the tables' files."""
    with connections.reading(EVERYTHING) as session:
        return bool(session.rows(_IS_UNWRITTEN)[0][0])


def rewrite_tables(
    connections: Connections,
    *,
    seconds: float = WAITS,
    now: Callable[[], float] = time.monotonic,
    wait: Callable[[float], None] = time.sleep,
    tries: int = _TRIES,
    lock_timeout: str = _WAITS_FOR_TABLE,
) -> Sequence[str]:
    """Write the tables again, while calls wait; returns what kept bytes in them, a sentence each.

    Waits up to ``seconds`` for transactions that began before, and ``tries`` times ``lock_timeout`` for each table.
    """
    problems = []
    if not _wait_for_others(connections, seconds, now, wait):
        problems.append(_SEEN)
    left = [table for table in REWRITTEN if not _rewrite(connections, table, wait, tries, lock_timeout)]
    if left:
        problems.append(_BUSY)
    if not problems:
        with connections.transaction(EVERYTHING) as session:
            session.send(_DONE)
    return problems


def _wait_for_others(
    connections: Connections, seconds: float, now: Callable[[], float], wait: Callable[[float], None]
) -> bool:
    with connections.transaction(EVERYTHING) as session:
        mark = session.rows(_NOW)[0][0]
    deadline = now() + seconds
    while True:
        with connections.reading(EVERYTHING) as session:
            sessions, holders = session.rows(_HELD_BACK, mark)[0]
        if not sessions and not holders:
            return True
        if now() >= deadline:
            return False
        wait(_PAUSE)


def _rewrite(
    connections: Connections, table: str, wait: Callable[[float], None], tries: int, lock_timeout: str
) -> bool:
    for _ in range(tries):
        try:
            with connections.transaction(EVERYTHING) as session:
                session.send(_LOCK_TIMEOUT, lock_timeout)
                session.rows(_REWRITE, table)
        except ConcurrentModification:  # somebody had the table
            wait(_PAUSE)
        else:
            return True
    return False
