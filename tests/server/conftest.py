"""Fixtures of the server tests: the product over a store in memory, and clients of both protocol eras."""

from __future__ import annotations

import json
from functools import cache

import pytest
import typer.testing
from mcp.client import Client
from mcp.client.session import ClientSession
from tests.server.services import ERAS, ObservedService, make_server

from hybrid_memory_mcp.runtime.provider import ServiceProvider

# A process makes the tree of commands once; so do the tests, and not at each command again, which takes longer than most commands.
typer.testing._get_command = cache(typer.testing._get_command)


@pytest.fixture(scope="session", autouse=True)
def validators_for_all_clients():
    """The SDK checks the schema of a tool's results once per session, which takes longer than most calls; here once per process."""
    compile_validator, compiled = ClientSession._output_schema_validator, {}

    def validator_for(self, name, schema):
        text = json.dumps(schema, sort_keys=True)
        if text not in compiled:
            compiled[text] = compile_validator(self, name, schema)
        return compiled[text]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ClientSession, "_output_schema_validator", validator_for)
        yield


@pytest.fixture
def anyio_backend():
    return "asyncio"


@pytest.fixture(autouse=True)
def no_variables(monkeypatch):
    for name in ("HOME", "NAMESPACE", "AGENT", "SESSION", "TIMEZONE", "PROMPTS", "LOOPBACK"):
        monkeypatch.delenv(f"HYBRID_MEMORY_{name}", raising=False)


@pytest.fixture
def service():
    service = ObservedService()
    yield service
    service.close()


@pytest.fixture
def provider(service):
    return ServiceProvider(lambda: service)


@pytest.fixture
def server(provider):
    return make_server(provider)


@pytest.fixture
async def client(server):
    """A client of the older era; what may differ by era is tested with `client_of_each_era`."""
    async with Client(server, mode="legacy") as connected:
        yield connected


@pytest.fixture(params=ERAS)
async def client_of_each_era(request, server):
    async with Client(server, mode=request.param) as connected:
        yield connected
