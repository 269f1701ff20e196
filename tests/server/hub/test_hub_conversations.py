"""What a hub keeps for its successor: handshakes, subscriptions, questions to the client. The relays are the test's."""

import json
import sys

import pytest
from tests.server.hubs import RealHub
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
    with RealHub(home, service) as real:
        yield real


def subscribe(uri, method="resources/subscribe"):
    return {"jsonrpc": "2.0", "id": uri, "method": method, "params": {"uri": uri}}


def initialized(guest):
    guest.send(INITIALIZE)
    assert guest.answer()[1]["id"] == "i"
    guest.send(INITIALIZED)
    assert guest.hear(protocol.NO_ANSWER).number == 2
    return guest


def replayed(guest, *messages):
    for message in (INITIALIZE, INITIALIZED, *messages):
        guest.send(message, kind=protocol.REPLAY, number=0)
    return guest


def news(guest):
    return json.loads(guest.hear(protocol.NOTIFICATION).payload)


def called(guest, name, **arguments):
    """Call a tool as an older client does."""
    number = guest.request(f"c{guest.sent}", "tools/call", name=name, arguments=arguments)
    frame = guest.hear(protocol.ANSWER)
    assert frame.number == number
    return json.loads(frame.payload)["result"]


def answers_before(guest, request_id):
    """Return the ids of all answers up to that of one more request, which shows that no other is coming."""
    guest.request(request_id, "tools/list")
    found = []
    while not found or found[-1] != request_id:
        found.append(guest.answer()[1]["id"])
    return found


# handshakes


def test_a_handshake_is_kept_before_it_is_answered(hub):
    with hub.visited() as guest:
        guest.send(INITIALIZE)
        kinds = [guest.hear(), guest.hear()]
        guest.send(INITIALIZED)
        kinds += [guest.hear(), guest.hear()]
    assert [(one.kind, one.number, one.name) for one in kinds] == [
        (protocol.REMEMBER_LINE, 1, "initialize"),
        (protocol.ANSWER, 1, ""),
        (protocol.REMEMBER_LINE, 2, "initialized"),
        (protocol.NO_ANSWER, 2, ""),
    ]


def test_a_replayed_handshake_is_not_answered_and_the_conversation_goes_on(hub, service):
    with hub.visited(times=1) as guest:
        replayed(guest)
        assert called(guest, "write_memory", content="Ada")["isError"] is False
        assert answers_before(guest, "last") == ["last"]
    assert service.actors == ["raw"]


def test_a_handshake_whose_answer_the_client_did_not_get_is_answered_by_the_next_hub(hub):
    with hub.visited(times=1) as guest:
        guest.send(INITIALIZE, kind=protocol.REPLAY, number=0)
        guest.send(INITIALIZE, number=1)
        number, message = guest.answer()
        assert (number, message["result"]["protocolVersion"]) == (1, "2025-11-25")
        guest.send(INITIALIZED, number=2)
        assert called(guest, "read_memories")["isError"] is False


def test_a_newer_client_needs_no_replay(home, service):
    for times in (0, 1):
        with RealHub(home, service) as hub, hub.visited(times=times) as guest:
            assert guest.call("read_memories")["isError"] is False


# subscriptions of older clients


def test_a_subscription_is_kept_when_it_is_answered_and_dropped_when_it_is_ended(hub):
    with hub.visited() as guest:
        initialized(guest)
        guest.send(subscribe(RECENT))
        kept, answer = guest.hear(protocol.REMEMBER_LINE), guest.hear()
        guest.send(subscribe(RECENT, "resources/unsubscribe"))
        dropped, ended = guest.hear(), guest.hear()
    assert (kept.number, answer.kind, answer.number) == (3, protocol.ANSWER, 3)
    assert (dropped.kind, dropped.name) == (protocol.FORGET_LINE, kept.name)
    assert (ended.kind, ended.number) == (protocol.ANSWER, 4)


