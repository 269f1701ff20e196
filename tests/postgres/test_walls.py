"""What the server itself lets a hub, a role of a namespace, and anybody else see: with the hub's own ``WHERE namespace`` left out."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import count

import psycopg
import pytest
from tests.postgres.server import HUB, KEEPER, Database

from hybrid_memory.clock import SystemClock
from hybrid_memory.errors import ConstraintViolation, EngineUnavailable, HybridMemoryError
from hybrid_memory.store.findings import Severity
from hybrid_memory.testing import FakeClock
from hybrid_memory_postgres.connections import EVERYTHING, Connections
from hybrid_memory_postgres.preparing import ONLY_READ, SHARED, prepare
from hybrid_memory_postgres.repeating import again
from hybrid_memory_postgres.row_security import WALLED, NamespaceRoles, wall_findings
from hybrid_memory_postgres.store import PostgresStore

pytestmark = pytest.mark.postgres

Connect = Callable[..., Connections]

ALICE, BOB = "alice", "project:bob's"
PUT_HEAD = "INSERT INTO namespace (name, position) VALUES ($1, 1)"
HEADS = "SELECT name FROM namespace ORDER BY name"  # no WHERE: this is the bug
WHO = "SELECT current_user::text"
_ROLES = count()


@pytest.fixture
def hub(connect: Connect) -> Connections:
    """A hub's connections to a store with the heads of two namespaces."""
    connections = connect()
    for namespace in (ALICE, BOB):
        with connections.transaction([namespace]) as session:
            session.send(PUT_HEAD, namespace)
    return connections


@pytest.fixture
def make_role(database: Database) -> Iterator[Callable[..., str]]:
    """Make roles as the administrator does; they go with the test, since a server has them for all of its databases."""
    made: list[str] = []

    def make(namespaces: Sequence[str] = (), hub: str | None = None) -> str:
        role = f'wall "{next(_ROLES)}"'
        made.append(role)
        keeper = Connections(database.conninfo_of(KEEPER), size=1)
        keeper.open()
        prepare(keeper, SystemClock().now(), role, namespaces, hub)
        keeper.close()
        return role

    yield make
    for role in made:
        name = psycopg.sql.Identifier(role).as_string()
        database.rows(f"DROP OWNED BY {name}")
        database.rows(f"DROP ROLE {name}")


def seen(connections: Connections, namespaces: Sequence[str]) -> list[str]:
    with connections.reading(namespaces) as session:
        return [name for (name,) in session.rows(HEADS)]


def who(connections: Connections) -> str:
    """Return the role that a call on one namespace takes."""
    with connections.reading([ALICE]) as session:
        ((role,),) = session.rows(WHO)
    return str(role)


