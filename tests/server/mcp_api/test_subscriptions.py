from __future__ import annotations

import anyio
import pytest
from mcp.client import Client
from mcp.types import ResourceUpdatedNotification
from tests.server.services import call, make_server

from hybrid_memory.model import Scope

# The SDK's client warns that newer servers have no such method.
pytestmark = [pytest.mark.anyio, pytest.mark.filterwarnings("ignore:resources/:UserWarning")]

RECENT = "memory://most_recent_memories"


class Heard:
    def __init__(self):
        self.uris = []
        self.news = anyio.Event()

    async def __call__(self, message):
        if isinstance(message, ResourceUpdatedNotification):
            self.uris.append(str(message.params.uri))
            self.news.set()

    async def wait(self):
        with anyio.fail_after(60):
            await self.news.wait()
        self.news = anyio.Event()


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_both_eras_are_told_that_resources_can_be_subscribed(server, mode):
    async with Client(server, mode=mode) as client:
        assert client.server_capabilities.resources.subscribe is True


async def test_an_older_client_hears_of_a_write_of_another(provider):
    heard = Heard()
    async with (
        Client(make_server(provider), mode="legacy", message_handler=heard) as listener,
        Client(make_server(provider), mode="legacy") as writer,
    ):
        await listener.subscribe_resource(RECENT)
        await call(writer, "write_memory", content="Ada")
        await heard.wait()
    assert heard.uris == [RECENT]


async def test_subscribing_twice_is_told_once_and_unsubscribing_ends_it(provider):
    heard = Heard()
    async with Client(make_server(provider), mode="legacy", message_handler=heard) as client:
        await client.subscribe_resource(RECENT)
        await client.subscribe_resource(RECENT)
        await client.subscribe_resource(RECENT + "/s-here")
        await call(client, "write_memory", content="Ada")
        await heard.wait()
        while len(heard.uris) < 2:
            await heard.wait()
        assert sorted(heard.uris) == [RECENT, RECENT + "/s-here"]
        await client.unsubscribe_resource(RECENT)
        await call(client, "write_memory", content="Grace")
        await heard.wait()
    assert heard.uris[2:] == [RECENT + "/s-here"]


async def test_a_session_is_recognised_however_its_uri_is_escaped(provider):
    heard = Heard()
    async with Client(make_server(provider), mode="legacy", message_handler=heard) as client:
        await client.subscribe_resource(RECENT + "/a%20b%3a")
        await call(client, "write_memory", content="Ada", session="a b:")
        await heard.wait()
    assert heard.uris == [RECENT + "/a%20b%3a"]


async def test_another_namespace_hears_nothing(provider):
    heard = Heard()
    other = make_server(provider, scope=Scope(namespace="other", session="s-x"))
    async with Client(other, mode="legacy", message_handler=heard) as listener, Client(make_server(provider)) as writer:
        await listener.subscribe_resource(RECENT)
        await call(writer, "write_memory", content="Ada")
        await listener.read_resource(RECENT)
    assert heard.uris == []


async def test_a_newer_client_hears_on_its_stream(provider):
    async with Client(make_server(provider), mode="2026-07-28") as client:
        async with client.listen(resource_subscriptions=[RECENT, RECENT + "/s-here"]) as stream:
            await call(client, "write_memory", content="Ada")
            with anyio.fail_after(60):
                first = await anext(aiter(stream))
        assert first.uri == RECENT


async def test_nobody_is_kept_after_the_client_has_left(provider):
    server = make_server(provider)
    async with Client(server, mode="legacy") as client:
        await client.subscribe_resource(RECENT)
    async with Client(server, mode="legacy") as client:
        await call(client, "write_memory", content="Ada")
    assert provider._listeners == {}


async def test_clients_of_one_server_hear_once_each_also_those_that_come_later(provider):
    server, heard = make_server(provider), Heard()
    async with Client(server, mode="legacy"), Client(server, mode="legacy", message_handler=heard) as second:
        await second.subscribe_resource(RECENT)
        await call(second, "write_memory", content="Ada")
        await heard.wait()
    async with Client(server, mode="legacy", message_handler=heard) as third:
        await third.subscribe_resource(RECENT)
        await call(third, "write_memory", content="Grace")
        await heard.wait()
    assert heard.uris == [RECENT, RECENT]


async def test_too_many_subscriptions_are_refused(provider):
    from mcp.shared.exceptions import MCPError

    async with Client(make_server(provider), mode="legacy") as client:
        with pytest.raises(MCPError, match="too many subscriptions"):
            await client.subscribe_resource("memory://" + "x" * 3000)
