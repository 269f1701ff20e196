"""A real PostgreSQL server of the tests' own: in a temporary folder, on a socket, as an ordinary user, gone when the tests are done."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import psycopg
from psycopg import sql

from hybrid_memory.clock import SystemClock
from hybrid_memory_postgres.connections import Connections
from hybrid_memory_postgres.preparing import prepare

ADMIN, KEEPER, HUB = "admin", "keeper", "hub"
"""The server's superuser; who owns the databases and made the tables; what hubs log in as, with no more rights than they need."""
TEMPLATE = "prepared"

_SETTINGS: Mapping[str, str] = {
    "listen_addresses": "",
    "shared_buffers": "64MB",
    "max_connections": "200",
    "log_min_messages": "log",
    # Tests of conformance make thousands of transactions; those of losses start a server that waits for the disk.
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
}
_WAIT_SECONDS = 60.0
_PAUSE_SECONDS = 0.02


def programs() -> Path | None:
    """Return the folder with PostgreSQL's programs, the newest there is; Debian does not put them on the path."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda one: int(one.parts[-3].split(".")[0]))
    if found:
        return found[-1].parent
    on_path = shutil.which("initdb")
    return Path(on_path).parent if on_path else None


@dataclass(frozen=True)
class Database:
    """A database of a test's own, with the tables of an empty store."""

    server: PostgresServer
    name: str

    @property
    def conninfo(self) -> str:
        """For libpq, as a hub logs in."""
        return self.server.conninfo(HUB, self.name)

    @property
    def address(self) -> str:
        """As a person writes it, as a hub logs in."""
        return self.server.address(HUB, self.name)

    def conninfo_of(self, user: str) -> str:
        """For libpq, as somebody else."""
        return self.server.conninfo(user, self.name)

    def address_of(self, user: str) -> str:
        """As a person writes it, as somebody else."""
        return self.server.address(user, self.name)

    def rows(self, statement: str, *values: object, user: str = ADMIN) -> list[tuple[object, ...]]:
        """Return the rows of a statement, by default as the superuser, whom no wall holds."""
        return self.server.rows(statement, *values, user=user, database=self.name)


