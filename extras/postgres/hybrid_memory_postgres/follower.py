"""`ServerFollower`: learns what other hubs write, and keeps `KnownHeads` right, in a thread with a connection of its own.

It looks at the heads of all namespaces several times a second: that alone is enough for everything to be followed. Between two looks
it listens for hints (`hints`), after which it looks at the namespaces that they mean; those that are followed in memory are read at
once, and so looked at. A hint is never believed: it may be lost, late or forged.
"""

from __future__ import annotations

import selectors
import socket
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING
from uuid import uuid4

import psycopg

from hybrid_memory.errors import SchemaTooNew, StoreError
from hybrid_memory.store.sql.session import Row
from hybrid_memory_postgres import hub_rows, schema
from hybrid_memory_postgres.connections import EVERYTHING
from hybrid_memory_postgres.hints import digest_of, read_hint
from hybrid_memory_postgres.pg_errors import translated
from hybrid_memory_postgres.sql_session import PgSession

if TYPE_CHECKING:
    from _typeshed import HasFileno

    from hybrid_memory.store.other_hubs import Follower
    from hybrid_memory_postgres.connections import Connections
    from hybrid_memory_postgres.known_heads import KnownHeads

POLL_SECONDS = 0.25
"""Between two looks at all heads."""
_SHARE_OF_TIME = 20  # a look that takes long, at very many namespaces, is not to take more than a twentieth of the time
_LEAST_PAUSE_SECONDS = 0.02  # between two looks at all heads because of hints that mean nothing known
_RETRY_SECONDS = 0.25
_CONNECT_SECONDS = 5
_LOST_AFTER_MS = 5_000  # without an answer of the other machine to what was sent

_EVERYTHING = "SELECT set_config('hybrid_memory.everything', 'on', false)"
_LISTEN = "LISTEN hybrid_memory"
_HEADS = "SELECT name, position, link FROM namespace"
_SOME_HEADS = "SELECT name, position, link FROM namespace WHERE name = ANY ($1::text[])"
_STATE = """
    SELECT id, erasures, coalesce((SELECT max(number) FROM embedder), 0), (SELECT max(usable_from) FROM migration),
        pg_relation_filenode('namespace')::bigint,
        (SELECT oid::bigint FROM pg_catalog.pg_database WHERE datname = current_database()),
        extract(epoch FROM pg_postmaster_start_time())::double precision
    FROM store
"""
_LINKS = """
    SELECT log.namespace, log.link FROM unnest($1::text[], $2::bigint[]) AS known (namespace, position)
    JOIN log USING (namespace, position)
"""


@dataclass(frozen=True, slots=True)
class _State:
    """Which store it is and how it changed as a whole.

    ``erasures`` counts namespaces that were erased and words that were exchanged, ``embedder`` is the number of the pinned one,
    ``usable_from`` the first schema whose programs can use it, ``file`` that of the table of heads, which is another one when it was
    filled again.

    ``database`` is the server's number of the database, ``started_at`` when the server was started. Behind another start may be an earlier
    state, as of a standby that lacked the last transactions. Links do not always tell: where several hubs write before they look, each
    knows the link of what it wrote itself.
    """

    store: str = ""
    erasures: int = 0
    embedder: int = 0
    usable_from: int = 0
    file: int = 0
    database: int = 0
    started_at: float = 0.0

    def is_of_same_course(self, other: _State) -> bool:
        """Return whether what was read in one state is still true in the other, but for what the logs say."""
        mine = (self.store, self.erasures, self.database, self.started_at)
        return mine == (other.store, other.erasures, other.database, other.started_at)


