"""Every error that the library raises.

HybridMemoryError
├── InvalidInput                an argument is wrong; names the argument and what to do (also a ValueError)
│   └── ChangedSince            what was done cannot be undone: it was changed since
├── NotFound                    no such memory in this namespace (also a LookupError)
├── ConfirmationNeeded          a destructive request must be repeated with a count
├── EmbedderUnavailable         the embedding model cannot be loaded
└── StoreError
    ├── StoreMissing            there is no store in the folder yet; names the folder
    ├── StoreLocked             another process has the store open
    ├── StoreFull               no space left, or a size limit reached
    ├── StoreReadOnly           the store or its folder cannot be written
    ├── StoreDamaged            the file cannot be opened or read whole
    ├── SchemaTooNew            written by a later version of this program
    ├── StoreClosed             used after close
    ├── StoreRemoved            the folder or file was removed or replaced while it was open
    ├── EngineUnavailable       the engine failed before anything was changed; try again
    │   ├── AccessRefused       the database refuses this login or address; trying again does not help
    │   └── NotEnoughMemory     the process may not have as much memory as that takes
    ├── OutcomeUnknown          the engine failed while committing; ask again with the same key
    ├── ConcurrentModification  a row changed since it was read; read it again
    ├── ConstraintViolation     a value or a constraint forbids the change
    └── LogTrimmed              the change log was trimmed past the asked position; load a snapshot

A message says what happened and what to do next. It never holds stored text, SQL or a path; `StoreMissing` alone names the folder that
the person's own settings name.
"""

import re


class HybridMemoryError(Exception):
    """Base of all errors raised on purpose by this library."""


class InvalidInput(HybridMemoryError, ValueError):
    """An argument is wrong. ``field`` names it; the text says how to mend it."""

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(f"{field}: {problem}")
        self.field = field
        self.problem = problem


class ChangedSince(InvalidInput):
    """What was done cannot be undone, because something else was done since; nothing was changed."""


class NotFound(HybridMemoryError, LookupError):
    """No such memory in this namespace; a foreign id and an absent id look the same."""


class ConfirmationNeeded(HybridMemoryError):
    """A request that touches many memories must be repeated with the count it names.

    ``others`` more match in the person's namespace that is read alongside a project's: those it does not touch.
    """

    def __init__(self, count: int, others: int = 0) -> None:
        noun = "memory matches" if count == 1 else "memories match"
        here = " in this project" if others else ""
        apart = f" {others} of the person's own match too and stay; those go by ids alone." if others else ""
        super().__init__(f"{count} {noun}{here}; nothing was changed. Call again with count={count} to confirm.{apart}")
        self.count = count
        self.others = others


class EmbedderUnavailable(HybridMemoryError):
    """The embedding model cannot be loaded; writes and lexical search go on without it."""


class StoreError(HybridMemoryError):
    """The store could not do what was asked."""


class StoreMissing(StoreError):
    """There is no store in a folder yet. ``folder`` is the one that an option, a variable or the platform's default names."""

    def __init__(self, folder: object) -> None:
        super().__init__(
            f"there is no memory in {folder} yet; the first `remember` or `import` makes it, and a client when "
            "it first starts; --home or HYBRID_MEMORY_HOME names another folder"
        )
        self.folder = folder


class StoreLocked(StoreError):
    """Another process has the store open; ``pid`` is its process id where it is known.

    ``user`` is the name of the other user whose lock it is, None for this user's own.
    """

    def __init__(self, pid: int | None = None, user: str | None = None) -> None:
        who = f"process {pid}" if pid else "another process"
        said = f"the memory store is in use by {who}; close that process, or use its store through it"
        if user is not None:
            said = (
                f"the memory store is locked by another user ({user}), who may write in its folder. Have that user close what "
                "holds memory.lock there; if nobody else is to use this memory, remove that file and let nobody write there"
            )
        super().__init__(said)
        self.pid = pid


class StoreFull(StoreError):
    """No space is left; what was acknowledged is intact."""


class StoreReadOnly(StoreError):
    """The store's folder or file cannot be written."""


class StoreDamaged(StoreError):
    """The store cannot be opened or read whole."""


class SchemaTooNew(StoreError):
    """The store was written by a later version of this program."""


class StoreClosed(StoreError):
    """The store was used after it was closed."""


class StoreRemoved(StoreError):
    """The store's folder or file was removed or replaced while it was open; nothing was written."""


class EngineUnavailable(StoreError):
    """The engine failed before anything was changed; the same call can be repeated."""


class AccessRefused(EngineUnavailable):
    """The database refuses this login, has no database of that name, or is not to be trusted: trying again does not help."""

    code = "engine_unavailable"


class NotEnoughMemory(EngineUnavailable):
    """The process may not have as much memory, or as many threads, as the call takes; nothing was changed."""


class OutcomeUnknown(StoreError):
    """The engine failed while committing; repeat the call with the same request key to learn the outcome."""


class ConcurrentModification(StoreError):
    """A row changed since it was read; read again and repeat."""


class ConstraintViolation(StoreError):
    """A constraint of the store forbids the change."""


class LogTrimmed(StoreError):
    """The change log no longer reaches back to the asked position; load a snapshot instead."""


def error_code(error: BaseException) -> str:
    """Return the name of an error for programs, which stays when its words change: that of its class, as ``store_locked``.

    An error that came from another process has it as ``code``.
    """
    sent = getattr(error, "code", None)
    return sent if isinstance(sent, str) and sent else re.sub(r"(?<=[a-z])(?=[A-Z])", "_", type(error).__name__).lower()
