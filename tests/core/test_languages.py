"""Which language a text is in, and that words of six languages meet in questions and notes, in stores of one or of many."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.core.retrieval.memories import NOW
from tests.tables import each

from hybrid_memory.language.languages import (
    CHARACTER_LANGUAGES,
    ENGLISH,
    character_language,
    language_of,
    languages,
)
from hybrid_memory.language.text import words
from hybrid_memory.model import Scope
from hybrid_memory.requests import ReadRequest, WriteRequest
from hybrid_memory.retrieval.question import parse_question
from hybrid_memory.testing import HASHER

SCOPE = Scope(session="s-1")


@each(
    "text, language",
    [
        ("Die Rechnung der Werkstatt ist noch nicht bezahlt.", "german"),
        ("Wann Zahnarzt?", "german"),
        ("Où est la clé de la voiture ?", "french"),
        ("¿Cuándo es la reunión con el médico?", "spanish"),
        ("La riunione è domani alle nove", "italian"),
        ("Quando é a reunião com o médico?", "portuguese"),
        ("Wanneer is de afspraak met de tandarts?", "dutch"),
        ("Var är nyckeln till båten?", "swedish"),
        ("Hvor er nøglen, og hvornår kommer hun hjem?", "danish"),
        ("Missä on hammaslääkärin avain?", "finnish"),
        ("Когда встреча с врачом?", "russian"),
        ("Πότε είναι η συνάντηση;", "greek"),
    ],
)
def test_function_words_and_letters_tell_the_language(text, language):
    assert language_of(text) == language


@each(
    "text",
    [
        "",
        "Heron: offline",
        "Dentist Keller, Tue 4 pm",
        "Trip to La Paz and El Paso",
        "We watched Die Hard in Des Moines",
        "Take care, bye!",
        "im so tired lol",
        "pin_l0 = true, F28 plus 824, c d l m n",
        "Café Müller is closed",
        "a naïve café in Paris",
        "ask Van der Berg about the visa",
        "会議は12月24日です",
        "see https://example.com/de/la/page",
        "42",
        "return 1.8 * sin(x / 745.0) + a",
    ],
)
def test_names_notes_and_other_scripts_do_not_become_an_odd_language(text):
    assert language_of(text) == ENGLISH


@each("text", ["The cats sleep.", "Heron moved to src/router.py on 3 May, didn't it?", "Tokyo 東京", "naïve café"])
def test_english_words_are_what_they_were(text):
    assert HASHER.terms(text, ENGLISH) == HASHER.terms(text)


@pytest.mark.parametrize(
    ("note", "query"),
    [
        ("Die Rechnungen der Werkstatt sind bezahlt.", "Rechnung Werkstatt"),
        ("Die Rechnung der Werkstatt ist bezahlt.", "offene Rechnungen?"),
        ("Der Termin bei Frau Müller ist am Dienstag.", "Mueller Termine"),
        ("Anna wohnt in der Hauptstraße.", "HAUPTSTRASSE"),
        ("Les réunions du comité sont le mardi.", "réunion comité"),
        ("Elle est allergique aux noix.", "allergiques noix"),
        ("Las reservaciones del hotel son para mayo.", "reservación hotel"),
        ("Mi hermana es alérgica a los gatos.", "alérgico gato"),
        ("Le riunioni sono nella sala grande.", "riunione sala"),
        ("As preferências dela são peixe e arroz.", "preferência peixe"),
        ("Nyckeln till båten är hos grannen och inte här.", "båt nyckel granne"),
        ("De sleutels van het huis liggen bij de buren.", "sleutel huis"),
        ("Новые ключи лежат у соседа, и он дома.", "новый ключ"),
    ],
)
@pytest.mark.parametrize("mixed", [False, True])
def test_a_short_question_finds_a_note_in_its_language(service, note, query, mixed):
    others = [
        "The invoice of the garage is paid.",
        "Heron: offline",
        "Ada keeps the boat at the lake.",
        "Il fait beau et la mer est calme.",
    ]
    for content in [note, *(others if mixed else others[:1])]:
        service.write(SCOPE, WriteRequest(content=content))
    assert service.read(SCOPE, ReadRequest(query=query)).hits[0].memory.content == note


@pytest.mark.parametrize(
    "query", ["Keller", "When does Keller come?", "Wann kommt Keller?", "Quand est-ce que Keller vient ?"]
)
def test_a_name_is_found_in_notes_of_every_language(service, query):
    for content in (
        "Der Zahnarzt heißt Keller und ist in der Stadt.",
        "The dentist is called Keller.",
        "Le dentiste est Keller, et il est en ville.",
        "El perro duerme en la casa con los niños.",
    ):
        service.write(SCOPE, WriteRequest(content=content))
    found = {hit.memory.content for hit in service.read(SCOPE, ReadRequest(query=query)).hits[:3]}
    assert all("Keller" in content for content in found)


@each(
    "note, query",
    [
        ("会議は三階の会議室で行います", "会議室"),
        ("ミーティングはオンラインです", "オンライン"),
        ("ｶﾀｶﾅのメモ", "カタカナ"),
        ("회의는 화요일에 있습니다", "회의"),
        ("Heronの締め切りは金曜日", "heron 締め切り"),
        ("Ｈｅｒｏｎ：ＯＦＦＬＩＮＥ", "heron offline"),
        ("我对花生过敏", "花生"),
    ],
)
def test_words_of_dense_scripts_and_full_width_letters_meet(note, query):
    assert {*words(query)} <= {*words(note)}


@given(st.text(max_size=60), st.sampled_from((ENGLISH, *languages())))
def test_composed_and_decomposed_text_has_the_same_words_in_every_language(text, language):
    assert words(unicodedata.normalize("NFC", text), language) == words(unicodedata.normalize("NFD", text), language)


@given(st.text(max_size=60), st.sampled_from((ENGLISH, *languages())))
def test_any_text_has_terms_and_a_language(text, language):
    assert all(-(2**31) <= term < 2**31 for term in HASHER.terms(text, language))
    assert language_of(text) in {ENGLISH, *languages()}
    parse_question(text, NOW, HASHER)


@given(
    st.sampled_from((ENGLISH, *languages())),
    st.text("abcdefghijklmnopqrstuvwxyzäöüéèñçåøß", min_size=1, max_size=12),
)
def test_case_does_not_change_the_words_of_any_language(language, word):
    assert words(word.upper(), language) == words(word, language)


@pytest.mark.parametrize(("text", "language"), [("nous wir", "french"), ("wir nous", "german")])
def test_of_two_languages_with_as_many_words_the_first_counts(text, language):
    assert language_of(text) == language


@each(
    "text, language",
    [
        ("我用 Postgres 和 Redis。", "chinese"),
        ("明天下午三点开会", "chinese"),
        ("東京に行きました。", "japanese"),
        ("カタカナ", "japanese"),
        ("한국어 문장입니다", "korean"),
        ("My name in Chinese is 李小龙.", None),
        ("The word for hello is 你好", None),
        ("Ada lives in 東京都港区", None),
        ("Wir treffen uns morgen früh.", None),
        ("", None),
    ],
)
def test_languages_without_spaces_are_told_by_their_characters(text, language):
    assert character_language(text) == language


@given(st.text())
def test_any_text_has_one_language_of_characters_or_none(text):
    assert character_language(text) in {None, *CHARACTER_LANGUAGES}
