"""Hubs and relays for tests: `FakeHub` (the test answers), `ThreadedHub` (the real one in a thread), `FakeRelay` (no process)."""

import json
import socket
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import anyio
from anyio.from_thread import BlockingPortal
from mcp import StdioServerParameters
from mcp.client import Client
from tests.server.raw import MODERN, outside, started
from tests.server.services import ObservedService

from hybrid_memory.testing import FakeClock, FakeRandomSource
from hybrid_memory_mcp import __version__
from hybrid_memory_mcp.hub.hub import Hub, HubResources
from hybrid_memory_mcp.hub.limits import HubLimits
from hybrid_memory_mcp.hub.listener import acquire_listener
from hybrid_memory_mcp.relay import protocol
from hybrid_memory_mcp.relay.connecting import StoreLock, connect
from hybrid_memory_mcp.relay.paths import START_LOCK
from hybrid_memory_mcp.relay.protocol import FrameReader, pack, pack_fields, read_fields
from hybrid_memory_mcp.runtime.provider import ServiceProvider

TIMEOUT_SECONDS = 60
KEY = b"k" * 32


@contextmanager
def short_folder() -> Iterator[Path]:
    """A folder whose path leaves room for a socket's name, which those of pytest may not."""
    with tempfile.TemporaryDirectory(prefix="hm-", ignore_cleanup_errors=True) as folder:
        yield Path(folder) / "home"


@contextmanager
def no_other_hub(home) -> Iterator[None]:
    """Keep relays from starting hubs of their own while the test's hub is away."""
    home.mkdir(0o700, parents=True, exist_ok=True)
    lock = StoreLock(str(home), START_LOCK)
    assert lock.try_acquire()
    try:
        yield
    finally:
        lock.release()


@contextmanager
def relay(home, *arguments, program=("-m", "hybrid_memory_mcp")):
    """A relay as a client starts it, in a process of its own."""
    with started(home, *arguments, program=program, alone=False) as client:
        yield client


@contextmanager
def relay_killed_at_end(home, *arguments, program=("-m", "hybrid_memory_mcp")):
    """A relay that is killed at the end, where it would wait for answers that nobody gives."""
    with relay(home, *arguments, program=program) as client:
        yield client
        client.process.kill()


class FrameSocket:
    """One end of a connection that speaks frames."""

    def __init__(self, connection):
        connection.settimeout(TIMEOUT_SECONDS)
        self.connection = connection
        self.reader = FrameReader()

    def send_frame(self, kind, payload=b"", number=0, name=""):
        self.connection.sendall(pack(kind, payload, number, name))

    def receive_frame(self, *kinds):
        """Return the next frame, or the next of some kinds; None at the other side's end."""
        while True:
            frame = next(self.reader.feed(b""), None)
            if frame is not None and (not kinds or frame.kind in kinds):
                return frame
            if frame is None:
                try:
                    chunk = self.connection.recv(1 << 16)
                except ConnectionError:
                    return None
                if not chunk:
                    return None
                self.reader._held += chunk

    def close(self):
        self.connection.close()


class AcceptedRelay(FrameSocket):
    """A relay that has connected to a `FakeHub`."""

    def welcome(self, program=protocol.PROGRAM):
        self.hear_hello()
        self.send_frame(protocol.WELCOME, b"{}", name=program)
        return self

    def hear_hello(self):
        frame = self.receive_frame()
        assert frame.kind == protocol.HELLO
        self.hello = read_fields(frame.payload)

    def hello_values(self, name):
        return [value for field, value in self.hello if field == name]

    def line(self):
        """Return number and message of the next line of the client."""
        frame = self.receive_frame(
            protocol.LINE, protocol.RETRY, protocol.RESUBSCRIBE, protocol.OVERSIZED_LINE, protocol.REPLAY
        )
        return frame.number, json.loads(frame.payload)

    def lines(self, count):
        """Return kind, number and method of the next lines."""
        found = (
            self.receive_frame(protocol.LINE, protocol.RETRY, protocol.RESUBSCRIBE, protocol.REPLAY)
            for _ in range(count)
        )
        return [(frame.kind, frame.number, json.loads(frame.payload)["method"]) for frame in found]

    def begin(self, *numbers, again):
        """Tell the relay that work on these lines begins, as hubs do for lines that are sent ``again``."""
        if again:
            for number in numbers:
                self.send_frame(protocol.WORK_STARTED, b"", number)

    def answer(self, number, request_id, **result):
        message = {"jsonrpc": "2.0", "id": request_id, "result": result}
        self.send_frame(protocol.ANSWER, json.dumps(message).encode() + b"\n", number)


class FakeHub:
    """Listens where relays look for a hub; the test says what the hub answers."""

    def __init__(self, home):
        home.mkdir(0o700, parents=True, exist_ok=True)
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.listener.settimeout(TIMEOUT_SECONDS)
        self.listener.bind(str(home / "hub.sock"))
        self.listener.listen(8)
        self.accepted = []

    def accept(self):
        relay = AcceptedRelay(self.listener.accept()[0])
        self.accepted.append(relay)
        return relay

    def welcome(self, program=protocol.PROGRAM):
        return self.accept().welcome(program)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.close()
        for relay in self.accepted:
            relay.close()


