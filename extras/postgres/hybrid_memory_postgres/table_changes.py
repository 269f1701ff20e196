"""Changes of tables alongside hubs that are at work: `changing_tables`.

Anyone who waits for a table as a whole lets everybody behind it wait too, and a backup or an export may read it for minutes. So such a
change waits for a moment only, lets the others go on, and tries again.
"""

from __future__ import annotations

from collections.abc import Callable
from time import sleep
from typing import TYPE_CHECKING, TypeVar

from hybrid_memory.errors import ConcurrentModification
from hybrid_memory_postgres.connections import EVERYTHING

if TYPE_CHECKING:
    from hybrid_memory_postgres.connections import Connections
    from hybrid_memory_postgres.sql_session import PgSession

_Value = TypeVar("_Value")

# Any number that no other program locks; the second one says for what.
_LOCK = "SELECT pg_advisory_xact_lock(7340032, 1)"
_WAITS_FOR_TABLE = (
    "500ms"  # less than the server takes to look whether two wait for each other: then it is this one that gives way
)
_LOCK_TIMEOUT = "SELECT set_config('lock_timeout', $1, true)"
_HAS_HEADS = "SELECT to_regclass('namespace') IS NOT NULL"
# The table of heads first: whoever writes has locked a row of it, so nobody waits for anybody in a circle.
_LOCK_HEADS = "LOCK TABLE namespace IN EXCLUSIVE MODE"
_TRIES = 60
_PAUSE_SECONDS = 0.25
_BUSY = (
    "the tables were in use all the time (by a backup, an export or a move, or by a transaction that somebody left open); nothing was "
    "changed. Try again when that is done"
)


def changing_tables(connections: Connections, change: Callable[[PgSession], _Value]) -> _Value:
    """Do ``change`` in one transaction, which no other change of tables runs alongside, and return what it returns.

    It is tried again from its beginning when it would have to wait for long; hubs wait for half a second each time at most.

    Raises:
        ConcurrentModification: the tables were never free; nothing was changed.
    """
    for _ in range(_TRIES):
        try:
            # Without a pipeline, in which psycopg loses count of its prepared statements when there is an ALTER.
            with connections.filling(EVERYTHING) as session:
                session.send(_LOCK)
                session.send(_LOCK_TIMEOUT, _WAITS_FOR_TABLE)
                if session.rows(_HAS_HEADS)[0][0]:
                    session.send(_LOCK_HEADS)
                return change(session)
        except ConcurrentModification:
            sleep(_PAUSE_SECONDS)
    raise ConcurrentModification(_BUSY)
