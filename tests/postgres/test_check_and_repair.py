"""`doctor` over PostgreSQL finds what no version of this program writes, and `--repair` keeps it aside and mends the rest."""

import json

import pytest
from tests.core.store.making import DIMENSIONS, memory, put, vector

from hybrid_memory.admin.health_check import check_open
from hybrid_memory.admin.purge import purge
from hybrid_memory.admin.trusted_lines import refusal
from hybrid_memory.language.text import content_hash
from hybrid_memory.model import MemoryId, Origin, Trust, Usage
from hybrid_memory.store.findings import Severity
from hybrid_memory.store.memory_fields import MOST
from hybrid_memory.store.transfer import BufferItem, EntryItem, MemoryItem, PurgeSelection
from hybrid_memory.store.writing import BufferState
from hybrid_memory.testing import START, FakeClock
from hybrid_memory_postgres.store import PostgresStore

pytestmark = [pytest.mark.postgres, pytest.mark.slow]

NO_WRITES = "the database takes no writes: it is a standby, or set to be read only"


@pytest.fixture
def store(database):
    one = PostgresStore.open(database.conninfo, FakeClock(), size=4, wait_seconds=5)
    one.pin_embedder("test", DIMENSIONS)
    one.transfer.import_items(
        [
            of_words("a", "Ada lives in Rome."),
            of_words("b", "The violin is in the attic.", origin=Origin.IMPORT, trust=Trust.UNTRUSTED),
            BufferItem("default", BufferState("s", "agent", "{}", START)),
            EntryItem("default", "talk", "message", 1, {"text": "hello"}),
        ],
        action="import test",
        actor="tester",
    )
    yield one
    one.close()


def of_words(id_, words, **fields):
    return MemoryItem(
        memory(id_, content=words, content_hash=content_hash(words), **fields),
        Usage(accessed_at=START, count=1),
        vector(1),
    )


@pytest.fixture
def home(tmp_path):
    return tmp_path / "home"


def told(report, least=Severity.WARNING):
    order = list(Severity)
    return [one.what for one in report.findings if order.index(one.severity) <= order.index(least)]


def damaged(database, statement):
    """Change rows behind the program's back, as the server's superuser."""
    database.rows(statement)


def test_a_sound_store_has_nothing_to_tell(store):
    report = check_open(store)
    assert told(report, Severity.NOTE) == []
    assert report.sound
    assert (report.rows["memory"], report.rows["vector"], report.rows["log"], report.rows["entry"]) == (2, 2, 2, 1)


@pytest.fixture
def read_only_store(store, database):
    store.close()
    database.rows(f"ALTER DATABASE {database.name} SET default_transaction_read_only = on")
    one = PostgresStore.open(database.conninfo, FakeClock(), size=4, wait_seconds=5)
    yield one
    one.close()


def test_doctor_says_that_the_database_takes_no_writes(read_only_store):
    assert told(check_open(read_only_store)) == [NO_WRITES]


def test_status_says_that_the_database_takes_no_writes(read_only_store):
    assert [one.partition("; ")[0] for one in read_only_store.info().notices] == [NO_WRITES]


def test_a_sound_store_is_not_changed_by_a_repair(store, home):
    before = list(store.changes("default", 0))
    assert store.repair(home, refusal).sound
    assert list(store.changes("default", 0)) == before
    assert not home.exists()


BROKEN = {
    "UPDATE memory SET kind = 'nonsense' WHERE id = 'a'": "1 row of the table memory is none that this program writes",
    "UPDATE memory SET terms = 'abc' WHERE id = 'a'": "1 row of the table memory is none",
    "UPDATE memory SET tags = '{' WHERE id = 'a'": "1 row of the table memory is none",
    "UPDATE memory SET created_at = 9223372036854775807 WHERE id = 'a'": "1 row of the table memory is none",
    "UPDATE vector SET vec = 'abc' WHERE id = 'a'": "1 row of the table vector is none",
    "UPDATE vector SET vec = decode(repeat('0000c07f', 4), 'hex') WHERE id = 'a'": "1 row of the table vector is none",
    "UPDATE usage SET count = -1 WHERE id = 'a'": "1 row of the table usage is none",
    "UPDATE entry SET body = '[]'": "1 row of the table entry is none",
    "UPDATE buffer SET touched_at = 9223372036854775807": "1 row of the table buffer is none",
    "UPDATE memory SET importance = 7 WHERE id = 'a'": "1 memories are such that no import takes them",
    "UPDATE memory SET content = 'Ada lives in Oslo.' WHERE id = 'a'": "1 memories have other words than when they were written",
    "UPDATE memory SET trust = 'confirmed' WHERE id = 'b'": "1 memories of a tool or an import are trusted as more than that",
    "UPDATE memory SET rev = 9 WHERE id = 'a'": "1 memories have another revision than the log says",
    "INSERT INTO usage VALUES ('default', 'nobody', 0, 1)": "1 rows of usage belong to no memory",
    "INSERT INTO vector SELECT embedder, namespace, 'nobody', vec FROM vector WHERE id = 'a'": "1 vectors belong to no memory",
}


