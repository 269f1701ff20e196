"""A hub whose statements have lost their ``WHERE namespace``: what a caller of one namespace then gets of another. Nothing, and why.

The control at the end shows that the same statements tell everything where no wall holds the login.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from itertools import count

import psycopg
import pytest
from tests.core.store.making import DIMENSIONS, always, memory, put, rows, vector
from tests.postgres.careless import make_careless
from tests.postgres.server import ADMIN, HUB, KEEPER, Database

from hybrid_memory.clock import SystemClock
from hybrid_memory.errors import HybridMemoryError
from hybrid_memory.model import MemoryId, Tier
from hybrid_memory.requests import ListRequest
from hybrid_memory.store.readings import Asked, Reading, Way
from hybrid_memory.store.reviewing import ReviewRequest
from hybrid_memory.store.writing import (
    BufferState,
    Insert,
    RecordUse,
    RequestKey,
    SetTier,
    SetVector,
    UndoRecord,
    Update,
    WriteView,
)
from hybrid_memory.testing import START, FakeClock
from hybrid_memory_postgres.connections import Connections
from hybrid_memory_postgres.preparing import prepare
from hybrid_memory_postgres.row_security import WALLED
from hybrid_memory_postgres.store import PostgresStore

pytestmark = [pytest.mark.postgres, pytest.mark.daily]

MINE, OTHERS = "alice", "bob"
MARK = "zanzibar"  # is in all that is the other's
SHARED_ID = MemoryId("the-same-id")
SECRET_ID = MemoryId(f"only-{MARK}")
_ROLES = count()


@pytest.fixture
def unfiltered(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Take the filter out of all statements from now on."""
    return lambda: make_careless(monkeypatch)


def fill(store: PostgresStore, namespace: str, word: str) -> None:
    """Store one of everything that a namespace can hold."""
    ids = [SHARED_ID, MemoryId(f"only-{word}")]
    made = [
        memory(
            id_,
            namespace=namespace,
            content=f"{word} says {id_}",
            session=f"session-{word}",
            speaker=word,
            tags=(word,),
            metadata={"where": word},
            content_hash=f"hash-{word}-{id_}",
            key=f"key-{word}",
        )
        for id_ in ids
    ]
    store.write(
        namespace,
        RequestKey(f"relay-{word}", 1),
        always(
            inserts=tuple(Insert(one, vector(7)) for one in made),
            buffers=(BufferState(f"session-{word}", "default", f"state-{word}", START),),
            undo=UndoRecord(id="the-same-undo", body={"of": word}),
            result={"said": word},
        ),
    )
    store.touch(namespace, [RecordUse(ids[0], START + timedelta(seconds=len(word)), len(word))])
    store.put_entry(namespace, "talk", "message", {"text": word})
    asked = Reading(
        question=f"where is {word}?",
        namespace=namespace,
        at=START,
        session="s",
        client="c",
        way=Way.TOOL,
        asked=Asked.QUESTION,
        shown=(ids[0],),
    )
    store.readings.add([asked], keep=100, since=START - timedelta(days=1))


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture(params=["what a transaction says", "the role of a namespace"])
def login(request: pytest.FixtureRequest, database: Database) -> Iterator[str]:
    """The hub's login, and alongside it a role for the caller's namespace or none."""
    if request.param == "what a transaction says":
        yield database.conninfo
        return
    role = f"wall_of_mine_{next(_ROLES)}"
    keeper = Connections(database.conninfo_of(KEEPER), size=1)
    keeper.open()
    prepare(keeper, SystemClock().now(), role, [MINE], HUB)
    keeper.close()
    yield database.conninfo
    database.rows(f"DROP OWNED BY {role}")
    database.rows(f"DROP ROLE {role}")


def opened(conninfo: str, clock: FakeClock) -> PostgresStore:
    store = PostgresStore.open(conninfo, clock, size=4, wait_seconds=5)
    store.pin_embedder("test", DIMENSIONS)
    return store


@pytest.fixture
def store(login: str, clock: FakeClock) -> Iterator[PostgresStore]:
    made = opened(login, clock)
    fill(made, OTHERS, MARK)
    fill(made, MINE, "mine")
    yield made
    made.close()


def others_rows(database: Database) -> dict[str, list[tuple[object, ...]]]:
    """Return all that is stored of the other namespace, as the superuser sees it."""
    column = {table: "name" if table == "namespace" else "namespace" for table in WALLED}
    return {
        table: database.rows(f"SELECT t::text FROM {table} AS t WHERE {column[table]} = %s ORDER BY 1", OTHERS)  # noqa: S608 - our own tables
        for table in WALLED
    }


def tolerant(call: Callable[[], object]) -> str:
    """Return what a call gives, or its error: either is what a caller would see."""
    try:
        return repr(call())
    except HybridMemoryError as error:
        return f"{type(error).__name__}: {error}"


