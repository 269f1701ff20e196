"""Running a hub: in a process of its own, or in a thread of a relay.

`serve` is what the hub's own process does after it listens (see ``program.py``). `host` is for a relay: where no process can be
started, as in some sandboxes, and with ``serve --standalone``, where the client wants one process and nobody else in it.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import anyio
from anyio.from_thread import BlockingPortal

from hybrid_memory.clock import SystemClock, SystemRandomSource
from hybrid_memory.ids import is_unnamed_session
from hybrid_memory.settings import limit_threads
from hybrid_memory_mcp.hub.hub import Hub, HubResources, import_serving
from hybrid_memory_mcp.hub.limits import limits_of_process
from hybrid_memory_mcp.hub.listener import HubListener, acquire_listener
from hybrid_memory_mcp.hub.state_key import STATE_KEY_BYTES, load_state_key
from hybrid_memory_mcp.hub.store_choice import own_choice, own_settings
from hybrid_memory_mcp.runtime.error_log import begin_logging, log_and_continue
from hybrid_memory_mcp.runtime.provider import ServiceProvider, open_service
from hybrid_memory_mcp.runtime.telemetry import telemetry_of

__all__ = ("forget_client", "host", "import_operations", "import_serving", "make_resources", "serve")

# A client that closes its pipes expects the end within a second; what was answered is on disk.
_CLOSE_TIMEOUT_SECONDS = 0.85
_STORE_LOCK_TIMEOUT_SECONDS = 3.0  # a command that just used the store alone is gone by then
# The relay in this process writes its first answer in less, undisturbed by what opening imports.
_WARM_PAUSE_SECONDS = 0.02
# What chooses something for one client: it must not become what the hub takes for everybody's.
_CLIENT_VARIABLES = ("HOME", "NAMESPACE", "AGENT", "SESSION", "TIMEZONE", "PROMPTS", "PROJECT")


def serve(home: Path, listener: HubListener, embedder: str | None) -> None:
    """Serve whoever connects to the listener until nobody needs it or a signal comes; closes the store."""
    begin_logging("%(asctime)s %(process)d %(levelname)s %(name)s: %(message)s")
    resources = make_resources(home, embedder, load_state_key(home))
    with log_and_continue("serving"):
        anyio.run(_serve_until_signal, resources, listener)
    # Relays must not find a hub that answers nobody any more: first the socket goes, then the store is closed.
    listener.close()
    resources.provider.close(None)


def host(home: str, embedder: str | None, *, standalone: bool = False) -> tuple[socket.socket, Callable[[], None]]:
    """Run a hub in a thread of this process; return a socket that leads to it, and what ends it.

    Other relays find it as they find any hub, if this process may listen in the folder. With ``standalone`` it takes neither
    the hub's lock nor a listener: it serves this relay alone.

    Raises:
        ConnectionError: by now another process is the hub.
    """
    forget_client()
    begin_logging("hybrid-memory-mcp: %(levelname)s %(name)s: %(message)s")
    folder = Path(home)
    if standalone:
        # Nobody comes after this process who could read what it seals, so the key need not be kept.
        resources = make_resources(folder, embedder, os.urandom(STATE_KEY_BYTES), lock_timeout_seconds=0.0)
        listener = None
    else:
        listener = _listener_if_possible(folder)
        resources = make_resources(folder, embedder, load_state_key(folder))
    resources.warm_pause_seconds = _WARM_PAUSE_SECONDS
    hosted = _HostedHub(resources, listener)
    hosted.start()
    return hosted.client_end, hosted.stop


class _HostedHub:
    """A hub in a thread, with one end of a pair of sockets for the relay that hosts it."""

    def __init__(self, resources: HubResources, listener: HubListener | None) -> None:
        self._resources = resources
        self._listener = listener
        self.client_end, self._hub_end = socket.socketpair()
        self._hub: Hub | None = None
        self._portal: BlockingPortal | None = None
        self._client_left = False
        self._ended = threading.Event()

    def start(self) -> None:
        """Start the thread."""
        threading.Thread(target=self._run, name="hub", daemon=True).start()

    def stop(self) -> None:
        """Let others have what is at work answered, and close the store; returns in `_CLOSE_TIMEOUT_SECONDS` at the latest.

        What takes longer other relays ask the next hub again.
        """
        self._client_left = True
        with suppress(OSError):
            # Unlike `close`, it is seen while another thread still reads this end.
            self.client_end.shutdown(socket.SHUT_WR)
        if self._hub is not None and self._portal is not None:
            with suppress(RuntimeError):  # it has ended by itself
                self._portal.start_task_soon(self._hub.leave)
        self._ended.wait(_CLOSE_TIMEOUT_SECONDS)
        self.client_end.close()

    def _run(self) -> None:
        with log_and_continue("serving"):
            anyio.run(self._serve)
        # The conversation is over with its client; if the hub left for another reason, the relay goes on with the next one.
        scope = self._hub.first_scope if self._hub is not None and self._client_left else None
        self._resources.provider.close(scope if scope is not None and is_unnamed_session(scope.session) else None)
        if self._listener is not None:
            self._listener.release()
        self._ended.set()

    async def _serve(self) -> None:
        self._hub = Hub(self._resources)
        async with BlockingPortal() as self._portal:
            await self._hub.serve(self._listener, self._hub_end)


def import_operations() -> None:
    """Import what a command's operation needs, while nothing else is done; what fails is told by the operation."""
    limit_threads()
    with suppress(MemoryError, OSError, RuntimeError, ImportError):
        from hybrid_memory.service import memory_service as service
        from hybrid_memory_mcp.admin import memory_operations

        del service, memory_operations


def forget_client() -> None:
    """Drop what the environment of this process chooses for one client: it must not become what other clients get.

    What a relay's client chose comes with the relay's hello, and for HTTP with the token.
    """
    for name in _CLIENT_VARIABLES:
        os.environ.pop(f"HYBRID_MEMORY_{name}", None)  # noqa: TID251 - see above


def make_resources(
    home: Path,
    embedder: str | None,
    state_key: bytes,
    *,
    lock_timeout_seconds: float = _STORE_LOCK_TIMEOUT_SECONDS,
) -> HubResources:
    """Return what the connections of a hub share; nothing is opened yet."""
    random_source = SystemRandomSource()
    provider = ServiceProvider(lambda: open_service(home, embedder, random_source, lock_timeout_seconds))
    telemetry = telemetry_of(provider)
    if telemetry is not None:
        provider.report_to(telemetry)
    return HubResources(
        home=home,
        provider=provider,
        clock=SystemClock(),
        random_source=random_source,
        state_key=state_key,
        limits=limits_of_process(),
        store=own_choice(home),
        settings=own_settings(home),
    )


async def _serve_until_signal(resources: HubResources, listener: HubListener) -> None:
    hub = Hub(resources)
    async with anyio.create_task_group() as group:
        group.start_soon(_leave_on_signal, hub)
        await hub.serve(listener)
        group.cancel_scope.cancel()


def _listener_if_possible(home: Path) -> HubListener | None:
    """Return a listener, None where this process may not listen; then it serves its own client alone."""
    try:
        listener = acquire_listener(home)
    except OSError:
        return None
    if listener is None:
        raise ConnectionRefusedError("another process is the hub")
    return listener


async def _leave_on_signal(hub: Hub) -> None:
    if sys.platform == "win32":
        return  # there a process is ended without being asked
    with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
        async for _ in signals:
            hub.leave()