class FakeRelay(FrameSocket):
    """A relay without a process: it speaks to a hub as relays do."""

    def __init__(
        self,
        connection,
        *,
        relay="0" * 32,
        times=0,
        arguments=(),
        variables=(),
        program=protocol.PROGRAM,
        folder="/",
        operation=None,
    ):
        super().__init__(connection)
        self.sent = 0
        fields = [
            ("protocol", str(protocol.PROTOCOL_VERSION)),
            ("version", __version__),
            ("program", program),
            *(() if operation is None else (("operation", operation), ("given", '{"pause": 3000}'))),
            ("relay", relay),
            ("pid", "4711"),
            *(() if folder is None else (("folder", str(folder)),)),
            *(("argument", one) for one in arguments),
            *(("variable", one) for one in variables),
            ("connection", str(times)),
        ]
        self.send_frame(protocol.HELLO, pack_fields(fields))

    def welcomed(self):
        frame = self.receive_frame()
        assert frame is not None
        assert frame.kind == protocol.WELCOME, frame.payload
        return self

    def send(self, message, *, kind=protocol.LINE, number=None):
        self.sent = self.sent + 1 if number is None else number
        line = message if isinstance(message, bytes) else json.dumps(message).encode()
        self.send_frame(kind, line, self.sent)
        return self.sent

    def request(self, request_id, method, *, kind=protocol.LINE, number=None, **params):
        message = {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}
        return self.send(message, kind=kind, number=number)

    def notify(self, method, **params):
        return self.send({"jsonrpc": "2.0", "method": method, "params": params})

    def answer(self):
        """Return the number and the message of the next answer."""
        frame = self.receive_frame(protocol.ANSWER)
        return frame.number, json.loads(frame.payload)

    def ask(self, method, **params):
        """Return what a request of the newest protocol gives."""
        number = self.sent + 1
        self.request(number, method, _meta=MODERN, **params)
        answered, message = self.answer()
        assert answered == number
        return message

    def call(self, name, **arguments):
        return self.ask("tools/call", name=name, arguments=arguments)["result"]


class ThreadedHub:
    """The hub in a thread of this process, over a service of the test's choice."""

    def __init__(self, home, service, *, provider=None, key=KEY, first=None, **limits):
        self.home = home
        self.service = service
        self.provider = provider or ServiceProvider(lambda: service)
        self.resources = HubResources(
            home=home,
            provider=self.provider,
            clock=FakeClock(),
            random_source=FakeRandomSource(3),
            state_key=key,
            limits=HubLimits(**{"linger_seconds": 60} | limits),
        )
        self.listener = acquire_listener(home)
        assert self.listener is not None
        self._first = first
        self._ready = threading.Event()
        self._thread = threading.Thread(target=anyio.run, args=(self._serve,))
        self._thread.start()
        assert self._ready.wait(TIMEOUT_SECONDS)

    async def _serve(self):
        self.hub = Hub(self.resources)
        with anyio.CancelScope() as self._scope:
            async with BlockingPortal() as self.portal:
                self._ready.set()
                await self.hub.serve(self.listener, self._first)

    def kill(self):
        """End as a killed process does: no goodbye, and every connection is cut."""
        with suppress(RuntimeError):
            self.portal.start_task_soon(self._scope.cancel)
        self.wait()

    def leave(self, pause=0):
        self.portal.start_task_soon(self.hub.leave, pause)

    def wait(self):
        self._thread.join(TIMEOUT_SECONDS)
        assert not self._thread.is_alive()
        if self.listener is not None:
            self.listener.close()
            self.listener.release()
            self.listener = None

    def connect(self, **about):
        connection = connect(str(self.home))
        assert connection is not None
        return FakeRelay(connection, **about)

    @contextmanager
    def connected(self, **about):
        client = self.connect(**about)
        try:
            yield client.welcomed()
        finally:
            client.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()


def reading(client, request_id, query="wait", **more):
    """Let a client send a read, without waiting for its answer."""
    params = {"name": "read_memories", "arguments": {"query": query}, "_meta": MODERN}
    return client.request(request_id, "tools/call", **params, **more)


def client_of(home, *arguments, cwd=None, **options):
    """The SDK's client, with a relay in a process of its own as its server, which is at work in ``cwd``."""
    command = ["-m", "hybrid_memory_mcp", "--home", str(home), *arguments]
    return Client(StdioServerParameters(command=sys.executable, args=command, cwd=cwd or outside()), **options)


class BlockingService(ObservedService):
    """A memory whose reads with the query "wait" last until they are let go."""

    def __init__(self):
        super().__init__()
        self.begun = []
        self.go = threading.Event()
        self._changed_here = threading.Condition()

    def read(self, scope, request):
        if request.query == "wait":
            with self._changed_here:
                self.begun.append(scope.session)
                self._changed_here.notify_all()
            assert self.go.wait(TIMEOUT_SECONDS)
        return super().read(scope, request)

    def wait_for(self, count):
        with self._changed_here:
            assert self._changed_here.wait_for(lambda: len(self.begun) >= count, TIMEOUT_SECONDS)


def ping(number):
    return {"jsonrpc": "2.0", "id": number, "method": f"ping{number}"}