def look(view: WriteView) -> list[object]:
    ids = [SHARED_ID, SECRET_ID]
    return [
        view.get(ids),
        view.usage(ids),
        view.vectors(ids),
        view.members(f"session-{MARK}", "default", Tier.SENSORY),
        view.buffer(f"session-{MARK}", "default"),
        view.buffers(),
        view.changes(0),
        view.undo_record("the-same-undo"),
        view.head,
    ]


def reads(store: PostgresStore) -> dict[str, Callable[[], object]]:
    ids = [SHARED_ID, SECRET_ID]
    key = RequestKey(f"relay-{MARK}", 1)
    seen: list[object] = []
    return {
        "head": lambda: (store.heads.forget(), store.head(MINE)),
        "get": lambda: store.get(MINE, ids),
        "usage": lambda: store.usage(MINE, ids),
        "vectors": lambda: store.vectors(MINE, ids),
        "snapshot": lambda: rows(store.snapshot(MINE)),
        "changes": lambda: store.changes(MINE, 0),
        "history": lambda: store.history(MINE, ids),
        "check_log": lambda: store.check_log(MINE),
        "list": lambda: store.list_memories([MINE], ListRequest(state=None), START + timedelta(days=1)),
        "list by tag": lambda: store.list_memories([MINE], ListRequest(tags=(MARK,)), START),
        "ids_beginning": lambda: store.ids_beginning([MINE], "only-", 10),
        "linked_to": lambda: store.linked_to([MINE], ids, 10),
        "buffer": lambda: store.buffer(MINE, f"session-{MARK}", "default"),
        "result": lambda: store.result(MINE, key),
        "to_review": lambda: store.to_review([MINE], ReviewRequest(now=START)),
        "with_terms": lambda: store.with_terms([MINE], [1, -2, 3], START, 10),
        "undo_records": lambda: store.undo_records([MINE], 10),
        "undo by id": lambda: store.undo_records([MINE], 10, "the-same-undo"),
        "readings": lambda: store.readings.latest([MINE]),
        "entries": lambda: store.entries(MINE, "talk", "message"),
        "inside a write": lambda: (
            store.write(MINE, None, lambda view: always(result={"n": len(seen.append(look(view)) or seen)})(view)),
            seen,
        ),
        "the key of another": lambda: store.write(MINE, key, always(result={})),
    }


READS = sorted(reads(None))  # type: ignore[arg-type] # only the names
CHANGING = {"inside a write", "the key of another"}  # which are other writes the second time


def test_no_read_tells_anything_of_another(store: PostgresStore, unfiltered: Callable[[], None]) -> None:
    calls = reads(store)
    expected = {name: tolerant(call) for name, call in calls.items()}
    unfiltered()
    found = {name: tolerant(call) for name, call in calls.items()}
    assert [name for name in calls if MARK in found[name]] == []
    assert {name: found[name] for name in calls if name not in CHANGING} == {
        name: expected[name] for name in calls if name not in CHANGING
    }


WRITES: dict[str, Callable[[PostgresStore], object]] = {
    "insert": lambda store: put(store, "new", namespace=MINE),
    "insert with the other's id": lambda store: put(store, SECRET_ID, namespace=MINE),
    "update": lambda store: store.write(
        MINE, None, lambda view: always(updates=(Update(replace(view.get([SHARED_ID])[SHARED_ID], pinned=True)),))(view)
    ),
    "update what is the other's": lambda store: store.write(
        MINE, None, always(updates=(Update(replace(memory(SECRET_ID, namespace=MINE), pinned=True)),))
    ),
    "tier": lambda store: store.write(MINE, None, always(tier_changes=(SetTier(SHARED_ID, Tier.LONG_TERM),))),
    "tier of the other's": lambda store: store.write(
        MINE, None, always(tier_changes=(SetTier(SECRET_ID, Tier.LONG_TERM),))
    ),
    "vector": lambda store: store.write(MINE, None, always(vectors=(SetVector(SHARED_ID, vector(3)),))),
    "touch": lambda store: store.touch(MINE, [RecordUse(SHARED_ID, START, 5), RecordUse(SECRET_ID, START, 5)]),
    "buffer removed": lambda store: store.write(
        MINE, None, always(buffers=(BufferState(f"session-{MARK}", "default", None, START),))
    ),
    "undo used up": lambda store: store.write(MINE, None, always(undone="the-same-undo")),
    "trim": lambda store: store.trim(MINE, 2),
    "entry replaced": lambda store: store.put_entry(MINE, "talk", "message", {"text": "x"}, 1),
    "entries removed": lambda store: store.remove_entries(MINE, "talk", "message"),
}


def test_no_write_changes_anything_of_another(
    store: PostgresStore, database: Database, unfiltered: Callable[[], None]
) -> None:
    before = others_rows(database)
    unfiltered()
    for name, write in WRITES.items():
        tolerant(lambda write=write: write(store))
        assert others_rows(database) == before, name


