"""Thousands of vectors against plain arithmetic: the nearest are found, the dead are not, and a new index says the same."""

import numpy as np
import pytest
from tests.core.store.making import always, memory
from tests.stress.cases import seed_of_one

from hybrid_memory.model import MemoryId, Scope
from hybrid_memory.requests import ForgetRequest, UpdateRequest
from hybrid_memory.service.memory_service import MemoryService
from hybrid_memory.store.duck.store import DuckStore
from hybrid_memory.store.duck.vss import extension_file
from hybrid_memory.store.writing import Insert
from hybrid_memory.testing import FakeClock, FakeRandomSource, HashEmbedder

WIDTH = 384
ASKED = 100
NEAREST = 10
RECALL = 0.95
SCOPE = Scope(session="s-1", actor="stress")
FULL = [pytest.mark.stress, pytest.mark.timeout(300)]
SCANNED = 10**9
WITH_EXTENSION = pytest.mark.skipif(extension_file() is None, reason="the package of the extension is not installed")

pytestmark = pytest.mark.usefixtures("quick_binding")


class Shelf:
    """A store of many vectors, and alongside it what should be found there."""

    def __init__(self, path, count, hnsw_from, seed):
        self.path, self.hnsw_from = path, hnsw_from
        self.clock, self.random_source = FakeClock(), FakeRandomSource(seed)
        self.draw = np.random.default_rng(seed)
        self.live = self._put(count)
        self.dead = set()
        self.open()

    def _put(self, count):
        vectors = unit(count, self.draw)
        names = [f"m{number:019d}" for number in range(count)]
        store = DuckStore.open(self.path, self.clock)
        store.pin_embedder(HashEmbedder(WIDTH).identity, WIDTH)
        for at in range(0, count, 250):
            pairs = zip(names[at : at + 250], vectors[at : at + 250], strict=True)
            store.write("default", None, always(inserts=tuple(Insert(memory(name), vector) for name, vector in pairs)))
        store.close()
        return dict(zip(map(MemoryId, names), vectors, strict=True))

    def open(self):
        store = DuckStore.open(self.path, self.clock)
        self.service = MemoryService(
            store, HashEmbedder(WIDTH), clock=self.clock, random_source=self.random_source, hnsw_from=self.hnsw_from
        )

    def index(self):
        index = self.service._index_cache.get("default")
        index.sort()  # as a thread does when an index was loaded; what is approximate begins there
        index._approximate.wait()
        assert index._approximate.ready is (self.hnsw_from < len(self.live))
        return index

    def change(self, count):
        """Forget so many memories and give as many new words."""
        chosen = self.draw.permutation(list(self.live))[: 2 * count].tolist()
        for at in range(0, count, 100):
            self.service.forget(SCOPE, ForgetRequest(ids=tuple(chosen[at : min(at + 100, count)])))
        for number, old in enumerate(chosen[count:]):
            new = self.service.update(SCOPE, UpdateRequest(id=old, content=f"new words {number} for it"))
            self.live[new.id] = self.service.store.vectors("default", [new.id])[new.id]
        for one in chosen:
            del self.live[one]
        self.dead.update(chosen)

    def found(self, questions):
        index, now = self.index(), self.service.now()
        return [[one for one, _ in index.similar(one, k=NEAREST, floor=-1, now=now)] for one in questions]

    def recall(self, questions):
        """Return the share of the truly nearest that are found."""
        ids, matrix = list(self.live), np.array(list(self.live.values()))
        wanted = [{ids[row] for row in np.argsort(-(matrix @ one))[:NEAREST].tolist()} for one in questions]
        pairs = zip(wanted, self.found(questions), strict=True)
        return sum(len(true & set(found)) for true, found in pairs) / (NEAREST * len(questions))


def unit(count, draw):
    """Return unit vectors that gather around some centres, as texts do."""
    centres = np.random.default_rng(1).standard_normal((40, WIDTH))
    made = centres[draw.integers(0, 40, count)] + 0.7 * draw.standard_normal((count, WIDTH))
    return (made / np.linalg.norm(made, axis=1)[:, None]).astype(np.float32)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("count", "changes", "hnsw_from"),
    [
        pytest.param(300, 20, SCANNED, id="few, scanned"),
        pytest.param(5000, 500, SCANNED, marks=FULL, id="scanned"),
        pytest.param(5000, 500, 1000, marks=[*FULL, WITH_EXTENSION], id="approximately"),
    ],
)
def test_the_nearest_are_found_and_the_dead_are_not_after_changes_a_restart_and_a_lost_index(
    tmp_path, count, changes, hnsw_from
):
    shelf = Shelf(tmp_path / "memory.duckdb", count, hnsw_from, seed_of_one())
    questions = unit(ASKED, shelf.draw)
    scans = hnsw_from > count
    least = 1.0 if scans else RECALL
    try:
        assert shelf.recall(questions) >= least
        shelf.change(changes)
        assert shelf.recall(questions) >= least
        before = shelf.found(questions)
        assert shelf.dead.isdisjoint(one for found in before for one in found)
        shelf.service._index_cache.keep_only([])
        after_loss = shelf.found(questions)
        shelf.service.close()
        shelf.open()
        after_restart = shelf.found(questions)
        assert shelf.recall(questions) >= least
        assert shelf.dead.isdisjoint(one for found in after_restart for one in found)
        if scans:
            assert after_loss == after_restart == before
    finally:
        shelf.service.close()
