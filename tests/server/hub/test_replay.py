"""What a hub keeps for its successor: handshakes, subscriptions, questions to the client. The relays are the test's."""

import json
import sys

import pytest
from tests.server.hubs import ThreadedHub
from tests.server.raw import MODERN
from tests.server.services import ObservedService

from hybrid_memory_mcp.relay import protocol

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Unix sockets")

RECENT = "memory://most_recent_memories"
SAMPLES = {"sampling": {}}
THINKING = MODERN | {"io.modelcontextprotocol/clientCapabilities": SAMPLES}
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": "i",
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": SAMPLES,
        "clientInfo": {"name": "raw", "version": "0"},
    },
}
INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}
LISTEN = {
    "jsonrpc": "2.0",
    "id": "l",
    "method": "subscriptions/listen",
    "params": {"notifications": {"resourceSubscriptions": [RECENT]}, "_meta": MODERN},
}


@pytest.fixture
def service():
    return ObservedService()


@pytest.fixture
def hub(home, service):
    with ThreadedHub(home, service) as real:
        yield real


def subscribe(uri, method="resources/subscribe"):
    return {"jsonrpc": "2.0", "id": uri, "method": method, "params": {"uri": uri}}


def initialized(client):
    client.send(INITIALIZE)
    assert client.answer()[1]["id"] == "i"
    client.send(INITIALIZED)
    assert client.receive_frame(protocol.NO_ANSWER).number == 2
    return client


def replayed(client, *messages):
    for message in (INITIALIZE, INITIALIZED, *messages):
        client.send(message, kind=protocol.REPLAY, number=0)
    return client


def news(client):
    return json.loads(client.receive_frame(protocol.NOTIFICATION).payload)


def called(client, name, **arguments):
    """Call a tool as an older client does."""
    number = client.request(f"c{client.sent}", "tools/call", name=name, arguments=arguments)
    frame = client.receive_frame(protocol.ANSWER)
    assert frame.number == number
    return json.loads(frame.payload)["result"]


def answers_before(client, request_id):
    """Return the ids of all answers up to that of one more request, which shows that no other is coming."""
    client.request(request_id, "tools/list")
    found = []
    while not found or found[-1] != request_id:
        found.append(client.answer()[1]["id"])
    return found


# handshakes


def test_a_handshake_is_kept_before_it_is_answered(hub):
    with hub.connected() as client:
        client.send(INITIALIZE)
        kinds = [client.receive_frame(), client.receive_frame()]
        client.send(INITIALIZED)
        kinds += [client.receive_frame(), client.receive_frame()]
    assert [(one.kind, one.number, one.name) for one in kinds] == [
        (protocol.REMEMBER_LINE, 1, "initialize"),
        (protocol.ANSWER, 1, ""),
        (protocol.REMEMBER_LINE, 2, "initialized"),
        (protocol.NO_ANSWER, 2, ""),
    ]


def test_a_replayed_handshake_is_not_answered_and_the_conversation_goes_on(hub, service):
    with hub.connected(times=1) as client:
        replayed(client)
        assert called(client, "write_memory", content="Ada")["isError"] is False
        assert answers_before(client, "last") == ["last"]
    assert service.actors == ["raw"]


def test_a_handshake_whose_answer_the_client_did_not_get_is_answered_by_the_next_hub(hub):
    with hub.connected(times=1) as client:
        client.send(INITIALIZE, kind=protocol.REPLAY, number=0)
        client.send(INITIALIZE, number=1)
        number, message = client.answer()
        assert (number, message["result"]["protocolVersion"]) == (1, "2025-11-25")
        client.send(INITIALIZED, number=2)
        assert called(client, "read_memories")["isError"] is False


def test_a_newer_client_needs_no_replay(home, service):
    for times in (0, 1):
        with ThreadedHub(home, service) as hub, hub.connected(times=times) as client:
            assert client.call("read_memories")["isError"] is False


# subscriptions of older clients