def test_the_same_statements_tell_everything_where_no_wall_holds_the_login(
    database: Database, clock: FakeClock, unfiltered: Callable[[], None]
) -> None:
    """Otherwise the tests above would prove nothing."""
    superuser = opened(database.conninfo_of(ADMIN), clock)
    fill(superuser, OTHERS, MARK)
    fill(superuser, MINE, "mine")
    unfiltered()
    told = {name for name in READS if MARK in tolerant(reads(superuser)[name])}
    superuser.close()
    assert told >= {
        "buffer",
        "changes",
        "get",
        "history",
        "ids_beginning",
        "inside a write",
        "list",
        "readings",
        "undo_records",
    }


class TestArgumentsAreData:
    """What looks like SQL in an argument is a text like any other."""

    HOSTILE = (
        "' OR true --",
        "'; DROP TABLE memory; --",
        "$1",
        "%s",
        "\\'; SELECT pg_sleep(9)",
        '"; SET ROLE admin; --',
        "{bob}",
        "x'), ('bob', 'y",
        "/* */ UNION SELECT content FROM memory",
        "\u202e\u0000"[:1],
    )

    def test_in_everything_that_a_caller_gives(self, store: PostgresStore, database: Database) -> None:
        before = others_rows(database)
        for number, text in enumerate(self.HOSTILE):
            self._give(store, MemoryId(f"hostile-{number}"), text)
        assert others_rows(database) == before

    @staticmethod
    def _give(store: PostgresStore, name: MemoryId, text: str) -> None:
        made = memory(
            name, namespace=MINE, content=text, session=text, agent=text, speaker=text, tags=(text,), key=text
        )
        store.write(
            MINE, RequestKey(text, 1), always(inserts=(Insert(made),), buffers=(BufferState(text, text, text, START),))
        )
        store.put_entry(MINE, text, "message", {text: text})
        found = [
            store.get(MINE, [name, MemoryId(text)]),
            store.list_memories([MINE], ListRequest(session=text, tags=(text,)), START),
            store.ids_beginning([MINE], text, 10),
            store.linked_to([MINE], [MemoryId(text)], 10),
            store.history(MINE, [MemoryId(text)]),
            store.buffer(MINE, text, text),
            store.result(MINE, RequestKey(text, 1)),
            store.undo_records([MINE], 10, text),
            store.entries(MINE, text, "message"),
        ]
        assert store.get(MINE, [name])[name].content == text
        assert MARK not in repr(found)

    def test_in_the_name_of_a_namespace(self, store: PostgresStore, database: Database) -> None:
        before = others_rows(database)
        for text in self.HOSTILE:
            put(store, "hostile", namespace=text)
            assert list(store.get(text, [MemoryId("hostile"), SECRET_ID])) == ["hostile"]
            assert MARK not in repr(rows(store.snapshot(text)))
        assert others_rows(database) == before


class TestWhatTheServerTellsOnTheSide:
    def test_a_hint_names_no_namespace(self, store: PostgresStore, database: Database) -> None:
        with psycopg.connect(database.conninfo, autocommit=True) as listener:
            listener.execute("LISTEN hybrid_memory")
            put(store, "hinted", namespace=OTHERS)
            payloads = [one.payload for one in listener.notifies(timeout=60, stop_after=1)]
        assert len(payloads) == 1
        assert OTHERS not in payloads[0]
        assert "hinted" not in payloads[0]

    def test_what_runs_now_holds_no_value_of_a_caller(self, store: PostgresStore, database: Database) -> None:
        store.get(OTHERS, [SECRET_ID])
        put(store, f"new-{MARK}", namespace=OTHERS)
        shown = database.rows("SELECT query FROM pg_stat_activity WHERE datname = %s", database.name)
        assert MARK not in repr(shown)
        assert "password" not in repr(database.rows("SELECT application_name FROM pg_stat_activity"))

    def test_an_error_of_the_server_repeats_no_value(self, store: PostgresStore) -> None:
        said = tolerant(lambda: put(store, SHARED_ID, namespace=MINE, content=MARK))
        assert said.startswith("ConstraintViolation")
        assert SHARED_ID not in said

    def test_an_id_of_another_looks_like_none(self, store: PostgresStore) -> None:
        foreign = tolerant(lambda: store.write(MINE, None, always(tier_changes=(SetTier(SECRET_ID, Tier.LONG_TERM),))))
        absent = tolerant(
            lambda: store.write(MINE, None, always(tier_changes=(SetTier(MemoryId("absent"), Tier.LONG_TERM),)))
        )
        assert foreign.replace(SECRET_ID, "ID") == absent.replace("absent", "ID")

    def test_an_id_of_another_can_be_ones_own_too(self, store: PostgresStore) -> None:
        put(store, SECRET_ID, namespace=MINE)
        assert store.get(MINE, [SECRET_ID])[SECRET_ID].namespace == MINE
