"""The judge of histories of several hubs allows what is late, and nothing else."""

import pytest
from hypothesis import given
from tests.history.calls import Act, Call, Outcome
from tests.history.several_hubs import TimedRecorder, faults_over_hubs
from tests.history.simulation import histories

pytestmark = pytest.mark.tools
LATE = 2.0


def call(client, act, start, end, word="", seen=()):
    return Call(client=client, act=act, place="topic", word=word, start=start, end=end, outcome=Outcome.OK, seen=seen)


def judged(*calls):
    """Judge calls at whose places in the order that many seconds have gone by."""
    return faults_over_hubs(calls, [float(number) for number in range(100)], lambda client: client[0], LATE)


WRITTEN = call("a1", Act.WRITE, 10, 11, "x")


def test_another_hub_may_see_a_write_a_little_later():
    assert judged(WRITTEN, call("b1", Act.READ, 12, 13)) == []
    assert judged(WRITTEN, call("b1", Act.READ, 12, 13, seen=("x",))) == []


def test_not_so_late():
    assert judged(WRITTEN, call("b1", Act.READ, 14, 15))


def test_the_own_hub_sees_it_at_once():
    assert judged(WRITTEN, call("a2", Act.READ, 12, 13))


def test_what_another_hub_has_seen_it_goes_on_to_see():
    assert judged(WRITTEN, call("b1", Act.READ, 12, 13, seen=("x",)), call("b2", Act.READ, 14, 15))


def test_what_was_never_written_is_a_fault_however_late():
    assert judged(call("b1", Act.READ, 12, 13, seen=("x",)))


def test_a_write_in_one_hub_that_is_doubled_in_another_is_a_fault():
    assert judged(WRITTEN, call("b1", Act.READ, 20, 21, seen=("x", "x")))


@given(histories())
def test_what_is_right_in_one_hub_is_right_in_several(history):
    times = [float(number) for number in range(2 + 2 * len(history) + 2)]
    assert faults_over_hubs(history, times, lambda client: client, LATE) == []


def test_a_record_has_the_time_of_every_place():
    seconds = iter([1.5, 2.5, 3.5])
    recorder = TimedRecorder(lambda: next(seconds))
    first = recorder.begin("a", Act.WRITE, "topic", "x")
    recorder.begin("b", Act.READ, "topic")
    recorder.end(first)
    (done, _) = recorder.history()
    assert (recorder.times[done.start], recorder.times[done.end]) == (1.5, 3.5)
