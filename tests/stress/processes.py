"""Real processes: clients of the SDK behind relays, and the hub that they share, found and killed."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import anyio
from mcp import StdioServerParameters
from mcp.client import Client
from tests.history.calls import Recorder
from tests.stress.clients import RecordingClient

TIMEOUT_SECONDS = 60.0


@asynccontextmanager
async def client_of(home: Path, *options: str, **variables: str) -> AsyncIterator[Client]:
    """Start what a client starts, a relay, with some variables more, and connect to it."""
    arguments = ["-m", "hybrid_memory_mcp", "--home", str(home), *options]
    async with Client(StdioServerParameters(command=sys.executable, args=arguments, env=variables)) as client:
        yield client


@asynccontextmanager
async def recording_clients(home: Path, count: int) -> AsyncIterator[list[RecordingClient]]:
    """Start ``count`` clients of one store that note what they do together."""
    recorder, known = Recorder(), {}
    async with AsyncExitStack() as stack:
        yield [
            RecordingClient(f"c{number}", await stack.enter_async_context(client_of(home)), recorder, known)
            for number in range(count)
        ]


def hub_of(home: Path) -> int | None:
    """Return the process id of the hub that is there."""
    try:
        pid = int((home / "hub.pid").read_text("ascii"))
    except (OSError, ValueError):
        return None
    return pid if is_alive(pid) else None


def is_alive(pid: int) -> bool:
    """Return True if a process runs; one that has ended and was not waited for does not."""
    try:
        os.kill(pid, 0)
        state = Path(f"/proc/{pid}/stat")
        return not state.exists() or state.read_text().rpartition(") ")[2][0] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False


async def kill_hub(home: Path) -> int:
    """Kill the hub, waiting for one if need be; returns its process id."""
    await until(lambda: hub_of(home) is not None)
    pid = hub_of(home)
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    return pid


async def until(condition: Callable[[], bool]) -> float:
    """Wait for something that another process does; returns the seconds that it took."""
    begun = time.monotonic()
    with anyio.fail_after(TIMEOUT_SECONDS):
        while not condition():  # noqa: ASYNC110 - another process sets no event here
            await anyio.sleep(0.005)
    return time.monotonic() - begun
