"""A person's and a project's memories, read together and written apart."""

import threading
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.changing import changes_everything
from tests.core.speaking import remember, texts

from hybrid_memory.errors import ConfirmationNeeded, EmbedderUnavailable, LogTrimmed, NotFound
from hybrid_memory.model import MemoryType, Origin, Scope
from hybrid_memory.requests import ForgetRequest, Insight, ReadRequest, UpdateRequest, Where, WriteRequest
from hybrid_memory.retrieval import index_cache
from hybrid_memory.service.memory_service import MemoryService
from hybrid_memory.settings import StoreSettings
from hybrid_memory.store.column_batches import build_snapshot
from hybrid_memory.store.memory.store import MemoryStore
from hybrid_memory.store.writing import RequestKey
from hybrid_memory.testing import FakeClock, FakeRandomSource, HashEmbedder

PERSON = Scope(session="morning")
ACME = Scope(namespace="project:acme", personal="default", session="morning")
OTHER = Scope(namespace="project:other", personal="default", session="morning")


def namespaces(service, scope):
    return {hit.memory.content: hit.memory.namespace for hit in service.read(scope, ReadRequest()).hits}


# --- who sees what ----------------------------------------------------------------------------------------------------


def test_what_is_written_in_a_project_is_the_projects(service):
    written = remember(service, ACME, "The build runs on Fridays")
    assert written.namespace == "project:acme"
    assert namespaces(service, ACME) == {"The build runs on Fridays": "project:acme"}


def test_what_the_person_said_elsewhere_is_seen_in_every_project(service):
    remember(service, PERSON, "Ada likes tea")
    assert texts(service, ACME) == ["Ada likes tea"] == texts(service, OTHER)


def test_two_projects_never_see_each_other_and_the_person_sees_neither(service):
    remember(service, ACME, "Acme uses Postgres")
    assert texts(service, OTHER, "Which database?") == []
    assert texts(service, PERSON, "Which database?") == []
    assert texts(service, ACME, "Postgres") == ["Acme uses Postgres"]


def test_an_id_of_another_project_is_missing(service):
    foreign = remember(service, ACME, "Acme uses Postgres").id
    assert service.read(OTHER, ReadRequest(ids=(foreign,))).missing == (foreign,)
    with pytest.raises(NotFound):
        service.get(OTHER, foreign)
    with pytest.raises(NotFound):
        service.update(OTHER, UpdateRequest(id=foreign, content="x"))


def test_ids_of_both_are_read_in_the_order_that_was_asked_for(service):
    ours, theirs = remember(service, ACME, "Acme uses Postgres").id, remember(service, PERSON, "Ada likes tea").id
    found = service.read(ACME, ReadRequest(ids=(theirs, ours)))
    assert [hit.memory.id for hit in found.hits] == [theirs, ours]


def test_what_either_writes_is_found_at_once(service):
    assert texts(service, ACME) == []
    remember(service, PERSON, "Ada likes tea")
    remember(service, ACME, "Acme uses Postgres")
    assert set(texts(service, ACME)) == {"Ada likes tea", "Acme uses Postgres"}


def test_a_write_in_a_project_tells_of_what_the_person_said_about_it(service):
    service.change_model = changes_everything
    said = remember(service, PERSON, "Ada likes green tea")
    assert [one.id for one in remember(service, ACME, "Ada likes green tea best").related] == [said.id]


# --- what is done to a memory is done where it lies ---------------------------------------------------------------------


def test_a_correction_of_a_personal_memory_stays_the_persons(service):
    old = remember(service, PERSON, "Ada lives in Bonn")
    new = remember(service, ACME, "Ada lives in Köln", supersedes=old.id)
    assert new.namespace == "default"
    assert texts(service, OTHER) == ["Ada lives in Köln"]


def test_an_update_of_a_personal_memory_stays_the_persons(service):
    old = remember(service, PERSON, "Ada lives in Bonn")
    service.update(ACME, UpdateRequest(id=old.id, content="Ada lives in Köln"))
    service.update(ACME, UpdateRequest(id=remember(service, PERSON, "Ada likes tea").id, pinned=True))
    assert set(texts(service, PERSON)) == {"Ada likes tea", "Ada lives in Köln"}


