"""Pairs of statements of one person: which of them take the other's place, and which only look so."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.tables import each

from hybrid_memory.capture.replacing import Corrected, corrected

LOOK_ALIKE = [
    ("I prefer tea in the morning", "I prefer coffee after lunch"),
    ("I like jazz", "I like rock"),
    ("I like jazz", "I like rock now"),
    ("I prefer tea", "I prefer trains"),
    ("I prefer tabs", "I prefer coffee"),
    ("I prefer tabs in Go", "I prefer spaces in Python"),
    ("I prefer tabs", "I prefer spaces in Python"),
    ("I use tabs", "we use spaces"),
    ("I prefer npm for work", "I prefer pnpm at home"),
    ("We use Postgres for orders", "We use MySQL for billing"),
    ("We use Postgres", "We use Redis now"),
    ("We use Postgres", "We use MySQL"),
    ("We use Postgres 15 in production", "We use Postgres 16 in staging now"),
    ("The deploy is on Tuesday", "The demo is on Thursday"),
    ("The deploy of the shop is on Tuesday", "The deploy of the blog is on Thursday"),
    ("The deploy is on Tuesday for staging", "The deploy is on Thursday for production"),
    ("The deploy is on Tuesday", "The deploy is at 10:30"),
    ("The deploy is on Tuesday", "The deploy is also on Thursday"),
    ("The deploy is on Tuesday", "The deploy is in Berlin"),
    ("The meeting with Acme is on Monday", "The meeting with Bolt is on Wednesday"),
    ("I have a meeting on Monday", "I have a meeting on Thursday"),
    ("My exam is on Monday", "My exam is on Friday"),
    ("My flight to Rome is on Monday", "My flight home is on Friday"),
    ("My flight is on Monday", "Her flight is on Friday"),
    ("My name is Jon", "My sister's name is Joan"),
    ("My name is Jon", "Call me Jonny"),
    ("My first name is Jon", "My last name is Smith"),
    ("My sister is Nora", "My sister is Ana"),
    ("My dog is Rex", "My dog is Bruno"),
    ("My boss is Henrik", "My old boss is Petra"),
    ("My boss is Henrik", "My boss is German"),
    ("My boss is Henrik", "My boss is on holiday"),
    ("My boss is Henrik", "Ana's boss is Petra"),
    ("My wife is Anna", "My wife is Brazilian"),
    ("My sister Nora lives in Graz", "My sister Ana lives in Linz"),
    ("My sister Nora lives in Graz", "My sister Nora works in Linz"),
    ("My sister Nora lives in Graz", "I moved to Linz"),
    ("I live in Graz", "Nora moved to Linz"),
    ("I live in Graz", "My parents live in Linz"),
    ("I live in Germany", "I live in Berlin"),
    ("I live in Berlin", "I live in a small flat"),
    ("I live in Berlin", "I moved to Neovim"),
    ("Tom Baker lives in Oslo", "Tom lives in Rome"),
    ("I work for Ana", "I work for Bosch"),
    ("Call me Sam", "Call me Dr. Lee at work"),
    ("The exam is in June", "The exam is in German"),
    ("The app is in Rust", "The app is in Berlin"),
    ("I live in Berlin", "We moved to Kubernetes"),
    ("I live in Berlin", "I live in Lisbon in winter"),
    ("I live in Berlin with my wife Anna", "I live in Hamburg"),
    ("I work at Siemens", "I work at night"),
    ("I work at Siemens", "I work at Bosch on Fridays"),
    ("I work at Siemens", "My wife works at Bosch now"),
    ("I work at Siemens as a nurse", "I work at Bosch now"),
    ("I'm vegetarian", "My son eats meat again now"),
    ("I'm vegetarian", "I eat fish at Christmas"),
    ("I'm vegetarian", "I'm left-handed"),
    ("The staging server is at stage.example.org", "The production server is at prod.example.org"),
    ("The staging server is at stage.example.org", "The new staging server is at stage2.example.org"),
    ("The staging server is at stage.example.org", "The staging server is on Ubuntu 24.04 now"),
    ("The server is at a.example.org", "The server is at b.example.org"),
    ("The deadline for the report is March 3rd", "The deadline for the slides is March 10th"),
    ("The report is 30 pages", "The report is due on March 3rd"),
    ("My son is 7", "My son is 9"),
    ("My email is a@work.example", "My private email is b@home.example"),
    ("My favourite band is Blur", "My favourite book is Dune"),
    ("We deploy on Fridays", "We deploy on Mondays"),
    ("We deploy on Fridays", "We meet on Mondays now"),
    ("We decided to use Kafka", "We no longer use Jenkins"),
    ("We run Kafka on three nodes", "Scratch Kafka, we use Redis Streams now"),
    ("We decided to use Kafka", "Nora no longer uses Kafka"),
    ("I eat fish", "My sister stopped eating fish"),
    ("Please answer in German when I write German", "Please answer in English"),
    ("Our office is in Berlin", "Our office is closed on Fridays now"),
    ("My sister is a nurse", "My sister is not allergic to nuts"),
    ("Our retro meeting is on Tuesday", "our sprint meeting is on Thursday, not Tuesday"),
]
REPLACED = [
    ("The deploy is on Tuesday", "The deploy is on Thursday"),
    ("The deploy is on Tuesday.", "Actually the deploy is on Thursday."),
    ("My name is Jon", "my name is John with h"),
    ("My name is Jon", "My name is John"),
    ("I live in Berlin", "I moved to Hamburg"),
    ("I live in Berlin", "I live in Hamburg now"),
    ("We deploy on Fridays", "We no longer deploy on Fridays, we deploy on Mondays"),
    ("We deploy on Fridays", "We deploy on Mondays now"),
    ("I prefer npm", "I prefer pnpm"),
    ("I always use tabs", "I use spaces"),
    ("The meeting with Acme is on Monday", "the meeting with Acme is on Wednesday"),
    ("We decided to use Kafka", "Scratch Kafka, we use Redis Streams now"),
    ("I'm vegetarian", "I eat meat again now"),
    ("I'm vegan", "I'm no longer vegan"),
    ("The staging server is at stage.example.org", "the staging server is at stage2.example.org"),
    ("I work at Siemens", "I quit Siemens, I work at Bosch now"),
    ("I work at Siemens", "I work at Bosch now"),
    ("My boss is Henrik", "My new boss is Petra"),
    ("Please always answer in German", "Please answer in English from now on"),
    ("Deadline is March 3rd for the report", "The report deadline moved to March 10th"),
    ("My favourite band is Blur", "My favourite band is Pulp"),
    ("The budget is 4,000 euros", "the budget is 4,500 euros"),
    ("we use Redis for the job queue", "we decided to drop Redis for the job queue"),
    ("I like jazz", "I no longer like jazz"),
    ("call me Sam", "call me Jo"),
]
EXCHANGED = [
    (
        "We decided to use Postgres 15 for the orders service",
        "it's Postgres 16, not 15",
        "We decided to use Postgres 16 for the orders service",
    ),
    ("We use Postgres 15 in production", "it's not Postgres 15, it's 16 now", "We use Postgres 16 in production"),
    ("My sister Nora lives in Graz", "Nora moved to Linz", "My sister Nora lives in Linz"),
    ("I am getting married on the 12th", "it's the 19th, not the 12th", "I am getting married on the 19th"),
    ("We fly to Porto in May", "I meant Lisbon, not Porto", "We fly to Lisbon in May"),
    (
        "We decided to use Kafka for the event bus",
        "Scratch Kafka, we use Redis Streams now",
        "We decided to use Redis Streams for the event bus",
    ),
]


@each("one, other", LOOK_ALIKE)
def test_what_only_looks_alike_takes_no_place(one, other):
    assert (corrected(other, [one]), corrected(one, [other])) == (None, None)


@each("before, after", REPLACED)
def test_another_value_of_the_same_thing_takes_the_place(before, after):
    found = corrected(after, [before])

    assert found is not None
    assert (found.place, found.text) == (0, after)


@each("before, after, holds", EXCHANGED)
def test_a_correction_leaves_what_it_does_not_speak_of(before, after, holds):
    found = corrected(after, [before])

    assert found is not None
    assert found.text == holds


@each("before, after", REPLACED)
def test_a_correction_finds_what_it_corrects_among_others(before, after):
    others = [one for one, _ in LOOK_ALIKE if corrected(after, [one]) is None]
    found = corrected(after, [*others, before, *others])

    assert found is not None
    assert found.place == len(others)


def test_a_value_that_says_less_takes_no_place():
    assert corrected("My name is Jon", ["My name is Jon Smith"]) is None


def test_a_fragment_that_may_mean_two_things_means_none():
    assert corrected("it's Postgres 16, not 15", ["We use Postgres 15 for a", "We use Postgres 15 for b"]) is None


_PIECES = st.sampled_from(
    [*" ,.;:!'", "I", "we", "my", "the", "is", "not", "it's", "use", "tabs", "spaces", "now", "boss", "no longer", "15"]
)


@given(st.lists(_PIECES, max_size=14).map(" ".join), st.lists(_PIECES, max_size=14).map(" ".join))
def test_nothing_takes_the_place_of_itself_and_nothing_fails(one, other):
    assert corrected(one, [one]) is None
    corrected(other, [one])


@given(st.sampled_from(REPLACED), st.sampled_from(["with Ana", "at the harbour", "for the twins", "under protest"]))
def test_what_says_more_than_the_new_statement_is_never_lost(pair, more):
    before, after = pair
    found = corrected(after, [f"{before.rstrip('.')} {more}"])

    assert found is None or more in found.text


@pytest.mark.parametrize(
    ("earlier", "text"),
    [
        ("I prefer tabs over spaces.", "I prefer spaces over tabs"),
        ("We prefer npm to pnpm", "we now prefer pnpm to npm"),
        ("I like tea more than coffee", "I like coffee more than tea"),
    ],
)
def test_a_preference_that_is_turned_round_replaces_the_former(earlier, text):
    assert corrected(text, [earlier]) == Corrected(0, text)
    assert corrected(earlier.lower(), [earlier]) is None
