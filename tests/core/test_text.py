"""What text becomes: hashes, words, terms, excerpts."""

from __future__ import annotations

import json
import re
import unicodedata

from hypothesis import given
from hypothesis import strategies as st
from tests.tables import each

from hybrid_memory.language.languages import function_words
from hybrid_memory.language.text import (
    asks_something,
    compounds,
    content_hash,
    dense_text,
    excerpt,
    hash_of_word,
    holds_words,
    is_mostly_of_other_scripts,
    visible,
    word_hashes,
    words,
)

UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff]")


@given(
    st.text(
        st.characters() | st.sampled_from("\x1b\x7f\x85\u061c\u200d\u2028\u202e\u2069\ufeff\U000e0041"), max_size=20
    )
)
def test_nothing_that_acts_or_hides_is_left_and_json_keeps_its_value(text):
    assert UNSEEN.search(visible(text)) is None
    assert json.loads(visible(json.dumps(text, ensure_ascii=False))) == text
    assert visible(visible(text)) == visible(text)


@each(
    "text",
    ["naïve — 50 %", "猫が好き", "👩🏽 ❤️", "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f", "a\tb\nc"],
)
def test_what_can_be_seen_stays_as_it_is(text):
    assert visible(text) == text


def test_words_behind_a_flag_that_is_none_are_written_out():
    assert visible("🏴\U000e0041\U000e0042") == "🏴\\udb40\\udc41\\udb40\\udc42"


LETTERS = st.characters(
    categories=["Ll", "Lu"], max_codepoint=0x24F, exclude_characters="ı"
)  # in upper case another letter


@given(st.text(LETTERS, min_size=1), st.sampled_from(["NFC", "NFD"]))
def test_a_word_is_held_whatever_its_case_and_the_form_of_its_accents(word, form):
    text = f"well, {word.swapcase()}!"
    assert holds_words(text, unicodedata.normalize(form, word))


@each("wanted, held", [("Zoe", True), ("zoé+max", True), ("ZOE+MAX", True), ("zoe+maxi", False), ("ma", False)])
def test_accents_do_not_count_beside_signs_either(wanted, held):
    assert holds_words("we are Zoë+Max", wanted) is held


@given(st.text(max_size=50))
def test_case_and_white_space_do_not_change_the_content_hash(text):
    assert content_hash(text) == content_hash(f"  {text}\n")
    assert len(content_hash(text)) == 32


def test_the_content_hash_is_the_same_for_wide_and_narrow_letters():
    assert content_hash("Ｔｏｋｙｏ　STRASSE") == content_hash("tokyo straße")


def test_different_words_have_different_content_hashes():
    assert content_hash("the cat") != content_hash("the hat")


@each(
    "text, expected",
    [
        ("The dogs were running", ["dog", "run"]),
        ("Melanie's users' C3PO 2026", ["melani", "user", "c3po", "2026"]),
        ("O’Brien doesn't", ["o", "brien", "doesn"]),
        ("naïve Café ﬁne", ["naiv", "cafe", "fine"]),
        ("user_id=7, v1.2", ["user", "id", "7", "v1", "2"]),
        ("to be or not to be", ["to", "be", "or", "not", "to", "be"]),
        ("東京に", ["東京", "京に"]),
        ("私の妻は", ["私", "私の", "の妻", "妻", "妻は"]),
        ("猫", ["猫"]),
        ("한국어 책", ["한국", "국어", "책"]),
        ("สวัสดี", ["สวั", "วัส", "สดี"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("Привет, мир", ["привет", "мир"]),
        ("مرحبًا بك", ["مرحبا", "بك"]),
        ("👍🏽👍 🇩🇪🇫🇷 👨‍👩‍👧", ["👍", "👍", "🇩🇪", "🇫🇷", "👨", "👩", "👧"]),
        ("5 € ❤️", ["5", "€", "❤"]),
        ("?! ... --", []),
        ("pass\u00adword la\u200dter \u202eleft\u202c", ["password", "later", "left"]),
        ("England \U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f", ["england", "\U0001f3f4"]),
    ],
)
def test_words_of_any_script_are_found(text, expected):
    assert words(text) == expected


@given(st.text(max_size=60))
def test_words_do_not_depend_on_case_or_normal_form(text):
    assert words(text) == words(unicodedata.normalize("NFD", text))
    if text.isascii():
        assert words(text) == words(text.upper())


@given(st.text(max_size=60))
def test_words_hold_no_white_space_and_are_never_empty(text):
    assert all(word and not any(c.isspace() for c in word) for word in words(text))


@given(st.lists(st.sampled_from(sorted(function_words())), min_size=1, max_size=5))
def test_stop_words_alone_are_kept(chosen):
    assert len(words(" ".join(chosen))) == len(chosen)


def test_words_have_hashes_in_order():
    assert word_hashes("cats dog cats") == [hash_of_word("cat"), hash_of_word("dog"), hash_of_word("cat")]


def test_the_hash_of_a_word_is_the_same_in_every_release():
    assert hash_of_word("hello") == 12085107955937391741


@each("text", ["who?", "谁？", "من؟", "τι\u037e"])
def test_a_question_mark_of_any_script_asks(text):
    assert asks_something(text)
    assert not asks_something(text[:-1] + ";")


def test_a_memory_is_found_by_its_speaker_and_what_was_said():
    assert dense_text("Hello", "Ann") == "Ann: Hello"
    assert dense_text("Hello", None) == "Hello"


@each(
    "text, limit, expected",
    [
        ("short", 5, "short"),
        ("hello wonderful world", 12, "hello…"),
        ("hello wonderful world", 16, "hello wonderful…"),
        ("日本語日本語", 4, "日本語…"),
        ("a👍🏽b", 3, "a…"),
        ("ab", 1, "…"),
    ],
)
def test_an_excerpt_is_cut_between_words_and_never_inside_a_character(text, limit, expected):
    assert excerpt(text, limit) == expected


@given(st.text(max_size=80), st.integers(1, 40))
def test_an_excerpt_is_never_longer_than_its_limit(text, limit):
    cut = excerpt(text, limit)
    assert len(cut) <= limit
    assert cut == text or text.startswith(cut[:-1])


@each(
    "text, whole",
    [
        ("BUG-412 is like BUG-41", ["bug-412", "bug-41"]),
        ("lib/parser.py calls api_gateway", ["lib/parser.py", "api_gateway"]),
        ("ask me@example.org by 2026-11-03", ["me@example.org", "2026-11-03"]),
        ("see https://example.org/a/b.", ["example.org/a/b"]),
        ("no, and - that is all: nothing.", []),
        ("Quels jours Mathieu est-il là, a-t-elle dit", []),
        ("an up-to-date check-in of the back-end", ["back-end"]),
    ],
)
def test_words_of_several_parts_are_words_as_a_whole_too(text, whole):
    assert compounds(text) == whole


@each(
    "text, other",
    [
        ("Olga lives in Kazan.", False),
        ("Älter als Łódź", False),
        ("", False),
        ("12:30 → 14:00", False),
        ("Ольга живёт в Казани (Kazan).", True),
        ("小林さんは青い布を注文しました。", True),
    ],
)
def test_a_text_is_in_another_script_if_most_of_its_letters_are(text, other):
    assert is_mostly_of_other_scripts(text) is other
