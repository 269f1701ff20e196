"""Which built-in table a store has for which nobody chose an embedder: the rule."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybrid_memory.embedding.multilingual import DIGEST
from hybrid_memory.embedding.registry import MULTILINGUAL, STATIC
from hybrid_memory.embedding.table_choice import LANGUAGES, LEAST_MEMORIES, fitting_table, is_due, reason
from hybrid_memory.languages import CHARACTER_LANGUAGES
from hybrid_memory.languages import LANGUAGES as WITH_STEMMER

ITS_IDENTITY = f"multilingual-v1:{DIGEST}"
COUNTS = st.integers(0, 10**7)


@pytest.mark.parametrize(
    ("memories", "others", "table"),
    [
        (0, 0, STATIC),
        (11, 11, STATIC),
        (12, 12, MULTILINGUAL),
        (48, 12, MULTILINGUAL),
        (49, 12, STATIC),
        (1000, 250, MULTILINGUAL),
        (1000, 249, STATIC),
    ],
)
def test_twelve_memories_and_a_quarter_choose_the_multilingual_table(memories, others, table):
    assert fitting_table(memories, others) == table


@given(COUNTS, COUNTS)
def test_it_is_never_chosen_for_less_than_a_quarter_or_than_twelve(memories, others):
    chosen = fitting_table(memories, min(others, memories)) == MULTILINGUAL
    assert chosen == (min(others, memories) >= LEAST_MEMORIES and 4 * min(others, memories) >= memories)


@given(COUNTS, COUNTS)
def test_another_memory_in_another_language_never_speaks_against_it(memories, others):
    others = min(others, memories)
    if fitting_table(memories, others) == MULTILINGUAL:
        assert fitting_table(memories + 1, others + 1) == MULTILINGUAL


def test_every_language_of_the_table_can_be_told():
    assert {*LANGUAGES} <= {*WITH_STEMMER, *CHARACTER_LANGUAGES}


@pytest.mark.slow
@given(COUNTS)
def test_nothing_is_counted_twice_for_the_same_memories(memories):
    assert is_due(memories, None)
    assert not is_due(memories, memories)


@given(st.integers(1, 10**7), st.integers(-(10**6), 10**6))
def test_it_is_counted_again_when_a_tenth_has_changed(before, change):
    now = max(before + change, 0)
    assert is_due(now, before) == (now != before and 10 * abs(now - before) >= before)


@pytest.mark.parametrize(
    ("pinned", "counts", "words"),
    [
        (None, (0, 0), "a new store begins with it"),
        ("static-v2:00", (10, 1), "the default: 10 % of the memories are in other languages"),
        ("static-v2:00", (20, 20), "to be replaced by multilingual: 100 % of the memories are in other languages"),
        (ITS_IDENTITY, (100, 40), "chosen by itself: 40 % of the memories are in other languages"),
        (ITS_IDENTITY, (100, 4), "the store's own, since no setting names one"),
        ("minilm:00", (100, 40), "the store's own, since no setting names one"),
        ("fastembed:local/x@00", (100, 40), "the store's own, since no setting names one"),
    ],
)
def test_the_reason_is_told(pinned, counts, words):
    assert reason(pinned, *counts) == words
