"""The page's server inside the hub: how long it is there, for whom, and what it does not do to the hub's clients."""

from __future__ import annotations

import http.client
import json
import socket
import sys
import threading
from types import SimpleNamespace

import pytest
from tests.server.hubs import TIMEOUT_SECONDS, FrameSocket, ThreadedHub
from tests.server.services import ObservedService

from hybrid_memory.model import Scope
from hybrid_memory.requests import WriteRequest
from hybrid_memory_inspector import inspection
from hybrid_memory_inspector.page import listening
from hybrid_memory_mcp import __version__
from hybrid_memory_mcp.relay import protocol
from hybrid_memory_mcp.relay.connecting import connect
from hybrid_memory_mcp.relay.protocol import pack_fields

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Unix sockets")


@pytest.fixture(autouse=True)
def no_network(monkeypatch):
    """These tests may speak to this machine."""
    real = socket.socket.connect

    def connect_here(self, address):
        assert self.family == socket.AF_UNIX or address[0].startswith("127."), "a test spoke to a network"
        return real(self, address)

    monkeypatch.setattr(socket.socket, "connect", connect_here)


OPENED = []


@pytest.fixture(autouse=True)
def closed_in_the_end():
    """Close what a test opened."""
    yield
    while OPENED:
        OPENED.pop().close()


@pytest.fixture(autouse=True)
def page(monkeypatch):
    """A page that says whose it is and what it was asked for; `made` are the resources that pages were made of."""
    told_of = SimpleNamespace(made=[])

    def build(resources):
        told_of.made.append(resources)

        async def app(scope, receive, send):
            del receive
            count = await resources.memory.call(lambda service: service.status(resources.scope).memories)
            told = {"namespaces": resources.scope.namespaces, "path": scope["path"], "memories": count}
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": json.dumps(told).encode()})

        return app

    monkeypatch.setattr(inspection, "build_page_app", build)
    return told_of


@pytest.fixture
def hub(home):
    with ThreadedHub(home, ObservedService()) as real:
        yield real


class Command(FrameSocket):
    """An ``inspect``, without its process."""

    def __init__(self, home, **given):
        super().__init__(connect(str(home)))
        OPENED.append(self)
        fields = {
            "protocol": str(protocol.PROTOCOL_VERSION),
            "version": __version__,
            "relay": "0" * 32,
            "pid": "4711",
            "operation": "inspect",
            "given": json.dumps(given),
        }
        self.send_frame(protocol.HELLO, pack_fields(list(fields.items())))

    def told(self):
        frame = self.receive_frame()
        return None if frame is None else json.loads(frame.payload)

    def opened(self):
        self.url = self.told()["url"]
        return self

    def __enter__(self):
        return self.opened()

    def __exit__(self, *_):
        self.close()


class Browser:
    """A browser, as far as cookies go."""

    def __init__(self, url):
        self.host, _, self.path = url.removeprefix("http://").partition("/")
        self.cookie = ""

    def get(self, path, method="GET", **headers):
        connection = http.client.HTTPConnection(self.host, timeout=TIMEOUT_SECONDS)
        connection.request(method, path, headers={"cookie": self.cookie} | headers)
        answer = connection.getresponse()
        if "set-cookie" in answer.headers:
            self.cookie = answer.headers["set-cookie"].partition(";")[0]
        found = SimpleNamespace(status=answer.status, headers=answer.headers, body=answer.read())
        connection.close()
        return found

    def enter(self):
        assert self.get("/" + self.path).status == 303
        return self

    def events(self):
        """Connect to the stream of events; returns what it is read from."""
        connection = http.client.HTTPConnection(self.host, timeout=TIMEOUT_SECONDS)
        connection.request("GET", "/events", headers={"cookie": self.cookie})
        answer = connection.getresponse()
        OPENED.extend((answer, connection))
        assert answer.status == 200
        return answer


def next_event(answer):
    """Return kind and data of the next event of a stream; None at its end."""
    kind = None
    while line := answer.readline():
        name, _, value = line.decode().strip().partition(": ")
        if name == "event":
            kind = value
        elif name == "data":
            return kind, json.loads(value)
    return None


def ended(hub, url):
    """Wait until nobody listens there any more."""
    host, _, port = url.removeprefix("http://").partition("/")[0].rpartition(":")
    wait_for(lambda: hub.hub._lasting["inspect"]._serving is None)
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((host, int(port)), timeout=TIMEOUT_SECONDS).close()
    return True


