from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.core.capture.test_hostile_turns import PIECES

from hybrid_memory.capture.telling import told

NOW = datetime(2026, 3, 2, 9, tzinfo=UTC)


def texts(message):
    return [one.text for one in told(message, NOW).statements]


@pytest.mark.parametrize(
    "fact",
    [
        "My piano teacher, Mrs. Okoye, wants me to practice daily",
        "I read about 40 books a year",
        "I run a small podcast about chess",
        "I don't eat pork",
        "I can't eat gluten because of celiac disease",
        "For breakfast I always have porridge",
        "Last summer we cycled from Vienna to Budapest",
        "The dog is afraid of thunder",
        "the staging db listens on port 5433",
        "Elena handles payroll",
        "Nobody in our house eats mushrooms",
        "There's no elevator in our building",
        "It's our 10th anniversary in June",
        "I'm single",
        "Marcus is my team lead",
        "born in 1987 in Porto",
        "ich vertrage keine Laktose",
        "j'ai deux enfants",
        "tenho um cão chamado Bobi",
        "私は東京で働いています",
    ],
)
def test_what_one_tells_of_oneself_and_ones_own_is_told(fact):
    assert texts(fact) == [fact]


@pytest.mark.parametrize(
    "other",
    [
        "I read the docs.",
        "I run it and nothing happens.",
        "I set x to 3.",
        "I have three variables.",
        "I'm writing an essay about Hamlet.",
        "We are given a triangle ABC.",
        "The output is 42.",
        "The table has 5 columns.",
        "Paris is the capital of France.",
        "Photosynthesis is the process by which plants make sugar.",
        "There's a typo in line 3.",
        "You are a senior developer.",
        "I wonder how birds navigate.",
        "ich brauche ein Gedicht",
        "je voudrais une recette",
        "我想知道怎么做",
    ],
)
def test_what_is_said_of_the_task_is_not(other):
    assert texts(other) == []


def test_lines_about_oneself_are_told_where_one_introduces_oneself():
    message = "Some details about me:\n- Name: Ada Fern\n- Age: 34\n- Allergies: peanuts\n\nMake me a meal plan."
    assert texts(message) == ["Name: Ada Fern", "Age: 34", "Allergies: peanuts"]


def test_the_same_lines_in_somebodys_form_are_not():
    assert texts("Fill in the form:\nName: Ada Fern\nAge: 34") == []


def test_who_did_something_together_stays_in_the_statement():
    assert texts("my sister and i decided to sell our parents house in Dayton. what paperwork do we need") == [
        "my sister and i decided to sell our parents house in Dayton"
    ]


def test_a_story_is_left_out_whole_and_says_why():
    found = told("In my novel my brother is a pirate. I live in Graz.", NOW)
    assert (found.statements, found.reason) == ((), "a story, a role, or not to be remembered")


def test_a_pasted_mail_is_left_out_whole_and_says_why():
    found = told("From: Ada\nTo: Bo\nSubject: Rome\n\nI live in Rome.", NOW)
    assert (found.statements, found.reason) == ((), "pasted: a letter or mail")


@pytest.mark.parametrize("piece", PIECES)
def test_a_hundred_thousand_characters_of_anything_are_read_at_once(piece):
    text = piece * (100_000 // len(piece))

    told(text, NOW)  # the tests' own limit of time fails what is not linear
    told(f"My dentist is {text}", NOW)


@settings(max_examples=60)
@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=8), max_size=60).map("".join))
def test_whatever_is_said_only_its_own_words_are_told(text):
    found = told(text, NOW)
    for one in found.statements:
        assert one.text.strip() == one.text
        assert 0 < len(one.text) <= 300
    assert bool(found.statements) is not bool(found.reason)
    assert told(text, NOW) == found
