"""Hints that a namespace has changed: made after the commit, by `NOTIFY`, for the hubs that listen.

A hint may be lost, late or forged: who follows the changes also looks for itself, and believes only what it finds there. It names no
namespace, because every login of the database can listen: the digest is keyed with a secret of the store.

`NOTIFY` is never part of a write: PostgreSQL takes one lock for the whole cluster from there to the end of the commit.
"""

from __future__ import annotations

import hashlib
import logging
import selectors
import threading
from collections.abc import Callable
from time import monotonic
from typing import TYPE_CHECKING, Any

import psycopg

if TYPE_CHECKING:
    from typing import TypeAlias

    Connection: TypeAlias = psycopg.Connection[Any]


CHANNEL = "hybrid_memory"
_DIGEST_BYTES = 12
_SILENT_SECONDS = 2.0  # without an answer to a hint; then the connection is made again
_HINT = "SELECT pg_notify('hybrid_memory', $1)"
_QUICK = "SET synchronous_commit = off"  # a hint need not be on disk before the next one goes out

_log = logging.getLogger(__name__)


def digest_of(secret: int, namespace: str) -> str:
    """Return what stands for a namespace in hints of a store with this secret."""
    key = secret.to_bytes(8, "little")
    return hashlib.blake2b(namespace.encode(), key=key, digest_size=_DIGEST_BYTES).hexdigest()


def hint_of(secret: int, namespace: str, position: int) -> str:
    """Return the text of a hint: that a namespace has come to a position."""
    return f"{digest_of(secret, namespace)}:{position}"


def read_hint(payload: str) -> tuple[str, int] | None:
    """Return digest and position of a hint, None for what is none."""
    digest, colon, position = payload.partition(":")
    if not colon or len(digest) != 2 * _DIGEST_BYTES or not (position.isascii() and position.isdigit()):
        return None
    return (digest, int(position)) if len(position) <= len(str(2**62)) else None


class Announcer:
    """Sends hints over a connection of its own, without waiting for an answer; what cannot go out at once a thread sends together.

    The thread connects too. It would be woken up milliseconds late by a hub that goes on with what it wrote.
    """

    def __init__(self, connect: Callable[[], Connection], secret: int) -> None:
        self._connect = connect
        self.secret = secret
        self._waiting: dict[str, int] = {}
        self._ready: Connection | None = None
        self._changed = threading.Condition()
        self._closed = False
        self._thread: threading.Thread | None = None

    def announce(self, namespace: str, position: int) -> None:
        """Have the others told soon that a namespace has come to a position."""
        with self._changed:
            if self._closed or (not self._waiting and self._sent(namespace, position)):
                return
            self._waiting[namespace] = max(position, self._waiting.get(namespace, 0))
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="hybrid-memory-hints", daemon=True)
                self._thread.start()
            self._changed.notify()

    def close(self) -> None:
        """Send what waits, and stop; calling it again does nothing."""
        with self._changed:
            self._closed = True
            self._changed.notify()
            thread = self._thread
        if thread is not None:
            thread.join(timeout=2.0)

    def _sent(self, namespace: str, position: int) -> bool:
        """Return whether a hint has gone out at once: not while the answer to the one before is awaited, nor over a broken connection."""
        if self._ready is None:
            return False
        server = self._ready.pgconn
        try:
            if not _is_answered(self._ready, 0):
                return False
            server.send_query_params(_HINT.encode(), [hint_of(self.secret, namespace, position).encode()])
            server.flush()
        except psycopg.Error:
            self._ready.close()
            self._ready = None
            return False
        return True

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting or self._closed)
                hints, self._waiting = self._waiting, {}
                connection, self._ready = self._ready, None
                if not hints:
                    break
            try:
                if connection is not None and not _is_answered(connection, _SILENT_SECONDS):
                    connection.close()
                    connection = None
                connection = connection or self._connect_anew()
                with connection.pipeline():
                    for namespace, position in hints.items():
                        connection.execute(_HINT, (hint_of(self.secret, namespace, position),), prepare=True)
            except psycopg.Error:
                # The others find it by looking; the next hint tries a new connection.
                _log.debug("a hint of a change could not be sent")
                if connection is not None:
                    connection.close()
                connection = None
            with self._changed:
                self._ready = connection
        if connection is not None:
            connection.close()

    def _connect_anew(self) -> Connection:
        connection = self._connect()
        connection.execute(_QUICK)
        return connection


def _is_answered(connection: Connection, seconds: float) -> bool:
    """Return whether the hint that was sent last is answered within a time. Never waits in libpq, which would hold up all threads."""
    server, deadline = connection.pgconn, monotonic() + seconds
    while True:
        server.consume_input()
        while not server.is_busy():
            if server.get_result() is None:
                return True
        with selectors.DefaultSelector() as waiting:
            waiting.register(connection.fileno(), selectors.EVENT_READ)
            if monotonic() >= deadline or not waiting.select(deadline - monotonic()):
                return False
