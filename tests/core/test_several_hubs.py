"""Several hubs over one store: each follows what the others write, and none decides on what it merely remembers."""

import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.core.several_hubs import PATIENCE_SECONDS, HubStore, hubs_over, two_hubs
from tests.core.store.making import memory

from hybrid_memory.errors import ConfirmationNeeded, EngineUnavailable
from hybrid_memory.model import MemoryType, Scope
from hybrid_memory.requests import ForgetRequest, Insight, ReadRequest, UpdateRequest, Where, WriteRequest
from hybrid_memory.service.following import Announcements, Following
from hybrid_memory.store.memory.store import MemoryStore
from hybrid_memory.store.writing import Insert, WriteBatch
from hybrid_memory.testing import FakeClock, HashEmbedder

BOTH = Scope(session="both", actor="test")
OTHER = Scope(namespace="other", session="s", actor="test")


@pytest.fixture
def hubs():
    made = two_hubs()
    yield made
    for one in made:
        one.service.close()


# --- reading ------------------------------------------------------------------------------------------------------------


def test_what_another_hub_wrote_is_found(hubs):
    here, there = hubs
    assert here.all() == set()
    there.tell("Ada keeps bees")
    assert here.found("bees") == ["Ada keeps bees"]


def test_own_writes_are_found_at_once_while_nothing_is_heard(hubs):
    here, there = hubs
    here.go_deaf()
    there.tell("Ada keeps bees")
    here.tell("Bo keeps goats")
    # What comes before it in the log came with it.
    assert here.all() == {"Ada keeps bees", "Bo keeps goats"}


def test_what_nobody_told_of_is_found_after_the_next_poll(hubs):
    here, there = hubs
    here.all()
    here.go_deaf()
    there.tell("Ada keeps bees")
    assert here.all() == set()
    here.store.poll()
    assert here.all() == {"Ada keeps bees"}


def test_a_hint_has_the_log_read_whatever_is_known_of_its_end(hubs):
    here, there = hubs
    here.all()
    here.go_deaf()
    there.tell("Ada keeps bees")
    here.store.follower.on_hint("default", 1)
    here.settle()
    assert here.all() == {"Ada keeps bees"}
    assert here.heard[-1] == ("default", frozenset({"of hub 1"}))


def test_hints_that_come_while_news_is_followed_are_followed_together():
    begun, go_on, followed = threading.Event(), threading.Event(), []

    def catch_up(namespace, *, hinted=0):
        followed.append((namespace, hinted))
        begun.set()
        return go_on.wait(PATIENCE_SECONDS)

    following = Following(
        HubStore(MemoryStore(FakeClock()), FakeClock()),
        Announcements(lambda *_: None, lambda *_: None),
        catch_up=catch_up,
        exchange=tuple,
        change_embedder=lambda: None,
        marks=dict,
    )
    following.on_hint("default", 1)
    assert begun.wait(PATIENCE_SECONDS)
    for position in (2, 5, 4):
        following.on_hint("default", position)
    go_on.set()
    assert following.wait_until_done(PATIENCE_SECONDS)
    assert followed == [("default", 1), ("default", 5)]
    assert following.waiting_seconds() == 0
    following.close()


def test_a_hint_of_nothing_tells_nobody(hubs):
    here, _ = hubs
    here.tell("Ada keeps bees")
    here.heard.clear()
    for namespace in ("default", "never"):
        here.store.follower.on_hint(namespace, 7)
    here.settle()
    assert here.heard == []


def test_news_that_comes_twice_or_late_changes_nothing(hubs):
    here, there = hubs
    here.all()
    there.tell("Ada keeps bees")
    there.tell("Bo keeps goats")
    here.settle()
    here.store.follower.on_change("default", 1)
    here.store.follower.on_change("default", 2)
    here.settle()
    assert here.all() == {"Ada keeps bees", "Bo keeps goats"}


def test_what_another_hub_forgot_is_not_shown(hubs):
    here, there = hubs
    one = here.tell("Ada keeps bees")
    there.service.forget(there.scope, ForgetRequest(ids=(one,)))
    assert here.all() == set()


