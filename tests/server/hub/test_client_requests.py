"""Requests of clients at the hub: the queue of one connection, and how many are served at once and after a cancellation."""

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp.types import JSONRPCRequest
from tests.server.hubs import ThreadedHub, reading
from tests.server.raw import MODERN, VERSIONS

from hybrid_memory_mcp.hub.client import LISTEN, QueuedRequest, RequestQueue
from hybrid_memory_mcp.relay import protocol

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Unix sockets")

RELAYS = [f"{number:032x}" for number in range(1, 10)]


def request(request_id, method="ping"):
    return JSONRPCRequest(jsonrpc="2.0", id=request_id, method=method)


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("admit"), st.integers(1, 4), st.sampled_from(["ping", LISTEN])),
        st.tuples(st.just("finish"), st.integers(1, 5)),
    ),
    max_size=40,
)


class Model:
    """What a queue should do, in lists: each entry is [id, number, counts, state]."""

    def __init__(self, at_once, most_waiting):
        self.at_once, self.most_waiting = at_once, most_waiting
        self.entries = []

    def those(self, state):
        return [one for one in self.entries if one[3] == state and one[2]]

    def admit(self, request_id, number, *, counts):
        if not counts or len(self.those("works")) < self.at_once:
            self.entries.append([request_id, number, counts, "works"])
            return True
        if len(self.those("waits")) >= self.most_waiting:
            return None
        self.entries.append([request_id, number, counts, "waits"])
        return False

    def finish(self, request_id):
        found = next((one for one in self.entries if one[0] == request_id), None)
        if found is None:
            return None, None
        self.entries.remove(found)
        waiting = self.those("waits")
        if found[3] == "waits" or not waiting or len(self.those("works")) >= self.at_once:
            return found[1], None
        waiting[0][3] = "works"
        return found[1], waiting[0][0]


@given(STEPS, st.integers(1, 3), st.integers(0, 3))
def test_a_request_queue_is_a_first_come_first_served_list_with_places(steps, at_once, most_waiting):
    queue, model = RequestQueue(at_once, most_waiting), Model(at_once, most_waiting)
    for number, (what, request_id, *method) in enumerate(steps, 1):
        if what == "admit":
            said = queue.admit(request(request_id, *method), QueuedRequest(number, *method))
            assert said == model.admit(request_id, number, counts=method != [LISTEN])
        else:
            asked, turn = queue.finish(request_id)
            assert (asked and asked.number, turn and turn.id) == model.finish(request_id)
        first = next((one[1] for one in model.entries if one[0] == request_id), None)
        found = queue.find(request_id)
        assert (found and found.number) == first
        assert queue.busy == bool(model.those("works"))


def test_two_requests_under_one_id_are_both_answered_and_leave_no_place_taken():
    queue = RequestQueue(1, 5)
    assert queue.admit(request(1), QueuedRequest(1, "ping")) is True
    assert queue.admit(request(1), QueuedRequest(2, "ping")) is False
    asked, turn = queue.finish(1)
    assert (asked.number, turn.id) == (1, 1)
    assert queue.finish(1)[0].number == 2
    assert not queue.busy


@pytest.mark.parametrize("asked", [QueuedRequest(1, LISTEN), QueuedRequest(0, "resources/subscribe")])
def test_who_waits_for_news_or_is_replayed_takes_no_place(asked):
    queue = RequestQueue(1, 0)
    assert queue.admit(request("waits", asked.method), asked) is True
    assert not queue.busy
    assert queue.admit(request(2), QueuedRequest(2, "ping")) is True


def test_what_is_cancelled_while_it_waits_never_begins():
    queue = RequestQueue(1, 5)
    for number in (1, 2, 3):
        queue.admit(request(number), QueuedRequest(number, "ping"))
    queue.finish(2)
    asked, turn = queue.finish(1)
    assert (asked.number, turn.id) == (1, 3)