class TestAStatementWithoutItsNamespace:
    def test_finds_the_namespaces_that_the_call_is_for(self, hub: Connections) -> None:
        assert seen(hub, [ALICE]) == [ALICE]

    def test_finds_nothing_in_one_that_is_new(self, hub: Connections) -> None:
        assert seen(hub, ["carol"]) == []

    def test_finds_nothing_where_none_is_said(self, hub: Connections) -> None:
        assert seen(hub, []) == []

    def test_finds_all_only_in_work_on_the_whole_store(self, hub: Connections) -> None:
        assert seen(hub, EVERYTHING) == [ALICE, BOB]

    def test_a_namespace_that_is_called_like_everything_is_a_namespace(self, hub: Connections) -> None:
        assert seen(hub, ["*"]) == []

    @pytest.mark.parametrize("name", ['{"a","b"}', "a,b", "NULL", '"', "\\", "}{", "' OR true --", "ä" * 60])
    def test_any_name_is_one_name(self, hub: Connections, name: str) -> None:
        with hub.transaction([name]) as session:
            session.send(PUT_HEAD, name)
        assert seen(hub, [name]) == [name]

    def test_cannot_write_into_another(self, hub: Connections) -> None:
        with pytest.raises(ConstraintViolation), hub.transaction([ALICE]) as session:
            session.send(PUT_HEAD, "carol")

    def test_changes_and_deletes_nothing_of_another(self, hub: Connections) -> None:
        with hub.transaction([ALICE]) as session:
            assert session.change("UPDATE namespace SET position = 9") == 1
            assert session.change("DELETE FROM namespace") == 1
        assert seen(hub, EVERYTHING) == [BOB]

    def test_cannot_give_a_row_away(self, hub: Connections) -> None:
        with pytest.raises(ConstraintViolation), hub.transaction([ALICE]) as session:
            session.send("UPDATE namespace SET name = 'carol'")

    @pytest.mark.parametrize("way", ["reading", "snapshot", "transaction", "copying", "filling"])
    def test_is_held_in_every_kind_of_transaction(self, hub: Connections, way: str) -> None:
        with getattr(hub, way)([ALICE]) as session:
            assert session.rows(HEADS) == [(ALICE,)]

    def test_a_bulk_copy_is_held_too(self, hub: Connections) -> None:
        with (
            hub.copying([ALICE]) as session,
            session.connection.cursor().copy("COPY namespace (name) TO STDOUT") as copy,
        ):
            assert [bytes(block) for block in copy] == [b"alice\n"]


class TestPooledConnections:
    @pytest.fixture
    def hub_of_one_connection(self, connect: Connect, hub: Connections) -> Connections:
        assert seen(hub, EVERYTHING)
        return connect(size=1)

    @pytest.mark.parametrize("way", ["snapshot", "transaction", "copying", "filling", "reading"])
    def test_no_namespace_is_left_after_an_error(self, hub_of_one_connection: Connections, way: str) -> None:
        with pytest.raises(HybridMemoryError), getattr(hub_of_one_connection, way)([ALICE]) as session:
            session.rows("SELECT 1 / 0 FROM namespace")
        assert self._left(hub_of_one_connection) == ("", "", HUB)

    @pytest.mark.parametrize("way", ["snapshot", "transaction", "copying", "filling", "reading"])
    def test_no_namespace_is_left_after_success(self, hub_of_one_connection: Connections, way: str) -> None:
        with getattr(hub_of_one_connection, way)([ALICE]) as session:
            session.rows(HEADS)
        assert self._left(hub_of_one_connection) == ("", "", HUB)

    def test_a_role_is_not_left_either(self, connect: Connect, make_role: Callable[..., str]) -> None:
        role = make_role([ALICE], HUB)
        one = connect(size=1)
        with one.transaction([ALICE]) as session:
            assert session.rows(WHO) == [(role,)]
        with pytest.raises(HybridMemoryError), one.transaction([ALICE]) as session:
            session.rows("SELECT 1 / 0")
        assert self._left(one) == ("", "", HUB)

    def test_calls_of_many_namespaces_at_once_see_their_own(self, hub: Connections) -> None:
        def look(number: int) -> bool:
            namespace = (ALICE, BOB)[number % 2]
            return seen(hub, [namespace]) == [namespace]

        with ThreadPoolExecutor(8) as pool:
            assert all(pool.map(look, range(200)))

    @staticmethod
    def _left(connections: Connections) -> tuple[object, ...]:
        with connections._connection() as connection:
            found = connection.execute(
                "SELECT coalesce(current_setting('hybrid_memory.namespaces', true), ''), "
                "coalesce(current_setting('hybrid_memory.everything', true), ''), current_user"
            ).fetchone()
        assert found is not None
        return found


