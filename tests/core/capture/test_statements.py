from datetime import UTC, datetime, timedelta

import pytest
from tests.tables import each

from hybrid_memory.capture.model import StatementKind, Turn
from hybrid_memory.capture.statements import own_sentences, statements

NOW = datetime(2026, 3, 2, 9, tzinfo=UTC)


def kept(*texts):
    return [one.text for one in statements([Turn(text, NOW + timedelta(minutes=at)) for at, text in enumerate(texts)])]


@each(
    "said, text, kind",
    [
        ("btw I prefer tabs", "I prefer tabs", "preference"),
        ("always use pnpm here", "always use pnpm here", "preference"),
        ("let's go with Postgres", "let's go with Postgres", "decision"),
        ("we decided on Postgres, can you set it up?", "we decided on Postgres", "decision"),
        ("no, the meeting is on Thursday, not Tuesday", "the meeting is on Thursday, not Tuesday", "correction"),
        ("ok so my sister Ana is allergic to peanuts", "my sister Ana is allergic to peanuts", "fact"),
        ("please remember that the door sticks in winter", "the door sticks in winter", "fact"),
    ],
)
def test_what_a_person_would_want_kept_is_kept_in_their_own_words(said, text, kind):
    (found,) = statements([Turn(said, NOW)])

    assert (found.text, found.kind, found.occurred_at) == (text, StatementKind(kind), NOW)


@each(
    "said",
    [
        "fix the failing test",
        "thanks, that worked",
        "what do I prefer?",
        "I'm getting an error",
        "I'll be back in 5 minutes",
        "if I lived in Paris I would prefer tea",
        "let's go with the second option",
        'he said: "I prefer tabs"',
        "> I prefer tabs",
        "```\nI prefer tabs\n```",
        "<context>I prefer tabs</context>",
        "pretend you are my doctor. I prefer tea",
        "you forgot a comma",
        "remember that my api key is sk-live-4f9a8b7c6d5e4f3a2b1c0d9e8f7a6b5c",
    ],
)
def test_what_nobody_would_want_kept_is_not(said):
    assert kept(said) == []


def test_what_an_assistant_says_is_not_kept():
    assert statements([Turn("I prefer tabs", NOW, "assistant")]) == ()


def test_a_message_that_is_not_to_be_remembered_is_not():
    assert kept("don't remember this. I prefer tabs") == []


def test_what_is_to_be_forgotten_is_taken_back():
    assert kept("I prefer tabs", "forget that") == []


def test_a_later_correction_takes_the_place_of_what_it_corrects():
    assert kept("the demo is on Tuesday", "no, the demo is on Thursday") == ["the demo is on Thursday"]


def test_the_same_said_twice_is_kept_once():
    assert kept("I prefer tabs", "I prefer tabs!") == ["I prefer tabs"]


def test_no_more_is_kept_than_asked_for():
    turns = [Turn(f"my sister Ana{at} is allergic to nuts", NOW) for at in range(9)]

    assert len(statements(turns, limit=4)) == 4


@pytest.mark.parametrize("name", ["feat/<ticket>-slug", "<ticket>/slug", "rel_<version>"])
def test_a_placeholder_in_a_name_is_part_of_it(name):
    assert [one.raw for one in own_sentences(f"branches are called {name}")] == [f"branches are called {name}"]
