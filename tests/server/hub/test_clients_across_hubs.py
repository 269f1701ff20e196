"""The SDK's own client, of both eras, with a real relay as its server, while hubs come and go."""

import json
import sys
import threading

import anyio
import anyio.to_thread
import pytest
from mcp.types import CreateMessageResult, ResourceUpdatedNotification, TextContent
from tests.server.hubs import TIMEOUT_SECONDS, ThreadedHub, client_of, no_other_hub, relay, short_folder
from tests.server.services import ObservedService, call

# The SDK's client warns that newer servers have no such method, and that sampling is going to be removed.
pytestmark = [
    pytest.mark.anyio,
    pytest.mark.filterwarnings("ignore::UserWarning"),
    pytest.mark.skipif(sys.platform == "win32", reason="Unix sockets"),
]

RECENT = "memory://most_recent_memories"
NAMED = ["--session", "named"]  # a session without a name ends with its client, which is a change of its own


@pytest.fixture
def home():
    with short_folder() as folder, no_other_hub(folder):
        yield folder


class BlockingService(ObservedService):
    """A memory whose reads with the query "wait" last until they are let go."""

    def __init__(self):
        super().__init__()
        self.begun = threading.Semaphore(0)
        self.go = threading.Event()

    def read(self, scope, request):
        if request.query == "wait":
            self.begun.release()
            assert self.go.wait(TIMEOUT_SECONDS)
        return super().read(scope, request)


@pytest.fixture
def service():
    service = BlockingService()
    yield service
    service.go.set()


@pytest.fixture(params=["legacy", "2026-07-28"])
def mode(request):
    return request.param


class Heard:
    """A client's ear for news of resources."""

    def __init__(self):
        self.send, self.receive = anyio.create_memory_object_stream[str](100)

    async def __call__(self, message):
        if isinstance(message, ResourceUpdatedNotification):
            await self.send.send(str(message.params.uri))

    async def next(self):
        with anyio.fail_after(TIMEOUT_SECONDS):
            return await self.receive.receive()

    def close(self):
        self.send.close()
        self.receive.close()


@pytest.mark.slow
async def test_a_conversation_goes_on_over_three_hubs(home, service, mode):
    hub = ThreadedHub(home, service)
    async with client_of(home, mode=mode) as client:
        for number in range(3):
            await call(client, "write_memory", content=f"fact {number}")
            found = await call(client, "read_memories", query=f"{number}")
            assert found["memories"][0]["text"] == f"fact {number}"
            await anyio.to_thread.run_sync(hub.kill)
            hub = ThreadedHub(home, service)
        assert len((await client.list_tools()).tools) == 5
    hub.kill()
    assert len(set(service.actors)) == 1


@pytest.mark.slow
async def test_fifty_calls_at_work_when_their_hub_dies_are_all_answered_by_the_next(home, service, mode):
    hub = ThreadedHub(home, service)
    answers = []

    async def ask(client):
        answers.append(await call(client, "read_memories", query="wait"))

    async with client_of(home, mode=mode) as client, anyio.create_task_group() as group:
        for _ in range(50):
            group.start_soon(ask, client)
        await anyio.to_thread.run_sync(service.begun.acquire)
        await anyio.to_thread.run_sync(hub.kill)
        service.go.set()
        hub = ThreadedHub(home, service)
    hub.kill()
    assert len(answers) == 50


@pytest.mark.slow
async def test_an_older_clients_subscription_outlives_its_hub(home, service):
    hub, heard = ThreadedHub(home, service), Heard()
    async with client_of(home, mode="legacy", message_handler=heard) as client:
        await client.subscribe_resource(RECENT)
        await call(client, "write_memory", content="Ada")
        assert await heard.next() == RECENT
        await anyio.to_thread.run_sync(hub.kill)
        hub = ThreadedHub(home, service)
        assert await heard.next() == RECENT
        with hub.connected(arguments=NAMED) as writer:
            await anyio.to_thread.run_sync(lambda: writer.call("write_memory", content="Grace"))
        assert await heard.next() == RECENT
        await client.list_tools()
        assert heard.receive.statistics().current_buffer_used == 0
    heard.close()
    hub.kill()