def test_a_subscription_that_is_refused_is_not_kept(hub):
    with hub.visited() as guest:
        initialized(guest)
        guest.send(subscribe("x" * 3000))
        assert guest.hear().kind == protocol.ANSWER


def test_after_a_replay_each_subscription_hears_once_that_it_may_have_missed_something_and_then_all_news(hub):
    other = RECENT + "/s"
    with hub.visited(times=1) as guest, hub.visited() as writer:
        replayed(guest, subscribe(RECENT), subscribe(other))
        missed = {news(guest)["params"]["uri"] for _ in range(2)}
        assert missed == {RECENT, other}
        writer.call("write_memory", content="Ada", session="s")
        heard = [news(guest) for _ in range(2)]
        assert {one["params"]["uri"] for one in heard} == {RECENT, other}
        assert {one["method"] for one in heard} == {"notifications/resources/updated"}
        assert answers_before(guest, "last") == ["last"]


def test_a_hundred_subscriptions_are_replayed_though_fewer_requests_may_be_at_work(home, service):
    uris = [f"{RECENT}/{number}" for number in range(100)]
    with RealHub(home, service, requests_at_once=2, requests_waiting=1) as hub, hub.visited(times=1) as guest:
        replayed(guest, *map(subscribe, uris))
        assert sorted(news(guest)["params"]["uri"] for _ in uris) == sorted(uris)
        assert called(guest, "read_memories")["isError"] is False


# streams of newer clients


def test_a_stream_waits_for_long_once_it_is_acknowledged(hub):
    with hub.visited() as guest, hub.visited() as writer:
        guest.send(LISTEN)
        acknowledged, patient = guest.hear(), guest.hear()
        assert json.loads(acknowledged.payload)["method"] == "notifications/subscriptions/acknowledged"
        assert (patient.kind, patient.number) == (protocol.STREAM_STARTED, 1)
        writer.call("write_memory", content="Ada")
        assert news(guest)["params"]["uri"] == RECENT


def test_a_stream_that_comes_again_hears_that_it_may_have_missed_something_and_then_all_news(hub):
    with hub.visited(times=1) as guest, hub.visited() as writer:
        guest.send(LISTEN, kind=protocol.RESUBSCRIBE)
        missed = news(guest)
        assert (missed["method"], missed["params"]["uri"]) == ("notifications/resources/updated", RECENT)
        writer.call("write_memory", content="Ada")
        assert news(guest)["params"]["uri"] == RECENT


def test_a_stream_that_is_cancelled_is_settled_and_hears_no_more(hub):
    with hub.visited() as guest, hub.visited() as writer:
        guest.send(LISTEN)
        guest.hear(protocol.STREAM_STARTED)
        guest.notify("notifications/cancelled", requestId="l")
        assert guest.hear(protocol.NO_ANSWER).number == 1
        writer.call("write_memory", content="Ada")
        guest.request("last", "tools/list", _meta=MODERN)
        kinds = []
        while not kinds or kinds[-1] != protocol.ANSWER:
            kinds.append(guest.hear().kind)
        assert protocol.NOTIFICATION not in kinds


@pytest.mark.parametrize("end", [RealHub.kill, RealHub.leave])
def test_open_streams_hold_up_neither_their_relays_end_nor_their_hubs(hub, caplog, end):
    with hub.visited() as stays:
        with hub.visited() as leaves:
            for guest in (stays, leaves):
                guest.send(LISTEN)
                guest.hear(protocol.STREAM_STARTED)
        end(hub)
        hub.wait()
        assert stays.hear(protocol.ANSWER) is None
    assert caplog.messages == []


def test_many_streams_take_no_place_of_requests(home, service):
    with RealHub(home, service, requests_at_once=1, requests_waiting=0) as hub, hub.visited() as guest:
        for number in range(1, 11):
            guest.send(LISTEN | {"id": number})
            guest.hear(protocol.STREAM_STARTED)
        assert guest.call("read_memories")["isError"] is False


# questions to the client


@pytest.fixture
def ids(service):
    return [service.keep(f"Ada was late on day {day}").id for day in range(3)]


