"""The SDK's own client over uvicorn at a Unix socket, in both protocol eras."""

from __future__ import annotations

import json

import anyio
import anyio.lowlevel
import anyio.to_thread
import pytest
from mcp.client.extension import advertise
from mcp.server.apps import APP_MIME_TYPE, EXTENSION_ID
from mcp.shared.exceptions import MCPError
from mcp.types import CreateMessageResult, ResourceUpdatedNotification, TextContent
from tests.server.http.conftest import Raw
from tests.server.services import call

# The SDK's client warns that newer servers have no such method.
pytestmark = [pytest.mark.anyio, pytest.mark.filterwarnings("ignore:resources/:UserWarning")]

RECENT = "memory://most_recent_memories"
ERAS = ["legacy", "2026-07-28", "auto"]


@pytest.mark.slow
@pytest.mark.parametrize("mode", ERAS)
async def test_what_was_written_is_found(build, at_socket, token, mode):
    async with at_socket(build()) as connect, connect(token, mode=mode) as client:
        await call(client, "write_memory", content="Ada plays the cello")
        found = await call(client, "read_memories", query="cello")
        assert found["memories"][0]["text"] == "Ada plays the cello"
        assert len((await client.list_tools()).tools) == 5
        assert (await client.read_resource(RECENT)).contents
        assert (await client.list_prompts()).prompts


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
async def test_a_client_that_shows_apps_gets_the_memory_as_one(build, at_socket, token, mode):
    shows_apps = advertise(EXTENSION_ID, {"mimeTypes": [APP_MIME_TYPE]})
    async with at_socket(build()) as connect, connect(token, mode=mode, extensions=[shows_apps]) as client:
        tools = {tool.name: tool.meta for tool in (await client.list_tools()).tools}
        (app,) = (await client.read_resource(tools["read_memories"]["ui"]["resourceUri"])).contents
    assert tools["write_memory"] is None
    assert app.mime_type == APP_MIME_TYPE


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
async def test_a_token_of_another_namespace_finds_nothing(build, at_socket, service, token, foreign_token, mode):
    async with (
        at_socket(build()) as connect,
        connect(token, mode=mode) as one,
        connect(foreign_token, mode=mode) as two,
    ):
        await call(one, "write_memory", content="Ada plays the cello")
        await call(two, "write_memory", content="Grace plays chess")
    assert {one.content: one.namespace for one in service.memories.values()} == {
        "Ada plays the cello": "default",
        "Grace plays chess": "elsewhere",
    }


async def test_an_older_client_hears_of_a_write_of_another(build, at_socket, token, other_token):
    heard = anyio.Event()

    async def listen(message):
        if isinstance(message, ResourceUpdatedNotification):
            heard.set()

    async with (
        at_socket(build()) as connect,
        connect(token, mode="legacy", message_handler=listen) as listener,
        connect(other_token, mode="legacy") as writer,
    ):
        await listener.subscribe_resource(RECENT)
        while not heard.is_set():
            await call(writer, "write_memory", content="Ada")
            with anyio.move_on_after(0.2):
                await heard.wait()


@pytest.mark.slow
async def test_an_older_client_hears_again_after_a_restart_without_subscribing_anew(
    build, at_socket, token, other_token
):
    heard, news = anyio.Event(), anyio.create_memory_object_stream[str](100)

    async def listen(message):
        if isinstance(message, ResourceUpdatedNotification):
            heard.set()
            await news[0].send(str(message.params.uri))

    with news[0], news[1]:
        async with at_socket(build()) as connect, connect(token, mode="legacy", message_handler=listen) as listener:
            await listener.subscribe_resource(RECENT)
            async with connect(other_token, mode="legacy") as writer:
                while not heard.is_set():  # the SDK's client opens its stream of news when it likes
                    await call(writer, "write_memory", content="Ada")
                    with anyio.move_on_after(0.2):
                        await heard.wait()
            while news[1].statistics().current_buffer_used:
                await news[1].receive()
            await connect.restart(build())
            with anyio.fail_after(60):
                assert await news[1].receive() == RECENT  # it may have missed something
                async with connect(other_token, mode="legacy") as writer:
                    await call(writer, "write_memory", content="Grace plays chess")
                assert await news[1].receive() == RECENT


