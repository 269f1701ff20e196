"""The relay: a client's lines to the hub, the hub's lines to the client, and the next hub when one dies.

Two threads: one reads the client, the main one reads the hub. A line of the client gets a number and is kept until the
hub has settled it. When the hub is gone, its successor gets what has to be kept of the conversation and every line that
is not settled, in their order; the hub knows by the number what was done before.
"""

from __future__ import annotations

import os
import select
import signal
import socket
import sys
import threading
import time

from hybrid_memory_mcp import __version__
from hybrid_memory_mcp.relay import connecting, paths, protocol
from hybrid_memory_mcp.relay.pending import PendingLine, cancel_server_request
from hybrid_memory_mcp.relay.protocol import BrokenFrame, Frame, FrameReader, LineSplitter, Oversized, pack

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import NoReturn

GRACE = 1.5
FINAL_CONNECT_TIMEOUT_SECONDS = 5.0
ORPHAN_TIMEOUT_SECONDS = 5.0
MAX_PENDING_LINES = 10_000
MAX_PENDING_BYTES = 64 * 1024 * 1024
WELCOME_TIMEOUT_SECONDS = 30.0
SHORT_LIVED_SECONDS = 1.0
MAX_QUICK_DEATHS = 10

_OURS = "HYBRID_MEMORY_"
_CHUNK = 1 << 16
_LOOK = 2.0
_REPORT_EVERY_LINES = 64
_MAX_RETRY_PAUSE_SECONDS = 0.5
_ALONE = "hybrid-memory-mcp: no hub could be started, so this process serves its client itself"
_BUSY = "hybrid-memory-mcp: the memory's hub does not answer; end the process that {file} in the store's folder names"


