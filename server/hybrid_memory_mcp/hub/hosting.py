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
from hybrid_memory_mcp.hub.hub import House, Hub
from hybrid_memory_mcp.hub.listening import Door, open_door
from hybrid_memory_mcp.hub.sealing import state_key
from hybrid_memory_mcp.mcp_api.sdk import disable_sdk_logging
from hybrid_memory_mcp.runtime.error_log import log_and_continue
from hybrid_memory_mcp.runtime.provider import ServiceProvider, open_service

_LAST_MOMENT = 0.85
_PATIENCE = 3.0
_OF_A_CLIENT = ("HOME", "NAMESPACE", "AGENT", "SESSION", "TIMEZONE", "PROMPTS")


def serve(home: Path, door: Door, embedder: str | None) -> None:
    """Serve whoever comes through the door until nobody needs it or a signal comes; closes the store."""
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(process)d %(levelname)s %(name)s: %(message)s")
    disable_sdk_logging()
    house = house_of(home, embedder)
    with log_and_continue("serving"):
        anyio.run(_serve, house, door)
    door.close()
    house.provider.close(None)


def host(home: str, embedder: str | None) -> tuple[socket.socket, Callable[[], None]]:
    """Be a hub in a thread of this process; returns a socket that leads to it, and what ends it.

    Others find it as they find any hub, if a door can be opened here.

    Raises:
        ConnectionError: by now another process is the hub.
    """
    forget_client()
    disable_sdk_logging()
    door = _door_if_possible(Path(home))
    house = house_of(Path(home), embedder)
    ours, theirs = socket.socketpair()
    leave: list[Callable[[], object]] = []
    ended = threading.Event()

    def run() -> None:
        with log_and_continue("serving"):
            anyio.run(_serve_here, house, door, theirs, leave)
        house.provider.close(None)
        if door is not None:
            door.release()
        ended.set()

    threading.Thread(target=run, name="hub", daemon=True).start()

    def stop() -> None:
        """Let others have what is at work answered; what takes longer they ask the next hub again."""
        ours.close()
        with suppress(IndexError, RuntimeError):  # it has not begun, or is over
            leave[0]()
        ended.wait(_LAST_MOMENT)

    return ours, stop


def forget_client() -> None:
    """Drop what the environment of this process chooses for one client: it must not become what other clients get.

    What a relay's client chose comes with the relay's greeting, and for HTTP with the token.
    """
    for name in _OF_A_CLIENT:
        os.environ.pop(f"HYBRID_MEMORY_{name}", None)  # noqa: TID251 - see above


def house_of(home: Path, embedder: str | None) -> House:
    """Return what the connections of a hub share; nothing is opened yet."""
    random_source = SystemRandomSource()
    try:
        limits = store_settings(home)
    except InvalidInput:
        limits = StoreSettings.model_construct()  # every call will say what is wrong with the settings
    return House(
        home=home,
        provider=ServiceProvider(lambda: open_service(home, embedder, random_source, _PATIENCE), limits.calls_at_once),
        clock=SystemClock(),
        random_source=random_source,
        state_key=state_key(home),
        limits=limits,
    )


async def _serve(house: House, door: Door) -> None:
    hub = Hub(house)
    async with anyio.create_task_group() as group:
        group.start_soon(_leave_on_signal, hub)
        await hub.serve(door)
        group.cancel_scope.cancel()


def _door_if_possible(home: Path) -> Door | None:
    try:
        door = open_door(home)
    except OSError:
        return None
    if door is None:
        raise ConnectionRefusedError("another process is the hub")
    return door


async def _serve_here(house: House, door: Door | None, first: socket.socket, leave: list[Callable[[], object]]) -> None:
    hub = Hub(house)
    async with BlockingPortal() as portal:
        leave.append(partial(portal.start_task_soon, hub.leave))
        await hub.serve(door, first)


async def _leave_on_signal(hub: Hub) -> None:
    if sys.platform == "win32":
        return  # there a process is ended without being asked
    with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
        async for _ in signals:
            hub.leave()
