"""What clients read is noted in the journal: by which way, under which client's name, and what stood in the answer."""

import pytest
from mcp.client import Client
from mcp.types import Implementation
from tests.server.services import SCOPE

from hybrid_memory.store.readings import Asked, Way

pytestmark = pytest.mark.anyio


@pytest.fixture
async def named(server):
    async with Client(server, mode="legacy", client_info=Implementation(name="kite", version="1")) as connected:
        yield connected


def noted(service):
    return service.journal.latest(SCOPE.namespaces, service.now())


async def test_a_question_is_noted_with_what_the_model_was_shown(named, service):
    kept = service.keep("Ada plays the cello")
    await named.call_tool("read_memories", {"query": "What does Ada play?"})
    (one,) = noted(service)
    assert (one.client, one.way, one.asked, one.question) == ("kite", Way.TOOL, Asked.QUESTION, "What does Ada play?")
    assert (one.shown, one.matched, one.tokens > 10) == ((kept.id,), 1, True)


async def test_what_did_not_fit_into_the_answer_was_not_shown(named, service):
    for number in range(8):
        service.keep(f"Ada plays the cello in hall {number}, " + "and everybody who lives near it hears that " * 20)
    await named.call_tool("read_memories", {"query": "Where does Ada play the cello?", "token_budget": 300})
    (one,) = noted(service)
    assert len(one.shown) < one.matched


async def test_a_brief_and_ids_are_noted_as_such(named, service):
    kept = service.keep("Ada plays the cello")
    await named.call_tool("read_memories", {})
    await named.call_tool("read_memories", {"ids": [kept.id]})
    assert [one.asked for one in noted(service)] == [Asked.IDS, Asked.BRIEF]


async def test_a_prompt_that_bears_on_nothing_leaves_no_trace(named, service):
    service.keep("Ada plays the cello")
    await named.call_tool("read_memories", {"query": "please sort the imports of this file", "quiet": True})
    assert noted(service) == []


async def test_resources_and_prompts_are_noted_under_the_clients_name(named, service):
    kept = service.keep("Ada plays the cello")
    await named.read_resource("memory://most_recent_memories")
    await named.read_resource(f"memory://memories/{kept.id}")
    await named.read_resource("memory://most_recent_memories/s-here")
    await named.get_prompt("answer_with_memories", {"question": "What does Ada play?"})
    told = [(one.way, one.asked, one.client, one.shown) for one in reversed(noted(service))]
    assert told == [
        (Way.RESOURCE, Asked.BRIEF, "kite", (kept.id,)),
        (Way.RESOURCE, Asked.IDS, "kite", (kept.id,)),
        (Way.RESOURCE, Asked.LATEST, "kite", (kept.id,)),
        (Way.PROMPT, Asked.QUESTION, "kite", (kept.id,)),
    ]


async def test_what_a_person_looks_up_is_not_noted(service):
    from hybrid_memory.requests import ReadRequest

    service.keep("Ada plays the cello")
    service.read(SCOPE, ReadRequest(query="cello", recalls=False))
    assert noted(service) == []
