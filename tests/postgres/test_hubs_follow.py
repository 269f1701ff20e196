"""Several hubs over one database: what one writes the others find, and hear of."""

import threading
from contextlib import suppress

import pytest

from hybrid_memory.clock import SystemClock
from hybrid_memory.errors import StoreError
from hybrid_memory.model import MemoryType, Scope
from hybrid_memory.requests import ForgetRequest, ReadRequest, UpdateRequest, Where, WriteRequest
from hybrid_memory.service.memory_service import MemoryService
from hybrid_memory.testing import FakeRandomSource, HashEmbedder
from hybrid_memory_postgres.store import PostgresStore

pytestmark = [pytest.mark.postgres, pytest.mark.daily]

PATIENCE_SECONDS = 60
BOTH = Scope(session="both", actor="test")


class Hub:
    """A hub's service over the database, and what its listeners heard."""

    def __init__(self, database, seed):
        clock = SystemClock()
        self.store = PostgresStore.open(database.conninfo, clock, size=4)
        self.service = MemoryService(self.store, HashEmbedder(16), clock=clock, random_source=FakeRandomSource(seed))
        self._heard = []
        self._news = threading.Condition()
        self.service.listen(self._hear)

    def _hear(self, namespace, sessions):
        with self._news:
            self._heard.append((namespace, sessions))
            self._news.notify_all()

    def hears_of(self, session):
        with self._news:
            return self._news.wait_for(lambda: any(session in one for _, one in self._heard), PATIENCE_SECONDS)

    def times_heard_of(self, session):
        with self._news:
            return sum(session in one for _, one in self._heard)

    def tell(self, content, scope=BOTH, **fields):
        return self.service.write(scope, WriteRequest(content=content, **fields)).id

    def all(self, scope=BOTH):
        return {one.content for one in self.service.recent(scope, limit=1000)}

    def finds(self, content, scope=BOTH):
        """Read until something is there that another hub wrote."""
        pause = threading.Event()
        for _ in range(PATIENCE_SECONDS * 100):
            if content in self.all(scope):
                return True
            pause.wait(0.01)
        return False

    def loses(self, content, scope=BOTH):
        """Read until something is there no longer, whatever cannot be read meanwhile."""
        pause = threading.Event()
        for _ in range(PATIENCE_SECONDS * 100):
            with suppress(StoreError):
                if content not in self.all(scope):
                    return True
            pause.wait(0.01)
        return False


@pytest.fixture
def hubs(database):
    made = [Hub(database, seed) for seed in range(3)]
    yield made
    for one in made:
        one.service.close()


def test_each_finds_what_the_others_wrote(hubs):
    for number, hub in enumerate(hubs):
        hub.tell(f"hub {number} keeps bees")
    assert all(hub.finds(f"hub {number} keeps bees") for hub in hubs for number in range(3))


def test_a_hub_knows_how_far_it_is_behind_the_others(hubs):
    here, there, _ = hubs
    here.tell("Ada keeps bees")
    assert there.finds("Ada keeps bees")
    assert there.service.following.wait_until_done(PATIENCE_SECONDS)
    assert there.service.lag().changes == 0
    pause = threading.Event()
    with there.service.lock.exclusive():  # nothing can be followed meanwhile
        here.tell("Bo keeps goats")
        for _ in range(PATIENCE_SECONDS * 100):
            if there.service.lag().changes and there.service.following.waiting_seconds():
                break
            pause.wait(0.01)
        behind = there.service.lag()
        assert behind.changes >= 1
        assert behind.seconds > 0
    assert there.finds("Bo keeps goats")
    assert there.service.following.wait_until_done(PATIENCE_SECONDS)
    assert there.service.lag().changes == 0
    assert there.service.following.waiting_seconds() == 0


def test_own_writes_are_found_at_once(hubs):
    for number in range(20):
        for hub in hubs:
            content = f"bee {number} of {hubs.index(hub)}"
            hub.tell(content)
            assert content in hub.all()


def test_listeners_hear_of_each_others_sessions_once(hubs):
    here, there, _ = hubs
    here.all()
    there.tell("Ada keeps bees", Scope(session="there", actor="test"))
    assert here.hears_of("there")
    here.tell("Bo keeps goats", Scope(session="here", actor="test"))
    assert here.hears_of("here")
    there.tell("Cy keeps hens", Scope(session="later", actor="test"))
    assert here.hears_of("later")
    assert (here.times_heard_of("there"), here.times_heard_of("here")) == (1, 1)


def test_what_one_forgot_the_others_do_not_show(hubs):
    here, there, _ = hubs
    one = here.tell("Ada keeps bees")
    assert there.finds("Ada keeps bees")
    there.service.forget(BOTH, ForgetRequest(ids=(one,)))
    here.tell("Bo keeps goats")
    assert here.all() == {"Bo keeps goats"}


