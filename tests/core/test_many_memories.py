"""The memory as a whole above the crossovers that are meant for very many memories, with few."""

from __future__ import annotations

import pytest

from hybrid_memory.model import MemoryType, Scope
from hybrid_memory.requests import ForgetRequest, ReadRequest, UpdateRequest, Where, WriteRequest
from hybrid_memory.retrieval.vectors import Matrix
from hybrid_memory.service.memory_service import MemoryService
from hybrid_memory.settings import StoreSettings
from hybrid_memory.store.duck import engine
from hybrid_memory.store.duck.vss import extension_file
from hybrid_memory.testing import FakeClock, FakeRandomSource

PLACES = ("Porto", "Oslo", "Kyoto", "Quito", "Perth")
THINGS = ("bridge", "garden", "bicycle", "piano", "dentist", "report", "whale", "lantern")


@pytest.fixture
def open_service(tmp_path):
    opened = []

    def open_one(**options):
        opened.append(
            MemoryService.open(
                tmp_path, clock=FakeClock(), random_source=FakeRandomSource(), settings=StoreSettings(), **options
            )
        )
        return opened[-1]

    yield open_one
    for service in opened:
        service.close()


def fill(service, scope):
    return [
        service.write(scope, WriteRequest(content=f"The {thing} in {place}.", tags=(thing,))).id
        for place in PLACES
        for thing in THINGS
    ]


def answers(service, scope):
    asked = [f"Where is a {thing}?" for thing in THINGS]
    return [[(hit.memory.id, hit.weak) for hit in service.read(scope, ReadRequest(query=one)).hits] for one in asked]


@pytest.mark.slow
@pytest.mark.skipif(extension_file() is None, reason="the package of the extension is not installed")
def test_with_an_approximate_index_the_answers_to_few_memories_are_the_same(open_service):
    scope = Scope(session="s")
    plain = open_service()
    fill(plain, scope)
    expected = answers(plain, scope)
    plain.close()
    approximate = open_service(hnsw_from=10)
    index = approximate._index_cache.get(scope.namespace)
    index.sort()
    index._matrix.approximate.wait()
    assert index._matrix.approximate.ready
    assert answers(approximate, scope) == expected


@pytest.mark.daily
@pytest.mark.slow
def test_a_large_store_is_written_by_other_plans_to_the_same_effect(open_service, monkeypatch):
    found = []
    for large in (10**9, 0):
        monkeypatch.setattr(engine, "_LARGE_STORE_MEMORIES", large)
        service = open_service()
        one = Scope(session="s", namespace=f"n{large}")
        ids = fill(service, one)
        service.update(one, UpdateRequest(id=ids[3], pinned=True))
        service.forget(one, ForgetRequest(ids=tuple(ids[5:8])))
        held = [service.store.get(one.namespace, ids)[memory] for memory in ids]
        found.append([(memory.content, memory.tier, memory.rev, memory.forgotten_at is None) for memory in held])
        service.close()
    assert found[0] == found[1]


@pytest.mark.slow
def test_a_brief_is_paged_without_gaps_or_repeats(open_service):
    service, scope = open_service(), Scope(session="s")
    ids = fill(service, scope)
    service.update(scope, UpdateRequest(id=ids[2], pinned=True))
    service.write(scope, WriteRequest(content="Write the report.", memory_type=MemoryType.WORKING, key="goal"))
    service.write(Scope(session="earlier"), WriteRequest(content="The harbour in Lima."))
    whole = service.read(scope, ReadRequest(limit=100))
    assert (whole.hits[0].memory.id, whole.hits[0].section) == (ids[2], "pinned")
    assert whole.hits[1].section == "open"
    shown, cursor = [], None
    while len(shown) < whole.total:
        page = service.read(scope, ReadRequest(limit=7, cursor=cursor))
        shown += [hit.memory.id for hit in page.hits]
        cursor = page.cursor_after(len(page.hits))
    assert shown == [hit.memory.id for hit in whole.hits]
    assert len(set(shown)) == whole.total == len(ids) + 2


@pytest.mark.slow
def test_a_brief_may_be_filtered(open_service):
    service, scope = open_service(), Scope(session="s")
    ids = fill(service, scope)
    service.update(scope, UpdateRequest(id=ids[2], pinned=True))
    found = service.read(scope, ReadRequest(where=Where(tags=("whale",))))
    assert {hit.memory.id for hit in found.hits} == set(ids[6::8])
    assert found.total == len(PLACES)


@pytest.mark.slow
@pytest.mark.skipif(extension_file() is None, reason="the package of the extension is not installed")
def test_a_reading_of_very_many_memories_asks_the_approximate_index(open_service, monkeypatch):
    scope = Scope(session="s")
    service = open_service(hnsw_from=10)
    fill(service, scope)
    index = service._index_cache.get(scope.namespace)
    index.sort()
    index._matrix.approximate.wait()
    scanned = []
    scores = Matrix.scores

    def counted(matrix, vector, rows=None):
        scanned.append(rows is None)
        return scores(matrix, vector, rows)

    monkeypatch.setattr(Matrix, "scores", counted)
    assert answers(service, scope)
    assert scanned
    assert not any(scanned)
