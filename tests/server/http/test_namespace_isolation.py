"""Isolation of namespaces over HTTP, with a real memory: a token reads and changes nothing of another namespace."""

from __future__ import annotations

import json

import pytest
from tests.server.http.conftest import Raw

from hybrid_memory.clock import SystemClock
from hybrid_memory.service.memory_service import MemoryService
from hybrid_memory.testing import FakeRandomSource
from hybrid_memory_mcp.runtime.provider import ServiceProvider

pytestmark = pytest.mark.anyio

KEPT = "The violin is in the attic"


@pytest.fixture
def provider(tmp_path):
    provider = ServiceProvider(
        lambda: MemoryService.open(tmp_path, clock=SystemClock(), random_source=FakeRandomSource(9))
    )
    yield provider
    provider.close(None)


async def call(raw, tool, **arguments):
    return (await raw.modern("tools/call", name=tool, arguments=arguments)).json["result"]


async def test_nothing_crosses_the_wall_between_two_tokens(app, token, foreign_token):
    ours, theirs = Raw(app, token), Raw(app, foreign_token)
    written = await call(ours, "write_memory", content=KEPT, tags=["violin"], session="music", key=None)
    memory = written["structuredContent"]["id"]
    told = [
        await call(theirs, "read_memories", query="Where is the violin?"),
        await call(theirs, "read_memories"),
        await call(theirs, "read_memories", ids=[memory]),
        await call(theirs, "read_memories", where={"session": "music"}),
        await call(theirs, "read_memories", where={"tags": ["violin"]}),
        await call(theirs, "reflect", focus="violin"),
        await call(theirs, "update_memory", id=memory, content="The violin is sold"),
        await call(theirs, "forget_memories", ids=[memory]),
        await call(theirs, "write_memory", content="Something newer", supersedes=memory),
        (
            await theirs.modern("resources/read", name=f"memory://memories/{memory}", uri=f"memory://memories/{memory}")
        ).json,
        (
            await theirs.modern(
                "resources/read",
                name="memory://most_recent_memories/music",
                uri="memory://most_recent_memories/music",
            )
        ).json,
        (
            await theirs.modern(
                "completion/complete",
                ref={"type": "ref/prompt", "name": "reflect_on_topic"},
                argument={"name": "topic", "value": "v"},
            )
        ).json,
    ]
    assert "attic" not in json.dumps(told)
    assert '"violin"' not in json.dumps(told[-1])
    (found,) = (await call(ours, "read_memories", query="violin"))["structuredContent"]["memories"]
    assert found["text"] == KEPT
