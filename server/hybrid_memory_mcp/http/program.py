"""``serve --http``: the hub of a store that stays, and serves HTTP beside the relays."""

from __future__ import annotations

import gc
import logging
import os
import signal
import socket
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

import anyio
import anyio.to_thread

from hybrid_memory.clock import SystemClock, SystemRandomSource
from hybrid_memory.errors import HybridMemoryError, InvalidInput, StoreError, StoreLocked
from hybrid_memory_mcp.asking import dismiss_hub
from hybrid_memory_mcp.http.options import read_http_options
from hybrid_memory_mcp.http.serving import listen, serve_http
from hybrid_memory_mcp.http.settings import HttpSettings, is_loopback
from hybrid_memory_mcp.hub.hosting import forget_client, house_of
from hybrid_memory_mcp.hub.hub import House, Hub
from hybrid_memory_mcp.hub.listening import Door, open_door
from hybrid_memory_mcp.hub.sealing import state_key
from hybrid_memory_mcp.mcp_api.sdk import disable_sdk_logging
from hybrid_memory_mcp.runtime import library_patches
from hybrid_memory_mcp.runtime.error_log import log_and_continue
from hybrid_memory_mcp.tokens import Tokens

_TAKING_OVER = 15.0


def main(arguments: Sequence[str]) -> NoReturn:
    """Serve until a signal comes."""
    logging.basicConfig(level=logging.WARNING, format="hybrid-memory-mcp: %(levelname)s %(name)s: %(message)s")
    library_patches.redact_tracebacks()
    os.umask(0o077)
    try:
        code = _run(arguments)
    except HybridMemoryError as error:
        sys.exit(f"hybrid-memory-mcp: {error}")
    sys.stderr.flush()
    os._exit(code)


def _run(arguments: Sequence[str]) -> int:
    options, http = read_http_options(arguments)
    forget_client()
    disable_sdk_logging()
    options.home.mkdir(mode=0o700, parents=True, exist_ok=True)
    tokens = Tokens(options.home, SystemClock(), SystemRandomSource())
    settings = http.settings(options, state_key(options.home))
    listening = listen(settings)
    door = take_over(options.home)
    house = house_of(options.home, options.embedder)
    gc.freeze()
    served: list[Exception | None] = [RuntimeError()]
    with log_and_continue("serving"):
        served[0] = anyio.run(_serve, house, door, settings, tokens, listening)
    door.close()
    house.provider.close(None)
    door.release()
    if isinstance(served[0], HybridMemoryError):
        raise served[0]
    return 0 if served[0] is None else 1


def take_over(home: Path) -> Door:
    """Open the door of a store's hub; a hub that runs is asked to leave, its relays come to this one.

    Raises:
        StoreLocked: the other hub does not leave.
        InvalidInput: nothing can be made in the folder.
    """
    begun = time.monotonic()
    while time.monotonic() - begun < _TAKING_OVER:
        dismiss_hub(home)
        try:
            door = open_door(home)
        except OSError:
            raise InvalidInput("home", "the folder cannot be written") from None
        if door is not None:
            return door
    raise StoreLocked


async def _serve(
    house: House, door: Door, settings: HttpSettings, tokens: Tokens, listening: socket.socket
) -> Exception | None:
    """Serve relays and HTTP until a signal comes, or until the hub has to make room; returns what went wrong."""
    try:
        await anyio.to_thread.run_sync(house.provider.ensure_open)
    except HybridMemoryError as error:
        listening.close()
        return error
    hub = Hub(house)
    told = anyio.Event()
    async with anyio.create_task_group() as group:
        group.start_soon(_leave_on_signal, hub, told)

        async def serve() -> None:
            def ready(url: str) -> None:
                _greet(url, settings, tokens)

            await serve_http(
                house.provider,
                settings,
                tokens,
                house.random_source,
                ready=ready,
                listening=listening,
                company=hub.company,
            )

        group.start_soon(serve)
        await hub.serve(door, stays=True)
        group.cancel_scope.cancel()
    if told.is_set():
        return None
    return StoreError("another server, or a client of a later version, took the store over; this one leaves")


async def _leave_on_signal(hub: Hub, told: anyio.Event) -> None:
    if sys.platform == "win32":
        return  # there a process is ended without being asked
    with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
        async for _ in signals:
            told.set()
            hub.leave()


def _greet(url: str, settings: HttpSettings, tokens: Tokens) -> None:
    """Tell a person where the server is, and what is missing."""
    _tell(f"serving {url}")
    try:
        if not tokens.grants():
            _tell("there is no token yet; `hybrid-memory-mcp token create NAME` (with the same --home) makes one")
    except InvalidInput as error:
        _tell(f"nobody is let in: {error}")
    if not is_loopback(settings.host):
        _tell("this address is open to others and not encrypted; put a proxy with TLS before it")


def _tell(text: str) -> None:
    print(f"hybrid-memory-mcp: {text}", file=sys.stderr, flush=True)  # noqa: T201 - for a person
