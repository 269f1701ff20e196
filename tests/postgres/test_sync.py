"""A store in PostgreSQL is synchronised through folders as a file is, and is one machine for them, whichever of its hubs does it."""

import itertools
from pathlib import Path

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.sync.machines import Machine
from tests.sync.test_hostile_lines import EVERY_WRONG_LINE, LINES, lay, lay_honest
from tests.sync.test_three_machines import ACTIONS, do

from hybrid_memory.admin.purge import purge
from hybrid_memory.admin.redact import redact
from hybrid_memory.errors import StoreError
from hybrid_memory.model import MemoryId
from hybrid_memory.requests import ReadRequest
from hybrid_memory.service.memory_service import MemoryService
from hybrid_memory.settings import StoreSettings
from hybrid_memory.store.syncing import known_folders
from hybrid_memory.store.transfer import PurgeSelection
from hybrid_memory.testing import START, HashEmbedder
from hybrid_memory_postgres import reading_table
from hybrid_memory_postgres.store import PostgresStore
from hybrid_memory_sync.erasing import erase_waiting, is_waiting, note_waiting

pytestmark = [pytest.mark.postgres, pytest.mark.slow]

SECRET = "sk-ant-api03-" + "Ab3" * 30  # made up
VIOLIN = "The violin is in the attic."


class Hub(Machine):
    """A hub over a database that others may share."""

    def __init__(self, home: Path, seed: int, conninfo: str) -> None:
        self.conninfo = conninfo
        home.mkdir(exist_ok=True)
        (home / "memory.duckdb").touch()  # so that no file store is laid there
        super().__init__(home, seed, START)
        (home / "memory.duckdb").unlink()

    def open(self) -> None:
        self.store = PostgresStore.open(
            self.conninfo, self.clock, size=4, wait_seconds=5, random_source=self.random_source
        )
        self.service = MemoryService(
            self.store,
            HashEmbedder(8),
            clock=self.clock,
            random_source=self.random_source,
            settings=StoreSettings(),
        )

    def discard(self) -> None:
        self.service.close()


@pytest.fixture
def folder(tmp_path):
    place = tmp_path / "folder"
    place.mkdir()
    return place


@pytest.fixture
def hub(database, tmp_path):
    """Return a hub of the test's database; each call is another one, on a machine of its own."""
    found, numbers = [], itertools.count(50)

    def make():
        number = next(numbers)
        found.append(Hub(tmp_path / f"hub{number}", number, database.conninfo))
        return found[-1]

    yield make
    for one in found:
        one.discard()


@pytest.fixture
def file_machine(tmp_path):
    one = Machine(tmp_path / "m1", 1)
    yield one
    one.discard()


def rounds(folder, *machines, times=2):
    for _ in range(times):
        for one in machines:
            one.sync(folder)


def agree(*machines):
    exports = [one.export() for one in machines]
    assert all(one == exports[0] for one in exports)


def test_a_file_and_a_database_come_to_hold_the_same(folder, hub, file_machine):
    one, other = hub(), file_machine
    first = one.write("Ada lives in Rome.", tags=("home",))
    other.write(VIOLIN)
    rounds(folder, one, other)
    other.update(first, content="Ada lives in Paris.")
    one.forget(one.ids()[-1])
    one.store.put_entry("default", "talk", "message", {"text": "hello"})
    rounds(folder, one, other)
    agree(one, other)
    assert other.store.entries("default", "talk", "message")
    assert one.store.check_log("default").problem is None


def test_nothing_new_is_known_at_once(folder, hub):
    one = hub()
    one.write(VIOLIN)
    one.sync(folder)
    files = sorted(folder.rglob("*.jsonl"))
    done = one.sync(folder)
    assert (done.sent, done.read, done.segments) == (0, 0, 0)
    assert sorted(folder.rglob("*.jsonl")) == files
    one.write("Ada lives in Rome.")
    assert one.sync(folder).sent == 1


def test_what_is_only_recalled_or_said_is_noticed_too(folder, hub, file_machine):
    one = hub()
    one.write(VIOLIN)
    one.sync(folder)
    one.service.read(one.scope(), ReadRequest(query="Where is the violin?"))
    one.service.flush_recalls()
    one.store.put_entry("default", "talk", "message", {"text": "hello"})
    one.sync(folder)
    file_machine.sync(folder)
    (id_,) = file_machine.ids()
    assert file_machine.store.usage("default", [id_])[id_].count == 1
    assert file_machine.store.entries("default", "talk", "message")


def test_two_hubs_of_a_store_are_one_machine_for_a_folder(folder, hub, file_machine):
    one, other = hub(), hub()
    first = one.write(VIOLIN)
    one.sync(folder)
    # Both have the folder, under whichever path: it is the same one, and nothing is told twice.
    elsewhere = folder.parent / "elsewhere"
    folder.rename(elsewhere)
    done = other.sync(elsewhere)
    assert (done.sent, done.segments, done.renamed) == (0, 0, False)
    other.update(first, content="The violin is in the cellar.")
    assert other.sync(elsewhere).sent == 2
    assert len({file.parent.name for file in elsewhere.rglob("*.jsonl")}) == 1
    file_machine.sync(elsewhere)
    agree(one, file_machine)


