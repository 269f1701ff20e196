"""Temporary tables and types, which are found before the store's own of the same name unless something is done about it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import psycopg
import pytest
from tests.core.store.making import put
from tests.postgres.server import HUB, KEEPER, Database

from hybrid_memory.clock import SystemClock
from hybrid_memory.testing import FakeClock
from hybrid_memory_postgres.connections import EVERYTHING, Connections
from hybrid_memory_postgres.preparing import ONLY_READ, SHARED, prepare
from hybrid_memory_postgres.store import PostgresStore
from hybrid_memory_postgres.walls import WALLED

pytestmark = pytest.mark.postgres

ALICE, BOB, ROLE = "alice", "bob", "wall_of_alice"
HEADS = "SELECT name FROM namespace ORDER BY name"
SHADOWS = (
    *(f"CREATE TEMP TABLE {name} (LIKE public.{name} INCLUDING ALL)" for name in (*WALLED, *ONLY_READ)),
    *(f"CREATE TEMP TABLE {name} (x INT)" for name in (*SHARED, "pg_roles", "pg_class", "pg_index")),
    *("CREATE DOMAIN pg_temp.text AS pg_catalog.int4", "CREATE DOMAIN pg_temp.int8 AS pg_catalog.bool"),
)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def role(database: Database) -> Iterator[str]:
    """A role for one namespace, which the hub takes."""
    keeper = Connections(database.conninfo_of(KEEPER), size=1)
    keeper.open()
    prepare(keeper, SystemClock().now(), HUB)  # rights on a database are none that a copy of it has
    prepare(keeper, SystemClock().now(), ROLE, [ALICE], HUB)
    keeper.close()
    yield ROLE
    database.rows(f"DROP OWNED BY {ROLE}")
    database.rows(f"DROP ROLE {ROLE}")


@pytest.fixture
def as_role(database: Database, role: str) -> Iterator[psycopg.Connection]:
    """A session of somebody who types SQL as the role."""
    database.rows(f"ALTER ROLE {role} LOGIN")
    with psycopg.connect(database.conninfo_of(role), autocommit=True) as connection:
        yield connection


@pytest.fixture
def temporary_again(database: Database, role: str) -> None:
    """The role may make temporary tables, as in a database whose administrator lets everybody."""
    database.rows(f"GRANT TEMPORARY ON DATABASE {database.name} TO {role}, {HUB}")


def heads(store: PostgresStore) -> list[str]:
    with store.connections.reading(EVERYTHING) as session:
        return [name for (name,) in session.rows(HEADS)]


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TEMP TABLE memory (x INT)",
        "CREATE TEMP VIEW memory AS SELECT 1",
        "CREATE TEMP SEQUENCE memory",
        "SELECT 1 INTO TEMP memory",
        "CREATE FUNCTION pg_temp.format(TEXT) RETURNS TEXT LANGUAGE sql AS 'SELECT 1::text'",
        "CREATE DOMAIN pg_temp.text AS pg_catalog.int4",
    ],
)
def test_a_role_of_a_namespace_makes_nothing_temporary(as_role: psycopg.Connection, statement: str) -> None:
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        as_role.execute(statement)


def test_hubs_may_still_make_them_for_moving_a_store(database: Database, role: str) -> None:
    assert role
    with psycopg.connect(database.conninfo) as connection:
        connection.execute("CREATE TEMP TABLE moved_memory (x INT)")


@pytest.mark.usefixtures("temporary_again")
class TestWhereTheyMayBeMade:
    def test_a_policy_shows_no_more_for_a_shadow_of_what_it_looks_at(
        self, as_role: psycopg.Connection, open_postgres: Callable[..., PostgresStore]
    ) -> None:
        put(open_postgres(), "of-bob", namespace=BOB)
        as_role.execute("CREATE TEMP TABLE role_namespace (role NAME, namespace TEXT)")
        as_role.execute("INSERT INTO pg_temp.role_namespace VALUES (%s, %s)", [ROLE, BOB])
        as_role.execute(
            "CREATE FUNCTION pg_temp.current_setting(TEXT, BOOL) RETURNS TEXT LANGUAGE sql AS $$SELECT 'on'$$"
        )
        as_role.execute("SET search_path = pg_temp, public, pg_catalog")
        as_role.execute(f"SET hybrid_memory.namespaces = '{{{BOB}}}'")
        for table in WALLED:
            assert as_role.execute(f"SELECT count(*) FROM public.{table}").fetchone() == (0,)  # noqa: S608 - our own tables

    def test_a_hub_reads_and_writes_its_own_tables_in_a_session_that_has_shadows_of_all(
        self, open_postgres: Callable[..., PostgresStore], database: Database
    ) -> None:
        store = open_postgres(size=1)
        with store.connections.filling([ALICE]) as session:
            for statement in SHADOWS:
                session.send(statement)
        put(store, "of-alice", namespace=ALICE)
        put(store, "of-bob", namespace=BOB)
        assert heads(store) == [ALICE, BOB]  # in shadows of all tables there are none
        assert database.rows("SELECT id FROM memory ORDER BY id") == [("of-alice",), ("of-bob",)]
        with store.connections.reading(EVERYTHING) as session:
            assert session.rows("SELECT count(*) FROM pg_temp.memory") == [(0,)]

    def test_a_table_is_written_anew_in_a_session_that_has_a_shadow_of_it(
        self, open_postgres: Callable[..., PostgresStore], database: Database
    ) -> None:
        connections = open_postgres(size=1).connections
        with connections.filling([ALICE]) as session:
            for statement in SHADOWS:
                session.send(statement)
        before = database.rows("SELECT pg_relation_filenode('memory')")
        with connections.transaction(EVERYTHING) as session:
            session.rows("SELECT rewrite_table('memory')")
        assert database.rows("SELECT pg_relation_filenode('memory')") != before
