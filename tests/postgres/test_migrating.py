"""Which programs may use a store that others have changed, and what becomes of a hub for which the store has become too new."""

from concurrent.futures import ThreadPoolExecutor
from threading import Event

import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybrid_memory.clock import SystemClock
from hybrid_memory.errors import SchemaTooNew, StoreDamaged, StoreError
from hybrid_memory.testing import FakeClock
from hybrid_memory_postgres.connections import EVERYTHING
from hybrid_memory_postgres.migrating import Standing, migrate, standing_of
from hybrid_memory_postgres.preparing import prepare
from hybrid_memory_postgres.schema import MIGRATIONS, Migration

on_a_server = pytest.mark.postgres

FIRST, NEWEST = MIGRATIONS[0].number, MIGRATIONS[-1].number
ADDS = Migration(NEWEST + 1, "adds", FIRST, ("ALTER TABLE memory ADD COLUMN colour TEXT",))
CHANGES = Migration(NEWEST + 1, "changes", NEWEST + 1, ("ALTER TABLE memory RENAME COLUMN kind TO sort",))

steps = st.integers(8, 20).flatmap(
    lambda newest: st.tuples(*(st.tuples(st.just(number), st.integers(8, number)) for number in range(8, newest + 1)))
)


@given(steps, st.integers(8, 20))
def test_a_program_may_use_a_store_whose_later_steps_all_say_so(done, newest):
    known = range(8, newest + 1)
    later = [usable_from for number, usable_from in done if number > newest]
    if any(usable_from > newest for usable_from in later):
        with pytest.raises(SchemaTooNew, match="Upgrade"):
            standing_of(done, known)
    else:
        assert standing_of(done, known) == Standing(max(newest - done[-1][0], 0), bool(later))


@given(steps, st.data())
def test_a_record_with_a_hole_is_no_store_that_anybody_goes_on_with(done, data):
    if len(done) < 2:
        return
    gone = data.draw(st.integers(0, len(done) - 2))
    known = range(8, done[-1][0] + data.draw(st.integers(0, 2)) + 1)
    with pytest.raises(StoreDamaged):
        standing_of([*done[:gone], *done[gone + 1 :]], known)


def test_the_programs_own_steps_may_be_used_by_the_version_that_made_them():
    for before, step in zip((None, *MIGRATIONS), MIGRATIONS, strict=False):
        assert step.usable_from <= step.number
        assert before is None or step.number == before.number + 1


@pytest.fixture
def owner(connect):
    return connect("keeper")


@on_a_server
def test_a_step_that_adds_is_taken_beside_a_hub_that_goes_on(open_postgres, owner):
    store = followed(open_postgres(FakeClock()))
    assert migrate(owner, FakeClock().now(), (*MIGRATIONS, ADDS)) == ADDS.number
    assert store.put_entry("default", "a talk", "note", {"said": "bees"}) == 1
    assert store.info().schema_version == NEWEST
    assert any("later version" in one for one in store.info().notices)


@on_a_server
def test_a_store_with_an_added_step_is_opened_by_the_version_before(open_postgres, owner):
    migrate(owner, FakeClock().now(), (*MIGRATIONS, ADDS))
    store = open_postgres(FakeClock())
    assert store.put_entry("default", "a talk", "note", {"said": "bees"}) == 1


@on_a_server
def test_a_step_that_changes_waits_until_no_hub_of_the_version_before_lives(open_postgres, owner):
    store = followed(open_postgres(FakeClock()))
    with pytest.raises(StoreError, match="earlier version"):
        migrate(owner, FakeClock().now(), (*MIGRATIONS, CHANGES))
    store.close()
    assert migrate(owner, FakeClock().now(), (*MIGRATIONS, CHANGES)) == CHANGES.number
    with pytest.raises(SchemaTooNew, match="Upgrade"):
        open_postgres(FakeClock())


