"""What a store holds, in numbers and names: for status, doctor, and what begins again when a store is new."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from hybrid_memory.moments import nearest_moment
from hybrid_memory.store.findings import Finding, Severity

if TYPE_CHECKING:
    from hybrid_memory_postgres.sql_session import PgSession

_COUNT = "SELECT count(*) FROM memory"
# From one namespace to the next by the index, however many rows each of them has.
_NAMESPACES = """
    WITH RECURSIVE of_buffers (name) AS (
        SELECT min(namespace) FROM buffer
        UNION ALL SELECT (SELECT min(namespace) FROM buffer WHERE namespace > of_buffers.name) FROM of_buffers WHERE name IS NOT NULL
    ), of_entries (name) AS (
        SELECT min(namespace) FROM entry
        UNION ALL SELECT (SELECT min(namespace) FROM entry WHERE namespace > of_entries.name) FROM of_entries WHERE name IS NOT NULL
    )
    SELECT name FROM namespace WHERE position > 0
    UNION SELECT name FROM of_buffers WHERE name IS NOT NULL
    UNION SELECT name FROM of_entries WHERE name IS NOT NULL
    ORDER BY name
"""
_LAST_WRITE = "SELECT max(last_at) FROM namespace WHERE position > 0"
_SIZE = """
    SELECT coalesce(sum(pg_total_relation_size(oid)), 0)::bigint FROM pg_class
    WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace
"""

_IS_READ_ONLY = "SELECT pg_is_in_recovery() OR current_setting('default_transaction_read_only')::boolean"


def read_only_findings(session: PgSession) -> list[Finding]:
    """Return what is to be told where the database takes no writes; nothing where it does."""
    if not session.rows(_IS_READ_ONLY)[0][0]:
        return []
    return [
        Finding(
            Severity.WARNING,
            "the database takes no writes: it is a standby, or set to be read only",
            "name the server that takes them in the setting store, or have the administrator let this one take them",
        )
    ]


def count_memories(session: PgSession) -> int:
    """Return how many memories there are, in whatever state."""
    return int(session.rows(_COUNT)[0][0])


def namespaces(session: PgSession) -> list[str]:
    """Return the names of all namespaces that hold anything, sorted."""
    return [name for (name,) in session.rows(_NAMESPACES)]


def last_write(session: PgSession) -> datetime | None:
    """Return the time of the last change of any namespace."""
    (at,) = session.rows(_LAST_WRITE)[0]
    return None if at is None else nearest_moment(at)


def size_on_disk(session: PgSession) -> int:
    """Return the bytes of the tables of the store with their indexes."""
    return int(session.rows(_SIZE)[0][0])
