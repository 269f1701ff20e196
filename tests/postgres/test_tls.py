"""Beyond this machine: real certificates, good and bad. A name stands for the other machine, which in truth is this one."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
import trustme
from tests.postgres.server import HUB, TEMPLATE, PostgresServer, running_server

from hybrid_memory.errors import AccessRefused, EngineUnavailable, HybridMemoryError
from hybrid_memory_postgres import target
from hybrid_memory_postgres.connections import EVERYTHING, Connections
from hybrid_memory_postgres.target import target_of

pytestmark = [pytest.mark.postgres, pytest.mark.daily]

HOST = "db.example"
SECRET = "s3cr3t-of-nobody"  # noqa: S105 - it opens a server of the test's own
# The server waits until each has ended: one that still ends passes the pool's check and is lost in the statement after it.
END_ALL = f"SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE usename = '{HUB}'"  # noqa: S608 - a constant
LONG_AGO = datetime(2001, 1, 1, tzinfo=UTC)


def free_port() -> str:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return str(one.getsockname()[1])


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture(scope="module")
def roots(authority: trustme.CA, tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("roots") / "root.crt"
    authority.cert_pem.write_to_path(str(file))
    return file


@pytest.fixture(scope="module")
def server(postgres_server: PostgresServer) -> Iterator[PostgresServer]:
    """A server that takes connections over the network only with TLS and a password."""
    del postgres_server  # which skips where there is none
    with running_server(listen_addresses="127.0.0.1", port=free_port()) as made:
        made.rows(f"ALTER ROLE {HUB} PASSWORD '{SECRET}'")
        made.allow("hostssl all all 127.0.0.1/32 scram-sha-256", "host all all 127.0.0.1/32 reject")
        yield made


@pytest.fixture(autouse=True)
def _the_name_is_another_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    stays = target._stays
    monkeypatch.setattr(target, "_stays", lambda host: host != "127.0.0.1" and stays(host))


@pytest.fixture
def show(server: PostgresServer) -> Callable[[trustme.LeafCert], None]:
    """Have the server show another certificate."""

    def show_it(certificate: trustme.LeafCert) -> None:
        chain = b"".join(one.bytes() for one in certificate.cert_chain_pems)
        cert = server.keep_file("server.crt", chain)
        key = server.keep_file("server.key", certificate.private_key_pem.bytes())
        for name, value in (("ssl_cert_file", cert), ("ssl_key_file", key), ("ssl", "on")):
            server.rows(f"ALTER SYSTEM SET {name} = '{value}'")
        server.restart()

    return show_it


def address(server: PostgresServer, roots: Path, more: str = "") -> str:
    return f"postgresql://{HUB}@{HOST}:{server.port}/{TEMPLATE}?hostaddr=127.0.0.1&sslrootcert={roots}{more}"


def asked(where: str, password: str = SECRET) -> object:
    """Return whether the connection is encrypted, as the server sees it."""
    connections = Connections(target_of(where, {}).conninfo + f" password={password}", size=1, wait_seconds=2)
    try:
        connections.open()
        with connections.reading(EVERYTHING) as session:
            return session.rows("SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()")[0][0]
    finally:
        connections.close()


def test_a_server_that_proves_its_name_is_spoken_to_in_secret(
    server: PostgresServer, authority: trustme.CA, roots: Path, show: Callable[[trustme.LeafCert], None]
) -> None:
    show(authority.issue_cert(HOST))
    assert asked(address(server, roots)) is True


@pytest.mark.parametrize("which", ["another name", "out of date", "unknown authority"])
def test_one_that_does_not_is_told_nothing(
    server: PostgresServer, authority: trustme.CA, roots: Path, show: Callable[[trustme.LeafCert], None], which: str
) -> None:
    show(
        {
            "another name": lambda: authority.issue_cert("other.example"),
            "out of date": lambda: authority.issue_cert(
                HOST, not_before=LONG_AGO, not_after=LONG_AGO.replace(year=2002)
            ),
            "unknown authority": lambda: trustme.CA().issue_cert(HOST),
        }[which]()
    )
    with pytest.raises(EngineUnavailable, match="certificate is not to be trusted"):
        asked(address(server, roots))


def test_on_demand_an_unknown_certificate_is_enough(
    server: PostgresServer, roots: Path, show: Callable[[trustme.LeafCert], None]
) -> None:
    show(trustme.CA().issue_cert("other.example"))
    del roots
    where = f"postgresql://{HUB}@{HOST}:{server.port}/{TEMPLATE}?hostaddr=127.0.0.1&sslmode=require"
    assert asked(where) is True


@pytest.mark.parametrize("mode", ["", "&sslmode=require", "&sslmode=verify-ca"])
def test_a_server_without_encryption_is_told_nothing(server: PostgresServer, roots: Path, mode: str) -> None:
    server.rows("ALTER SYSTEM SET ssl = 'off'")
    server.restart()
    with pytest.raises(EngineUnavailable, match="offers no encryption"):
        asked(address(server, roots, mode))


def test_a_wrong_password_is_told_at_once_and_not_repeated(
    server: PostgresServer, authority: trustme.CA, roots: Path, show: Callable[[trustme.LeafCert], None]
) -> None:
    show(authority.issue_cert(HOST))
    with pytest.raises(HybridMemoryError) as caught:
        asked(address(server, roots), password="wr0ng-" + SECRET)
    assert "see user and password" in str(caught.value)
    assert SECRET not in str(caught.value)
    assert HOST not in str(caught.value)


def test_a_database_that_is_not_there_is_told_at_once(
    server: PostgresServer, authority: trustme.CA, roots: Path, show: Callable[[trustme.LeafCert], None]
) -> None:
    show(authority.issue_cert(HOST))
    with pytest.raises(EngineUnavailable, match="no database of that name"):
        asked(address(server, roots).replace(TEMPLATE, "absent"))


def test_the_password_of_a_file_opens_it(
    server: PostgresServer, authority: trustme.CA, roots: Path, show: Callable[[trustme.LeafCert], None], tmp_path: Path
) -> None:
    show(authority.issue_cert(HOST))
    file = tmp_path / "password"
    file.write_text(SECRET + "\n")
    file.chmod(0o600)
    connections = Connections(target_of(address(server, roots), {}, file).conninfo, size=1, wait_seconds=2)
    connections.open()
    with connections.reading(EVERYTHING) as session:
        assert session.rows("SELECT 1") == [(1,)]
    connections.close()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    found = tmp_path / "password"
    found.write_text(SECRET + "\n")
    found.chmod(0o600)
    return found


@pytest.fixture
def connections(
    server: PostgresServer, authority: trustme.CA, roots: Path, show: Callable[[trustme.LeafCert], None], file: Path
) -> Iterator[Connections]:
    """Those of a hub that runs, to a server whose password changes."""
    show(authority.issue_cert(HOST))
    made = Connections(target_of(address(server, roots), {}, file).conninfo_now, size=1, wait_seconds=2)
    made.open()
    assert answers(made)
    yield made
    made.close()
    server.rows(f"ALTER ROLE {HUB} PASSWORD '{SECRET}'")


def answers(connections: Connections) -> bool:
    with connections.reading(EVERYTHING) as session:
        return session.rows("SELECT 1") == [(1,)]


def rotate(server: PostgresServer) -> str:
    """Give the login another password, and end what it has open."""
    password = "an0ther-" + SECRET
    server.rows(f"ALTER ROLE {HUB} PASSWORD '{password}'")
    server.rows(END_ALL)
    return password


def test_a_hub_that_runs_takes_a_new_password_from_its_file(
    server: PostgresServer, connections: Connections, file: Path
) -> None:
    file.write_text(rotate(server))
    assert answers(connections)


def test_until_the_file_has_it_the_login_is_told_as_refused_and_then_all_goes_on(
    server: PostgresServer, connections: Connections, file: Path
) -> None:
    password = rotate(server)
    with pytest.raises(AccessRefused, match="see user and password"):
        answers(connections)
    file.write_text(password)
    assert answers(connections)


def test_a_file_that_is_gone_for_a_moment_leaves_the_former_password(
    server: PostgresServer, connections: Connections, file: Path
) -> None:
    file.unlink()
    server.rows(END_ALL)
    assert answers(connections)
