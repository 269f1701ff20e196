from __future__ import annotations

import json

import pytest
from mcp.client import Client
from tests.server.fakes import call, make_server, refusal

from hybrid_memory.model import Scope
from hybrid_memory.service import MemoryService
from hybrid_memory.store.duck.store import DuckStore
from hybrid_memory.testing import FakeClock, FakeRandomSource, HashEmbedder
from hybrid_memory.text import estimate_tokens
from hybrid_memory_mcp.runtime.provider import ServiceProvider

pytestmark = pytest.mark.anyio


@pytest.fixture
def service(tmp_path):
    clock = FakeClock()
    store = DuckStore.open(tmp_path / "memory.duckdb", clock)
    service = MemoryService(store, HashEmbedder(), clock=clock, random_source=FakeRandomSource(3))
    yield service
    service.close()


@pytest.fixture
def provider(service):
    return ServiceProvider(lambda: service)


async def test_a_write_is_readable_at_once(client):
    written = await call(client, "write_memory", content="Ada plays the cello", tags=["music"])
    (found,) = (await call(client, "read_memories", query="cello"))["memories"]
    assert (found["id"], found["text"], found["tags"]) == (written["id"], "Ada plays the cello", ["music"])


async def test_every_page_stays_within_its_budget_and_all_pages_show_everything_once(client):
    ids = set()
    for number in range(30):
        text = f"note {number}: " + ("記憶" * (number * 37) if number % 3 == 0 else "x" * (number * 61))
        ids.add((await call(client, "write_memory", content=text, tags=["t" * 90] * 3))["id"])
    seen, cursor = [], None
    while True:
        result = await client.call_tool(
            "read_memories", {"query": "note", "limit": 12, "token_budget": 300, "cursor": cursor}
        )
        assert estimate_tokens(json.dumps(result.structured_content, ensure_ascii=False)) <= 300
        assert estimate_tokens(result.content[0].text) <= 300
        page = result.structured_content
        seen += [one["id"] for one in page["memories"]]
        cursor = page["cursor"]
        if cursor is None:
            break
    assert len(seen) == len(set(seen))
    assert set(seen) == ids


async def test_a_smallest_budget_still_shows_a_memory_and_goes_on(client):
    for number in range(3):
        await call(client, "write_memory", content=f"note {number} " + "記" * 5000, speaker="話" * 200)
    seen, cursor = set(), None
    while True:
        page = await call(client, "read_memories", query="note", token_budget=100, cursor=cursor)
        (entry,) = page["memories"]
        assert entry["cut"]
        seen.add(entry["id"])
        cursor = page["cursor"]
        if cursor is None:
            break
    assert len(seen) == 3


async def test_a_reflection_goes_from_groups_to_an_insight_with_evidence(client):
    for day in ("Monday", "Tuesday", "Friday"):
        await call(client, "write_memory", content=f"Ada came late to the rehearsal on {day}", session=f"s-{day}")
    (group, *_) = (await call(client, "reflect", focus="rehearsal"))["groups"]
    (insight,) = (await call(client, "reflect", insights=[{"text": "Ada is often late", "evidence": group["ids"]}]))[
        "stored"
    ]
    page = await call(client, "read_memories", ids=[insight])
    assert page["memories"][0]["kind"] == "insight"
    assert page["memories"][0]["evidence"] == group["ids"]


async def test_unknown_evidence_is_named(client):
    known = (await call(client, "write_memory", content="Ada plays the cello"))["id"]
    told = await refusal(client, "reflect", insights=[{"text": "so", "evidence": [known, "06gzh21e6ndjkvr6d7pw"]}])
    assert told.startswith("insights.0.evidence.1: no such memory")
    assert "06gzh21e6ndjkvr6d7pw" not in told


async def test_an_empty_id_to_supersede_is_refused(client):
    assert (await refusal(client, "write_memory", content="a", supersedes="")).startswith("supersedes: is empty")


