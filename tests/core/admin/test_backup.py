"""A backup is whole, private and made alongside the work; restoring leaves the old store or the new one."""

import os
import stat
import threading
from datetime import timedelta
from pathlib import Path

import pytest
from tests.core.admin.killed_process import also, killed_at
from tests.core.admin.sample_stores import exported, filled, opened, some
from tests.core.store.making import put

from hybrid_memory.admin.backup import create_backup, restore
from hybrid_memory.errors import StoreDamaged, StoreError, StoreFull, StoreLocked, StoreReadOnly
from hybrid_memory.language.text import content_hash
from hybrid_memory.store.duck.files.database_copy import verify
from hybrid_memory.store.home_files import list_backups
from hybrid_memory.testing import START


@pytest.fixture
def home(tmp_path):
    return tmp_path / "home"


@pytest.fixture
def store(home):
    store = filled(home, some(20))
    yield store
    store.close()


def names(home):
    return sorted(file.name for file in home.iterdir())


def contents(home, place):
    store = opened(home)
    try:
        return exported(store, place, vectors=True)
    finally:
        store.close()


@pytest.mark.slow
def test_a_backup_holds_what_the_store_held(store, home, tmp_path):
    before = exported(store, tmp_path / "x", vectors=True)
    made = create_backup(store, home, START, keep=3)
    assert (made.memories, made.file) == (20, home / "backups" / "memory-20260110T120000Z.duckdb")
    put(store, "later")
    store.close()
    restore(home, made.file, START)
    assert contents(home, tmp_path / "x") == before


@pytest.mark.slow
def test_a_backup_is_readable_by_its_owner_alone(store, home):
    made = create_backup(store, home, START, keep=3)
    assert stat.S_IMODE(made.file.stat().st_mode) == 0o600
    assert stat.S_IMODE(made.file.parent.stat().st_mode) == 0o700
    assert names(made.file.parent) == [made.file.name]


@pytest.mark.slow
def test_a_backup_can_go_elsewhere(store, home, tmp_path):
    made = create_backup(store, home, START, keep=1, target=tmp_path / "usb.duckdb")
    assert stat.S_IMODE(made.file.stat().st_mode) == 0o600
    assert verify(made.file)["memory"][0] == 20
    assert names(home / "backups") == []


@pytest.mark.slow
def test_the_newest_backups_stay_and_other_files_are_left_alone(store, home):
    folder = home / "backups"
    folder.mkdir()
    (folder / "memory-mine.duckdb").write_text("mine")
    for days in range(3):
        made = create_backup(store, home, START + timedelta(days=days), keep=2)
    assert made.removed == 1
    assert names(folder) == ["memory-20260111T120000Z.duckdb", "memory-20260112T120000Z.duckdb", "memory-mine.duckdb"]


@pytest.mark.slow
def test_backups_of_one_second_are_numbered_and_stay_in_order(store, home):
    (home / "backups").mkdir()
    stem = "memory-20260110T120000Z"
    earlier = [home / "backups" / f"{stem}{end}.duckdb" for end in ("", *(f"-{number}" for number in range(2, 11)))]
    for file in earlier:
        file.touch()
    made = create_backup(store, home, START, keep=20)
    assert made.file.name == f"{stem}-11.duckdb"
    assert list_backups(home) == [*earlier, made.file]


@pytest.mark.slow
def test_a_backup_made_while_others_write_is_one_moment(store, home):
    stop = threading.Event()

    def write():
        number = 0
        while not stop.is_set():
            put(store, f"w{number}", f"v{number}")
            number += 1

    writer = threading.Thread(target=write)
    writer.start()
    try:
        sums = [verify(create_backup(store, home, START, keep=9).file) for _ in range(2)]
    finally:
        stop.set()
        writer.join()
    for found in sums:
        assert found["memory"][0] == found["log"][0]
        assert found["memory"][0] % 2 == 0


def test_a_folder_of_backups_that_leads_elsewhere_is_refused(store, home, tmp_path):
    (home / "backups").symlink_to(tmp_path, target_is_directory=True)
    with pytest.raises(StoreReadOnly):
        create_backup(store, home, START, keep=3)


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="limits of a process are a matter of POSIX")
def test_a_backup_for_which_there_is_no_room_leaves_nothing(store, home):
    import resource
    import signal

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, before[1]))
        with pytest.raises(StoreFull):
            create_backup(store, home, START, keep=3)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, ignored)
    assert names(home / "backups") == []
    put(store, "after")


@pytest.mark.slow
def test_what_a_restore_replaces_is_put_aside(store, home, tmp_path):
    made = create_backup(store, home, START, keep=3)
    put(store, "later", content_hash=content_hash("what later says"))
    store.close()
    restored = restore(home, made.file, START)
    assert (restored.memories, restored.aside) == (20, home / "quarantine" / "20260110T120000Z-replaced")
    restore(home, restored.aside / "memory.duckdb", START)
    assert b'"id":"later"' in contents(home, tmp_path / "x")


