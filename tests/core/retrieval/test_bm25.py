"""How rows match the words of a question."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybrid_memory.language.names import undecided
from hybrid_memory.retrieval import bm25
from hybrid_memory.retrieval.bm25 import K1, MIN_TERM_FACTOR, B, LexicalIndex, count_terms, per_term_scores
from hybrid_memory.retrieval.question import Question, QuestionWord
from hybrid_memory.retrieval.ranking_parameters import FITTED
from hybrid_memory.retrieval.term_weights import weigh
from hybrid_memory.testing import HASHER

TERM = st.integers(1, 6)
ROWS = st.lists(st.lists(TERM, max_size=8), min_size=1, max_size=10)
QUERY = st.lists(TERM, min_size=1, max_size=5)


def index_of(rows):
    index = LexicalIndex(HASHER)
    for row in rows:
        index.add(row)
    return index


def question_of(terms):
    return Question(words=tuple(map(QuestionWord, dict.fromkeys(terms))))


def score(index, query, counted):
    return bm25.score(index, weigh(question_of(query), index, counted, FITTED).query_terms)


def everything(rows):
    return np.ones(len(rows), np.bool_)


def grown(first, later):
    """Return an index of which some rows were loaded and sorted, and the others added."""
    index = LexicalIndex(HASHER)
    flat = np.array([term for row in first for term in row], np.int32)
    index.load(flat, np.cumsum([0, *map(len, first)]).astype(np.int64))
    index.sort()
    for row in later:
        index.add(row)
    return index


def holds_any(rows, query):
    return [not set(query).isdisjoint(row) for row in rows]


def plainly_scored(rows, words):
    """Return for each row the sum of the shares of the words, each as well as the row has it."""
    return [
        sum(
            share * plain_factor(row, term, words.mean_length)
            for term, share in zip(words.terms, words.shares, strict=True)
        )
        for row in rows
    ]


def plain_factor(row, term, mean_length):
    count = row.count(term)
    factor = count * (K1 + 1) / (count + K1 * (1 - B + B * len(row) / mean_length))
    return max(factor, MIN_TERM_FACTOR) if count else 0


@given(ROWS, ROWS, QUERY)
def test_a_row_is_scored_by_each_word_that_it_has(first, later, query):
    rows = first + later
    found = score(grown(first, later), query, everything(rows))
    assert found.scores.tolist() == pytest.approx(plainly_scored(rows, found.query_terms), rel=1e-4, abs=1e-6)
    assert (found.scores > 0).tolist() == holds_any(rows, query)


@given(ROWS, QUERY)
def test_the_shares_of_the_words_make_one(rows, query):
    words = score(index_of(rows), query, everything(rows)).query_terms
    assert sum(words.shares) == pytest.approx(1)


@given(ROWS, QUERY)
def test_word_by_word_the_match_is_the_same(rows, query):
    index = index_of(rows)
    found = score(index, query, everything(rows))
    each = per_term_scores(found.query_terms, count_terms([index.terms_of(row) for row in range(len(rows))]))
    together = each @ np.array(found.query_terms.shares, np.float32)
    unbounded = found.scores <= 1
    assert np.all(together <= found.scores + 1e-5)
    assert np.allclose(
        together[unbounded & (each < 1).all(axis=1)], found.scores[unbounded & (each < 1).all(axis=1)], atol=1e-5
    )


def test_a_question_without_words_matches_nothing():
    found = score(index_of([[1], [2]]), [], everything([1, 2]))
    assert not found.scores.any()
    assert per_term_scores(found.query_terms, count_terms([np.int32([1])])).shape == (1, 0)


def test_a_long_question_and_long_memories_need_little_memory():
    rows = [list(range(500 * row, 500 * (row + 1))) for row in range(12)]
    words = score(index_of(rows), range(0, 6_000, 20), everything(rows)).query_terms
    held = count_terms([np.int32(row) for row in rows])
    tracemalloc.start()
    try:
        assert per_term_scores(words, held).shape == (12, 300)
        assert tracemalloc.get_traced_memory()[1] < 10_000_000
    finally:
        tracemalloc.stop()


NAME_ROWS = st.lists(st.lists(st.integers(0, 5), max_size=3, unique=True), max_size=6)


@given(NAME_ROWS, NAME_ROWS)
def test_name_frequencies_count_the_rows_that_tell_whether_a_term_is_a_name(first, later):
    rows = [[*range(6)]] * (len(first) + len(later))  # each row holds all six terms
    held_by, flat = [*first, *later], [entry for names in first for entry in names]
    index = LexicalIndex(HASHER)
    index.load(np.int32(rows[: len(first)]).ravel(), np.arange(len(first) + 1) * 6, np.array(flat, np.int32))
    for row, names in zip(rows, later, strict=False):
        index.add(row, names)
    counted = [sum(term in names for names in held_by) for term in range(6)]
    held, named = index.name_frequencies(range(6))
    assert (held.tolist(), named.tolist()) == ([len(rows)] * 6, counted)


def test_rows_where_a_term_may_be_a_name_count_neither_way():
    index = LexicalIndex(HASHER)
    index.add([1, 2], [1])
    index.add([1, 3], [undecided(1)])
    index.add([1, 3])
    held, named = index.name_frequencies([1, 3, 9])
    assert (held.tolist(), named.tolist()) == ([2, 2, 0], [1, 0, 0])
