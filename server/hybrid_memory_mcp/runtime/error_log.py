"""Logging of failures: the kind of an error and where it arose, never its text, which could hold what somebody stored."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import PurePath

from hybrid_memory.errors import HybridMemoryError
from hybrid_memory.store.shortage import shortage_of

UNEXPECTED_FAILURE = (
    "the memory server failed inside; nothing that was answered before is lost. Try again; its log says where"
)

log = logging.getLogger("hybrid_memory_mcp")


def begin_logging(form: str) -> None:
    """Log warnings on stderr; ``form`` is one of `logging`'s."""
    logging.basicConfig(level=logging.WARNING, format=form)


@contextmanager
def log_and_continue(what: str) -> Iterator[None]:
    """Log a failure of the body and go on; for work that nobody waits for. ``what`` names the work in the log."""
    try:
        yield
    except HybridMemoryError as error:
        log.warning("%s: %s", what, error)
    except Exception as error:  # noqa: BLE001 - the thread or task must go on
        log_failure(what, error)


def failure_text(error: BaseException) -> str:
    """Return what is said to a client of a failure that nobody expected: what is short, where that is known."""
    return str(shortage_of(error) or UNEXPECTED_FAILURE)


def log_failure(what: str, error: BaseException) -> None:
    """Log that ``what`` failed unexpectedly: the kind of the error and where it arose, no text and no traceback."""
    log.error("%s failed: %s", what, location_of(error))


def location_of(error: BaseException) -> str:
    """Return the kind of an error and where it arose; its text could hold what somebody stored."""
    frames = traceback.extract_tb(error.__traceback__)
    places = [f"{PurePath(frame.filename).name}:{frame.lineno} {frame.name}" for frame in frames]
    return " < ".join([type(error).__name__, *reversed(places)])
