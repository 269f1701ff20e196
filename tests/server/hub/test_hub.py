"""The hub in a thread, over a memory without a store, before relays that the test plays."""

import json
import sys

import pytest
from tests.server.hubs import PATIENCE, Held, RealHub, reading
from tests.server.raw import MODERN

from hybrid_memory_mcp.hub import hub as hub_module
from hybrid_memory_mcp.relay import protocol
from hybrid_memory_mcp.relay.connecting import connect

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Unix sockets")

RELAYS = [f"{number:032x}" for number in range(1, 10)]


@pytest.fixture
def service():
    service = Held()
    yield service
    service.go.set()


@pytest.fixture
def hub(home, service):
    with RealHub(home, service) as real:
        yield real
        service.go.set()


# who is served


def test_each_relay_is_served_in_the_scope_that_its_client_chose(hub, service):
    with (
        hub.visited(relay=RELAYS[0], arguments=["--namespace", "n", "--agent", "a", "--session", "s"]) as first,
        hub.visited(relay=RELAYS[1], variables=["HYBRID_MEMORY_NAMESPACE=m"]) as second,
    ):
        first.call("write_memory", content="Ada")
        second.call("write_memory", content="Grace")
    here, there = service.scopes
    assert (here.namespace, here.agent, here.session) == ("n", "a", "s")
    assert (there.namespace, there.agent) == ("m", "default")


def test_an_argument_wins_over_the_variable_of_the_same_client(hub, service):
    with hub.visited(arguments=["--namespace=n"], variables=["HYBRID_MEMORY_NAMESPACE=m"]) as guest:
        guest.call("write_memory", content="Ada")
    assert service.scopes[0].namespace == "n"


@pytest.mark.parametrize(
    ("about", "hour"),
    [
        ({"variables": ["TZ=Asia/Tokyo"]}, 1),
        ({"arguments": ["--timezone", "Asia/Tokyo"], "variables": ["TZ=UTC"]}, 1),
        ({"variables": ["TZ=UTC"]}, 10),
    ],
)
def test_a_date_without_zone_is_in_the_clients(hub, service, about, hour):
    with hub.visited(**about) as guest:
        written = guest.call("write_memory", content="Ada", occurred_at="2026-01-01T10:00:00")["structuredContent"]
    assert service.memories[written["id"]].occurred_at.astimezone(service.clock.now().tzinfo).hour == hour


def test_a_conversation_without_a_name_has_the_same_one_at_the_next_hub_and_another_for_each_relay(home, service):
    with RealHub(home, service) as hub, hub.visited(relay=RELAYS[0]) as one, hub.visited(relay=RELAYS[1]) as other:
        one.call("write_memory", content="Ada")
        other.call("write_memory", content="Grace")
    with RealHub(home, service) as hub, hub.visited(relay=RELAYS[0], times=1) as one:
        one.call("write_memory", content="Edsger")
    first, second, third = (scope.session for scope in service.scopes)
    assert first == third
    assert first != second


@pytest.mark.parametrize(
    ("about", "told"),
    [
        ({"arguments": ["--timezone", "Nowhere/Land"]}, "timezone: is not a known time zone"),
        ({"arguments": ["--nonsense"]}, "arguments: "),
        ({"relay": "short"}, "close all clients"),
    ],
)
def test_a_client_that_cannot_be_served_is_told_why(hub, about, told):
    guest = hub.guest(**about)
    refused = guest.hear()
    assert refused.kind == protocol.REFUSED
    assert told in refused.payload.decode()
    assert guest.hear() is None
    guest.close()


def test_status_names_those_of_the_namespace_who_are_connected(hub):
    with (
        hub.visited(relay=RELAYS[0], arguments=["--namespace", "n"]) as first,
        hub.visited(relay=RELAYS[1], arguments=["--namespace", "n", "--session", "mine"]) as second,
        hub.visited(relay=RELAYS[2]),
    ):
        second.ask("tools/list")
        status = first.ask("resources/read", uri="memory://status")["result"]["contents"][0]["text"]
        clients = json.loads(status)["clients"]
    assert [(one["pid"], one["namespace"]) for one in clients] == [(4711, "n"), (4711, "n")]
    assert (clients[1]["session"], clients[1]["client"]) == ("mine", "raw")