async def test_an_update_a_forgetting_and_its_undoing(client):
    old = await call(client, "write_memory", content="Ada plays the cello")
    new = await call(client, "update_memory", id=old["id"], content="Ada plays the viola")
    assert new["supersedes"] == old["id"]
    await call(client, "forget_memories", ids=[new["id"]])
    assert (await call(client, "read_memories", query="viola"))["memories"] == []
    await call(client, "forget_memories", ids=[new["id"]], restore=True)
    assert [one["id"] for one in (await call(client, "read_memories", query="viola"))["memories"]] == [new["id"]]


async def test_forgetting_twice_is_forgetting_once(client):
    written = await call(client, "write_memory", content="Ada plays the cello")
    await call(client, "forget_memories", ids=[written["id"]])
    again = await call(client, "forget_memories", ids=[written["id"]])
    assert (again["forgotten"], again["unchanged"]) == (0, [written["id"]])


async def test_reading_changes_nothing_that_is_stored(client, service):
    await call(client, "write_memory", content="Ada plays the cello")
    head = service.store.head("default")
    await call(client, "read_memories", query="cello")
    await call(client, "read_memories")
    assert service.store.head("default") == head


async def test_a_foreign_id_and_an_absent_id_look_the_same(provider):
    other = Scope(namespace="other", session="s-x")
    async with Client(make_server(provider, scope=other)) as stranger, Client(make_server(provider)) as owner:
        written = await call(owner, "write_memory", content="Ada plays the cello")
        foreign = await refusal(stranger, "update_memory", id=written["id"], pinned=True)
        absent = await refusal(stranger, "update_memory", id="06gzh21e6ndjkvr6d7pw", pinned=True)
        assert foreign.replace(written["id"], "ID") == absent.replace("06gzh21e6ndjkvr6d7pw", "ID")
        assert (await call(stranger, "read_memories"))["memories"] == []


@pytest.mark.parametrize("text", ["a\ud800b", "a\x00b", "\ufffe", "   "])
async def test_text_that_cannot_be_stored_is_refused_by_name(server, text):
    from mcp.server.mcpserver.exceptions import ToolError

    with pytest.raises(ToolError, match=r"^content: "):
        await server.call_tool("write_memory", {"content": text})


async def test_prompts_and_resources_work_over_it(client):
    written = await call(client, "write_memory", content="Ada plays the cello")
    (message,) = (await client.get_prompt("answer_with_memories", {"question": "What does Ada play?"})).messages
    assert "| Ada plays the cello" in message.content.text
    (recent,) = (await client.read_resource("memory://most_recent_memories")).contents
    assert written["id"] in recent.text
    (status,) = (await client.read_resource("memory://status")).contents
    assert json.loads(status.text)["memories"] == 1


async def test_every_key_of_a_memory_is_in_the_output_schema(client):
    (reading,) = [tool for tool in (await client.list_tools()).tools if tool.name == "read_memories"]
    declared = set(reading.output_schema["properties"]["memories"]["items"]["properties"])
    rich = {"tags": ["a"], "metadata": {"a": 1}, "source": "s", "speaker": "Ada", "session": "other"}
    dates = {"occurred_at": "2020-01-01", "expires_at": "2099-01-01"}
    old = (await call(client, "write_memory", content="Ada plays the cello", **rich, **dates))["id"]
    new = (await call(client, "update_memory", id=old, content="Ada plays the viola", pinned=True))["id"]
    insight = (await call(client, "reflect", insights=[{"text": "Ada is musical", "evidence": [new]}]))["stored"]
    shown = (await call(client, "read_memories", ids=[old, new, *insight]))["memories"]
    shown += (await call(client, "read_memories", query="viola", explain=True))["memories"]
    assert {"newer", "evidence", "explain", "metadata", "pinned"} <= {key for one in shown for key in one} <= declared


async def test_another_occasion_of_the_same_words_is_not_called_known(client):
    first = (await call(client, "write_memory", content="Ada plays the cello", session="one"))["id"]
    result = await client.call_tool("write_memory", {"content": "Ada plays the cello", "session": "two"})
    told = result.content[0].text.splitlines()
    assert told[0].startswith(f"Remembered as {result.structured_content['id']}")
    assert told[1] == f"said before: {first}"
