"""What a question says by its words alone."""

from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st
from tests.tables import each

from hybrid_memory.embedding.vocabulary import UNLISTED
from hybrid_memory.retrieval.question import WordForm, parse_question
from hybrid_memory.testing import HASHER

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)


def word(text, wanted):
    (term,) = HASHER.terms(wanted)
    return next(one for one in parse_question(text, NOW, HASHER).words if one.term == term)


@given(st.text(max_size=60))
def test_any_text_is_a_question(text):
    question = parse_question(text, NOW, HASHER)
    assert 0 <= question.known_share <= 1
    assert len(set(question.terms)) == len(question.words)


@each(
    "text, wanted, form",
    [
        ("Who is Ada's dentist?", "Ada", WordForm.NAME),
        ("Who is Ada's dentist?", "dentist", WordForm.PLAIN),
        ("Heron: what is left to do?", "heron", WordForm.UNDECIDED),
        ("who is ada's dentist?", "ada", WordForm.PLAIN),
        ("Is BUG-412 fixed?", "412", WordForm.NAME),
        ("Who owns src/router.py?", "router", WordForm.NAME),
        ("What runs on port 8080?", "8080", WordForm.NAME),
        ("What was decided in 2024?", "2024", WordForm.PLAIN),
        ("Have we got 12 chairs?", "12", WordForm.DIGITS),
        ("What did we do in March?", "march", WordForm.PLAIN),
    ],
)
def test_how_a_word_is_written_tells_whether_it_may_be_a_name(text, wanted, form):
    assert word(text, wanted).form is form


def test_a_word_that_is_said_again_is_counted():
    assert word("the garden, is the garden wet?", "garden").count == 2


def test_words_of_a_time_that_is_understood_are_told_apart():
    text = "What did we say last week about Heron?"
    assert word(text, "week").in_time
    assert not word(text, "heron").in_time


def test_a_word_that_also_stands_outside_the_time_is_no_time_word():
    assert not word("Which week was the festival week, last week?", "week").in_time


def test_a_common_word_comes_before_a_rare_one():
    assert word("a house with a gazebo", "house").rank < word("a house with a gazebo", "gazebo").rank


def test_a_word_that_english_does_not_know_is_unlisted():
    assert word("Where is Zwinglikirche?", "zwinglikirche").rank == UNLISTED


def test_a_word_of_another_script_has_no_rank():
    assert parse_question("牙医", NOW, HASHER).words[0].rank is None


@each(
    "text, least, most",
    [
        ("Who is Ada's dentist?", 0.9, 1),
        ("Wer ist Adas Zahnarzt?", 0, 0.35),
        ("¿Cuándo es la cita con el médico?", 0, 0.5),
        ("艾达的牙医是谁？", 0, 0),
        ("", 1, 1),
    ],
)
def test_how_much_of_it_the_english_vocabulary_knows(text, least, most):
    assert least <= parse_question(text, NOW, HASHER).known_share <= most
