"""Late work of several hubs over one store: one does it, the others leave it to that one, and go on with it when it dies."""

import pytest
from tests.core.several_hubs import hubs_over

from hybrid_memory.errors import ConcurrentModification, EmbedderUnavailable
from hybrid_memory.ids import new_session
from hybrid_memory.model import Scope
from hybrid_memory.store.memory.store import MemoryStore
from hybrid_memory.store.neighbours import OtherHub
from hybrid_memory.testing import FakeClock, FakeRandomSource, HashEmbedder


class Leases:
    """Who has which lease, among hubs that are named by numbers."""

    def __init__(self):
        self.holders = {}
        self.asked = []

    def of(self, hub):
        return lambda name, _seconds: self._take(hub, name)

    def _take(self, hub, name):
        self.asked.append((hub, name))
        if self.holders.setdefault(name, hub) != hub:
            return None
        return Held(self, name)

    def end_those_of(self, hub):
        self.holders = {name: holder for name, holder in self.holders.items() if holder != hub}


class Held:
    fence = 1
    is_held = True

    def __init__(self, leases, name):
        self._leases = leases
        self._name = name

    def release(self):
        self._leases.holders.pop(self._name, None)


class MissingModel(HashEmbedder):
    """A model that comes later, if at all."""

    is_here = False

    def embed(self, texts):
        if not self.is_here:
            raise EmbedderUnavailable("the model is not on this machine")
        return super().embed(texts)


@pytest.fixture
def leases():
    return Leases()


@pytest.fixture
def clock():
    return FakeClock()


def hubs_with(leases, clock, embedders, others=True):
    made = hubs_over(MemoryStore(clock), clock, len(embedders), embedders)
    for number, one in enumerate(made):
        one.store.lease = leases.of(number)
        told = [OtherHub("other", "1.0", clock.now(), clock.now())] if others else []
        one.store.other_hubs = lambda told=told: told
    return made


def without_vectors(hub):
    return hub.service.status(hub.scope).pending_vectors


@pytest.fixture
def late(leases, clock):
    """Two hubs whose model comes late, and a memory that waits for it."""
    models = [MissingModel(8), MissingModel(8)]
    hubs = hubs_with(leases, clock, models)
    hubs[0].store.pin_embedder(models[0].identity, 8)
    hubs[0].tell("Ada keeps bees")
    hubs[1].all()
    for model in models:
        model.is_here = True
    yield hubs
    for one in hubs:
        one.service.close()


def test_late_vectors_are_made_by_who_has_the_lease(late, leases):
    here, there = late
    leases.holders["vectors of default"] = 0
    assert not there.service.run_background_step()
    assert without_vectors(there) == 1
    assert here.service.run_background_step()
    assert without_vectors(here) == 0


def test_late_vectors_are_made_elsewhere_when_that_one_dies(late, leases):
    _, there = late
    leases.holders["vectors of default"] = 0
    there.service.run_background_step()
    leases.end_those_of(0)
    there.service.run_background_step()
    assert without_vectors(there) == 0


def test_when_nothing_is_left_to_do_the_lease_is_free(late, leases):
    here, _ = late
    here.service.run_background_step()
    assert "vectors of default" not in leases.holders


def test_who_has_no_model_does_not_take_the_work_from_who_has(leases, clock):
    here, there = hubs_with(leases, clock, [MissingModel(8), HashEmbedder(8)])
    here.store.pin_embedder(HashEmbedder(8).identity, 8)
    here.tell("Ada keeps bees")
    here.service.run_background_step()
    assert leases.holders.get("vectors of default") is None
    there.all()
    there.service.run_background_step()
    assert without_vectors(there) == 0


def test_who_has_no_model_searches_by_words_and_says_so(leases, clock):
    here, there = hubs_with(leases, clock, [MissingModel(8), HashEmbedder(8)])
    there.tell("Ada keeps bees")
    assert here.found("bees") == ["Ada keeps bees"]
    assert any("by words alone" in notice for notice in here.service.status(here.scope).notices)


# --- the embedder -------------------------------------------------------------------------------------------------------


def pinned(hub):
    return hub.store.info().embedder


def steps(hub, count=20):
    for _ in range(count):
        hub.service.run_background_step()


def test_a_hub_that_is_alone_changes_the_embedder_as_its_setting_says(leases, clock):
    former, (hub,) = HashEmbedder(8), hubs_with(leases, clock, [HashEmbedder(16)], others=False)
    hub.store.pin_embedder(former.identity, 8)
    hub.tell("Ada keeps bees")
    steps(hub)
    assert pinned(hub) == HashEmbedder(16).identity
    assert leases.holders == {}


def test_where_others_are_a_setting_changes_nothing_and_the_status_says_what_does(leases, clock):
    here, there = hubs_with(leases, clock, [HashEmbedder(8), HashEmbedder(16)])
    here.tell("Ada keeps bees")
    steps(there)
    assert pinned(there) == HashEmbedder(8).identity
    assert any("`hybrid-memory-mcp embedder use`" in notice for notice in there.service.status(there.scope).notices)


def test_the_command_changes_it_for_all(leases, clock):
    here, there = hubs_with(leases, clock, [HashEmbedder(8), HashEmbedder(16)])
    here.tell("Ada keeps bees")
    there.service.reembed()
    assert pinned(here) == HashEmbedder(16).identity


def test_two_commands_at_once_are_one_and_a_clear_error(leases, clock):
    here, there = hubs_with(leases, clock, [HashEmbedder(8), HashEmbedder(16)])
    here.tell("Ada keeps bees")
    leases.holders["embedder"] = 0
    with pytest.raises(ConcurrentModification, match="another hub"):
        there.service.reembed()


def test_a_change_that_another_hub_is_making_is_left_alone(leases, clock):
    here, _ = hubs_with(leases, clock, [HashEmbedder(8), HashEmbedder(16)])
    here.tell("Ada keeps bees")
    here.store.embedder_change.begin(HashEmbedder(16).identity, 16)
    leases.holders["embedder"] = 1
    steps(here)
    assert here.store.embedder_change.next_embedder() is not None


def test_a_change_of_a_hub_that_died_goes_on_in_another_one(leases, clock, monkeypatch):
    from hybrid_memory.service import background

    monkeypatch.setattr(background, "_OTHERS_CHECK_SECONDS", 0.0)
    here, there = hubs_with(leases, clock, [HashEmbedder(8), HashEmbedder(8)])
    here.tell("Ada keeps bees")
    there.all()
    here.store.embedder_change.begin(HashEmbedder(16).identity, 16)
    there.service._background._embedder_of = lambda _: HashEmbedder(16)
    steps(there)
    assert pinned(there) == HashEmbedder(16).identity
    assert "embedder" not in leases.holders


# --- the ends of conversations ------------------------------------------------------------------------------------------


def test_conversations_that_ended_silently_are_ended_by_one_hub(leases, clock):
    here, there = hubs_with(leases, clock, [HashEmbedder(8), HashEmbedder(8)])
    unnamed = Scope(session=new_session(FakeRandomSource()))
    here.tell("The kiosk sells stamps.", unnamed)
    clock.advance(days=2)
    leases.holders["sessions of default"] = 0
    there.service.warm_up(there.scope)
    assert there.store.buffer("default", unnamed.session, "default") is not None
    leases.end_those_of(0)
    there.service._conversations.sweep_again(there.scope)
    assert there.store.buffer("default", unnamed.session, "default") is None