def thought(ids):
    text = json.dumps([{"text": "Ada is often late", "evidence": ids}])
    return {"role": "assistant", "content": {"type": "text", "text": text}, "model": "m"}


def test_a_question_goes_to_an_older_client_under_a_name_of_this_hub_and_its_answer_back(hub, service, ids):
    with hub.visited(times=3) as guest:
        replayed(guest)
        asked = guest.request("r", "tools/call", name="reflect", arguments={})
        question = guest.hear(protocol.SERVER_REQUEST)
        message = json.loads(question.payload)
        assert message["id"] == question.name
        assert question.name.startswith("3-")
        answered = guest.send({"jsonrpc": "2.0", "id": message["id"], "result": thought(ids)})
        assert guest.hear(protocol.SERVER_REQUEST_OVER).name == question.name
        assert guest.hear(protocol.NO_ANSWER).number == answered
        number, told = guest.answer()
        assert number == asked
        (stored,) = told["result"]["structuredContent"]["stored"]
    assert service.memories[stored].content == "Ada is often late"


def test_the_answer_to_a_question_of_a_former_hub_is_dropped(hub, service, ids):
    with hub.visited(times=1) as guest:
        replayed(guest)
        guest.request("r", "tools/call", name="reflect", arguments={})
        question = json.loads(guest.hear(protocol.SERVER_REQUEST).payload)["id"]
        former = guest.send({"jsonrpc": "2.0", "id": question.replace("1-", "0-"), "result": thought(ids)})
        assert guest.hear().kind == protocol.NO_ANSWER
        strange = guest.send({"jsonrpc": "2.0", "id": 1, "result": {}})
        assert (guest.hear(protocol.NO_ANSWER).number, strange) == (former + 1, former + 1)
        guest.send({"jsonrpc": "2.0", "id": question, "error": {"code": -1, "message": "no"}})
        assert guest.answer()[1]["result"]["structuredContent"]["groups"]


def test_a_call_that_asked_and_is_cancelled_takes_its_question_back(hub, ids):
    with hub.visited() as guest:
        initialized(guest)
        number = guest.request("r", "tools/call", name="reflect", arguments={})
        question = guest.hear(protocol.SERVER_REQUEST).name
        guest.notify("notifications/cancelled", requestId="r")
        seen = [guest.hear() for _ in range(4)]
        assert {one.number for one in seen if one.kind == protocol.NO_ANSWER} == {number, number + 1}
        assert [one.name for one in seen if one.kind == protocol.SERVER_REQUEST_OVER] == [question]
        (taken,) = [json.loads(one.payload) for one in seen if one.kind == protocol.NOTIFICATION]
        assert (taken["method"], taken["params"]["requestId"]) == ("notifications/cancelled", question)


def reflect(guest, request_id, meta=THINKING, **more):
    guest.request(request_id, "tools/call", name="reflect", arguments={}, _meta=meta, **more)
    return guest.answer()[1]


def test_what_one_hub_asked_a_newer_client_the_next_one_understands(home, service, ids):
    with RealHub(home, service) as hub, hub.visited() as guest:
        asked = reflect(guest, 1)["result"]
    with RealHub(home, service) as hub, hub.visited(times=1) as guest:
        responses = dict.fromkeys(asked["inputRequests"], thought(ids))
        told = reflect(guest, 2, requestState=asked["requestState"], inputResponses=responses)
    (stored,) = told["result"]["structuredContent"]["stored"]
    assert service.memories[stored].parents == tuple(ids)


def test_what_another_stores_hub_sealed_is_refused(home, service, ids):
    with RealHub(home, service, key=b"o" * 32) as hub, hub.visited() as guest:
        asked = reflect(guest, 1)["result"]
    with RealHub(home, service) as hub, hub.visited(times=1) as guest:
        responses = dict.fromkeys(asked["inputRequests"], thought(ids))
        told = reflect(guest, 2, requestState=asked["requestState"], inputResponses=responses)
    assert told["error"]["code"] == -32602
