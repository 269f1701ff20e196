"""Very many vectors: an approximate index proposes, the matrix decides."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hybrid_memory.errors import EngineUnavailable
from hybrid_memory.retrieval import approximate_search
from hybrid_memory.retrieval.approximate_search import ApproximateSearch
from hybrid_memory.retrieval.vectors import Matrix
from hybrid_memory.store.duck import vss as duck_hnsw
from hybrid_memory.store.duck.vss import extension_file, open_hnsw

ROWS, WIDTH = 3_000, 32

pytestmark = pytest.mark.skipif(extension_file() is None, reason="the package of the extension is not installed")


def unit(count, seed=0):
    """Return unit vectors that gather around some centres, as texts do."""
    draw = np.random.default_rng(seed)
    centres = draw.standard_normal((20, WIDTH))
    made = centres[draw.integers(0, 20, count)] + 0.7 * draw.standard_normal((count, WIDTH))
    return (made / np.linalg.norm(made, axis=1)[:, None]).astype(np.float32)


def matrix_of(vectors):
    matrix = Matrix(vectors.shape[1])
    matrix.add_rows(len(vectors))
    matrix.fill(0, vectors)
    return matrix


def approximate_of(matrix, make=open_hnsw, begins=100):
    matrix.approximate = ApproximateSearch(matrix, threading.RLock(), make, begins)
    settle(matrix)
    return matrix.approximate


def settle(matrix, live=None):
    matrix.approximate.maintain(np.ones(len(matrix.has), np.bool_) if live is None else live)
    matrix.approximate.wait()


def exact(matrix, vector, count, mask):
    plain = np.where(mask & matrix.has, matrix.values @ vector, -np.inf)
    return np.argsort(-plain, kind="stable")[:count]


class Plain:
    """An index without the engine: finds the nearest of what it was given, or a few of them only."""

    def __init__(self, dimensions, loses=0):
        self.places, self.vectors, self.loses = np.zeros(0, np.int64), np.zeros((0, dimensions), np.float32), loses
        self.closed = self.built = False

    def add(self, places, vectors):
        self.places = np.append(self.places, places)
        self.vectors = np.concatenate((self.vectors, vectors))

    def build(self):
        self.built = True

    def nearest(self, vector, count):
        return self.places[np.argsort(-(self.vectors @ vector), kind="stable")[self.loses : count]]

    def close(self):
        self.closed = True


@pytest.fixture(scope="module")
def searched():
    matrix = matrix_of(unit(ROWS))
    yield matrix, approximate_of(matrix)
    matrix.approximate.close()


def test_the_engine_searches_its_graph(searched):
    _, approximate = searched
    assert "HNSW_INDEX_SCAN" in approximate._index.plan(30)


def test_ten_nearest_are_nearly_all_found(searched):
    matrix, approximate = searched
    everything = np.ones(ROWS, np.bool_)
    assert approximate.ready
    shares = []
    for vector in unit(40, seed=1):
        rows, cosines = matrix.top(vector, 10, everything)
        assert cosines.tolist() == pytest.approx((matrix.values[rows] @ vector).tolist(), abs=1e-6)
        shares.append(len(np.intersect1d(rows, exact(matrix, vector, 10, everything))) / 10)
    assert np.mean(shares) >= 0.95


@pytest.mark.slow
def test_a_selective_mask_is_scanned(searched):
    matrix, approximate = searched
    mask = np.arange(ROWS) % 50 == 0
    for vector in unit(5, seed=2):
        assert approximate.candidates(vector, 10, mask) is None
        assert matrix.top(vector, 10, mask)[0].tolist() == exact(matrix, vector, 10, mask).tolist()


def test_a_row_outside_the_mask_is_never_found(searched):
    matrix, _ = searched
    for vector in unit(10, seed=3):
        hidden = matrix.top(vector, 10, np.ones(ROWS, np.bool_))[0]
        mask = np.ones(ROWS, np.bool_)
        mask[hidden] = False
        assert not np.isin(hidden, matrix.top(vector, 10, mask)[0]).any()


def test_rows_since_the_index_was_made_are_found():
    matrix = matrix_of(unit(400))
    approximate = approximate_of(matrix, Plain)
    matrix.add_rows(1)
    newest = unit(1, seed=9)[0]
    matrix.put(400, newest)
    assert matrix.top(newest, 3, np.ones(401, np.bool_))[0][0] == 400
    assert len(approximate._index.places) == 400


def test_a_row_is_found_by_its_new_vector():
    matrix = matrix_of(unit(400))
    approximate_of(matrix, Plain)
    newest = unit(1, seed=9)[0]
    matrix.put(7, newest)
    rows, cosines = matrix.top(newest, 3, np.ones(400, np.bool_))
    assert (rows[0], cosines[0]) == (7, pytest.approx(1, abs=1e-5))


def test_where_too_few_remain_everything_is_scanned(monkeypatch):
    monkeypatch.setattr(approximate_search, "_MIN_FETCHED", 10)
    matrix = matrix_of(unit(400))
    approximate_of(matrix, lambda dimensions: Plain(dimensions, loses=8))
    vector, everything = unit(1, seed=4)[0], np.ones(400, np.bool_)
    assert matrix.top(vector, 2, everything)[0].tolist() != exact(matrix, vector, 2, everything).tolist()
    mask = everything.copy()
    mask[exact(matrix, vector, 10, everything)] = False
    assert matrix.top(vector, 2, mask)[0].tolist() == exact(matrix, vector, 2, mask).tolist()


def test_an_index_with_a_tenth_of_dead_rows_is_made_anew():
    matrix = matrix_of(unit(400))
    approximate = approximate_of(matrix, Plain)
    first, live = approximate._index, np.ones(400, np.bool_)
    live[:40] = False
    settle(matrix, live)
    assert approximate._index is first
    live[:41] = False
    settle(matrix, live)
    assert first.closed
    assert approximate._index.places.tolist() == list(range(41, 400))


def test_many_new_rows_go_into_the_index(monkeypatch):
    monkeypatch.setattr(approximate_search, "_MAX_UNINDEXED", 10)
    matrix = matrix_of(unit(400))
    approximate = approximate_of(matrix, Plain)
    matrix.add_rows(11)
    matrix.fill(400, unit(11, seed=5))
    settle(matrix)
    assert approximate._index.places.tolist() == list(range(411))
    assert approximate._unindexed(matrix.has).tolist() == []


def test_a_vector_that_changes_while_the_index_is_made_is_found():
    matrix = matrix_of(unit(400))
    newest = unit(1, seed=9)[0]

    class Slow(Plain):
        def build(self):
            matrix.put(3, newest)

    approximate_of(matrix, Slow)
    assert matrix.top(newest, 1, np.ones(400, np.bool_))[0].tolist() == [3]


def test_few_rows_need_no_index():
    matrix = matrix_of(unit(100))
    assert not approximate_of(matrix, Plain).ready


def test_without_the_package_search_is_exact_and_a_line_says_so(monkeypatch, caplog, capfd):
    monkeypatch.setattr(duck_hnsw, "_PACKAGE", "no_such_package_of_vectors")
    matrix = matrix_of(unit(400))
    approximate = approximate_of(matrix)
    settle(matrix)
    vector, everything = unit(1, seed=6)[0], np.ones(400, np.bool_)
    assert not approximate.ready
    assert matrix.top(vector, 5, everything)[0].tolist() == exact(matrix, vector, 5, everything).tolist()
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert capfd.readouterr().out == ""


def test_an_extension_that_cannot_be_loaded_is_no_error(monkeypatch, tmp_path, caplog):
    broken = tmp_path / "vss.duckdb_extension"
    broken.write_bytes(b"garbage")
    monkeypatch.setattr(duck_hnsw, "extension_file", lambda: broken)
    assert open_hnsw(4) is None
    assert "stays exact" in caplog.text


def test_an_index_that_fails_is_given_up():
    class Failing(Plain):
        def nearest(self, *_):
            raise EngineUnavailable("no")

    matrix = matrix_of(unit(400))
    approximate = approximate_of(matrix, Failing)
    vector, everything = unit(1, seed=6)[0], np.ones(400, np.bool_)
    assert matrix.top(vector, 5, everything)[0].tolist() == exact(matrix, vector, 5, everything).tolist()
    assert not approximate.ready


def test_closing_ends_it():
    matrix = matrix_of(unit(400))
    approximate = approximate_of(matrix, Plain)
    index = approximate._index
    approximate.close()
    settle(matrix)
    assert index.closed
    assert not approximate.ready


@settings(max_examples=30, deadline=None)
@given(st.data())
def test_what_is_found_passes_the_mask_and_is_in_order(data):
    matrix = matrix_of(unit(160, seed=data.draw(st.integers(0, 5))))
    loses = data.draw(st.integers(0, 2))
    approximate_of(matrix, lambda dimensions: Plain(dimensions, loses=loses), begins=10)
    for row in data.draw(st.lists(st.integers(0, 159), max_size=5)):
        matrix.clear(row)
    draw = np.random.default_rng(data.draw(st.integers(0, 99)))
    mask = draw.random(160) < data.draw(st.sampled_from([0.05, 0.5, 0.9, 1.0]))
    count = data.draw(st.integers(1, 20))
    vector = unit(1, seed=7)[0]
    rows, cosines = matrix.top(vector, count, mask)
    allowed = mask & matrix.has
    assert allowed[rows].all()
    assert len(rows) == len(set(rows.tolist())) == min(count, int(allowed.sum()))
    assert cosines.tolist() == sorted(cosines.tolist(), reverse=True)
    assert np.allclose(cosines, matrix.values[rows] @ vector, atol=1e-6)
