"""Running a hub: in its own process, or in that of a relay where no other can be started."""

from __future__ import annotations

import logging
import os
import signal
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import anyio
import anyio.from_thread

from hybrid_memory.clock import SystemClock, SystemDice
from hybrid_memory.errors import InvalidInput
from hybrid_memory.settings import StoreSettings, store_settings
from hybrid_memory_mcp import quiet
from hybrid_memory_mcp.errors import only_logged
from hybrid_memory_mcp.hub.hub import House, Hub
from hybrid_memory_mcp.hub.listening import Door, open_door
from hybrid_memory_mcp.hub.sealing import state_key
from hybrid_memory_mcp.service import ServiceProvider
from hybrid_memory_mcp.upkeep import open_service

_LAST_MOMENT = 0.85
_OF_A_CLIENT = ("HOME", "NAMESPACE", "AGENT", "SESSION", "TIMEZONE", "PROMPTS")


def serve(home: Path, door: Door, embedder: str | None) -> None:
    """Serve whoever comes through the door until nobody needs it or a signal comes; closes the store."""
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(process)d %(levelname)s %(name)s: %(message)s")
    quiet.keep_logging()
    house = house_of(home, embedder)
    with only_logged("serving"):
        anyio.run(_serve, house, door)
    door.close()
    house.provider.finish(None)


def host(home: str) -> tuple[socket.socket, Callable[[], None]]:
    """Be a hub in a thread of this process; returns a socket that leads to it, and what ends it.

    Others find it as they find any hub, if a door can be opened here.
    """
    for name in _OF_A_CLIENT:
        # What this client chose comes with its greeting; it must not become what other clients get.
        os.environ.pop(f"HYBRID_MEMORY_{name}", None)  # noqa: TID251 - see above
    quiet.keep_logging()
    house = house_of(Path(home), None)
    door: Door | None = None
    with suppress(OSError):
        door = open_door(Path(home))
    ours, theirs = socket.socketpair()
    ended = threading.Event()

    def run() -> None:
        with only_logged("serving"):
            anyio.run(_serve_here, house, door, theirs)
        if door is not None:
            door.close()
        house.provider.finish(None)
        if door is not None:
            door.release()
        ended.set()

    threading.Thread(target=run, name="hub", daemon=True).start()

    def stop() -> None:
        ours.close()
        threading.Thread(target=house.provider.finish, args=(None,), daemon=True).start()
        ended.wait(_LAST_MOMENT)

    return ours, stop


def house_of(home: Path, embedder: str | None) -> House:
    """Return what the connections of a hub share; nothing is opened yet."""
    dice = SystemDice()
    try:
        limits = store_settings(home)
    except InvalidInput:
        limits = StoreSettings.model_construct()  # every call will say what is wrong with the settings
    return House(
        home=home,
        provider=ServiceProvider(lambda: open_service(home, embedder, dice), limits.calls_at_once),
        clock=SystemClock(),
        dice=dice,
        state_key=state_key(home),
        limits=limits,
    )


async def _serve(house: House, door: Door) -> None:
    hub = Hub(house)
    async with anyio.create_task_group() as group:
        group.start_soon(_leave_on_signal, hub)
        await hub.serve(door)
        group.cancel_scope.cancel()


async def _serve_here(house: House, door: Door | None, first: socket.socket) -> None:
    await Hub(house).serve(door, first)


async def _leave_on_signal(hub: Hub) -> None:
    with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
        async for _ in signals:
            hub.leave()