@pytest.mark.slow
def test_the_address_opens_the_page_of_the_place_where_the_command_was_called(home, hub):
    with Command(home, namespace="project:band", personal="default") as command:
        shown = Browser(command.url).enter().get("/timeline")
        assert json.loads(shown.body) == {"namespaces": ["project:band", "default"], "path": "/timeline", "memories": 0}


def test_what_is_done_on_the_page_is_a_persons(home, hub, page):
    with Command(home):
        assert page.made[0].scope.actor == "person (page)"


def test_the_page_has_an_address_of_its_own_where_the_system_has_several(home, hub):
    with Command(home) as command:
        host = command.url.removeprefix("http://").partition(":")[0]
        assert host.startswith("127.")
        assert (host != "127.0.0.1") == (sys.platform == "linux" and not listening._is_inside_windows())


def test_a_second_command_joins_the_server_with_a_token_and_a_place_of_its_own(home, hub):
    with Command(home) as first:
        second = Command(home, namespace="other", port=1)
        told = second.told()
        assert told["joined"]
        one, other = Browser(first.url).enter(), Browser(told["url"]).enter()
        assert one.host == other.host
        assert json.loads(one.get("/").body)["namespaces"] == ["default"]
        assert json.loads(other.get("/").body)["namespaces"] == ["other"]
        second.close()
        assert one.get("/").status == 200


def test_with_the_last_command_the_server_ends_and_the_page_is_told(home, hub):
    command = Command(home).opened()
    browser = Browser(command.url).enter()
    events = browser.events()
    assert next_event(events)[0] == "hello"
    command.close()
    assert next_event(events) == ("bye", {"reason": "ended"})
    assert next_event(events) is None
    assert ended(hub, command.url)


def test_tokens_and_cookies_die_with_the_server(home, hub):
    with Command(home) as command:
        browser = Browser(command.url).enter()
    assert ended(hub, command.url)
    host, _, port = browser.host.rpartition(":")
    with Command(home, host=host, port=int(port)) as again:
        assert again.url.partition("?")[0] == command.url.partition("?")[0]
        assert browser.get("/").status == 403
        assert browser.get("/" + browser.path).status == 403


def test_a_token_that_was_not_used_goes_with_its_command(home, hub):
    with Command(home) as staying:
        with Command(home) as leaving:
            pass
        browser = Browser(staying.url).enter()
        wait_for(lambda: hub.hub._lasting["inspect"]._commands == 1)
        assert Browser(leaving.url).get("/" + Browser(leaving.url).path).status == 403
        assert browser.get("/").status == 200


def wait_for(condition):
    while not condition():
        threading.Event().wait(0.001)


def test_the_command_ends_when_no_page_was_open_for_as_long_as_it_says(home, hub):
    command = Command(home, idle_seconds=0.05).opened()
    assert command.told() == {"ended": "idle"}
    assert ended(hub, command.url)


@pytest.mark.slow
def test_an_open_page_holds_the_server(home, hub):
    command = Command(home, idle_seconds=0.2).opened()
    events = Browser(command.url).enter().events()
    assert next_event(events)[0] == "hello"
    command.connection.settimeout(0.6)
    with pytest.raises(TimeoutError):
        command.told()
    OPENED.pop().close()
    events.close()
    command.connection.settimeout(TIMEOUT_SECONDS)
    assert command.told() == {"ended": "idle"}


def test_when_the_hub_leaves_the_command_and_the_page_are_told(home, hub):
    command = Command(home).opened()
    events = Browser(command.url).enter().events()
    next_event(events)
    hub.leave()
    assert next_event(events) == ("bye", {"reason": "restarting"})
    assert command.told() == {"ended": "hub"}
    assert command.told() is None


@pytest.mark.slow
def test_an_open_page_keeps_the_hub(home):
    with ThreadedHub(home, ObservedService(), linger_seconds=0) as hub, Command(home) as command:
        browser = Browser(command.url).enter()
        hub._thread.join(0.3)
        assert browser.get("/").status == 200


@pytest.mark.slow
def test_what_clients_write_is_told_to_the_page_as_it_happens(home, hub):
    with Command(home) as command, hub.connected() as client:
        events = Browser(command.url).enter().events()
        next_event(events)
        client.call("write_memory", content="Ada lives in Porto")
        kind, data = next_event(events)
        assert (kind, data["namespaces"]) == ("change", ["default"])


