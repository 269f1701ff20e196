"""``serve --http`` as a process of its own, over real loopback."""

from __future__ import annotations

import http.client
import json
import signal
import socket
import subprocess
import sys
from contextlib import contextmanager

import pytest
from tests.server.raw import MODERN, started
from tests.tables import each

from hybrid_memory.clock import SystemClock, SystemRandomSource
from hybrid_memory.errors import InvalidInput
from hybrid_memory_mcp.http.access_tokens import Tokens
from hybrid_memory_mcp.http.server import listen
from hybrid_memory_mcp.http.settings import HttpSettings, read_http_options

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX"),
]


RECENT = "memory://most_recent_memories"


@pytest.fixture(autouse=True)
def no_network(monkeypatch):
    """These tests may speak to this machine."""
    real = socket.socket.connect

    def connect(self, address):
        assert self.family == socket.AF_UNIX or address[0] == "127.0.0.1", "a test spoke to a network"
        return real(self, address)

    monkeypatch.setattr(socket.socket, "connect", connect)


@pytest.fixture
def token(tmp_path):
    return Tokens(tmp_path, SystemClock(), SystemRandomSource()).create("test", namespace="default", agent="default")


class Server:
    """A process that serves HTTP."""

    def __init__(self, process, port, token):
        self.process = process
        self.port = port
        self.token = token
        self.opened = []

    def ask(self, method, *, token=None, **params):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        headers = {
            "Authorization": f"Bearer {token or self.token}",
            "Accept": "application/json, text/event-stream",
            "Content-Type": "application/json",
            "MCP-Protocol-Version": "2026-07-28",
            "Mcp-Method": method,
        } | ({"Mcp-Name": params["name"]} if "name" in params else {})
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params | {"_meta": MODERN}})
        try:
            connection.request("POST", "/mcp", body, headers)
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())
        finally:
            connection.close()

    def older(self, method, session=None, *, verb="POST", **message):
        """Send a message of the older protocol, or ask for the stream of news; returns the answer, which is not read."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        headers = {
            "Authorization": f"Bearer {self.token}",
            "Accept": "application/json, text/event-stream",
            "Content-Type": "application/json",
        } | ({"Mcp-Session-Id": session, "MCP-Protocol-Version": "2025-11-25"} if session else {})
        body = json.dumps({"jsonrpc": "2.0", "method": method} | message) if verb == "POST" else None
        connection.request(verb, "/mcp", body, headers)
        response = connection.getresponse()
        self.opened += [response, connection]
        return response

    def kill(self):
        """End it as the system does when memory is short."""
        self.process.kill()
        self.process.wait()
        self.process.returncode = 0  # as it was meant

    def call(self, tool, **arguments):
        status, answer = self.ask("tools/call", name=tool, arguments=arguments)
        assert status == 200, answer
        return answer["result"]["structuredContent"]

    def texts(self, query):
        return [one["text"] for one in self.call("read_memories", query=query)["memories"]]


@contextmanager
def closing_all(opened):
    try:
        yield
    finally:
        for one in opened:
            one.close()


@contextmanager
def serving(home, token, *more):
    command = [sys.executable, "-m", "hybrid_memory_mcp", "serve", "--http", "--port", "0", "--home", str(home), *more]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        told = process.stderr.readline()
        assert "serving http://127.0.0.1:" in told, told + process.stderr.read()
        server = Server(process, int(told.rsplit(":", 1)[1].split("/")[0]), token)
        with closing_all(server.opened):
            yield server
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
        assert "Traceback" not in process.stderr.read()
    finally:
        process.kill()
        process.wait()
        process.stderr.close()


@pytest.mark.daily
@pytest.mark.slow
def test_a_session_of_the_older_protocol_keeps_its_subscription_over_a_kill_and_stays_ended(tmp_path, token):
    params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}}
    with serving(tmp_path, token) as server:
        kept, ended = (server.older("initialize", id=1, params=params).headers["mcp-session-id"] for _ in range(2))
        for session in (kept, ended):
            server.older("notifications/initialized", session).read()
            server.older("resources/subscribe", session, id=2, params={"uri": RECENT}).read()
        assert server.older("", ended, verb="DELETE").status == 200
        server.kill()
    with serving(tmp_path, token) as server:
        news = server.older("", kept, verb="GET")
        assert RECENT in _event(news)  # it may have missed something
        server.call("write_memory", content="Grace plays chess")
        assert RECENT in _event(news)
        news.close()
        assert server.older("ping", ended, id=3).status == 404


def _event(stream):
    while not (line := stream.readline()).startswith(b"data:"):
        assert line, "the stream has ended"
    return line.decode()


@pytest.mark.slow
def test_memory_outlives_the_server_a_revoked_token_does_not_and_relays_are_served_beside(tmp_path, token):
    with serving(tmp_path, token) as server:
        assert server.call("write_memory", content="Ada plays the cello")["id"]
    with serving(tmp_path, token) as server:
        assert server.texts("cello") == ["Ada plays the cello"]
        Tokens(tmp_path, SystemClock(), SystemRandomSource()).revoke("test")
        assert server.ask("tools/list")[0] == 401
        server.token = Tokens(tmp_path, SystemClock(), SystemRandomSource()).create(
            "new", namespace="default", agent="default"
        )
        with started(tmp_path, alone=False) as relay:
            relay.initialize()
            (found,) = relay.call(1, "read_memories", query="cello")["structuredContent"]["memories"]
            assert found["text"] == "Ada plays the cello"
            relay.call(2, "write_memory", content="Grace plays chess")
            assert server.texts("chess")[0] == "Grace plays chess"
            status = json.loads(relay.ask(3, "resources/read", uri="memory://status")["result"]["contents"][0]["text"])
            assert {"raw"} == {one["client"] for one in status["clients"]}
            assert {None, "new"} <= {one.get("token") for one in status["clients"]}


@pytest.mark.stress
def test_it_takes_over_from_a_hub_whose_relays_do_not_notice(tmp_path, token):
    with started(tmp_path, alone=False) as relay:
        relay.initialize()
        relay.call(1, "write_memory", content="Ada plays the cello")
        with serving(tmp_path, token) as server:
            assert server.texts("cello") == ["Ada plays the cello"]
            assert relay.call(2, "read_memories", query="cello")["structuredContent"]["memories"]


@pytest.mark.stress
def test_a_server_that_has_to_make_room_says_so_and_fails(tmp_path, token):
    command = [sys.executable, "-m", "hybrid_memory_mcp", "serve", "--http", "--port", "0", "--home", str(tmp_path)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as first:
        assert "serving" in first.stderr.readline()
        with serving(tmp_path, token) as second:
            assert first.wait(60) == 1
            assert "took the store over" in first.stderr.read()
            assert second.ask("tools/list")[0] == 200


def test_a_port_that_is_taken_is_told():
    with socket.create_server(("127.0.0.1", 0)) as other:
        settings = HttpSettings(state_key=b"k" * 32, port=other.getsockname()[1])
        with pytest.raises(InvalidInput, match="port: cannot listen there"):
            listen(settings)


@each("host", ["0.0.0.0", "::", "192.168.1.7", "memory.example"])  # noqa: S104 - it is refused
def test_an_address_that_others_reach_needs_a_word(host):
    with pytest.raises(InvalidInput, match="not encrypted"):
        read_http_options(["serve", "--http", "--host", host])
    assert read_http_options(["serve", "--http", "--host", host, "--allow-remote"])[1].host == host


@each("host", ["127.0.0.1", "127.0.0.2", "::1", "localhost"])
def test_this_machine_alone_needs_none(host):
    assert read_http_options(["serve", "--http", "--host", host])[1].host == host


@each(
    "arguments",
    [
        ["--namespace", "work"],
        ["--session=x"],
        ["--agent", "a"],
        ["--port", "70000"],
        ["--port", "-1"],
        ["--port", "x"],
        ["--allow-host", "https://memory.example"],
        ["--allow-host", "*"],
        ["--allow-origin", "memory.example"],
        ["--allow-origin", "null"],
        ["--nonsense"],
    ],
)
def test_options_that_make_no_sense_are_named(arguments):
    with pytest.raises(InvalidInput):
        read_http_options(["serve", "--http", *arguments])
