"""The memory of a test behind real pipes: the client starts the program, as everywhere, and the program finds a hub in the test's process.

The relay is the product's, in a process of its own; the hub is the product's too, in a thread here, over a store in a temporary folder
and by the test's clock.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
import tempfile
import threading
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
from anyio.from_thread import BlockingPortal

from hybrid_memory_mcp.hub.hub import Hub, HubResources
from hybrid_memory_mcp.hub.listener import acquire_listener
from hybrid_memory_mcp.hub.state_key import STATE_KEY_BYTES
from hybrid_memory_testing.server import ObservedServer

if TYPE_CHECKING:
    from collections.abc import Callable

    from hybrid_memory.clock import Clock, RandomSource
    from hybrid_memory_mcp.hub.client import ConnectionStats
    from hybrid_memory_mcp.mcp_api.memory_server import MemoryServer
    from hybrid_memory_mcp.runtime.client_place import ClientPlace
    from hybrid_memory_mcp.runtime.provider import ServiceProvider
    from hybrid_memory_testing.server import Observer

_START_SECONDS = 20.0  # a thread and a socket; under load a machine may take seconds
_END_SECONDS = 10.0


class TemporaryHome:
    """A folder for a store, with a name short enough for a socket in it, which goes with the test."""

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="hm-test-"))

    def remove(self) -> None:
        """Remove the folder."""
        shutil.rmtree(self.path, ignore_errors=True)


class _Ended:
    """The conversations that the hub has ended."""

    def __init__(self) -> None:
        self._sessions: set[str] = set()
        self._changed = threading.Condition()

    def note(self, session: str) -> None:
        """Note that a conversation has ended."""
        with self._changed:
            self._sessions.add(session)
            self._changed.notify_all()

    def wait_for(self, session: str) -> None:
        """Wait for a conversation, for `_END_SECONDS` at most: a program that hangs is no reason for the test to."""
        with self._changed:
            self._changed.wait_for(lambda: session in self._sessions, _END_SECONDS)


class _Hub(Hub):
    """A hub that tells which conversations it has ended."""

    def __init__(self, resources: HubResources, ended: _Ended, server_of: Callable[..., MemoryServer]) -> None:
        super().__init__(resources, server_of)
        self._ended_sessions = ended

    def _forget_relay(self, stats: ConnectionStats, where: ClientPlace) -> None:
        super()._forget_relay(stats, where)
        self._ended_sessions.note(where.scope.session)


class HubInThread:
    """A hub that serves the relays of one test."""

    def __init__(
        self,
        home: Path,
        provider: ServiceProvider,
        observer: Observer,
        *,
        clock: Clock,
        random_source: RandomSource,
    ) -> None:
        self._provider = provider
        resources = HubResources(
            home=home,
            provider=provider,
            clock=clock,
            random_source=random_source,
            state_key=random_source.bits(8 * STATE_KEY_BYTES).to_bytes(STATE_KEY_BYTES, "big"),
        )
        self._ended = _Ended()
        self._hub_of = partial(_Hub, resources, self._ended, server_of=partial(ObservedServer, observer))
        listener = acquire_listener(home)
        if listener is None:
            raise RuntimeError("the folder of the test has a hub already")
        self._listener = listener
        self._ready = threading.Event()
        self._problem: BaseException | None = None
        self._hub: Hub
        self._portal: BlockingPortal
        self._thread = threading.Thread(target=self._run, name="hub of a test", daemon=True)
        self._thread.start()
        if not self._ready.wait(_START_SECONDS) or self._problem is not None:
            listener.close()
            listener.release()
            raise RuntimeError("the hub of the test has not started") from self._problem

    def wait_for_end(self, session: str) -> None:
        """Wait until the hub has ended the conversation of a client that left."""
        self._ended.wait_for(session)

    def close(self) -> None:
        """End the hub, and the programs that are still connected: they would start another hub in a folder that is gone."""
        with suppress(RuntimeError):  # it has ended by itself
            self._portal.start_task_soon(self._leave)
        self._thread.join(_END_SECONDS)
        self._listener.close()
        self._provider.close(None)
        self._listener.release()

    def _leave(self) -> None:
        for connection in self._hub.registry:
            with suppress(OSError):  # it has just ended by itself
                os.kill(connection.stats.client.pid, signal.SIGTERM)
        self._hub.leave()

    def _run(self) -> None:
        try:
            anyio.run(self._serve)
        except BaseException as error:  # noqa: BLE001 - whoever waits for the thread raises it
            self._problem = error
        finally:
            self._ready.set()

    async def _serve(self) -> None:
        self._hub = self._hub_of()
        async with BlockingPortal() as self._portal:
            self._ready.set()
            await self._hub.serve(self._listener, stays=True)


def relay_command(home: Path, *, namespace: str, session: str, agent: str, timezone: str) -> list[str]:
    """Return the command that a client starts; it says all that the environment could say otherwise."""
    options = {
        "home": str(home),
        "namespace": namespace,
        "session": session,
        "agent": agent,
        "timezone": timezone,
        "project": "off",
    }
    given = [part for name, value in options.items() for part in (f"--{name}", value)]
    return [sys.executable, "-m", "hybrid_memory_mcp", *given]
