"""Fixtures of the HTTP tests: the application without a network (`Raw`), and at a Unix socket with uvicorn."""

from __future__ import annotations

import json
import socket
from contextlib import asynccontextmanager
from types import SimpleNamespace

import anyio
import httpx2
import pytest
import uvicorn.server
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client
from tests.server.raw import MODERN

from hybrid_memory.testing import FakeClock, FakeRandomSource
from hybrid_memory_mcp.http.access_tokens import Tokens
from hybrid_memory_mcp.http.app import build_http_app
from hybrid_memory_mcp.http.server import serve_app
from hybrid_memory_mcp.http.settings import HttpSettings

URL = "http://localhost:8765/mcp"


class Answer:
    """What came back, told apart as status, headers and body."""

    def __init__(self):
        self.status = None
        self.headers = {}
        self.body = b""

    @property
    def json(self):
        if self.headers.get("content-type", "").startswith("text/event-stream"):
            (data,) = [line[5:] for line in self.body.splitlines() if line.startswith(b"data:") and line[5:].strip()]
            return json.loads(data)
        return json.loads(self.body)


class Raw:
    """A client that speaks bytes to the application, without a network."""

    def __init__(self, app, token):
        self.app = app
        self.token = token

    async def ask(self, method="POST", body=b"", *, path="/mcp", query=b"", host="localhost:8765", **headers):
        """Send one request; headers are given with underscores, None leaves one out."""
        answer = Answer()
        given = {
            "host": host,
            "authorization": f"Bearer {self.token}",
            "accept": "application/json, text/event-stream",
            "content-type": "application/json",
        } | {name.replace("_", "-"): value for name, value in headers.items()}
        pairs = [
            (name.encode(), one.encode("latin-1"))
            for name, value in given.items()
            if value is not None
            for one in (value if isinstance(value, list) else [value])
        ]
        parts = list(body) if isinstance(body, list) else [body]

        async def receive():
            if not parts:
                await anyio.sleep_forever()
            part = parts.pop(0)
            if part is None:
                return {"type": "http.disconnect"}
            return {"type": "http.request", "body": part, "more_body": bool(parts)}

        async def send(message):
            if message["type"] == "http.response.start":
                assert answer.status is None
                answer.status = message["status"]
                answer.headers = {name.decode(): value.decode() for name, value in message["headers"]}
            else:
                answer.body += message.get("body", b"")

        scope = {"type": "http", "method": method, "path": path, "query_string": query, "headers": pairs}
        with anyio.fail_after(60):
            await self.app(scope, receive, send)
        return answer

    async def post(self, message, **headers):
        return await self.ask(body=json.dumps(message).encode(), **headers)

    async def initialize(self):
        """Begin a session and return its id."""
        params = {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": MODERN["io.modelcontextprotocol/clientInfo"],
        }
        answer = await self.post({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params})
        assert answer.status == 200, answer.body
        session = answer.headers["mcp-session-id"]
        done = await self.post({"jsonrpc": "2.0", "method": "notifications/initialized"}, mcp_session_id=session)
        assert done.status == 202
        return session

    async def call(self, session, tool, number=2, **arguments):
        params = {"name": tool, "arguments": arguments}
        message = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}
        return await self.post(message, mcp_session_id=session)

    async def modern(self, method, *, meta=MODERN, **params):
        """Send a request of the newest protocol, which needs no session."""
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params | {"_meta": meta}}
        names = {"mcp_name": params["name"]} if "name" in params else {}
        return await self.post(message, mcp_protocol_version="2026-07-28", mcp_method=method, **names)


@pytest.fixture
def clock():
    return FakeClock()


@pytest.fixture
def tokens(tmp_path, clock):
    return Tokens(tmp_path, clock, FakeRandomSource(3))


@pytest.fixture
def token(tokens):
    return tokens.create("laptop", namespace="default", agent="default")


@pytest.fixture
def other_token(tokens):
    return tokens.create("phone", namespace="default", agent="default")


@pytest.fixture
def foreign_token(tokens):
    return tokens.create("foreign", namespace="elsewhere", agent="default")


@pytest.fixture
def serving(provider, tokens):
    """Build an application with other settings than usual, and run it."""

    @asynccontextmanager
    async def run(**options):
        now, seed = options.pop("now", anyio.current_time), options.pop("seed", 5)
        settings = HttpSettings(**{"state_key": b"k" * 32} | options)
        app = build_http_app(provider, settings, tokens, FakeRandomSource(seed), now=now)
        async with app.running():
            yield app

    return run


@pytest.fixture
async def app(serving):
    async with serving() as running:
        yield running


@pytest.fixture
def raw(app, token):
    return Raw(app, token)


@pytest.fixture
def quick_uvicorn(monkeypatch):
    """uvicorn looks ten times a second whether it should leave; here it looks at each turn of the event loop's clock."""

    async def sleep(_seconds):
        await anyio.sleep(0.002)

    monkeypatch.setattr("uvicorn.server.asyncio", SimpleNamespace(**vars(uvicorn.server.asyncio) | {"sleep": sleep}))


def listening_at(place):
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(str(place))
    listening.listen()
    return listening


@pytest.fixture
def at_socket(tmp_path_factory, quick_uvicorn):
    """Serve an application with uvicorn at a Unix socket; gives a maker of the SDK's clients."""

    @asynccontextmanager
    async def run(app):
        place = tmp_path_factory.mktemp("s") / "s"
        listening = listening_at(place)

        @asynccontextmanager
        async def connect(token, **options):
            headers = {"authorization": f"Bearer {token}"}
            transport = httpx2.AsyncHTTPTransport(uds=str(place))
            async with (
                httpx2.AsyncClient(transport=transport, headers=headers, timeout=60) as http,
                Client(streamable_http_client(URL, http_client=http), **options) as client,
            ):
                yield client

        async def restart(another):
            """Serve with another application from now on, as after a restart."""
            serving.cancel()
            await ended.wait()
            place.unlink()
            group.start_soon(serve_app, another, another.settings, listening_at(place), lambda: None)

        async def serve():
            with serving:
                await serve_app(app, app.settings, listening, lambda: None)
            ended.set()

        connect.place, connect.restart = str(place), restart
        serving, ended = anyio.CancelScope(), anyio.Event()
        async with anyio.create_task_group() as group:
            group.start_soon(serve)
            try:
                yield connect
            finally:
                group.cancel_scope.cancel()

    return run


@pytest.fixture
def build(provider, tokens):
    def app(**options):
        return build_http_app(provider, HttpSettings(**{"state_key": b"k" * 32} | options), tokens, FakeRandomSource(5))

    return app
