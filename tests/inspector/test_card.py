"""The app inside the chat: who hears of it, what it is, and whose acts its calls are."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from mcp.client import Client
from mcp.client.extension import advertise
from mcp.types import Implementation
from tests.server.services import ERAS, SCOPE

from hybrid_memory.model import MemoryId, Origin, Scope, Trust
from hybrid_memory.requests import ReadRequest, UpdateRequest
from hybrid_memory.service.waiting_recalls import WaitingRecalls
from hybrid_memory.store.writing import Update, WriteBatch
from hybrid_memory_inspector.chat_app.card import APP
from hybrid_memory_mcp.mcp_api.apps import APP_MIME_TYPE, CARD, EXTENSION_ID
from hybrid_memory_mcp.mcp_api.memory_server import _of_person

pytestmark = pytest.mark.anyio

SHOWS_APPS = advertise(EXTENSION_ID, {"mimeTypes": [APP_MIME_TYPE]})
INSPECTOR = APP.uri
BY_PERSON = {CARD: True}


def as_sent(result):
    return json.dumps(result.model_dump(by_alias=True, exclude_none=True, mode="json"))


async def told(client):
    """Everything that a client hears about the server, and an answer of each tool that the app shows."""
    return {
        "capabilities": as_sent(client.server_capabilities),
        "tools": as_sent(await client.list_tools()),
        "resources": as_sent(await client.list_resources()),
        "templates": as_sent(await client.list_resource_templates()),
        "prompts": as_sent(await client.list_prompts()),
        "brief": as_sent(await client.call_tool("read_memories", {})),
        "found": as_sent(await client.call_tool("read_memories", {"query": "Where does Ada live?"})),
        "groups": as_sent(await client.call_tool("reflect", {})),
    }


def confirmed(service, memory_id):
    """Have a memory confirmed, as a person does at the terminal or on the page."""

    def decide(view):
        (memory,) = view.get([memory_id]).values()
        return WriteBatch(action="judge", actor="person", updates=(Update(replace(memory, trust=Trust.CONFIRMED)),))

    service.store.write("default", None, decide)


@pytest.fixture
def moved(service):
    """Ada lived in Porto, and lives in Lisbon."""
    old = service.keep("Ada lives in Porto", origin=Origin.USER)
    new = service.update(SCOPE, UpdateRequest(id=old.id, content="Ada lives in Lisbon", origin=Origin.USER))
    return old.id, new.id


@pytest.fixture(params=ERAS)
async def chat(request, server):
    async with Client(server, mode=request.param, extensions=[SHOWS_APPS]) as client:
        yield client


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(
    "extensions",
    [[], [advertise(EXTENSION_ID, {"mimeTypes": ["text/html"]})], [advertise("com.example/other", {})]],
    ids=["none", "other pages", "another"],
)
async def test_a_client_that_shows_no_apps_is_told_of_none(server, moved, era, extensions):
    async with Client(server, mode=era, extensions=extensions) as client:
        everything = "".join((await told(client)).values())
    assert "resourceUri" not in everything
    assert "ui://" not in everything
    assert EXTENSION_ID not in everything
    assert CARD not in everything


@pytest.mark.parametrize("era", ERAS)
async def test_such_a_client_sees_the_same_bytes_whoever_came_before(server, moved, era):
    async with Client(server, mode=era) as client:
        before = await told(client)
    async with Client(server, mode=era, extensions=[SHOWS_APPS]) as client:
        await told(client)
    async with Client(server, mode=era) as client:
        assert await told(client) == before


async def test_a_model_reads_the_same_with_the_app(server, moved):
    answers = []
    for extensions in ([], [SHOWS_APPS]):
        async with Client(server, mode="legacy", extensions=extensions) as client:
            found = await client.call_tool("read_memories", {"query": "Where does Ada live?"})
            answers.append((found.content, found.structured_content))
    assert answers[0] == answers[1]


async def test_two_tools_are_shown_by_the_app_where_the_client_shows_apps(chat):
    tools = (await chat.list_tools()).tools
    assert {tool.name: tool.meta for tool in tools if tool.meta} == {
        "read_memories": {"ui": {"resourceUri": INSPECTOR}},
        "reflect": {"ui": {"resourceUri": INSPECTOR}},
    }


async def test_a_list_with_the_app_is_for_this_client_alone(chat):
    assert (await chat.list_tools()).cache_scope == "private"
    assert (await chat.list_resources()).cache_scope == "private"


async def test_the_server_says_in_the_handshake_that_it_has_apps(server):
    async with Client(server, mode="legacy", extensions=[SHOWS_APPS]) as client:
        assert EXTENSION_ID in client.server_capabilities.extensions


async def test_the_server_says_without_a_handshake_that_it_has_apps(server):
    async with Client(server, mode="auto", extensions=[SHOWS_APPS]) as client:
        assert client.server_capabilities.extensions == {EXTENSION_ID: {}}


async def test_the_app_is_listed_and_read_and_may_load_nothing(chat):
    listed = [one for one in (await chat.list_resources()).resources if str(one.uri) == INSPECTOR]
    (read,) = (await chat.read_resource(INSPECTOR)).contents
    assert [one.mime_type for one in (*listed, read)] == [APP_MIME_TYPE, APP_MIME_TYPE]
    assert listed[0].meta == read.meta
    assert read.meta["ui"]["csp"] == {"connectDomains": [], "resourceDomains": []}
    assert read.meta["ui"]["permissions"] == {}
    assert read.text.lower().startswith("<!doctype html>")


async def test_an_answer_tells_the_app_what_a_hit_said_before(chat, service, moved):
    _, new = moved
    service.update(SCOPE, UpdateRequest(id=new, pinned=True))
    result = await chat.call_tool("read_memories", {"query": "Where does Ada live?"})
    (details,) = result.meta[CARD].values()
    assert details["before"]["text"] == "Ada lives in Porto"
    assert details["before"]["since"] < result.structured_content["memories"][0]["created_at"]
    assert (details["trust"], details["pinned"]) == ("user", True)


async def test_a_secret_is_masked_in_what_a_hit_said_before(chat, service):
    old = service.keep("the key of the staging server is ghp_16C7e42F292c6912E7710c838347Ae178B4a")
    service.update(SCOPE, UpdateRequest(id=old.id, content="the staging server is gone"))
    result = await chat.call_tool("read_memories", {"query": "staging server"})
    assert "ghp_16C7" not in json.dumps(result.meta)
    assert "staging" in json.dumps(result.meta)


async def test_looking_in_the_app_is_no_use_of_a_memory(chat, moved, monkeypatch):
    recalled = []
    monkeypatch.setattr(WaitingRecalls, "add", lambda _recalls, _scope, result, _now: recalled.append(result.recalled))
    await chat.call_tool("read_memories", {"query": "Where does Ada live?"}, meta=BY_PERSON)
    assert recalled == []
    await chat.call_tool("read_memories", {"query": "Where does Ada live?"})
    assert recalled == [moved[1]]


async def test_what_a_person_saw_in_the_app_the_assistant_did_not(chat, service, moved):
    await chat.call_tool("read_memories", {"query": "Where does Ada live?"}, meta=BY_PERSON)
    quiet = ReadRequest(query="Where does Ada live now?", quiet=True)
    assert [hit.memory.id for hit in service.read(SCOPE, quiet).hits] == [moved[1]]
    await chat.call_tool("read_memories", {"query": "Where does Ada live?"})
    assert service.read(SCOPE, quiet).hits == ()


async def test_looking_in_the_app_is_not_in_the_journal_of_what_was_asked(chat, service, moved):
    await chat.call_tool("read_memories", {"query": "Where does Ada live?"}, meta=BY_PERSON)
    service.journal.flush(service.now())
    assert service.journal.latest(["default"], service.now()) == []
    await chat.call_tool("read_memories", {"query": "Where does Ada live?"})
    service.journal.flush(service.now())
    assert len(service.journal.latest(["default"], service.now())) == 1


async def test_a_correction_in_the_app_is_the_user_s_word_and_a_person_s_act(chat, service):
    kept = service.keep("Ada lives in Porto")
    assert kept.trust is Trust.AGENT
    result = await chat.call_tool("update_memory", {"id": kept.id, "content": "Ada lives in Faro"}, meta=BY_PERSON)
    new = service.memories[MemoryId(result.structured_content["id"])]
    assert (new.origin, new.trust, new.supersedes) == (Origin.USER, Trust.USER, kept.id)
    assert service.store.changes("default", 0, 100)[-1].actor.startswith("person (in ")


async def test_the_assistant_s_own_correction_stays_the_assistant_s(chat, service):
    kept = service.keep("Ada lives in Porto", origin=Origin.USER)
    result = await chat.call_tool("update_memory", {"id": kept.id, "content": "Ada lives in Faro"})
    assert service.memories[MemoryId(result.structured_content["id"])].trust is Trust.AGENT
    assert not service.store.changes("default", 0, 100)[-1].actor.startswith("person")


async def test_no_call_of_an_app_replaces_what_was_confirmed(chat, service):
    kept = service.keep("Ada lives in Porto", origin=Origin.USER)
    confirmed(service, kept.id)
    result = await chat.call_tool("update_memory", {"id": kept.id, "content": "Ada lives in Faro"}, meta=BY_PERSON)
    assert result.structured_content["disputes"] == kept.id
    assert service.memories[kept.id].superseded_by is None


async def test_a_name_that_fills_the_audit_leaves_room_for_the_person(server, service):
    kept = service.keep("Ada lives in Porto")
    named = Implementation(name="x" * 300, version="1")
    async with Client(server, mode="legacy", extensions=[SHOWS_APPS], client_info=named) as client:
        await client.call_tool("forget_memories", {"ids": [kept.id]}, meta=BY_PERSON)
    actor = service.store.changes("default", 0, 100)[-1].actor
    assert actor.startswith("person (in xxx")
    assert len(actor) == 100


async def test_the_first_news_of_the_server_are_told_to_the_assistant_not_to_the_card(server, service, monkeypatch):
    monkeypatch.setattr(service, "notices", lambda: ("the disk is full",))
    async with Client(server, mode="legacy", extensions=[SHOWS_APPS]) as client:
        looked = await client.call_tool("read_memories", {"query": "Ada"}, meta=BY_PERSON)
        asked = await client.call_tool("read_memories", {"query": "Ada"})
    assert "disk is full" not in as_sent(looked)
    assert "disk is full" in as_sent(asked)


async def test_a_mark_of_another_kind_is_none(chat, service, moved):
    await chat.call_tool("update_memory", {"id": moved[1], "content": "Ada lives in Faro"}, meta={CARD: "true"})
    assert not service.store.changes("default", 0, 100)[-1].actor.startswith("person")


def test_the_scope_of_a_person_is_the_client_s():
    scope = Scope(namespace="a", session="s", actor="token laptop/claude")
    assert (_of_person(scope).actor, _of_person(scope).namespace) == ("person (in token laptop/claude)", "a")