class Relay:
    """Serves one client over two descriptors. ``host`` makes a hub in this process where none can be started."""

    def __init__(
        self,
        hello: Sequence[tuple[str, str]],
        home: str,
        embedder: str | None,
        reading: int,
        writing: int,
        host: Callable[[str, str | None], tuple[socket.socket, Callable[[], None]]],
    ) -> None:
        self._hello = hello
        self._home = home
        self._embedder = embedder
        self._reading = reading
        self._writing = writing
        self._host = host
        self._stop_hosting: Callable[[], None] | None = None
        # Held while there is no hub to send to, and by whoever sends.
        self._sending = threading.Lock()
        self._hub: socket.socket | None = None
        self._reader = FrameReader()
        self._early: list[Frame] = []
        self._number = 0
        self._lines: dict[int, PendingLine] = {}
        self._held = 0
        self._room = threading.Condition()
        self._kept: dict[str, bytes] = {}
        self._questions: dict[str, None] = {}
        self._settled = 0
        self._connections = 0
        self._not_before = 0.0

    def run(self) -> NoReturn:
        """Serve until the client is gone."""
        self._sending.acquire()
        threading.Thread(target=self._read_client, name="client", daemon=True).start()
        in_a_row = 0
        while True:
            self._connect()
            self._sending.release()
            begun = time.monotonic()
            try:
                for frame in self._hub_frames():
                    self._take(frame)
            except (OSError, BrokenFrame):
                pass
            self._sending.acquire()
            # What kills every hub at once must not keep the machine busy for ever.
            in_a_row = in_a_row + 1 if time.monotonic() - begun < SHORT_LIVED_SECONDS else 0
            if in_a_row > MAX_QUICK_DEATHS:
                time.sleep(SHORT_LIVED_SECONDS)

    def leave(self, code: int = 0) -> NoReturn:
        """End the process; nothing that was answered is lost."""
        if self._stop_hosting is not None:
            self._stop_hosting()
        os._exit(code)

    # the client's side

    def _read_client(self) -> None:
        splitter = LineSplitter()
        for chunk in self._chunks():
            for line in splitter.feed(chunk):
                self._from_client(line)
        self._finish()

    def _chunks(self) -> Iterator[bytes]:
        """Yield what comes; the end is the client's, or that of a parent which left without closing its pipes."""
        parent = os.getppid()
        last = time.monotonic()
        while True:
            if sys.platform != "win32" and not select.select([self._reading], [], [], _LOOK)[0]:
                if os.getppid() != parent and time.monotonic() - last > ORPHAN_TIMEOUT_SECONDS:
                    return
                continue
            try:
                chunk = os.read(self._reading, _CHUNK)
            except OSError:
                return
            if not chunk:
                return
            last = time.monotonic()
            yield chunk

    def _from_client(self, line: bytes | Oversized) -> None:
        if isinstance(line, Oversized):
            kept = PendingLine(protocol.OVERSIZED_LINE, str(len(line.head)), line.head + line.tail)
        elif line.strip():
            kept = PendingLine(protocol.LINE, "", line)
        else:
            return
        with self._room:
            self._room.wait_for(lambda: len(self._lines) < MAX_PENDING_LINES and self._held < MAX_PENDING_BYTES)
        with self._sending:
            with self._room:
                self._held += len(kept.payload)
            self._number += 1
            self._lines[self._number] = kept
            kept.sent = kept.begun = 1
            self._send(pack(kept.kind, kept.payload, self._number, kept.name))

    def _finish(self) -> NoReturn:
        """Let what was asked be answered, for a moment, and leave."""
        begun = time.monotonic()
        connected: float | None = None
        while any(not line.patient for line in list(self._lines.values())):
            now = time.monotonic()
            if connected is None and self._hub is not None:
                connected = now
            if now - (begun if connected is None else connected) > (
                FINAL_CONNECT_TIMEOUT_SECONDS if connected is None else GRACE
            ):
                break
            time.sleep(0.002)
        self.leave()

    def _to_client(self, line: bytes) -> None:
        rest = memoryview(line)
        try:
            while rest:
                rest = rest[os.write(self._writing, rest) :]
        except OSError:
            self.leave()

    # the hub's side

    def _connect(self) -> None:
        """Find a hub and tell it all that it must know; called with the right to send."""
        pause, begun = 0.0, time.monotonic()
        while True:
            self._hub = None
            try:
                connection = self._reached()
                self._reader = FrameReader()
                self._early = []
                hello = protocol.pack_fields([*self._hello, ("connection", str(self._connections))])
                connection.settimeout(WELCOME_TIMEOUT_SECONDS)
                connection.sendall(pack(protocol.HELLO, hello))
                self._welcome(connection)
                connection.settimeout(None)
            except (OSError, BrokenFrame):
                if time.monotonic() - begun > connecting.BUSY_TIMEOUT_SECONDS:
                    self._say(_BUSY.format(file=paths.PID))
                    self.leave(1)
                time.sleep(pause)
                pause = min(_MAX_RETRY_PAUSE_SECONDS, pause * 2 + 0.01)
                continue
            self._hub = connection
            self._connections += 1
            self._resume()
            return

    def _reached(self) -> socket.socket:
        try:
            return connecting.connect_or_start(self._home, self._embedder, os.environ, self._not_before)  # noqa: TID251 - handed on
        except connecting.HubUnavailable:
            connection, self._stop_hosting = self._host(self._home, self._embedder)
            self._say(_ALONE)
            return connection
        except connecting.HubNotAnswering:
            self._say(_BUSY.format(file=paths.PID))
            self.leave(1)

    def _welcome(self, connection: socket.socket) -> None:
        while True:
            chunk = connection.recv(_CHUNK)
            if not chunk:
                raise ConnectionResetError("the hub left")
            for frame in self._reader.feed(chunk):
                if frame.kind == protocol.REFUSED:
                    self._say("hybrid-memory-mcp: " + frame.payload.decode("utf-8", "replace"))
                    self.leave(1)
                self._early.append(frame)
            if self._early:
                return

    def _resume(self) -> None:
        """Send what an earlier hub knew, and what it did not settle."""
        for token in self._questions:
            self._to_client(cancel_server_request(token))
        self._questions.clear()
        for name, kept in list(self._kept.items()):
            self._send(pack(protocol.REPLAY, kept, 0, name))
        for number, line in sorted(self._lines.items()):
            if line.should_give_up:
                self._give_up(number, line)
                continue
            line.sent += 1
            self._send(pack(line.resend_kind, line.payload, number, line.name))

    def _give_up(self, number: int, line: PendingLine) -> None:
        """Answer a request that no hub survived."""
        answer = line.unknown_outcome_answer()
        if answer is not None:
            self._to_client(answer)
        self._settle(number)

    def _hub_frames(self) -> Iterator[Frame]:
        yield from self._early
        assert self._hub is not None  # noqa: S101 - `_connect` has just set it
        while chunk := self._hub.recv(_CHUNK):
            yield from self._reader.feed(chunk)

    def _take(self, frame: Frame) -> None:
        kind, line = frame.kind, self._lines.get(frame.number)
        if kind == protocol.ANSWER:
            # First to the client: as long as a line is not settled this process does not leave.
            if line is not None:
                self._to_client(frame.payload)
                self._settle(frame.number)
        elif kind == protocol.NOTIFICATION:
            self._to_client(frame.payload)
        elif kind == protocol.NO_ANSWER:
            self._settle(frame.number)
        else:
            self._note(frame, line)

    def _note(self, frame: Frame, line: PendingLine | None) -> None:
        """Note what later hubs will have to be told."""
        kind = frame.kind
        if kind == protocol.REMEMBER_LINE and line is not None:
            self._kept[frame.name] = line.payload
        elif kind == protocol.FORGET_LINE:
            self._kept.pop(frame.name, None)
        elif kind == protocol.STREAM_STARTED and line is not None:
            line.patient = True
        elif kind == protocol.WORK_STARTED and line is not None:
            line.begun += 1
        elif kind == protocol.SERVER_REQUEST:
            self._questions[frame.name] = None
            self._to_client(frame.payload)
        elif kind == protocol.SERVER_REQUEST_OVER:
            self._questions.pop(frame.name, None)
        elif kind == protocol.LEAVING:
            self._not_before = time.monotonic() + frame.number / 1000

    def _settle(self, number: int) -> None:
        line = self._lines.pop(number, None)
        if line is None:
            return
        with self._room:
            self._held -= len(line.payload)
            self._room.notify()
        self._settled += 1
        if self._settled % _REPORT_EVERY_LINES == 0 and self._hub is not None and self._sending.acquire(blocking=False):
            try:
                # A line that waits for news has no result that the hub would keep for it.
                open_lines = (number for number, line in self._lines.items() if not line.patient)
                self._send(pack(protocol.DELIVERED, b"", min(open_lines, default=self._number + 1) - 1))
            finally:
                self._sending.release()

    def _send(self, frame: bytes) -> None:
        """Send to the hub; if it is gone, the other thread will find out and send again what is not settled."""
        hub = self._hub
        if hub is not None:
            try:
                hub.sendall(frame)
            except OSError:
                pass

    def _say(self, text: str) -> None:
        try:
            os.write(2, text.encode("utf-8", "replace") + b"\n")
        except OSError:
            pass