class PostgresServer:
    """Starts, stops and kills a server; ``settings`` are those of ``postgresql.conf`` that differ from a test's usual ones."""

    def __init__(self, **settings: str) -> None:
        self._programs = programs()
        self._settings = {**_SETTINGS, **settings}
        self._numbers = count()
        self.folder = Path(tempfile.mkdtemp(prefix="pg"))
        self.user = None if os.geteuid() else _ordinary_user()
        """The account that the server runs as where the tests run as root, which it refuses; None: that of the tests."""
        if self.user is not None:
            os.chown(self.folder, self.user.pw_uid, self.user.pw_gid)
        self._data = self.folder / "data"
        self._process: subprocess.Popen[bytes] | None = None
        self._run("initdb", "-D", str(self._data), "-U", ADMIN, "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")

    @property
    def port(self) -> str:
        """Of the socket's name, and of the network where the server listens there."""
        return self._settings.get("port", "5432")

    def conninfo(self, user: str, database: str) -> str:
        """For libpq."""
        return f"host={self.folder} port={self.port} user={user} dbname={database}"

    def address(self, user: str, database: str) -> str:
        """As a person writes it."""
        return f"postgresql://{user}@/{database}?host={self.folder}&port={self.port}"

    def start(self) -> None:
        """Start the server and wait until it takes connections."""
        options = [f"-c{name}={value}" for name, value in self._settings.items()]
        limit = monotonic() + _WAIT_SECONDS
        while monotonic() < limit:
            # A child of the tests, who wait for its end: what nobody waits for keeps its number, and the next server takes it for alive.
            with (self.folder / "log").open("ab") as log:
                self._process = subprocess.Popen(
                    [self._program("postgres"), "-D", str(self._data), "-k", str(self.folder), *options],
                    **self._as_user(),
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                )
            if self._takes_connections(limit):
                return
            sleep(_PAUSE_SECONDS)  # after a kill the former server's processes still hold its memory for a moment
        raise RuntimeError((self.folder / "log").read_text()[-4000:])

    def _takes_connections(self, limit: float) -> bool:
        """Wait until the server that was just started takes connections; returns False where it has ended instead."""
        while self.process is not None and monotonic() < limit:
            with suppress(psycopg.OperationalError):
                self.rows("SELECT 1")
                return True
            sleep(_PAUSE_SECONDS)
        return False

    def stop(self, mode: str = "fast") -> None:
        """Stop the server: ``fast`` ends all sessions, ``immediate`` is a crash."""
        self._end(signal.SIGINT if mode == "fast" else signal.SIGQUIT)

    def restart(self, mode: str = "fast") -> None:
        """Stop and start it."""
        self.stop(mode)
        self.start()

    def kill(self) -> None:
        """Kill the server's first process, as the system does when memory is short; its children end by themselves."""
        self._end(signal.SIGKILL)

    def _end(self, by: signal.Signals) -> None:
        if self._process is not None:
            self._process.send_signal(by)
            self._process.wait(_WAIT_SECONDS)

    @property
    def process(self) -> int | None:
        """The id of the server's first process, None while it does not run."""
        return None if self._process is None or self._process.poll() is not None else self._process.pid

    def backends(self, database: str) -> Sequence[int]:
        """Return the ids of the processes that serve connections to a database."""
        found = self.rows("SELECT pid FROM pg_stat_activity WHERE datname = %s AND pid <> pg_backend_pid()", database)
        return [int(str(pid)) for (pid,) in found]

    def allow(self, *rules: str) -> None:
        """Put rules before those of ``pg_hba.conf``, and have the server read them."""
        file = self._data / "pg_hba.conf"
        file.write_text("\n".join((*rules, file.read_text())))
        self.rows("SELECT pg_reload_conf()")

    def keep_file(self, name: str, content: bytes) -> Path:
        """Put a file alongside the data, which the server alone can read."""
        file = self.folder / name
        file.write_bytes(content)
        file.chmod(0o600)
        if self.user is not None:
            os.chown(file, self.user.pw_uid, self.user.pw_gid)
        return file

    def create_database(self, name: str | None = None, *, template: str = TEMPLATE) -> Database:
        """Return a new database with the tables of an empty store, or a bare one where ``template`` says so."""
        name = name or f"test{next(self._numbers)}"
        self._command("CREATE DATABASE {} TEMPLATE {} OWNER {}", name, template, KEEPER)
        return Database(self, name)

    def drop_database(self, name: str) -> None:
        """Remove a database, whoever is connected to it."""
        self._command("DROP DATABASE {} WITH (FORCE)", name)

    def rename_database(self, database: Database, name: str) -> None:
        """Give a database that nobody is connected to another name."""
        self._command("ALTER DATABASE {} RENAME TO {}", database.name, name)

    def prepare_template(self) -> None:
        """Make the roles, and the database that others are copies of."""
        self._command("CREATE ROLE {} LOGIN CREATEROLE", KEEPER)
        self._command("CREATE ROLE {} LOGIN", HUB)
        self.create_database(TEMPLATE, template="template0")
        connections = Connections(self.conninfo(KEEPER, TEMPLATE), size=1)
        connections.open()
        try:
            prepare(connections, SystemClock().now(), HUB)
        finally:
            connections.close()

    def rows(
        self, statement: str, *values: object, user: str = ADMIN, database: str = "postgres"
    ) -> list[tuple[object, ...]]:
        """Return the rows of a statement, ``%s`` for values."""
        with psycopg.connect(self.conninfo(user, database), autocommit=True) as connection:
            cursor = connection.execute(statement, values)  # type: ignore[call-overload] # a test's own words
            return cursor.fetchall() if cursor.description else []

    def dump(self, name: str) -> Path:
        """Write a database into a file of its own, as administrators do, and return that."""
        made = self.folder / f"{name}.dump"
        self._run("pg_dump", *self._whom(), "--format=custom", f"--file={made}", name)
        return made

    def put_back(self, name: str, dump: Path) -> None:
        """Put what a file of `dump` holds in the place of what is in a database, in one step, whoever is connected."""
        self._run(
            "pg_restore", *self._whom(), "--clean", "--if-exists", "--single-transaction", f"--dbname={name}", str(dump)
        )

    def _whom(self) -> list[str]:
        return [f"--host={self.folder}", f"--port={self.port}", f"--username={ADMIN}"]

    def remove(self) -> None:
        """Stop it and remove all that it wrote."""
        self.stop("immediate")
        shutil.rmtree(self.folder, ignore_errors=True)

    def _command(self, words: str, *names: str) -> None:
        with psycopg.connect(self.conninfo(ADMIN, "postgres"), autocommit=True) as connection:
            connection.execute(sql.SQL(words).format(*map(sql.Identifier, names)))  # type: ignore[arg-type] # a test's own words

    def _run(self, program: str, *arguments: str) -> None:
        subprocess.run(
            [self._program(program), *arguments],
            check=True,
            **self._as_user(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def _program(self, name: str) -> Path:
        assert self._programs is not None
        return self._programs / name

    def _as_user(self) -> dict[str, Any]:
        # The environment may name other servers and other languages.
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("PG", "LC_", "LANG"))}  # noqa: TID251 - for a program of the test
        user = self.user
        given: dict[str, Any] = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": ()} if user else {}
        return {"cwd": self.folder, "env": environment, **given}


@contextmanager
def running_server(**settings: str) -> Iterator[PostgresServer]:
    """Give a server that runs and has the template of a store's database."""
    server = PostgresServer(**settings)
    try:
        server.start()
        server.prepare_template()
        yield server
    finally:
        server.remove()


def _ordinary_user() -> pwd.struct_passwd:
    """Return the user that the server runs as when the tests run as root, which it refuses."""
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    raise RuntimeError("there is no ordinary user that PostgreSQL could run as")
