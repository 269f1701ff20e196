"""What is known in every project: what people plainly say of themselves, never what belongs to the project."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.tables import each
from tools.fit_oneself import figures_of, lines, read_set

from hybrid_memory.capture.oneself import CALIBRATION, MODEL, is_about_oneself

SETS = Path(__file__).parents[2] / "data" / "oneself"


@each(
    "text",
    [
        "My sister Maria is allergic to peanuts",
        "The user's sister Maria is allergic to peanuts",
        "My name is Jo",
        "Call me Jo",
        "User is called Ada",
        "I live in Porto",
        "I am vegetarian",
        "I'm colour blind",
        "Answer in German, please",
        "I prefer tabs over spaces",
        "Ich wohne in Graz",
        "I'm a morning person",
        "I prefer short answers without emojis",
        "User prefers short answers",
        "Mi hija se llama Ana",
    ],
)
def test_what_one_plainly_tells_of_oneself_is_ones_own(text):
    assert is_about_oneself(text)


@each(
    "text",
    [
        "We use Terraform here",
        "I think we use Helm here",
        "the staging host is otter",
        "My API uses port 8080",
        "my client Acme is suing us",
        "I prefer Postgres for this service",
        "I decided to use Kafka",
        "use pnpm, not npm",
        "my service is allergic to restarts",
        "I work for Contoso on their merger",
        "my manager wants the migration by Friday",
        "I live in `~/src`",
        "我们用 Helm",
    ],
)
def test_what_one_tells_of_the_project_is_the_projects(text):
    assert not is_about_oneself(text)


@pytest.mark.parametrize("text", ["it's on Mondays now", "no, hazelnuts", "Ada lives in Porto with her husband"])
def test_what_is_unclear_is_the_projects(text):
    assert not is_about_oneself(text)


@each("text", ["Jag bor i Malmö", "Mieszkam w Krakowie", "Я живу в Казани", "저는 서울에 살아요"])
def test_a_language_that_was_not_learned_is_the_projects(text):
    assert not is_about_oneself(text)


@pytest.mark.parametrize("text", ["", "  ", "\n"])
def test_nothing_is_not_about_oneself(text):
    assert not is_about_oneself(text)


def test_a_long_pasted_text_is_the_projects():
    assert not is_about_oneself("I live in Porto. " * 40)


def test_a_text_of_several_lines_is_the_projects():
    assert not is_about_oneself("I live in Porto\nI live in Porto")


def test_one_sentence_about_the_project_makes_all_of_it_the_projects():
    assert not is_about_oneself("I live in Porto. The staging host is otter.")


@given(st.text(max_size=400))
def test_any_text_is_judged_and_always_the_same(text):
    assert is_about_oneself(text) is is_about_oneself(text)


@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=40))
def test_any_text_after_a_person_is_judged(text):
    assert is_about_oneself("I live in " + text) in (True, False)


def test_the_model_is_small():
    assert MODEL.stat().st_size < 100_000


@pytest.mark.daily
@pytest.mark.slow
def test_the_model_gives_the_figures_that_stand_beside_it():
    recorded = json.loads(CALIBRATION.read_text(encoding="utf-8"))["trained_on"]
    assert figures_of([(line.personal, line.text) for line in lines()]) == recorded


@pytest.mark.slow
@pytest.mark.daily
@pytest.mark.parametrize(
    ("name", "precision", "recall"), [("seen", 0.95, 0.66), ("unseen", 0.94, 0.63), ("everyday", 0.97, 0.66)]
)
def test_sentences_that_others_wrote_are_told_apart(name, precision, recall):
    found = figures_of([(personal, text) for personal, _, text in read_set(SETS / f"{name}.tsv")])
    assert found["precision"] >= precision
    assert found["recall"] >= recall