@on_a_server
def test_a_hub_that_was_away_meanwhile_reads_and_writes_no_more(open_postgres, owner, database):
    store = followed(open_postgres(FakeClock()))
    database.rows("DELETE FROM hub RETURNING id")  # as one that is taken for dead
    migrate(owner, FakeClock().now(), (*MIGRATIONS, CHANGES))
    wait_until(lambda: store.connections.outdated)
    for work in (store.info, lambda: store.get("default", ["m"]), lambda: store.touch("default", [])):
        with pytest.raises(SchemaTooNew, match="Upgrade"):
            work()


@on_a_server
def test_what_concerns_the_whole_store_is_left_to_the_later_version(open_postgres, owner, tmp_path):
    store = open_postgres(FakeClock())
    migrate(owner, FakeClock().now(), (*MIGRATIONS, ADDS))
    for work in (
        lambda: store.transfer.copy_to(tmp_path / "copy.duckdb"),
        lambda: store.transfer.export_items(None, vectors=False),
        lambda: store.transfer.undo_import("import 1", actor="test", remaining_state=lambda *_: None),
        lambda: store.repair(tmp_path, lambda _: None),
        lambda: store.eraser(tmp_path).erase(lambda _: None, SystemClock().now(), actor="test", remaining_state=None),
    ):
        with pytest.raises(SchemaTooNew, match="leave out"):
            work()
    assert not (tmp_path / "copy.duckdb").exists()


@on_a_server
def test_hubs_write_on_while_a_step_waits_for_somebody_who_reads_for_long(open_postgres, owner, database):
    store = open_postgres(FakeClock())
    with psycopg.connect(database.conninfo_of("keeper")) as reader, ThreadPoolExecutor(1) as at_work:
        reader.execute("SELECT count(*) FROM memory")  # and stays in its transaction, as an export does
        step = at_work.submit(migrate, owner, FakeClock().now(), (*MIGRATIONS, ADDS))
        for number in range(1, 21):
            assert store.put_entry("default", "a talk", "note", {"said": "bees"}) == number
            assert store.get("default", ["m"]) == {}
        reader.rollback()
        assert step.result(60) == ADDS.number


@on_a_server
def test_rights_are_given_and_completed_beside_hubs_that_write(open_postgres, owner, database):
    store = open_postgres(FakeClock())
    done = Event()
    another = f"hub_of_{database.name}"

    def write():
        count = 0
        while not done.is_set():
            count += 1
            assert store.put_entry("default", "a talk", "note", {"said": "bees"}) == count
            store.changes("default", 0)
        return count

    with ThreadPoolExecutor(1) as at_work:
        writing = at_work.submit(write)
        try:
            assert not prepare(owner, FakeClock().now(), "hub").made
            assert prepare(owner, FakeClock().now(), another).made
            told = database.rows(
                "SELECT count(*) FROM pg_policies WHERE policyname = 'hubs' AND roles @> %s::name[]", [another]
            )
            assert told == database.rows("SELECT count(*) FROM pg_policies WHERE policyname = 'hubs'")
        finally:
            done.set()
            database.rows(f"DROP OWNED BY {another}")
            database.rows(f"DROP ROLE {another}")
        assert writing.result(60) > 1


@on_a_server
def test_a_later_store_is_not_changed_by_the_version_before(owner):
    migrate(owner, FakeClock().now(), (*MIGRATIONS, ADDS))
    assert migrate(owner, FakeClock().now()) == NEWEST
    with owner.reading(EVERYTHING) as session:
        assert session.rows("SELECT max(number), count(*) FROM migration") == [(ADDS.number, len(MIGRATIONS) + 1)]


def followed(store):
    """Let a store follow the others as a hub does, so that it has its row among them."""
    store.follow(NoFollower())
    wait_until(lambda: store.connections.outdated or _hubs(store))
    return store


def _hubs(store):
    with store.connections.reading(EVERYTHING) as session:
        return session.rows("SELECT count(*) FROM hub")[0][0]


class NoFollower:
    def on_change(self, namespace, head):
        pass

    def on_hint(self, namespace):
        pass

    def on_exchange(self):
        pass

    def on_embedder(self):
        pass

    def marks(self):
        return {}


def wait_until(happened, tries=3000):
    pause = Event()
    for _ in range(tries):
        if happened():
            return
        pause.wait(0.01)
    raise AssertionError("it did not happen")