def test_fifty_calls_at_once_are_all_answered(hub, service):
    with hub.connected() as client:
        for number in range(1, 51):
            params = {"name": "write_memory", "arguments": {"content": f"fact {number}"}, "_meta": MODERN}
            client.request(f"r{number}", "tools/call", **params)
        answers = [client.answer() for _ in range(50)]
    assert {message["id"]: number for number, message in answers} == {f"r{n}": n for n in range(1, 51)}
    assert len(service.memories) == 50
    assert sorted(key.number for key in service.keys) == list(range(1, 51))


def test_an_id_may_be_used_again_when_its_request_is_answered(hub, service):
    with hub.connected() as client:
        for content in ("Ada", "Grace"):
            params = {"name": "write_memory", "arguments": {"content": content}, "_meta": MODERN}
            number = client.request(1, "tools/call", **params)
            assert client.answer()[0] == number
    assert [key.number for key in service.keys] == [1, 2]


def test_the_key_of_a_request_is_its_relay_and_line_also_when_it_comes_again(home, service):
    for times in (0, 1):
        with ThreadedHub(home, service) as hub, hub.connected(relay=RELAYS[0], times=times) as client:
            params = {"name": "write_memory", "arguments": {"content": "Ada"}, "_meta": MODERN}
            client.request(5, "tools/call", number=77, **params)
            client.answer()
    assert [(key.relay, key.number) for key in service.keys] == [(RELAYS[0], 77)] * 2


def test_the_relay_hears_when_work_begins_on_what_it_had_sent_before(hub):
    with hub.connected() as client:
        params = {"name": "write_memory", "arguments": {"content": "Ada"}, "_meta": MODERN}
        client.request(5, "tools/call", kind=protocol.RETRY, number=77, **params)
        begun = client.receive_frame(protocol.WORK_STARTED, protocol.ANSWER)
        assert (begun.kind, begun.number) == (protocol.WORK_STARTED, 77)
        client.answer()


def test_what_is_over_the_limits_is_refused_and_the_rest_is_answered(home, service):
    with ThreadedHub(home, service, requests_at_once=2, requests_waiting=3) as hub, hub.connected() as client:
        for number in range(1, 11):
            reading(client, number)
        refused = [client.answer() for _ in range(5)]
        assert {number for number, _ in refused} == {6, 7, 8, 9, 10}
        assert "too many requests at once" in refused[0][1]["error"]["message"]
        with hub.connected() as other:
            assert other.call("read_memories")["isError"] is False
        service.go.set()
        assert sorted(client.answer()[0] for _ in range(5)) == [1, 2, 3, 4, 5]
        assert client.call("read_memories")["isError"] is False