@pytest.mark.parametrize("statement", BROKEN)
def test_what_was_changed_behind_the_programs_back_is_found_and_mended(store, home, database, statement):
    damaged(database, statement)
    found = check_open(store)
    assert any(what.startswith(BROKEN[statement]) for what in told(found)), told(found)
    assert not found.sound
    mended = store.repair(home, refusal)
    assert told(mended) == []
    assert store.check_log("default").problem is None
    assert check_open(store).sound


def test_what_cannot_be_read_is_kept_aside_and_the_rest_stays(store, home, database):
    damaged(database, "UPDATE memory SET kind = 'nonsense' WHERE id = 'a'")
    store.repair(home, refusal)
    assert list(store.get("default", [MemoryId("a"), MemoryId("b")])) == ["b"]
    (file,) = home.glob("quarantine/*/rows.jsonl")
    (line,) = file.read_text().splitlines()
    assert json.loads(line)["table"] == "memory"
    assert json.loads(line)["row"]["content"] == "Ada lives in Rome."
    assert [one.action for one in store.history("default", [MemoryId("a")])] == ["import test", "repair"]


def test_what_was_changed_is_trusted_no_more_and_the_log_says_why(store, home, database):
    damaged(database, "UPDATE memory SET content = 'Ada lives in Oslo.', pinned = true WHERE id = 'a'")
    store.repair(home, refusal)
    (left,) = store.get("default", [MemoryId("a")]).values()
    assert (left.trust, left.pinned, left.encoding) == (Trust.UNTRUSTED, False, 0)
    assert left.content_hash == content_hash("Ada lives in Oslo.")
    assert not store.vectors("default", [MemoryId("a")])
    assert "changed outside" in store.history("default", [MemoryId("a")])[-1].note


CHAIN_BROKEN = {
    "UPDATE log SET actor = 'somebody' WHERE position = 1": "entry 1 does not fit: it was changed, or what stood before it",
    "UPDATE log SET link = NULL WHERE position = 2": "entry 2 has lost its digest",
    "DELETE FROM log WHERE position = 1": "entry 1 is missing",
    "DELETE FROM log WHERE position = 2": "the end is missing: entries 2 to 2",
    "UPDATE namespace SET position = 1": "entry 2 stands behind the head of the log",
    "UPDATE namespace SET link = 'another'": "entry 2 is not the one that the head of the log names",
    "DELETE FROM namespace": "entry 2 is the last, and the head of the log is missing",
}


@pytest.mark.parametrize("statement", CHAIN_BROKEN)
def test_a_chain_that_does_not_fit_is_told_and_begins_anew_behind_a_repair(store, home, database, statement):
    damaged(database, statement)
    assert any(what.endswith(CHAIN_BROKEN[statement]) for what in told(check_open(store)))
    mended = store.repair(home, refusal)
    assert told(mended) == []
    assert any("began the chain of the audit log anew" in what for what in told(mended, Severity.NOTE))
    anew = store.changes("default", 2)[-1]
    assert (anew.actor, anew.action) == ("doctor", "repair")
    assert anew.note.startswith("the chain begins anew: ")


def test_behind_a_chain_begun_anew_writes_go_on_and_a_second_repair_adds_nothing(store, home, database):
    damaged(database, "UPDATE log SET actor = 'somebody' WHERE position = 1")
    store.repair(home, refusal)
    put(store, "later", content="The bridge is old.", content_hash=content_hash("The bridge is old."))
    position = store.head("default")
    assert store.repair(home, refusal).sound
    assert (store.head("default"), store.check_log("default").problem) == (position, None)


def test_a_log_at_the_end_of_all_positions_is_told_and_stays(store, home, database):
    database.rows("UPDATE log SET position = %s WHERE position = 2", MOST)
    before = database.rows("SELECT position, link FROM log ORDER BY position")
    assert any("audit log of the namespace 'default'" in what for what in told(store.repair(home, refusal)))
    assert database.rows("SELECT position, link FROM log ORDER BY position") == before


def test_an_erasure_that_was_not_finished_is_told_and_finished_by_a_repair(store, home, tmp_path):
    class KilledError(Exception):
        pass

    def die(step):
        if step == "erased":
            raise KilledError

    chosen = PurgeSelection(namespace="default", ids=(MemoryId("a"),))
    with pytest.raises(KilledError):
        purge(store.eraser(tmp_path), chosen, START, actor="tester", on_step=die)
    assert any("erased lately" in what for what in told(check_open(store)))
    assert store.repair(home, refusal).sound
    assert check_open(store).sound


def test_tables_without_their_walls_are_told(store, database):
    damaged(database, "ALTER TABLE memory DISABLE ROW LEVEL SECURITY")
    assert any("row-level security" in what for what in told(check_open(store)))