def test_the_same_words_in_a_project_are_another_memory(service):
    said = remember(service, PERSON, "Ada likes tea")
    assert remember(service, ACME, "Ada likes tea").duplicate_of is None
    assert said.id != remember(service, ACME, "Ada likes tea").id


def test_ids_of_both_are_forgotten_and_come_back_together(service):
    ours, theirs = remember(service, ACME, "Acme uses Postgres").id, remember(service, PERSON, "Ada likes tea").id
    done = service.forget(ACME, ForgetRequest(ids=(ours, theirs)), key=RequestKey("r", 1))
    assert done.ids == (ours, theirs)
    assert texts(service, ACME) == texts(service, PERSON) == []
    assert service.forget(ACME, ForgetRequest(ids=(ours, theirs)), key=RequestKey("r", 1)) == done
    service.forget(ACME, ForgetRequest(ids=(theirs, ours), restore=True))
    assert set(texts(service, ACME)) == {"Acme uses Postgres", "Ada likes tea"}


def test_an_id_that_is_nowhere_stops_all_of_it(service):
    ours, theirs = remember(service, ACME, "Acme uses Postgres").id, remember(service, PERSON, "Ada likes tea").id
    with pytest.raises(NotFound, match=r"ids\.2"):
        service.forget(ACME, ForgetRequest(ids=(ours, theirs, "nowhere")))
    assert len(texts(service, ACME)) == 2


def test_a_filter_forgets_the_projects_and_says_how_many_of_the_persons_stay(service):
    for scope in (ACME, ACME, PERSON):
        remember(service, scope, f"about lunch {id(scope)} {len(texts(service, ACME))}", tags=("food",))
    where = Where(tags=("food",))
    with pytest.raises(ConfirmationNeeded, match=r"2 memories match in this project.* 1 of the person's"):
        service.forget(ACME, ForgetRequest(where=where))
    assert len(service.forget(ACME, ForgetRequest(where=where, count=2)).ids) == 2
    assert len(texts(service, ACME)) == 1


def test_a_recall_is_counted_where_the_memory_lies(service):
    said = remember(service, PERSON, "Ada likes tea")
    remember(service, ACME, "Acme uses Postgres")
    assert service.read(ACME, ReadRequest(query="What does Ada like? tea")).recalled == said.id
    service.flush_recalls()
    assert service.store.usage("default", [said.id])[said.id].count == 1
    assert not service.store.usage("project:acme", [said.id])


def test_the_end_of_a_session_empties_its_buffers_in_both(service):
    said = remember(service, PERSON, "Ada likes tea")
    session = Scope(namespace="project:acme", personal="default", session="s")
    remember(service, session, "Acme uses Postgres")
    remember(service, session, "Ada likes green tea", supersedes=said.id)
    service.end_session(session)
    left = service.store.buffer("default", "s", "default")
    assert left is None or left.state is None


# --- insights ---------------------------------------------------------------------------------------------------------


def test_an_insight_lies_with_the_person_only_if_all_its_evidence_does(service):
    ours, theirs = remember(service, ACME, "Acme uses Postgres").id, remember(service, PERSON, "Ada knows SQL").id
    insights = (
        Insight(text="Ada can help with data", evidence=(theirs,)),
        Insight(text="Ada can help with Acme's database", evidence=(theirs, ours)),
        Insight(text="Acme needs SQL", evidence=(ours,)),
    )
    ids = service.store_insights(ACME, insights, key=RequestKey("r", 1))
    lies = [service.get(ACME, one).namespace for one in ids]
    assert lies == ["default", "project:acme", "project:acme"]
    assert service.store_insights(ACME, insights, key=RequestKey("r", 1)) == ids


