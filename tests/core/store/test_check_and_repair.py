"""What an examination finds, and what a repair saves."""

import os
import random
from stat import S_IMODE

import pytest
from tests.core.store.damage import DATABASE, JOURNAL, LOG, flipped, lay_out, zeroed
from tests.core.store.making import always, memory, vector

from hybrid_memory.admin.health_check import check, check_open, repair
from hybrid_memory.errors import StoreDamaged, StoreLocked
from hybrid_memory.language.text import content_hash
from hybrid_memory.model import Scope
from hybrid_memory.requests import WriteRequest
from hybrid_memory.service.memory_service import MemoryService
from hybrid_memory.store.duck.store import DuckStore
from hybrid_memory.store.findings import Severity
from hybrid_memory.store.memory.store import MemoryStore
from hybrid_memory.store.writing import Insert
from hybrid_memory.testing import FakeClock, FakeRandomSource, HashEmbedder

SCOPE = Scope(session="one", actor="test")
CLOSED, OPEN = 150, 5


def remember(store, *texts):
    """Write a few memories through the service, or many at once as it would."""
    if not store.head("default"):
        store.pin_embedder("hash-1", 8)
        made = [memory(f"m{at}", content=text, content_hash=content_hash(text)) for at, text in enumerate(texts)]
        store.write("default", None, always(inserts=tuple(Insert(one, vector(1)) for one in made)))
        return
    service = MemoryService(store, HashEmbedder(8), clock=FakeClock(), random_source=FakeRandomSource(5))
    for text in texts:
        service.write(SCOPE, WriteRequest(content=text))
    service.flush_recalls()


