"""Words and vectors as one score."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from tests.core.retrieval.memories import NOW, index_of, memory, vector_of

from hybrid_memory.retrieval import fusion
from hybrid_memory.retrieval.query import SearchQuery
from hybrid_memory.retrieval.question import parse_question
from hybrid_memory.retrieval.ranking_parameters import FITTED
from hybrid_memory.retrieval.vectors import Matrix
from hybrid_memory.testing import HASHER

SCORES = arrays(np.float32, st.integers(1, 30), elements=st.floats(-4, 4, width=16))
SHARE = st.floats(0, 1)


@given(SCORES)
def test_relative_scores_reach_one_at_most(scores):
    found = fusion.relative(scores)
    assert found.max() <= 1 or scores.max() <= 0
    assert np.array_equal(np.argsort(found, kind="stable"), np.argsort(scores, kind="stable"))


@given(SCORES)
def test_standardized_likeness_has_no_mean(scores):
    assert fusion.standardized(scores, scores).mean() == pytest.approx(0, abs=1e-3)


def test_what_is_alike_throughout_says_nothing():
    assert fusion.standardized(np.float32([2, 2]), np.float32([2, 2])).tolist() == [0, 0]
    assert fusion.standardized(np.float32([1]), np.zeros(0, np.float32)).tolist() == [0]


@given(SHARE, SHARE, SHARE)
def test_vectors_count_the_more_the_less_the_memory_holds_of_the_question(a, b, known):
    low, high = sorted((a, b))
    spoken = np.array([True, False])
    less, more = (fusion.dense_weights(share, known, spoken, FITTED) for share in (low, high))
    assert np.all(less <= more)
    assert np.all((less >= 0) & (more <= FITTED.max_dense_weight))


@pytest.mark.parametrize(("share", "weight"), [(0.0, 0.0), (0.25, 0.0), (0.5, 0.5), (0.75, 1.0), (1.0, 1.0)])
def test_vectors_count_as_far_as_the_question_is_known(share, weight):
    assert fusion.known_weight(share, FITTED) == pytest.approx(weight)


@given(st.integers(0, 5_000))
def test_a_sample_is_small_and_rising(count):
    found = fusion.sample(np.arange(count))
    assert len(found) == min(count, fusion.SAMPLED_ROWS)
    assert np.all(np.diff(found) > 0)


@given(arrays(np.float32, st.tuples(st.integers(1, 12), st.just(4)), elements=st.floats(-1, 1, width=16)))
def test_centred_cosines_are_those_of_the_vectors_without_their_mean(vectors):
    lengths = np.linalg.norm(vectors, axis=1)
    vectors = vectors[lengths > 0.1] / lengths[lengths > 0.1, None]
    if not len(vectors):
        return
    matrix = Matrix(4)
    matrix.add_rows(len(vectors))
    matrix.fill(0, vectors)
    everything, asked = np.ones(len(vectors), np.bool_), vectors[0]
    centre = matrix.centre(everything, fusion.sample)
    found = matrix.centred_scores(asked, matrix.scores(asked), centre)
    rows, question = vectors - vectors.mean(axis=0), asked - vectors.mean(axis=0)
    sizes = np.linalg.norm(rows, axis=1) * np.linalg.norm(question)
    plain = np.divide(rows @ question, sizes, out=np.zeros(len(rows), np.float32), where=sizes > 1e-3)
    assert found[sizes > 1e-3] == pytest.approx(plain[sizes > 1e-3], abs=0.02)


def test_a_question_in_an_unknown_language_is_answered_by_words_alone():
    index = index_of(
        memory("words", "艾达的牙医"), memory("other", "my cat sleeps", minutes=1), memory("third", "tax", minutes=2)
    )
    asked = SearchQuery(
        question=parse_question("艾达的牙医是谁", NOW, HASHER), vector=vector_of("my cat sleeps"), now=NOW
    )
    ranking = index.search(asked)
    assert ranking.ids[0] == "words"
    assert not any("dense" in ranking.terms(place) for place in range(len(ranking)))


def test_vectors_of_many_languages_count_in_every_language():
    index = index_of(memory("cat", "my cat sleeps"), memory("tax", "tax", minutes=1))
    asked = SearchQuery(
        question=parse_question("谁在睡觉", NOW, HASHER), vector=vector_of("my cat sleeps"), multilingual=True, now=NOW
    )
    ranking = index.search(asked)
    assert ranking.ids[0] == "cat"
    assert ranking.terms(0)["dense"] > 0


def test_a_memory_without_a_vector_is_neither_near_nor_far():
    index = index_of(memory("cat", "my cat sleeps"), memory("dog", "my dog barks", minutes=1))
    index.apply(*late("tax"))
    ranking = index.search(SearchQuery(question=parse_question("cat", NOW, HASHER), vector=vector_of("cat"), now=NOW))
    assert "dense" not in ranking.terms(ranking.ids.index("tax"))


def late(name):
    from tests.core.retrieval.memories import entry

    one = memory(name, "taxes are due", minutes=5)
    return [entry(3, name)], {one.id: one}, {}
