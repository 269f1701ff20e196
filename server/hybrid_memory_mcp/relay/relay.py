"""The relay: carries a client's lines to the hub and the hub's lines to the client, and goes on with the next hub when one dies.

Two threads carry lines: one reads the client (`_read_client`), the main one reads the hub (`run`). A line of the client gets a number
and is kept until the hub has answered it.

What happens when the hub dies between the commit of a write and its answer:

1. `run` sees the connection end. The line is still among ``_pending``, because no `ANSWER` frame came for it.
2. `_connect` finds or starts the next hub and says hello with the same name of the relay (``relay``, 128 random bits).
3. `_resume` sends what later hubs must know of the conversation (`REPLAY`) and every pending line, in their order and with their
   old numbers (`RETRY`).
4. The new hub makes the same request key of the relay's name and the line's number. The store kept the result under it in the
   transaction of the write, so the hub answers from there and writes nothing (``hub/client.py``, ``hybrid_memory/service/idempotency.py``).
5. Now and then `DELIVERED` tells the hub up to which line the client has its answers; it deletes those results.

A hub that hangs does not end its connection. A third thread (`_watch_hub`) asks its heartbeat while requests wait, and ends one that has
hung (``heartbeat.py``); from there on it is as above.
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
from hybrid_memory_mcp.relay.chosen_store import variables_for_hub
from hybrid_memory_mcp.relay.pending import PendingLine, cancel_server_request
from hybrid_memory_mcp.relay.protocol import BrokenFrame, Frame, FrameReader, LineSplitter, Oversized, pack

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Any, NoReturn

    HostHub = Callable[..., tuple[socket.socket, Callable[[], None]]]

# At the end of input, for what was asked before: most calls take milliseconds, and clients kill what stays for two seconds.
DRAIN_TIMEOUT_SECONDS = 1.5
# At the end of input while there is no hub yet: starting one takes about a second, many on a busy machine.
FINAL_CONNECT_TIMEOUT_SECONDS = 15.0
# For the hub's first frame, which it sends when all its modules are imported; a cold disk may need ten seconds.
WELCOME_TIMEOUT_SECONDS = 30.0
# A relay whose parent is gone but whose pipes are open leaves after so long without a line: a wrapper may just be replaced.
ORPHAN_TIMEOUT_SECONDS = 5.0
# The client is not read any further while this much waits for answers; more than any client sends in earnest.
MAX_PENDING_LINES = 10_000
MAX_PENDING_BYTES = 64 * 1024 * 1024
# Hubs that die within a second, ten in a row, are all killed by the same thing: from then on one a second is enough.
SHORT_LIVED_SECONDS = 1.0
MAX_QUICK_DEATHS = 10

_ASK_AGAIN_SECONDS = 3.0 * connecting.PATIENCE  # after the first question to a hub that is at work for long
_ORPHAN_CHECK_SECONDS = 2.0  # cheap enough to be done by a hundred idle relays
_MAX_RETRY_PAUSE_SECONDS = 0.5  # between attempts to reach a hub that is just leaving
_POLL_SECONDS = 0.002  # only while the process is about to leave
_DELIVERED_EVERY_LINES = 64  # the hub then deletes stored results; each costs a few hundred bytes until that
_CHUNK_BYTES = 1 << 16  # 64 KiB: what a read of a pipe or socket gives at most
_OTHER_VARIABLES = (
    "TZ",
    "CLAUDE_PROJECT_DIR",
)  # the zone of the client, and the project that Claude Code is at work in
_NO_HUB = "hybrid-memory-mcp: no hub could be started, so this process serves its client itself"
_REPLACED = "hybrid-memory-mcp: the memory's hub (process {pid}) had hung and was ended; another takes its place"


class _Refused(Exception):
    """The hub does not serve this client; the argument is its sentence."""


class _OlderHub(ConnectionError):
    """The hub runs an older program than this relay, which replaces it."""


class Relay:
    """Serves one client over two descriptors.

    ``host`` runs a hub in this process: where none can be started, or from the beginning with ``standalone``. ``refusal`` is why
    no hub would serve this client, if that is known already.
    """

    def __init__(
        self,
        hello: Sequence[tuple[str, str]],
        home: str,
        embedder: str | None,
        reading: int,
        writing: int,
        host: HostHub,
        *,
        standalone: bool = False,
        refusal: str | None = None,
    ) -> None:
        self._hello = hello
        self._home = home
        self._embedder = embedder
        self._reading = reading
        self._writing = writing
        self._host = host
        self._standalone = standalone
        self._refusal = refusal
        self._stop_hosting: Callable[[], None] | None = None
        self._hosts = False  # whether the hub of the moment is in this process
        self._leaving = False
        # Held by anyone who sends, and while a hub is exchanged. Without a hub lines are kept, and sent by `_resume` in their order.
        self._sending = threading.Lock()
        # Why nothing is answered: what a thread saw of a hub that hangs and cannot be ended, or what a person was told last.
        self._problem: str | None = None
        self._told: str | None = None
        self._line_came = threading.Event()
        self._hub: socket.socket | None = None
        self._reader = FrameReader()
        self._frames_after_welcome: list[Frame] = []
        self._number = 0  # of the last line of the client
        self._pending: dict[int, PendingLine] = {}  # lines without an answer, by number
        self._pending_bytes = 0
        self._capacity = threading.Condition()  # guards ``_pending_bytes``
        self._remembered: dict[
            str, bytes
        ] = {}  # lines that every later hub is sent first, by the name that the hub gave
        self._server_requests: dict[str, None] = {}  # what the hub asked the client and the client has not answered
        self._finished = 0  # lines that got their answers
        self._connections = 0  # hubs so far
        self._heard = 0  # what has come from hubs so far, in chunks: signs of life
        self._watching = threading.Event()  # set while a request may wait
        self._not_before = 0.0  # the monotonic time from which this relay may start a hub
        self._replaces = False  # whether the hub that was found last runs an older program

    def run(self) -> NoReturn:
        """Serve until the client is gone: the loop of the main thread, one turn for each hub."""
        if self._refusal is not None:
            self._tell_person(self._refusal)
        # The client is read from the beginning. What it says before there is a hub is kept.
        threading.Thread(target=self._read_client, name="client", daemon=True).start()
        threading.Thread(target=self._watch_hub, name="watch", daemon=True).start()
        quick_deaths = 0
        while True:
            # Find or start a hub and send it what an earlier one did not answer; only then may new lines follow.
            connection = self._connect()
            with self._sending:
                self._hub, self._problem = connection, None
                self._connections += 1
                self._resume()
            begun = time.monotonic()
            # Carry the hub's frames to the client until the hub is gone.
            try:
                for frame in self._hub_frames():
                    self._take(frame)
            except (OSError, BrokenFrame):
                pass
            # From here on the client's lines are kept and not sent, until `_resume` has sent the older ones.
            with self._sending:
                self._hub = None
            if self._leaving:
                threading.Event().wait()  # the other thread has ended the hub, and ends this process
            if self._problem is not None:
                self._answer_all(self._problem)
            quick_deaths = quick_deaths + 1 if time.monotonic() - begun < SHORT_LIVED_SECONDS else 0
            if quick_deaths > MAX_QUICK_DEATHS:
                time.sleep(SHORT_LIVED_SECONDS)

    def leave(self, code: int = 0) -> NoReturn:
        """End the process; nothing that was answered is lost. Called in either thread and by signals."""
        self._leaving = True
        if self._stop_hosting is not None:
            self._stop_hosting()
        os._exit(code)

    # the client's side

    def _read_client(self) -> None:
        """Take the client's lines until its end: the work of the thread ``client``."""
        splitter = LineSplitter()
        for chunk in self._client_chunks():
            for line in splitter.feed(chunk):
                self._take_client_line(line)
        self._finish()

    def _client_chunks(self) -> Iterator[bytes]:
        """Yield what comes; the end is the client's, or that of a parent which left without closing its pipes."""
        parent = os.getppid()
        last = time.monotonic()
        while True:
            if sys.platform != "win32" and not select.select([self._reading], [], [], _ORPHAN_CHECK_SECONDS)[0]:
                # A sibling that inherited the pipe can keep it open forever; another parent tells that ours has died.
                if os.getppid() != parent and time.monotonic() - last > ORPHAN_TIMEOUT_SECONDS:
                    return
                continue
            try:
                chunk = os.read(self._reading, _CHUNK_BYTES)
            except OSError:
                return
            if not chunk:
                return
            last = time.monotonic()
            yield chunk

    def _take_client_line(self, line: bytes | Oversized) -> None:
        if isinstance(line, Oversized):
            pending = PendingLine(protocol.OVERSIZED_LINE, str(len(line.head)), line.head + line.tail)
        elif line.strip():
            pending = PendingLine(protocol.LINE, "", line)
        else:
            return
        # Stop reading while too much is unanswered: the client's pipe fills, and the client waits.
        with self._capacity:
            self._capacity.wait_for(
                lambda: len(self._pending) < MAX_PENDING_LINES and self._pending_bytes < MAX_PENDING_BYTES
            )
        # Kept before it is sent: if the hub dies at any moment from here on, the next one gets the line.
        with self._sending:
            with self._capacity:
                self._pending_bytes += len(pending.payload)
            self._number += 1
            self._pending[self._number] = pending
            if self._hub is not None:
                self._send(pack(pending.begin_sending(), pending.payload, self._number, pending.name))
            else:
                self._line_came.set()
        if not self._watching.is_set():  # a conversation finds it set: waking the other thread would cost each call
            self._watching.set()

    def _finish(self) -> NoReturn:
        """Let what was asked be answered, for a moment, and leave."""
        begun = time.monotonic()
        connected: float | None = None
        while self._is_waiting():
            now = time.monotonic()
            if connected is None and self._hub is not None:
                connected = now
            if connected is None and now - begun > FINAL_CONNECT_TIMEOUT_SECONDS:
                break
            if connected is not None and now - connected > DRAIN_TIMEOUT_SECONDS:
                break
            time.sleep(_POLL_SECONDS)
        self.leave(0 if self._told is None else 1)

    def _to_client(self, line: bytes) -> None:
        rest = memoryview(line)
        try:
            while rest:
                rest = rest[os.write(self._writing, rest) :]
        except OSError:
            self.leave()  # the client no longer listens

    # the hub's side

    def _connect(self) -> socket.socket:
        """Return a connection to a hub that serves this client.

        While none does, what the client asks is answered with the reason, and each line that follows tries again.
        """
        pause, begun = 0.0, time.monotonic()
        while True:
            # Connect, say who this is, and wait for the hub's first frame, which it sends when it can serve.
            try:
                connection = self._open_connection()
                self._reader = FrameReader()
                self._frames_after_welcome = []
                hello = protocol.pack_fields([*self._hello, ("connection", str(self._connections))])
                connection.settimeout(WELCOME_TIMEOUT_SECONDS)
                connection.sendall(pack(protocol.HELLO, hello))
                connection.settimeout(None)
                self._await_welcome(connection)
            except (_Refused, connecting.HubNotAnswering) as error:
                self._answer_all(str(error))
            except (OSError, BrokenFrame) as error:
                # A hub that is just leaving, that was killed before its welcome, or that is older: another one is found or started.
                self._replaces = isinstance(error, _OlderHub)
                if time.monotonic() - begun <= connecting.BUSY_TIMEOUT_SECONDS:
                    time.sleep(pause)
                    pause = min(_MAX_RETRY_PAUSE_SECONDS, pause * 2 + 0.01)
                    continue
                self._answer_all(connecting.OLDER_HUB if self._replaces else connecting.BUSY)
            else:
                self._told = None
                return connection
            pause, begun = 0.0, time.monotonic()

    def _open_connection(self) -> socket.socket:
        if self._refusal is not None:
            raise _Refused(self._refusal)
        if self._standalone:
            return self._host_hub()
        self._hosts = False
        until = time.monotonic() + connecting.BUSY_TIMEOUT_SECONDS if self._replaces else None
        self._replaces = False
        environment = os.environ  # noqa: TID251 - handed on
        try:
            return connecting.connect_or_start(
                self._home, self._embedder, environment, self._not_before, replace_until=until
            )
        except connecting.HubUnavailable as error:
            connection = self._host_hub()
            self._say("; ".join([_NO_HUB, *map(str, error.args)]))
            return connection

    def _host_hub(self) -> socket.socket:
        if self._stop_hosting is not None:
            self._stop_hosting()  # one that failed: its store must be closed before the next one opens it
        self._hosts = True
        connection, self._stop_hosting = self._host(self._home, self._embedder, standalone=self._standalone)
        return connection

    def _await_welcome(self, connection: socket.socket) -> None:
        begun = time.monotonic()
        while True:
            if not _is_readable(connection, connecting.ASK_AFTER_SECONDS):
                if not self._hosts:
                    self._replace_hung_hub(lambda: not _is_readable(connection, 0))
                if time.monotonic() - begun > WELCOME_TIMEOUT_SECONDS:
                    raise TimeoutError
                continue
            chunk = connection.recv(_CHUNK_BYTES)
            if not chunk:
                raise ConnectionResetError("the hub left")
            for frame in self._reader.feed(chunk):
                if frame.kind == protocol.REFUSED:
                    connection.close()
                    raise _Refused(frame.payload.decode("utf-8", "replace"))
                if frame.kind == protocol.WELCOME and protocol.is_older(frame.name):
                    connection.close()
                    raise _OlderHub
                self._frames_after_welcome.append(frame)
            if self._frames_after_welcome:
                return

    def _watch_hub(self) -> NoReturn:
        """Ask, while requests wait and nothing comes, whether the hub is there: the work of the thread ``watch``.

        It sleeps as long as no request waits.
        """
        pause = connecting.ASK_AFTER_SECONDS
        while True:
            self._watching.wait()
            heard, hub = self._heard, self._hub
            time.sleep(pause)
            pause = connecting.ASK_AFTER_SECONDS
            if not self._is_waiting():
                self._watching.clear()
                if self._is_waiting():  # a line that came just before
                    self._watching.set()
            elif hub is not None and self._is_silent(hub, heard) and not self._hosts:
                self._ask_hub(hub, heard)
                pause = _ASK_AGAIN_SECONDS

    def _ask_hub(self, hub: socket.socket, heard: int) -> None:
        try:
            self._replace_hung_hub(lambda: self._is_silent(hub, heard))
        except (connecting.HubNotAnswering, OSError) as error:
            # The main thread tells the client.
            if isinstance(error, connecting.HubNotAnswering) and self._hub is hub:
                self._problem = str(error)
            try:
                hub.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def _replace_hung_hub(self, wanted: Callable[[], bool]) -> None:
        """End the hub if it has hung. Its connection then ends, and the main thread goes on as with any hub that died."""
        ended = connecting.replace_hung_hub(self._home, wanted)
        if ended is not None:
            self._say(_REPLACED.format(pid=ended))

    def _is_silent(self, hub: socket.socket, heard: int) -> bool:
        """Whether a request waits for this hub and nothing has come since."""
        return self._hub is hub and self._heard == heard and self._is_waiting()

    def _is_waiting(self) -> bool:
        """Whether a request has no answer; a stream of news has none."""
        return any(not line.is_stream for line in list(self._pending.values()))

    def _answer_all(self, problem: str) -> None:
        """Tell client and person why nothing is answered, and return when the client says something else.

        This process stays: clients seldom start a server again, and what is wrong may pass, as with a hub that is stopped.
        """
        self._problem = None
        self._tell_person(problem)
        if os.isatty(self._reading):
            self.leave(1)  # a person typed a command, and reads no JSON
        self._line_came.clear()
        kept = list(self._pending.items())  # in the order of their numbers; the other thread may add more
        for number, pending in kept:
            if not pending.is_stream:  # it begins again with the next hub
                self._give_up(number, pending, problem)
        if not self._is_waiting():
            self._line_came.wait()

    def _tell_person(self, problem: str) -> None:
        if self._told != problem:
            self._told = problem
            self._say("hybrid-memory-mcp: " + problem)

    def _resume(self) -> None:
        """Send what an earlier hub knew and did not answer; at the first hub that is what the client sent meanwhile."""
        # The client must not answer what a dead hub asked: nobody waits for that any more.
        for token in self._server_requests:
            self._to_client(cancel_server_request(token))
        self._server_requests.clear()
        for name, line in list(self._remembered.items()):
            self._send(pack(protocol.REPLAY, line, 0, name))
        for number, pending in sorted(self._pending.items()):  # no line is added: who sends holds ``_sending``
            if pending.should_give_up:
                self._give_up(number, pending)
                continue
            self._send(pack(pending.begin_sending(), pending.payload, number, pending.name))

    def _give_up(self, number: int, pending: PendingLine, problem: str | None = None) -> None:
        """Answer a request that no hub survived, or that none will answer because of a problem."""
        answer = pending.unknown_outcome_answer(problem)
        if answer is not None:
            self._to_client(answer)
        self._forget(number)

    def _hub_frames(self) -> Iterator[Frame]:
        """Yield the hub's frames until it is gone, first those that came with its welcome."""
        yield from self._frames_after_welcome
        assert self._hub is not None  # noqa: S101 - `_connect` has just set it
        while chunk := self._hub.recv(_CHUNK_BYTES):
            self._heard += 1
            yield from self._reader.feed(chunk)

    def _take(self, frame: Frame) -> None:
        """Pass one frame of the hub on to the client, or note what it says."""
        kind, pending = frame.kind, self._pending.get(frame.number)
        if kind == protocol.ANSWER:
            # First to the client: as long as a line is pending this process does not leave.
            if pending is not None:
                self._to_client(frame.payload)
                self._forget(frame.number)
        elif kind == protocol.NOTIFICATION:
            self._to_client(frame.payload)
        elif kind == protocol.NO_ANSWER:
            self._forget(frame.number)
        elif kind == protocol.REFUSED:
            # It leaves now, and the client hears why when it has.
            self._problem = frame.payload.decode("utf-8", "replace")
            for line in list(self._pending.values()):
                line.take_back()
        else:
            self._note(frame, pending)

    def _note(self, frame: Frame, pending: PendingLine | None) -> None:
        """Note what later hubs will have to be told."""
        kind = frame.kind
        if kind == protocol.REMEMBER_LINE and pending is not None:
            self._remembered[frame.name] = pending.payload
        elif kind == protocol.REMEMBER_LINE and frame.payload:
            self._remembered[frame.name] = frame.payload
        elif kind == protocol.FORGET_LINE:
            self._remembered.pop(frame.name, None)
        elif kind == protocol.STREAM_STARTED and pending is not None:
            pending.is_stream = True
        elif kind == protocol.WORK_STARTED and pending is not None:
            pending.attempts += 1
        elif kind == protocol.SERVER_REQUEST:
            self._server_requests[frame.name] = None
            self._to_client(frame.payload)
        elif kind == protocol.SERVER_REQUEST_OVER:
            self._server_requests.pop(frame.name, None)
        elif kind == protocol.LEAVING:
            self._not_before = time.monotonic() + frame.number / 1000

    def _forget(self, number: int) -> None:
        """Keep a line no longer; now and then tell the hub up to where nothing is pending."""
        pending = self._pending.pop(number, None)
        if pending is None:
            return
        with self._capacity:
            self._pending_bytes -= len(pending.payload)
            self._capacity.notify()
        self._finished += 1
        # Never wait here: the thread that reads the client may hold the lock because the hub does not read, and the hub may not
        # read because this thread does not.
        due = self._finished % _DELIVERED_EVERY_LINES == 0 and self._hub is not None
        if due and self._sending.acquire(blocking=False):
            try:
                # A stream has no result that the hub would keep for it.
                open_lines = (number for number, line in self._pending.items() if not line.is_stream)
                self._send(pack(protocol.DELIVERED, b"", min(open_lines, default=self._number + 1) - 1))
            finally:
                self._sending.release()

    def _send(self, frame: bytes) -> None:
        """Send to the hub; if it is gone, the other thread will find out and send again what is not answered."""
        hub = self._hub
        if hub is not None:
            try:
                hub.sendall(frame)
            except OSError:
                pass

    def _say(self, text: str) -> None:
        """Print a line for a person; standard output belongs to the protocol."""
        try:
            os.write(2, text.encode("utf-8", "replace") + b"\n")
        except OSError:
            pass


