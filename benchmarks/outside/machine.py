"""The processes of this machine, by Linux's /proc; elsewhere there are none to see."""

from __future__ import annotations

import os
import signal
import socket
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

_PROC = Path("/proc")


def processes_of(token: str) -> set[int]:
    """Return the ids of the living processes that have a text in their command line or environment, this one excepted."""
    found = set()
    for folder in _PROC.glob("[0-9]*"):
        try:
            said = (folder / "cmdline").read_bytes() + (folder / "environ").read_bytes()
            state = (folder / "stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            continue
        if token.encode() in said and state not in "ZX" and int(folder.name) != os.getpid():
            found.add(int(folder.name))
    return found


def kill_all(ids: Iterable[int]) -> None:
    """End processes as kill -9 does; one that is gone already is no error."""
    for number in ids:
        with suppress(ProcessLookupError):
            os.kill(number, signal.SIGKILL)


def terminate(number: int) -> None:
    """Ask a process to end; one that is gone already is no error."""
    with suppress(ProcessLookupError):
        os.kill(number, signal.SIGTERM)


def megabytes(ids: Iterable[int], kind: str = "Rss") -> float:
    """Return the memory of processes: ``Rss``, or ``Pss`` where shared pages count in parts."""
    total = 0
    for number in ids:
        try:
            lines = (_PROC / str(number) / "smaps_rollup").read_text().splitlines()
        except OSError:
            continue
        total += sum(int(line.split()[1]) for line in lines if line.startswith(f"{kind}:"))
    return round(total / 1024, 1)


def load() -> float:
    """Return how many processes wanted a processor in the last minute."""
    return round(os.getloadavg()[0], 1)


def until(holds: Callable[[], bool], timeout_seconds: float) -> float | None:
    """Wait for something; return the seconds that it took, None where it never came."""
    began = time.perf_counter()
    while not holds():
        if time.perf_counter() - began > timeout_seconds:
            return None
        time.sleep(0.01)
    return time.perf_counter() - began


def free_port() -> int:
    """Return a port of the loopback that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as one:
        return int(one.getsockname()[1])


def listens(port: int) -> bool:
    """Return True if somebody takes connections on a port of the loopback."""
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
    except OSError:
        return False
    return True