def test_clients_are_served_while_every_place_of_the_page_is_taken(home):
    service = ObservedService()
    with ThreadedHub(home, service) as hub, Command(home) as command, hub.connected() as client:
        service.write(Scope(session="s"), WriteRequest(content="Ada lives in Porto"))
        streams = [Browser(command.url).enter().events()]
        browser = Browser(command.url)
        assert browser.get("/" + browser.path).status == 403
        assert "Porto" in str(client.call("read_memories", query="Where does Ada live?"))
        del streams


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"host": "0.0.0.0"}, "this machine's own"),  # noqa: S104 - that is refused
        ({"host": "192.168.0.1"}, "this machine's own"),
        ({"host": "example.com"}, "this machine's own"),
        ({"host": ""}, "this machine's own"),
        ({"host": "127.1"}, "this machine's own"),
        ({"port": 70_000}, "cannot be used"),
        ({"idle_seconds": -1}, "cannot be used"),
        ({"namespace": 5}, "cannot be used"),
    ],
)
def test_what_cannot_be_had_is_said_and_nothing_is_left_running(home, hub, given, problem):
    told = Command(home, **given).told()
    assert problem in told["message"]
    assert told["code"] == "invalid_input"
    assert hub.hub._lasting["inspect"]._serving is None


def test_a_port_that_somebody_has_is_said(home, hub):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        told = Command(home, host="127.0.0.1", port=taken.getsockname()[1]).told()
    assert "choose another" in told["message"]


def test_a_store_that_cannot_be_opened_is_said(home):
    service = ObservedService()
    with ThreadedHub(home, service) as hub:
        hub.provider._open_service = lambda: (_ for _ in ()).throw(MemoryError)
        assert "message" in Command(home).told()


@pytest.mark.slow
def test_the_page_goes_back_to_its_address_under_the_next_hub_unless_it_is_taken(home, hub):
    with Command(home) as command:
        host, _, port = Browser(command.url).host.rpartition(":")
    assert ended(hub, command.url)
    with Command(home, former=[host, int(port)]) as again:
        assert Browser(again.url).host == f"{host}:{port}"
    assert ended(hub, command.url)
    with socket.create_server((host, int(port))), Command(home, former=[host, int(port)]) as elsewhere:
        assert Browser(elsewhere.url).host != f"{host}:{port}"


def test_a_browser_of_another_user_is_not_answered(home, hub, monkeypatch):
    if not (sys.platform == "linux" and not listening._is_inside_windows()):
        pytest.skip("the system does not tell whose a connection is")
    with Command(home) as command:
        assert Browser(command.url).get("/static/x").status == 200
        monkeypatch.setattr(listening, "user_of", lambda *_: 12345)
        with pytest.raises((ConnectionError, http.client.BadStatusLine)):
            Browser(command.url).get("/static/x")


def test_what_comes_over_the_wire_is_refused_before_anybody_reads_it(home, hub):
    with Command(home) as command:
        browser = Browser(command.url).enter()
        host, _, port = browser.host.rpartition(":")
        ours, cookie = f"Host: {browser.host}\r\n", f"Cookie: {browser.cookie}\r\n"
        upgrade = (
            "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: eA==\r\n"
        )
        expected = {
            f"GET / HTTP/1.1\r\n{ours}{cookie}\r\n": 200,
            f"GET http://evil.example/ HTTP/1.1\r\n{ours}{cookie}\r\n": 400,
            f"GET / HTTP/1.1\r\n{ours}Host: evil.example\r\n{cookie}\r\n": 400,
            f"GET / HTTP/1.1\r\n{cookie}\r\n": 400,
            f"GET / HTTP/1.0\r\n{cookie}\r\n": 421,
            f"OPTIONS * HTTP/1.1\r\n{ours}{cookie}\r\n": 400,
            f"POST / HTTP/1.1\r\n{ours}{cookie}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n": 400,
            f"GET / HTTP/1.1\n{ours}{cookie}\n": 400,
            f"GET / HTTP/1.1\r\n{ours}{cookie}X: {'a' * 40_000}\r\n\r\n": 431,
            f"GET /events HTTP/1.1\r\n{ours}{cookie}Origin: http://evil.example\r\n{upgrade}\r\n": 403,
        }
        found = {}
        for sent in expected:
            with socket.create_connection((host, int(port)), timeout=TIMEOUT_SECONDS) as raw:
                raw.sendall(sent.encode())
                found[sent] = int(raw.recv(1 << 16).split()[1])
        assert found == expected