def test_more_connections_than_allowed_are_refused_until_one_ends(home, service):
    with RealHub(home, service, connections=2) as hub, hub.visited() as first:
        with hub.visited():
            third = hub.guest()
            refused = third.hear()
            third.close()
            assert refused.kind == protocol.REFUSED
            assert b"2 clients are connected already" in refused.payload
            assert first.call("read_memories")["isError"] is False
        while True:
            guest = hub.guest()
            kind = guest.hear().kind
            guest.close()
            if kind == protocol.WELCOME:
                break


@pytest.mark.parametrize(
    "bytes_", [b"garbage\n", b"GET / HTTP/1.1\r\n\r\n", b"H 0 - 99999999999\n", b"M 1 - 2\n{}", b"H 0 - 3\n\xff\0="]
)
def test_garbage_at_the_door_is_turned_away_and_others_are_served(hub, home, bytes_):
    with hub.visited() as guest:
        stranger = connect(str(home))
        stranger.settimeout(PATIENCE)
        stranger.sendall(bytes_)
        while stranger.recv(1000):
            pass
        stranger.close()
        assert guest.call("read_memories")["isError"] is False


def test_who_says_nothing_is_turned_away_without_a_word_in_the_log(hub, home, monkeypatch, caplog):
    monkeypatch.setattr(hub_module, "_HELLO_TIMEOUT_SECONDS", 0.02)
    stranger = connect(str(home))
    stranger.settimeout(PATIENCE)
    assert stranger.recv(1000) == b""
    stranger.close()
    assert caplog.records == []


def test_garbage_after_the_greeting_ends_that_connection_alone(hub):
    with hub.visited() as good, hub.visited() as bad:
        bad.connection.sendall(b"garbage\n")
        while bad.hear() is not None:
            pass
        assert good.call("read_memories")["isError"] is False


# requests


def test_fifty_calls_at_once_are_all_answered(hub, service):
    with hub.visited() as guest:
        for number in range(1, 51):
            params = {"name": "write_memory", "arguments": {"content": f"fact {number}"}, "_meta": MODERN}
            guest.request(f"r{number}", "tools/call", **params)
        answers = [guest.answer() for _ in range(50)]
    assert {message["id"]: number for number, message in answers} == {f"r{n}": n for n in range(1, 51)}
    assert len(service.memories) == 50
    assert sorted(key.number for key in service.keys) == list(range(1, 51))


def test_an_id_may_be_used_again_when_its_request_is_answered(hub, service):
    with hub.visited() as guest:
        for content in ("Ada", "Grace"):
            params = {"name": "write_memory", "arguments": {"content": content}, "_meta": MODERN}
            number = guest.request(1, "tools/call", **params)
            assert guest.answer()[0] == number
    assert [key.number for key in service.keys] == [1, 2]


def test_the_key_of_a_request_is_its_relay_and_line_also_when_it_comes_again(home, service):
    for times in (0, 1):
        with RealHub(home, service) as hub, hub.visited(relay=RELAYS[0], times=times) as guest:
            params = {"name": "write_memory", "arguments": {"content": "Ada"}, "_meta": MODERN}
            guest.request(5, "tools/call", number=77, **params)
            guest.answer()
    assert [(key.relay, key.number) for key in service.keys] == [(RELAYS[0], 77)] * 2


def test_the_relay_hears_when_work_begins_on_what_it_had_sent_before(hub):
    with hub.visited() as guest:
        params = {"name": "write_memory", "arguments": {"content": "Ada"}, "_meta": MODERN}
        guest.request(5, "tools/call", kind=protocol.RETRY, number=77, **params)
        begun = guest.hear(protocol.WORK_STARTED, protocol.ANSWER)
        assert (begun.kind, begun.number) == (protocol.WORK_STARTED, 77)
        guest.answer()


