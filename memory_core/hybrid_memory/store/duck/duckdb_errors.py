"""DuckDB's errors into the library's: `translated` around every call of DuckDB or the file system in this package."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import duckdb

from hybrid_memory.errors import (
    ConcurrentModification,
    ConstraintViolation,
    EngineUnavailable,
    NotEnoughMemory,
    OutcomeUnknown,
    SchemaTooNew,
    StoreClosed,
    StoreDamaged,
    StoreError,
    StoreFull,
    StoreLocked,
    StoreReadOnly,
    StoreRemoved,
)
from hybrid_memory.private_files import NotPlainFileError
from hybrid_memory.store.out_of_resources import shortage_of

DAMAGED = (
    "the store's file cannot be read whole; nothing was changed. `hybrid-memory-mcp doctor --repair` keeps it aside and "
    "saves what can be read; or restore a backup"
)
_FULL = "no space is left for the store; what was acknowledged is intact. Make room and try again"
_READ_ONLY = "the store's folder or file cannot be written; give this user the right to write there"
_NOT_PLAIN = (
    "a pipe, a device or a folder stands in the place of one of the store's files (memory.duckdb, its .wal or memory.journal); "
    "nothing was changed. Move it away"
)
_TOO_NEW = "the store was written by a later version of this program; upgrade to open it"
REMOVED = (
    "the store's folder or file was removed or replaced while it was open: nothing was written, and what it held is gone unless there is a "
    "backup. Repeat the call for a new, empty store; in a program of your own close the store and open it again"
)
_STILL_OPEN = (
    "this program still has the store open that was in this folder before it was removed; close that one, then open it again for a "
    "new, empty store"
)
_CLOSED = "the memory store is closed; open it again"
_STOPPED = "the database engine stopped before anything was changed; try again, and reopen the store if it persists"
_MEMORY = (
    "not enough memory for the database engine; nothing was changed. Ask for less, or give this process more memory "
    "(ulimit -v, the container's memory)"
)
_FAULT = "the database engine does not accept this statement; nothing was changed. Please report it"
_VALUE = "a value is outside of what the store can keep; nothing was changed"
_UNKNOWN = (
    "the database engine failed while committing; whether it was done is not known. Look before you repeat it, or repeat it with the same "
    "request key"
)

_HOLDER = re.compile(r"\(PID (\d+)\)")

# Looked up in the text of errors whose class says too little (mostly IOException), first match first.
_BY_TEXT: Sequence[tuple[tuple[str, ...], Callable[[str], StoreError]]] = (
    # First, because a log that cannot be replayed for want of memory is as whole as it was.
    (
        ("Out of Memory Error", "ailed to allocate", "ould not allocate", "bad_alloc", "bad allocation"),
        lambda _: NotEnoughMemory(_MEMORY),
    ),
    (("Conflicting lock is held", "Could not set lock on file"), lambda text: StoreLocked(_holder(text))),
    (("No space left on device", "Disk quota exceeded", "File too large"), lambda _: StoreFull(_FULL)),
    # DuckDB gives the same path the database that is open already, whose file is not there any more: only then the lock was free.
    (("the configuration has been locked", "with a different configuration"), lambda _: StoreRemoved(_STILL_OPEN)),
    (("database file with version number",), lambda _: SchemaTooNew(_TOO_NEW)),
    (
        (
            "Corrupt database file",
            "Corrupt WAL file",
            "Could not read enough bytes",
            "Failed to read WAL of version",
            "Failure while replaying WAL",
            "WAL does not match",
            "not a valid DuckDB database file",
            "Invalid WAL entry type",
            "Is a directory",
            # DuckDB takes the file for one of SQLite and asks for the extension that would read it.
            'Extension "sqlite"',
        ),
        lambda _: StoreDamaged(DAMAGED),
    ),
    (("Permission denied", "Read-only file system", "read-only mode"), lambda _: StoreReadOnly(_READ_ONLY)),
    (("Connection already closed", "connection closed", "No open result set"), lambda _: StoreClosed(_CLOSED)),
)

# Every class that duckdb raises; a class comes before its bases, the last one is the base of all.
BY_CLASS: Sequence[tuple[type[Exception], Callable[[], StoreError]]] = (
    (
        duckdb.ConstraintException,
        lambda: ConstraintViolation("a constraint of the store forbids the change; nothing was changed"),
    ),
    (duckdb.TransactionException, lambda: EngineUnavailable(_STOPPED)),
    (duckdb.SerializationException, lambda: StoreDamaged(DAMAGED)),
    (duckdb.OutOfMemoryException, lambda: NotEnoughMemory(_MEMORY)),
    (duckdb.ConnectionException, lambda: EngineUnavailable(_STOPPED)),
    (duckdb.HTTPException, lambda: ConstraintViolation(_FAULT)),
    (duckdb.IOException, lambda: EngineUnavailable(_STOPPED)),
    (duckdb.PermissionException, lambda: ConstraintViolation(_FAULT)),
    (duckdb.InterruptException, lambda: EngineUnavailable("the call was interrupted before anything was changed")),
    (duckdb.DependencyException, lambda: ConstraintViolation(_FAULT)),
    (duckdb.FatalException, lambda: EngineUnavailable(_STOPPED)),
    (duckdb.InternalException, lambda: EngineUnavailable(_STOPPED)),
    (duckdb.SequenceException, lambda: ConstraintViolation(_FAULT)),
    (duckdb.CatalogException, lambda: StoreDamaged(DAMAGED)),
    (duckdb.BinderException, lambda: ConstraintViolation(_FAULT)),
    (duckdb.ParserException, lambda: ConstraintViolation(_FAULT)),
    (duckdb.SyntaxException, lambda: ConstraintViolation(_FAULT)),
    (duckdb.NotImplementedException, lambda: ConstraintViolation(_FAULT)),
    (duckdb.ConversionException, lambda: ConstraintViolation(_VALUE)),
    (duckdb.OutOfRangeException, lambda: ConstraintViolation(_VALUE)),
    (duckdb.TypeMismatchException, lambda: ConstraintViolation(_VALUE)),
    (duckdb.InvalidTypeException, lambda: ConstraintViolation(_VALUE)),
    (duckdb.InvalidInputException, lambda: ConstraintViolation(_VALUE)),
    (duckdb.NotSupportedError, lambda: ConstraintViolation(_FAULT)),
    (duckdb.IntegrityError, lambda: ConstraintViolation(_VALUE)),
    (duckdb.DataError, lambda: ConstraintViolation(_VALUE)),
    (duckdb.ProgrammingError, lambda: ConstraintViolation(_FAULT)),
    (duckdb.OperationalError, lambda: EngineUnavailable(_STOPPED)),
    (duckdb.InternalError, lambda: EngineUnavailable(_STOPPED)),
    (duckdb.DatabaseError, lambda: EngineUnavailable(_STOPPED)),
    (duckdb.Warning, lambda: EngineUnavailable(_STOPPED)),
    (duckdb.Error, lambda: EngineUnavailable(_STOPPED)),
)

# DuckDB undoes a transaction and says so with these; after any other failure of a COMMIT nobody knows.
_CERTAINLY_UNDONE = (duckdb.TransactionException, duckdb.ConstraintException)


def translate(error: Exception, *, committing: bool = False) -> StoreError:
    """Return the library's error for an error that DuckDB raised; ``committing`` says that a COMMIT raised it."""
    if committing and not isinstance(error, _CERTAINLY_UNDONE):
        return OutcomeUnknown(_UNKNOWN)
    if not isinstance(error, (duckdb.Error, duckdb.Warning)):
        return _of_python(error)
    text = str(error)
    if isinstance(error, duckdb.TransactionException) and "Conflict on" in text:
        return ConcurrentModification("another transaction changed the same row; read again and repeat")
    for marks, make in _BY_TEXT:
        if any(mark in text for mark in marks):
            return make(text)
    return next(make() for kind, make in BY_CLASS if isinstance(error, kind))


