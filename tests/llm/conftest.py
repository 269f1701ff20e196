"""A service that speaks as OpenAI's does, over loopback in this process, and a conversation that it judges."""

import json
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from hybrid_memory.model import MemoryType, Origin, Scope
from hybrid_memory.requests import WriteRequest
from hybrid_memory.service.memory_service import MemoryService
from hybrid_memory.store.memory.store import MemoryStore
from hybrid_memory.testing import FakeClock, FakeRandomSource, HashEmbedder
from hybrid_memory_llm import judge
from hybrid_memory_mcp.runtime.provider import ServiceProvider

TALK = Scope(namespace="work", personal="me", session="claude-code:talk", actor="hook of claude-code")
BEFORE = "claude-code:earlier"


@pytest.fixture(autouse=True)
def no_network(monkeypatch):
    """In this folder alone a test speaks over loopback, to itself."""
    real = socket.socket.connect

    def connect_here(self, address):
        assert self.family == socket.AF_UNIX or address[0] == "127.0.0.1", "a test spoke to a network"
        return real(self, address)

    monkeypatch.setattr(socket.socket, "connect", connect_here)


class Endpoint:
    """What the model answers, and what it was asked: ``status`` and ``says``, or the whole ``body``."""

    def __init__(self):
        self.status, self.says, self.body, self.headers, self.tokens = 200, {}, None, {}, 700
        self.silent, self.over = False, threading.Event()
        self.asked = []
        endpoint = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                length = int(self.headers["Content-Length"])
                endpoint.asked.append((self.path, dict(self.headers), json.loads(self.rfile.read(length))))
                if endpoint.silent:
                    endpoint.over.wait(60)
                    return
                body = endpoint.answer()
                self.send_response(endpoint.status)
                for name, value in {"Content-Length": str(len(body)), **endpoint.headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            def do_GET(self):
                endpoint.asked.append((self.path, dict(self.headers), None))
                self.send_error(404)

            def log_message(self, *_):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    def answer(self):
        if self.body is not None:
            return self.body
        said = self.says(self) if callable(self.says) else self.says
        text = said if isinstance(said, str) else json.dumps(said)
        usage = {} if self.tokens is None else {"usage": {"total_tokens": self.tokens}}
        return json.dumps({"choices": [{"message": {"role": "assistant", "content": text}}], **usage}).encode()

    @property
    def question(self):
        """The data of the last question."""
        return json.loads(self.asked[-1][2]["messages"][1]["content"])

    def name_of(self, text):
        """The name that a text has in the last question."""
        return next(one["id"] for part in self.question.values() for one in part if one["text"] == text)

    def close(self):
        self.over.set()
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def endpoint():
    served = Endpoint()
    yield served
    served.close()


class Life:
    """A store with an earlier conversation and one that ends, and the judge of its folder."""

    def __init__(self, home, url):
        self.home, self.clock = home, FakeClock()
        self.service = MemoryService(
            MemoryStore(self.clock), HashEmbedder(), clock=self.clock, random_source=FakeRandomSource(5)
        )
        self.provider = ServiceProvider(lambda: self.service)
        self.configure(base_url=url)

    def configure(self, **more):
        values = {"on": True, "base_url": "http://127.0.0.1:9/v1", "model": "small-1"} | more
        lines = [f"{name} = {json.dumps(value)}" for name, value in values.items()]
        (self.home / "config.toml").write_text("\n".join(["[llm]", *lines]))

    def tell(self, content, *, session=TALK.session, passing=False, **fields):
        self.clock.advance(seconds=60)
        given = {"memory_type": MemoryType.SHORT_TERM if passing else MemoryType.LONG_TERM, "origin": Origin.USER}
        given |= {"session": session, "episode": passing, "source": "hook:claude-code"}
        namespace = fields.pop("namespace", "work")
        scope = Scope(namespace=namespace, session=session, actor=TALK.actor)
        return self.service.write(scope, WriteRequest(content=content, **given | fields)).id

    def before(self, content, **fields):
        return self.tell(content, session=BEFORE, **fields)

    def end(self, scope=TALK):
        """End the conversation and let it be judged."""
        self.clock.advance(seconds=60)
        judge.judge(self.provider, self.home, scope)

    @property
    def state(self):
        return judge.state(self.home, self.clock.now())

    def __getitem__(self, one):
        return self.service.revealed(TALK, [one])[one]

    @property
    def everything(self):
        """All that is stored, as it is."""
        store = self.service.store
        return [store.get(name, [one.id for one in store.changes(name, 0)]) for name in sorted(store.namespaces())]


@pytest.fixture
def life(tmp_path, endpoint):
    life = Life(tmp_path, endpoint.url)
    yield life
    life.provider.close(None)
