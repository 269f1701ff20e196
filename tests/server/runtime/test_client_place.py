"""When a client's place is looked for, and what holds while that does not come to an end."""

import json
import threading

import anyio
import anyio.lowlevel
import pytest

from hybrid_memory.model import Scope
from hybrid_memory_mcp.former_projects import read_former
from hybrid_memory_mcp.projects import Place
from hybrid_memory_mcp.runtime import client_place
from hybrid_memory_mcp.runtime.client_place import ClientPlace, RefusedHere

pytestmark = pytest.mark.anyio
SCOPE = Scope(session="s")
ACME = Place(project="acme")


class Looks:
    """Counts the looks; each waits until it may go on."""

    def __init__(self, *places, may_go_on=True):
        self.places = list(places)
        self.roots = []
        self.go = threading.Event()
        if may_go_on:
            self.go.set()

    def __call__(self, roots):
        self.roots.append(roots)
        assert self.go.wait(60)
        return self.places.pop(0) if len(self.places) > 1 else self.places[0]


async def test_without_a_way_to_find_it_the_scope_stays_as_it_is():
    where = ClientPlace(Scope(session="s", namespace="project:acme"))
    assert (await where.current()).refuses_writes is None
    assert where.scope == Scope(session="s", namespace="project:acme")


async def test_it_is_looked_for_at_the_first_call_and_then_now_and_then():
    looks = Looks(ACME)
    where = ClientPlace(SCOPE, looks)
    assert looks.roots == []
    for _ in range(3):
        assert await where.current() == ACME
    assert len(looks.roots) == 1
    assert where.scope.namespaces == ("project:acme", "default")


async def test_roots_are_looked_at_as_soon_as_they_are_told(monkeypatch):
    looks = Looks(ACME)
    where = ClientPlace(SCOPE, looks)
    await where.current()
    where.expect_roots()
    where.set_roots("/work")
    await where.current()
    assert [one[0] for one in looks.roots[-1]] == ["/work"]


async def test_calls_wait_for_roots_that_are_on_their_way():
    where = ClientPlace(SCOPE, Looks(ACME))
    where.expect_roots()
    done = []

    async def ask():
        done.append(await where.current())

    async with anyio.create_task_group() as group:
        group.start_soon(ask)
        await anyio.wait_all_tasks_blocked()
        assert done == []
        where.set_roots(None)
    assert done == [ACME]


async def test_roots_that_come_during_a_look_are_looked_at_before_the_call_goes_on():
    where = ClientPlace(SCOPE, looks := Looks(Place(), ACME, may_go_on=False))
    done = []

    async def ask():
        done.append(await where.current())

    async with anyio.create_task_group() as group:
        group.start_soon(ask)
        while not looks.roots:
            await anyio.lowlevel.checkpoint()
        where.set_roots("/work")
        looks.go.set()
    assert done == [ACME]


async def test_who_is_elsewhere_now_is_told(monkeypatch):
    monkeypatch.setattr(client_place, "LOOK_AGAIN_SECONDS", 0.0)
    where = ClientPlace(SCOPE, Looks(ACME, ACME, Place(project="beta"), ACME))
    moves = []
    where.on_move(lambda: moves.append(where.scope.namespace))
    for _ in range(5):
        await where.current()
    assert moves == ["project:beta", "project:acme"]


async def test_a_project_that_nothing_names_any_more_stays_unless_the_roots_are_others(monkeypatch):
    monkeypatch.setattr(client_place, "LOOK_AGAIN_SECONDS", 0.0)
    where = ClientPlace(SCOPE, Looks(ACME, Place()))
    await where.current()
    kept = await where.current()
    assert (kept.project, kept.is_kept) == ("acme", True)
    assert "stays in project acme" in kept.notices[0]
    where.set_roots("/work")
    assert (await where.current()).project is None


async def test_roots_that_a_client_cannot_tell_any_more_are_those_it_told(monkeypatch):
    monkeypatch.setattr(client_place, "LOOK_AGAIN_SECONDS", 0.0)
    where = ClientPlace(SCOPE, looks := Looks(ACME, Place()))
    where.set_roots("/work")
    await where.current()
    where.expect_roots()
    where.roots_unknown()
    assert (await where.current()).project == "acme"
    assert looks.roots[-1] == looks.roots[0]


async def test_a_later_hub_is_told_the_project_and_keeps_it():
    told = []
    where = ClientPlace(SCOPE, Looks(ACME))
    where.on_project(told.append)
    await where.current()
    later = ClientPlace(SCOPE, Looks(Place()))
    later.resume(read_former(json.loads(json.dumps(told[0].told()))))
    assert (await later.current()).project == "acme"


async def test_a_former_project_that_is_told_during_a_look_holds_for_the_call_that_waits():
    told = []
    before = ClientPlace(SCOPE, Looks(ACME))
    before.on_project(told.append)
    await before.current()
    where = ClientPlace(SCOPE, looks := Looks(Place(), may_go_on=False))
    done = []

    async def ask():
        done.append((await where.current()).project)

    async with anyio.create_task_group() as group:
        group.start_soon(ask)
        while not looks.roots:
            await anyio.lowlevel.checkpoint()
        where.resume(told[0])
        looks.go.set()
    assert done == ["acme"]


async def test_who_had_no_project_has_none():
    assert (await ClientPlace(SCOPE, Looks(Place())).current()).project is None


async def test_words_that_go_elsewhere_than_before_are_told(monkeypatch):
    monkeypatch.setattr(client_place, "LOOK_AGAIN_SECONDS", 0.0)
    where = ClientPlace(SCOPE, Looks(ACME, Place(project="beta")))
    assert (await where.current()).notices == ()
    where.note_use()
    (notice,) = (await where.current()).notices
    assert "project beta" in notice
    assert "project acme" in notice


async def test_where_a_folder_does_not_answer_memory_is_off_and_no_more_threads_wait_for_it(monkeypatch):
    monkeypatch.setattr(client_place, "LOOK_TIMEOUT_SECONDS", 0.01)
    looks = Looks(ACME, may_go_on=False)
    where = ClientPlace(SCOPE, looks)
    for _ in range(3):
        with pytest.raises(RefusedHere, match="does not answer"):
            await where.readable()
    assert len(looks.roots) <= 1  # none where the thread had not begun in time: it is given up then
    looks.go.set()


async def test_what_was_known_holds_while_the_folder_does_not_answer(monkeypatch):
    monkeypatch.setattr(client_place, "LOOK_AGAIN_SECONDS", 0.0)
    looks = Looks(ACME)
    where = ClientPlace(SCOPE, looks)
    await where.current()
    monkeypatch.setattr(client_place, "LOOK_TIMEOUT_SECONDS", 0.01)
    looks.go.clear()
    assert await where.current() == ACME
    looks.go.set()
