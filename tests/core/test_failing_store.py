"""The store fails at each of its calls in turn: a verb of the service is done whole or not at all, and works when repeated."""

from dataclasses import replace

import pytest

from hybrid_memory.errors import ConcurrentModification, EngineUnavailable, OutcomeUnknown
from hybrid_memory.model import Scope
from hybrid_memory.requests import ForgetRequest, Insight, ReadRequest, UpdateRequest, Where, WriteRequest
from hybrid_memory.service.memory_service import MemoryService
from hybrid_memory.store.memory.store import MemoryStore
from hybrid_memory.testing import FakeClock, FakeRandomSource, HashEmbedder

SCOPE = Scope(session="one", actor="test")


class Failing:
    """A store whose n-th call from now on fails before it does anything."""

    def __init__(self, store):
        self._store = store
        self.left = None

    def __getattr__(self, name):
        found = getattr(self._store, name)
        if not callable(found):
            return found

        def call(*given, **named):
            if self.left is not None:
                self.left -= 1
                if self.left == 0:
                    raise EngineUnavailable("the engine failed before anything was changed; try again")
            return found(*given, **named)

        return call


OPERATIONS = {
    "write": lambda service, _: service.write(SCOPE, WriteRequest(content="the piano is out of tune")),
    "repeat": lambda service, _: service.write(SCOPE, WriteRequest(content="tea number 1")),
    "correct": lambda service, ids: service.update(SCOPE, UpdateRequest(id=ids[2], content="coffee number 2")),
    "rate": lambda service, ids: service.update(SCOPE, UpdateRequest(id=ids[3], importance=0.9)),
    "forget": lambda service, ids: service.forget(SCOPE, ForgetRequest(ids=(ids[4],))),
    "restore": lambda service, ids: service.forget(SCOPE, ForgetRequest(ids=(ids[0],), restore=True)),
    "find": lambda service, _: service.read(SCOPE, ReadRequest(query="tea")),
    "show": lambda service, ids: service.read(SCOPE, ReadRequest(ids=(ids[1],))),
    "brief": lambda service, _: service.read(SCOPE, ReadRequest()),
    "filter": lambda service, _: service.read(SCOPE, ReadRequest(query="tea", where=Where(session="one"))),
    "offer": lambda service, _: service.offer_reflection(SCOPE),
    "reflect": lambda service, ids: service.store_insights(SCOPE, [Insight(text="fond of tea", evidence=(ids[1],))]),
    "end": lambda service, _: service.end_session(SCOPE),
    "flush_recalls": lambda service, _: service.flush_recalls(),
    "status": lambda service, _: service.status(SCOPE),
}


def made():
    clock = FakeClock()
    store = Failing(MemoryStore(clock))
    service = MemoryService(store, HashEmbedder(8), clock=clock, random_source=FakeRandomSource(3))
    ids = [service.write(SCOPE, WriteRequest(content=f"tea number {number}")).id for number in range(7)]
    service.forget(SCOPE, ForgetRequest(ids=(ids[0],)))
    service.read(SCOPE, ReadRequest(query="tea number 3"))
    return store, service, ids


def state(store):
    """Return what is stored, but for ids and the log."""
    head = store.head("default")
    named = {entry.id for entry in store.changes("default", 0, 10**6)}
    found = store.get("default", named)
    rows = (
        (one.content, one.tier, one.importance, one.forgotten_at is None, one.superseded_by is None)
        for one in found.values()
    )
    return head, sorted(rows, key=repr)


@pytest.mark.slow
@pytest.mark.parametrize("name", OPERATIONS)
def test_a_call_of_the_store_that_fails_leaves_a_verb_undone_and_repeatable(name):
    store, service, ids = made()
    before = state(store)
    OPERATIONS[name](service, ids)
    after = state(store)
    failures = 0
    while True:
        store, service, ids = made()
        store.left = failures + 1
        try:
            OPERATIONS[name](service, ids)
        except EngineUnavailable:
            raised = True
        else:
            raised = False
        has_failed, store.left = store.left <= 0, None
        assert state(store) == (before if raised else after)
        if not has_failed:
            break
        failures += 1
        OPERATIONS[name](service, ids)
        assert state(store) == after
    assert failures > 0 or name in {"brief", "offer", "filter"}
    assert state(store) == after


