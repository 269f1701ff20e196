"""What a list costs in PostgreSQL: which index it reads. (That it holds what it should: `tests/core/store/test_listing.py`.)"""

from datetime import timedelta

import pytest
from tests.core.store.making import put

from hybrid_memory.model import Kind, Tier
from hybrid_memory.requests import ListRequest, MemoryState
from hybrid_memory.testing import START, FakeClock
from hybrid_memory_postgres import list_table
from hybrid_memory_postgres.store import PostgresStore

pytestmark = [pytest.mark.postgres, pytest.mark.slow]

MEMORIES = 4_000
COPY = """
    INSERT INTO memory (namespace, id, session, agent, content, kind, tier, importance, created_at, content_hash, terms, pinned, tags,
        origin, trust, rev)
    SELECT namespace, 'of-' || number, 's-' || number / 20, agent, repeat('words ', 60), kind, tier, importance, created_at + number,
        content_hash, terms, pinned, CASE WHEN number %% 50 = 0 THEN '["work"]' END, origin, trust, rev
    FROM memory, generate_series(1, %s) AS number WHERE id = 'first'
"""
BY_TIME = "Index Only Scan using memory_created"
ASKED = {
    "what is current": (ListRequest(), BY_TIME),
    "whatever its state": (ListRequest(state=None), "Index Only Scan"),
    "what is superseded": (ListRequest(state=MemoryState.SUPERSEDED), "memory_superseded_by"),
    "what expired": (ListRequest(state=MemoryState.EXPIRED), BY_TIME),
    "a tier": (ListRequest(tier=Tier.LONG_TERM), "Index Only Scan"),
    "from a day on": (ListRequest(since=START + timedelta(days=1)), BY_TIME),
    "a session": (ListRequest(session="s-3"), "memory_members"),
    "a session, whatever their state": (ListRequest(session="s-3", state=None), "memory_members"),
    "another kind than observations": (ListRequest(kind=Kind.INSIGHT), "memory_kind"),
    "what is pinned": (ListRequest(pinned=True), "memory_pinned"),
    "what was forgotten": (ListRequest(state=MemoryState.FORGOTTEN), "memory_forgotten"),
    "a tag": (ListRequest(tags=("work",)), "memory_tagged"),
}


@pytest.fixture
def store(database):
    one = PostgresStore.open(database.conninfo, FakeClock(), size=2, wait_seconds=5)
    put(one, "first")
    database.rows(COPY, MEMORIES)
    database.rows(
        "CHECKPOINT"
    )  # commits of this server are not waited for, and what is not on the disk is not vacuumed
    database.rows("VACUUM ANALYZE memory")
    yield one
    one.close()


def plans(store, wanted, monkeypatch):
    """Return how the server reads the total and the page of a list."""
    for name in ("_COUNT", "_LIST"):
        monkeypatch.setattr(list_table, name, f"EXPLAIN {getattr(list_table, name)}")

    class Explained:
        def __init__(self, session):
            self.session, self.found = session, []

        def send(self, *statement):
            self.session.send(*statement)

        def rows(self, *statement):
            self.found.append("\n".join(line for (line,) in self.session.rows(*statement)))
            return [(1,)] if len(self.found) == 1 else []

    with store.connections.snapshot(["default"]) as session:
        explained = Explained(session)
        list_table.list_memories(explained, ["default"], wanted, START)
        session.end()
    return explained.found


@pytest.mark.parametrize("asked", ASKED)
def test_no_list_reads_all_rows(store, asked, monkeypatch):
    wanted, index = ASKED[asked]
    total, page = plans(store, wanted, monkeypatch)
    assert index in total
    assert "Seq Scan on memory" not in total + page


def test_the_rows_of_a_page_alone_are_looked_up(store, monkeypatch):
    _, page = plans(store, ListRequest(offset=2_000), monkeypatch)
    assert "Index Only Scan Backward using memory_created" in page


def test_a_page_far_behind_holds_what_stands_there(store):
    page, total = store.list_memories(["default"], ListRequest(offset=3_000, limit=2), START)
    assert total == MEMORIES + 1
    assert [id_ for _, id_ in page] == [f"of-{MEMORIES - 3_000}", f"of-{MEMORIES - 3_001}"]