def main(arguments: Sequence[str]) -> NoReturn:
    """Serve the client behind standard input and output; with ``--standalone`` by a hub in this process."""
    environment = os.environ  # noqa: TID251 - what the client chose goes to the hub as it is
    try:
        reading, writing = _claim_standard_streams()
    except OSError:
        sys.exit("hybrid-memory-mcp: standard input or output is closed; start it from an MCP client")
    home = paths.store_folder(arguments, environment)
    hello = [
        ("protocol", str(protocol.PROTOCOL_VERSION)),
        ("version", __version__),
        ("program", protocol.PROGRAM),
        ("relay", os.urandom(16).hex()),
        ("pid", str(os.getpid())),
        ("folder", _working_folder()),
        *(("argument", argument) for argument in arguments),
        *(("variable", variable) for variable in variables_for_hub(environment, _OTHER_VARIABLES)),
    ]
    embedder = paths.option(arguments, "--embedder")
    standalone = "--standalone" in arguments
    refusal = _wrong_option(arguments, environment) if standalone else None
    relay = Relay(hello, home, embedder, reading, writing, _host, standalone=standalone, refusal=refusal)
    for name in ("SIGTERM", "SIGINT", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), lambda *_: relay.leave())
    relay.run()


def _is_readable(connection: socket.socket, timeout_seconds: float) -> bool:
    return bool(select.select([connection], [], [], timeout_seconds)[0])


