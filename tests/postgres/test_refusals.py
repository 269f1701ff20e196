"""A server that refuses a connection: what a person hears of it, whatever language the server speaks, and what is waited for."""

from __future__ import annotations

import shutil
import socket
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from tests.postgres.server import Database

from hybrid_memory.errors import AccessRefused, EngineUnavailable, NotEnoughMemory
from hybrid_memory_postgres.connections import EVERYTHING, Connections

pytestmark = pytest.mark.postgres
USER, NAME = "ada", "bees"


class Refusing:
    """A server that answers each connection with one error."""

    def __init__(self, answer: str) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="rf"))
        self.conninfo = f"host={self.folder} port=5432 user={USER} dbname={NAME} sslmode=disable gssencmode=disable"
        severity, _, said = answer.partition(":  ")
        fields = (b"S" + severity.encode(), b"VFATAL", b"CXX000", b"M" + said.encode(), b"")
        body = b"\0".join(fields) + b"\0"
        self._answer = b"E" + (len(body) + 4).to_bytes(4, "big") + body
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(self.folder / ".s.PGSQL.5432"))
        self._listener.listen(16)
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                with client:
                    client.recv(4096)
                    client.sendall(self._answer)

    def close(self) -> None:
        """Listen no longer."""
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        shutil.rmtree(self.folder)


Refuse = Callable[[str], Refusing]


@pytest.fixture
def refusing() -> Iterator[Refuse]:
    made: list[Refusing] = []

    def make(answer: str) -> Refusing:
        made.append(Refusing(answer))
        return made[-1]

    yield make
    for one in made:
        one.close()


@pytest.mark.parametrize(
    "answer",
    [
        "FATAL:  Anmeldung von »ada« misslungen",
        "FATAL:  connexion refusée à «\u00a0ada\u00a0»",
        "ВАЖНО:  роли \u201cada\u201d здесь нет",
        'FATAL:  "bees"というデータベースはない',
    ],
)
def test_a_refusal_that_names_login_or_database_is_told_in_any_language(refusing: Refuse, answer: str) -> None:
    connections = Connections(refusing(answer).conninfo, wait_seconds=0)
    with pytest.raises(AccessRefused, match="user and password"):
        connections.open()


@pytest.mark.parametrize("answer", ["FATAL:  Datenbanksystem startet gerade", "FATAL:  not ready for ada yet"])
def test_what_names_neither_may_pass_and_is_waited_for(refusing: Refuse, answer: str) -> None:
    connections = Connections(refusing(answer).conninfo, size=1, wait_seconds=0.1)
    connections.open()
    with pytest.raises(EngineUnavailable), connections.reading(EVERYTHING):
        pass
    connections.close()


def test_no_name_in_the_servers_address_is_taken_for_one_that_is_refused(refusing: Refuse) -> None:
    server = refusing("FATAL:  Datenbanksystem startet gerade")
    connections = Connections(server.conninfo.replace(f"user={USER}", f"user={server.folder.name}"), wait_seconds=0)
    connections.open()
    connections.close()


def test_a_rule_that_rejects_a_login_is_told_as_that(refusing: Refuse) -> None:
    connections = Connections(refusing("FATAL:  pg_hba.conf rejects all of this").conninfo, wait_seconds=0)
    with pytest.raises(AccessRefused, match="refuses this login"):
        connections.open()


def test_a_connection_beside_the_pool_that_a_full_server_does_not_give_is_told_as_that(database: Database) -> None:
    database.rows("CREATE ROLE narrow LOGIN IN ROLE hub")
    connections = Connections(database.conninfo_of("narrow"), size=1, wait_seconds=0.1)
    connections.open()
    try:
        with connections.reading(EVERYTHING) as session:
            assert session.rows("SELECT 1")
        database.rows("ALTER ROLE narrow CONNECTION LIMIT 1")
        with pytest.raises(NotEnoughMemory), connections.copying(EVERYTHING):
            pass
    finally:
        connections.close()
        database.rows("DROP ROLE narrow")


def test_a_server_that_ends_pauses_at_once_is_told_what_to_change(database: Database) -> None:
    database.rows("CREATE ROLE hasty LOGIN IN ROLE hub")
    database.rows("ALTER ROLE hasty SET idle_in_transaction_session_timeout = '1ms'")
    connections = Connections(database.conninfo_of("hasty"), size=1, wait_seconds=5)
    connections.open()
    try:
        with pytest.raises(EngineUnavailable, match="idle_in_transaction_session_timeout"):
            _pause(connections, database)
    finally:
        connections.close()
        database.rows("DROP ROLE hasty")


def _pause(connections: Connections, database: Database) -> None:
    """Say nothing in a transaction until the server has ended it, and then go on."""
    with connections.filling(EVERYTHING) as session:
        number = session.connection.info.backend_pid
        while database.rows("SELECT 1 FROM pg_stat_activity WHERE pid = %s", number):
            pass
        session.rows("SELECT 1")
