from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.core.capture.test_gate import CHECK, sure_of
from tests.core.capture.test_hostile_turns import PIECES
from tests.tables import each
from tools.fit_gate import figures, read

from hybrid_memory.capture.gate import load_gate
from hybrid_memory.embedding.universal import load_encoder
from hybrid_memory_importers.told_statements import chances, told

NOW = datetime(2026, 3, 2, 9, tzinfo=UTC)


def texts(message):
    return [one.text for one in told(message, NOW).statements]


@each(
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


@each(
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


@each("piece", PIECES)
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


def judged(message, gate):
    (let,) = chances([message], gate)
    return [one.text for one in told(message, NOW, let=let).statements]


def test_what_looks_like_a_task_is_told_where_it_is_likely_worth_keeping():
    message = "I finished the half marathon in 1:52! Thanks for all the help"
    assert (texts(message), judged(message, sure_of(0.2))) == ([], [])
    assert judged(message, sure_of(0.4))[0] == "I finished the half marathon in 1:52"


def test_what_would_not_even_be_kept_as_said_in_passing_is_not_told():
    assert texts("The dog is afraid of thunder.") == judged("The dog is afraid of thunder.", sure_of(0.1)) != []
    assert judged("The dog is afraid of thunder.", sure_of(0.04)) == []


def test_a_correction_is_told_however_unlikely_it_is():
    assert judged("no, the meeting is on Friday", sure_of(0.01)) == texts("no, the meeting is on Friday") != []


def test_questions_are_not_told_however_likely():
    assert judged("why is the build so slow?", sure_of(0.99)) == []


def test_a_message_beside_somebody_elses_words_has_to_be_surer():
    pasted = "the boiler is serviced by Kranz\nI finished the painting\nbins go out on Tuesday night"
    assert "I finished the painting" not in judged(pasted, sure_of(0.8))


def test_what_is_to_be_done_instead_stays_with_what_is_not():
    assert judged("We don't use alpine. Use debian slim.", sure_of(0.8)) == ["We don't use alpine. Use debian slim"]
    assert len(judged("We moved to Kafka. Give me three topics for it.", sure_of(0.8))) > 1


def test_what_happens_there_stays_with_where_that_is():
    assert texts("We are moving to Hamburg in June. My sister Julia lives there.") == [
        "We are moving to Hamburg in June. My sister Julia lives there"
    ]


@pytest.mark.slow
def test_messages_are_judged_together_as_each_alone(universal_cache):
    gate = load_gate(load_encoder(universal_cache).meanings)
    messages = ["I got the job at Siemens! I start on May 1.", "why?", "the kiln only fires on Thursdays"]
    first, none, second = chances(messages, gate)
    assert none is None
    for one, message in ((first, messages[0]), (second, messages[2])):
        (alone,) = chances([message], gate)
        assert [each.chance for each in one.of.values()] == pytest.approx([each.chance for each in alone.of.values()])


@pytest.mark.daily
@pytest.mark.slow
@pytest.mark.timeout(300)
def test_of_strangers_messages_most_that_come_in_are_worth_it_and_few_are_missed(universal_cache):
    messages = read(sorted(CHECK.glob("*.jsonl")))
    let = chances([one.text for one in messages], load_gate(load_encoder(universal_cache).meanings))
    called = np.array([bool(told(one.text, NOW, let=each).all) for one, each in zip(messages, let, strict=True)])
    found = figures(called, np.array([bool(one.marked) for one in messages]))
    assert (found["precision"] > 0.55, found["recall"] > 0.93) == (True, True)
