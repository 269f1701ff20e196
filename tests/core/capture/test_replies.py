"""A reply to a question of the assistant is also judged behind that question, which is not kept."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.core.capture.test_gate import PASTED, sure_of
from tools.fit_replies import FULL, HERE, SHORT, read

from hybrid_memory.capture.gate import load_gate
from hybrid_memory.capture.model import Turn
from hybrid_memory.capture.replies import question_of
from hybrid_memory.capture.statements import statements
from hybrid_memory.embedding.universal import load_encoder

NOW = datetime(2026, 3, 2, 9, tzinfo=UTC)
HELD = Path(__file__).parents[2] / "data" / "replies" / "held.jsonl"


@pytest.fixture(scope="module")
def gate(universal_cache):
    return load_gate(load_encoder(universal_cache).meanings)


def told(reply, answers, gate):
    """What is kept of a reply, and what of it was said in passing."""
    said = statements([Turn(reply, NOW, answers=answers)], fragments=True, gate=gate, episodes=True)
    return [one.text for one in said if not one.episode], [one.text for one in said if one.episode]


def sure_of_replies(chance, alone=0.1):
    """A gate that gives each reply to a question one chance."""
    return replace(sure_of(alone), replies=np.array([0, 0, 0, np.log(chance / (1 - chance))], np.float32))


@pytest.mark.parametrize(
    ("answers", "question"),
    [
        ("Got it. What's she called?", "What's she called?"),
        ("Wie heißt sie?\n", "Wie heißt sie?"),
        ("她叫什么名字？", "她叫什么名字?"),
        ("Shall I? I would start with the roof.", ""),
        ("Done.", ""),
        ("", ""),
        ("x " * 200 + "?", ""),
        ("## Summary\n\n- fixed the parser\n\nWhich database is it?", "Which database is it?"),
        ("**What's her name?**", "What's her name?"),
        ("What's her name? 🐶", "What's her name?"),
        ("- „Wie heißt sie?“", "Wie heißt sie?"),
        ("ما اسم كلبك؟", "ما اسم كلبك?"),
        ("What's the wifi password?", ""),
        ("What's the PIN of your card?", ""),
        ("Wie lautet das Passwort?", ""),
    ],
)
def test_what_is_asked_is_what_the_assistant_said_last(answers, question):
    assert question_of(answers) == question


@given(st.text(max_size=400))
def test_of_any_answer_a_question_is_one_line_that_asks(answers):
    question = question_of(answers)
    assert question == "" or (question.endswith("?") and "\n" not in question and len(question) <= 301)


def test_a_reply_is_kept_where_it_is_worth_it_behind_its_question():
    reply = "the green one by the canal"
    assert told(reply, "Which house is yours?", sure_of_replies(0.7))[0] == [reply]
    assert told(reply, "Which house is yours?", sure_of_replies(0.5))[0] == []
    assert told(reply, "Nice houses there.", sure_of_replies(0.7))[0] == []


def test_what_is_worth_keeping_alone_is_kept_behind_any_question():
    reply = "our kiln fires on Thursdays"
    assert told(reply, "Shall I commit this?", sure_of_replies(0.01, alone=0.7))[0] == [reply]


def test_of_what_was_asked_nothing_is_kept():
    kept, _ = told("postgres 15", "I use pnpm instead of npm, and which database do you use?", sure_of_replies(0.9))
    assert kept == ["postgres 15"]


def test_beside_somebody_elses_words_the_question_does_not_count():
    reply = f"Is this right?\n{PASTED}"
    gate = replace(sure_of(0.1, pasted=0.4), replies=sure_of_replies(0.99).replies)
    assert told(reply, "What does the note say?", gate) == ([], [])


def test_after_words_that_announce_somebody_elses_the_question_does_not_count():
    reply = "the green one by the canal"
    turn = Turn(reply, NOW, answers="Which house is yours?")
    assert statements([turn], gate=sure_of_replies(0.95), announced=True) == ()
    assert [one.text for one in statements([turn], gate=sure_of_replies(0.95))] == [reply]


@pytest.mark.parametrize(
    ("answers", "reply", "is_kept"),
    [
        ("Noted. How many children do you have?", "four girls", True),
        ("For how many shall I scale tonight's soup?", "four girls", False),
        ("Which database does the project run on?", "postgres 15", True),
        ("Which tab are you looking at?", "postgres 15", False),
    ],
)
def test_the_same_words_are_kept_or_not_by_what_was_asked(answers, reply, is_kept, gate):
    assert bool(told(reply, answers, gate)[0]) is is_kept


@pytest.mark.parametrize(
    "fact", ["I live in Graz now", "we deploy with ansible", "ich wohne in Köln", "I have two kids"]
)
def test_a_fact_that_passes_over_a_question_is_kept(fact, gate):
    assert told(fact, "Shall I commit this?", gate)[0] == [fact]


@pytest.mark.daily
@pytest.mark.slow
def test_replies_that_nothing_was_fitted_on_are_kept_as_published(gate):
    replies = read([HELD])
    kept = [bool(told(one.text, one.answers, gate)[0]) for one in replies]
    right = sum(called and one.kept for called, one in zip(kept, replies, strict=True))
    assert right / sum(kept) > 0.7
    assert right / sum(one.kept for one in replies) > 0.78


def test_nothing_was_fitted_on_the_replies_that_judge_it():
    learned = read(path for name in (*FULL, SHORT) for path in (HERE / name).glob("*.jsonl"))
    assert {(one.answers, one.text) for one in learned}.isdisjoint((one.answers, one.text) for one in read([HELD]))
