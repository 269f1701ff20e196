"""What open pages hear of changes, and how they hear what they missed."""

from __future__ import annotations

import json
import math
from contextlib import asynccontextmanager

import anyio
import pytest
from tests.server.services import ObservedService

from hybrid_memory.model import Scope
from hybrid_memory.requests import WriteRequest
from hybrid_memory_inspector.page import events as module
from hybrid_memory_inspector.page.events import Events
from hybrid_memory_mcp.runtime.provider import ServiceProvider

pytestmark = pytest.mark.anyio

SCOPE = Scope(namespace="default", session="s-here")


@pytest.fixture
def anyio_backend():
    return "asyncio"


class Stream:
    """A page that is connected: `next` returns the next event, `ended` says that there will be none."""

    def __init__(self):
        self.status = None
        self.ended = anyio.Event()
        self.gone = anyio.Event()
        self._text, self._came = "", anyio.Event()
        self.reads = anyio.Event()
        self.reads.set()

    async def receive(self):
        await self.gone.wait()
        return {"type": "http.disconnect"}

    async def send(self, message):
        await self.reads.wait()
        if message["type"] == "http.response.start":
            self.status = message["status"]
            return
        self._text += message["body"].decode()
        if not message.get("more_body", False):
            self.ended.set()
        self._came.set()

    async def next(self, kind=None):
        """Return the next event with its fields, of a kind if one is named."""
        with anyio.fail_after(60):
            while True:
                block, end, rest = self._text.partition("\n\n")
                if end:
                    self._text = rest
                    fields = dict(line.split(": ", 1) for line in block.splitlines() if not line.startswith(":"))
                    if "event" in fields and kind in (None, fields["event"]):
                        return fields | {"data": json.loads(fields["data"])}
                    continue
                self._came = anyio.Event()
                await self._came.wait()


class Pages:
    """Pages before one memory."""

    def __init__(self):
        self.service = ObservedService()
        self.provider = ServiceProvider(lambda: self.service)
        self.events = Events(self.provider, pause_seconds=0)

    def write(self, text, **scope):
        return self.service.write(
            Scope(**{"namespace": "default", "session": "s", **scope}), WriteRequest(content=text)
        )

    @asynccontextmanager
    async def open(self, last_id=None):
        """A page that is connected while the body runs."""
        page = Stream()
        headers = [] if last_id is None else [(b"last-event-id", last_id.encode())]
        async with anyio.create_task_group() as group:
            group.start_soon(self.events, {"headers": headers}, page.receive, page.send)
            hello = await page.next() if self.events.streams < module.MAX_STREAMS else None
            page.hello = hello
            yield page
            page.gone.set()


@pytest.fixture
async def pages():
    made = Pages()
    made.provider.ensure_open()
    async with made.events.running():
        yield made


async def test_a_page_is_told_where_the_memory_is_when_it_connects(pages):
    pages.write("Ada lives in Porto")
    async with pages.open() as page:
        assert page.status == 200
        assert page.hello["event"] == "hello"
        assert page.hello["data"] == {"heads": {"default": pages.service.store.head("default")}}


async def test_a_page_is_told_what_changed_and_why_but_no_words_of_it(pages):
    async with pages.open() as page:
        made = pages.write("Ada lives in Porto")
        told = (await page.next())["data"]
        assert told["namespaces"] == ["default"]
        assert told["head"] == pages.service.store.head("default")
        one = told["changes"][0]
        assert (one["id"], one["action"], one["namespace"]) == (str(made.id), "remember", "default")
        assert "Porto" not in json.dumps(told)


async def test_all_pages_are_told_of_all_namespaces(pages):
    async with pages.open() as one, pages.open() as other:
        pages.write("the clarinet is at the repair shop", namespace="project:band")
        for page in (one, other):
            assert (await page.next())["data"]["namespaces"] == ["project:band"]