def test_a_write_that_is_done_is_told_although_the_store_cannot_be_read_then(monkeypatch):
    store, service, _ = made()

    def fail(*_):
        raise EngineUnavailable("the database cannot be reached; nothing was changed")

    write = store._store.write

    def write_and_fail(*given, **named):
        written = write(*given, **named)
        for name in ("get", "news", "snapshot"):
            monkeypatch.setattr(store._store, name, fail)
        # As where another hub has written meanwhile, so that the index has more to read than this.
        return replace(written, log=[replace(one, position=one.position + 1) for one in written.log])

    monkeypatch.setattr(store._store, "write", write_and_fail)
    assert service.write(SCOPE, WriteRequest(content="the piano is out of tune")).related == ()
    monkeypatch.undo()
    assert service.read(SCOPE, ReadRequest(query="piano")).hits[0].memory.content == "the piano is out of tune"


def test_recalls_whose_commit_nobody_knows_of_count_as_stored_and_keep_no_write_from_its_answer(monkeypatch):
    clock = FakeClock()
    service = MemoryService(MemoryStore(clock), HashEmbedder(), clock=clock, random_source=FakeRandomSource())
    one = service.write(SCOPE, WriteRequest(content="The ferry leaves at seven")).id
    service.read(SCOPE, ReadRequest(query="When does the ferry leave?"))
    write = service.store.write

    def lost(*given, **named):
        monkeypatch.setattr(service.store, "write", write)
        write(*given, **named)
        raise OutcomeUnknown

    monkeypatch.setattr(service.store, "write", lost)
    monkeypatch.setattr("hybrid_memory.service.waiting_recalls._RECALLS_BEFORE_WRITE", 1)
    service.write(SCOPE, WriteRequest(content="The piano is out of tune"))
    service.flush_recalls()
    assert service.store.usage("default", [one])[one].count == 1
    service.close()


def test_recalls_that_another_hub_was_in_the_way_of_wait_on_and_keep_no_write_from_its_answer(monkeypatch):
    clock = FakeClock()
    service = MemoryService(MemoryStore(clock), HashEmbedder(), clock=clock, random_source=FakeRandomSource())
    one = service.write(SCOPE, WriteRequest(content="The ferry leaves at seven")).id
    service.read(SCOPE, ReadRequest(query="When does the ferry leave?"))
    write = service.store.write

    def in_the_way(*_, **__):
        monkeypatch.setattr(service.store, "write", write)
        raise ConcurrentModification

    monkeypatch.setattr(service.store, "write", in_the_way)
    monkeypatch.setattr("hybrid_memory.service.waiting_recalls._RECALLS_BEFORE_WRITE", 1)
    service.write(SCOPE, WriteRequest(content="The piano is out of tune"))
    assert service.store.usage("default", [one]) == {}
    service.flush_recalls()
    assert service.store.usage("default", [one])[one].count == 1
    service.close()


def test_recalls_that_a_busy_store_did_not_take_count_once_when_it_does(monkeypatch):
    clock = FakeClock()
    service = MemoryService(MemoryStore(clock), HashEmbedder(), clock=clock, random_source=FakeRandomSource())
    scopes = [Scope(session="one", namespace=name) for name in ("first", "second")]
    ids = [service.write(scope, WriteRequest(content="The ferry leaves at seven")).id for scope in scopes]
    for scope in scopes:
        service.read(scope, ReadRequest(query="When does the ferry leave?"))
    write, failures = service.store.write, ["second"]

    def sometimes(namespace, *given, **options):
        if namespace in failures:
            failures.remove(namespace)
            raise EngineUnavailable("try again")
        return write(namespace, *given, **options)

    monkeypatch.setattr(service.store, "write", sometimes)
    with pytest.raises(EngineUnavailable):
        service.flush_recalls()
    service.flush_recalls()
    service.flush_recalls()
    counted = [
        next(iter(service.store.usage(scope.namespace, [one]).values())).count
        for scope, one in zip(scopes, ids, strict=True)
    ]
    assert counted == [1, 1]
    service.close()
