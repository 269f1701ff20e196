"""Over HTTP and a shared database: a token has a namespace, the namespace a role, and what the role may not see no bug of a hub tells."""

from __future__ import annotations

from importlib.util import find_spec

import pytest
from tests.server.http.conftest import Raw
from tests.server.http.test_namespace_isolation import (
    call,
    test_nothing_crosses_the_wall_between_two_tokens,
)

if find_spec("psycopg") is None:
    pytest.skip("PostgreSQL's driver is not installed: uv sync --extra postgresql", allow_module_level=True)

from tests.postgres.careless import make_careless
from tests.postgres.server import HUB, KEEPER

from hybrid_memory.clock import SystemClock
from hybrid_memory.service.memory_service import MemoryService
from hybrid_memory.testing import FakeRandomSource
from hybrid_memory_mcp.runtime.provider import ServiceProvider
from hybrid_memory_postgres.connections import Connections
from hybrid_memory_postgres.preparing import prepare

pytestmark = [pytest.mark.anyio, pytest.mark.postgres]

ROLES = {"default": "wall_of_default", "elsewhere": "wall_of_elsewhere"}


@pytest.fixture
def roles(database):
    """A role for the namespace of each token, as the administrator makes them."""
    connections = Connections(database.conninfo_of(KEEPER), size=1)
    connections.open()
    for namespace, role in ROLES.items():
        prepare(connections, SystemClock().now(), role, [namespace], HUB)
    connections.close()
    yield ROLES
    for role in ROLES.values():
        database.rows(f"DROP OWNED BY {role}")
        database.rows(f"DROP ROLE {role}")


@pytest.fixture
def provider(tmp_path, database, monkeypatch):
    monkeypatch.setenv("HYBRID_MEMORY_STORE", database.address)
    provider = ServiceProvider(
        lambda: MemoryService.open(tmp_path, clock=SystemClock(), random_source=FakeRandomSource(9))
    )
    yield provider
    provider.close(None)


async def test_nothing_crosses_the_wall_where_the_hub_forgets_its_filter(monkeypatch, app, token, foreign_token):
    make_careless(monkeypatch)
    await test_nothing_crosses_the_wall_between_two_tokens(app, token, foreign_token)


@pytest.mark.usefixtures("roles")
async def test_nor_where_each_namespace_has_a_role(monkeypatch, app, token, foreign_token):
    make_careless(monkeypatch)
    await test_nothing_crosses_the_wall_between_two_tokens(app, token, foreign_token)


async def test_what_a_token_writes_is_written_by_the_role_of_its_namespace(database, roles, app, token, foreign_token):
    database.rows("CREATE TABLE written_by (namespace TEXT, role TEXT)")
    database.rows("GRANT INSERT ON written_by TO PUBLIC")
    database.rows(
        "CREATE FUNCTION note_writer() RETURNS TRIGGER LANGUAGE plpgsql AS "
        "'BEGIN INSERT INTO written_by VALUES (NEW.namespace, current_user); RETURN NULL; END'"
    )
    database.rows("CREATE TRIGGER note_writer AFTER INSERT ON memory FOR EACH ROW EXECUTE FUNCTION note_writer()")
    for one in (token, foreign_token):
        answer = await call(Raw(app, one), "write_memory", content="The violin is in the attic")
        assert not answer.get("isError"), answer
    assert dict(database.rows("SELECT namespace, role FROM written_by")) == roles
