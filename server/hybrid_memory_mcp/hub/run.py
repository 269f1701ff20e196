"""Running a hub: in its own process, or in that of a relay where no other can be started."""

from __future__ import annotations

import logging
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

import anyio
from anyio.from_thread import BlockingPortal

from hybrid_memory.clock import SystemClock, SystemRandomSource
from hybrid_memory.errors import InvalidInput
from hybrid_memory.settings import StoreSettings, store_settings
from hybrid_memory_mcp.hub.hub import Hub, HubResources
from hybrid_memory_mcp.hub.listener import HubListener, acquire_listener
from hybrid_memory_mcp.hub.state_key import load_state_key
from hybrid_memory_mcp.mcp_api.sdk import disable_sdk_logging
from hybrid_memory_mcp.runtime.error_log import log_and_continue
from hybrid_memory_mcp.runtime.provider import ServiceProvider, open_service

_CLOSE_TIMEOUT_SECONDS = 0.85
_STORE_LOCK_TIMEOUT_SECONDS = 3.0
_CLIENT_VARIABLES = ("HOME", "NAMESPACE", "AGENT", "SESSION", "TIMEZONE", "PROMPTS")


def serve(home: Path, listener: HubListener, embedder: str | None) -> None:
    """Serve whoever comes through the listener until nobody needs it or a signal comes; closes the store."""
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(process)d %(levelname)s %(name)s: %(message)s")
    disable_sdk_logging()
    resources = make_resources(home, embedder)
    with log_and_continue("serving"):
        anyio.run(_serve, resources, listener)
    listener.close()
    resources.provider.close(None)


def host(home: str, embedder: str | None) -> tuple[socket.socket, Callable[[], None]]:
    """Be a hub in a thread of this process; returns a socket that leads to it, and what ends it.

    Others find it as they find any hub, if a listener can be opened here.

    Raises:
        ConnectionError: by now another process is the hub.
    """
    forget_client()
    disable_sdk_logging()
    listener = _listener_if_possible(Path(home))
    resources = make_resources(Path(home), embedder)
    ours, theirs = socket.socketpair()
    leave: list[Callable[[], object]] = []
    ended = threading.Event()

    def run() -> None:
        with log_and_continue("serving"):
            anyio.run(_serve_here, resources, listener, theirs, leave)
        resources.provider.close(None)
        if listener is not None:
            listener.release()
        ended.set()

    threading.Thread(target=run, name="hub", daemon=True).start()

    def stop() -> None:
        """Let others have what is at work answered; what takes longer they ask the next hub again."""
        ours.close()
        with suppress(IndexError, RuntimeError):  # it has not begun, or is over
            leave[0]()
        ended.wait(_CLOSE_TIMEOUT_SECONDS)

    return ours, stop


def forget_client() -> None:
    """Drop what the environment of this process chooses for one client: it must not become what other clients get.

    What a relay's client chose comes with the relay's greeting, and for HTTP with the token.
    """
    for name in _CLIENT_VARIABLES:
        os.environ.pop(f"HYBRID_MEMORY_{name}", None)  # noqa: TID251 - see above


def make_resources(home: Path, embedder: str | None) -> HubResources:
    """Return what the connections of a hub share; nothing is opened yet."""
    random_source = SystemRandomSource()
    try:
        limits = store_settings(home)
    except InvalidInput:
        limits = StoreSettings.model_construct()  # every call will say what is wrong with the settings
    return HubResources(
        home=home,
        provider=ServiceProvider(
            lambda: open_service(home, embedder, random_source, _STORE_LOCK_TIMEOUT_SECONDS), limits.calls_at_once
        ),
        clock=SystemClock(),
        random_source=random_source,
        state_key=load_state_key(home),
        limits=limits,
    )


async def _serve(resources: HubResources, listener: HubListener) -> None:
    hub = Hub(resources)
    async with anyio.create_task_group() as group:
        group.start_soon(_leave_on_signal, hub)
        await hub.serve(listener)
        group.cancel_scope.cancel()


def _listener_if_possible(home: Path) -> HubListener | None:
    try:
        listener = acquire_listener(home)
    except OSError:
        return None
    if listener is None:
        raise ConnectionRefusedError("another process is the hub")
    return listener


async def _serve_here(
    resources: HubResources, listener: HubListener | None, first: socket.socket, leave: list[Callable[[], object]]
) -> None:
    hub = Hub(resources)
    async with BlockingPortal() as portal:
        leave.append(partial(portal.start_task_soon, hub.leave))
        await hub.serve(listener, first)


async def _leave_on_signal(hub: Hub) -> None:
    if sys.platform == "win32":
        return  # there a process is ended without being asked
    with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
        async for _ in signals:
            hub.leave()
