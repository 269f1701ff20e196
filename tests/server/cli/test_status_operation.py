"""What the operation `status` finds out alongside the counts: who asked and told something, what is new, what waits."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest

from hybrid_memory.model import MemoryType, Origin, Scope
from hybrid_memory.requests import ForgetRequest, ReadRequest, UpdateRequest, WriteRequest
from hybrid_memory.service.memory_service import MemoryService
from hybrid_memory.service.reading_journal import Shown
from hybrid_memory.store.memory.store import MemoryStore
from hybrid_memory.store.readings import Way
from hybrid_memory.testing import FakeClock, FakeRandomSource, HashEmbedder
from hybrid_memory_mcp.admin import status_operation
from hybrid_memory_mcp.admin.acting import PERSON_ON_PAGE

ADA = Scope(session="s", actor="claude-code")


@pytest.fixture
def clock():
    return FakeClock()


@pytest.fixture
def service(clock):
    service = MemoryService(MemoryStore(clock), HashEmbedder(), clock=clock, random_source=FakeRandomSource(3))
    yield service
    service.close()


@pytest.fixture
def status(service, tmp_path, monkeypatch):
    monkeypatch.setattr(status_operation, "synchronised_folders", lambda _: [])

    def status(**arguments):
        request = SimpleNamespace(
            run=lambda work: work(service), scope=ADA, home=tmp_path, arguments=arguments, clients=list
        )
        return status_operation.status(request)

    return status


@pytest.fixture
def say(service):
    def say(text, scope=ADA, **fields):
        given = {"memory_type": MemoryType.LONG_TERM, "origin": Origin.USER} | fields
        return service.write(scope, WriteRequest(content=text, **given)).id

    return say


def test_a_hook_counts_as_its_client_and_what_a_person_does_is_no_clients(status, say, clock):
    say("Ada keeps bees.")
    clock.advance(hours=1)
    later = clock.now().isoformat(timespec="seconds")
    say("Ada keeps goats.", replace(ADA, actor="hook of claude-code"))
    clock.advance(hours=1)
    for actor in ("command line", PERSON_ON_PAGE):
        say(f"Said by {actor}.", replace(ADA, actor=actor))
    assert status()["used"] == {"claude-code": {"asked": None, "told": later}}


def test_who_used_it_last_comes_first_wherever_that_was(status, say, service, clock):
    say("Ada keeps bees.")
    clock.advance(hours=1)
    project = replace(ADA, namespace="project:acme", personal="default", actor="codex")
    request = ReadRequest(query="bees")
    service.journal.note(project, Way.TOOL, request, service.read(project, request), Shown(), service.now())
    found = status()["used"]
    assert list(found) == ["codex", "claude-code"]
    assert found["codex"] == {"asked": clock.now().isoformat(timespec="seconds"), "told": None}


def test_the_newest_are_those_that_hold_and_are_not_older_than_a_week(status, say, service, clock):
    say("Ada lived in Rome.")
    clock.advance(days=8)
    kept = say("Ada keeps bees.")
    clock.advance(seconds=1)
    gone = say("Ada keeps a tiger.")
    service.forget(ADA, ForgetRequest(ids=(gone,)))
    lately = status()["lately"]
    assert [one["id"] for one in lately["newest"]] == [kept]
    assert (lately["learned"], lately["forgotten"]) == (2, 1)


def test_what_was_said_in_passing_is_not_among_the_newest_as_no_list_has_it(status, say):
    kept = say("Ada keeps bees.")
    say("It rained all morning.", memory_type=MemoryType.SHORT_TERM, episode=True)
    assert [one["id"] for one in status()["lately"]["newest"]] == [kept]


def test_what_waits_is_counted_by_its_reason(status, say):
    say("Ada keeps bees.")
    say("Ada keeps wasps.", origin=Origin.TOOL)
    assert [(one["kind"], one["count"]) for one in status()["needs_you"] if one["kind"] != "health"] == [
        ("untrusted", 1)
    ]


def test_what_was_forgotten_and_brought_back_is_not_counted_as_forgotten(status, say, service):
    bees, tiger = say("Ada keeps bees."), say("Ada keeps a tiger.")
    for one in (bees, tiger):
        service.acts.undo(ADA, service.acts.forget(ADA, [one]).undo)
    assert status()["lately"]["forgotten"] == 0
    service.acts.forget(ADA, [tiger])
    assert status()["lately"]["forgotten"] == 1
    service.acts.undo(ADA, service.acts.restore(ADA, [tiger]).undo)
    assert status()["lately"]["forgotten"] == 1


def test_a_correction_that_was_undone_is_not_counted_and_one_done_again_is(status, say, service):
    bees = say("Ada keeps bees.")
    corrected = service.acts.edit(ADA, UpdateRequest(id=bees, content="Ada keeps goats."))
    undone = service.acts.undo(ADA, corrected.undo)
    counted = status()["lately"]
    assert (counted["learned"], counted["corrected"], counted["forgotten"]) == (1, 0, 0)
    service.acts.undo(ADA, undone.undo)
    counted = status()["lately"]
    assert (counted["learned"], counted["corrected"], counted["forgotten"]) == (1, 1, 0)


def test_the_project_at_hand_is_counted_and_others_apart(status, say, service):
    say("Ada keeps bees.")
    for project in ("acme", "blog", "shop"):
        say(f"{project} uses Rust.", replace(ADA, namespace=f"project:{project}"))
    gone = replace(ADA, namespace="project:gone")
    service.acts.forget(gone, [say("gone uses Rust.", gone)])
    found = status(project="project:acme")
    assert (found["memories"], found["of_project"]) == (1, {"memories": 1, "insights": 0})
    assert found["others"] == {"project:blog": 1, "project:shop": 1}
    assert len(found["lately"]["newest"]) == 2
    assert "of_project" not in status()
