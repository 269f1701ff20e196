from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.tables import each

from hybrid_memory.ids import (
    ID_LENGTH,
    LONGEST_ID,
    as_id,
    id_of,
    is_id,
    is_unnamed_session,
    new_id,
    new_session,
    pair_draw,
)
from hybrid_memory.testing import START, FakeRandomSource


def test_an_id_is_20_characters_that_need_no_quoting():
    made = new_id(START, FakeRandomSource())
    assert len(made) == ID_LENGTH == 20
    assert made.isalnum()
    assert made == made.lower()


def test_every_id_that_this_program_makes_is_one():
    assert is_id(new_id(START, FakeRandomSource()))
    assert is_id(id_of("any text\n"))


@each("given_", ["m1", "A.b_c:d-9", "550e8400-e29b-41d4-a716-446655440000", "x" * LONGEST_ID])
def test_ids_that_others_may_have_made_are_ids(given_):
    assert as_id(given_) == given_


@each(
    "given_",
    [
        "",
        "x" * (LONGEST_ID + 1),
        "a\n",
        "a b",
        '"',
        "<b>",
        "a\0",
        "\x1b[31m",
        "ä",
        "a\u202eb",
        "/",
        "`",
        None,
        7,
        ["m1"],
    ],
)
def test_what_could_say_something_outside_quotes_is_no_id(given_):
    assert not is_id(given_)
    with pytest.raises(ValueError, match="no id"):
        as_id(given_)


@given(st.integers(1, 10**9), st.integers(), st.integers())
def test_a_later_id_sorts_after_an_earlier_one(milliseconds, first, second):
    early = new_id(START, FakeRandomSource(first))
    late = new_id(START + timedelta(milliseconds=milliseconds), FakeRandomSource(second))
    assert early < late


def test_ids_of_the_same_moment_differ():
    random_source = FakeRandomSource()
    assert len({new_id(START, random_source) for _ in range(1000)}) == 1000


def test_a_session_that_nobody_named_can_be_told():
    assert is_unnamed_session(new_session(FakeRandomSource()))
    assert not is_unnamed_session("holiday planning")
    assert not is_unnamed_session("s-something-else")


@given(st.text(), st.text())
def test_a_draw_depends_on_the_pair_alone(first, second):
    assert 0 <= pair_draw(first, second) < 1
    assert pair_draw(first, second) == pair_draw(first, second)


def test_draws_are_spread_evenly():
    draws = [pair_draw(str(n), str(n + 1)) for n in range(2000)]
    assert abs(sum(draws) / len(draws) - 0.5) < 0.03
