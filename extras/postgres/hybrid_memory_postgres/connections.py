"""`Connections`: the pool of connections to the server, and the transactions that calls run in.

Every transaction says for which namespaces it is (`hybrid_memory.namespaces`, for this transaction alone), so that the server itself
can hold it to them (row-level security, `row_security`).
"""

from __future__ import annotations

import logging
import select
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, Self

import psycopg
import psycopg_pool
from psycopg.types.numeric import Int8BinaryDumper, Int8Dumper

from hybrid_memory.errors import AccessRefused, SchemaTooNew
from hybrid_memory_postgres.dead_connections import AT_WORK, Watch, WatchedConnection, watched_by
from hybrid_memory_postgres.pg_errors import (
    RightsMissing,
    RoleGone,
    reason_of_refusal,
    refuse_if_full,
    translated,
)
from hybrid_memory_postgres.row_security import NO_ROLE, NamespaceRoles, roles_of_login
from hybrid_memory_postgres.sql_session import EachStatementSession, PgSession
from hybrid_memory_postgres.target import Conninfo, conninfo_now

if TYPE_CHECKING:
    from typing import TypeAlias

    Connection: TypeAlias = WatchedConnection

EVERYTHING: Sequence[str] = ("*",)
"""In place of namespaces: work on the whole store, which no client's call is. Told from a namespace by identity."""

OUTDATED = (
    "a later version of this program has changed the store in a way that this version does not understand; nothing was changed by this "
    "one. Upgrade it on this machine"
)
# A way to a database has to keep texts as UTF8, and a connection one session. A pooler may give each transaction another session of the
# server. What hubs prepare there under the same names would be mixed up, and what one of them sets for itself would hold for another: such
# a way is refused, whatever seems to work over it.
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
_BEGIN = "BEGIN ISOLATION LEVEL READ COMMITTED"  # a database may have another default
_BEGIN_SNAPSHOT = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
_ROLLBACK = "ROLLBACK"
_RECONNECT_SECONDS = 2.0
_PAUSE_SECONDS = 0.05  # between two tries to reach a server that is away
_A_MOMENT_SECONDS = 0.01
_HURRY_SECONDS = 1.0  # a server that is there answers in a hundredth of that
_LOOK_SECONDS = 2  # the least that libpq takes
# The role last: it is that of the namespaces where there is one, and the login's own otherwise.
_FOR_NAMESPACES = """
    SELECT set_config('hybrid_memory.namespaces', $1::text[]::text, true), set_config('hybrid_memory.everything', $2, true),
        set_config('role', $3, true)
"""


# While the server is away they would tell of each try, several times a second, with host and user; what a caller must know is in the error.
logging.getLogger("psycopg").setLevel(logging.ERROR)
logging.getLogger("psycopg").addHandler(logging.NullHandler())
logging.getLogger("psycopg.pool").addHandler(logging.NullHandler())