def test_what_another_hub_corrected_is_shown_as_it_is_now(hubs):
    here, there = hubs
    one = here.tell("Ada keeps bees")
    assert here.all() == {"Ada keeps bees"}
    there.service.update(there.scope, UpdateRequest(id=one, content="Ada keeps goats"))
    assert here.all() == {"Ada keeps goats"}


def test_a_project_and_its_person_are_read_together_with_what_another_hub_wrote_to_either(hubs):
    here, there = hubs
    both = Scope(namespace="project:bees", personal="default", session="joint", actor="test")
    here.service.recent(both)
    there.tell("Ada is allergic")
    there.tell("The hives are blue", scope=Scope(namespace="project:bees", session="s", actor="test"))
    assert {one.content for one in here.service.recent(both)} == {"Ada is allergic", "The hives are blue"}


def test_a_hub_whose_clock_is_behind_does_not_take_the_past_for_the_future(hubs):
    here, there = hubs
    later = FakeClock()
    later.advance(seconds=20)
    here.all()
    [ahead] = hubs_over(there.store.shared, later, 1)
    ahead.store.others = [here.store]
    task = ahead.tell("water the bees", memory_type=MemoryType.WORKING)
    ahead.service.end_session(ahead.scope)
    here.settle()
    assert task not in [hit.id for hit in here.service.recent(here.scope)]
    assert here.service.now() >= later.now()
    ahead.service.close()


# --- deciding -----------------------------------------------------------------------------------------------------------


def test_a_statement_that_another_hub_has_just_stored_is_counted_not_stored_twice(hubs):
    here, there = hubs
    here.all()
    here.go_deaf()
    one = there.tell("Ada keeps bees", BOTH)
    assert here.tell("Ada keeps bees", BOTH) == one


def test_of_two_hubs_that_set_a_key_one_value_stays(hubs):
    here, there = hubs
    here.all()
    here.go_deaf()
    for hub, value in ((there, "the build is red"), (here, "the build is green")):
        hub.tell(value, BOTH, memory_type=MemoryType.WORKING, key="build")
    assert here.all() == {"the build is green"}
    assert there.all() == {"the build is green"}


def test_a_hub_that_starts_with_its_clock_behind_does_not_take_the_past_for_the_future(hubs):
    _, there = hubs
    there.clock.advance(seconds=20)
    there.tell("Ada keeps bees")
    [behind] = hubs_over(there.store.shared, FakeClock(), 1)
    assert behind.service.now() == there.clock.now()
    behind.service.close()


def test_what_is_brought_back_leaves_the_key_to_the_value_that_another_hub_has_just_set(hubs):
    here, there = hubs
    old = here.tell("the build is red", BOTH, memory_type=MemoryType.WORKING, key="build")
    here.service.forget(BOTH, ForgetRequest(ids=(old,)))
    here.go_deaf()
    new = there.tell("the build is green", BOTH, memory_type=MemoryType.WORKING, key="build")
    done = here.service.forget(BOTH, ForgetRequest(ids=(old,), restore=True))
    assert done.held == {old: new}
    assert there.all() == {"the build is green"}


def test_forgetting_by_a_filter_counts_what_another_hub_has_just_written(hubs):
    here, there = hubs
    here.tell("Ada keeps bees", tags=("farm",))
    here.go_deaf()
    there.tell("Bo keeps goats", tags=("farm",))
    with pytest.raises(ConfirmationNeeded) as refused:
        here.service.forget(here.scope, ForgetRequest(where=Where(tags=("farm",)), count=1))
    assert refused.value.count == 2


def test_forgetting_by_a_filter_forgets_what_another_hub_has_just_written(hubs):
    here, there = hubs
    here.tell("Ada keeps bees", tags=("farm",))
    here.go_deaf()
    there.tell("Bo keeps goats", tags=("farm",))
    here.service.forget(here.scope, ForgetRequest(where=Where(tags=("farm",)), count=2))
    assert there.all() == set()


def test_the_end_of_a_session_ends_the_tasks_that_another_hub_gave_it(hubs):
    here, there = hubs
    here.all()
    here.go_deaf()
    there.tell("water the bees", BOTH, memory_type=MemoryType.WORKING)
    here.service.end_session(BOTH)
    there.clock.advance(seconds=1)
    assert there.all() == set()


