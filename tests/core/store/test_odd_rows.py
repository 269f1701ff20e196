"""What no import would take, and words that were changed, are told by `doctor`; after a repair the store is sound and nothing is lost."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from tests.core.admin.sample_stores import exported, imported, opened
from tests.core.store.hostile_rows import HARMLESS, UNREADABLE, change_rows, set_values
from tests.core.store.making import DIMENSIONS, always, memory, vector

from hybrid_memory.admin.backup import restore
from hybrid_memory.admin.health_check import check, repair
from hybrid_memory.embedding.registry import setting_for
from hybrid_memory.errors import StoreDamaged
from hybrid_memory.language.text import content_hash
from hybrid_memory.model import MemoryId, Origin, Trust
from hybrid_memory.settings import DATABASE
from hybrid_memory.store.findings import Severity
from hybrid_memory.store.writing import Insert
from hybrid_memory.testing import START, FakeClock

NAMES = ("m0", "m1", "m2")


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """The bytes of a small store."""
    home = tmp_path_factory.mktemp("odd")
    store = opened(home)
    store.pin_embedder("e", DIMENSIONS)
    made = [memory(name, content=f"words of {name}", content_hash=content_hash(f"words of {name}")) for name in NAMES]
    made[2] = replace(made[2], origin=Origin.TOOL, trust=Trust.UNTRUSTED)
    store.write("default", None, always(inserts=tuple(Insert(one, vector(1)) for one in made)))
    store.close()
    return (home / DATABASE).read_bytes()


@pytest.fixture
def home(tmp_path, file):
    (tmp_path / DATABASE).write_bytes(file)
    tmp_path.chmod(0o700)
    (tmp_path / DATABASE).chmod(0o600)
    return tmp_path


def left(home):
    store = opened(home)
    try:
        return store.get("default", [MemoryId(name) for name in NAMES])
    finally:
        store.close()


def aside(home):
    files = (home / "quarantine").glob("*/rows.jsonl")
    return [json.loads(line)["row"] for file in files for line in file.read_text().splitlines()]


STATEMENTS = {
    "words": "UPDATE memory SET content = 'planted' WHERE id = 'm1'",
    "control": "UPDATE memory SET content = 'a' || chr(27) || chr(0) WHERE id = 'm1'",
    "empty": "UPDATE memory SET content = '' WHERE id = 'm1'",
    "digest": "UPDATE memory SET content_hash = 'other' WHERE id = 'm1'",
    "importance": "UPDATE memory SET importance = 9e99 WHERE id = 'm1'",
    "negative": "UPDATE memory SET importance = -1 WHERE id = 'm1'",
    "revision": "UPDATE memory SET rev = 7 WHERE id = 'm1'",
    "none": "UPDATE memory SET rev = 0 WHERE id = 'm1'",
    "confirmed": "UPDATE memory SET trust = 'confirmed' WHERE id = 'm2'",
    "vectors": "INSERT INTO vector_1 SELECT * FROM vector_1",
    "usage": "INSERT INTO usage VALUES ('default', 'nobody', 0, 1)",
    "log": "DELETE FROM log WHERE position = 2",
    "speaker": "UPDATE memory SET speaker = repeat('x', 5000) WHERE id = 'm1'",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", STATEMENTS)
def test_what_no_import_would_take_is_found(home, name):
    change_rows(home / DATABASE, STATEMENTS[name])
    assert not check(home, FakeClock()).sound


def repaired(home):
    repair(home, FakeClock())
    report = check(home, FakeClock())
    assert report.sound, report.findings


@pytest.mark.slow
def test_after_a_repair_of_all_of_it_at_once_the_store_is_sound(home):
    for name in ("words", "importance", "revision", "confirmed", "vectors", "usage", "log", "speaker"):
        change_rows(home / DATABASE, STATEMENTS[name])
    repaired(home)


@pytest.mark.stress
@pytest.mark.parametrize("name", STATEMENTS)
def test_after_a_repair_the_store_is_sound(home, name):
    change_rows(home / DATABASE, STATEMENTS[name])
    repaired(home)


@pytest.mark.slow
def test_words_that_were_changed_stay_untrusted_with_an_entry_that_says_so(home):
    change_rows(home / DATABASE, STATEMENTS["words"])
    repair(home, FakeClock())
    changed = left(home)[MemoryId("m1")]
    assert (changed.trust, changed.content_hash) == (Trust.UNTRUSTED, content_hash("planted"))
    store = opened(home)
    last = store.history("default", [MemoryId("m1")])[-1]
    store.close()
    assert (last.action, last.rev) == ("repair", changed.rev)
    assert "untrusted" in last.note
    assert [row["content"] for row in aside(home)] == ["planted"]


@pytest.mark.slow
def test_words_that_were_changed_with_their_digest_are_found_by_the_log(home):
    change_rows(
        home / DATABASE, "UPDATE memory SET content = 'x', content_hash = ? WHERE id = 'm1'", [content_hash("x")]
    )
    assert not check(home, FakeClock()).sound
    repair(home, FakeClock())
    assert check(home, FakeClock()).sound
    assert left(home)[MemoryId("m1")].trust is Trust.UNTRUSTED


@pytest.mark.slow
def test_an_importance_out_of_range_is_put_into_range(home):
    change_rows(home / DATABASE, STATEMENTS["importance"])
    repair(home, FakeClock())
    assert left(home)[MemoryId("m1")].importance == 1.0


@pytest.mark.slow
def test_what_cannot_be_put_into_range_is_put_aside(home):
    change_rows(home / DATABASE, STATEMENTS["speaker"])
    repair(home, FakeClock())
    assert sorted(left(home)) == ["m0", "m2"]
    assert [row["id"] for row in aside(home)] == ["m1"]


@pytest.mark.slow
@pytest.mark.parametrize("words", ["", "\0", "a\x1b[31m"])
def test_words_that_cannot_be_shown_are_told(home, words):
    change_rows(home / DATABASE, "UPDATE memory SET content = ? WHERE id = 'm1'", [words])
    told = [one.what for one in check(home, FakeClock()).findings if one.severity is Severity.NOTE]
    assert any("control characters or no words" in what for what in told)


@pytest.mark.slow
def test_what_a_repair_leaves_of_odd_and_bad_rows_is_sound_and_an_import_takes_it(tmp_path):
    """Each odd value in a memory of its own, and some bad ones among them."""
    # A time of writing ahead of the clock is reported forever: the clock may be what is wrong.
    cases = [one for one in (*HARMLESS, *UNREADABLE[::9]) if one[0] not in {"id", "created_at"}]
    home = tmp_path / "home"
    store = opened(home)
    made = [memory(f"c{n}", content=f"words {n}", content_hash=content_hash(f"words {n}")) for n in range(len(cases))]
    store.write("default", None, always(inserts=tuple(map(Insert, made))))
    store.close()
    set_values(home / DATABASE, {f"c{number}": case for number, case in enumerate(cases)})
    repair(home, FakeClock())
    report = check(home, FakeClock())
    assert report.sound, report.findings
    store, other = opened(home), opened(tmp_path / "other")
    try:
        data = exported(store, tmp_path / "x")
        assert imported(other, tmp_path / "x", data).new == len(store.get("default", [one.id for one in made]))
    finally:
        store.close()
        other.close()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["words", "digest", "importance"])
def test_a_restore_refuses_what_the_doctor_calls_an_error(home, tmp_path, name):
    change_rows(home / DATABASE, STATEMENTS[name])
    with pytest.raises(StoreDamaged, match="1 memories whose words"):
        restore(tmp_path / "new", home / DATABASE, START)
    assert not (tmp_path / "new" / DATABASE).exists()


@pytest.mark.slow
def test_a_restore_tells_the_model_of_a_backup_that_is_another_and_no_file_chooses_a_folder(file, home, tmp_path):
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / DATABASE).write_bytes(file)
    change_rows(home / DATABASE, "UPDATE embedder SET identity = 'fastembed:/tmp'")
    assert restore(tmp_path / "new", home / DATABASE, START).embedder == "fastembed:/tmp"
    assert setting_for("fastembed:/tmp") is None
    assert setting_for("fastembed:~/model@2") is None
    assert setting_for("fastembed:BAAI/bge-small-en-v1.5@x") == "fastembed:BAAI/bge-small-en-v1.5"


@pytest.mark.parametrize("content", [b"", b"just text\n", b"\0" * 5000])
def test_a_file_that_is_no_database_is_what_a_restore_names(tmp_path, content):
    (tmp_path / "given").write_bytes(content)
    with pytest.raises(StoreDamaged, match="file") as refused:
        restore(tmp_path / "new", tmp_path / "given", START)
    assert "--repair" not in str(refused.value)
