import math
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.tables import each

from hybrid_memory.errors import InvalidInput
from hybrid_memory.model import Kind
from hybrid_memory.tiers.importance import heuristic_importance

kinds = st.sampled_from(list(Kind))


@given(st.text(), kinds, st.timedeltas(timedelta(-10), timedelta(10_000)))
def test_importance_lies_between_0_and_1(text, kind, age):
    assert 0 <= heuristic_importance(text, kind=kind, age=age) <= 1


@given(st.text(), st.floats(0, 1), kinds)
def test_an_explicit_value_wins(text, value, kind):
    assert heuristic_importance(text, explicit=value, kind=kind) == value


@pytest.mark.parametrize("wrong", [-0.1, 1.1, math.nan])
def test_an_explicit_value_out_of_range_is_refused(wrong):
    with pytest.raises(InvalidInput, match="importance"):
        heuristic_importance("x", explicit=wrong)


@given(st.text(), st.timedeltas(timedelta(0), timedelta(1000)), st.timedeltas(timedelta(0), timedelta(1000)))
def test_older_is_never_more_important(text, first, second):
    young, old = sorted((first, second))
    assert heuristic_importance(text, age=old) <= heuristic_importance(text, age=young)


@given(st.text(), st.timedeltas(timedelta(0), timedelta(1000)))
def test_a_directive_never_makes_it_less_important(text, age):
    assert heuristic_importance(f"{text}\nAlways remember this.", age=age) >= heuristic_importance(text, age=age)


@each(
    "more, less",
    [
        ("I am allergic to peanuts", "the bus was green"),
        ("Never deploy on a Friday", "they deployed something"),
        ("We decided to use DuckDB", "there is some database"),
        ("I prefer tabs over spaces", "do you prefer tabs over spaces?"),
        ("My name is Maria", "a name"),
        ("the meeting with Anna is on 2026-03-04", "the meeting is soon"),
        ("会议在2026年3月4日", "会议很快"),
        ("I was devastated when she left", "she left"),
        ("something was said", "thanks, bye!"),
        ("something was said", "..."),
        ("Wo wohnt er jetzt", "Wo wohnt er jetzt?"),
        ("أين ذهب", "أين ذهب\u061f"),
        ("他去哪了", "他去哪了\uff1f"),
    ],
)
def test_what_matters_later_counts_more(more, less):
    assert heuristic_importance(more) > heuristic_importance(less)


@pytest.mark.parametrize("kind", [Kind.TASK, Kind.SUMMARY, Kind.INSIGHT])
def test_a_thought_counts_more_than_an_observation(kind):
    assert heuristic_importance("it was said", kind=kind) > heuristic_importance("it was said")