def test_an_insight_that_another_hub_has_just_stored_is_not_stored_twice(hubs):
    here, there = hubs
    evidence = (here.tell("Ada keeps bees"), here.tell("Bo keeps goats"))
    here.go_deaf()
    insight = Insight(text="the neighbours keep animals", evidence=evidence)
    [first] = there.service.store_insights(there.scope, [insight])
    assert here.service.store_insights(here.scope, [insight]) == (first,)


@pytest.mark.slow
def test_a_decision_follows_much_by_loading_before_the_transaction(hubs):
    here, there = hubs
    here.tell("Ada keeps bees", tags=("farm",))
    here.go_deaf()
    for number in range(600):
        there.tell(f"Bo has goat {number}", tags=("farm",))
    loaded = here.store.asked["snapshot"]
    here.service.forget(here.scope, ForgetRequest(where=Where(tags=("farm",)), count=601))
    assert here.store.asked["snapshot"] == loaded + 1
    assert there.all() == set()


def test_a_write_prepared_before_a_log_was_trimmed_is_stored(hubs):
    here, there = hubs
    here.tell("Ada keeps bees")
    here.go_deaf()
    one = there.tell("Bo keeps goats", BOTH)
    there.store.trim("default", there.store.head("default") + 1)
    assert here.tell("Bo keeps goats", BOTH) == one
    assert here.tell("Cy keeps hens") != one
    assert here.all() == {"Ada keeps bees", "Bo keeps goats", "Cy keeps hens"}


def test_what_comes_between_looking_and_deciding_is_seen(hubs):
    here, there = hubs
    here.tell("Ada keeps bees", tags=("farm",))
    here.go_deaf()
    here.store.before_write = lambda: there.tell("Bo keeps goats", tags=("farm",))
    with pytest.raises(ConfirmationNeeded):
        here.service.forget(here.scope, ForgetRequest(where=Where(tags=("farm",)), count=1))
    assert here.all() == {"Ada keeps bees", "Bo keeps goats"}


def test_what_another_hub_recalled_counts_here_within_a_minute(hubs):
    here, there = hubs
    here.tell("Ada keeps bees")
    here.settle()
    here.all()
    there.service.read(there.scope, ReadRequest(query="Who keeps bees?"))
    there.service.flush_recalls()
    recalls = lambda columns, _: columns.access_count.values.tolist()  # noqa: E731 - said once
    assert here.service.look(here.scope, recalls) == [0]
    here.clock.advance(seconds=61)
    here.service.run_background_step()
    assert here.service.look(here.scope, recalls) == [1]


# --- being told ---------------------------------------------------------------------------------------------------------


def test_listeners_hear_of_another_hubs_write_and_of_its_session(hubs):
    here, there = hubs
    here.all()
    there.tell("Ada keeps bees")
    here.settle()
    assert here.heard == [("default", frozenset({there.scope.session}))]


def test_listeners_hear_of_an_own_write_once(hubs):
    here, _ = hubs
    here.tell("Ada keeps bees")
    here.catch_up()
    assert here.heard == [("default", frozenset({here.scope.session}))]


def test_listeners_hear_of_a_change_once_though_a_reading_came_upon_it_first(hubs):
    here, there = hubs
    here.all()
    here.go_deaf()
    there.tell("Ada keeps bees")
    here.store.known["default"] = here.store.shared.head("default")
    here.all()
    here.store.known.clear()
    here.catch_up()
    assert here.heard == [("default", frozenset({there.scope.session}))]


def test_listeners_hear_of_a_change_that_an_own_write_came_upon(hubs):
    here, there = hubs
    here.all()
    here.go_deaf()
    there.tell("Ada keeps bees")
    here.tell("Bo keeps goats")
    told = [session for _, sessions in here.heard for session in sessions]
    assert sorted(told) == sorted([here.scope.session, there.scope.session])


def test_listeners_hear_that_something_changed_where_nothing_is_loaded(hubs):
    here, there = hubs
    here.store.asked.clear()
    there.tell("Ada keeps bees", OTHER)
    here.settle()
    assert here.heard == [("other", frozenset())]
    assert here.store.asked["snapshot"] == here.store.asked["news"] == 0