def _claim_standard_streams() -> tuple[int, int]:
    """Return descriptors that lead to the client.

    From now on whatever else in this process, or a child of it, prints goes to standard error, and reads find nothing.

    Raises:
        OSError: standard input or output is closed.
    """
    reading, writing = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing if _is_closed(2) else 2, 1)
    os.close(nothing)
    return reading, writing


def _is_closed(descriptor: int) -> bool:
    try:
        os.fstat(descriptor)
    except OSError:
        return True
    return False


def _working_folder() -> str:
    try:
        return os.getcwd()
    except OSError:
        return "/"


def _wrong_option(arguments: Sequence[str], environment: Mapping[str, str]) -> str | None:
    """Return what is wrong with an option, before the second that importing the hub takes.

    A hub that is no part of this process checks the options itself, when it has read the hello.
    """
    client_options = _import_module("hybrid_memory_mcp.runtime.client_options")
    try:
        client_options.read_options(arguments, environment)
    except client_options.InvalidInput as error:
        return str(error)
    return None


def _host(home: str, embedder: str | None, *, standalone: bool) -> tuple[socket.socket, Callable[[], None]]:
    run = _import_module("hybrid_memory_mcp.hub.run")
    found: tuple[socket.socket, Callable[[], None]] = run.host(home, embedder, standalone=standalone)
    return found


def _import_module(name: str) -> Any:
    """Import a module of the hub, which this module does not know otherwise."""
    import gc
    from importlib import import_module

    # Collecting garbage while thousands of classes are made costs a third of the time that importing takes (measured, mcp 2.3).
    gc.disable()
    module = import_module(name)
    gc.enable()
    gc.freeze()
    return module
