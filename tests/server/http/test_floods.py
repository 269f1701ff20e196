"""Many requests of all kinds at once: everybody gets an answer, and nothing is left behind."""

from __future__ import annotations

import json
import random

import anyio
import pytest
from tests.server.http.conftest import Raw
from tests.server.raw import MODERN

from hybrid_memory.ids import is_unnamed_session

pytestmark = pytest.mark.anyio

STATUSES = {200, 202, 204, 400, 401, 404, 405, 406, 409, 413, 421, 429, 503}


class Mob:
    """Clients that send what comes to their mind; each draws from its own rng, so that a run can be repeated."""

    def __init__(self, app, tokens, seed):
        self.app = app
        self.tokens = tokens
        self.rng = random.Random(seed)
        self.sessions = ["0" * 32]
        self.answers = []

    async def one(self):
        raw = Raw(self.app, self.rng.choice(self.tokens))
        answer = await self.rng.choice(
            [self.begin, self.call, self.modern, self.end, self.garbage, self.leave_early, self.stream, self.huge]
        )(raw)
        self.answers.append(answer.status)

    async def begin(self, raw):
        params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "mob", "version": "0"}}
        answer = await raw.post({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params})
        self.sessions.append(answer.headers.get("mcp-session-id", "0" * 32))
        return answer

    async def call(self, raw):
        tool, arguments = self.rng.choice(
            [
                ("write_memory", {"content": "Ada"}),
                ("read_memories", {}),
                ("nonsense", {}),
                ("read_memories", {"limit": -1}),
            ]
        )
        return await raw.call(self.rng.choice(self.sessions), tool, **arguments)

    async def modern(self, raw):
        method = self.rng.choice(["tools/list", "server/discover", "resources/list", "nonsense"])
        return await raw.modern(method)

    async def end(self, raw):
        return await raw.ask("DELETE", mcp_session_id=self.rng.choice(self.sessions))

    async def garbage(self, raw):
        return await raw.ask(
            self.rng.choice(["POST", "GET", "PUT"]),
            self.rng.randbytes(self.rng.randrange(200)),
            host=self.rng.choice(["localhost:8765", "evil.example"]),
        )

    async def leave_early(self, raw):
        """Send a request and be gone before the answer comes."""
        message = self.rng.choice(
            [
                {
                    "jsonrpc": "2.0",
                    "id": 1,
                    "method": "subscriptions/listen",
                    "params": {"_meta": MODERN, "notifications": {}},
                },
                {
                    "jsonrpc": "2.0",
                    "id": 1,
                    "method": "tools/call",
                    "params": {"_meta": MODERN, "name": "read_memories"},
                },
            ]
        )
        headers = {"mcp_protocol_version": "2026-07-28", "mcp_method": message["method"]}
        if "name" in message["params"]:
            headers["mcp_name"] = "read_memories"
        return await raw.ask(body=[json.dumps(message).encode(), None], **headers)

    async def stream(self, raw):
        """Hold the stream of a session, and be gone."""
        return await raw.ask("GET", [None], mcp_session_id=self.rng.choice(self.sessions))

    async def huge(self, raw):
        return await raw.ask(body=b"[" * self.rng.choice([500, 5000, 50_000]))


async def crowd(serving, tokens, service, seed, size):
    made = [tokens.create(f"client{number}", namespace="default", agent="default") for number in range(3)]
    async with serving(
        requests=20, sessions=3, all_sessions=7, max_body_bytes=10_000, max_buffered_bytes=40_000
    ) as app:
        mob = Mob(app, [*made, "hmm_unknown"], seed)
        async with anyio.create_task_group() as group:
            for _ in range(size):
                group.start_soon(mob.one)
        assert len(mob.answers) == size
        assert {status for status in mob.answers if status is not None} <= STATUSES
        assert app.idle
        assert app.sessions.count <= 7 + 3
        assert (await Raw(app, made[0]).modern("tools/list")).status == 200
    assert app.sessions.count == 0
    assert all(map(is_unnamed_session, service.ended))


async def test_after_a_flood_nothing_is_left_behind(serving, tokens, service):
    await crowd(serving, tokens, service, seed=1, size=150)


@pytest.mark.stress
@pytest.mark.timeout(300)
@pytest.mark.parametrize("seed", range(2, 12))
async def test_after_many_floods_nothing_is_left_behind(serving, tokens, service, seed):
    await crowd(serving, tokens, service, seed, size=1000)
