"""A memory without a store, and servers over it."""

# ruff: noqa: ARG002 - the fake takes what the memory takes

from __future__ import annotations

import threading
from datetime import UTC

from hybrid_memory.errors import ConfirmationNeeded, InvalidInput, NotFound
from hybrid_memory.ids import new_id
from hybrid_memory.model import Kind, Memory, MemoryType, Origin, Scope, Tier
from hybrid_memory.requests import (
    ForgetResult,
    Hit,
    ReadResult,
    ReflectionGroup,
    Related,
    Status,
    UpdateResult,
    WriteResult,
)
from hybrid_memory.testing import FakeClock, FakeRandomSource
from hybrid_memory.validation import check_text
from hybrid_memory_mcp.mcp_api.memory_server import build_server
from hybrid_memory_mcp.mcp_api.views import Views

SCOPE = Scope(namespace="default", session="s-here")
TIER = {
    MemoryType.SHORT_TERM: Tier.SENSORY,
    MemoryType.WORKING: Tier.WORKING,
    MemoryType.LONG_TERM: Tier.LONG_TERM,
    MemoryType.EPISODIC: Tier.EPISODIC,
}


class FakeService:
    """Keeps memories in a list, finds what shares a word with the query, newest first."""

    def __init__(self):
        self.clock = FakeClock()
        self.random_source = FakeRandomSource(7)
        self.memories = {}
        self.listeners = []
        self.keys = []
        self.actors = []
        self.ended = []
        self.session_ended = threading.Event()
        self.walls = {}
        self.held = threading.Event()
        self.held.set()
        self.closed = False
        self.settled = 0
        self.acknowledged = []
        self.moved = ()
        self.pending = False
        self.broken = None
        self.threads = set()

    def _enter(self):
        self.threads.add(threading.current_thread())
        if self.broken is not None:
            raise self.broken

    def _changed(self, scope, session):
        for listener in list(self.listeners):
            listener(scope.namespace, frozenset({session}))

    def keep(self, content, **fields):
        self.clock.advance(seconds=1)
        memory = Memory(
            id=new_id(self.clock.now(), self.random_source),
            content=content,
            **{
                "namespace": "default",
                "session": "s-here",
                "agent": "default",
                "kind": Kind.OBSERVATION,
                "tier": Tier.SHORT_TERM,
                "importance": 0.5,
                "created_at": self.clock.now(),
                "content_hash": content[:8],
            }
            | fields,
        )
        self.memories[memory.id] = memory
        return memory

    def write(self, scope, request, *, key=None):
        self._enter()
        self.keys.append(key)
        self.actors.append(scope.actor)
        self.walls[request.content] = scope.namespace
        assert self.held.wait(10)
        check_text("content", request.content, limit=100_000)
        same = next((m for m in self.memories.values() if m.content == request.content), None)
        session = request.session or scope.session
        memory = same or self.keep(
            request.content,
            session=session,
            tier=TIER[request.memory_type],
            tags=request.tags,
            metadata=request.metadata,
            speaker=request.speaker,
            occurred_at=request.occurred_at,
            expires_at=request.expires_at,
            origin=request.origin,
        )
        self._changed(scope, session)
        others = [m for m in self.memories.values() if m.id != memory.id and m.content[:4] == memory.content[:4]]
        return WriteResult(
            id=memory.id,
            tier=memory.tier,
            duplicate_of=same.id if same else None,
            related=tuple(Related(id=m.id, excerpt=m.content, similarity=0.81234) for m in others[:3]),
            moved=self.moved,
            pending=self.pending,
        )

    def read(self, scope, request):
        self._enter()
        words = set(request.query.lower().split())
        found = [m for m in reversed(self.memories.values()) if not words or words & set(m.content.lower().split())]
        missing = ()
        if request.ids:
            found = [self.memories[one] for one in request.ids if one in self.memories]
            missing = tuple(one for one in request.ids if one not in self.memories)
        if request.where.tags:
            found = [m for m in found if set(request.where.tags) <= set(m.tags)]
        offset = int(request.cursor) if request.cursor and request.cursor.isdigit() else 0
        if request.cursor and not request.cursor.isdigit():
            from hybrid_memory.cursor import decode_cursor

            offset = decode_cursor(request.cursor, "fingerprint").offset
        hits = tuple(
            Hit(
                memory=m,
                score=0.5 if words else None,
                section=None if words or request.ids else "recent",
                terms={"dense": 0.123456} if request.explain else {},
            )
            for m in found[offset : offset + request.limit]
        )
        return ReadResult(
            hits=hits,
            total=len(found),
            offset=offset,
            missing=missing,
            fingerprint="fingerprint",
            asked_at=self.clock.now(),
        )

    def offer_reflection(self, scope, *, focus, session, since, limit=3):
        self._enter()
        found = tuple(m for m in self.memories.values() if not focus or focus in m.content)
        return (ReflectionGroup(memories=found, worth=1.0),) if len(found) > 1 else ()

    def store_insights(self, scope, insights, *, key=None):
        self._enter()
        self.keys.append(key)
        unknown = [one for insight in insights for one in insight.evidence if one not in self.memories]
        if unknown:
            raise NotFound(f"no such memory: {', '.join(unknown)}; take evidence from ids that reflect gave")
        return tuple(
            self.keep(one.text, kind=Kind.INSIGHT, origin=Origin.DERIVED, parents=one.evidence).id for one in insights
        )

    def update(self, scope, request, *, key=None):
        self._enter()
        self.keys.append(key)
        old = self.get(scope, request.id)
        if request.content is None:
            return UpdateResult(id=old.id, tier=old.tier)
        new = self.keep(request.content, supersedes=old.id)
        self._changed(scope, scope.session)
        return UpdateResult(id=new.id, tier=new.tier, supersedes=old.id)

    def forget(self, scope, request, *, key=None):
        self._enter()
        self.keys.append(key)
        if bool(request.ids) == (request.where is not None):
            raise InvalidInput("ids", "give either ids or where")
        if request.where is not None and request.count is None:
            raise ConfirmationNeeded(len(self.memories))
        if not request.restore:
            for one in request.ids:
                self.memories.pop(one, None)
        return ForgetResult(ids=request.ids, restored=request.restore)

    def recent(self, scope, *, limit=20, session=None):
        self._enter()
        found = [m for m in reversed(self.memories.values()) if session in (None, m.session)]
        return tuple(found[:limit])

    def get(self, scope, memory_id):
        self._enter()
        if memory_id not in self.memories:
            raise NotFound("no such memory; take an id that read_memories gave")
        return self.memories[memory_id]

    def status(self, scope):
        self._enter()
        return Status(
            version="1",
            namespace=scope.namespace,
            session=scope.session,
            memories=len(self.memories),
            tiers={"short_term": len(self.memories)},
            forgotten=0,
            superseded=0,
            insights=0,
            sessions=1,
            embedder="fake",
            pending_vectors=0,
            engine="fake",
            schema_version=1,
            bytes_on_disk=0,
        )

    def suggest(self, scope, what, prefix, limit):
        self._enter()
        known = {
            "session": {m.session for m in self.memories.values()},
            "tag": {tag for m in self.memories.values() for tag in m.tags},
            "id": set(self.memories),
        }[what]
        return sorted(one for one in known if one.startswith(prefix))[:limit]

    def notices(self):
        return ()

    def acknowledge(self, relay, up_to):
        self.acknowledged.append((relay, up_to))

    def flush_recalls(self):
        self.settled += 1

    def run_background_step(self):
        return False

    def warm_up(self, scope):
        self._enter()

    def end_session(self, scope):
        self.ended.append(scope.session)
        self.session_ended.set()

    def close(self):
        self.closed = True

    def listen(self, listener):
        self.listeners.append(listener)
        return lambda: self.listeners.remove(listener)


def make_server(provider, *, scope=SCOPE, zone=UTC, **options):
    templates = options.pop("templates", None)
    return build_server(provider, scope, zone, Views(provider, scope, zone, FakeRandomSource(1), templates), **options)


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
