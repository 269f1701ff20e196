"""`Proxy`: a bad network between a hub and the server. It forwards bytes, and on demand drops, delays, halves or holds them.

It listens on a socket in a folder, as the server itself does, so that tests need no network.
"""

from __future__ import annotations

import contextlib
import shutil
import socket
import struct
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path
from time import sleep

from tests.postgres.server import HUB, Database

_CHUNK = 65536
TO_SERVER, TO_HUB = "to the server", "to the hub"


@dataclass
class _Cut:
    """Where the next connection is to break: so many bytes behind this moment, in one direction of all connections together."""

    direction: str
    left: int


class Proxy:
    """Stands before one database from its making until `close`; ``conninfo`` leads through it."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.folder = Path(tempfile.mkdtemp(prefix="px"))
        self.carried = {TO_SERVER: 0, TO_HUB: 0}
        """Bytes so far, by direction."""
        self.cuts = 0
        """Connections that a `cut_after` has broken."""
        self._pairs: set[tuple[socket.socket, socket.socket]] = set()
        self._forgotten: set[tuple[socket.socket, socket.socket]] = set()
        self._lock = threading.Lock()
        self._open = threading.Event()  # bytes are let through
        self._open.set()
        self._refusing = False
        self._delay = 0.0
        self._cut: _Cut | None = None
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(self.folder / ".s.PGSQL.5432"))
        self._listener.listen(64)
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def conninfo(self) -> str:
        """For libpq, as a hub logs in."""
        return (
            f"host={self.folder} port=5432 user={HUB} dbname={self._database.name} sslmode=disable gssencmode=disable"
        )

    @property
    def address(self) -> str:
        """As a person writes it, as a hub logs in."""
        return f"postgresql://{HUB}@/{self._database.name}?host={self.folder}&port=5432"

    def cut_all(self) -> None:
        """Close all connections of this moment, in the middle of whatever they carry."""
        with self._lock:
            pairs, self._pairs = self._pairs, set()
        for pair in pairs:
            _close(pair)

    def cut_after(self, count: int, direction: str) -> None:
        """Carry so many bytes more in a direction, half a message maybe, and then close the connection whose bytes they were."""
        with self._lock:
            self._cut = _Cut(direction, count)

    def refuse(self, *, refusing: bool = True) -> None:
        """Close new connections at once, as where nobody listens; the present ones live."""
        self._refusing = refusing

    def hold(self) -> None:
        """Carry nothing more for now, and close nothing: a network that is silent."""
        self._open.clear()

    def forget_all(self) -> None:
        """Carry nothing more for the connections of this moment, ever, and close none; others are carried: a router was exchanged."""
        with self._lock:
            self._forgotten |= self._pairs

    def go_on(self) -> None:
        """Carry what was held, and all that comes; refuse nobody."""
        self._refusing = False
        self._open.set()

    def delay(self, seconds: float) -> None:
        """Carry each piece so much later."""
        self._delay = seconds

    def close(self) -> None:
        """Let everybody go."""
        self._refusing = True
        self._open.set()
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.cut_all()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _accept(self) -> None:
        while True:
            try:
                hub, _ = self._listener.accept()
            except OSError:
                return
            if self._refusing:
                hub.close()
                continue
            server = socket.socket(socket.AF_UNIX)
            try:
                server.connect(str(self._database.server.folder / f".s.PGSQL.{self._database.server.port}"))
            except OSError:
                _close((hub, server))
                continue
            pair = (hub, server)
            with self._lock:
                self._pairs.add(pair)
            for source, target, direction in ((hub, server, TO_SERVER), (server, hub, TO_HUB)):
                threading.Thread(target=self._carry, args=(pair, source, target, direction), daemon=True).start()

    def _carry(
        self, pair: tuple[socket.socket, socket.socket], source: socket.socket, target: socket.socket, direction: str
    ) -> None:
        try:
            while piece := source.recv(_CHUNK):
                self._open.wait()
                if pair in self._forgotten:
                    continue
                if self._delay:
                    sleep(self._delay)
                allowed = self._allowed(len(piece), direction)
                target.sendall(piece[:allowed])
                if allowed < len(piece):
                    break
        except OSError:
            pass
        with self._lock:
            self._pairs.discard(pair)
        _close(pair)

    def _allowed(self, count: int, direction: str) -> int:
        """Return how many of some bytes may pass; fewer than all where the connection is to break among them."""
        with self._lock:
            self.carried[direction] += count
            cut = self._cut
            if cut is None or cut.direction != direction:
                return count
            cut.left -= count
            if cut.left >= 0:
                return count
            self._cut = None
            self.cuts += 1
            return count + cut.left


def _close(pair: tuple[socket.socket, socket.socket]) -> None:
    for one in pair:
        with contextlib.suppress(OSError):
            one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        with contextlib.suppress(OSError):
            one.shutdown(socket.SHUT_RDWR)
        one.close()
