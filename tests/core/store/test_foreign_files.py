"""A file that somebody gives us is no store of ours until it was looked at; what is not ours is said, refused or put aside."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from tests.core.store.hostile_rows import UNREADABLE, change_rows, set_values
from tests.core.store.making import DIMENSIONS, always, memory, put, vector

from hybrid_memory.admin.backup import create_backup, restore
from hybrid_memory.admin.health_check import repair
from hybrid_memory.errors import StoreDamaged
from hybrid_memory.language.text import content_hash
from hybrid_memory.model import MemoryId
from hybrid_memory.store.duck import catalogue
from hybrid_memory.store.duck.recovery.inspection import inspect
from hybrid_memory.store.duck.schema import MIGRATIONS
from hybrid_memory.store.findings import Severity
from hybrid_memory.store.writing import BufferState, Insert, RecordUse, RequestKey
from hybrid_memory.testing import START

SHADOWS = (
    "CREATE MACRO count(x) AS 5",
    "CREATE MACRO duckdb_functions() AS TABLE SELECT 1 AS function_name WHERE false",
    "CREATE VIEW facts AS SELECT * FROM memory",
    "CREATE SEQUENCE numbers",
    "CREATE TYPE mood AS ENUM ('sad', 'ok')",
    "CREATE SCHEMA elsewhere",
)
OTHER_TABLES = (
    "CREATE TABLE mine (a INTEGER)",
    "ALTER TABLE memory ADD COLUMN more VARCHAR",
    "ALTER TABLE usage ALTER COLUMN count TYPE VARCHAR",
    "ALTER TABLE log ALTER COLUMN actor SET DEFAULT 'nobody'",
    "ALTER TABLE buffer ALTER COLUMN state DROP NOT NULL",
    "CREATE UNIQUE INDEX words ON memory (content)",
    "DROP INDEX memory_id",
    "CREATE TABLE vector_9 (namespace VARCHAR NOT NULL, id VARCHAR NOT NULL, vec FLOAT[3] NOT NULL)",
    "DELETE FROM embedder",
    "DROP TABLE entry",
)
BAD_ROWS = (
    *(
        "UPDATE log SET change = 'bogus'",
        "UPDATE log SET made_at = 9223372036854775807",
        "UPDATE log SET position = -1",
    ),
    *("UPDATE usage SET count = -1", "UPDATE buffer SET touched_at = -9223372036854775808"),
    *(
        "UPDATE request SET result = '{'",
        "UPDATE entry SET body = '[1]'",
        "UPDATE conversation SET last = 9223372036854775807",
    ),
    "INSERT INTO namespace VALUES ('default', -1)",
    "UPDATE vector_1 SET vec = ['nan'::FLOAT, 1, 1, 1, 1, 1, 1, 1]::FLOAT[8]",
    "UPDATE vector_1 SET vec = [NULL, 1, 1, 1, 1, 1, 1, 1]::FLOAT[8]",
)


def a_few(cases: Sequence[Any], every: int) -> list[Any]:
    """Return all cases, but for one of so many in the stress tier."""
    return [pytest.param(one, marks=[pytest.mark.stress] if at % every else []) for at, one in enumerate(cases)]


@pytest.fixture
def laid(duck, path):
    """Lay a small store and return its file."""
    duck.pin_embedder("e", DIMENSIONS)
    inserts = tuple(
        Insert(
            memory(f"m{n}", tags=("t",), metadata={"n": n}, content=f"tea {n}", content_hash=content_hash(f"tea {n}")),
            vector(n),
        )
        for n in range(3)
    )
    duck.write("default", RequestKey("relay", 1), always(inserts=inserts, result={"done": 1}))
    duck.write("default", None, always(buffers=(BufferState("s-1", "default", "{}", START),)))
    duck.touch("default", [RecordUse(MemoryId("m1"), START)])
    duck.put_entry("default", "talk", "message", {"text": "one"})
    duck.close()
    return path


def errors(report) -> list[str]:
    return [one.what for one in report.findings if one.severity is not Severity.NOTE]


def test_the_digest_of_what_the_newest_schema_declares_is_up_to_date():
    """Another one costs every opening 20 ms."""
    assert catalogue.digest_of(catalogue.declared_by(len(MIGRATIONS))) == catalogue._NEWEST


@pytest.mark.slow
@pytest.mark.parametrize("statement", a_few([*SHADOWS, *OTHER_TABLES, *BAD_ROWS], 6))
def test_a_restore_refuses_what_is_not_ours_before_the_present_store_is_touched(laid, tmp_path, clock, statement):
    change_rows(laid, statement)
    home = tmp_path / "present"
    home.mkdir()
    (home / "memory.duckdb").write_bytes(b"what is there now")
    with pytest.raises(StoreDamaged) as refused:
        restore(home, laid, clock.now())
    assert "nothing was changed" in str(refused.value)
    assert (home / "memory.duckdb").read_bytes() == b"what is there now"


@pytest.mark.slow
@pytest.mark.parametrize("case", a_few(UNREADABLE, 40))
def test_a_file_with_a_row_that_is_no_memory_is_refused(laid, case):
    set_values(laid, {"m1": case})
    with pytest.raises(StoreDamaged, match="1 of the table memory"):
        inspect(laid)


@pytest.mark.slow
def test_a_backup_of_ours_is_restored(laid, tmp_path, clock, open_duck):
    store = open_duck()
    made = create_backup(store, laid.parent, clock.now(), keep=3)
    store.close()
    assert restore(tmp_path / "new", made.file, clock.now()).memories == 3


@pytest.mark.slow
@pytest.mark.parametrize("statement", a_few(OTHER_TABLES, 5))
def test_a_store_with_other_tables_is_not_opened_and_a_repair_takes_over_its_rows(laid, clock, open_duck, statement):
    change_rows(laid, statement)
    if "embedder" not in statement:
        with pytest.raises(StoreDamaged):
            open_duck()
    repair(laid.parent, clock)
    store = open_duck()
    assert not errors(store.check())
    assert len(store.get("default", [MemoryId(f"m{n}") for n in range(3)])) == 3
    put(store, "new")


@pytest.mark.slow
@pytest.mark.parametrize("statement", a_few(SHADOWS, 5))
def test_macros_and_views_are_told_by_the_doctor_and_gone_after_a_repair(laid, clock, open_duck, statement):
    change_rows(laid, statement)
    store = open_duck()
    assert any("not this program's" in one for one in errors(store.check()))
    store.close()
    repair(laid.parent, clock)
    assert not errors(open_duck().check())


@pytest.mark.slow
@pytest.mark.parametrize("statement", a_few(BAD_ROWS, 6))
def test_what_stands_beside_memories_is_told_by_the_doctor_and_sound_after_a_repair(laid, clock, open_duck, statement):
    change_rows(laid, statement)
    store = open_duck()
    assert errors(store.check())
    store.close()
    repair(laid.parent, clock)
    store = open_duck()
    # A line of the log whose place is lost leaves a gap.
    assert all("log" in one for one in errors(store.check()))
    assert len(store.get("default", [MemoryId(f"m{n}") for n in range(3)])) == 3
    put(store, "new")


@pytest.mark.slow
def test_rows_that_are_no_memories_are_put_aside_as_they_were_and_all_is_sound_then(laid, clock, open_duck):
    set_values(laid, {"m0": ("importance", float("nan")), "m1": ("metadata", '{"a":NaN}'), "m2": ("rev", 1)})
    report = repair(laid.parent, clock)
    told = next(one.what for one in report.findings if "put aside" in one.what)
    folder = told.split("put aside in ")[1]
    lines = [json.loads(line) for line in (laid.parent / folder).read_text().splitlines()]
    assert "2 rows of the table memory" in told
    assert {line["row"]["id"]: line["row"]["metadata"] for line in lines} == {"m0": '{"n":0}', "m1": '{"a":NaN}'}
    assert all(line["row"]["content"] and line["row"]["terms"] == [1, -2, 3] for line in lines)
    store = open_duck()
    assert not errors(store.check())
    assert list(store.get("default", [MemoryId(f"m{n}") for n in range(3)])) == ["m2"]
    assert "put aside" in store.info().notices[0]


@pytest.mark.slow
def test_a_repair_of_a_sound_store_changes_nothing(laid, clock):
    repair(laid.parent, clock)
    before = laid.read_bytes()
    assert not errors(repair(laid.parent, clock))
    assert laid.read_bytes() == before
    assert not (laid.parent / "quarantine").exists()


@pytest.mark.slow
@pytest.mark.parametrize("number", [-1, 2**63 - 1])
def test_a_count_of_writes_that_nobody_could_go_on_from_is_made_anew(laid, clock, open_duck, number):
    change_rows(laid, "UPDATE mark SET number = ?", [number])
    with pytest.raises(StoreDamaged):
        open_duck()
    repair(laid.parent, clock)
    put(open_duck(), "new")
