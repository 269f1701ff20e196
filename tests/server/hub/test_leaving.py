"""How a hub ends, and what becomes of a relay that leaves it."""

import json
import socket
import sys
import threading

import anyio.lowlevel
import pytest
from tests.server.hubs import TIMEOUT_SECONDS, ThreadedHub, reading
from tests.server.raw import MODERN

from hybrid_memory.errors import SchemaTooNew
from hybrid_memory_mcp.hub import hub as hub_module
from hybrid_memory_mcp.hub.listener import HubListener, acquire_listener
from hybrid_memory_mcp.relay import protocol
from hybrid_memory_mcp.relay.connecting import connect
from hybrid_memory_mcp.runtime.provider import ServiceProvider

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Unix sockets")

RELAYS = [f"{number:032x}" for number in range(1, 10)]


@pytest.fixture
def frequent_checks(monkeypatch):
    """Requested before the hub: the hub then checks its socket all the time."""
    monkeypatch.setattr(hub_module, "_LISTENER_CHECK_SECONDS", 0.01)


def test_the_results_and_the_session_of_a_relay_that_left_are_over(hub, service, monkeypatch):
    ended = threading.Event()
    monkeypatch.setattr(service, "end_session", lambda scope: (service.ended.append(scope.session), ended.set()))
    with hub.connected(relay=RELAYS[0]) as client:
        client.call("write_memory", content="Ada")
    assert ended.wait(TIMEOUT_SECONDS)
    assert service.acknowledged == [(RELAYS[0], None)]
    assert service.ended == [service.scopes[0].session]


def test_a_session_with_a_name_does_not_end_with_its_relay(home, service):
    with ThreadedHub(home, service, first=(ends := socket.socketpair())[1], linger_seconds=0) as hub:
        with hub.connected(arguments=["--session", "holiday"]) as client:
            client.call("write_memory", content="Ada")
        ends[0].close()
        hub.wait()
    assert service.acknowledged == [("0" * 32, None)]
    assert service.ended == []


def test_results_are_kept_for_relays_that_are_there_when_the_hub_ends(home, service):
    for end in (ThreadedHub.kill, ThreadedHub.leave):
        with ThreadedHub(home, service) as hub, hub.connected() as client:
            client.call("write_memory", content="Ada")
            end(hub)
            hub.wait()
    assert (service.acknowledged, service.ended) == ([], [])


def test_results_that_the_relay_has_are_forgotten_by_and_by(hub, service, monkeypatch):
    monkeypatch.setattr(hub_module, "_ACKNOWLEDGE_EVERY_LINES", 1)
    monkeypatch.setattr(hub_module, "_ACKNOWLEDGE_CHECK_SECONDS", 0.01)
    told = threading.Event()
    monkeypatch.setattr(service, "acknowledge", lambda *what: (service.acknowledged.append(what), told.set()))
    with hub.connected(relay=RELAYS[0]) as client:
        client.call("write_memory", content="Ada")
        client.send_frame(protocol.DELIVERED, b"", 1)
        assert told.wait(TIMEOUT_SECONDS)
        assert service.acknowledged == [(RELAYS[0], 1)]


def test_a_hub_to_which_nobody_comes_leaves(home, service, monkeypatch):
    monkeypatch.setattr(hub_module, "FIRST_VISITOR_TIMEOUT_SECONDS", 0)
    hub = ThreadedHub(home, service, linger_seconds=0)
    hub.wait()
    assert list(home.glob("hub.sock")) == []


def test_a_hub_that_lingers_for_no_time_still_waits_for_the_relay_that_started_it(home, service):
    hub = ThreadedHub(home, service, linger_seconds=0)
    connect(str(home)).close()  # a process that only looks whether a hub is there
    hub.portal.call(some_turns)
    with hub.connected() as client:
        assert client.call("read_memories")["isError"] is False
    hub.wait()


def test_a_hub_leaves_with_its_last_client_and_not_with_the_one_before(home, service):
    ours, theirs = socket.socketpair()
    hub = ThreadedHub(home, service, first=theirs, linger_seconds=0)
    with hub.connected() as second:
        ours.close()
        for _ in range(20):
            assert second.call("read_memories")["isError"] is False
    hub.wait()


def test_a_hub_that_leaves_answers_what_is_at_work_and_tells_when_another_may_start(hub, service):
    with hub.connected() as client:
        reading(client, 1)
        service.wait_for(1)
        hub.leave(1234)
        service.go.set()
        assert client.receive_frame().kind == protocol.ANSWER
        leaving = client.receive_frame()
        assert (leaving.kind, leaving.number) == (protocol.LEAVING, 1234)
        assert client.receive_frame() is None


def test_a_hub_whose_last_answers_take_too_long_still_says_that_it_leaves(hub, service, monkeypatch):
    monkeypatch.setattr(hub_module, "DRAIN_TIMEOUT_SECONDS", 0.05)
    with hub.connected() as client:
        reading(client, 1)
        service.wait_for(1)
        hub.leave(1234)
        assert client.receive_frame(protocol.LEAVING, protocol.ANSWER).kind == protocol.LEAVING