async def test_a_newer_client_hears_on_its_stream(build, at_socket, token, other_token):
    async with (
        at_socket(build()) as connect,
        connect(token, mode="2026-07-28") as listener,
        connect(other_token, mode="2026-07-28") as writer,
        listener.listen(resource_subscriptions=[RECENT]) as stream,
    ):
        await call(writer, "write_memory", content="Ada")
        with anyio.fail_after(60):
            first = await anext(aiter(stream))
    assert first.uri == RECENT


async def test_another_namespace_hears_nothing(build, at_socket, token, foreign_token):
    async with (
        at_socket(build()) as connect,
        connect(foreign_token, mode="2026-07-28") as listener,
        connect(token, mode="2026-07-28") as writer,
        listener.listen(resource_subscriptions=[RECENT + "/theirs", RECENT + "/mine"]) as stream,
    ):
        await call(writer, "write_memory", content="Ada", session="theirs")
        await call(listener, "write_memory", content="Grace", session="mine")
        with anyio.fail_after(60):
            first = await anext(aiter(stream))
    assert first.uri == RECENT + "/mine"


async def test_the_audit_names_the_token_and_what_the_client_calls_itself(build, at_socket, service, token):
    async with at_socket(build()) as connect, connect(token, mode="2026-07-28") as client:
        await call(client, "write_memory", content="Ada")
    assert service.actors == ["token laptop/mcp"]


async def test_an_older_client_that_leaves_ends_its_session(build, at_socket, service, token):
    async with at_socket(build()) as connect:
        async with connect(token, mode="legacy") as client:
            await call(client, "write_memory", content="Ada")
        assert await anyio.to_thread.run_sync(service.session_ended.wait, 5)


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
@pytest.mark.filterwarnings("ignore::UserWarning")
async def test_the_client_s_own_model_can_do_the_reflecting(build, at_socket, service, token, mode):
    ids = [service.keep(f"Ada was late on day {day}").id for day in range(3)]

    async def think(_, __):
        text = json.dumps([{"text": "Ada is often late", "evidence": ids}])
        return CreateMessageResult(role="assistant", content=TextContent(type="text", text=text), model="m")

    async with at_socket(build()) as connect, connect(token, mode=mode, sampling_callback=think) as client:
        (stored,) = (await call(client, "reflect"))["stored"]
    assert service.memories[stored].content == "Ada is often late"


async def test_without_a_token_nobody_gets_in(build, at_socket):
    async with at_socket(build()) as connect:
        with pytest.raises(ExceptionGroup) as caught:
            async with connect("hmm_guess", mode="legacy"):
                pass
        assert caught.group_contains(MCPError)


async def test_a_call_that_is_being_answered_when_the_server_leaves_is_answered(build, at_socket, service, token):
    app, written = build(shutdown_timeout_seconds=10), []
    service.held.clear()

    async def write(connect):
        async with connect(token, mode="2026-07-28") as client:
            await client.list_tools()  # otherwise the client asks for them afterwards, to check the answer
            written.append(await call(client, "write_memory", content="Ada"))

    async def let_go():
        with anyio.fail_after(60):
            while (await Raw(app, token).modern("tools/list")).status != 503:
                await anyio.lowlevel.checkpoint()
        service.held.set()

    async with anyio.create_task_group() as group, at_socket(app) as connect:
        group.start_soon(write, connect)
        while not service.threads:
            await anyio.lowlevel.checkpoint()
        group.start_soon(let_go)
    assert written[0]["id"]


@pytest.mark.slow
async def test_status_names_who_is_there_in_the_same_namespace(build, at_socket, token, other_token, foreign_token):
    async with (
        at_socket(build()) as connect,
        connect(foreign_token, mode="legacy"),
        connect(other_token, mode="legacy"),
        connect(token, mode="2026-07-28") as client,
    ):
        status = json.loads((await client.read_resource("memory://status")).contents[0].text)
    assert sorted((one["client"], one["token"]) for one in status["clients"]) == [("mcp", "laptop"), ("mcp", "phone")]