def test_another_folder_gets_everything(folder, hub):
    one = hub()
    one.write(VIOLIN)
    one.sync(folder)
    second = folder.parent / "second"
    second.mkdir()
    assert one.sync(second).sent == 1
    assert one.sync(folder).sent == 0
    assert [name.rpartition(":")[2] for name in known_folders(one.store.syncing)] == [str(folder), str(second)]


def test_a_copy_of_the_database_is_another_machine(folder, hub, postgres_server, database, tmp_path):
    one = hub()
    one.write(VIOLIN)
    one.sync(folder)
    name = one.sync(folder).machine
    one.service.close()
    copy = postgres_server.create_database("copied", template=database.name)
    try:
        second = Hub(tmp_path / "copy", 90, copy.conninfo)
        assert second.sync(folder).machine != name
        second.discard()
    finally:
        postgres_server.drop_database("copied")


def test_two_hubs_do_not_synchronise_at_once(folder, hub):
    one, other = hub(), hub()
    one.write(VIOLIN)
    with one.store.syncing.alone() as alone:
        assert alone
        with pytest.raises(StoreError, match="another machine"):
            other.sync(folder)
    assert other.sync(folder).sent == 1


def test_one_synchronisation_may_follow_another_at_once(hub):
    syncing = hub().store.syncing
    for _ in range(200):
        with syncing.alone() as alone:
            assert alone


def test_what_is_asked_meanwhile_stops_no_synchronisation(folder, hub, database):
    one = hub()
    one.write(VIOLIN)
    with psycopg.connect(database.conninfo) as journal:
        journal.execute(reading_table._LOCK)
        assert one.sync(folder).sent == 1


def test_a_purge_elsewhere_leaves_the_database_and_its_bytes(folder, hub, file_machine, postgres_server):
    one = hub()
    id_ = file_machine.write("We met at quetzalcoatl-6612.")
    rounds(folder, file_machine, one)
    assert one.get(id_)
    file_machine.close()
    purge(
        file_machine.store.eraser(file_machine.home),
        PurgeSelection(namespace="default", ids=(id_,)),
        file_machine.clock.now(),
        actor="tester",
    )
    file_machine.open()
    rounds(folder, file_machine, one)
    assert one.get(id_) is None
    note_waiting(one.store, one.erased)
    assert is_waiting(one.store)
    erase_waiting(one.store.eraser(one.home), one.clock.now(), actor="tester")
    assert not holding(postgres_server, b"quetzalcoatl-6612")


def holding(server, words):
    server.rows("CHECKPOINT")
    files = [file for file in (server.folder / "data" / "base").rglob("*") if file.is_file()]
    return [file for file in files if words in file.read_bytes()]


def test_a_purge_here_reaches_the_others_and_the_folder(folder, hub, file_machine):
    one = hub()
    id_ = one.write("We met at quetzalcoatl-6613.")
    kept = one.write(VIOLIN)
    rounds(folder, one, file_machine)
    purge(
        one.store.eraser(one.home),
        PurgeSelection(namespace="default", ids=(id_,)),
        one.clock.now(),
        actor="tester",
    )
    rounds(folder, one, file_machine)
    assert file_machine.ids() == [kept]
    assert not [file for file in folder.rglob("*.jsonl") if b"quetzalcoatl-6613" in file.read_bytes()]
    agree(one, file_machine)


def test_a_namespace_that_is_purged_as_a_whole_is_so_everywhere(folder, hub, file_machine):
    one = hub()
    one.write(VIOLIN)
    one.store.put_entry("default", "talk", "message", {"text": "hello"})
    rounds(folder, one, file_machine)
    purge(
        one.store.eraser(one.home),
        PurgeSelection(namespace="default", everything=True),
        one.clock.now(),
        actor="tester",
    )
    rounds(folder, one, file_machine)
    assert file_machine.ids() == []
    assert not file_machine.store.entries("default", "talk", "message")
    again = one.write("Ada lives in Rome.")
    rounds(folder, one, file_machine)
    assert file_machine.ids() == [again]


def test_a_redaction_reaches_the_others(folder, hub, file_machine):
    one = hub()
    id_ = one.write(f"The key is {SECRET}.")
    rounds(folder, one, file_machine)
    redact(one.store.eraser(one.home), "default", [MemoryId(id_)], one.clock.now(), actor="tester")
    rounds(folder, one, file_machine)
    assert SECRET not in file_machine.get(id_).content
    agree(one, file_machine)


STEPS = st.lists(st.tuples(st.integers(0, 1), ACTIONS, st.integers(0, 5)), min_size=4, max_size=12)


@given(steps=STEPS)
@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
def test_whatever_is_done_a_file_and_a_database_agree_in_the_end(steps, postgres_server, tmp_path_factory):
    place = tmp_path_factory.mktemp("lives")
    shared = postgres_server.create_database()
    folder = place / "folder"
    folder.mkdir()
    machines = [Hub(place / "hub", 5, shared.conninfo), Machine(place / "file", 6)]
    try:
        for number, action, which in steps:
            do(machines[number], action, which, folder)
        rounds(folder, *machines, times=3)
        agree(*machines)
        assert machines[0].store.check_log("default").problem is None
    finally:
        for one in machines:
            one.discard()
        postgres_server.drop_database(shared.name)


def test_lines_that_no_version_writes_stop_no_synchronisation(hub, folder):
    one = hub()
    name = lay(folder, [LINES[0], *EVERY_WRONG_LINE])
    honest = lay_honest(folder)
    assert one.sync(folder).refused_in == (name,)
    assert one.get(honest) is not None
