"""Which request is which line, and how many are at work."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp.types import JSONRPCRequest

from hybrid_memory_mcp.hub.client import LISTEN, QueuedRequest, RequestQueue


def request(request_id, method="ping"):
    return JSONRPCRequest(jsonrpc="2.0", id=request_id, method=method)


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("enter"), st.integers(1, 4), st.sampled_from(["ping", LISTEN])),
        st.tuples(st.just("leave"), st.integers(1, 5)),
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
        if what == "enter":
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