@pytest.mark.slow
def test_all_answers_reach_a_slow_reader_before_the_hub_leaves(hub, service):
    memory = service.keep("x" * 900_000)
    with hub.connected() as slow:
        (connection,) = hub.hub.registry
        for number in (1, 2, 3):
            slow.request(number, "resources/read", uri=f"memory://memories/{memory.id}", _meta=MODERN)
        # Two answers fill what may be under way, the third waits for room, and nothing is at work any more.
        while hub.portal.call(lambda: connection.stats.calls < 3 or connection._queue.busy):
            pass
        hub.leave()
        hub.portal.call(some_turns)
        found = [slow.receive_frame(protocol.ANSWER, protocol.LEAVING) for _ in range(4)]
    assert sorted(one.number for one in found[:3]) == [1, 2, 3]
    assert [one.kind for one in found] == [protocol.ANSWER] * 3 + [protocol.LEAVING]


async def some_turns():
    """Let everything in the hub that can go on go on."""
    for _ in range(50):
        await anyio.lowlevel.checkpoint()


@pytest.mark.slow
def test_a_hub_that_leaves_does_not_listen_again(frequent_checks, hub, home, service, monkeypatch):
    opened = threading.Event()
    monkeypatch.setattr(HubListener, "reopen", lambda _: opened.set())
    with hub.connected() as client:
        reading(client, 1)
        service.wait_for(1)
        hub.leave()
        while (probe := connect(str(home))) is not None:
            probe.close()
        assert not opened.wait(0.1)
        service.go.set()
        assert client.answer()[0] == 1


@pytest.mark.parametrize("program", [protocol.PROGRAM, "99.8.0.1.0"])
def test_a_hub_makes_room_for_a_program_that_is_not_older(hub, program):
    with hub.connected() as client:
        asking = hub.connect(operation="leave", program=program)
        assert asking.receive_frame().kind == protocol.RESULT
        leaving = client.receive_frame()
        assert (leaving.kind, leaving.number) == (protocol.LEAVING, 3000)
        assert client.receive_frame() is None
        asking.close()
    hub.wait()


@pytest.mark.parametrize("program", ["", "7.99.9.0.0", "8.8.0.0.9"])
def test_a_hub_stays_when_an_older_program_asks_it_to_leave(hub, program):
    asking = hub.connect(operation="leave", program=program)
    answer = asking.receive_frame()
    assert answer.kind == protocol.FAILED
    assert json.loads(answer.payload) == {
        "message": "the running hub is newer than this program; upgrade this program",
        "code": "schema_too_new",
    }
    asking.close()
    with hub.connected() as client:
        assert client.call("read_memories")["isError"] is False


def test_an_older_relay_is_served_by_a_newer_hub(hub):
    with hub.connected(program="") as client:
        assert client.call("read_memories")["isError"] is False


def test_a_hub_that_leaves_answers_the_commands_at_work(hub, service, monkeypatch):
    begun = threading.Event()
    monkeypatch.setattr(
        hub_module, "run_operation", lambda *_: begun.set() or {"done": service.go.wait(TIMEOUT_SECONDS)}
    )
    command = hub.connect(operation="status")
    assert begun.wait(TIMEOUT_SECONDS)
    hub.leave()
    while (probe := connect(str(hub.home))) is not None:
        probe.close()
    service.go.set()
    assert json.loads(command.receive_frame().payload) == {"done": True}
    command.close()
    hub.wait()


@pytest.fixture
def too_old(home):
    """A hub whose program is too old for the store."""

    def fail():
        raise SchemaTooNew

    with ThreadedHub(home, None, provider=ServiceProvider(fail)) as hub:
        yield hub


def test_a_hub_that_is_too_old_for_the_store_tells_its_clients_what_to_restart_and_leaves(too_old):
    with too_old.connected() as asking, too_old.connected() as other:
        reading(asking, 1)
        for client, name in ((asking, "raw."), (other, "it.")):
            frame = client.receive_frame(protocol.ANSWER, protocol.REFUSED)
            assert frame.kind == protocol.REFUSED
            assert f"older than the memory's store: restart {name}" in frame.payload.decode()
            assert client.receive_frame().kind == protocol.LEAVING
            assert client.receive_frame() is None
        too_old.wait()


def test_a_hub_that_is_too_old_for_the_store_leaves_after_it_has_told_a_command_why(too_old):
    command = too_old.connect(operation="imports")
    frame = command.receive_frame()
    assert frame.kind == protocol.FAILED
    assert json.loads(frame.payload)["code"] == "schema_too_new"
    command.close()
    too_old.wait()


def test_a_hub_whose_socket_was_removed_listens_again(frequent_checks, hub, home):
    with hub.connected() as client:
        (home / "hub.sock").unlink()
        while (found := connect(str(home))) is None:
            client.call("read_memories")
        found.close()
        assert client.call("read_memories")["isError"] is False


def test_a_hub_whose_folder_was_removed_leaves(frequent_checks, hub, home):
    with hub.connected() as client:
        home.rename(home.with_name("elsewhere"))
        assert client.receive_frame().kind == protocol.LEAVING
    hub.wait()


def test_a_second_hub_finds_the_lock_taken(hub, home):
    assert acquire_listener(home) is None


def test_what_a_killed_hub_left_behind_is_no_hindrance(home, service):
    home.mkdir()
    stale = socket.socket(socket.AF_UNIX)
    stale.bind(str(home / "hub.sock"))
    stale.close()
    (home / "hub.port").write_text("1\n")
    (home / "hub.pid").write_text("1\n")
    with ThreadedHub(home, service) as hub, hub.connected() as client:
        assert client.call("read_memories")["isError"] is False
