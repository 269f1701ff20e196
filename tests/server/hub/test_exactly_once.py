"""A request that comes again after its hub has died changes nothing twice and has the same answer. Over the real store."""

import json
import sys
import threading
from contextlib import contextmanager

import pytest
from tests.core.store.empty_database import lay_empty
from tests.server.hubs import TIMEOUT_SECONDS, ThreadedHub
from tests.server.raw import MODERN

from hybrid_memory.service.memory_service import MemoryService
from hybrid_memory.store.memory.store import MemoryStore
from hybrid_memory.store.writing import RequestKey
from hybrid_memory.testing import FakeClock, FakeRandomSource, HashEmbedder
from hybrid_memory_mcp.hub import hub as hub_module
from hybrid_memory_mcp.relay import protocol
from hybrid_memory_mcp.runtime.provider import ServiceProvider

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Unix sockets")

RELAY = "a" * 32


class RestartedHubs:
    """A store with one hub after the other, and one relay that comes to each; ``in_memory`` is a memory that outlives its hubs."""

    def __init__(self, home, *, in_memory=False):
        self.home = home
        self.clock = FakeClock()
        self.random_source = FakeRandomSource(5)
        self.hubs = 0
        self.memory = None
        if in_memory:
            store = MemoryStore(self.clock)
            self.memory = MemoryService(store, HashEmbedder(), clock=self.clock, random_source=self.random_source)

    def open(self):
        return self.memory or MemoryService.open(self.home, clock=self.clock, random_source=self.random_source)

    @contextmanager
    def hub(self):
        """A hub that dies with the relay still connected, and the relay."""
        provider = ServiceProvider(self.open)
        hub = ThreadedHub(self.home, None, provider=provider)
        client = hub.connect(relay=RELAY, times=self.hubs, arguments=["--session", "s"]).welcomed()
        self.hubs += 1
        try:
            yield client
        finally:
            hub.kill()
            client.close()
            if self.memory is None:
                provider.close(None)


@pytest.fixture
def hubs(home):
    lay_empty(home)
    return RestartedHubs(home)


def asked(client, number, name, **arguments):
    client.request(f"r{number}", "tools/call", number=number, name=name, arguments=arguments, _meta=MODERN)
    return client.answer()[1]["result"]


def written(client, number, content, **more):
    return asked(client, number, "write_memory", content=content, **more)["structuredContent"]["id"]


def held(client):
    """Return what the store shows and counts."""
    found = client.call("read_memories", query="", limit=100)["structuredContent"]["memories"]
    status = client.ask("resources/read", uri="memory://status")["result"]["contents"][0]["text"]
    known = json.loads(status)
    counts = [known[name] for name in ("memories", "forgotten", "superseded", "insights", "tiers")]
    return sorted((one["text"], one["id"]) for one in found), counts


def forms(ids):
    """All ways to write, over three memories with the tag "late" of which the third may have been forgotten."""
    thought = {"text": "Ada is often late", "evidence": ids[:2], "importance": 0.6}
    return {
        "a new memory": ("write_memory", {"content": "Linus plays the organ"}),
        "a long-term memory": ("write_memory", {"content": "Linus", "memory_type": "long_term"}),
        "a working memory": ("write_memory", {"content": "step 2", "memory_type": "working", "key": "step"}),
        "a repeat": ("write_memory", {"content": "Ada was late on Monday"}),
        "a correction": ("write_memory", {"content": "Ada was early on Monday", "supersedes": ids[0]}),
        "new words": ("update_memory", {"id": ids[0], "content": "Ada was ill on Monday"}),
        "a new weight": ("update_memory", {"id": ids[0], "importance": 0.9}),
        "forgetting by id": ("forget_memories", {"ids": [ids[1]]}),
        "forgetting by filter": ("forget_memories", {"where": {"tags": ["late"]}, "count": 3}),
        "restoring": ("forget_memories", {"ids": [ids[2]], "restore": True}),
        "insights": ("reflect", {"insights": [thought]}),
    }


def over_both_stores():
    """Every way to write over a store in memory, and over the real one; of the latter all but two are long."""
    for form in forms(["", "", ""]):
        yield pytest.param(True, form, id=form)
        quick = form in ("a new memory", "insights")
        yield pytest.param(False, form, id=f"{form}, in a file", marks=[] if quick else pytest.mark.stress)


@pytest.mark.slow
@pytest.mark.parametrize(("in_memory", "form"), [*over_both_stores()])
def test_a_write_that_comes_again_has_the_same_answer_and_is_done_once(home, in_memory, form):
    hubs = RestartedHubs(home, in_memory=in_memory)
    with hubs.hub() as client:
        days = ("Monday", "Tuesday", "Wednesday")
        ids = [written(client, at, f"Ada was late on {day}", tags=["late"]) for at, day in enumerate(days, 1)]
        if form == "restoring":
            asked(client, 4, "forget_memories", ids=[ids[2]])
        name, arguments = forms(ids)[form]
        first = asked(client, 10, name, **arguments)
        before = held(client)
    with hubs.hub() as client:
        again = asked(client, 10, name, **arguments)
        after = held(client)
    assert first["isError"] is again["isError"] is False
    # Which memories are related is a hint of the moment, not part of what was done.
    hint = {"related": None}
    assert again["structuredContent"] | hint == first["structuredContent"] | hint
    assert after == before


