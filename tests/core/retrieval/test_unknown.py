"""Questions about what is nowhere in the store, and all the ordinary ones of which nothing may be claimed."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hybrid_memory.names import name_entries
from hybrid_memory.retrieval.asked_subject import AskedSubject, asked_subject
from hybrid_memory.retrieval.bm25 import LexicalIndex
from hybrid_memory.retrieval.query_expansion import expansion_table
from hybrid_memory.retrieval.question import parse_question
from hybrid_memory.retrieval.unknown import is_unknown
from hybrid_memory.word_encoding import encode_words

NOW = datetime(2025, 6, 20, 12, tzinfo=UTC)
NOTES = (
    "Ada's dentist is Dr. Keller, she goes there twice a year.",
    "The port of Heron is 7010, the database is Firebird.",
    "BUG-412 is open, Devika works on it.",
    "Our hotel in Cork is the Old Mint, it has a large garden.",
    "Petra leads the choir and bakes bread on Sundays.",
)


def unknown(question, *notes, speaker=None, hidden=0):
    """What is claimed of a question to some notes, the first ``hidden`` of which may not be seen."""
    lexical = LexicalIndex()
    for note in notes or NOTES:
        words = encode_words(note, speaker, NOW)
        lexical.add(words.terms, words.names)
    visible = np.ones(len(lexical), np.bool_)
    visible[:hidden] = False
    spoken = np.full(len(lexical), speaker is not None)
    return is_unknown(parse_question(question, NOW), lexical, visible, spoken, expansion_table())


@pytest.mark.parametrize(
    "question",
    [
        "Who is Zorana's dentist?",
        "What is the port of Larkspur?",
        "which port does larkspur listen on?",
        "What is the state of BUG-731?",
        "Which hotel do we have in Narva?",
        "What does Priyanka think about the choir?",
        "¿Cuál es el puerto de Larkspur?",
    ],
)
def test_a_name_that_is_nowhere_is_unknown(question):
    assert unknown(question)


@pytest.mark.parametrize(
    "question",
    [
        "Who is Ada's hairdresser?",
        "What is the mascot of Heron?",
        "Which encoding has Heron?",
        "Which vet does the hamster go to?",
    ],
)
def test_a_thing_that_is_nowhere_is_unknown(question):
    assert unknown(question)


@pytest.mark.parametrize(
    "question",
    [
        "Who is Ada's dentist?",
        "Who looks after Ada's teeth?",
        "Who is Adda's dentist?",  # a slip of the pen
        "Who is Perta's choir leader?",
        "who works on bug-412?",
        "Who works on BUG 412?",
        "Which hotel do we have in Ireland?",  # Cork
        "Can you recommend a good restaurant in Lisbon?",
        "What should I cook for Zorana?",
        "What are some hotels in Bangkok?",
        "Hello. Zorana wrote to me. What is the port of Heron?",
        "Tell me about Zorana",
        "Was Zorana here?",
        "What happened in 2023?",
        "What is new?",
        "Wer hat den Lüfter repariert?",
        "谁是王老师的牙医？",
        "",
    ],
)
def test_of_all_else_nothing_is_claimed(question):
    assert not unknown(question)


def test_what_may_not_be_seen_is_not_known():
    assert unknown("What is the port of Heron?", hidden=2)
    assert not unknown("What is the port of Heron?")


def test_an_empty_store_claims_nothing():
    assert not unknown("Who is Zorana's dentist?", hidden=len(NOTES))


def test_conversations_speak_of_a_thing_without_its_name():
    assert not unknown("Who is Ada's hairdresser?", *NOTES, speaker="Bo")


def test_notes_in_another_language_may_hold_a_thing_under_its_other_name():
    notes = ("Adas Friseurin heißt Jelinek und wohnt in der Gartenstraße.", "Der Zug fährt um neun Uhr ab.")
    assert not unknown("Who is Ada's hairdresser?", *notes)


def test_a_name_may_stand_in_another_script():
    assert not unknown("Which colour did Kobayashi want?", "小林さんは青い布を注文しました。")
    assert unknown("What does Priyanka think?", "小林さんは青い布を注文しました。")


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(["Zorana", "Larkspur", "Priyanka"]), st.lists(st.sampled_from(NOTES), max_size=5), st.data())
def test_a_name_that_a_memory_holds_is_never_unknown(name, notes, data):
    told = data.draw(
        st.sampled_from((f"{name} came by.", f"Lunch with {name}", f"{name.lower()} called", f"{name}'s bike is red"))
    )
    assert not unknown(f"What did {name} say?", *notes, told)


@given(st.text(max_size=80))
def test_any_text_is_read_without_an_error(text):
    asked_subject(text)
    assert name_entries(text) is not None


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("Who is Ada's dentist?", AskedSubject(("Ada",), ("dentist",))),
        ("What is the retry limit of Heron Lite?", AskedSubject(("Heron", "Lite"), ("retry", "limit"))),
        ("Which checksum has src/ledger.rs?", AskedSubject(("src/ledger.rs",), ("checksum",))),
        ("Bei wem liegt der Schlüssel von Frau Tschanz?", None),
    ],
)
def test_the_form_of_a_question_tells_what_it_asks_for(question, asked):
    assert asked_subject(question) == asked