def test_what_is_over_the_limits_is_refused_and_the_rest_is_answered(home, service):
    with RealHub(home, service, requests_at_once=2, requests_waiting=3) as hub, hub.visited() as guest:
        for number in range(1, 11):
            reading(guest, number)
        refused = [guest.answer() for _ in range(5)]
        assert {number for number, _ in refused} == {6, 7, 8, 9, 10}
        assert "too many requests at once" in refused[0][1]["error"]["message"]
        with hub.visited() as other:
            assert other.call("read_memories")["isError"] is False
        service.go.set()
        assert sorted(guest.answer()[0] for _ in range(5)) == [1, 2, 3, 4, 5]
        assert guest.call("read_memories")["isError"] is False


def test_a_flood_of_one_client_leaves_room_for_another(home, service):
    with (
        RealHub(home, service, calls_at_once=3, calls_of_a_client=2) as hub,
        hub.visited(relay=RELAYS[0], arguments=["--session", "flood"]) as flood,
        hub.visited(relay=RELAYS[1], arguments=["--session", "other"]) as other,
    ):
        for number in range(1, 41):
            reading(flood, number)
        service.wait_for(2)
        reading(other, 1)
        service.wait_for(3)
        assert sorted(service.begun) == ["flood", "flood", "other"]
        service.go.set()
        assert other.answer()[0] == 1
        assert len([flood.answer() for _ in range(40)]) == 40


def test_a_client_that_does_not_read_holds_nobody_up_and_gets_all_when_it_reads(hub, service):
    memory = service.keep("x" * 900_000)
    with hub.visited() as slow, hub.visited() as other:
        for number in range(1, 21):
            slow.request(number, "resources/read", uri=f"memory://memories/{memory.id}", _meta=MODERN)
        assert other.call("read_memories")["isError"] is False
        assert sorted(slow.answer()[0] for _ in range(20)) == list(range(1, 21))


def test_messages_of_many_megabytes_pass_both_ways(hub, service):
    memory = service.keep("x" * 15_000_000)
    with hub.visited() as guest:
        read = guest.ask("resources/read", uri=f"memory://memories/{memory.id}")
        assert "x" * 1_000_000 in read["result"]["contents"][0]["text"]
        refused = guest.call("write_memory", content="y" * 15_000_000)
        assert refused["content"][0]["text"].startswith("content:")


def test_lines_that_are_no_requests_are_settled_and_those_that_nearly_are_get_errors(hub):
    with hub.visited() as guest:
        guest.send(b"garbage")
        guest.send({"jsonrpc": "2.0", "method": "notifications/whatever"})
        assert [guest.hear(protocol.NO_ANSWER).number for _ in range(2)] == [1, 2]
        guest.send(b'{"jsonrpc":"2.0","id":3,"method":7}')
        assert guest.answer()[1]["error"]["code"] == -32600
        guest.say(protocol.OVERSIZED_LINE, b'{"jsonrpc":"2.0","id":4,"method":"pi' + b'xx"}}', 4, "36")
        number, refused = guest.answer()
        assert (number, refused["id"], refused["error"]["code"]) == (4, 4, -32600)


def test_a_cancelled_call_is_settled_without_an_answer_and_its_place_is_free(home, service):
    with RealHub(home, service, requests_at_once=1) as hub, hub.visited() as guest:
        reading(guest, "first")
        service.wait_for(1)
        reading(guest, "second")
        guest.notify("notifications/cancelled", requestId="first")
        assert {guest.hear(protocol.NO_ANSWER).number for _ in range(2)} == {1, 3}
        service.go.set()
        assert guest.answer()[1]["id"] == "second"


def test_a_call_that_is_cancelled_while_it_waits_never_begins(home, service):
    with RealHub(home, service, requests_at_once=1) as hub, hub.visited() as guest:
        reading(guest, "first")
        service.wait_for(1)
        guest.request("second", "tools/call", name="write_memory", arguments={"content": "Ada"}, _meta=MODERN)
        guest.notify("notifications/cancelled", requestId="second")
        guest.hear(protocol.NO_ANSWER)
        service.go.set()
        assert guest.answer()[1]["id"] == "first"
        assert guest.call("read_memories", query="Ada")["structuredContent"]["memories"] == []
