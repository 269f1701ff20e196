"""What became of a transaction whose connection was lost while it was committed: the database is asked until it is known.

The proof is in the rows: an entry of the log has a link with a random salt in it, which nobody else can have written. The number of
the transaction alone proves nothing: a server that crashed gives out numbers again whose transactions it has lost. It tells whether
the transaction still runs: one that waits for the rest of a lost connection's statements would hold the lock of its namespace, so
it is ended.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from time import monotonic, sleep
from typing import TYPE_CHECKING

from hybrid_memory.errors import StoreError
from hybrid_memory.store.sql.rows import StoredRequest
from hybrid_memory_postgres.connections import EVERYTHING
from hybrid_memory_postgres.tables import Head, read_link, read_requests

if TYPE_CHECKING:
    from hybrid_memory.store.writing import RequestKey
    from hybrid_memory_postgres.connections import Connections
    from hybrid_memory_postgres.sql_session import PgSession

# The number of the transaction alongside that of the process: a process of this number may be another one's meanwhile. `pg_xact_status`
# would not do: of a number that is higher than all that have ended it may say nothing. One that waits for a standby is left to wait:
# ended, it would be committed without the standby, and be acknowledged although the loss of one machine can lose it.
_END = """
    SELECT CASE WHEN wait_event IS DISTINCT FROM 'SyncRep' THEN pg_terminate_backend(pid) END FROM pg_stat_activity
    WHERE pid = $1 AND backend_xid IS NOT NULL AND backend_xid::text::bigint = $2
"""
# A number that is still to be given out belongs to a transaction that a crash has undone.
_STATUS = """
    SELECT CASE WHEN $1::text::xid8 < pg_snapshot_xmax(pg_current_snapshot()) THEN pg_xact_status($1::text::xid8) END
"""
_XID_RANGE = 2**32
_PAUSE_SECONDS = 0.02


@dataclass(frozen=True, slots=True)
class Traces:
    """What a transaction leaves if it is committed, and the server's number and process of it.

    ``head`` is that of the namespace then, if entries of the log were added; ``requests`` are those that it did.
    """

    namespace: str
    transaction: str
    process: int
    head: Head | None
    requests: Sequence[tuple[RequestKey, StoredRequest]]


def was_committed(connections: Connections, traces: Traces, seconds: float) -> bool | None:
    """Return whether a transaction was committed; None if that could not be learned within so many seconds."""
    deadline = monotonic() + seconds
    while True:
        try:
            with connections.reading(EVERYTHING) as session:
                if not session.rows(_END, traces.process, int(traces.transaction) % _XID_RANGE):
                    return _left_its_traces(session, traces)
        except StoreError:
            pass  # not reachable yet
        if monotonic() >= deadline:
            return None
        sleep(_PAUSE_SECONDS)


def _left_its_traces(session: PgSession, traces: Traces) -> bool:
    """Return whether there is what only this transaction, which has ended, can have left."""
    if traces.head is not None:
        return read_link(session, traces.namespace, traces.head.position) == traces.head.link
    if traces.requests:
        key, done = traces.requests[0]
        return read_requests(session, [key]).get(key) == done
    # It left nothing of its own: counts of use, a buffer's state.
    return bool(session.rows(_STATUS, traces.transaction)[0][0] == "committed")