def test_what_one_corrected_the_others_show_as_it_is_now(hubs):
    here, there, _ = hubs
    one = here.tell("Ada keeps bees")
    assert there.finds("Ada keeps bees")
    there.service.update(BOTH, UpdateRequest(id=one, content="Ada keeps goats"))
    assert here.finds("Ada keeps goats")
    assert here.all() == {"Ada keeps goats"}


def test_of_several_that_set_a_key_at_once_one_value_stays(hubs):
    for hub in hubs:
        hub.all()
    together = threading.Barrier(3)

    def set_it(number, hub):
        for at in range(10):
            together.wait()
            hub.tell(f"the build is {at} of {number}", memory_type=MemoryType.WORKING, key="build")

    threads = [threading.Thread(target=set_it, args=one) for one in enumerate(hubs)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    hubs[0].tell("done")
    assert len(hubs[0].all()) == 2


def test_forgetting_by_a_filter_is_decided_on_the_newest(hubs):
    here, there, _ = hubs
    here.all()
    there.tell("Ada keeps bees", tags=("farm",))
    here.service.forget(BOTH, ForgetRequest(where=Where(tags=("farm",)), count=1))
    assert here.all() == set()


def test_without_a_single_hint_everything_is_followed(hubs, monkeypatch):
    monkeypatch.setattr("hybrid_memory_postgres.hints.Announcer.announce", lambda *_: None)
    here, there, _ = hubs
    here.all()
    there.tell("Ada keeps bees", Scope(session="there", actor="test"))
    assert here.hears_of("there")
    assert here.all() == {"Ada keeps bees"}


def test_another_hubs_embedder_is_taken_over(hubs, monkeypatch):
    here, there, _ = hubs
    here.tell("Ada keeps bees")
    following = HashEmbedder(24, "hash-2")
    monkeypatch.setattr("hybrid_memory.service.other_hubs.embedder_of", lambda *_, **__: following)
    there.service.reembed(following)
    pause = threading.Event()
    for _ in range(PATIENCE_SECONDS * 100):
        one = here.tell("Bo keeps goats")
        if len(here.store.vectors("default", [one]).get(one, ())) == 24:
            break
        here.service.forget(BOTH, ForgetRequest(ids=(one,)))
        pause.wait(0.01)
    assert len(here.store.vectors("default", [one])[one]) == 24
    found = here.service.read(BOTH, ReadRequest(query="bees", recalls=False)).hits
    assert found[0].memory.content == "Ada keeps bees"


def test_what_others_recalled_is_told_since_a_moment(hubs):
    here, there, _ = hubs
    one = here.tell("Ada keeps bees")
    before = here.service.now()
    there.service.read(BOTH, ReadRequest(query="Who keeps bees?"))
    there.service.flush_recalls()
    assert here.store.used_by_others("default", before)[one].count == 1
    assert here.store.used_by_others("default", there.service.now()) == {}


def test_hubs_know_of_one_another(hubs):
    pause = threading.Event()
    for _ in range(PATIENCE_SECONDS * 100):
        if all(len(hub.store.other_hubs()) == 2 for hub in hubs):
            break
        pause.wait(0.01)
    assert [len(hub.store.other_hubs()) for hub in hubs] == [2, 2, 2]


# --- what an administrator does -----------------------------------------------------------------------------------------------------


def test_an_older_copy_of_the_database_is_what_running_hubs_go_on_with(hubs, database):
    first, second, third = hubs
    for content in ("tea", "boats"):
        first.tell(f"Ada likes {content}")
    assert all(one.finds("Ada likes boats") for one in hubs)
    copy = database.server.dump(database.name)
    second.tell("Ada has a parrot")
    assert all(one.finds("Ada has a parrot") for one in hubs)
    database.server.put_back(database.name, copy)
    assert all(one.loses("Ada has a parrot") for one in hubs)
    third.tell("Ada learns Danish")
    assert [one.finds("Ada learns Danish") and one.all() for one in hubs] == [
        {"Ada likes tea", "Ada likes boats", "Ada learns Danish"}
    ] * 3


def test_a_database_that_was_made_anew_is_begun_with(hubs, database):
    first, second, _ = hubs
    first.tell("Ada likes tea")
    assert second.finds("Ada likes tea")
    database.server.drop_database(database.name)
    database.server.create_database(database.name)
    assert all(one.loses("Ada likes tea") for one in hubs)
    second.tell("Ada sings")
    assert all(one.finds("Ada sings") for one in hubs)


def test_a_write_just_after_a_database_was_made_anew_is_in_it(hubs, database):
    first, second, _ = hubs
    first.tell("Ada likes tea")
    assert second.finds("Ada likes tea")
    database.server.drop_database(database.name)
    database.server.create_database(database.name)
    second.tell("Ada sings")
    assert all(one.finds("Ada sings") and one.loses("Ada likes tea") for one in hubs)
