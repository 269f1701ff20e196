from __future__ import annotations

import pytest
from mcp.client import Client
from tests.server.fakes import FakeService, make_server

from hybrid_memory_mcp.runtime.provider import ServiceProvider


@pytest.fixture
def anyio_backend():
    return "asyncio"


@pytest.fixture(autouse=True)
def no_variables(monkeypatch):
    for name in ("HOME", "NAMESPACE", "AGENT", "SESSION", "TIMEZONE", "PROMPTS", "EMBEDDER", "LOOPBACK"):
        monkeypatch.delenv(f"HYBRID_MEMORY_{name}", raising=False)


@pytest.fixture
def fake():
    return FakeService()


@pytest.fixture
def provider(fake):
    return ServiceProvider(lambda: fake)


@pytest.fixture
def server(provider):
    return make_server(provider)


@pytest.fixture(params=["2025-11-25", "2026-07-28"])
async def client(request, server):
    mode = "legacy" if request.param == "2025-11-25" else request.param
    async with Client(server, mode=mode) as connected:
        yield connected
