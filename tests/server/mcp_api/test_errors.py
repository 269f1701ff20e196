"""What a failure of the memory becomes: words for the model, nothing stored in the log."""

from __future__ import annotations

import logging
import threading

import pytest
from mcp.client import Client
from tests.server.services import call, make_server, refusal

from hybrid_memory.errors import EngineUnavailable, OutcomeUnknown, StoreLocked
from hybrid_memory_mcp.mcp_api.errors import UNKNOWN_OUTCOME
from hybrid_memory_mcp.runtime.error_log import UNEXPECTED_FAILURE, location_of
from hybrid_memory_mcp.runtime.provider import ServiceProvider

pytestmark = pytest.mark.anyio


async def test_an_unexpected_failure_is_told_without_its_text(client, service, caplog):
    service.failure = RuntimeError("SECRET row")
    with caplog.at_level(logging.DEBUG, logger="hybrid_memory_mcp"):
        told = await refusal(client, "read_memories", query="x")
    assert told == UNEXPECTED_FAILURE
    ours = [record.getMessage() for record in caplog.records if record.name.startswith("hybrid_memory")]
    assert any("RuntimeError" in message and "services.py" in message for message in ours)
    assert "SECRET" not in caplog.text


async def test_an_error_of_the_memory_is_told_as_it_is(client, service):
    service.failure = StoreLocked(42)
    assert await refusal(client, "read_memories", query="x") == str(StoreLocked(42))


async def test_a_write_that_nobody_knows_the_end_of_is_told_with_what_a_client_can_do(client, service):
    service.failure = OutcomeUnknown("repeat it with the same request key")
    told = await refusal(client, "write_memory", content="Ada")
    assert told == UNKNOWN_OUTCOME
    assert "not known" in told
    assert "read_memories" in told
    assert "key" not in told


@pytest.mark.parametrize("error", [EngineUnavailable("nothing was changed"), StoreLocked(42)])
async def test_a_request_that_a_dead_hub_may_have_done_is_unknown_where_the_store_cannot_be_asked(service, error):
    service.failure = error
    async with Client(make_server(ServiceProvider(lambda: service), on_start_of=lambda _: lambda: None)) as client:
        assert await refusal(client, "write_memory", content="Ada") == UNKNOWN_OUTCOME
        assert await refusal(client, "read_memories", query="x") == str(error)


async def test_a_store_that_cannot_be_asked_for_notices_costs_no_answer(client, service, monkeypatch):
    def fail():
        raise EngineUnavailable("the database cannot be reached; nothing was changed")

    monkeypatch.setattr(service, "notices", fail)
    assert (await client.call_tool("write_memory", {"content": "Ada"})).is_error is False
    monkeypatch.setattr(service, "notices", lambda: ("the file was damaged",))
    later = await client.call_tool("read_memories", {})
    assert "the file was damaged" in later.content[-1].text


def test_a_location_names_the_place_and_neither_text_nor_folder():
    with pytest.raises(ValueError, match="SECRET") as caught:
        int("SECRET")
    told = location_of(caught.value)
    assert told.startswith("ValueError < test_errors.py:")
    assert "SECRET" not in told
    assert "/" not in told


async def test_a_store_that_cannot_be_opened_is_tried_again_at_the_next_call(service):
    tries = []

    def open_service():
        tries.append(1)
        if len(tries) == 1:
            raise StoreLocked(7)
        return service

    async with Client(make_server(ServiceProvider(open_service))) as client:
        assert "in use by process 7" in await refusal(client, "read_memories")
        await call(client, "read_memories")
    assert len(tries) == 2


async def test_the_memory_is_never_called_on_the_event_loop(client, service):
    await call(client, "write_memory", content="Ada")
    assert service.threads
    assert threading.main_thread() not in service.threads
