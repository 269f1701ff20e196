"""The inverted index against a plain BM25."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybrid_memory.language.terms import QUESTION_TERM
from hybrid_memory.retrieval.bm25 import K1, MIN_TERM_FACTOR, B, LexicalIndex, score
from hybrid_memory.retrieval.question import Question, QuestionWord
from hybrid_memory.retrieval.ranking_parameters import FITTED
from hybrid_memory.retrieval.term_weights import weigh
from hybrid_memory.testing import HASHER

TERM = st.one_of(st.integers(-3, 3), st.sampled_from([-(1 << 31), (1 << 31) - 1, QUESTION_TERM]))
ROWS = st.lists(st.lists(TERM, max_size=8), min_size=1, max_size=12)


def loaded(rows):
    index = LexicalIndex(HASHER)
    flat = np.array([term for row in rows for term in row], np.int32)
    index.load(flat, np.cumsum([0, *map(len, rows)]).astype(np.int64))
    return index


def coverage(index, query, counted):
    asked = dict.fromkeys(term for term in query if term != QUESTION_TERM)
    question = Question(words=tuple(map(QuestionWord, asked)))
    return score(index, weigh(question, index, counted, FITTED).query_terms).scores


def plain(rows, query, counted):
    rows = [[term for term in row if term != QUESTION_TERM] for row in rows]
    query = {term for term in query if term != QUESTION_TERM}
    inside = [row for row, counts in zip(rows, counted, strict=True) if counts]
    mean = max(sum(map(len, inside)) / len(inside), 1) if inside else 1
    weight = {}
    for term in query:
        holding = sum(term in row for row in inside)
        weight[term] = math.log(1 + (len(inside) - holding + 0.5) / (holding + 0.5))
    scores = []
    for row in rows:
        score = 0
        for term, count in Counter(row).items():
            if term in query:
                factor = count * (K1 + 1) / (count + K1 * (1 - B + B * len(row) / mean))
                score += weight[term] * max(factor, MIN_TERM_FACTOR)
        scores.append(score / sum(weight.values()) if query and inside else 0)
    return scores


@given(ROWS, st.lists(TERM, max_size=6), st.data())
def test_coverage_is_that_of_a_plain_bm25(rows, query, data):
    counted = data.draw(st.lists(st.booleans(), min_size=len(rows), max_size=len(rows)))
    found = coverage(loaded(rows), query, np.array(counted))
    assert found.tolist() == pytest.approx(plain(rows, query, counted), rel=1e-4, abs=1e-6)


@given(ROWS, ROWS, st.lists(TERM, max_size=6))
def test_rows_added_later_score_like_loaded_ones(first, later, query):
    grown = loaded(first)
    for row in later:
        grown.add(row)
    counted = np.ones(len(first) + len(later), np.bool_)
    whole = loaded([*first, *later])
    assert np.allclose(coverage(grown, query, counted), coverage(whole, query, counted), rtol=1e-5)
    assert np.array_equal(grown.asks, whole.asks)


@given(ROWS, st.lists(TERM, min_size=1, max_size=6))
def test_a_question_asked_twice_over_covers_the_same(rows, query):
    index, counted = loaded(rows), np.ones(len(rows), np.bool_)
    assert np.array_equal(coverage(index, query, counted), coverage(index, query * 2, counted))


def test_an_empty_index_covers_nothing():
    index = LexicalIndex(HASHER)
    assert coverage(index, [1], np.zeros(0, np.bool_)).tolist() == []
    index.load(np.zeros(0, np.int32), np.zeros(1, np.int64))
    assert coverage(index, [1], np.zeros(0, np.bool_)).tolist() == []


def test_a_row_without_terms_covers_nothing():
    assert coverage(loaded([[], [1]]), [1], np.ones(2, np.bool_))[0] == 0


@given(ROWS, ROWS, st.lists(TERM, max_size=6), st.data())
def test_sorting_changes_speed_alone(first, later, query, data):
    index, other = loaded(first), loaded(first)
    index.sort()
    for row in later:
        index.add(row)
        other.add(row)
    counted = np.array(data.draw(st.lists(st.booleans(), min_size=len(index), max_size=len(index))))
    assert np.array_equal(coverage(index, query, counted), coverage(other, query, counted))
    asked = set(query)
    assert index.document_frequencies(asked, counted) == other.document_frequencies(asked, counted)


@given(ROWS, ROWS, st.lists(TERM, min_size=1, max_size=6))
def test_postings_are_the_rows_of_a_term_each_once(first, later, query):
    index = loaded(first)
    for row in later:
        index.add(row)
    rows = [*first, *later]
    for _ in ("unsorted", "sorted"):
        for term, parts in index.postings(set(query) - {QUESTION_TERM}).items():
            found = {
                row: count for held, counts in parts for row, count in zip(held.tolist(), counts.tolist(), strict=True)
            }
            assert found == {number: row.count(term) for number, row in enumerate(rows) if term in row}
        index.sort()


@given(ROWS, ROWS, st.lists(TERM.filter(lambda term: term != QUESTION_TERM), min_size=1, max_size=6, unique=True))
def test_frequencies_are_the_numbers_of_rows(first, later, query):
    index = loaded(first)
    for row in later:
        index.add(row)
    for _ in ("unsorted", "sorted"):
        counted = [sum(term in row for row in [*first, *later]) for term in query]
        assert index.frequencies(query).tolist() == counted
        index.sort()


@given(ROWS, ROWS)
def test_the_terms_of_a_row_are_kept_in_order(first, later):
    index = loaded(first)
    for row in later:
        index.add(row)
    assert [index.terms_of(row).tolist() for row in range(len(index))] == [*first, *later]


@given(ROWS, TERM.filter(lambda term: term != QUESTION_TERM), st.data())
def test_the_frequency_of_a_term_is_the_number_of_its_rows(rows, term, data):
    index = loaded(rows)
    counted = np.array(data.draw(st.lists(st.booleans(), min_size=len(rows), max_size=len(rows))))
    holding = np.array([term in row for row in rows])
    assert index.document_frequencies([term], counted) == [(holding & counted).sum()]


def test_rows_that_ask_are_known():
    assert loaded([[1, QUESTION_TERM], [1], [QUESTION_TERM]]).asks.tolist() == [True, False, True]
