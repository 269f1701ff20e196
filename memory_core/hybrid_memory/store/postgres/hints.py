"""Hints that a namespace has changed: made after the commit, by `NOTIFY`, for the hubs that listen.

A hint may be lost, late or forged: who follows the changes also looks for itself, and believes only what it finds there. It names no
namespace, because every login of the database can listen: the digest is keyed with a secret of the store.

`NOTIFY` is never part of a write: PostgreSQL takes one lock for the whole cluster from there to the end of the commit.
"""

from __future__ import annotations

import hashlib
import logging
import threading

import psycopg

CHANNEL = "hybrid_memory"
_DIGEST_BYTES = 12
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
    """Sends hints in a thread with a connection of its own: no write waits for it, and what comes meanwhile goes out together."""

    def __init__(self, conninfo: str, secret: int) -> None:
        self._conninfo = conninfo
        self.secret = secret
        self._waiting: dict[str, int] = {}
        self._changed = threading.Condition()
        self._closed = False
        self._thread: threading.Thread | None = None

    def announce(self, namespace: str, position: int) -> None:
        """Have the others told soon that a namespace has come to a position."""
        with self._changed:
            if self._closed:
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

    def _run(self) -> None:
        connection: psycopg.Connection[tuple[object, ...]] | None = None
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting or self._closed)
                hints, self._waiting = self._waiting, {}
                if not hints:
                    break
            try:
                connection = connection or self._connect()
                with connection.pipeline():
                    for namespace, position in hints.items():
                        connection.execute(_HINT, (hint_of(self.secret, namespace, position),), prepare=True)
            except psycopg.Error:
                # The others find it by looking; the next hint tries a new connection.
                _log.debug("a hint of a change could not be sent")
                if connection is not None:
                    connection.close()
                connection = None
        if connection is not None:
            connection.close()

    def _connect(self) -> psycopg.Connection[tuple[object, ...]]:
        connection = psycopg.connect(self._conninfo, autocommit=True, cursor_factory=psycopg.RawCursor)
        connection.execute(_QUICK)
        return connection
