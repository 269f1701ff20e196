"""The judge of histories is judged: it finds nothing in right ones, and every fault that is planted."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.history.calls import Act, Call, Outcome, Recorder, from_json, to_json
from tests.history.checker import faults
from tests.history.simulation import FAULT_MAKERS, histories
from tests.stress.cases import CORPUS

pytestmark = pytest.mark.tools


def call(act, start, end, word="", seen=(), outcome=Outcome.OK):
    place = "list" if act in (Act.APPEND, Act.READ_LIST) else "topic"
    return Call(client="a", act=act, place=place, word=word, start=start, end=end, outcome=outcome, seen=seen)


@settings(max_examples=60, deadline=None)
@given(histories())
def test_a_history_of_a_right_memory_has_no_faults(history):
    assert faults(history) == []


@pytest.mark.parametrize("plant", FAULT_MAKERS, ids=lambda plant: plant.__name__)
@settings(
    max_examples=8, deadline=None, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.data_too_large]
)
@given(data=st.data(), history=histories())
def test_a_planted_fault_is_found(plant, data, history):
    assert faults(plant(data.draw, history))


@settings(max_examples=15, deadline=None)
@given(histories())
def test_a_history_can_be_kept_as_json(history):
    assert from_json(to_json(history)) == history


def test_two_appends_at_once_may_have_come_in_either_order():
    both = [call(Act.APPEND, 1, 4, "x"), call(Act.APPEND, 2, 3, "y")]
    for order in (("x", "y"), ("y", "x")):
        assert faults([*both, call(Act.READ_LIST, 5, 6, seen=order)]) == []


def test_appends_one_after_the_other_have_one_order():
    both = [call(Act.APPEND, 1, 2, "x"), call(Act.APPEND, 3, 4, "y")]
    assert faults([*both, call(Act.READ_LIST, 5, 6, seen=("y", "x"))])


def test_a_write_without_an_answer_may_come_late_or_never():
    write = call(Act.WRITE, 1, None, "x", outcome=Outcome.UNKNOWN)
    before = call(Act.READ, 2, 3)
    assert faults([write, before, call(Act.READ, 4, 5)]) == []
    assert faults([write, before, call(Act.READ, 4, 5, seen=("x",))]) == []


def test_what_was_seen_stays_even_if_its_write_was_never_answered():
    write = call(Act.WRITE, 1, None, "x", outcome=Outcome.UNKNOWN)
    assert faults([write, call(Act.READ, 2, 3, seen=("x",)), call(Act.READ, 4, 5)])


def test_a_fault_says_what_was_lost_and_who_missed_it():
    (told,) = faults([call(Act.WRITE, 1, 2, "x"), call(Act.READ, 3, 4)])
    assert told == "x in topic: acknowledged at 2, not seen by a at 3"


def test_a_call_that_ends_is_one_call_of_the_record():
    recorder = Recorder()
    open_call = recorder.begin("a", Act.WRITE, "topic", "x")
    answered = recorder.begin("b", Act.READ, "topic")
    recorder.end(answered, Outcome.OK, ["x"])
    first, second = recorder.history()
    assert (first, first.outcome) == (open_call, Outcome.UNKNOWN)
    assert (second.client, second.seen, second.end) == ("b", ("x",), 3)


@pytest.mark.parametrize("case", sorted(CORPUS.glob("history-*.json")), ids=lambda path: path.stem)
def test_a_kept_history_is_judged_as_its_name_says(case):
    assert (faults(from_json(case.read_text(encoding="utf-8"))) == []) is case.name.startswith("history-right-")