@pytest.mark.slow
def test_a_write_that_would_have_expired_by_now_still_has_its_answer(hubs):
    arguments = {"content": "The parcel comes at noon", "expires_at": "2026-01-10T18:00:00Z"}
    with hubs.hub() as client:
        first = asked(client, 1, "write_memory", **arguments)
    hubs.clock.advance(days=2)
    with hubs.hub() as client:
        assert asked(client, 1, "write_memory", **arguments)["structuredContent"] == first["structuredContent"]
        assert asked(client, 2, "write_memory", **arguments)["isError"] is True


@pytest.mark.slow
def test_a_change_of_what_was_forgotten_since_still_has_its_answer(hubs):
    with hubs.hub() as client:
        memory = written(client, 1, "Ada was late")
        first = asked(client, 2, "update_memory", id=memory, content="Ada was ill")
        asked(client, 3, "forget_memories", ids=[first["structuredContent"]["id"], memory])
    with hubs.hub() as client:
        again = asked(client, 2, "update_memory", id=memory, content="Ada was ill")
        assert again["structuredContent"] == first["structuredContent"]


@pytest.mark.slow
def test_what_was_refused_is_tried_again(hubs):
    arguments = {"content": "Ada is ill", "supersedes": "0" * 20}
    with hubs.hub() as client:
        assert asked(client, 1, "write_memory", **arguments)["isError"] is True
        corrected = written(client, 2, "Ada is late")
    with hubs.hub() as client:
        assert asked(client, 1, "write_memory", **arguments | {"supersedes": corrected})["isError"] is False


@pytest.mark.slow
def test_a_number_of_another_relay_is_another_request(hubs):
    provider = ServiceProvider(hubs.open)
    with ThreadedHub(hubs.home, None, provider=provider) as hub:
        found = set()
        for relay in ("b" * 32, "c" * 32):
            with hub.connected(relay=relay, arguments=["--session", relay]) as client:
                found.add(written(client, 1, "Ada", memory_type="working", key=relay))
    provider.close(None)
    assert len(found) == 2


@pytest.mark.slow
def test_a_write_whose_answer_was_on_its_way_when_the_hub_died_is_done_once(hubs):
    """The relay has sent it, the hub has done it, nobody has read the answer."""
    provider = ServiceProvider(hubs.open)
    hub = ThreadedHub(hubs.home, None, provider=provider)
    written_now = threading.Event()
    provider.ensure_open().listen(lambda *_: written_now.set())
    client = hub.connect(relay=RELAY, arguments=["--session", "s"]).welcomed()
    arguments = {"content": "Ada plays the cello"}
    client.request("r", "tools/call", name="write_memory", arguments=arguments, _meta=MODERN)
    assert written_now.wait(TIMEOUT_SECONDS)
    hub.kill()
    client.close()
    provider.close(None)
    hubs.hubs = 1
    with hubs.hub() as client:
        again = asked(client, 1, "write_memory", **arguments)["structuredContent"]
        assert again.get("duplicate_of") is None
        assert held(client)[1][0] == 1


def results_of(service, numbers):
    return [service.store.result("default", RequestKey(RELAY, number)) is not None for number in numbers]


@pytest.mark.slow
def test_results_are_forgotten_up_to_what_the_relay_has_and_all_when_it_leaves(hubs, monkeypatch):
    monkeypatch.setattr(hub_module, "_ACKNOWLEDGE_EVERY_LINES", 1)
    monkeypatch.setattr(hub_module, "_ACKNOWLEDGE_CHECK_SECONDS", 0.01)
    provider = ServiceProvider(hubs.open)
    service = provider.ensure_open()
    forgotten = threading.Semaphore(0)
    acknowledge = service.acknowledge
    monkeypatch.setattr(service, "acknowledge", lambda *what: (acknowledge(*what), forgotten.release()))
    with ThreadedHub(hubs.home, None, provider=provider) as hub:
        with hub.connected(relay=RELAY) as client:
            for number, content in enumerate(("Ada", "Grace", "Edsger"), 1):
                written(client, number, content)
            assert results_of(service, (1, 2, 3)) == [True, True, True]
            client.send_frame(protocol.DELIVERED, b"", 2)
            assert forgotten.acquire(timeout=TIMEOUT_SECONDS)
            assert results_of(service, (1, 2, 3)) == [False, False, True]
        assert forgotten.acquire(timeout=TIMEOUT_SECONDS)
        assert results_of(service, (1, 2, 3)) == [False, False, False]
    provider.close(None)