def texts(start, stop):
    return [f"note {number} " + random.Random(number).randbytes(2_000).hex() for number in range(start, stop)]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A store of 150 memories in its database file and 5 in its log, as a killed process leaves it."""
    home = tmp_path_factory.mktemp("files")
    store = DuckStore.open(home / DATABASE, FakeClock())
    remember(store, *texts(0, CLOSED))
    store.close()
    store = DuckStore.open(home / DATABASE, FakeClock())
    remember(store, *texts(CLOSED, CLOSED + OPEN))
    found = {name: (home / name).read_bytes() for name in (DATABASE, LOG, JOURNAL)}
    store.close()
    return found


@pytest.fixture
def home(tmp_path):
    return tmp_path / "home"


def damaged(home, files, **changed):
    names = {"database": DATABASE, "log": LOG, "journal": JOURNAL}
    return lay_out(home, {**files, **{names[name]: content for name, content in changed.items()}}).parent


def said(report, *severities):
    return " | ".join(one.what for one in report.findings if one.severity in (severities or tuple(Severity)))


def everything(store):
    return store.get("default", [entry.id for entry in store.changes("default", 0, 100_000)])


def memories(home):
    store = DuckStore.open(home / DATABASE, FakeClock())
    try:
        return {memory.content for memory in everything(store).values()}
    finally:
        store.close()


def altered(home, statement):
    store = DuckStore.open(home / DATABASE, FakeClock())
    store._engine._connection.execute(statement)
    store.close()
    return check(home, FakeClock())


@pytest.mark.slow
def test_a_whole_store_is_sound_and_every_row_was_read(home, files):
    report = check(damaged(home, files), FakeClock())
    assert (report.sound, report.rows["memory"], report.rows["vector_1"]) == (True, CLOSED + OPEN, CLOSED + OPEN)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("statement", "finding"),
    [
        ("UPDATE memory SET content = 'other' WHERE content LIKE 'note 3 %'", "1 memories have other words"),
        ("DELETE FROM log WHERE position = 5", "entry 5 is missing"),
        ("UPDATE memory SET rev = rev + 1 WHERE content LIKE 'note 3 %'", "1 memories have another revision"),
        ("INSERT INTO usage VALUES ('default', 'nobody', 0, 1)", "1 rows of usage belong to no memory"),
        ("UPDATE memory SET tags = '[' WHERE content LIKE 'note 3 %'", "1 row of the table memory is none"),
        (
            "INSERT INTO vector_1 SELECT 'default', 'x', ['nan'::FLOAT, 0, 0, 0, 0, 0, 0, 0]::FLOAT[8], NULL",
            "1 row of the table vector_1 is none",
        ),
        ("INSERT INTO vector_1 SELECT * FROM vector_1 LIMIT 1", "1 memories have more than one vector"),
    ],
)
def test_what_does_not_agree_is_found(home, files, statement, finding):
    report = altered(damaged(home, files), statement)
    assert finding in said(report, Severity.ERROR, Severity.WARNING)
    assert not report.sound


@pytest.mark.skipif(os.name != "posix", reason="there are no such rights")
def test_rights_of_others_are_found(home, files):
    damaged(home, files).chmod(0o755)
    assert "other users" in said(check(home, FakeClock()), Severity.WARNING)


@pytest.mark.slow
def test_a_recovery_is_told_in_the_status_until_doctor_has_told_it(home, files):
    damaged(home, files, log=zeroed(files[LOG], 100))
    store = DuckStore.open(home / DATABASE, FakeClock())
    assert "restored from the journal" in store.info().notices[0]
    assert "restored from the journal" in said(check_open(store), Severity.NOTE)
    assert store.info().notices == ()
    store.close()
    assert "restored" not in said(check(home, FakeClock()))


def test_a_store_in_memory_has_nothing_to_examine():
    assert check_open(MemoryStore(FakeClock())).sound


@pytest.mark.slow
def test_a_store_that_is_open_is_not_repaired(home, files):
    store = DuckStore.open(damaged(home, files) / DATABASE, FakeClock())
    with pytest.raises(StoreLocked):
        repair(home, FakeClock())
    store.close()


@pytest.mark.slow
def test_a_repair_of_a_whole_store_changes_nothing(home, files):
    assert repair(damaged(home, files), FakeClock()).sound
    assert not (home / "quarantine").exists()


def block_of(content, text):
    """Return where the block that holds a text begins."""
    return 12_288 + (content.index(text.encode()) - 12_288) // 262_144 * 262_144


@pytest.mark.slow
def test_a_block_that_cannot_be_read_is_found_and_the_store_goes_on_being_asked(home, files):
    place = files[DATABASE].index(texts(70, 71)[0].encode())
    damaged(home, files, database=flipped(files[DATABASE], 8 * place))
    store = DuckStore.open(home / DATABASE, FakeClock())
    with pytest.raises(StoreDamaged):
        everything(store)
    assert f"{CLOSED + OPEN} rows of the table memory cannot be read" in said(check_open(store), Severity.ERROR)
    assert store.info().memories == CLOSED + OPEN
    store.close()


@pytest.mark.stress
def test_of_a_destroyed_block_all_other_rows_are_saved_and_the_loss_is_told(home, files):
    place = block_of(files[DATABASE], texts(70, 71)[0])
    content = bytearray(files[DATABASE])
    content[place : place + 262_144] = bytes(262_144)
    damaged(home, files, database=bytes(content))
    report = repair(home, FakeClock())
    left = memories(home)
    assert f"{CLOSED + OPEN - len(left)} of {CLOSED + OPEN} rows of the table memory are lost" in said(report)
    assert set(texts(CLOSED, CLOSED + OPEN)) < left < set(texts(0, CLOSED + OPEN))
    assert (home / "quarantine").exists()


@pytest.mark.slow
def test_without_a_header_the_journal_alone_is_saved(home, files):
    damaged(home, files, database=bytes(4_096) + files[DATABASE][4_096:])
    with pytest.raises(StoreDamaged):
        DuckStore.open(home / DATABASE, FakeClock())
    report = repair(home, FakeClock())
    assert "DuckDB cannot open the database file at all" in said(report, Severity.ERROR)
    assert memories(home) == set(texts(CLOSED, CLOSED + OPEN))


@pytest.mark.slow
def test_the_damaged_files_are_in_quarantine_for_their_owner_alone(home, files):
    damaged(home, files, database=flipped(files[DATABASE], 8 * 100))
    repair(home, FakeClock())
    (folder,) = (home / "quarantine").iterdir()
    assert (folder / DATABASE).read_bytes() == flipped(files[DATABASE], 8 * 100)
    assert {S_IMODE(file.stat().st_mode) for file in folder.iterdir()} == {0o600}
