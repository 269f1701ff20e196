"""One memory's life, as the audit log tells it."""

from dataclasses import replace

import pytest
from tests.core.speaking import remember

from hybrid_memory.admin.history import memory_history
from hybrid_memory.errors import NotFound
from hybrid_memory.model import MemoryId
from hybrid_memory.requests import ForgetRequest, Insight, ReadRequest, UpdateRequest
from hybrid_memory.secret_detection.secret_policy import SecretPolicy
from hybrid_memory.store.writing import Update, WriteBatch


def told(service, scope, memory_id, secrets=None):
    return memory_history(service.store, scope.namespace, memory_id, secrets or SecretPolicy())


def happened(history):
    return [(event.action, event.note) for event in history.events]


def test_a_life_has_its_versions_and_what_happened_to_them(service, scope, clock):
    first = remember(service, scope, "The violin is in the attic").id
    clock.advance(seconds=60)
    second = service.update(
        replace(scope, actor="other client"), UpdateRequest(id=first, content="The violin is sold")
    ).id
    service.forget(scope, ForgetRequest(ids=(second,)))
    service.forget(scope, ForgetRequest(ids=(second,), restore=True))
    history = told(service, scope, first)
    assert [one.memory.content for one in history.versions] == ["The violin is in the attic", "The violin is sold"]
    events = [(event.id, event.action, event.by) for event in history.events if event.action != "recall"]
    assert (first, "remember", "test") in events
    assert (second, "update", "other client") in events
    assert any("forgotten" in note for _, note in happened(history))
    assert any("restored" in note for _, note in happened(history))
    assert any(f"superseded by {second}" in note for _, note in happened(history))
    assert [event.at for event in history.events] == sorted(event.at for event in history.events)


def test_each_version_has_the_same_history(service, scope):
    first = remember(service, scope, "The violin is in the attic").id
    second = service.update(scope, UpdateRequest(id=first, content="The violin is sold")).id
    assert told(service, scope, first).events == told(service, scope, second).events


def test_a_move_between_tiers_is_told_with_its_reason(service, scope):
    first = remember(service, scope, "I like the red bicycle", importance=0.9).id
    for number in range(20):
        remember(service, scope, f"filler {number} about the weather of the day", importance=0.6)
    moves = [note for _, note in happened(told(service, scope, first)) if " to " in note]
    assert moves
    assert all("(" in note for note in moves)


def test_recalls_are_counts(service, scope, clock):
    first = remember(service, scope, "The violin is in the attic").id
    clock.advance(seconds=60)
    service.read(scope, ReadRequest(query="Where is the violin?"))
    service.flush_recalls()
    (version,) = told(service, scope, first).versions
    assert (version.recalls, version.recalled_at) == (1, clock.now())


def test_serving_as_evidence_is_told(service, scope):
    first = remember(service, scope, "The violin is in the attic").id
    service.store_insights(scope, [Insight(text="Somebody plays music here", evidence=(first,))])
    assert ("reflect", "served as evidence") in happened(told(service, scope, first))


def test_secrets_are_masked_unless_they_are_revealed(service, scope):
    first = remember(service, scope, "The wifi password is hunter2").id
    assert "hunter2" not in repr(told(service, scope, first))
    assert "hunter2" in repr(memory_history(service.store, scope.namespace, first, None))


def test_what_never_was_is_told_so(service, scope):
    remember(service, scope, "The violin is in the attic")
    with pytest.raises(NotFound):
        told(service, scope, MemoryId("nobody"))
    with pytest.raises(NotFound):
        memory_history(service.store, "other", service.recent(scope)[0].id, None)


def test_a_history_ends_whatever_links_a_memory_has(service, scope):
    ids = [remember(service, scope, f"The violin {number}").id for number in range(2)]
    known = service.store.get(scope.namespace, ids)
    circle = [Update(replace(known[one], supersedes=other, superseded_by=other)) for one, other in (ids, ids[::-1])]
    service.store.write(scope.namespace, None, lambda _: WriteBatch(action="x", actor="x", updates=tuple(circle)))
    assert len(told(service, scope, ids[0]).versions) == 2