def test_a_subscription_is_kept_when_it_is_answered_and_dropped_when_it_is_ended(hub):
    with hub.connected() as client:
        initialized(client)
        client.send(subscribe(RECENT))
        kept, answer = client.receive_frame(protocol.REMEMBER_LINE), client.receive_frame()
        client.send(subscribe(RECENT, "resources/unsubscribe"))
        dropped, ended = client.receive_frame(), client.receive_frame()
    assert (kept.number, answer.kind, answer.number) == (3, protocol.ANSWER, 3)
    assert (dropped.kind, dropped.name) == (protocol.FORGET_LINE, kept.name)
    assert (ended.kind, ended.number) == (protocol.ANSWER, 4)


def test_a_subscription_that_is_refused_is_not_kept(hub):
    with hub.connected() as client:
        initialized(client)
        client.send(subscribe("x" * 3000))
        assert client.receive_frame().kind == protocol.ANSWER


def test_after_a_replay_each_subscription_hears_once_that_it_may_have_missed_something_and_then_all_news(hub):
    other = RECENT + "/s"
    with hub.connected(times=1) as client, hub.connected() as writer:
        replayed(client, subscribe(RECENT), subscribe(other))
        missed = {news(client)["params"]["uri"] for _ in range(2)}
        assert missed == {RECENT, other}
        writer.call("write_memory", content="Ada", session="s")
        heard = [news(client) for _ in range(2)]
        assert {one["params"]["uri"] for one in heard} == {RECENT, other}
        assert {one["method"] for one in heard} == {"notifications/resources/updated"}
        assert answers_before(client, "last") == ["last"]


def test_a_hundred_subscriptions_are_replayed_though_fewer_requests_may_be_at_work(home, service):
    uris = [f"{RECENT}/{number}" for number in range(100)]
    with ThreadedHub(home, service, requests_at_once=2, requests_waiting=1) as hub, hub.connected(times=1) as client:
        replayed(client, *map(subscribe, uris))
        assert sorted(news(client)["params"]["uri"] for _ in uris) == sorted(uris)
        assert called(client, "read_memories")["isError"] is False


# streams of newer clients


def test_a_stream_waits_for_long_once_it_is_acknowledged(hub):
    with hub.connected() as client, hub.connected() as writer:
        client.send(LISTEN)
        acknowledged, patient = client.receive_frame(), client.receive_frame()
        assert json.loads(acknowledged.payload)["method"] == "notifications/subscriptions/acknowledged"
        assert (patient.kind, patient.number) == (protocol.STREAM_STARTED, 1)
        writer.call("write_memory", content="Ada")
        assert news(client)["params"]["uri"] == RECENT


def test_a_stream_that_comes_again_hears_that_it_may_have_missed_something_and_then_all_news(hub):
    with hub.connected(times=1) as client, hub.connected() as writer:
        client.send(LISTEN, kind=protocol.RESUBSCRIBE)
        missed = news(client)
        assert (missed["method"], missed["params"]["uri"]) == ("notifications/resources/updated", RECENT)
        writer.call("write_memory", content="Ada")
        assert news(client)["params"]["uri"] == RECENT


def test_a_stream_that_is_cancelled_is_settled_and_hears_no_more(hub):
    with hub.connected() as client, hub.connected() as writer:
        client.send(LISTEN)
        client.receive_frame(protocol.STREAM_STARTED)
        client.notify("notifications/cancelled", requestId="l")
        assert client.receive_frame(protocol.NO_ANSWER).number == 1
        writer.call("write_memory", content="Ada")
        client.request("last", "tools/list", _meta=MODERN)
        kinds = []
        while not kinds or kinds[-1] != protocol.ANSWER:
            kinds.append(client.receive_frame().kind)
        assert protocol.NOTIFICATION not in kinds


@pytest.mark.parametrize("end", [ThreadedHub.kill, ThreadedHub.leave])
def test_open_streams_hold_up_neither_their_relays_end_nor_their_hubs(hub, caplog, end):
    with hub.connected() as stays:
        with hub.connected() as leaves:
            for client in (stays, leaves):
                client.send(LISTEN)
                client.receive_frame(protocol.STREAM_STARTED)
        end(hub)
        hub.wait()
        assert stays.receive_frame(protocol.ANSWER) is None
    assert caplog.messages == []


def test_many_streams_take_no_place_of_requests(home, service):
    with ThreadedHub(home, service, requests_at_once=1, requests_waiting=0) as hub, hub.connected() as client:
        for number in range(1, 11):
            client.send(LISTEN | {"id": number})
            client.receive_frame(protocol.STREAM_STARTED)
        assert client.call("read_memories")["isError"] is False


