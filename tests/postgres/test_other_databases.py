"""Databases and ways to them that teams have: other programs' tables, another encoding, a schema of its own, a pooler on the way."""

from __future__ import annotations

import shutil
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from time import monotonic, sleep

import psycopg
import pytest
from tests.core.store.making import memory, one, put
from tests.postgres.server import ADMIN, HUB, Database, PostgresServer, programs

from hybrid_memory.clock import SystemClock
from hybrid_memory.errors import EngineUnavailable, StoreDamaged
from hybrid_memory.testing import FakeClock
from hybrid_memory_postgres import writers
from hybrid_memory_postgres.connections import Connections
from hybrid_memory_postgres.preparing import prepare
from hybrid_memory_postgres.sql_session import PgSession
from hybrid_memory_postgres.store import PostgresStore
from hybrid_memory_postgres.target import target_of

pytestmark = pytest.mark.postgres

TABLES = "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' ORDER BY relname"
LOCK = "SELECT 1 FROM namespace WHERE name = 'default' FOR UPDATE"


@pytest.fixture
def bare(postgres_server: PostgresServer) -> Iterator[Database]:
    made = postgres_server.create_database(template="template0")
    yield made
    postgres_server.drop_database(made.name)


def prepared(conninfo: str) -> None:
    connections = Connections(conninfo, size=1, wait_seconds=5)
    connections.open()
    try:
        prepare(connections, SystemClock().now(), HUB)
    finally:
        connections.close()


def opened(conninfo: str, **options: float) -> PostgresStore:
    return PostgresStore.open(conninfo, FakeClock(), size=3, **{"wait_seconds": 5, **options})


def in_schema(name: str, conninfo: str) -> str:
    return f"{conninfo} options='-csearch_path={name}'"


def test_each_table_of_another_program_with_a_name_of_ours_is_told(bare, database):
    names = [str(name) for (name,) in database.rows(TABLES)]
    assert "memory" in names
    for name in names:
        bare.rows(f'CREATE TABLE "{name}" (value INT)')
        with pytest.raises(StoreDamaged, match="of another program"):
            prepared(bare.conninfo_of(ADMIN))
        bare.rows(f'DROP TABLE "{name}"')


def test_a_type_of_an_extension_with_a_name_of_ours_is_told(bare):
    bare.rows("CREATE DOMAIN vector AS float8[]")
    with pytest.raises(StoreDamaged, match=r"of another program \(as those of an extension\)"):
        prepared(bare.conninfo_of(ADMIN))


def test_a_schema_of_its_own_stands_beside_other_programs(bare):
    for name in ("memory", "migration", "users"):
        bare.rows(f"CREATE TABLE {name} (value INT)")
    bare.rows("CREATE SCHEMA apart")
    prepared(in_schema("apart", bare.conninfo_of(ADMIN)))
    store = opened(in_schema("apart", bare.conninfo))
    put(store, "a")
    assert one(store, "a") == memory("a")
    store.close()


def test_a_schema_that_is_not_there_is_told(database):
    with pytest.raises(StoreDamaged, match="no schema of the name"):
        opened(in_schema("nowhere", database.conninfo))


def test_a_login_whose_first_schema_is_another_one_hears_what_to_name(database):
    database.rows(f"CREATE SCHEMA {HUB} AUTHORIZATION {HUB}")
    with pytest.raises(StoreDamaged, match="not in the first schema"):
        opened(database.conninfo)
    opened(in_schema("public", database.conninfo)).close()


@pytest.mark.parametrize("encoding", ["LATIN1", "SQL_ASCII"])
def test_a_database_that_is_not_utf8_is_refused(postgres_server, encoding):
    name = f"in_{encoding.lower()}"
    postgres_server.rows(f"CREATE DATABASE {name} ENCODING {encoding} TEMPLATE template0")
    try:
        with pytest.raises(EngineUnavailable, match="UTF8"):
            prepared(postgres_server.conninfo(ADMIN, name))
    finally:
        postgres_server.drop_database(name)


def test_the_encoding_of_other_programs_of_the_machine_does_not_matter(database, monkeypatch):
    monkeypatch.setenv("PGCLIENTENCODING", "LATIN1")
    store = opened(target_of(database.address, {}).conninfo)
    put(store, "a", content="日本")
    assert one(store, "a").content == "日本"
    store.close()


def test_a_stricter_isolation_of_the_database_does_not_matter(database):
    database.rows(f"ALTER DATABASE {database.name} SET default_transaction_isolation = 'serializable'")
    connections = Connections(database.conninfo, size=1)
    connections.open()
    with connections.transaction(["default"]) as session:
        assert session.rows("SHOW transaction_isolation") == [("read committed",)]
    connections.close()