@pytest.mark.slow
@pytest.mark.parametrize("damage", [b"", b"no database at all" * 1000])
def test_a_damaged_store_can_be_replaced(store, home, damage):
    made = create_backup(store, home, START, keep=3)
    store.close()
    (home / "memory.duckdb").write_bytes(damage)
    restored = restore(home, made.file, START)
    assert (restored.aside / "memory.duckdb").read_bytes() == damage
    opened(home).close()


@pytest.mark.slow
def test_a_missing_store_can_be_restored(store, home, tmp_path):
    made = create_backup(store, home, START, keep=3)
    store.close()
    assert restore(tmp_path / "fresh", made.file, START).aside is None
    assert names(tmp_path / "fresh") == ["memory.duckdb", "memory.lock"]


@pytest.mark.slow
def test_where_no_store_was_there_is_no_other_model_to_tell_of(store, home, tmp_path):
    made = create_backup(store, home, START, keep=3)
    store.close()
    assert restore(tmp_path / "fresh", made.file, START).embedder is None


@pytest.mark.slow
def test_logs_and_journal_of_the_replaced_store_go_with_it(store, home):
    made = create_backup(store, home, START, keep=3)
    store.close()
    for name in ("memory.duckdb.wal", "memory.journal"):
        (home / name).write_text(name)
    aside = restore(home, made.file, START).aside
    assert names(aside) == ["memory.duckdb", "memory.duckdb.wal", "memory.journal", "report.json"]
    opened(home).close()


def cut(file):
    os.truncate(file, file.stat().st_size // 2)


def flip(file):
    data = bytearray(file.read_bytes())
    at = data.index(b"what m7 says")
    data[at] ^= 1
    file.write_bytes(data)


def garbage(file):
    file.write_bytes(b"x" * 5000)


def foreign(file):
    import duckdb

    file.unlink()
    duckdb.connect(str(file)).execute("CREATE TABLE memory (a INTEGER)").close()


@pytest.mark.slow
@pytest.mark.parametrize("spoil", [cut, flip, garbage, foreign])
def test_a_backup_that_cannot_be_read_whole_changes_nothing(store, home, tmp_path, spoil):
    before = exported(store, tmp_path / "x", vectors=True)
    made = create_backup(store, home, START, keep=3)
    store.close()
    spoil(made.file)
    with pytest.raises(StoreDamaged):
        restore(home, made.file, START)
    assert "quarantine" not in names(home)
    assert "memory.next" not in names(home)
    assert contents(home, tmp_path / "x") == before


@pytest.mark.slow
def test_a_store_in_use_is_not_replaced(store, home):
    made = create_backup(store, home, START, keep=3)
    with pytest.raises(StoreLocked):
        restore(home, made.file, START)


@pytest.mark.slow
@pytest.mark.parametrize("point", ["cleared", *also("copied", "checked", "prepared", "decided", "replaced", "done")])
def test_a_restore_that_is_killed_leaves_the_old_store_or_the_new_one(store, home, tmp_path, point):
    restored = exported(store, tmp_path / "x", vectors=True)
    made = create_backup(store, home, START, keep=3)
    put(store, "later")
    present = exported(store, tmp_path / "x", vectors=True)
    store.close()
    assert killed_at("restore", home, point, made.file)
    decided = point not in {"copied", "checked", "prepared"}
    assert contents(home, tmp_path / "x") == (restored if decided else present)
    assert {"memory.next", "memory.swap", "memory.swap.new"}.isdisjoint(names(home))
    if decided:
        (aside,) = (home / "quarantine").iterdir()
        assert contents(aside, tmp_path / "x") == present


@pytest.mark.parametrize("point", also("written", "checked", "named"))
def test_a_backup_that_is_killed_leaves_a_whole_one_or_none(store, home, point):
    store.close()
    assert killed_at("backup", home, point)
    assert len(list_backups(home)) == (point == "named")
    again = opened(home)
    try:
        made = create_backup(again, home, START, keep=9)
    finally:
        again.close()
    assert verify(made.file)["memory"][0] == 20
    assert names(home / "backups")[0].startswith("memory-")


@pytest.mark.stress
def test_an_import_that_is_killed_is_done_again(store, tmp_path):
    file = tmp_path / "x.jsonl"
    big = filled(tmp_path / "big", some(2500))
    data = exported(big, file)
    big.close()
    file.write_bytes(data)
    home = tmp_path / "target"
    assert killed_at("import", home, "batch:2", file)
    again = opened(home)
    assert again.info().memories == 2000
    again.close()
    assert not killed_at("import", home, "never", file)
    assert contents_without_vectors(home, tmp_path / "y") == data


def contents_without_vectors(home: Path, place: Path) -> bytes:
    store = opened(home)
    try:
        return exported(store, place)
    finally:
        store.close()


@pytest.mark.slow
def test_errors_of_a_place_never_name_it(store, home, tmp_path):
    with pytest.raises(StoreError) as caught:
        create_backup(store, home, START, keep=3, target=tmp_path / "missing" / "file.duckdb")
    assert str(tmp_path) not in str(caught.value)