def test_a_flood_of_one_client_leaves_room_for_another(home, service):
    with (
        ThreadedHub(home, service, calls_of_a_client=2) as hub,
        hub.connected(relay=RELAYS[0], arguments=["--session", "flood"]) as flood,
        hub.connected(relay=RELAYS[1], arguments=["--session", "other"]) as other,
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


@pytest.mark.daily
@pytest.mark.slow
def test_a_client_that_does_not_read_holds_nobody_up_and_gets_all_when_it_reads(hub, service):
    memory = service.keep("x" * 300_000)  # ten of them are more than sockets hold
    with hub.connected() as slow, hub.connected() as other:
        for number in range(1, 11):
            slow.request(number, "resources/read", uri=f"memory://memories/{memory.id}", _meta=MODERN)
        assert other.call("read_memories")["isError"] is False
        assert sorted(slow.answer()[0] for _ in range(10)) == list(range(1, 11))


@pytest.mark.daily
@pytest.mark.slow
def test_messages_of_megabytes_pass_both_ways(hub, service):
    memory = service.keep("x" * 1_100_000)
    with hub.connected() as client:
        read = client.ask("resources/read", uri=f"memory://memories/{memory.id}")
        assert "x" * 1_000_000 in read["result"]["contents"][0]["text"]
        refused = client.call("write_memory", content="y" * 15_000_000)
        assert refused["content"][0]["text"].startswith("content:")


def test_a_notification_is_settled_and_lines_that_are_no_requests_get_errors(hub):
    with hub.connected() as client:
        client.send(b"garbage")
        assert client.answer()[1]["error"]["code"] == -32700
        client.send({"jsonrpc": "2.0", "method": "notifications/whatever"})
        assert client.receive_frame(protocol.NO_ANSWER).number == 2
        client.send(b'{"jsonrpc":"2.0","id":3,"method":7}')
        assert client.answer()[1]["error"]["code"] == -32600
        client.send_frame(protocol.OVERSIZED_LINE, b'{"jsonrpc":"2.0","id":4,"method":"pi' + b'xx"}}', 4, "36")
        number, refused = client.answer()
        assert (number, refused["id"], refused["error"]["code"]) == (4, 4, -32600)


def test_a_cancelled_call_is_settled_without_an_answer_and_its_place_is_free(home, service):
    with ThreadedHub(home, service, requests_at_once=1) as hub, hub.connected() as client:
        reading(client, "first")
        service.wait_for(1)
        reading(client, "second")
        client.notify("notifications/cancelled", requestId="first")
        assert {client.receive_frame(protocol.NO_ANSWER).number for _ in range(2)} == {1, 3}
        service.go.set()
        assert client.answer()[1]["id"] == "second"


def test_a_call_that_is_cancelled_while_it_waits_never_begins(home, service):
    with ThreadedHub(home, service, requests_at_once=1) as hub, hub.connected() as client:
        reading(client, "first")
        service.wait_for(1)
        client.request("second", "tools/call", name="write_memory", arguments={"content": "Ada"}, _meta=MODERN)
        client.notify("notifications/cancelled", requestId="second")
        client.receive_frame(protocol.NO_ANSWER)
        service.go.set()
        assert client.answer()[1]["id"] == "first"
        assert client.call("read_memories", query="Ada")["structuredContent"]["memories"] == []


def test_a_client_that_shows_apps_gets_the_memory_as_one_and_its_neighbour_does_not(hub):
    shows = {"extensions": {"io.modelcontextprotocol/ui": {"mimeTypes": ["text/html;profile=mcp-app"]}}}
    told = MODERN | {"io.modelcontextprotocol/clientCapabilities": shows}
    with hub.connected(relay=RELAYS[0]) as one, hub.connected(relay=RELAYS[1]) as other:
        one.request(1, "tools/list", _meta=told)
        tools = {tool["name"]: tool.get("_meta") for tool in one.answer()[1]["result"]["tools"]}
        plain = other.ask("tools/list")["result"]["tools"]
        read = one.ask("resources/read", uri=tools["reflect"]["ui"]["resourceUri"])["result"]["contents"][0]
    assert read["mimeType"] == "text/html;profile=mcp-app"
    assert not any("_meta" in tool for tool in plain)


@pytest.mark.parametrize("version", VERSIONS)
def test_an_app_is_offered_in_every_protocol_with_a_handshake(hub, version):
    shows = {"extensions": {"io.modelcontextprotocol/ui": {"mimeTypes": ["text/html;profile=mcp-app"]}}}
    info = {"name": "raw", "version": "0"}
    with hub.connected() as client:
        client.request(1, "initialize", protocolVersion=version, capabilities=shows, clientInfo=info)
        begun = client.answer()[1]["result"]
        client.notify("notifications/initialized")
        client.request(2, "tools/list")
        tools = client.answer()[1]["result"]["tools"]
    assert begun["protocolVersion"] == version
    assert "io.modelcontextprotocol/ui" in begun["capabilities"]["extensions"]
    assert [tool["name"] for tool in tools if "_meta" in tool] == ["read_memories", "reflect"]