def dumped(database: Database, *options: str, everything: bool) -> str:
    """Return what pg_dump writes of the memories as the hub, which is not above the walls."""
    folder = programs()
    assert folder is not None
    environment = {"PGOPTIONS": "-c hybrid_memory.everything=on"} if everything else {}
    command = [str(folder / "pg_dump"), "--data-only", "--table=memory", *options, "--dbname", database.conninfo]
    return subprocess.run(
        command, check=True, capture_output=True, text=True, env=environment, stdin=subprocess.DEVNULL
    ).stdout


def test_a_dump_holds_all_memories_where_it_says_that_it_is_for_everything(database):
    store = opened(database.conninfo)
    put(store, "a")
    store.close()
    assert "what a says" in dumped(database, "--enable-row-security", everything=True)
    assert "what a says" not in dumped(database, "--enable-row-security", everything=False)
    with pytest.raises(subprocess.CalledProcessError):
        dumped(database, everything=True)


Pooled = Callable[[str], str]


@pytest.fixture
def pooled(database: Database, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pooled]:
    """Returns a function that puts a pooler before the test's database, in a mode of its own; it returns what leads through it."""
    program = shutil.which("pgbouncer", path="/usr/sbin:/usr/bin:/bin:/usr/local/sbin:/usr/local/bin")
    if program is None:
        pytest.skip("there is no pgbouncer; Debian: apt install pgbouncer")
    with ExitStack() as running:
        yield lambda mode: running.enter_context(_pooler(program, mode, database))


@contextmanager
def _pooler(program: str, mode: str, database: Database) -> Iterator[str]:
    folder = database.server.folder / f"pooler-{database.name}"
    folder.mkdir()
    (folder / "users").write_text(f'"{HUB}" ""\n')
    (folder / "settings").write_text(
        f"[databases]\n{database.name} = host={database.server.folder} port={database.server.port} dbname={database.name}\n"
        f"[pgbouncer]\nlisten_addr=\nunix_socket_dir={folder}\nauth_type=trust\nauth_file={folder}/users\npool_mode={mode}\n"
    )
    user = database.server.user
    given = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": ()} if user else {}
    if user:
        for place in (folder, *folder.iterdir()):
            shutil.chown(place, user.pw_uid, user.pw_gid)
    process = subprocess.Popen(
        [program, str(folder / "settings")],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        **given,
    )
    conninfo = f"host={folder} port=6432 user={HUB} dbname={database.name}"
    try:
        _wait_for((folder / ".s.PGSQL.6432").exists)
        yield conninfo
    finally:
        process.terminate()
        process.wait(60)


def _wait_for(condition: Callable[[], bool]) -> None:
    limit = monotonic() + 60
    while not condition():
        assert monotonic() < limit
        sleep(0.01)


def test_a_pooler_of_transactions_is_refused(pooled):
    with pytest.raises(EngineUnavailable, match="pool_mode = session"):
        opened(pooled("transaction"))


def test_over_a_pooler_of_sessions_the_store_is_as_without_one(pooled):
    store = opened(pooled("session"))
    put(store, "a")
    assert one(store, "a") == memory("a")
    store.close()


def test_over_a_pooler_of_sessions_what_takes_long_is_not_given_up(pooled, database):
    store = opened(pooled("session"), wait_seconds=0.4)
    put(store, "a")
    with psycopg.connect(database.conninfo_of(ADMIN)) as other:
        other.execute(LOCK)
        written = threading.Thread(target=put, args=(store, "b"))
        written.start()
        written.join(1.5)  # many times what is waited for an answer
        assert written.is_alive()
    written.join(60)
    assert one(store, "b") == memory("b")
    store.close()


def test_over_a_pooler_of_sessions_a_write_is_known_by_the_number_that_the_server_gave_its_process(pooled, monkeypatch):
    store, asked, noted = opened(pooled("session")), [], []
    commit, traces = PgSession.commit, writers.Traces

    def asking_commit(session):
        asked.extend(session.rows("SELECT pg_backend_pid()")[0])
        commit(session)

    def noting(**given):
        noted.append(given["process"])
        return traces(**given)

    monkeypatch.setattr(PgSession, "commit", asking_commit)
    monkeypatch.setattr(writers, "Traces", noting)
    put(store, "a")
    monkeypatch.undo()
    store.close()
    assert noted == asked


def test_a_parameter_that_a_pooler_refuses_is_told(pooled):
    with pytest.raises(EngineUnavailable, match="does not take a parameter"):
        opened(in_schema("public", pooled("session")))
