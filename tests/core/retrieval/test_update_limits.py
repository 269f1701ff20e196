"""What only looks like a later word on something: another thing, not so, not in force. Silence is right there."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hybrid_memory.retrieval.update_limits import not_in_force, parts_of
from hybrid_memory.retrieval.update_words import Statement
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.core.retrieval.test_update_detection import CROWD, asked, first, newer, noted

OTHER = [
    ("Where does Nora work?", "Nora works at Siemens as a fitter.", "Nora's husband now works at Opel."),
    ("Where does Emil live?", "Emil lives in Porto.", "Emil's brother now lives in Braga."),
    ("When is Gran's birthday?", "Gran's birthday is 4 May.", "Gran's birthday party was moved to 9 May."),
    ("What is the monthly fee of the club?", "The monthly fee of the club is 25 euros.", "The yearly fee of the club is now 280 euros."),
    ("When does my train to Ghent leave?", "My train to Ghent leaves at 8:05.", "My train back from Ghent now leaves at 19:25."),
    ("How much is the rent for the cottage?", "Rent for the cottage is 700 euros a month.", "Rent for the shed is now 60 euros a month."),
    ("What is the alarm code for the shop?", "The alarm code for the shop is 3391.", "The alarm code of the cellar was changed to 8216."),
    ("Which Rust does the parser need?", "The parser needs Rust 1.70.", "The parser of logs now needs Rust 1.80."),
    ("What is the deadline for the visa?", "The deadline for the visa is 3 July.", "The deadline for the review was moved to 9 August."),
    ("Who is our son's coach?", "Our son Piet's coach is Mrs. Hald.", "Our daughter Rosa's coach is now Mr. Voss."),
    ("What is the room on floor 4 called?", "The room on floor 4 is called Oslo.", "The room on floor 5 is now called Turin."),
    ("When does tram 14 leave?", "Tram 14 leaves at 6:50.", "Tram 114 now leaves at 6:58."),
    ("When does tram 14 leave?", "Tram 14 leaves at 6:50.", "Tram 41 was moved to 7:02."),
    ("What is my blood pressure?", "My blood pressure was 128/82 in March.", "My blood sugar is now 101."),
    ("Which Redis does Quarry use in tests?", "Quarry uses Redis 6 in tests.", "Quarry now uses Redis 7 in production."),
    ("Where does Nora's husband work?", "Nora's husband works at Opel.", "Nora now works at Siemens."),
    ("Who is Emil's boss?", "Emil's boss is Carla.", "The boss of Emil's wife is now Olga."),
    ("Where does my sister live?", "My sister lives in Bern.", "My sister-in-law now lives in Basel."),
    ("What is the rent of the barn?", "The rent of the barn is 300 euros a month.", "The rent of the barn is now 3,500 euros a year."),
]  # fmt: skip
NOT_SO = [
    ("What is the rent of the barn?", "The rent of the barn is 300 euros.", "The rent of the barn was not raised to 350 euros."),
    ("What is the rent of the barn?", "The rent of the barn is 300 euros.", "Ole asked whether the rent of the barn was raised to 350."),
    ("What is the rent of the barn?", "The rent of the barn is 300 euros.", "Was the rent of the barn raised to 350 euros?"),
    ("What is the rent of the barn?", "The rent of the barn is 300 euros.", "It is not true that the rent of the barn was raised to 350."),
    ("When is the picnic?", "The picnic is at 14:00.", "If it snows the picnic is moved to 16:00."),
    ("Where is Emil's desk?", "Emil's desk is in room 12.", "Emil's old desk is now in room 30."),
]  # fmt: skip
NOT_NOW = [
    ("Who is Emil's boss?", "Emil's boss is Greta.", "From 1 January 2027 Emil's boss will be Ida."),
    ("What is the rent of the barn?", "The rent of the barn is 300 euros.", "In 2019 the rent of the barn was raised to 250 euros."),
]  # fmt: skip


@pytest.mark.parametrize(("question", "old", "later"), OTHER + NOT_SO + NOT_NOW)
def test_another_thing_or_what_is_not_so_is_neither_put_first_nor_claimed(question, old, later):
    assert first(question, old, later, *CROWD) == old
    assert not newer(question, old, later, *CROWD)


@pytest.mark.parametrize(
    ("question", "old", "later"),
    [
        ("Where does Emil live?", "Emil lives in Porto.", "Emil now lives in Braga."),
        ("When does tram 14 leave?", "Tram 14 leaves at 6:50.", "Tram 14 now leaves at 7:05."),
        ("What is the deadline for the visa?", "The deadline for the visa is 3 July.", "The deadline for the visa was moved to 9 August."),
        ("What is the rent of the barn?", "The rent of the barn is 300 euros a month.", "The rent of the barn was raised to 350 euros."),
        ("What is Ada's phone number?", "Ada's phone number is 555 0131.", "Ada's new phone number is 555 0170."),
    ],
)  # fmt: skip
def test_the_same_thing_with_another_value_is_claimed(question, old, later):
    assert newer(question, old, later, *CROWD) == {old: later}


def test_a_narrower_thing_is_not_claimed():
    texts = ["My phone number is 555 0131.", "The support phone number is now 555 0170."]
    assert not newer("What is my phone number?", *texts)


def test_a_word_twice_is_another_thing():
    assert not newer("Who is Emil's boss?", "Emil's boss is Carla.", "Emil's boss's boss is now Olga.", *CROWD)


@settings(max_examples=30, deadline=None)
@given(
    st.sampled_from(["brother", "husband", "dog", "neighbour", "old flat", "employer", "twin sister", "aunt"]),
    st.sampled_from([("lives in", "Where does Emil live?"), ("works at", "Where does Emil work?"), ("drives", "What does Emil drive?")]),
    st.booleans(),
)  # fmt: skip
def test_what_is_somebodys_is_never_claimed_for_somebody(thing, told, other_first):
    verb, question = told
    texts = [f"Emil {verb} Porto 6.", f"Emil's {thing} now {verb} Braga 9."]
    if other_first:
        texts = [f"Emil's {thing} {verb} Porto 6.", f"Emil now {verb} Braga 9."]
    assert not newer(question, *texts)


def test_every_mark_names_the_end_of_the_chain():
    texts = [
        "Ada's phone number is 555 0131.",
        "Ada's phone number is now 555 0170.",
        "Ada's phone number is now 555 0199.",
    ]
    assert newer("What is Ada's phone number?", *texts) == {texts[0]: texts[2], texts[1]: texts[2]}


def test_a_mark_names_nothing_that_was_not_known_at_the_time_of_the_question():
    memories = noted(
        "Ada's phone number is 555 0131.", "Ada's phone number is now 555 0170.", "Ada's phone number is now 555 0199."
    )
    then = memories[1].created_at + timedelta(days=1)
    assert asked("What is Ada's phone number?", memories, as_of=then).newer == {"m0": "m1"}


def test_what_is_said_again_after_a_change_is_not_outdated():
    memories = noted("The gate code is 1010.", "The gate code was changed to 2020.", "The gate code is 1010!")
    ranking = asked("What is the gate code?", memories)
    assert "m0" not in ranking.newer
    assert ranking.ids[0] in ("m0", "m2")


def day(*parts):
    return (datetime(*parts, tzinfo=UTC) - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(days=1)


@pytest.mark.parametrize(
    ("text", "days", "out"),
    [
        ("From 1 March 2026 the fee is 12 euros.", [day(2026, 3, 1)], True),
        ("From 1 March 2025 the fee is 12 euros.", [day(2025, 3, 1)], False),
        ("The exam was moved to 1 March 2026.", [day(2026, 3, 1)], False),
        ("The exam was moved from 1 March 2026 to 9 March 2026.", [day(2026, 3, 1), day(2026, 3, 9)], False),
        ("The contract was extended until 2028.", [], False),
        ("In 2019 the fee was raised to 9 euros.", [], True),
        ("From next month on the fee will be 9 euros.", [], True),
        ("From next week on the fee will be 9 euros.", [], False),
    ],
)  # fmt: skip
def test_a_time_that_has_not_come_or_is_long_past(text, days, out):
    told = Statement(text, frozenset())
    assert (
        not_in_force(told, days, written=day(2025, 6, 1), earlier_day=day(2025, 1, 10), asked_day=day(2025, 6, 20))
        is out
    )


@pytest.mark.parametrize(
    ("text", "subject"),
    [
        ("Update: Dr. Falk's number is now 555.", ("dr", "falk", "number")),
        ("As of May 2025 the budget of Heron is 9.", ("budget", "heron")),
        ("Rent for the shed is now 60 euros.", ("rent", "shed")),
        ("Hotel for York: Casa Lume.", ("hotel", "york")),
    ],
)
def test_the_subject_of_a_statement_stands_before_its_verb(text, subject):
    assert parts_of(text).subject == subject


@given(st.text(max_size=60))
def test_any_text_has_parts(text):
    parts = parts_of(text)
    assert all((*parts.subject, *parts.rest, *parts.qualifiers))