@contextmanager
def translated(*, committing: bool = False) -> Iterator[None]:
    """Turn what DuckDB or the file system raises inside into the library's errors."""
    try:
        yield
    except (duckdb.Error, duckdb.Warning, OSError, RuntimeError, UnicodeError, OverflowError, MemoryError) as error:
        raise _noting_class(translate(error, committing=committing), error) from None


@contextmanager
def translated_opening() -> Iterator[None]:
    """As `translated`, for the opening of a file: an internal failure of the engine there means damage."""
    try:
        yield
    except (duckdb.InternalException, duckdb.FatalException) as error:
        made = translate(error)
        raise _noting_class(made if isinstance(made, NotEnoughMemory) else StoreDamaged(DAMAGED), error) from None
    except (duckdb.Error, OSError, RuntimeError, MemoryError) as error:
        raise _noting_class(translate(error), error) from None


def _noting_class(made: StoreError, error: Exception) -> StoreError:
    """Note the class of the error behind ``made``; its text may hold stored text, SQL or a path and is left behind."""
    made.add_note(f"raised as {type(error).__name__}")
    return made


def _of_python(error: Exception) -> StoreError:
    short = shortage_of(error)
    if short is not None:
        return short
    if isinstance(error, OSError):
        return _of_system(error)
    # DuckDB's binding raises a bare RuntimeError for text with half a surrogate pair.
    return ConstraintViolation(
        "a value cannot be handed to the database engine; send whole characters and plain values"
    )


def _of_system(error: OSError) -> StoreError:
    import errno

    if isinstance(error, NotPlainFileError):
        return StoreReadOnly(_NOT_PLAIN)
    if error.errno in {errno.ENOSPC, errno.EFBIG, errno.EDQUOT if hasattr(errno, "EDQUOT") else errno.ENOSPC}:
        return StoreFull(_FULL)
    if isinstance(error, (PermissionError, NotADirectoryError, FileExistsError)) or error.errno == errno.EROFS:
        return StoreReadOnly(_READ_ONLY)
    return EngineUnavailable("the file system refused the store; nothing was changed. Check the store's folder")


def _holder(text: str) -> int | None:
    found = _HOLDER.findall(text)
    return int(found[-1]) if found else None