def test_an_insight_of_both_is_as_little_trusted_as_its_least_evidence(service):
    ours = remember(service, ACME, "Acme uses Postgres").id
    theirs = remember(service, PERSON, "Ada knows SQL", origin=Origin.TOOL).id
    (one,) = service.store_insights(ACME, [Insight(text="Ada fits", evidence=(ours, theirs))])
    assert service.untrusted_among(ACME, [one]) == [one]


def test_what_served_as_evidence_elsewhere_is_not_offered_again(service, clock):
    ids = []
    for scope in (PERSON, ACME):
        ids.append(remember(service, scope, "the deploy of the api failed again", session=scope.namespace).id)
        clock.advance(hours=1)
    assert [{one.id for one in group.memories} for group in service.offer_reflection(ACME)] == [set(ids)]
    service.store_insights(ACME, [Insight(text="Deploys fail", evidence=tuple(ids))])
    assert service.offer_reflection(ACME) == ()


def test_forgotten_evidence_of_the_person_is_told_in_the_project_and_claimed_by_nobody_who_cannot_see_it(service):
    ours, theirs = remember(service, ACME, "Acme uses Postgres").id, remember(service, PERSON, "Ada knows SQL").id
    (one,) = service.store_insights(ACME, [Insight(text="Ada fits", evidence=(ours, theirs))])
    alone, read = Scope(namespace="project:acme", session="s"), ReadRequest(ids=(one,))
    assert [service.read(scope, read).hits[0].evidence_forgotten for scope in (ACME, alone)] == [0, 0]
    service.forget(PERSON, ForgetRequest(ids=(theirs,)))
    assert [service.read(scope, read).hits[0].evidence_forgotten for scope in (ACME, alone)] == [1, 0]


def test_evidence_that_is_nowhere_is_named_by_its_place(service):
    with pytest.raises(NotFound, match=r"insights\.0\.evidence\.0"):
        service.store_insights(ACME, [Insight(text="x y z", evidence=("nowhere",))])


# --- exactly once -------------------------------------------------------------------------------------------------------


def test_a_repeated_request_is_done_once_wherever_it_went(service):
    old = remember(service, PERSON, "Ada lives in Bonn")
    for number, fields in enumerate(({}, {"supersedes": old.id}), 1):
        first, again = (
            service.write(ACME, WriteRequest(content="Ada lives in Köln", **fields), key=RequestKey("r", number))
            for _ in range(2)
        )
        assert (first.id, first.namespace) == (again.id, again.namespace)


# --- doubles: the same export came into both ------------------------------------------------------------------------------


def test_of_one_id_in_both_the_projects_is_shown_once(service):
    said = remember(service, PERSON, "Ada likes tea")
    data = service.store._data.namespaces
    data["project:acme"] = type(data["default"])()
    memory = replace(service.store.get("default", [said.id])[said.id], namespace="project:acme")
    data["project:acme"].memories[said.id] = memory
    data["project:acme"].vectors[said.id] = data["default"].vectors[said.id]
    assert namespaces(service, ACME) == {"Ada likes tea": "project:acme"}
    service.update(PERSON, UpdateRequest(id=said.id, pinned=True))
    hits = service.read(ACME, ReadRequest()).hits
    assert [(hit.memory.namespace, hit.memory.pinned) for hit in hits] == [("project:acme", False)]


# --- the oracle: as if it were one namespace --------------------------------------------------------------------------------


class AsOne:  # it takes the arguments of a store, whether it needs them or not
    """A store in which everything of two namespaces lies in one, which is all that a reading may tell."""

    def __init__(self, store):
        self._store = store
        self._names = ("default", "project:acme")

    def __getattr__(self, name):
        return getattr(self._store, name)

    def _all(self, part):
        data = self._store._data.namespaces
        return {id_: one for name in self._names if name in data for id_, one in getattr(data[name], part).items()}

    def head(self, _):
        return sum(self._store.head(name) for name in self._names)

    def snapshot(self, namespace):
        memories = sorted(self._all("memories").values(), key=lambda one: (one.created_at, one.id))
        by_id = {one.id: one for one in memories}
        return build_snapshot(namespace, self.head(namespace), by_id, self._all("vectors"), self._all("usage"))

    def changes(self, *_):
        raise LogTrimmed("read it all again")

    def get(self, _, ids):
        known = self._all("memories")
        return {one: known[one] for one in ids if one in known}

    def vectors(self, _, ids):
        known = self._all("vectors")
        return {one: known[one] for one in ids if one in known}


