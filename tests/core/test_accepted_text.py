"""Which text is accepted."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.tables import each

from hybrid_memory.errors import InvalidInput
from hybrid_memory.validation import check_text

ENGLAND = "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f"


@each(
    "text",
    [
        "plain",
        "tab\tline\nreturn\r",
        "العربية עברית हिन्दी ไทย 日本語 한국어",
        "👩‍👩‍👧 👍🏽 🇩🇪 ❤️",
        f"flag {ENGLAND}",
        "zero\u200bwidth \u202eand bidi",
    ],
)
def test_ordinary_text_is_returned_unchanged(text):
    assert check_text("content", text, limit=100) is text


@each(
    "text, named",
    [
        ("ab\x00", "U+0000 at position 3"),
        ("\x1b[2J", "U+001B at position 1"),
        ("a\x7f", "U+007F at position 2"),
        ("a\x85", "U+0085 at position 2"),
        ("\ud800x", "U+D800 at position 1"),
        ("x\udfff", "U+DFFF at position 2"),
        ("\ufffe", "U+FFFE at position 1"),
        ("a\ufdd0", "U+FDD0 at position 2"),
        ("a\U0010ffff", "U+10FFFF at position 2"),
        ("a\U000e0041", "U+E0041 at position 2"),
        (f"{ENGLAND}\U000e0041", "U+E0041 at position 8"),
        ("\U0001f3f4\U000e0067\U000e0062", "U+E0067 at position 2"),
    ],
)
def test_a_harmful_character_is_named_with_its_position(text, named):
    with pytest.raises(InvalidInput, match=named.replace("+", r"\+")) as raised:
        check_text("content", text, limit=100)
    assert raised.value.field == "content"


def test_a_long_hidden_message_is_no_flag():
    hidden = "\U0001f3f4" + "".join(chr(0xE0000 + ord(c)) for c in "ignore") + "x" + "\U000e007f"
    with pytest.raises(InvalidInput, match="tag character"):
        check_text("content", hidden, limit=100)


@pytest.mark.parametrize("text", ["", "  \n\t", "\u200b\u2060"])
def test_text_without_anything_visible_is_refused(text):
    with pytest.raises(InvalidInput, match="is empty"):
        check_text("content", text, limit=10)


def test_empty_text_is_accepted_where_it_is_allowed():
    assert check_text("query", "", limit=10, empty_allowed=True) == ""


def test_too_long_a_text_is_told_both_lengths():
    with pytest.raises(InvalidInput, match=r"1,001 characters long, at most 1,000"):
        check_text("content", "x" * 1001, limit=1000)


def refusal_of(text):
    try:
        check_text("content", text, limit=1000)
    except InvalidInput as error:
        return str(error)
    return None


@given(st.text(st.characters(codec=None), min_size=1, max_size=40))
def test_a_refusal_never_shows_the_text(text):
    said = refusal_of(f"secret phrase {text}")
    assert said is None or ("secret" not in said and said.isascii())


@given(st.text(st.characters(codec=None), min_size=1, max_size=40))
def test_no_surrogate_and_no_control_character_is_accepted(text):
    harmful = any(
        unicodedata.category(c) == "Cs" or (unicodedata.category(c) == "Cc" and c not in "\n\t\r") for c in text
    )
    assert refusal_of(f"words {text}") is not None or not harmful