class ServerFollower:
    """Follows a store for one ``follower`` from `start` to `close`.

    ``secret`` gives the key of the hints, ``store`` the id of the store whose key that is. ``renew`` is called when the database holds
    another one.
    """

    def __init__(
        self,
        connections: Connections,
        heads: KnownHeads,
        follower: Follower,
        *,
        secret: Callable[[], int],
        store: Callable[[], str],
        renew: Callable[[], None],
    ) -> None:
        self._connections = connections
        self._heads = heads
        self._follower = follower
        self._secret = secret
        self._store = store
        self._renew = renew
        self._state = _State()
        self._behind: dict[str, int] = {}  # what was known of namespaces that the last look found further back
        self._names: dict[str, str] = {}  # by digest
        self._is_first = True
        self._is_new_connection = False
        self.hub: str | None = None
        """The id of this hub's row, None before it has one."""
        self._next_beat = 0.0
        self._seconds = POLL_SECONDS
        self._certain_at = monotonic()
        self._closed = False
        self._waker, self._woken = socket.socketpair()
        self._thread = threading.Thread(target=self._run, name="hybrid-memory-follower", daemon=True)

    def start(self) -> None:
        """Begin to follow: what changes from now on is told."""
        with suppress(StoreError), self._connections.reading(EVERYTHING) as session:
            self._state = _State(*session.rows(_STATE)[0])
        self._thread.start()

    def close(self) -> None:
        """Follow no longer; calling it again does nothing."""
        if self._closed:
            return
        self._closed = True
        self._waker.send(b"x")
        if self._thread.is_alive():
            self._thread.join(_CONNECT_SECONDS)
        if not self._thread.is_alive():
            self._waker.close()
            self._woken.close()
        self._heads.forget()

    def behind_seconds(self) -> float:
        """Return how long ago the last look at all heads began that was answered."""
        return monotonic() - self._certain_at

    def _run(self) -> None:
        while not self._closed:
            # Whatever goes wrong: reads ask the server themselves until following goes on.
            with suppress(Exception), self._connect() as connection:
                self._follow(connection)
            self._heads.doubt()
            if self._connections.outdated:
                return
            if not self._closed:
                self._wait(_RETRY_SECONDS)

    def _connect(self) -> psycopg.Connection[Row]:
        connection = self._connections.connect(connect_timeout=_CONNECT_SECONDS, tcp_user_timeout=_LOST_AFTER_MS)
        connection.execute(_EVERYTHING)
        connection.execute(_LISTEN)
        self._is_new_connection = True
        return connection

    def _follow(self, connection: psycopg.Connection[Row]) -> None:
        session = PgSession(connection, self._connections.unreadable, None)
        hints = _Hints(connection)
        next_look = former = 0.0
        while not self._closed:
            if monotonic() >= next_look:
                begun = monotonic()
                self._look_at_all(session)
                self._beat(session)
                seconds = monotonic() - begun
                # One that waited for a lock, as of a restore, says nothing of how long they take.
                next_look = begun + max(POLL_SECONDS, _SHARE_OF_TIME * min(seconds, former))
                former = seconds
            # What came along with an answer is not told by the socket any more, so hints are looked for before it is waited.
            hinted, unknown = self._hinted(hints.read())
            if hinted:
                self._look_at(session, hinted)
                continue
            if unknown:
                next_look = min(next_look, monotonic() + _LEAST_PAUSE_SECONDS)
            self._wait(next_look - monotonic(), connection)
        self._leave(session)

    def _wait(self, seconds: float, *readable: HasFileno) -> None:
        """Wait until there is something to read, or this is to be closed."""
        with selectors.DefaultSelector() as selector:
            for one in (*readable, self._woken):
                selector.register(one, selectors.EVENT_READ)
            selector.select(max(seconds, 0))

    def _look_at(self, session: PgSession, hinted: Mapping[str, int]) -> None:
        followed = self._follower.marks()
        for name, position in hinted.items():
            if name in followed:
                self._follower.on_hint(name, position)
        if others := [name for name in hinted if name not in followed]:
            self._note([(name, position, link) for name, position, link in session.rows(_SOME_HEADS, others)])

    def _hinted(self, payloads: Iterable[str]) -> tuple[dict[str, int], bool]:
        """Return the namespaces that hints say have moved, with the positions, and whether there are some that mean none that is known."""
        found: dict[str, int] = {}
        unknown = False
        for payload in payloads:
            hint = read_hint(payload)
            if hint is None:
                continue
            name = self._names.get(hint[0])
            if name is None:
                unknown = True
            elif hint[1] > (self._heads.get(name) or 0):
                found[name] = max(hint[1], found.get(name, 0))
        return found, unknown

    def _look_at_all(self, session: PgSession) -> None:
        begun = monotonic()
        with translated(), session.connection.pipeline():
            heads = session.connection.execute(_HEADS, prepare=True, binary=True)
            state = session.connection.execute(_STATE, prepare=True, binary=True)
        ends: dict[str, tuple[int, str]] = {name: (position, link) for name, position, link in heads.fetchall()}
        positions = {name: position for name, (position, _) in ends.items()}
        found = _State(*state.fetchall()[0])
        if found.usable_from > schema.MIGRATIONS[-1].number:
            self._connections.outdated = True
            self._leave(session)
            raise SchemaTooNew
        known, self._state = self._state, found
        self._certain_at = begun
        is_first, self._is_first = self._is_first, False
        self._know_names(positions, anew=known.store != found.store)
        other_store = found.store != self._store()
        if other_store or (known.store and not known.is_of_same_course(found)):
            self._exchange(positions, other_store=other_store)
        elif self._is_another_past(session, ends, anew=known.file != found.file):
            # The server has lost what it had: an older copy was restored, or a standby took over that lacked the last.
            self._exchange(positions, other_store=False)
        else:
            self._behind = {
                name: position
                for name, position in self._heads.positions().items()
                if positions.get(name, 0) < position
            }
            self._note([(name, *end) for name, end in ends.items()], is_first=is_first)
        self._heads.confirm()
        if known.store and known.embedder != found.embedder:
            self._follower.on_embedder()

    def _is_another_past(self, session: PgSession, ends: Mapping[str, tuple[int, str]], *, anew: bool) -> bool:
        """Return whether the logs are not the ones that were known, or end earlier, already at the look before."""
        if any(ends.get(name, (0, ""))[0] < position for name, position in self._behind.items()):
            return True
        anew, self._is_new_connection = anew or self._is_new_connection, False
        further: dict[str, tuple[int, str]] = {}
        for name, (position, link) in self._heads.links().items():
            end = ends.get(name, (0, ""))
            if end[0] == position and end[1] != link:
                return True
            if end[0] > position:
                further[name] = position, link
        if not (anew and further):
            return False
        names, known = list(further), list(further.values())
        there: dict[str, str] = dict(session.rows(_LINKS, names, [position for position, _ in known]))
        return any(there.get(name) != link for name, (_, link) in further.items())

    def _exchange(self, positions: Mapping[str, int], *, other_store: bool) -> None:
        if other_store:
            self._renew()
            self._know_names(positions, anew=True)
        self._behind = {}
        self._heads.replace(positions)
        self._follower.on_exchange()

    def _note(self, ends: Sequence[tuple[str, int, str]], *, is_first: bool = False) -> None:
        """Note positions and tell of those that are news; at the first look those of which nobody has asked are none."""
        asked = self._heads.positions() if is_first else None
        for name, position, link in ends:
            if self._heads.note(name, position, link) and (asked is None or name in asked):
                self._follower.on_change(name, position)

    def _know_names(self, positions: Mapping[str, int], *, anew: bool) -> None:
        if anew:
            self._names = {}
        if len(self._names) < len(positions):
            secret = self._secret()
            known = set(self._names.values())
            self._names |= {digest_of(secret, name): name for name in positions if name not in known}

    def _beat(self, session: PgSession) -> None:
        if self.hub is not None and monotonic() < self._next_beat:
            return
        secret = self._secret()
        marks = {digest_of(secret, name): position for name, position in self._follower.marks().items()}
        is_first = self.hub is None
        # Known before the row is there, or this process would take its own for another hub's.
        self.hub = self.hub or str(uuid4())
        if is_first or not hub_rows.beat(session, self.hub, marks):
            hub_rows.enter(session, self.hub)
        self._next_beat = monotonic() + hub_rows.BEAT_SECONDS

    def _leave(self, session: PgSession) -> None:
        if self.hub is not None:
            hub_rows.leave(session, self.hub)


class _Hints:
    """The payloads of the notices that have come over a connection. `psycopg.Connection.notifies` does much more, at each own write."""

    def __init__(self, connection: psycopg.Connection[Row]) -> None:
        self._connection = connection
        self._came: list[str] = []
        connection.add_notify_handler(lambda notice: self._came.append(notice.payload))  # along with an answer

    def read(self) -> list[str]:
        """Return those that were not returned before; waits for nothing."""
        server = self._connection.pgconn
        with translated():
            server.consume_input()
        while (notice := server.notifies()) is not None:
            self._came.append(notice.extra.decode(errors="replace"))
        came, self._came = self._came, []
        return came
