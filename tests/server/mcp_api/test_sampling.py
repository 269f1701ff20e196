from __future__ import annotations

import json

import pytest
from mcp.client import Client
from mcp.shared.exceptions import MCPError
from mcp.types import CreateMessageResult, ErrorData, TextContent
from tests.server.services import ERAS, call

# The SDK's client warns that sampling is going to be removed.
pytestmark = [pytest.mark.anyio, pytest.mark.filterwarnings("ignore::UserWarning")]


class Model:
    """A client's model: answers what it is told to, and keeps what it was asked."""

    def __init__(self, answer):
        self.answer = answer
        self.asked = []

    async def __call__(self, _, params):
        self.asked.append(params.messages[0].content.text)
        if isinstance(self.answer, ErrorData):
            return self.answer
        text = self.answer() if callable(self.answer) else self.answer
        return CreateMessageResult(role="assistant", content=TextContent(type="text", text=text), model="m")


@pytest.fixture(params=ERAS)
def mode(request):
    return request.param


@pytest.fixture
def ids(service):
    return [service.keep(f"Ada was late on day {day}").id for day in range(3)]


async def test_where_the_client_can_think_one_call_stores_the_insights(server, service, ids, mode):
    thought = json.dumps([{"text": "Ada is often late", "evidence": ids, "importance": 0.7}])
    model = Model(f"Here you are:\n```json\n{thought}\n```")
    async with Client(server, mode=mode, sampling_callback=model) as client:
        stored = await call(client, "reflect")
    (insight,) = stored["stored"]
    assert service.memories[insight].content == "Ada is often late"
    assert service.memories[insight].parents == tuple(ids)
    assert len(model.asked) == 1
    assert "| Ada was late on day 0" in model.asked[0]


async def test_a_store_that_changes_while_the_model_thinks_changes_nothing(server, service, ids, mode):
    def think():
        service.keep("Ada was late once more")
        return json.dumps([{"text": "Ada is often late", "evidence": ids[:2]}])

    model = Model(think)
    async with Client(server, mode=mode, sampling_callback=model) as client:
        stored = await call(client, "reflect")
    assert service.memories[stored["stored"][0]].parents == tuple(ids[:2])
    assert len(model.asked) == 1


async def offered_after(server, mode, answer):
    async with Client(server, mode=mode, sampling_callback=Model(answer)) as client:
        return [group["ids"] for group in (await call(client, "reflect"))["groups"]]


async def test_an_answer_without_insights_leaves_the_thinking_to_the_caller(server, ids, mode):
    assert await offered_after(server, mode, "[]") == [ids]


@pytest.mark.parametrize("answer", ["nothing", "{}", '[{"text": "x", "evidence": ["0000"]}]', "[" * 10_000, ""])
async def test_an_answer_without_usable_insights_is_as_good_as_none(server, ids, answer):
    assert await offered_after(server, "legacy", answer) == [ids]


async def test_an_older_client_that_refuses_is_offered_the_groups(server, ids):
    model = Model(ErrorData(code=-1, message="refused by the user"))
    async with Client(server, mode="legacy", sampling_callback=model) as client:
        assert (await call(client, "reflect"))["groups"]


async def test_a_newer_client_that_refused_once_is_not_asked_again(server, ids):
    model = Model(ErrorData(code=-1, message="refused by the user"))
    async with Client(server, mode="2026-07-28", sampling_callback=model) as client:
        with pytest.raises(MCPError):
            await client.call_tool("reflect", {})
        assert (await call(client, "reflect"))["groups"]
    assert len(model.asked) == 1


async def test_without_anything_to_think_about_nobody_is_asked(server, mode):
    model = Model("[]")
    async with Client(server, mode=mode, sampling_callback=model) as client:
        assert (await call(client, "reflect"))["groups"] == []
    assert model.asked == []


async def test_insights_of_the_caller_are_stored_without_asking(server, ids, mode):
    model = Model("[]")
    async with Client(server, mode=mode, sampling_callback=model) as client:
        assert (await call(client, "reflect", insights=[{"text": "so", "evidence": ids}]))["stored"]
    assert model.asked == []
