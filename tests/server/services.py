"""The memory that server tests run over, servers over it, and how their tools are called.

It is the product with its store in memory. `ObservedService` records who called what, and fails or waits where a test says so.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from datetime import UTC
from functools import wraps
from unittest import mock

from hybrid_memory import validation
from hybrid_memory.model import Scope
from hybrid_memory.requests import WriteRequest
from hybrid_memory.service.memory_service import MemoryService
from hybrid_memory.store.memory.store import MemoryStore
from hybrid_memory.testing import FakeClock, FakeRandomSource, HashEmbedder
from hybrid_memory_mcp.mcp_api.memory_server import MemoryServer
from hybrid_memory_mcp.mcp_api.views import Views

SCOPE = Scope(namespace="default", session="s-here")
ERAS = ("legacy", "2026-07-28")  # as the SDK's client names them: with a handshake, and without one
WAIT_SECONDS = 60  # until a test that waits for a thread fails


@dataclass(frozen=True)
class Call:
    """One call of the service: the verb, on whose behalf, under which request key, and in which thread."""

    verb: str
    scope: Scope
    key: object
    thread: threading.Thread


class ObservedService(MemoryService):
    """`MemoryService` over a store in memory, which keeps its calls; `failure` is raised by each, `held` stops writes."""

    def __init__(self, *, embedder=None, settings=None):
        self.clock = FakeClock()
        self.calls = []
        self.ended = []
        self.session_ended = threading.Event()
        self.acknowledged = []
        self.flushes = 0
        self.closed = False
        self.failure = None
        self.held = threading.Event()
        self.held.set()
        super().__init__(
            MemoryStore(self.clock),
            embedder or HashEmbedder(),
            clock=self.clock,
            random_source=FakeRandomSource(7),
            settings=settings,
        )

    def observe(self, verb, scope, key):
        self.calls.append(Call(verb, scope, key, threading.current_thread()))
        if self.failure is not None:
            raise self.failure
        if verb == "write":
            assert self.held.wait(WAIT_SECONDS)

    def keep(self, content, **fields):
        """Store a memory a second after the one before, of any length, and return it; this is no call of a client."""
        session, namespace = fields.pop("session", SCOPE.session), fields.pop("namespace", SCOPE.namespace)
        self.clock.advance(seconds=1)
        request = WriteRequest(content=content, **fields)
        with mock.patch.object(validation, "CONTENT_LIMIT", 100_000_000):
            written = MemoryService.write(self, Scope(namespace=namespace, session=session), request)
        return self.memories[written.id]

    @property
    def memories(self):
        """All memories by id, in the order in which they were stored."""
        found = {}
        for namespace in self.store.namespaces():
            found |= self.store.get(namespace, [entry.id for entry in self.store.changes(namespace, 0, 1_000_000)])
        return found

    @property
    def scopes(self):
        return [call.scope for call in self.calls if call.verb == "write"]

    @property
    def actors(self):
        return [scope.actor for scope in self.scopes]

    @property
    def keys(self):
        """The request key of each call that may change something."""
        return [call.key for call in self.calls if call.verb in ("write", "update", "forget", "store_insights")]

    @property
    def threads(self):
        return {call.thread for call in self.calls}

    def flush_recalls(self):
        self.flushes += 1
        super().flush_recalls()

    def acknowledge(self, relay, up_to=None):
        self.acknowledged.append((relay, up_to))
        super().acknowledge(relay, up_to)

    def end_session(self, scope):
        super().end_session(scope)
        self.ended.append(scope.session)
        self.session_ended.set()

    def close(self):
        super().close()
        self.closed = True


def _observed(verb):
    real = getattr(MemoryService, verb)

    @wraps(real)
    def call(self, scope, *arguments, **options):
        self.observe(verb, scope, options.get("key"))
        return real(self, scope, *arguments, **options)

    return call


for _verb in (
    "write",
    "read",
    "offer_reflection",
    "store_insights",
    "update",
    "forget",
    "recent",
    "recent_page",
    "get",
    "status",
    "suggest",
    "warm_up",
):
    setattr(ObservedService, _verb, _observed(_verb))


def make_server(provider, *, scope=SCOPE, zone=UTC, **options):
    templates = options.pop("templates", None)
    return MemoryServer(provider, scope, zone, Views(provider, scope, zone, FakeRandomSource(1), templates), **options)


async def call(client, name, **arguments):
    """Return the structured part of a tool's answer; a refusal fails the test."""
    result = await client.call_tool(name, arguments)
    assert not result.is_error, result.content[0].text
    return result.structured_content


async def refusal(client, name, **arguments):
    """Return the text with which a tool refuses."""
    result = await client.call_tool(name, arguments)
    assert result.is_error
    return result.content[0].text
