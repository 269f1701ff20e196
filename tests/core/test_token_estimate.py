"""What a text costs: prices of characters that no common tokenizer exceeds by much."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from tests.tables import each

from hybrid_memory.language.token_estimate import PARTS, estimate_tokens, token_cost

# The dearest of o200k, cl100k, Qwen 3, Tekken, Gemma 3, Llama 3 and Claude 3, as `benchmarks/token_costs.py` counts them.
COUNTED = {
    "The quick brown fox jumps over the lazy dog. ": 11,
    "2026-01-10T13:00:00+01:00": 25,
    "06f3yq8zk2m4x7v9c1rt": 19,
    "deadbeef0123456789abcdef" * 4: 60,
    "😀👩‍👩‍👧🏽🎉": 26,
    "日本語のテキスト" * 5: 41,
    "Zażółć gęślą jaźń": 12,
    "ਪੰਜਾਬੀ ਭਾਸ਼ਾ": 28,
    '{"id": 7, "ok": true, "at": "2026-01-02T03:00:00Z"}': 37,
}


@each("text, tokens", COUNTED.items())
def test_an_estimate_is_no_less_than_the_dearest_tokenizer_counts(text, tokens):
    assert estimate_tokens(text) >= 0.97 * tokens


def test_plain_english_costs_nearly_as_little_as_a_token_for_four_characters():
    text = "She told her sister that the train to the coast leaves at noon, so they met at the station after lunch. "
    assert 3.2 < len(text) / estimate_tokens(text) < 4.2


@given(st.lists(st.text(max_size=40), max_size=8))
def test_the_cost_of_a_text_is_the_sum_of_those_of_its_pieces_if_they_meet_at_no_letters(pieces):
    quoted = [f'"{piece}"' for piece in pieces]
    assert token_cost("".join(quoted)) == sum(map(token_cost, quoted))


@given(st.text(max_size=100))
def test_an_estimate_is_the_cost_rounded_up(text):
    assert 0 <= estimate_tokens(text) * PARTS - token_cost(text) < PARTS


@given(st.characters(), st.integers(0, 5000))
def test_a_long_text_costs_at_least_as_much_as_its_characters(character, count):
    assert token_cost(character * count) >= count * token_cost(character)


@given(st.characters())
def test_every_character_costs_something(character):
    assert 0 < token_cost(character) <= 4 * PARTS
