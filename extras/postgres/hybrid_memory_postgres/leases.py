"""Leases in PostgreSQL: rows of the table ``lease``, whose times are the server's, since the clocks of hubs differ.

What is held is renewed by a thread of its own, so that a piece of work may take longer than the lease; that of a process that died, or
that was stopped, ends by itself. `Leases.guard` is in the transactions whose work may not be done by a former holder.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from time import monotonic
from typing import TYPE_CHECKING

from hybrid_memory.errors import ConcurrentModification, StoreError
from hybrid_memory_postgres.connections import EVERYTHING
from hybrid_memory_postgres.repeating import again

if TYPE_CHECKING:
    from hybrid_memory.store.sql.session import Row
    from hybrid_memory_postgres.connections import Connections
    from hybrid_memory_postgres.sql_session import PgSession

_MICROS = 1_000_000
_RENEWALS = 3  # tries before a lease ends: one may be lost
_LONGEST_WAIT_SECONDS = 5.0  # until a lease that another hub has is asked for again: it may have been given back

_TAKE = """
    INSERT INTO lease (name, holder, fence, ends_at)
    VALUES ($1, $2, 1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint + $3)
    ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, fence = lease.fence + 1, ends_at = excluded.ends_at
    WHERE lease.ends_at <= (extract(epoch FROM clock_timestamp()) * 1000000)::bigint OR lease.holder = excluded.holder
    RETURNING fence
"""
_LEFT = "SELECT ends_at - (extract(epoch FROM clock_timestamp()) * 1000000)::bigint FROM lease WHERE name = $1"
_RENEW = """
    UPDATE lease SET ends_at = (extract(epoch FROM clock_timestamp()) * 1000000)::bigint + $4
    WHERE name = $1 AND holder = $2 AND fence = $3 RETURNING fence
"""
_GIVE_BACK = "UPDATE lease SET ends_at = 0 WHERE name = $1 AND holder = $2 AND fence = $3"
# The row cannot be taken over before this transaction ends.
_HELD = "SELECT 1 FROM lease WHERE name = $1 AND holder = $2 AND fence = $3 FOR SHARE"


class PostgresLease:
    """A lease that this process took; see `hybrid_memory.store.other_hubs.Lease`."""

    def __init__(self, leases: Leases, name: str, fence: int, seconds: float, certain_until: float) -> None:
        self._leases = leases
        self.name = name
        self.fence = fence
        self.seconds = seconds
        self.certain_until = certain_until

    @property
    def is_held(self) -> bool:
        """Whether it is certain that no other hub has it now."""
        return self._leases.now() < self.certain_until

    def release(self) -> None:
        """Let another hub have it at once; a server that cannot be reached lets it end by itself."""
        self._leases.release(self)


class Leases:
    """The leases that one store object has; safe in several threads. ``holder`` names it among all hubs."""

    def __init__(self, connections: Connections, holder: str, now: Callable[[], float] = monotonic) -> None:
        self._connections = connections
        self._holder = holder
        self.now = now
        self._held: dict[str, PostgresLease] = {}
        self._refused_until: dict[str, float] = {}
        self._lost: set[str] = set()  # to other hubs, without being given back
        self._changed = threading.Condition()
        self._renewing: threading.Thread | None = None
        self._closed = False

    def take(self, name: str, seconds: float) -> PostgresLease | None:
        """Return the lease, None while another hub has it.

        Raises:
            StoreError: the server cannot be reached.
        """
        begun = self.now()
        held = self._held.get(name)
        if held is not None and held.is_held:
            return held
        if begun < self._refused_until.get(name, 0.0):
            return None
        length = int(seconds * _MICROS)
        taken, left = again(lambda: self._take(name, length), self._connections.wait_seconds)
        if taken is None:
            waiting = (left[0] if left else 0) / _MICROS
            self._refused_until[name] = begun + min(max(waiting, 0.0), seconds, _LONGEST_WAIT_SECONDS)
            return None
        lease = PostgresLease(self, name, taken[0], seconds, begun + seconds)
        with self._changed:
            self._held[name] = lease
            self._lost.discard(name)
            if self._renewing is None and not self._closed:
                self._renewing = threading.Thread(target=self._renew_all, name="leases", daemon=True)
                self._renewing.start()
            self._changed.notify_all()
        return lease

    def _take(self, name: str, length: int) -> tuple[Row | None, Row | None]:
        """Return the fence of a lease that was taken, or how long another hub has it; who has it already may take it twice."""
        with self._connections.transaction(EVERYTHING) as session:
            taken = session.row(_TAKE, name, self._holder, length)
            return taken, None if taken else session.row(_LEFT, name)

    def release(self, lease: PostgresLease) -> None:
        """Let others have a lease."""
        with self._changed:
            if self._held.get(lease.name) is not lease:
                return
            del self._held[lease.name]
            self._changed.notify_all()
        with suppress(StoreError), self._connections.transaction(EVERYTHING) as session:
            session.send(_GIVE_BACK, lease.name, self._holder, lease.fence)

    def guard(self, session: PgSession, name: str) -> None:
        """Check inside of a transaction that a lease which this process took is still its own; one never taken is not asked for.

        Raises:
            ConcurrentModification: another hub has it; nothing is to be changed.
        """
        lease = self._held.get(name)
        if lease is not None and session.row(_HELD, name, self._holder, lease.fence) is None:
            self._forget(lease)
        if name in self._lost:
            raise ConcurrentModification("another hub has taken over this work; nothing was changed")

    def close(self) -> None:
        """Give back all leases, before the connections are closed."""
        with self._changed:
            self._closed = True
            held = list(self._held.values())
            self._changed.notify_all()
        for lease in held:
            lease.release()

    def _forget(self, lease: PostgresLease) -> None:
        lease.certain_until = 0.0
        with self._changed:
            if self._held.get(lease.name) is lease:
                del self._held[lease.name]
                self._lost.add(lease.name)

    def _renew_all(self) -> None:
        """Renew what is held until nothing is: the work of the thread ``leases``."""
        while True:
            with self._changed:
                if self._closed or not self._held:
                    self._renewing = None
                    return
                self._changed.wait(min(lease.seconds for lease in self._held.values()) / _RENEWALS)
                held = list(self._held.values())
            for lease in held:
                with suppress(StoreError):  # tried again soon; if the server stays away, the lease ends
                    self._renew(lease)

    def _renew(self, lease: PostgresLease) -> None:
        begun = self.now()
        with self._connections.transaction(EVERYTHING) as session:
            renewed = session.row(_RENEW, lease.name, self._holder, lease.fence, int(lease.seconds * _MICROS))
        if renewed is None:
            self._forget(lease)
        else:
            lease.certain_until = begun + lease.seconds