WORDS = ("tea", "coffee", "Bonn", "Köln", "api", "deploy", "Friday", "dentist", "Ada", "Bo")
SENTENCES = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(lambda some: "Ada said " + " ".join(some))
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["write", "write", "write", "correct", "update", "pin", "forget", "reflect", "recall"]),
        st.sampled_from([PERSON, ACME]),
        SENTENCES,
        st.sampled_from([Origin.USER, Origin.AGENT, Origin.TOOL]),
        st.integers(0, 30),
    ),
    min_size=3,
    max_size=14,
)


def new_service(store, clock):
    embedder = HashEmbedder()
    return MemoryService(store, embedder, clock=clock, random_source=FakeRandomSource(1), settings=StoreSettings())


def do(service, step):
    kind, scope, sentence, origin, place = step
    ids = [one.id for one in service.recent(scope, limit=50)]
    known = ids[place % len(ids)] if ids else None
    if kind == "write" or known is None:
        remember(service, scope, sentence, origin=origin, session=f"s{place % 3}")
    elif kind == "correct":
        remember(service, scope, sentence + " now", origin=origin, supersedes=known)
    elif kind == "update":
        service.update(scope, UpdateRequest(id=known, content=sentence + " indeed"))
    elif kind == "pin":
        service.update(scope, UpdateRequest(id=known, pinned=True))
    elif kind == "forget":
        service.forget(scope, ForgetRequest(ids=tuple(ids[place % len(ids) :][:2])))
    elif kind == "reflect":
        observed = [one for one in ids if service.get(scope, one).kind != "insight"][:2]
        if observed:
            service.store_insights(scope, [Insight(text=sentence + " so", evidence=tuple(observed))])
    else:
        service.read(scope, ReadRequest(query=sentence))
        service.flush_recalls()


REQUESTS = (
    ReadRequest(recalls=False),
    ReadRequest(query="What did Ada say about tea?", recalls=False, explain=True, concise=True),
    ReadRequest(query="Where does Ada live, Bonn?", recalls=False, weak=True, limit=50),
    ReadRequest(query="Zanzibar", recalls=False),
    ReadRequest(query="deploy on Friday", recalls=False, where=Where(session="s1")),
    ReadRequest(recalls=False, where=Where(memory_type=MemoryType.SHORT_TERM), limit=3),
)


def page(result):
    hits = [
        (
            hit.memory.id,
            None if hit.score is None else round(hit.score, 5),
            (hit.section, hit.newer, hit.weak),
            (hit.repeats, hit.copies, hit.disputed_by, hit.disputes, hit.evidence_forgotten),
        )
        for hit in result.hits
    ]
    return hits, result.total, result.unknown, result.held_back, result.recalled, result.below_floor


@pytest.mark.slow
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(STEPS)
def test_a_reading_of_both_is_that_of_one_namespace_with_all_memories(steps):
    clock = FakeClock()
    service = new_service(MemoryStore(clock, FakeRandomSource(2)), clock)
    for step in steps:
        do(service, step)
        clock.advance(seconds=61)
        service.read(
            ACME, ReadRequest(recalls=False)
        )  # so that the index follows the log, and is not loaded at the end
    one_namespace = new_service(AsOne(service.store), clock)
    loaded_anew = new_service(service.store, clock)
    whole = Scope(namespace="all", session="morning")
    for request in REQUESTS:
        expected = page(one_namespace.read(whole, request))
        assert page(service.read(ACME, request)) == expected
        assert page(loaded_anew.read(ACME, request)) == expected
    offered = [[one.id for one in group.memories] for group in one_namespace.offer_reflection(whole)]
    assert [[one.id for one in group.memories] for group in service.offer_reflection(ACME)] == offered
    assert service.suggest(ACME, "session", "") == one_namespace.suggest(whole, "session", "")
    assert [one.id for one in service.recent(ACME)] == [one.id for one in one_namespace.recent(whole)]
    for one in (service, one_namespace, loaded_anew):
        one.close()