@pytest.mark.slow
def test_a_namespace_that_cannot_be_read_now_holds_up_no_other(hubs):
    here, there = hubs
    here.all()
    here.service.recent(OTHER)
    readable = []

    def news(namespace, after, limit):
        if namespace == "default" and not readable:
            raise EngineUnavailable("it cannot be read now")
        return here.store.shared.news(namespace, after, limit)

    here.store.news = news
    there.tell("Ada keeps bees")
    there.tell("Bo keeps goats", OTHER)
    there.catch_up()
    assert wait_for(lambda: ("other", frozenset({OTHER.session})) in here.heard)
    readable.append(True)
    assert wait_for(lambda: ("default", frozenset({there.scope.session})) in here.heard)


def wait_for(condition):
    pause = threading.Event()
    return any(condition() or pause.wait(0.01) for _ in range(3000))


# --- catching up after a while ------------------------------------------------------------------------------------------


def pour(store, count, begin=0):
    """Write many memories at once, as an import does."""
    made = tuple(Insert(memory(f"m{begin + at:019d}")) for at in range(count))
    store.write("default", None, lambda _: WriteBatch(action="import", actor="test", inserts=made))


def test_a_hub_that_missed_little_reads_the_log(hubs):
    here, there = hubs
    here.tell("Ada keeps bees")
    here.go_deaf()
    pour(there.store, 50)
    before = here.store.asked["snapshot"]
    here.catch_up()
    assert len(here.all()) == 51
    assert here.store.asked["snapshot"] == before


@pytest.mark.slow
def test_a_hub_that_missed_much_loads_anew(hubs):
    here, there = hubs
    here.tell("Ada keeps bees")
    here.go_deaf()
    pour(there.store, 5001)
    here.store.asked.clear()
    here.catch_up()
    assert here.service.status(here.scope).memories == 5002
    assert here.store.asked == {"snapshot": 1}


def test_a_hub_whose_log_was_trimmed_meanwhile_loads_anew(hubs):
    here, there = hubs
    here.tell("Ada keeps bees")
    here.go_deaf()
    there.tell("Bo keeps goats")
    there.tell("Cy keeps hens")
    there.store.trim("default", there.store.head("default"))
    here.store.asked.clear()
    here.catch_up()
    assert here.all() == {"Ada keeps bees", "Bo keeps goats", "Cy keeps hens"}
    assert here.store.asked["snapshot"] == 1


# --- another embedder, another store --------------------------------------------------------------------------------------


@pytest.fixture
def changing():
    """One hub that changes the embedder, and one that has not heard of that yet."""
    clock = FakeClock()
    made = hubs_over(MemoryStore(clock), clock, 2)
    yield made
    for one in made:
        one.service.close()


NEXT = HashEmbedder(96, "hash-2")


def test_what_is_written_with_the_former_embedder_waits_for_its_vector(changing):
    here, there = changing
    there.all()
    for number in range(6):
        here.tell(f"Ada has bee {number}")
    here.go_deaf()
    there.service.reembed(NEXT)
    one = here.tell("Bo keeps goats")
    assert here.store.shared.vectors("default", [one]) == {}
    assert here.found("goats")[0] == "Bo keeps goats"
    while there.service.run_background_step():
        pass
    assert len(here.store.shared.vectors("default", [one])[one]) == 96


def test_a_hub_takes_the_embedder_that_another_has_chosen(changing, monkeypatch):
    here, there = changing
    here.tell("Ada keeps bees")
    there.service.reembed(NEXT)
    monkeypatch.setattr("hybrid_memory.service.other_hubs.embedder_of", lambda *_, **__: NEXT)
    here.store.follower.on_embedder()
    here.settle()
    one = here.tell("Bo keeps goats")
    assert len(here.store.shared.vectors("default", [one])[one]) == 96
    assert here.service.status(here.scope).pending_vectors == 0


