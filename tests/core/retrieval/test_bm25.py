"""How rows match the words of a question, by the words themselves and by near ones."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybrid_memory.names import undecided
from hybrid_memory.retrieval import bm25
from hybrid_memory.retrieval.bm25 import K1, MIN_TERM_FACTOR, B, LexicalIndex, count_terms, per_term_scores
from hybrid_memory.retrieval.query_expansion import NO_EXPANSIONS, ExpansionTable, _columns, expansion_table
from hybrid_memory.retrieval.question import Question, QuestionWord
from hybrid_memory.retrieval.ranking_parameters import RankingParameters
from hybrid_memory.retrieval.term_weights import MAX_EXPANDED_TERMS, weigh
from hybrid_memory.terms import TermHasher
from hybrid_memory.testing import HASHER

TERM = st.integers(1, 6)
ROWS = st.lists(st.lists(TERM, max_size=8), min_size=1, max_size=10)
QUERY = st.lists(TERM, min_size=1, max_size=5)
# 1 is near to 2 (weight .8) and 3 (.4), 2 to 1 (.6)
NEAR = ExpansionTable(
    np.int32([1, 2, 3]), np.uint16([[1, 2], [0, 0], [0, 0]]), np.uint8([[204, 102], [153, 0], [0, 0]])
)


def index_of(rows):
    index = LexicalIndex(HASHER)
    for row in rows:
        index.add(row)
    return index


NEARLY = RankingParameters(near_weight=1.0, unknown_near_weight=0.0)


def question_of(terms):
    return Question(words=tuple(map(QuestionWord, dict.fromkeys(terms))))


def score(index, query, counted, table, parameters=NEARLY):
    """Score rows by words whose near words count as much as the table says."""
    return bm25.score(index, weigh(question_of(query), index, counted, table, parameters).query_terms)


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


def plainly_expanded(rows, words):
    """Return for each row the sum of the shares of the words, each as well had as the best of what may stand in for it."""
    return [
        sum(
            share * max(weight * plain_factor(row, term, words.mean_length) for term, weight in expansions.items())
            for share, expansions in zip(words.shares, words.expansions, strict=True)
        )
        for row in rows
    ]


def plain_factor(row, term, mean_length):
    count = row.count(term)
    factor = count * (K1 + 1) / (count + K1 * (1 - B + B * len(row) / mean_length))
    return max(factor, MIN_TERM_FACTOR) if count else 0


@given(ROWS, ROWS, QUERY)
def test_a_row_has_each_word_as_well_as_the_best_of_its_near_words(first, later, query):
    rows = first + later
    found = score(grown(first, later), query, everything(rows), NEAR)
    assert found.expanded.tolist() == pytest.approx(plainly_expanded(rows, found.query_terms), rel=1e-4, abs=1e-6)


@given(ROWS, QUERY)
def test_near_words_add_to_what_the_words_themselves_give(rows, query):
    found = score(index_of(rows), query, everything(rows), NEAR)
    assert np.all(found.expanded >= found.exact - 1e-6)
    assert (found.exact > 0).tolist() == holds_any(rows, query)
    assert (found.expanded > 0).tolist() == holds_any(rows, [near for term in query for near in NEAR.expansions(term)])


@given(ROWS, QUERY)
def test_without_near_words_rows_are_covered_by_the_words_themselves(rows, query):
    found = score(index_of(rows), query, everything(rows), NO_EXPANSIONS)
    assert np.allclose(found.expanded, found.exact, atol=1e-6)
    assert (found.expanded > 0).tolist() == holds_any(rows, query)


@given(ROWS, QUERY)
def test_near_words_do_not_change_the_exact_match(rows, query):
    index, counted = index_of(rows), everything(rows)
    exact = score(index, query, counted, NEAR).exact
    assert np.array_equal(exact, score(index, query, counted, NO_EXPANSIONS).exact)
    assert (exact > 0).tolist() == holds_any(rows, query)


@given(ROWS, QUERY)
def test_the_shares_of_the_words_make_one(rows, query):
    words = score(index_of(rows), query, everything(rows), NEAR).query_terms
    assert sum(words.shares) == pytest.approx(1)


@given(ROWS, QUERY)
def test_word_by_word_the_match_is_the_same(rows, query):
    index = index_of(rows)
    found = score(index, query, everything(rows), NEAR)
    each = per_term_scores(found.query_terms, count_terms([index.terms_of(row) for row in range(len(rows))]))
    together = each @ np.array(found.query_terms.shares, np.float32)
    unbounded = found.expanded <= 1
    assert np.all(together <= found.expanded + 1e-5)
    assert np.allclose(
        together[unbounded & (each < 1).all(axis=1)], found.expanded[unbounded & (each < 1).all(axis=1)], atol=1e-5
    )


def test_a_row_has_a_word_as_well_as_the_best_of_its_near_words():
    found = score(index_of([[2], [3], [2, 3], [4]]), [1], everything([1] * 4), NEAR)
    assert found.expanded[0] > found.expanded[1] > 0
    assert found.expanded[2] <= found.expanded[0] * 1.2
    assert found.expanded[3] == 0
    assert not found.exact.any()


def test_a_question_without_words_matches_nothing():
    found = score(index_of([[1], [2]]), [], everything([1, 2]), NEAR)
    assert not found.expanded.any()
    assert per_term_scores(found.query_terms, count_terms([np.int32([1])])).shape == (1, 0)


def test_only_the_rarest_words_of_a_long_question_have_others_stand_in():
    asked = list(range(1, 2 * MAX_EXPANDED_TERMS + 1))
    near = ExpansionTable(np.int32(asked), np.uint16([[0]] * len(asked)), np.uint8([[100]] * len(asked)))
    rows = [asked, *([term] for term in asked[MAX_EXPANDED_TERMS:])]
    words = score(index_of(rows), asked, everything(rows), near).query_terms
    assert [len(expansions) > 1 for expansions in words.expansions[1:]] == [True] * (MAX_EXPANDED_TERMS - 1) + [
        False
    ] * MAX_EXPANDED_TERMS


def test_a_long_question_and_long_memories_need_little_memory():
    rows = [list(range(500 * row, 500 * (row + 1))) for row in range(12)]
    words = score(index_of(rows), range(0, 6_000, 20), everything(rows), NO_EXPANSIONS).query_terms
    held = count_terms([np.int32(row) for row in rows])
    tracemalloc.start()
    try:
        assert per_term_scores(words, held).shape == (12, 300)
        assert tracemalloc.get_traced_memory()[1] < 10_000_000
    finally:
        tracemalloc.stop()


def test_a_word_is_its_own_nearest():
    assert NEAR.expansions(1)[1] == 1.0
    assert NEAR.expansions(77) == {77: 1.0}


def test_weights_lie_between_nothing_and_one():
    assert NEAR.expansions(1) == {1: 1.0, 2: 0.8, 3: 0.4}


@pytest.mark.parametrize(
    ("asked", "said"),
    [("doctor", "physician"), ("car", "vehicle"), ("child", "kids"), ("happy", "glad")],
)
def test_the_shipped_table_knows_english_words(asked, said):
    assert 0 < expansion_table(HASHER).expansions(HASHER.terms(asked)[0]).get(HASHER.terms(said)[0], 0) <= 1


def test_the_shipped_table_names_no_word_that_says_nothing():
    table = expansion_table(HASHER)
    assert table.expansions(HASHER.terms("Zwinglikirche")[0]) == {HASHER.terms("Zwinglikirche")[0]: 1.0}


@pytest.mark.parametrize("held", [None, b"", b"no array"])
def test_missing_or_broken_files_leave_the_words_themselves(tmp_path, monkeypatch, held):
    if held is not None:
        (tmp_path / "hashes.npy").write_bytes(held)
    monkeypatch.setattr("hybrid_memory.retrieval.query_expansion.DATA", tmp_path)
    _columns.cache_clear()
    try:
        assert expansion_table(TermHasher(3)) is NO_EXPANSIONS
    finally:
        _columns.cache_clear()


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