def test_pages_go_on_over_both(service, clock):
    for at in range(12):
        remember(service, (PERSON, ACME)[at % 2], f"tea number {at} of the day")
        clock.advance(seconds=5)
    first = service.read(ACME, ReadRequest(query="tea", limit=5, weak=True))
    second = service.read(ACME, ReadRequest(query="tea", limit=7, weak=True, cursor=first.cursor_after(5)))
    assert len({hit.memory.id for hit in (*first.hits, *second.hits)}) == 12


def test_a_cursor_of_a_project_goes_on_nowhere_else(service):
    for at in range(12):
        remember(service, PERSON, f"tea number {at}")
    first = service.read(ACME, ReadRequest(limit=3))
    with pytest.raises(ValueError, match="cursor"):
        service.read(PERSON, ReadRequest(limit=3, cursor=first.cursor_after(3)))


def test_readers_beside_writers_of_both_see_each_memory_once_and_all_in_the_end(service):
    problems = []

    def write_some(scope, name):
        for at in range(15):
            remember(service, scope, f"{name} told number {at}", session=name)

    def read_some():
        for _ in range(20):
            ids = [hit.memory.id for hit in service.read(ACME, ReadRequest(limit=100)).hits]
            if len(ids) != len(set(ids)):
                problems.append(ids)

    threads = [threading.Thread(target=write_some, args=(PERSON, "Ada")), threading.Thread(target=read_some)]
    threads += [threading.Thread(target=write_some, args=(ACME, "Bo")), threading.Thread(target=read_some)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert problems == []
    assert service.read(ACME, ReadRequest(limit=100)).total == 30


def test_reading_both_goes_on_when_the_embedder_changes(service):
    for scope in (PERSON, ACME):
        remember(service, scope, f"tea in {scope.namespace}")
    before = set(texts(service, ACME, "tea"))
    service.reembed(HashEmbedder(32, "hash-2"))
    assert set(texts(service, ACME, "tea")) == before


def test_what_was_not_read_for_long_is_let_go_and_read_again(service, monkeypatch):
    remember(service, PERSON, "Ada likes tea")
    assert texts(service, ACME) == ["Ada likes tea"]
    monkeypatch.setattr(index_cache, "_JOINT_IDLE_SECONDS", -1.0)
    service.run_background_step()
    assert service._index_cache._joint == {}
    assert texts(service, ACME) == ["Ada likes tea"]


def test_of_many_projects_the_indexes_of_the_latest_are_kept(service, monkeypatch):
    monkeypatch.setattr(index_cache, "_MOST_JOINT", 2)
    remember(service, PERSON, "Ada likes tea")
    for name in ("a", "b", "c", "a"):
        assert texts(service, Scope(namespace=f"project:{name}", personal="default", session="s")) == ["Ada likes tea"]
    assert [names[0] for names in service._index_cache._joint] == ["project:c", "project:a"]


def test_a_scope_without_a_person_loads_nothing_more(service):
    remember(service, PERSON, "Ada likes tea")
    texts(service, PERSON, "tea")
    assert service._index_cache._joint == {}
    assert list(service._index_cache.loaded()) == ["default"]


def test_a_memory_without_a_vector_gets_one_wherever_it_lies(clock):
    class Late(HashEmbedder):
        at_hand = False

        def embed(self, some):
            if not self.at_hand:
                raise EmbedderUnavailable("not yet")
            return super().embed(some)

    embedder = Late()
    service = MemoryService(MemoryStore(clock), embedder, clock=clock, random_source=FakeRandomSource())
    remember(service, PERSON, "Ada likes tea")
    remember(service, ACME, "Acme likes coffee")
    embedder.at_hand = True
    service.warm_up(ACME)
    assert service.read(ACME, ReadRequest(query="tea")).pending == 0
    service.close()
