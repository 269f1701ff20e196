"""The standard streams of the command line: what nobody can read any more, a full disk and a closed stream end in one line."""

from __future__ import annotations

import errno
import io
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

from hybrid_memory_mcp.cli.exit_codes import DONE, FAILED


class OutputFailed(Exception):
    """Standard output cannot be written."""

    def __init__(self, cause: OSError) -> None:
        super().__init__(cause.strerror)
        self.errno = cause.errno
        self.reason = cause.strerror or "no reason is given"


class _Output(io.FileIO):
    def write(self, data: Any) -> int:
        """Write bytes; what fails is told apart from other files."""
        try:
            return super().write(data)
        except OSError as error:
            raise OutputFailed(error) from None


def run(program: Callable[[], Any]) -> NoReturn:
    """Run a program that ends with `SystemExit`, and end as it does once all that it printed is written.

    A reader that left early, as ``head`` does, is no fault. Without standard output nothing is begun.

    Raises:
        SystemExit: always.
    """
    if sys.stdin is None:
        sys.stdin = Path(os.devnull).open(encoding="utf-8")  # noqa: SIM115 - to the end of the process
    if sys.stderr is None:
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - as above
    if sys.stdout is None:
        _end("standard output is closed, so nothing was begun; send it to a file or to /dev/null")
    _watch_output()
    try:
        try:
            program()
        finally:
            sys.stdout.flush()
    except OutputFailed as error:
        _drop_output()
        if error.errno == errno.EPIPE:
            sys.exit(DONE)
        _end(f"the output cannot be written: {error.reason}; the command itself may be done")
    sys.exit(DONE)


def _watch_output() -> None:
    """Let standard output tell its own errors from others; a console of Windows stays as it is."""
    raw = getattr(getattr(sys.stdout, "buffer", None), "raw", None)
    if type(raw) is not io.FileIO:
        return
    sys.stdout.flush()
    sys.stdout = io.TextIOWrapper(
        io.BufferedWriter(_Output(raw.fileno(), "wb", closefd=False)),
        encoding=sys.stdout.encoding,
        errors=sys.stdout.errors,
        line_buffering=bool(sys.stdout.line_buffering),
    )


def _drop_output() -> None:
    """Let what is still held go nowhere, so that the end of the process does not fail on it."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _end(words: str) -> NoReturn:
    with suppress(OSError, ValueError):
        print(words, file=sys.stderr, flush=True)  # noqa: T201 - what the commands print with may be what failed
    sys.exit(FAILED)
