"""Stores of every released schema open, and a migration that is killed anywhere leaves the old schema or the new one.

The files were made by those versions: twelve memories, one of them corrected and one forgotten, and two entries of a log.
"""

import gzip
import os
import sys
from datetime import timedelta
from pathlib import Path

import pytest

from hybrid_memory.admin.health_check import check
from hybrid_memory.store.duck.schema import MIGRATIONS
from hybrid_memory.store.duck.sql_session import SqlSession
from hybrid_memory.store.duck.store import DuckStore
from hybrid_memory.testing import START, FakeClock

STORES = Path(__file__).parents[2] / "data" / "stores"
OLD = (1, 2, 3, 5, 6, 7, 8)
LATER = FakeClock(START + timedelta(days=1))  # than all that the stores hold
STATEMENTS = sum(len(migration.statements) + 3 for migration in MIGRATIONS[1:]) + 4  # and the key of terms


@pytest.fixture
def home(tmp_path):
    tmp_path.chmod(0o700)
    return tmp_path


def lay(home, schema):
    path = home / "memory.duckdb"
    path.touch(mode=0o600)
    path.write_bytes(gzip.decompress((STORES / f"schema-{schema}.duckdb.gz").read_bytes()))
    return path


def checked(home):
    report = check(home, LATER)
    assert report.sound, report.findings
    store = DuckStore.open(home / "memory.duckdb", LATER)
    held = store.get("default", [entry.id for entry in store.changes("default", 0)])
    talk = [len(store.entries("default", "talk", kind)) for kind in ("message", "plan")]
    told = (
        store.info().schema_version,
        len(held),
        "Golden statement 2, corrected" in [one.content for one in held.values()],
        talk,
    )
    store.close()
    assert told == (len(MIGRATIONS), 13, True, [1, 1])


@pytest.mark.slow
@pytest.mark.parametrize("schema", OLD)
def test_a_store_of_an_old_schema_opens_whole_and_is_sound(home, schema):
    lay(home, schema)
    checked(home)


def killed_after(path, statement):
    """Open a store in a forked process that dies after its n-th statement that is no query."""
    if os.fork() == 0:
        left = [statement]
        executes = SqlSession._execute

        def dying(self, text, values):
            executes(self, text, values)
            left[0] -= text.lstrip().split()[0] != "SELECT"
            if left[0] < 0:
                os._exit(9)

        SqlSession._execute = dying
        DuckStore.open(path, LATER)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.wait()[1])


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there is no fork")
@pytest.mark.parametrize(
    ("schema", "statement"),
    [
        (3, 1),
        *(pytest.param(old, n, marks=pytest.mark.stress) for old in OLD for n in range(STATEMENTS)),
    ],
)
def test_a_migration_that_is_killed_is_done_by_the_next_start(home, schema, statement):
    path = lay(home, schema)
    assert killed_after(path, statement) in {0, 9}
    checked(home)
