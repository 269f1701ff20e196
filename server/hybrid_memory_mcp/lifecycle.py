"""One server process from its first message to its end, which comes within a second however it comes."""

from __future__ import annotations

import os
import signal
import sys
import threading
from types import FrameType
from typing import NoReturn

import anyio

from hybrid_memory.clock import SystemRandomSource
from hybrid_memory.ids import is_unnamed_session, new_session
from hybrid_memory.model import Scope
from hybrid_memory_mcp.descriptors import Wire
from hybrid_memory_mcp.mcp_api.memory_server import MemoryServer, build_server
from hybrid_memory_mcp.mcp_api.views import Views
from hybrid_memory_mcp.runtime.background_tasks import flush_recalls_when_idle, run_background_work
from hybrid_memory_mcp.runtime.client_options import Options
from hybrid_memory_mcp.runtime.error_log import log_and_continue
from hybrid_memory_mcp.runtime.provider import ServiceProvider, open_service
from hybrid_memory_mcp.stdio import serve_stdio

CLOSING = 0.75
LAST_MOMENT = 0.85


class Departure:
    """Ends the process: the session is ended and the store closed if that takes less than `CLOSING` seconds.

    What was answered is durable anyway, so nothing is lost when it takes longer. The process is left with ``os._exit``:
    a thread may still be reading, and Python would wait for it.
    """

    def __init__(self, provider: ServiceProvider, scope: Scope) -> None:
        self._provider = provider
        self._scope = scope if is_unnamed_session(scope.session) else None

    def on_signal(self, _: int, __: FrameType | None) -> None:
        """Leave on SIGINT or SIGTERM."""
        self.leave()

    def soon(self) -> None:
        """Leave in `LAST_MOMENT` seconds at the latest, whatever else still goes on."""
        timer = threading.Timer(LAST_MOMENT, os._exit, (0,))
        timer.daemon = True
        timer.start()

    def leave(self, code: int = 0) -> NoReturn:
        """Leave now."""
        closing = threading.Thread(target=self._provider.close, args=(self._scope,), name="closing", daemon=True)
        closing.start()
        closing.join(CLOSING)
        sys.stderr.flush()
        os._exit(code)


def serve(wire: Wire, options: Options) -> NoReturn:
    """Serve one client over ``wire`` in this process until it leaves or a signal comes."""
    random_source = SystemRandomSource()
    scope = options.scope(new_session(random_source))
    provider = ServiceProvider(lambda: open_service(options.home, options.embedder, random_source))
    views = Views(provider, scope, options.zone, random_source, options.prompts)
    server = build_server(provider, scope, options.zone, views)
    departure = Departure(provider, scope)
    signal.signal(signal.SIGINT, departure.on_signal)
    signal.signal(signal.SIGTERM, departure.on_signal)
    served = False
    with log_and_continue("serving"):
        anyio.run(_serve, server, wire, provider, scope, departure)
        served = True
    departure.leave(0 if served else 1)


async def _serve(
    server: MemoryServer, wire: Wire, provider: ServiceProvider, scope: Scope, departure: Departure
) -> None:
    async with anyio.create_task_group() as group:
        group.start_soon(flush_recalls_when_idle, provider)
        group.start_soon(run_background_work, provider)
        await serve_stdio(server, wire, answered=lambda: provider.warm_up_in_background(scope), ended=departure.soon)
        group.cancel_scope.cancel()
