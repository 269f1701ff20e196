"""``serve --http``: a hub that does not leave when it is unused, and that serves HTTP (with uvicorn) alongside the relays.

`main` is called by ``cli/commands.py``. Its steps: read options; listen at the HTTP address; take the hub's lock, asking a running
hub to leave; open the store; serve relays and HTTP in one event loop until a signal; close the store; release the lock.
"""

from __future__ import annotations

import gc
import os
import signal
import socket
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

import anyio
import anyio.to_thread
from filelock import FileLock

from hybrid_memory.clock import RandomSource, SystemClock, SystemRandomSource
from hybrid_memory.errors import (
    AccessRefused,
    EngineUnavailable,
    HybridMemoryError,
    InvalidInput,
    NotEnoughMemory,
    StoreError,
    StoreLocked,
)
from hybrid_memory_mcp.admin.hub_client import stop_hub
from hybrid_memory_mcp.http.access_tokens import Tokens, tokens_folder
from hybrid_memory_mcp.http.app import HttpApp, build_http_app
from hybrid_memory_mcp.http.settings import PATH, HttpSettings, in_url, is_loopback, read_http_options
from hybrid_memory_mcp.hub.connection_registry import ConnectionRegistry
from hybrid_memory_mcp.hub.hub import Hub, HubResources
from hybrid_memory_mcp.hub.listener import HubListener, acquire_listener
from hybrid_memory_mcp.hub.run import forget_client, make_resources
from hybrid_memory_mcp.hub.state_key import load_state_key
from hybrid_memory_mcp.mcp_api.sdk import disable_sdk_logging
from hybrid_memory_mcp.relay.replacing import HANDOVER_PAUSE_MS
from hybrid_memory_mcp.runtime import http_serving, library_patches
from hybrid_memory_mcp.runtime.error_log import begin_logging, log_and_continue
from hybrid_memory_mcp.runtime.http_serving import ServingLimits
from hybrid_memory_mcp.runtime.provider import ServiceProvider

_KEY_SECONDS = 10.0  # another server writes it in milliseconds
_RETRY_SECONDS = 1.0  # between two tries to open a store whose database is away; each waits for it too
_TAKEOVER_TIMEOUT_SECONDS = 15.0  # the other hub lets requests end for 5 s and closes the store


def main(arguments: Sequence[str]) -> NoReturn:
    """Serve until a signal comes."""
    begin_logging("hybrid-memory-mcp: %(levelname)s %(name)s: %(message)s")
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
    # Servers that share their tokens also take each other's signed states: a client's next request may go to any of them.
    shared = tokens_folder(options.home)
    shared.mkdir(mode=0o700, parents=True, exist_ok=True)
    tokens = Tokens(shared, SystemClock(), SystemRandomSource())
    with FileLock(shared / "state.lock", timeout=_KEY_SECONDS, mode=0o600):  # two servers may start at once
        key = load_state_key(shared)
    settings = http.settings(options, key)
    listening = listen(settings)
    listener = take_over_store(options.home)
    resources = make_resources(options.home, options.embedder, settings.state_key)
    gc.freeze()
    served: list[Exception | None] = [RuntimeError()]
    with log_and_continue("serving"):
        served[0] = anyio.run(_serve, resources, listener, settings, tokens, listening)
    listener.close()
    if resources.provider.is_open:  # else it may be waiting for its database, for which nobody who ends a server waits
        resources.provider.close(None)
    listener.release()
    if isinstance(served[0], HybridMemoryError):
        raise served[0]
    return 0 if served[0] is None else 1


def take_over_store(home: Path) -> HubListener:
    """Open the listener of a store's hub; a hub that runs is asked to leave, its relays come to this one.

    Raises:
        StoreLocked: the other hub does not leave.
        InvalidInput: nothing can be made in the folder.
    """
    begun = time.monotonic()
    while time.monotonic() - begun < _TAKEOVER_TIMEOUT_SECONDS:
        # Without the pause a relay may have the next hub running before this process has the lock.
        stop_hub(home, pause_ms=HANDOVER_PAUSE_MS)
        try:
            listener = acquire_listener(home, serves_http=True)
        except OSError:
            raise InvalidInput("home", "the folder cannot be written") from None
        if listener is not None:
            return listener
    raise StoreLocked


async def _serve(
    resources: HubResources, listener: HubListener, settings: HttpSettings, tokens: Tokens, listening: socket.socket
) -> Exception | None:
    """Serve relays and HTTP until a signal comes, or until the hub has to make room; returns what went wrong."""
    try:
        await anyio.to_thread.run_sync(resources.provider.ensure_open)
    except HybridMemoryError as error:
        if not _may_pass(error):
            listening.close()
            return error
        _tell(f"{error}; clients are told so, and served as soon as it is there")
    hub = Hub(resources)
    told = anyio.Event()
    async with anyio.create_task_group() as group:
        group.start_soon(_leave_on_signal, hub, told)
        group.start_soon(_open_when_it_comes, resources.provider)

        async def serve() -> None:
            def ready(url: str) -> None:
                _greet(url, settings, tokens)

            await serve_http(
                resources.provider,
                settings,
                tokens,
                resources.random_source,
                ready=ready,
                listening=listening,
                registry=hub.registry,
            )

        group.start_soon(serve)
        await hub.serve(listener, stays=True)
        group.cancel_scope.cancel()
    if told.is_set():
        return None
    return StoreError("another server, or a client of a later version, took the store over; this one leaves")


def _may_pass(error: HybridMemoryError) -> bool:
    """Return whether a store that could not be opened may be there soon, without anybody who changes anything here."""
    return isinstance(error, EngineUnavailable) and not isinstance(error, AccessRefused | NotEnoughMemory)


async def _open_when_it_comes(provider: ServiceProvider) -> None:
    """Open the store as soon as it can be: the health check is to say so, whether or not a client has called meanwhile."""
    while not provider.is_open:
        await anyio.sleep(_RETRY_SECONDS)
        with suppress(HybridMemoryError):  # who calls is told
            await anyio.to_thread.run_sync(provider.ensure_open, abandon_on_cancel=True)


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


async def serve_http(
    provider: ServiceProvider,
    settings: HttpSettings,
    tokens: Tokens,
    random_source: RandomSource,
    *,
    ready: Callable[[str], None],
    listening: socket.socket | None = None,
    registry: ConnectionRegistry | None = None,
) -> None:
    """Serve until cancelled; then what is being answered has ``settings.shutdown_timeout_seconds`` seconds.

    ``ready`` is told the URL; ``listening`` is a socket that listens already; ``registry`` lists the relays of the same hub.

    Raises:
        InvalidInput: the address cannot be listened at.
    """
    listening = listening or listen(settings)
    port = listening.getsockname()[1]
    app = build_http_app(provider, settings, tokens, random_source, port=port, registry=registry)
    await serve_app(app, settings, listening, lambda: ready(f"http://{in_url(settings.host)}:{port}{PATH}"))


async def serve_app(app: HttpApp, settings: HttpSettings, listening: socket.socket, ready: Callable[[], None]) -> None:
    """Serve an application at a socket, which is closed in the end; runs until cancelled."""
    limits = ServingLimits(
        connections=settings.connections,
        max_head_bytes=settings.max_head_bytes,
        head_timeout_seconds=settings.head_timeout_seconds,
    )
    await http_serving.serve_app(app, limits, listening, ready)


def listen(settings: HttpSettings) -> socket.socket:
    """Return a socket that listens at the address of the settings.

    Raises:
        InvalidInput: somebody else listens there, or it is no address of this machine.
    """
    return http_serving.listen_at(settings.host, settings.port)