class TestARoleOfANamespace:
    def test_is_taken_for_what_concerns_it_alone(self, connect: Connect, make_role: Callable[..., str]) -> None:
        role = make_role([ALICE], HUB)
        fresh = connect()
        for namespaces, expected in (([ALICE], role), ([BOB], HUB), ([ALICE, BOB], HUB), (EVERYTHING, HUB)):
            with fresh.reading(namespaces) as session:
                assert session.rows(WHO) == [(expected,)]

    def test_that_is_taken_from_the_hub_is_noticed_at_the_first_call_that_fails(
        self, database: Database, connect: Connect, make_role: Callable[..., str]
    ) -> None:
        role = make_role([ALICE], HUB)
        fresh = connect()
        assert who(fresh) == role
        database.rows(f"REVOKE {psycopg.sql.Identifier(role).as_string()} FROM {HUB}")
        with pytest.raises(ConstraintViolation, match="no right"):
            who(fresh)
        assert who(fresh) == HUB

    def test_that_is_there_no_more_has_the_call_repeated_without_it(
        self, database: Database, connect: Connect, make_role: Callable[..., str]
    ) -> None:
        role = make_role([ALICE], HUB)
        fresh, name = connect(), psycopg.sql.Identifier(role).as_string()
        assert who(fresh) == role
        database.rows(f"ALTER ROLE {name} RENAME TO gone")
        try:
            assert again(lambda: who(fresh), 0) == HUB
        finally:
            database.rows(f"ALTER ROLE gone RENAME TO {name}")

    def test_of_two_roles_the_narrower_one_is_taken(self, connect: Connect, make_role: Callable[..., str]) -> None:
        wide, narrow = make_role([ALICE, BOB], HUB), make_role([ALICE], HUB)
        fresh = connect()
        with fresh.reading([ALICE]) as session:
            assert session.rows(WHO) == [(narrow,)]
        with fresh.reading([ALICE, BOB]) as session:
            assert session.rows(WHO) == [(wide,)]

    @pytest.mark.usefixtures("hub")
    def test_sees_nothing_of_another_whatever_a_statement_says(
        self, connect: Connect, make_role: Callable[..., str]
    ) -> None:
        make_role([ALICE], HUB)
        with connect().transaction([ALICE]) as session:
            session.rows(
                "SELECT set_config('hybrid_memory.namespaces', $1, true), set_config('hybrid_memory.everything', 'on', true)",
                '{alice,"project:bob\'s"}',
            )
            assert session.rows(HEADS) == [(ALICE,)]

    @pytest.mark.usefixtures("hub")
    def test_finds_nothing_of_another_by_plain_sql(self, database: Database, make_role: Callable[..., str]) -> None:
        role = make_role([ALICE])
        with psycopg.connect(database.conninfo) as connection:  # is in for psql as that role
            database.rows(f"GRANT {psycopg.sql.Identifier(role).as_string()} TO {HUB}")
            connection.execute("SELECT set_config('role', %s, false)", [role])
            connection.execute("SET hybrid_memory.namespaces = '{alice,project:bob''s}'")
            connection.execute("SET hybrid_memory.everything = 'on'")
            assert connection.execute(HEADS).fetchall() == [(ALICE,)]
            assert connection.execute("SELECT role, namespace FROM role_namespace").fetchall() == [(role, ALICE)]

    @pytest.mark.parametrize(
        "statement",
        [
            "SELECT term_key FROM store",
            "SELECT * FROM store",
            "UPDATE store SET id = 'x'",
            "INSERT INTO role_namespace (role, namespace) VALUES (current_user, 'bob')",
            "UPDATE role_namespace SET namespace = 'bob'",
            "SELECT * FROM hub",
            "SELECT * FROM lease",
            "DELETE FROM embedder",
            "ALTER TABLE memory DISABLE ROW LEVEL SECURITY",
            "DROP POLICY hubs ON memory",
            "TRUNCATE memory",
            "SELECT rewrite_table('memory')",
            "CREATE TABLE mine (x INTEGER)",
            "COPY memory TO PROGRAM 'cat'",
            "SET ROLE admin",
        ],
    )
    def test_may_do_nothing_to_what_all_share(
        self, connect: Connect, make_role: Callable[..., str], statement: str
    ) -> None:
        make_role([ALICE], HUB)
        with pytest.raises(ConstraintViolation, match="no right"), connect().filling([ALICE]) as session:
            session.send(statement)

    def test_one_that_is_no_role_of_the_store_sees_nothing(self, hub: Connections, database: Database) -> None:
        assert seen(hub, EVERYTHING)
        database.rows("CREATE ROLE stranger LOGIN")
        try:
            for table in WALLED:
                database.rows(f"GRANT SELECT ON {table} TO stranger")
            with psycopg.connect(database.conninfo_of("stranger")) as connection:
                database.rows("GRANT SELECT ON role_namespace TO stranger")
                connection.execute("SET hybrid_memory.everything = 'on'")
                connection.execute("SET hybrid_memory.namespaces = '{alice}'")
                assert connection.execute(HEADS).fetchall() == []
        finally:
            database.rows("DROP OWNED BY stranger")
            database.rows("DROP ROLE stranger")

    def test_bound_to_other_namespaces_it_loses_the_former(
        self, database: Database, hub: Connections, make_role: Callable[..., str], connect: Connect
    ) -> None:
        role = make_role([ALICE], HUB)
        prepare(connect(KEEPER), SystemClock().now(), role, [BOB], HUB)
        assert database.rows("SELECT namespace FROM role_namespace") == [(BOB,)]
        assert seen(hub, [ALICE]) == [ALICE]  # as the hub itself again