class Connections:
    """Gives out sessions, each in one transaction of one connection; safe in several threads.

    ``conninfo`` is asked for each connection; ``size`` connections at most are open at once. A call waits up to ``wait_seconds`` for one
    that works, also while the server is away.
    """

    def __init__(self, conninfo: Conninfo, *, size: int = 10, wait_seconds: float = 10.0) -> None:
        self.conninfo = conninfo
        self.size = size
        self.wait_seconds = wait_seconds
        self.unreadable: set[tuple[str, str]] = set()
        """Memories, by namespace and id, that readers came upon and had to leave out."""
        self.outdated = False
        """Whether a later version has changed the store in a way that this one does not understand; then nothing is read or written."""
        self._roles = NamespaceRoles(self._load_roles, monotonic)
        self._watch = Watch(conninfo, wait_seconds / 2)
        self._kind = watched_by(self._watch)
        self._pool: psycopg_pool.ConnectionPool[Connection] = psycopg_pool.ConnectionPool(
            conninfo,
            connection_class=self._kind,
            min_size=1,
            max_size=size,
            open=False,
            timeout=wait_seconds,
            # BEGIN and COMMIT are ours, so that they travel with the statements; `$1` is the server's own way to write a parameter.
            kwargs={"autocommit": True, "cursor_factory": psycopg.RawCursor},
            configure=_configure,
            # The pool waits longer and longer between its tries; given up, it begins again for who still waits, or asks next.
            reconnect_timeout=_RECONNECT_SECONDS,
            reconnect_failed=self._connect_for_who_waits,
            name="hybrid-memory",
        )

    def open(self) -> None:
        """Begin to connect. A server that is away shows at the first call, which waits for it.

        Raises:
            AccessRefused: the server refuses this login or database, is not to be trusted, or is none that a store can be in: waiting
                would not help.
        """
        reason = self._refusal()
        if reason is not None:
            raise AccessRefused(reason)
        with translated():
            self._pool.open()

    def __enter__(self) -> Self:
        self.open()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def hurry(self) -> None:
        """Wait a moment at most from now on: who closes a store has nothing left to do that is worth more."""
        self.wait_seconds = min(self.wait_seconds, _HURRY_SECONDS)

    def close(self) -> None:
        """Close all connections once they are free; calling it again does nothing."""
        self._watch.close()
        self._pool.close()

    def counts(self) -> Mapping[str, int]:
        """Return how many connections are open and idle, and how many callers wait for one."""
        found = self._pool.get_stats()
        names = {"open": "pool_size", "idle": "pool_available", "waiting": "requests_waiting"}
        return {state: found.get(name, 0) for state, name in names.items()}

    @contextmanager
    def reading(self, namespaces: Sequence[str]) -> Iterator[PgSession]:
        """Give a session in which each statement sees the newest committed state; a query is one round trip."""
        said = self._said(namespaces)
        with self._connection() as connection:
            yield EachStatementSession(connection, self.unreadable, lambda one: one.send(_FOR_NAMESPACES, *said))

    @contextmanager
    def snapshot(self, namespaces: Sequence[str]) -> Iterator[PgSession]:
        """Give a session in which all statements see one moment, and change nothing."""
        with self._in_pipeline(_BEGIN_SNAPSHOT, namespaces) as session:
            yield session
            session.end()

    @contextmanager
    def transaction(self, namespaces: Sequence[str]) -> Iterator[PgSession]:
        """Give a session that may change rows (READ COMMITTED): committed when the block ends, undone when anything is raised.

        Raises:
            OutcomeUnknown: the connection broke while committing; any other error says that nothing was changed.
        """
        with self._in_pipeline(_BEGIN, namespaces) as session:
            if namespaces is EVERYTHING:
                session.send(AT_WORK)
            yield session
            session.commit()

    @contextmanager
    def copying(self, namespaces: Sequence[str]) -> Iterator[PgSession]:
        """Give a session in one moment for bulk copies (``session.connection``), which know no pipeline; it changes nothing.

        It may outlive the call that began it, so its connection is none of the pool's: whoever reads slowly keeps nobody else waiting.
        """
        said = self._said(namespaces)
        with closing(self._connection_beside()) as connection:
            session = PgSession(connection, self.unreadable, None)
            session.send(_BEGIN_SNAPSHOT)
            session.send(_FOR_NAMESPACES, *said)
            yield session

    @contextmanager
    def filling(self, namespaces: Sequence[str]) -> Iterator[PgSession]:
        """Give a session as `transaction` does, for bulk copies into the store, which know no pipeline."""
        said = self._said(namespaces)
        with self._connection() as connection:
            session = PgSession(connection, self.unreadable, None)
            session.send(_BEGIN)
            try:
                session.send(_FOR_NAMESPACES, *said)
                session.send(AT_WORK)
                yield session
                session.commit()
            except BaseException:
                _roll_back(connection)
                raise

    @contextmanager
    def _in_pipeline(self, begin: str, namespaces: Sequence[str]) -> Iterator[PgSession]:
        said = self._said(namespaces)
        with self._connection() as connection:
            try:
                with _pipeline(connection, self.unreadable) as session:
                    session.send(begin)
                    session.send(_FOR_NAMESPACES, *said)
                    yield session
            except BaseException:
                _roll_back(connection)
                raise

    def _said(self, namespaces: Sequence[str]) -> tuple[list[str], str, str]:
        """Return what a transaction says at its beginning; asked before it has a connection, for the roles may have to be loaded.

        Raises:
            SchemaTooNew: this program does not understand the store any more.
        """
        if self.outdated:
            raise SchemaTooNew(OUTDATED)
        if namespaces is EVERYTHING:
            return [], "on", NO_ROLE
        return list(namespaces), "off", self._roles.role_for(namespaces)

    def _load_roles(self) -> Sequence[tuple[str, frozenset[str]]]:
        with self.reading(EVERYTHING) as session:
            return roles_of_login(session)

    @contextmanager
    def _connection(self) -> Iterator[Connection]:
        connection = self._living_connection()
        try:
            yield connection
        except (RoleGone, RightsMissing):
            self._roles.forget()  # a role may have been dropped, or taken from this login
            raise
        finally:
            with translated():
                self._pool.putconn(connection)

    def connect(self, **options: Any) -> Connection:
        """Return a connection alongside the pool, with libpq's ``options``; it is release when the network swallows what it says.

        Raises:
            psycopg.Error: there is none; nothing is waited for.
        """
        connection = self._kind.connect(
            conninfo_now(self.conninfo), autocommit=True, cursor_factory=psycopg.RawCursor, **options
        )
        connection.server_process = server_process(connection)
        return connection

    def _connection_beside(self) -> Connection:
        """Return a new connection; waits for a server that is away as the pool does."""
        deadline = monotonic() + self.wait_seconds
        while True:
            with translated():
                if self._pool.closed:
                    raise psycopg_pool.PoolClosed
                try:
                    connection = self.connect(connect_timeout=max(int(deadline - monotonic()), _LOOK_SECONDS))
                    _configure(connection)
                except psycopg.OperationalError as error:
                    if (reason := reason_of_refusal(error)) is not None:
                        raise AccessRefused(reason) from None
                    if monotonic() >= deadline:
                        refuse_if_full(error)
                        raise
                    sleep(_PAUSE_SECONDS)
                else:
                    return connection

    def _connect_for_who_waits(self, pool: psycopg_pool.ConnectionPool[Connection]) -> None:
        """Have the pool try again after it has given up: it would leave those who wait already to their time limits."""
        if pool.get_stats().get("requests_waiting", 0):
            with suppress(psycopg_pool.PoolTimeout, psycopg_pool.PoolClosed):
                pool.putconn(pool.getconn(_A_MOMENT_SECONDS))  # one more who asks: the pool begins to connect for that

    def _refusal(self) -> str | None:
        """Return why the server takes no connection, or none that a store can be had over, where it says so; the pool tells nobody."""

        def connect() -> Connection:
            return self.connect(connect_timeout=_LOOK_SECONDS)

        try:
            with closing(connect()) as connection:
                return misfit(connection, connect)
        except psycopg.Error as error:
            refuse_if_full(error)
            return reason_of_refusal(error)

    def _living_connection(self) -> Connection:
        """Return a connection that was not lost meanwhile, as a restart of the server or of what lies on the way ends all at once."""
        deadline = monotonic() + self.wait_seconds
        while True:
            with translated():
                try:
                    connection = self._pool.getconn(max(deadline - monotonic(), 0.01))
                except psycopg_pool.PoolTimeout:
                    if (reason := self._refusal()) is not None:
                        raise AccessRefused(reason) from None
                    raise
                if not (_was_ended(connection) or self._watch.is_doubtful(connection)):
                    return connection
                connection.close()
                self._pool.putconn(connection)


