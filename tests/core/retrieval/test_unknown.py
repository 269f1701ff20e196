"""Questions about what is nowhere in the store, and all the ordinary ones of which nothing may be claimed."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.tables import each

from hybrid_memory.encoding.word_encoding import encode_words
from hybrid_memory.language.names import name_entries
from hybrid_memory.retrieval.asked_subject import AskedSubject, asked_subject
from hybrid_memory.retrieval.bm25 import LexicalIndex
from hybrid_memory.retrieval.question import parse_question
from hybrid_memory.retrieval.unknown import is_unknown
from hybrid_memory.testing import HASHER

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
    lexical = LexicalIndex(HASHER)
    for note in notes or NOTES:
        words = encode_words(note, speaker, NOW, hasher=HASHER)
        lexical.add(words.terms, words.names)
    visible = np.ones(len(lexical), np.bool_)
    visible[:hidden] = False
    return is_unknown(parse_question(question, NOW, HASHER), lexical, visible)


@each(
    "question",
    [
        "Who is Zorana's dentist?",
        "What is the port of Larkspur?",
        "which port does larkspur listen on?",
        "What is the state of BUG-731?",
        "What is the state of HYD-41?",
        "Which hotel do we have in Narva?",
        "What does Priyanka think about the choir?",
        "¿Cuál es el puerto de Larkspur?",
    ],
)
def test_a_name_that_is_nowhere_is_unknown(question):
    assert unknown(question)


# Each question stands with the note that answers it, mostly without a word of it but the name.
TOLD_OTHERWISE = (
    ("Which town does Marlene work in?", "Marlene is in charge of the Leipzig branch."),
    ("Who is Clemens's doctor?", "Clemens's GP is Dr. Yildiz."),
    ("What is Gustl's job?", "Locksmith Gustl is coming on Tuesday."),
    ("What are Vera's pets called?", "Vera has two rabbits, Salt and Pepper."),
    ("What is Bonnie's food?", "Bonnie the cat gets half a tin twice a day."),
    ("Who is the author of Solaris?", "I have begun Solaris by Stanislaw Lem."),
    ("Which language is used for the parser?", "Rust is used for the parser."),
    ("Which brand is Simon's saxophone?", "Simon owns a Selmer saxophone."),
    ("What is the status of parcel 8812?", "Parcel 8812 was delivered."),
    ("What is the state of OPS-19?", "OPS-19 is held up by the certificate change."),
    ("Which hotel did we have in Latvia?", "We drove to Riga in May; the hotel was the Neiburgs."),
    ("When is Becky's birthday?", "Rebecca Stone's birthday is 9 June."),
    ("What is Kathi's favourite cake?", "Katharina always asks for the plum cake."),
    ("What is the OS of nas02?", "nas-02 runs Alpine."),
    ("What is the state of OPS19?", "OPS-19 is held up."),
    ("Where is Boehm-Kuester's umbrella?", "Frau Böhm-Küster's umbrella is in the hall."),
    ("Where is Schröder's ladder?", "Schroeder's ladder is in the shed."),
    ("What is the version of Kubernetes?", "We run k8s 1.31 everywhere."),
    ("Which JavaScript conventions do we have?", "JS style: single quotes."),
    ("What is the rule for JavaScript?", "JS style: single quotes."),
    ("When does New York close?", "The NYC branch closes at five."),
    ("Where does Olga live?", "Ольга живёт в Казани."),
    ("Where does Zhang Wei work?", "张伟在银行工作。"),
    ("WHERE DOES YVETTE LIVE?", "Yvette lives in Lille."),
    # ordinary ones
    ("What is Marek's profession?", "Marek drives a tram for a living."),
    ("Which instrument does Petra play?", "Petra practises the cello every evening."),
    ("What is Oskar's favourite sport?", "Oskar never misses a handball match."),
    ("Who is Lena's husband?", "Lena and Tomas married in 2019."),
    ("What is Bruno's breed?", "Bruno is an old beagle."),
    ("Who is the landlord of the flat?", "We rent the flat from Mr Aydin."),
    ("What does the fridge cost?", "The fridge was 499 euros."),
    ("Which framework does the shop use?", "The shop runs on Django."),
    ("What is the deadline of the tax return?", "The tax return has to be in by 31 July."),
    ("What is Jonas's height?", "Jonas is 1.84 m tall."),
    ("Who is Mia's teacher?", "Mia is in Mrs Schubert's class."),
    ("What is the colour of the bike?", "We sprayed the bike green."),
    ("Which airline flies to Lisbon?", "We go to Lisbon with TAP."),
    ("What is Emil's age?", "Emil turned seven in May."),
    ("Which database does the billing service use?", "The billing service stores everything in Postgres."),
    ("What is the price of the ticket?", "The ticket was 29 euros."),
    ("What is Sofia's hair colour?", "Sofia is a redhead."),
    ("Who is the boss of Kilian?", "Kilian reports to Mrs Adler."),
    ("Which school does Nele go to?", "Nele is in third grade at the Lindenschule."),
    ("What is Greta's phone number?", "Call Greta on 0151 2345678."),
    ("When does Ulla arrive?", "Ulla's train gets in at 17:40."),
    ("What is the birthday of Fritz?", "Fritz was born on 3 March 1950."),
    ("What is Karl's allergy?", "Karl gets hives from peanuts."),
    ("Which port does the gateway use?", "The gateway listens on 8443."),
    ("Who is Timo's dentist?", "Timo has his teeth checked by Dr. Brandt."),
    ("What is Paula's shoe size?", "Paula wears trainers in 39."),
)


@each("question, note", TOLD_OTHERWISE)
def test_of_what_is_told_in_other_words_nothing_is_claimed(question, note):
    assert not unknown(question, *NOTES, note)


@each("question, note", TOLD_OTHERWISE)
def test_nothing_is_claimed_in_a_store_of_one_note(question, note):
    assert not unknown(question, note)


def test_the_letters_of_a_ticket_may_abbreviate_a_word():
    assert not unknown("What is the state of PROJ-41?", *NOTES, "The project 41 is late.")


def test_the_day_of_a_month_is_no_ticket():
    assert unknown("What is the state of HYD-17?", *NOTES, "The fair is on 17 May.")


def test_a_long_number_tells_a_ticket_without_its_letters():
    assert not unknown("What is the state of ORD-4711?", *NOTES, "Parcel 4711 was shipped.")


def test_a_question_in_capitals_is_judged_as_in_lower_case():
    assert unknown("WHERE DOES ZORANA LIVE?")
    assert unknown("where does zorana live?")


@each(
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
    assert not unknown("Where does Ivan live?", "Иван живёт в Москве.")
    assert not unknown("Where does Hannah live?", "חנה גרה בחיפה")
    assert unknown("What is the state of BUG-731?", *NOTES, "小林さんは青い布を注文しました。")


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
    assert name_entries(text, hasher=HASHER) is not None


@each(
    "question, asked",
    [
        ("Who is Ada's dentist?", AskedSubject(("Ada",))),
        ("What is the retry limit of Heron Lite?", AskedSubject(("Heron", "Lite"))),
        ("Which checksum has src/ledger.rs?", AskedSubject(("src/ledger.rs",))),
        ("Bei wem liegt der Schlüssel von Frau Tschanz?", None),
    ],
)
def test_the_form_of_a_question_tells_what_it_asks_for(question, asked):
    assert asked_subject(question) == asked
