"""What became of a transaction whose connection was lost while it was committed: the server is asked until it knows.

Most databases leave this open. PostgreSQL remembers of each transaction by its number whether it was committed; one that still waits for
the rest of a lost connection's statements would hold the lock of its namespace, so it is ended.
"""

from __future__ import annotations

from time import monotonic, sleep

from hybrid_memory.errors import StoreError
from hybrid_memory.store.postgres.connections import EVERYTHING, Connections

_STATUS = "SELECT pg_xact_status($1::text::xid8)"
# The number of the transaction beside that of the process: a process of this number may be another one's meanwhile.
_END = """
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE pid = $1 AND backend_xid IS NOT NULL AND backend_xid::text::bigint = $2
"""
_XID_RANGE = 2**32
_PAUSE_SECONDS = 0.02


def was_committed(connections: Connections, transaction: str, process: int, seconds: float) -> bool | None:
    """Return whether a transaction was committed; None if that could not be learned within so many seconds.

    ``process`` is the server's process that ran it.
    """
    deadline = monotonic() + seconds
    while True:
        try:
            with connections.reading(EVERYTHING) as session:
                status = session.rows(_STATUS, transaction)[0][0]
                if status == "in progress":
                    session.rows(_END, process, int(transaction) % _XID_RANGE)
                elif status is not None:
                    return bool(status == "committed")
                else:
                    return None  # so old that the server has forgotten it
        except StoreError:
            pass  # not reachable yet, or another server that does not know the number
        if monotonic() >= deadline:
            return None
        sleep(_PAUSE_SECONDS)
