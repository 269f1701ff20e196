"""The command ``postgres prepare``, over a real server."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.postgres.server import ADMIN, KEEPER, Database, PostgresServer
from typer.testing import CliRunner

from hybrid_memory_mcp.cli.commands import app

pytestmark = pytest.mark.postgres


@pytest.fixture
def bare(postgres_server: PostgresServer) -> Iterator[Database]:
    """A database without tables, and roles that go with it."""
    made = postgres_server.create_database(template="template0")
    yield made
    postgres_server.drop_database(made.name)
    for role in ("fresh_hub", "fresh_wall"):
        made.server.rows(f"DROP ROLE IF EXISTS {role}")


def prepare(*words: str) -> tuple[int, str]:
    done = CliRunner().invoke(app, ["postgres", "prepare", *words])
    return done.exit_code, done.output


def test_it_makes_tables_and_a_role_for_hubs(bare: Database) -> None:
    code, said = prepare(bare.address_of(ADMIN), "--role", "fresh_hub")
    assert code == 0, said
    assert "fresh_hub was made and is for hubs to log in as" in said
    assert bare.rows("SELECT count(*) FROM memory", user="fresh_hub") == [(0,)]


def test_doing_it_again_changes_nothing(bare: Database) -> None:
    first = prepare(bare.address_of(ADMIN), "--role", "fresh_hub", "--json")
    again = prepare(bare.address_of(ADMIN), "--role", "fresh_hub", "--json")
    told = {"schema": 9, "role": "fresh_hub", "namespaces": [], "hub": None, "temporary_revoked": True}
    assert json.loads(first[1]) == {**told, "made": True}
    assert json.loads(again[1])["made"] is False


def test_a_role_may_stand_for_namespaces_and_be_taken_by_hubs(bare: Database) -> None:
    prepare(bare.address_of(ADMIN), "--role", "fresh_hub")
    words = ["--role", "fresh_wall", "--namespace", "alice", "--namespace", "project:acme", "--hub", "fresh_hub"]
    code, said = prepare(bare.address_of(ADMIN), *words)
    assert code == 0, said
    assert "stands for alice, project:acme" in said
    assert bare.rows("SELECT pg_has_role('fresh_hub', 'fresh_wall', 'MEMBER')") == [(True,)]


def test_any_of_them_completes_the_rights_of_all(bare: Database) -> None:
    """As after an upgrade, which brings tables that the roles of before have no rights on."""
    prepare(bare.address_of(ADMIN), "--role", "fresh_hub")
    prepare(bare.address_of(ADMIN), "--role", "fresh_wall", "--namespace", "alice", "--hub", "fresh_hub")
    bare.rows("REVOKE ALL ON memory, vector, embedder FROM fresh_hub, fresh_wall")
    prepare(bare.address_of(ADMIN), "--role", "fresh_hub")
    granted = "SELECT has_table_privilege(%s, 'memory', 'INSERT') AND has_table_privilege(%s, 'embedder', 'SELECT')"
    for role in ("fresh_hub", "fresh_wall"):
        assert bare.rows(granted, role, role) == [(True,)]


def test_tables_that_hubs_made_before_pass_to_the_administrator(bare: Database) -> None:
    bare.rows("CREATE ROLE fresh_hub LOGIN")
    bare.rows("GRANT CREATE ON SCHEMA public TO fresh_hub")
    prepare(
        bare.address_of("fresh_hub"), "--role", "other_role"
    )  # fails after it made the tables, which it cannot undo
    code, said = prepare(bare.address_of(ADMIN), "--role", "fresh_hub")
    assert code == 0, said
    assert bare.rows("SELECT count(*) FROM pg_tables WHERE tableowner = 'fresh_hub'") == [(0,)]


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["--role", ADMIN], "no wall would hold it"),
        (["--role", "x" * 64], "63 bytes"),
        (["--role", "fresh_wall", "--namespace", "a", "--hub", "nobody"], "no role that hubs log in as"),
        (["--role", "fresh_wall", "--namespace", "project:"], "names no project"),
    ],
)
def test_what_cannot_be_is_refused_in_words(bare: Database, words: list[str], problem: str) -> None:
    code, said = prepare(bare.address_of(ADMIN), *words)
    assert code == 1
    assert problem in said


def test_who_may_not_do_it_is_told_so(bare: Database) -> None:
    code, said = prepare(bare.address_of(KEEPER).replace(KEEPER, "hub"), "--role", "fresh_hub")
    assert code == 1
    assert "no right" in said


def test_who_may_not_make_roles_hears_what_to_do_instead(bare: Database) -> None:
    bare.rows("CREATE ROLE fresh_wall LOGIN")
    bare.rows(f"ALTER DATABASE {bare.name} OWNER TO fresh_wall")
    code, said = prepare(bare.address_of("fresh_wall"), "--role", "fresh_hub")
    assert code == 1
    assert "CREATE ROLE name LOGIN" in said
    bare.rows("CREATE ROLE fresh_hub LOGIN")
    code, said = prepare(bare.address_of("fresh_wall"), "--role", "fresh_hub")
    assert code == 0, said
    assert bare.rows("SELECT count(*) FROM memory", user="fresh_hub") == [(0,)]


def test_temporary_tables_are_left_to_a_database_of_another_owner(bare: Database) -> None:
    bare.rows("CREATE ROLE fresh_wall LOGIN CREATEROLE")
    bare.rows("GRANT CREATE ON SCHEMA public TO fresh_wall")
    code, said = prepare(bare.address_of("fresh_wall"), "--role", "fresh_hub")
    assert (code, "may still make temporary tables" in said) == (0, True), said
    assert bare.rows("SELECT has_database_privilege('public', current_database(), 'TEMP')") == [(True,)]


def test_temporary_tables_are_left_to_a_database_that_other_programs_use(bare: Database) -> None:
    bare.rows("CREATE SCHEMA shop")
    bare.rows("CREATE TABLE shop.memory (x INTEGER)")
    code, said = prepare(bare.address_of(ADMIN), "--role", "fresh_hub")
    assert (code, "may still make temporary tables" in said) == (0, True), said
    assert bare.rows("SELECT has_database_privilege('public', current_database(), 'TEMP')") == [(True,)]


def test_a_password_in_the_arguments_is_refused_and_not_repeated() -> None:
    code, said = prepare("postgresql://admin:hunter2@localhost/memory", "--role", "hub")
    assert code == 1
    assert "holds a password" in said
    assert "hunter2" not in said


def test_a_token_tells_whether_its_namespace_has_a_role(
    bare: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepare(bare.address_of(ADMIN), "--role", "fresh_hub")
    prepare(bare.address_of(ADMIN), "--role", "fresh_wall", "--namespace", "alice", "--hub", "fresh_hub")
    monkeypatch.setenv("HYBRID_MEMORY_STORE", bare.address_of("fresh_hub"))
    said = {
        name: CliRunner().invoke(app, ["token", "create", name, "--namespace", name, "--home", str(tmp_path)]).output
        for name in ("alice", "bob")
    }
    assert "no role" not in said["alice"]
    assert "The database has no role for bob" in said["bob"]


def test_a_login_that_takes_a_role_of_no_namespace_is_refused(bare: Database) -> None:
    prepare(bare.address_of(ADMIN), "--role", "fresh_hub")
    code, said = prepare(bare.address_of(ADMIN), "--role", "fresh_hub", "--hub", "fresh_hub")
    assert (code, said.startswith("hub: names who takes a role of namespaces")) == (1, True), said


def test_a_login_without_rights_hears_what_the_administrator_has_to_do(bare: Database) -> None:
    bare.rows("CREATE ROLE fresh_hub LOGIN")
    _, said = prepare(bare.address_of("fresh_hub"), "--role", "other_role")
    assert "Have the administrator run `hybrid-memory-mcp postgres prepare`" in said
