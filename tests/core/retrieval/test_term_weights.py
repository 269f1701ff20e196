"""How much each word of a question counts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.core.retrieval.memories import NOW
from tests.tables import each

from hybrid_memory.encoding.word_encoding import encode_words
from hybrid_memory.retrieval.bm25 import LexicalIndex
from hybrid_memory.retrieval.question import WordForm, parse_question
from hybrid_memory.retrieval.ranking_parameters import FITTED, STEPS, RankingParameters
from hybrid_memory.retrieval.term_weights import name_strength, weigh
from hybrid_memory.testing import HASHER

SHARE = st.one_of(st.none(), st.floats(0, 1))


def index_of(*texts):
    index = LexicalIndex(HASHER)
    for text in texts:
        encoded = encode_words(text, None, NOW, hasher=HASHER)
        index.add(HASHER.terms(text), encoded.names)
    return index


def weighed(text, index, parameters=FITTED):
    return weigh(parse_question(text, NOW, HASHER), index, np.ones(len(index), np.bool_), parameters)


def share(found, word):
    return found.query_terms.shares[found.query_terms.terms.index(HASHER.terms(word)[0])]


NOTES = ("Ada has a dentist", "the dentist of Bo", "met Ada and Bo", "a walk with Ada")


def test_a_name_written_small_is_known_from_the_memories():
    found = weighed("who is ada's dentist", index_of(*NOTES))
    assert [name.term for name in found.names] == [HASHER.terms("Ada")[0]]


def test_a_name_that_no_memory_holds_is_told_apart():
    found = weighed("Who is Cem's dentist?", index_of(*NOTES))
    assert not found.names
    assert [name.term for name in found.unknown_names] == [HASHER.terms("Cem")[0]]


def test_what_no_memory_holds_is_the_unknown_share():
    index = index_of(*NOTES)
    assert weighed("Ada dentist", index).unknown_share == 0
    assert weighed("zebra giraffe", index).unknown_share == pytest.approx(1)
    assert 0 < weighed("Ada zebra", index).unknown_share < 1


def test_a_word_of_time_counts_less():
    index = index_of("last week it rained", "Heron is late")
    found = weighed("What did we say last week about Heron?", index)
    plain = weighed("What did we say last week about Heron?", index, parameters=FITTED.without("time words"))
    assert share(found, "week") < share(plain, "week")


@pytest.mark.parametrize("text", ["", "the", "?"])
def test_a_question_without_a_memory_or_a_word_has_no_weights(text):
    assert weighed(text, index_of()).query_terms.terms == ()


@given(st.lists(st.sampled_from(["Ada", "dentist", "zebra", "week", "412"]), min_size=1, max_size=6))
def test_the_shares_make_one(words):
    found = weighed(" ".join(words), index_of(*NOTES))
    assert sum(found.query_terms.shares) == pytest.approx(1)
    assert 0 <= found.unknown_share <= 1


@given(st.sampled_from(WordForm), SHARE)
def test_a_name_is_sure_between_nothing_and_fully(form, share):
    assert 0 <= name_strength(form, share) <= 1


@given(st.sampled_from(WordForm), st.floats(0, 1), st.floats(0, 1))
def test_the_oftener_a_word_is_written_as_a_name_the_surer_it_is_one(form, a, b):
    low, high = sorted((a, b))
    assert name_strength(form, low) <= name_strength(form, high)


@each("step", STEPS)
def test_every_step_can_be_switched_off(step):
    off = FITTED.without(step)
    assert off != FITTED
    assert off == off.without(step)
    assert isinstance(replace(off), RankingParameters)
