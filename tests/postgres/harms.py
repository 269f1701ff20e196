"""What can happen to a server under hubs that write; after each it takes connections again."""

from __future__ import annotations

import os
import random
import signal
import threading
from contextlib import suppress
from time import monotonic

import psycopg
from tests.postgres.server import Database, PostgresServer

WAIT_SECONDS = 60.0


def kill_a_backend(database: Database, draw: random.Random) -> None:
    """Kill one process that serves a connection: the server ends all the others, and recovers."""
    backends = database.server.backends(database.name)
    if backends:
        os.kill(draw.choice(backends), signal.SIGKILL)
    wait_until_it_answers(database.server)


def end_a_connection(database: Database, draw: random.Random) -> None:
    """End one connection, as an administrator does."""
    backends = database.server.backends(database.name)
    database.server.rows("SELECT pg_terminate_backend(%s)", draw.choice(backends))


def restart(database: Database, draw: random.Random) -> None:
    """Restart the server, as an update does or a crash."""
    database.server.restart(draw.choice(["fast", "immediate"]))


def kill_the_server(database: Database, draw: random.Random) -> None:
    """Kill the server's first process and start it again."""
    del draw
    database.server.kill()
    database.server.start()


def wait_until_it_answers(server: PostgresServer) -> None:
    """Wait until the server takes connections."""

    limit = monotonic() + WAIT_SECONDS
    while monotonic() < limit:
        with suppress(psycopg.OperationalError):
            server.rows("SELECT 1")
            return
        threading.Event().wait(0.01)
    raise AssertionError("the server does not come back")
