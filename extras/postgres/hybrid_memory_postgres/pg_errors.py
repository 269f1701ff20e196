"""PostgreSQL's errors into the library's: `translated` around every call of psycopg in this package.

A message never holds what the server said: that may name a host, a role, a statement or a value.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import psycopg
import psycopg_pool
from psycopg.errors import PipelineAborted

from hybrid_memory.errors import (
    AccessRefused,
    ConcurrentModification,
    ConstraintViolation,
    EngineUnavailable,
    NotEnoughMemory,
    OutcomeUnknown,
    StoreClosed,
    StoreDamaged,
    StoreError,
    StoreFull,
    StoreReadOnly,
)

LOST = (
    "the database cannot be reached; nothing was changed. Try again; if it persists, see that the PostgreSQL server runs and that this "
    "machine reaches it"
)
_UNKNOWN = (
    "the connection to the database broke while committing; whether it was done is not known. Look before you repeat it, or repeat it with "
    "the same request key"
)
_BUSY = "another hub changed the same at the same time; nothing was changed here, try again"
_FULL = "no space is left for the database; what was acknowledged is intact. Make room and try again"
_MEMORY = "the database has not enough memory or connections for this; nothing was changed. Try again, or give it more"
_RIGHTS = (
    "this login has no right to do that in the database; nothing was changed. Have the administrator run "
    "`hybrid-memory-mcp postgres prepare` with its name as --role, which makes or completes tables and rights"
)
_LOGIN = "the database refuses this login; see user and password, and the server's rules for this machine (pg_hba.conf)"
_NO_DATABASE = "the server has no database of that name; make it first, or correct the address in HYBRID_MEMORY_STORE"
_ROLE = "the database's role of this namespace is gone; nothing was changed, try again"
_READ_ONLY = "the database takes no writes: it is a standby, or set to be read only; nothing was changed"
_NO_SCHEMA = (
    "the database has no schema of the name in the address; make it first (CREATE SCHEMA), or correct search_path there"
)
_TABLES = "the database does not hold the tables of this store as this program knows them; nothing was changed"
_DAMAGED = "the database cannot read what it holds (its files are damaged); nothing was changed. Restore a backup"
_VALUE = "a value is outside of what the store can keep; nothing was changed"
_FAULT = "the database does not accept this statement; nothing was changed. Please report it"
_CLOSED = "the memory store is closed; open it again"
_INTERRUPTED = "the database ended the call before anything was changed; try again"

_ZERO = "a text holds a zero character, which PostgreSQL does not keep; nothing was changed, leave it out"
_CERTIFICATE = (
    "the database's certificate is not to be trusted: signed by no authority that this machine knows, for another name, or out of date; "
    "name the authority's file with sslrootcert= in the address"
)
_NO_TLS = "the database offers no encryption (TLS), which it takes beyond this machine; have its administrator switch it on (ssl = on)"

_PARAMETER = (
    "a pooler on the way to the database does not take a parameter of the address (options, as for search_path); have it take that "
    "(pgbouncer: ignore_startup_parameters drops it, ALTER ROLE ... SET search_path says the same), or leave it out"
)

_REFUSED = (
    "the database answers and refuses the connection, for a reason that this program cannot read; see user and password, the database's "
    "name, the server's rules for this machine (pg_hba.conf), how many connections it gives this login, and its log"
)
_IDLED = (
    "the database ended a transaction that paused or lasted for longer than it allows; nothing was changed. Allow this login more: "
    "idle_in_transaction_session_timeout and transaction_timeout, ten minutes at least"
)

# What libpq says of a refused connection, for which it has no code; the server's own words are these where its messages are English.
_REFUSALS: Sequence[tuple[tuple[str, ...], str]] = (
    (("certificate", "SSL error", "tlsv1 alert"), _CERTIFICATE),
    (("server does not support SSL",), _NO_TLS),
    (("authentication failed", "no password supplied", "pg_hba.conf", "authentication method"), _LOGIN),
    (("FATAL:  role ", "is not permitted to log in", "permission denied for database"), _LOGIN),
    (("FATAL:  database ", "no such database"), _NO_DATABASE),
    (("unsupported startup parameter",), _PARAMETER),
)
# What the server said begins in any language with a word for how bad it is; libpq's own words do not look so.
_SAID_BY_SERVER = re.compile(r": [^:\n]{1,40}:  (.*)")

_NO_MORE_CONNECTIONS = ("too many connections", "too many clients", "remaining connection slots")

_Make = Callable[[], StoreError]

# The code of the error, or its class (the first two characters); the first that fits counts. Those of a connection that is lost or
# was never there are `_LOST_CODES`.
_BY_CODE: Sequence[tuple[tuple[str, ...], _Make]] = (
    (("40", "55P03"), lambda: ConcurrentModification(_BUSY)),
    (("23",), lambda: ConstraintViolation("a constraint of the store forbids the change; nothing was changed")),
    (("53100",), lambda: StoreFull(_FULL)),
    (("53",), lambda: NotEnoughMemory(_MEMORY)),
    (("57014",), lambda: EngineUnavailable(_INTERRUPTED)),
    (("28",), lambda: AccessRefused(_LOGIN)),
    (("3D",), lambda: AccessRefused(_NO_DATABASE)),
    (("42501",), lambda: RightsMissing(_RIGHTS)),
    (("22023",), lambda: RoleGone(_ROLE)),
    (("25006",), lambda: StoreReadOnly(_READ_ONLY)),
    (("3F",), lambda: StoreDamaged(_NO_SCHEMA)),
    (("42P01", "42703"), lambda: StoreDamaged(_TABLES)),
    (("XX001", "XX002", "58"), lambda: StoreDamaged(_DAMAGED)),
    (("22021",), lambda: ConstraintViolation(_ZERO)),
    (("22",), lambda: ConstraintViolation(_VALUE)),
    (("54",), lambda: ConstraintViolation(_VALUE)),
)
_IDLE_CODES = ("25P03", "25P04")  # a transaction that paused, or lasted, for too long
_LOST_CODES = ("08", "57P", *_IDLE_CODES)  # the connection, the server


class ConnectionLost(EngineUnavailable):
    """The connection went before the transaction was committed: nothing was changed, and the same may be tried on another."""

    code = "engine_unavailable"


class RoleGone(ConcurrentModification):
    """The role that a transaction was to take is there no more: what was known of roles has changed, and nothing was done."""

    code = "concurrent_modification"


class RightsMissing(ConstraintViolation):
    """The login, or the role that it took, may not do that; what was known of roles may have changed."""

    code = "constraint_violation"


def translate(error: Exception, *, committing: bool = False) -> StoreError:
    """Return the library's error for one of psycopg's."""
    if isinstance(error, PipelineAborted) and isinstance(error.__context__, psycopg.Error):
        error = error.__context__  # the statement that failed; those behind it were not run
    code = getattr(error, "sqlstate", None) or ""
    if isinstance(error, psycopg_pool.PoolClosed):
        return StoreClosed(_CLOSED)
    if isinstance(error, psycopg_pool.PoolTimeout | psycopg_pool.TooManyRequests):
        return EngineUnavailable(LOST)
    if is_lost(error):
        return OutcomeUnknown(_UNKNOWN) if committing else ConnectionLost(_IDLED if code in _IDLE_CODES else LOST)
    for codes, make in _BY_CODE:
        if code.startswith(codes):
            return make()
    if isinstance(error, psycopg.DataError):
        return ConstraintViolation(_ZERO if "NUL" in str(error) else _VALUE)
    return ConstraintViolation(_FAULT)


def is_lost(error: BaseException) -> bool:
    """Return whether an error says that the connection is gone, or never came about, as against a statement that failed."""
    code = getattr(error, "sqlstate", None)
    if code:
        return str(code).startswith(_LOST_CODES)
    # Without a code it comes from the client's side of the connection: refused, closed by the other side, timed out.
    return isinstance(error, psycopg.OperationalError | psycopg.InterfaceError) and not isinstance(
        error, PipelineAborted
    )


def reason_of_refusal(error: BaseException) -> str | None:
    """Return why a connection was refused where trying again does not help, None for all that may pass by itself."""
    said = str(error)
    known = next((reason for words, reason in _REFUSALS if any(one in said for one in words)), None)
    return known or (_REFUSED if _refuses_by_name(error, said) else None)


def _refuses_by_name(error: BaseException, said: str) -> bool:
    """Return whether the server refuses a login or a database in words of any language.

    It quotes the name of what it refuses; one that is only starting up, or full, quotes none. Where it is full for one login alone it
    does, which is known by the words of one language only.
    """
    tried = getattr(error, "pgconn", None)
    if tried is None or any(words in said for words in _NO_MORE_CONNECTIONS):
        return False
    names = "|".join(re.escape(name.decode(errors="replace")) for name in (tried.user, tried.db) if name)
    quoted = re.compile(rf"[^\w\s]\s?({names})\s?[^\w\s]")
    return any(names and quoted.search(answer) for answer in _SAID_BY_SERVER.findall(said))


def refuse_if_full(error: BaseException) -> None:
    """Raise `NotEnoughMemory` where the server gives no more connections, to anybody or to this login, at this moment."""
    if any(words in str(error) for words in _NO_MORE_CONNECTIONS):
        raise NotEnoughMemory(_MEMORY) from None


@contextmanager
def translated(*, committing: bool = False) -> Iterator[None]:
    """Raise the library's error in place of one of psycopg's.

    ``committing`` says that a connection which is lost now leaves the outcome open.
    """
    try:
        yield
    except (psycopg.Error, psycopg_pool.PoolClosed) as error:
        raise translate(error, committing=committing) from None
    except UnicodeEncodeError:
        raise ConstraintViolation(_VALUE) from None