async def test_what_changes_at_once_is_told_together(pages):
    async with pages.open() as page:
        page.reads = anyio.Event()
        ids = {
            str(pages.write(text).id)
            for text in ("Ada lives in Porto", "tea is at five", "the violin hangs in the hall")
        }
        page.reads.set()
        told = []
        while not ids <= {one["id"] for one in told}:
            told += (await page.next("change"))["data"]["changes"]
        positions = [one["position"] for one in told]
        assert positions == sorted(set(positions))


async def test_a_page_that_lost_its_connection_hears_what_it_missed(pages):
    async with pages.open() as page, pages.open() as other:
        pages.write("Ada lives in Berlin")
        last = (await page.next())["id"]
        page.gone.set()
        pages.write("Ada lives in Lisbon")
        missed = await other.next()
        missed = await other.next() if missed["id"] == last else missed
        async with pages.open(last) as back:
            assert await back.next() == missed
            made = pages.write("Ada lives in Porto")
            assert str(made.id) in str((await back.next())["data"])


@pytest.mark.parametrize("last", ["another-1", "-", "x", "9999", "a" * 3000])
async def test_a_page_of_an_earlier_server_asks_for_everything(pages, last):
    async with pages.open(last) as page:
        assert (await page.next())["event"] == "reload"


async def test_a_page_whose_number_never_was_asks_for_everything(pages):
    async with pages.open() as page:
        pages.write("Ada lives in Berlin")
        run = (await page.next())["id"].partition("-")[0]
    for number in ("99", "-1", "٣", "1" * 400):
        async with pages.open(f"{run}-{number}") as page:
            assert (await page.next())["event"] == "reload"


async def test_where_too_much_changed_to_tell_a_page_asks_for_everything(pages, monkeypatch):
    monkeypatch.setattr(module, "MAX_CHANGES", 0)
    async with pages.open() as page:
        pages.write("Ada lives in Porto")
        assert (await page.next())["event"] == "reload"


async def test_when_the_store_was_exchanged_a_page_asks_for_everything(pages):
    pages.write("Ada lives in Porto")
    async with pages.open() as page:
        pages.provider.announce(["default"])
        told = await page.next()
        assert (told["event"], told["data"]) == ("reload", {"namespaces": ["default"]})


async def test_a_page_that_is_too_slow_is_let_go_and_told_to_ask_for_everything(pages):
    async with pages.open() as page, pages.open() as quick:
        page.reads = anyio.Event()
        for number in range(module._WAITING_EVENTS + 5):
            pages.events._emit("change", {"number": number})
            await quick.next()
        page.reads.set()
        await page.next("reload")
        with anyio.fail_after(60):
            await page.ended.wait()


async def test_in_the_end_pages_are_told_that_there_is_nobody_to_come_back_to(pages):
    async with pages.open() as page:
        pages.events.leave("restarting")
        assert (await page.next())["data"] == {"reason": "restarting"}
        with anyio.fail_after(60):
            await page.ended.wait()
    assert pages.events.streams == 0


async def test_a_page_that_is_closed_is_noticed(pages):
    async with pages.open() as page:
        assert pages.events.streams == 1
        page.gone.set()
        with anyio.fail_after(60):
            while pages.events.streams:
                await anyio.lowlevel.checkpoint()


async def test_the_pages_at_once_are_limited(pages, monkeypatch):
    monkeypatch.setattr(module, "MAX_STREAMS", 1)
    async with pages.open(), pages.open() as refused:
        await refused.ended.wait()
        assert refused.status == 503


async def test_writers_wake_nobody_where_no_page_is_open_or_was_lately(pages):
    assert not pages.events._wanted()
    async with pages.open():
        assert pages.events._wanted()
    assert pages.events._wanted()
    pages.events._last_left = -math.inf
    assert not pages.events._wanted()


async def test_a_heartbeat_comes_where_nothing_happens(pages, monkeypatch):
    monkeypatch.setattr(module, "HEARTBEAT_SECONDS", 0.001)
    async with pages.open() as page:
        with anyio.fail_after(60):
            while ": still here" not in page._text:
                await anyio.lowlevel.checkpoint()
