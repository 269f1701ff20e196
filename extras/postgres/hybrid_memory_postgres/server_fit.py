"""What a database, and the way to it, have to be like for a store: texts in UTF8, and a connection that stays one session.

A pooler may give each transaction another session of the server. What hubs prepare there under the same names would be mixed up, and
what one of them sets for itself would hold for another: such a way is refused, whatever seems to work over it.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from typing import TYPE_CHECKING, Any

import psycopg

if TYPE_CHECKING:
    from typing import TypeAlias

    Connection: TypeAlias = psycopg.Connection[Any]

NOT_UTF8 = (
    "the database does not keep texts as UTF8, so it could not hold every memory; make another one "
    "(createdb --encoding=UTF8 --template=template0)"
)
TRANSACTIONS_POOLED = (
    "a pooler on the way to the database gives each transaction another session, in which hubs would run each other's statements; have it "
    "pool sessions (pgbouncer: pool_mode = session), or name the server itself"
)

_PROCESS = "SELECT pg_catalog.pg_backend_pid()"
# Temporary tables and types would be found before all others: named at the end, they are found last. The schemas are those that the login
# finds now; where there is none, the path stays, for the error that says so.
_SETTLE = """
    SELECT pg_catalog.pg_backend_pid(), pg_catalog.set_config('search_path', coalesce((
        SELECT pg_catalog.string_agg(pg_catalog.quote_ident(name), ', ' ORDER BY nth) || ', pg_temp'
        FROM pg_catalog.unnest(pg_catalog.current_schemas(false)) WITH ORDINALITY AS found (name, nth) WHERE name !~ '^pg_temp'
    ), pg_catalog.current_setting('search_path')), false)
"""
_LOOKS = 5  # a pooler in use may give the same session twice by chance


def server_process(connection: Connection) -> int:
    """Return the number of the server's process behind a connection; what a pooler says by itself is a number of its own."""
    row = connection.execute(_PROCESS, prepare=False).fetchone()
    return int(row[0]) if row else 0


def settle(connection: Connection) -> int:
    """Have a connection find temporary tables and types after all others; returns the number of the server's process behind it."""
    row = connection.execute(_SETTLE, prepare=False).fetchone()
    return int(row[0]) if row else 0


def misfit(connection: Connection, another: Callable[[], Connection]) -> str | None:
    """Return why no store can be had over a connection, None where one can; ``another`` makes a second one of the same kind."""
    if connection.info.parameter_status("server_encoding") != "UTF8":
        return NOT_UTF8
    if server_process(connection) == connection.info.backend_pid:
        return None
    with closing(another()) as other:
        return TRANSACTIONS_POOLED if _share_sessions(connection, other) else None


def _share_sessions(one: Connection, other: Connection) -> bool:
    """Return whether two connections that are both open have been in the same session, or one of them in two."""
    first = server_process(one)
    return any(server_process(other) == first or server_process(one) != first for _ in range(_LOOKS))
