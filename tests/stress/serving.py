"""The real server and store in this process, with clients connected in memory."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC
from pathlib import Path

from mcp.client import Client
from tests.history.calls import Recorder
from tests.stress.clients import RecordingClient

from hybrid_memory.clock import SystemClock, SystemRandomSource
from hybrid_memory.model import Scope
from hybrid_memory.service.memory_service import MemoryService
from hybrid_memory.store.duck.store import DuckStore
from hybrid_memory.store.memory.store import MemoryStore
from hybrid_memory.testing import HashEmbedder
from hybrid_memory_mcp.mcp_api.memory_server import MemoryServer
from hybrid_memory_mcp.mcp_api.views import Views
from hybrid_memory_mcp.runtime.provider import ServiceProvider


@dataclass
class Serving:
    """What a test needs of it."""

    service: MemoryService
    provider: ServiceProvider
    recorder: Recorder
    clients: list[RecordingClient]


def opened(path: Path | None) -> MemoryService:
    """Open a store with the quick embedder; without a path one in memory."""
    store = MemoryStore(SystemClock()) if path is None else DuckStore.open(path, SystemClock())
    return MemoryService(store, HashEmbedder(32), clock=SystemClock(), random_source=SystemRandomSource())


@asynccontextmanager
async def serving(path: Path | None, count: int) -> AsyncIterator[Serving]:
    """Serve ``count`` clients, each a session of its own, and close the store at the end."""
    service = opened(path)
    provider = ServiceProvider(lambda: service)
    recorder, known = Recorder(), {}
    clients = []
    async with AsyncExitStack() as stack:
        stack.callback(service.close)
        for number in range(count):
            scope = Scope(session=f"session{number}")
            server = MemoryServer(provider, scope, UTC, Views(provider, scope, UTC, SystemRandomSource(), None))
            connected = await stack.enter_async_context(Client(server))
            clients.append(RecordingClient(f"c{number}", connected, recorder, known))
        yield Serving(service, provider, recorder, clients)