def test_a_hub_does_not_undo_the_change_of_another(changing, monkeypatch):
    here, there = changing
    here.tell("Ada keeps bees")
    there.service.reembed(NEXT)
    monkeypatch.setattr("hybrid_memory.service.other_hubs.embedder_of", lambda *_, **__: NEXT)
    here.store.follower.on_embedder()
    here.settle()
    while here.service.run_background_step():
        pass
    assert here.store.shared.embedder() == ("hash-2", 96)


@pytest.mark.slow
def test_a_hub_without_the_new_model_finds_by_words_and_says_so(changing):
    here, there = changing
    here.tell("Ada keeps bees")
    there.service.reembed(HashEmbedder(96, "fastembed:local"))
    here.store.follower.on_embedder()
    here.settle()
    assert here.found("bees") == ["Ada keeps bees"]
    assert any("by words alone" in one for one in here.service.status(here.scope).notices)


def test_nothing_of_a_store_that_was_exchanged_is_shown(hubs):
    here, _ = hubs
    here.tell("Ada keeps bees")
    here.service.derived.value(here.scope, "kept", lambda: "of the store of before")
    fresh = MemoryStore(here.clock)
    [other] = hubs_over(fresh, here.clock, 1)
    other.tell("Bo keeps goats")
    here.store.shared, here.store.known = fresh, {}
    here.heard.clear()
    here.store.follower.on_exchange()
    here.settle()
    assert here.found("goats bees") == ["Bo keeps goats"]
    assert here.heard == [("default", frozenset())]
    assert here.service.derived.value(here.scope, "kept", lambda: "new") == "new"
    other.service.close()


def test_what_is_written_before_a_hub_hears_that_its_store_was_made_anew_is_stored(hubs):
    here, _ = hubs
    here.tell("Ada keeps bees")
    here.store.shared, here.store.known = MemoryStore(here.clock), {}
    one = here.tell("Bo keeps goats")
    here.store.follower.on_exchange()
    here.settle()
    assert here.found("goats bees") == ["Bo keeps goats"]
    while here.service.run_background_step():
        pass
    assert one in here.store.shared.vectors("default", [one])


# --- all of it, in any order ------------------------------------------------------------------------------------------------

STEPS = st.lists(
    st.tuples(
        st.integers(0, 2), st.sampled_from(["tell", "repeat", "forget", "deaf", "hear", "read"]), st.integers(0, 7)
    ),
    max_size=25,
)


@pytest.mark.slow
@settings(deadline=None)
@given(STEPS)
def test_whatever_is_heard_and_when_in_the_end_all_hubs_know_the_same(steps):
    clock = FakeClock()
    hubs = hubs_over(MemoryStore(clock), clock, 3)
    ids = []
    for at, step, number in steps:
        hub = hubs[at]
        clock.advance(seconds=1)
        if step == "tell":
            ids.append(hub.tell(f"Ada has {number} of {len(ids)}"))
        elif step == "repeat":
            ids.append(hub.tell(f"Ada has {number}"))
        elif step == "forget" and ids:
            hub.service.forget(hub.scope, ForgetRequest(ids=(ids[number % len(ids)],)))
        elif step == "deaf":
            hub.go_deaf()
        elif step == "hear":
            hub.catch_up()
        else:
            hub.all()
    for hub in hubs:
        hub.catch_up()
    [fresh] = hubs_over(hubs[0].store.shared, clock, 1)
    expected = fresh.service.recent(fresh.scope, limit=1000)
    assert all(hub.service.recent(hub.scope, limit=1000) == expected for hub in hubs)
    for hub in (*hubs, fresh):
        hub.service.close()


def test_no_hub_reads_the_store_for_what_it_knows(hubs):
    here, there = hubs
    there.tell("Ada keeps bees")
    here.settle()
    here.all()
    here.store.asked.clear()
    here.all()
    here.service.read(here.scope, ReadRequest(query="bees", recalls=False))
    assert here.store.asked == {}


def test_a_store_of_one_hub_starts_no_thread():
    clock = FakeClock()
    [hub] = hubs_over(MemoryStore(clock), clock, 1)
    hub.service.write(hub.scope, WriteRequest(content="Ada keeps bees"))
    assert isinstance(hub.store, HubStore)
    assert hub.service.following._thread is None
    hub.service.close()