class TestTheHubsLogin:
    def test_every_table_with_a_namespace_has_a_wall(self, database: Database) -> None:
        found = database.rows(
            "SELECT t.relname FROM pg_class t JOIN pg_attribute a ON a.attrelid = t.oid WHERE t.relkind = 'r' "
            "AND t.relnamespace = 'public'::regnamespace AND a.attname = 'namespace' AND t.relname <> 'role_namespace'"
        )
        assert {name for (name,) in found} | {"namespace"} == set(WALLED)
        walled = database.rows(
            "SELECT relname FROM pg_class WHERE relkind = 'r' AND relrowsecurity AND relforcerowsecurity"
        )
        assert {name for (name,) in walled} == {*WALLED, "role_namespace"}

    def test_every_table_is_known_to_who_grants_rights(self, database: Database) -> None:
        found = database.rows("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
        assert {name for (name,) in found} == {*WALLED, *SHARED, *ONLY_READ}

    def test_owns_nothing_and_bypasses_nothing(self, database: Database) -> None:
        assert database.rows("SELECT count(*) FROM pg_class WHERE relowner = 'hub'::regrole") == [(0,)]
        assert database.rows("SELECT rolsuper, rolbypassrls, rolcreaterole FROM pg_roles WHERE rolname = 'hub'") == [
            (False, False, False)
        ]

    @pytest.mark.parametrize(
        "statement",
        [
            "ALTER TABLE memory DISABLE ROW LEVEL SECURITY",
            "ALTER TABLE memory NO FORCE ROW LEVEL SECURITY",
            "CREATE POLICY open ON memory USING (true)",
            "INSERT INTO role_namespace (role, namespace) VALUES ('hub', 'alice')",
            "DELETE FROM migration",
            "TRUNCATE memory",
            "CREATE TABLE mine (x INTEGER)",
            "CREATE ROLE mine",
            "SELECT rewrite_table('store')",
            "SELECT rewrite_table('pg_authid')",
            "SELECT pg_read_file('/etc/passwd')",
        ],
    )
    def test_has_no_more_rights_than_it_needs(self, hub: Connections, statement: str) -> None:
        with pytest.raises(ConstraintViolation, match="no right"), hub.filling(EVERYTHING) as session:
            session.send(statement)

    @pytest.mark.parametrize("table", WALLED)
    def test_can_have_each_table_written_anew(self, hub: Connections, database: Database, table: str) -> None:
        before = database.rows(f"SELECT pg_relation_filenode('{table}')")
        with hub.transaction(EVERYTHING) as session:
            session.rows("SELECT rewrite_table($1)", table)
        assert database.rows(f"SELECT pg_relation_filenode('{table}')") != before

    def test_finds_no_fault(self, hub: Connections) -> None:
        with hub.reading(EVERYTHING) as session:
            assert wall_findings(session) == []

    def test_a_superuser_is_told_that_no_wall_holds_it(self, connect: Connect) -> None:
        with connect("admin").reading(EVERYTHING) as session:
            assert [one.severity for one in wall_findings(session)] == [Severity.WARNING]

    def test_the_owner_is_held_but_told(self, connect: Connect, hub: Connections) -> None:
        assert seen(hub, EVERYTHING)
        keeper = connect(KEEPER)
        assert seen(keeper, [ALICE]) == [ALICE]
        with keeper.reading(EVERYTHING) as session:
            assert [one.severity for one in wall_findings(session)] == [Severity.NOTE]

    def test_walls_that_were_taken_down_are_an_error(self, connect: Connect, database: Database) -> None:
        database.rows("ALTER TABLE memory NO FORCE ROW LEVEL SECURITY")
        with connect().reading(EVERYTHING) as session:
            assert [one.severity for one in wall_findings(session)] == [Severity.ERROR]


class TestOpening:
    def test_a_hubs_login_has_nothing_to_be_told(self, database: Database) -> None:
        assert self._notices(database.conninfo) == ()

    def test_a_superuser_is_told_each_time(self, database: Database) -> None:
        (notice,) = self._notices(database.conninfo_of("admin"))
        assert "does not bind" in notice

    def test_a_login_that_would_see_an_empty_store_is_refused(self, database: Database) -> None:
        database.rows("CREATE ROLE by_hand LOGIN")
        try:
            database.rows("GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO by_hand")
            with pytest.raises(ConstraintViolation, match="postgres prepare"):
                self._notices(database.conninfo_of("by_hand"))
        finally:
            database.rows("DROP OWNED BY by_hand")
            database.rows("DROP ROLE by_hand")

    def test_a_member_of_the_hubs_role_is_one_of_them(self, database: Database) -> None:
        database.rows("CREATE ROLE second_hub LOGIN IN ROLE hub")
        try:
            assert self._notices(database.conninfo_of("second_hub")) == ()
        finally:
            database.rows("DROP ROLE second_hub")

    @staticmethod
    def _notices(conninfo: str) -> tuple[str, ...]:
        store = PostgresStore.open(conninfo, FakeClock(), size=2, wait_seconds=5)
        try:
            return store.info().notices
        finally:
            store.close()


class TestWhichRole:
    def test_is_asked_for_again_after_a_while_only(self) -> None:
        asked: list[int] = []
        now = [0.0]

        def load() -> list[tuple[str, frozenset[str]]]:
            asked.append(1)
            return [("a", frozenset({"x"}))] if len(asked) > 1 else []

        roles = NamespaceRoles(load, lambda: now[0])
        assert [roles.role_for(["x"]), roles.role_for(["x"])] == ["none", "none"]
        now[0] = 11
        assert roles.role_for(["x"]) == "a"
        assert len(asked) == 2

    def test_nobody_waits_until_another_was_not_answered(self) -> None:
        both_ask = threading.Barrier(2, timeout=60)

        def load() -> list[tuple[str, frozenset[str]]]:
            both_ask.wait()
            raise EngineUnavailable("away")

        roles = NamespaceRoles(load, lambda: 0.0)
        with ThreadPoolExecutor(2) as threads:
            calls = [threads.submit(roles.role_for, ["x"]) for _ in range(2)]
        assert [type(one.exception()) for one in calls] == [EngineUnavailable, EngineUnavailable]

    def test_no_namespace_takes_no_role(self) -> None:
        assert NamespaceRoles(lambda: [("a", frozenset({"x"}))], lambda: 0.0).role_for([]) == "none"