@contextmanager
def _pipeline(connection: Connection, unreadable: set[tuple[str, str]]) -> Iterator[PgSession]:
    """Give a session in pipeline mode; what is raised inside is what leaves, whatever else fails at its end.

    The end waits for all that was sent, COMMIT among it: no round trip of its own, and nothing that could fail after it.
    """
    with translated():
        block = connection.pipeline()
        session = PgSession(connection, unreadable, block.__enter__())
    try:
        yield session
    except BaseException as error:
        if not isinstance(error, Exception):
            connection.close()  # whoever interrupts this thread does not want it to wait for what was sent
        with suppress(psycopg.Error):
            block.__exit__(type(error), error, error.__traceback__)
        raise
    with translated(committing=session.committing):
        block.__exit__(None, None, None)


def _roll_back(connection: Connection) -> None:
    """Undo the transaction; a connection that cannot is broken, and the pool lets it go."""
    try:
        connection.execute(_ROLLBACK, prepare=False)
    except psycopg.Error:
        connection.close()


def _configure(connection: Connection) -> None:
    connection.server_process = settle(connection)
    # A Python int is of the smallest type that holds it by default, and a statement would be prepared again for each.
    # Lists are sent as text; without a type of its own the second one of a statement would get that of the first.
    connection.adapters.register_dumper(int, Int8Dumper)
    connection.adapters.register_dumper(int, Int8BinaryDumper)
    connection.prepared_max = (
        1000  # more than there are: letting one go in a pipeline is a round trip, and has its traps
    )


def _was_ended(connection: Connection) -> bool:
    """Return whether there is anything to be read of an idle connection: that it was ended. No round trip."""
    if hasattr(select, "poll"):
        poll = select.poll()
        poll.register(connection.fileno(), select.POLLIN)
        return bool(poll.poll(0))
    return bool(select.select([connection.fileno()], [], [], 0)[0])


def server_process(connection: psycopg.Connection[Any]) -> int:
    """Return the number of the server's process behind a connection; what a pooler says by itself is a number of its own."""
    row = connection.execute(_PROCESS, prepare=False).fetchone()
    return int(row[0]) if row else 0


def settle(connection: psycopg.Connection[Any]) -> int:
    """Have a connection find temporary tables and types after all others; returns the number of the server's process behind it."""
    row = connection.execute(_SETTLE, prepare=False).fetchone()
    return int(row[0]) if row else 0


def misfit(connection: psycopg.Connection[Any], another: Callable[[], psycopg.Connection[Any]]) -> str | None:
    """Return why no store can be had over a connection, None where one can; ``another`` makes a second one of the same kind."""
    if connection.info.parameter_status("server_encoding") != "UTF8":
        return NOT_UTF8
    if server_process(connection) == connection.info.backend_pid:
        return None
    with closing(another()) as other:
        return TRANSACTIONS_POOLED if _share_sessions(connection, other) else None


def _share_sessions(one: psycopg.Connection[Any], other: psycopg.Connection[Any]) -> bool:
    """Return whether two connections that are both open have been in the same session, or one of them in two."""
    first = server_process(one)
    return any(server_process(other) == first or server_process(one) != first for _ in range(_LOOKS))
