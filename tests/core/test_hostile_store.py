"""A service over a store's file in which somebody planted rows: others are found, written, changed and forgotten as ever."""

from __future__ import annotations

import random

import pytest
from tests.core.store.empty_database import lay_empty
from tests.core.store.hostile_rows import HARMLESS, UNREADABLE, set_values

from hybrid_memory.admin.export_import import export_store
from hybrid_memory.admin.health_check import check, repair
from hybrid_memory.model import MemoryType, Scope
from hybrid_memory.requests import ForgetRequest, ReadRequest, UpdateRequest, Where, WriteRequest
from hybrid_memory.service.memory_service import MemoryService
from hybrid_memory.settings import DATABASE, StoreSettings
from hybrid_memory.store.duck.store import DuckStore
from hybrid_memory.store.findings import Severity
from hybrid_memory.testing import FakeClock, FakeRandomSource, HashEmbedder

SCOPE = Scope(session="morning", actor="test")
CASES = [one for one in (*UNREADABLE, *HARMLESS) if one[0] != "id"]


def opened(home, clock):
    clock.advance(hours=1)  # ids are made of the time
    store = DuckStore.open(home / DATABASE, clock)
    settings = StoreSettings(sensory_buffer=4)
    return MemoryService(store, HashEmbedder(), clock=clock, random_source=FakeRandomSource(), settings=settings)


def goes_on(service, ids):
    """Do with the other memories whatever can be done."""
    service.warm_up(SCOPE)
    service.status(SCOPE)
    for query in ("tea at noon", "what about number 3?", "", "yesterday"):
        service.read(SCOPE, ReadRequest(query=query))
    service.read(SCOPE, ReadRequest(query="tea", where=Where(as_of=service.now(), tags=("t",))))
    service.read(SCOPE, ReadRequest(ids=tuple(ids)))
    assert service.get(SCOPE, ids[-1]).content == f"tea at noon, number {len(ids) - 1}"
    for number in range(9):
        service.write(SCOPE, WriteRequest(content=f"coffee number {number}"))
    service.write(SCOPE, WriteRequest(content="tea at noon, number 0"))
    service.update(SCOPE, UpdateRequest(id=ids[-1], importance=0.9))
    service.forget(SCOPE, ForgetRequest(ids=(ids[-1],)))
    service.forget(SCOPE, ForgetRequest(ids=(ids[-1],), restore=True))
    service.offer_reflection(SCOPE)
    service.recent(SCOPE)
    service.end_session(SCOPE)
    service.flush_recalls()


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, *[pytest.param(one, marks=pytest.mark.stress) for one in range(1, 30)]])
def test_whatever_stands_in_most_rows_the_others_live(tmp_path, seed):
    rng = random.Random(seed)
    home, clock = tmp_path / "home", FakeClock()
    lay_empty(home)
    service = opened(home, clock)
    sorts = (MemoryType.SHORT_TERM, MemoryType.LONG_TERM, MemoryType.EPISODIC)
    ids = [
        service.write(SCOPE, WriteRequest(content=f"tea at noon, number {n}", tags=("t",), memory_type=sorts[n % 3])).id
        for n in range(24)
    ]
    service.close()
    set_values(home / DATABASE, {id_: rng.choice(CASES) for id_ in ids[:-1]})
    service = opened(home, clock)
    goes_on(service, ids)
    export_store(service.store, tmp_path / "all.jsonl", on_progress=lambda *_: None)
    service.close()
    repair(home, clock)
    # Words that were changed in the file are still told; that is what somebody did to them.
    said = [one.what for one in check(home, clock).findings if one.severity is Severity.ERROR]
    assert all("other words" in one for one in said)
    service = opened(home, clock)
    assert not [one for one in service.status(SCOPE).notices if "cannot be read" in one]
    goes_on(service, ids)
    service.close()