def main(arguments: Sequence[str]) -> NoReturn:
    """Serve the client behind standard input and output."""
    environment = os.environ  # noqa: TID251 - what the client chose goes to the hub as it is
    try:
        # Whatever else this process should write to standard output must not reach the client.
        reading, writing = os.dup(0), os.dup(1)
        os.dup2(os.open(os.devnull, os.O_RDWR) if _is_closed(2) else 2, 1)
    except OSError:
        sys.exit("hybrid-memory-mcp: standard input or output is closed; start it from an MCP client")
    home = paths.store_folder(arguments, environment)
    variables = [f"{name}={value}" for name, value in environment.items() if name.startswith(_OURS) or name == "TZ"]
    hello = [
        ("protocol", str(protocol.PROTOCOL_VERSION)),
        ("version", __version__),
        ("relay", os.urandom(16).hex()),
        ("pid", str(os.getpid())),
        ("folder", _folder()),
        *(("argument", argument) for argument in arguments),
        *(("variable", variable) for variable in variables),
    ]
    relay = Relay(hello, home, paths.option(arguments, "--embedder"), reading, writing, _host)
    for name in ("SIGTERM", "SIGINT", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), lambda *_: relay.leave())
    relay.run()


def _is_closed(descriptor: int) -> bool:
    try:
        os.fstat(descriptor)
    except OSError:
        return True
    return False


def _folder() -> str:
    try:
        return os.getcwd()
    except OSError:
        return "/"


def _host(home: str, embedder: str | None) -> tuple[socket.socket, Callable[[], None]]:
    from importlib import import_module

    run = import_module("hybrid_memory_mcp.hub.run")
    found: tuple[socket.socket, Callable[[], None]] = run.host(home, embedder)
    return found
