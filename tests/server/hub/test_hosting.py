"""A hub in the process of a relay: where no other can be started, and with ``--standalone``."""

import sys
import threading

import pytest
from tests.server.hubs import TIMEOUT_SECONDS, FakeRelay, ThreadedHub
from tests.server.raw import MODERN
from tests.server.services import ObservedService

from hybrid_memory_mcp.hub import run
from hybrid_memory_mcp.relay import connecting, protocol
from hybrid_memory_mcp.relay.connecting import connect

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Unix sockets")


class BlockingService(ObservedService):
    def __init__(self):
        super().__init__()
        self.begun, self.go = threading.Event(), threading.Event()

    def read(self, scope, request):
        self.begun.set()
        assert self.go.wait(TIMEOUT_SECONDS)
        return super().read(scope, request)


@pytest.fixture
def service(monkeypatch):
    service = BlockingService()
    service.opened_with = []

    def open_service(_home, embedder, *_):
        service.opened_with.append(embedder)
        return service

    monkeypatch.setattr(run, "open_service", open_service)
    yield service
    service.go.set()


def reading(client):
    params = {"name": "read_memories", "arguments": {}, "_meta": MODERN}
    return client.request(1, "tools/call", **params)


def test_a_process_that_hosts_the_hub_serves_itself_with_its_embedder_and_others(home, service):
    connection, stop = run.host(str(home), "fastembed:x")
    own, other = FakeRelay(connection).welcomed(), FakeRelay(connect(str(home))).welcomed()
    assert own.call("write_memory", content="Ada")["isError"] is False
    assert other.call("write_memory", content="Grace")["isError"] is False
    assert service.opened_with == ["fastembed:x"]
    other.close()
    stop()
    assert service.closed
    assert connect(str(home)) is None
    assert not connecting.hub_is_running(str(home))


def test_others_get_their_answers_when_the_hosts_client_leaves(home, service):
    _, stop = run.host(str(home), None)
    other = FakeRelay(connect(str(home))).welcomed()
    number = reading(other)
    assert service.begun.wait(TIMEOUT_SECONDS)
    stopping = threading.Thread(target=stop)
    stopping.start()
    while (probe := connect(str(home))) is not None:
        probe.close()
    assert not service.closed
    service.go.set()
    answered, message = other.answer()
    assert (answered, message["result"]["isError"]) == (number, False)
    assert other.receive_frame(protocol.LEAVING) is not None
    stopping.join()
    other.close()


def test_who_wants_to_host_while_another_is_the_hub_is_sent_there(home, service):
    with ThreadedHub(home, ObservedService()), pytest.raises(ConnectionError):
        run.host(str(home), None)


def test_a_hub_for_one_client_alone_is_no_hub_for_others_and_ends_the_session_with_it(home, service):
    connection, stop = run.host(str(home), None, standalone=True)
    client = FakeRelay(connection).welcomed()
    assert client.call("write_memory", content="Ada")["isError"] is False
    assert connect(str(home)) is None
    assert not connecting.hub_is_running(str(home))
    stop()
    client.close()
    assert service.closed
    assert len(service.ended) == 1
