"""A statement that a longer one contains is found, unless the longer one says something else."""

from hypothesis import given
from hypothesis import strategies as st
from tests.tables import each

from hybrid_memory_importers.longer_forms import LongerForms

SAID = ["anna", "lives", "in", "oslo", "with", "two", "old", "cats"]
WORDS = st.lists(st.sampled_from(SAID), min_size=2, max_size=9)


def contains(longer, shorter):
    forms = LongerForms()
    forms.add("it", shorter)
    return "it" in forms.contained_in(longer)


@each(
    "shorter, longer",
    [
        ("I live in Berlin", "I live in Berlin, in Neukölln, near the canal"),
        ("we use pnpm.", "For the shop we use pnpm and Node 22"),
        ("My wife is vegetarian", "My wife Hanna is vegetarian and allergic to hazelnuts"),
        ("Likes hiking", "likes hiking in the Alps"),
        ("ich wohne in Köln", "Ich wohne in Köln-Deutz"),
    ],
)
def test_the_longer_form_of_a_fact_contains_it(shorter, longer):
    assert contains(longer, shorter)


@each(
    "shorter, longer",
    [
        ("I live in Berlin", "I live in Berlin no longer"),
        ("I drink coffee", "I rarely drink coffee"),
        ("I live in Berlin", "I used to live in Berlin"),
        ("I like tea", "I like coffee more than tea"),
        ("My son is 6", "My son is 16 and plays chess"),
        ("We deploy on Fridays", "We never deploy on Fridays before noon"),
        ("We deploy", "if it is green We deploy"),
        ("Vegetarian", "Vegetarian since 2019"),
    ],
)
def test_what_says_something_else_contains_nothing(shorter, longer):
    assert not contains(longer, shorter)


@given(WORDS)
def test_nothing_contains_itself(words):
    assert not contains(" ".join(words), " ".join(words))


@given(WORDS, WORDS, WORDS)
def test_words_around_a_statement_are_a_longer_form_of_it(before, words, behind):
    assert contains(" ".join([*before, *words, *behind]), " ".join(words))