@pytest.mark.slow
async def test_a_newer_clients_stream_outlives_its_hub(home, service):
    hub = ThreadedHub(home, service)
    async with client_of(home, mode="2026-07-28") as client, client.listen(resource_subscriptions=[RECENT]) as stream:
        news = aiter(stream)
        for number, content in enumerate(("Ada", "Grace", "Edsger"), 1):
            with anyio.fail_after(TIMEOUT_SECONDS), hub.connected(relay=f"{number:032x}", arguments=NAMED) as writer:
                await anyio.to_thread.run_sync(lambda text=content: writer.call("write_memory", content=text))
                assert (await anext(news)).uri == RECENT
            await anyio.to_thread.run_sync(hub.kill)
            hub = ThreadedHub(home, service)
            with anyio.fail_after(TIMEOUT_SECONDS):
                assert (await anext(news)).uri == RECENT
    hub.kill()


async def test_in_a_project_a_newer_clients_stream_hears_after_its_hub_though_its_client_asks_nothing(
    home, service, tmp_path
):
    (tmp_path / ".hybrid-memory.toml").write_text('namespace = "acme"')
    hub, news = ThreadedHub(home, service), {"resource_subscriptions": [RECENT]}
    async with client_of(home, cwd=tmp_path, mode="auto") as client, client.listen(**news) as stream:
        heard = aiter(stream)
        await anyio.to_thread.run_sync(hub.kill)
        hub = ThreadedHub(home, service)
        with anyio.fail_after(TIMEOUT_SECONDS), hub.connected(folder=tmp_path, arguments=NAMED) as writer:
            assert (await anext(heard)).uri == RECENT
            await anyio.to_thread.run_sync(lambda: writer.call("write_memory", content="Acme ships on Friday"))
            assert (await anext(heard)).uri == RECENT
    hub.kill()


class Model:
    """A client's model, which thinks when it is told to."""

    def __init__(self, ids):
        self.asked = 0
        self.ids = ids
        self.thinks = anyio.Event()
        self.go = anyio.Event()

    async def __call__(self, *_):
        self.asked += 1
        self.thinks.set()
        await self.go.wait()
        text = json.dumps([{"text": "Ada is often late", "evidence": self.ids}])
        return CreateMessageResult(role="assistant", content=TextContent(type="text", text=text), model="m")


@pytest.fixture
def ids(service):
    return [service.keep(f"Ada was late on day {day}").id for day in range(3)]


@pytest.mark.slow
async def test_a_client_whose_model_thinks_while_its_hub_dies_gets_its_insights_stored_once(home, service, ids, mode):
    model = Model(ids)
    hub = ThreadedHub(home, service)
    stored = []

    async def reflect(client):
        stored.append((await call(client, "reflect"))["stored"])

    async with client_of(home, mode=mode, sampling_callback=model) as client, anyio.create_task_group() as group:
        group.start_soon(reflect, client)
        await model.thinks.wait()
        await anyio.to_thread.run_sync(hub.kill)
        hub = ThreadedHub(home, service)
        await client.list_tools()
        model.go.set()
    hub.kill()
    ((insight,),) = stored
    assert [one.content for one in service.memories.values()].count("Ada is often late") == 1
    assert service.memories[insight].parents == tuple(ids)


def test_what_the_client_cancelled_is_not_sent_to_the_next_hub(home, service):
    hub = ThreadedHub(home, service)
    with relay(home) as client:
        client.initialize()
        client.send({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": wait()})
        assert service.begun.acquire(timeout=TIMEOUT_SECONDS)
        client.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}})
        assert client.ask(8, "ping")["result"] == {}
        hub.kill()
        service.go.set()
        hub = ThreadedHub(home, service)
        assert client.ask(9, "ping")["result"] == {}
        assert not service.begun.acquire(blocking=False)
    hub.kill()


def wait():
    return {"name": "read_memories", "arguments": {"query": "wait"}}


def test_a_relay_that_comes_while_the_hub_leaves_is_served_by_the_next(home, service):
    hub = ThreadedHub(home, service)
    with hub.connected() as busy:
        busy.request(
            1, "initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo={"name": "b", "version": ""}
        )
        busy.answer()
        busy.request(2, "tools/call", **wait())
        assert service.begun.acquire(timeout=TIMEOUT_SECONDS)
        hub.leave()
        with relay(home) as client:
            client.send({"jsonrpc": "2.0", "id": 1, "method": "ping"})
            service.go.set()
            assert busy.answer()[0] == 2
            hub.wait()
            hub = ThreadedHub(home, service)
            assert client.receive()["id"] == 1
    hub.kill()