# questions to the client


@pytest.fixture
def ids(service):
    return [service.keep(f"Ada was late on day {day}").id for day in range(3)]


def thought(ids):
    text = json.dumps([{"text": "Ada is often late", "evidence": ids}])
    return {"role": "assistant", "content": {"type": "text", "text": text}, "model": "m"}


def test_a_question_goes_to_an_older_client_under_a_name_of_this_hub_and_its_answer_back(hub, service, ids):
    with hub.connected(times=3) as client:
        replayed(client)
        asked = client.request("r", "tools/call", name="reflect", arguments={})
        question = client.receive_frame(protocol.SERVER_REQUEST)
        message = json.loads(question.payload)
        assert message["id"] == question.name
        assert question.name.startswith("3-")
        answered = client.send({"jsonrpc": "2.0", "id": message["id"], "result": thought(ids)})
        assert client.receive_frame(protocol.SERVER_REQUEST_OVER).name == question.name
        assert client.receive_frame(protocol.NO_ANSWER).number == answered
        number, told = client.answer()
        assert number == asked
        (stored,) = told["result"]["structuredContent"]["stored"]
    assert service.memories[stored].content == "Ada is often late"


def test_the_answer_to_a_question_of_a_former_hub_is_dropped(hub, service, ids):
    with hub.connected(times=1) as client:
        replayed(client)
        client.request("r", "tools/call", name="reflect", arguments={})
        question = json.loads(client.receive_frame(protocol.SERVER_REQUEST).payload)["id"]
        former = client.send({"jsonrpc": "2.0", "id": question.replace("1-", "0-"), "result": thought(ids)})
        assert client.receive_frame().kind == protocol.NO_ANSWER
        strange = client.send({"jsonrpc": "2.0", "id": 1, "result": {}})
        assert (client.receive_frame(protocol.NO_ANSWER).number, strange) == (former + 1, former + 1)
        client.send({"jsonrpc": "2.0", "id": question, "error": {"code": -1, "message": "no"}})
        assert client.answer()[1]["result"]["structuredContent"]["groups"]


def test_a_call_that_asked_and_is_cancelled_takes_its_question_back(hub, ids):
    with hub.connected() as client:
        initialized(client)
        number = client.request("r", "tools/call", name="reflect", arguments={})
        question = client.receive_frame(protocol.SERVER_REQUEST).name
        client.notify("notifications/cancelled", requestId="r")
        seen = [client.receive_frame() for _ in range(4)]
        assert {one.number for one in seen if one.kind == protocol.NO_ANSWER} == {number, number + 1}
        assert [one.name for one in seen if one.kind == protocol.SERVER_REQUEST_OVER] == [question]
        (taken,) = [json.loads(one.payload) for one in seen if one.kind == protocol.NOTIFICATION]
        assert (taken["method"], taken["params"]["requestId"]) == ("notifications/cancelled", question)


def reflect(client, request_id, meta=THINKING, **more):
    client.request(request_id, "tools/call", name="reflect", arguments={}, _meta=meta, **more)
    return client.answer()[1]


def test_what_one_hub_asked_a_newer_client_the_next_one_understands(home, service, ids):
    with ThreadedHub(home, service) as hub, hub.connected() as client:
        asked = reflect(client, 1)["result"]
    with ThreadedHub(home, service) as hub, hub.connected(times=1) as client:
        responses = dict.fromkeys(asked["inputRequests"], thought(ids))
        told = reflect(client, 2, requestState=asked["requestState"], inputResponses=responses)
    (stored,) = told["result"]["structuredContent"]["stored"]
    assert service.memories[stored].parents == tuple(ids)


def test_what_another_stores_hub_sealed_is_refused(home, service, ids):
    with ThreadedHub(home, service, key=b"o" * 32) as hub, hub.connected() as client:
        asked = reflect(client, 1)["result"]
    with ThreadedHub(home, service) as hub, hub.connected(times=1) as client:
        responses = dict.fromkeys(asked["inputRequests"], thought(ids))
        told = reflect(client, 2, requestState=asked["requestState"], inputResponses=responses)
    assert told["error"]["code"] == -32602
