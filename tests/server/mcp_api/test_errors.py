from __future__ import annotations

import logging

import anyio
import anyio.from_thread
import anyio.lowlevel
import pytest
from mcp.client import Client
from mcp.types import Implementation
from tests.server.fakes import SCOPE, FakeService, call, make_server, refusal

from hybrid_memory.errors import StoreClosed, StoreLocked
from hybrid_memory_mcp.runtime import background_tasks
from hybrid_memory_mcp.runtime.error_log import UNEXPECTED_FAILURE, location_of
from hybrid_memory_mcp.runtime.provider import ServiceProvider

pytestmark = pytest.mark.anyio


async def test_an_unexpected_failure_is_told_without_its_text(client, fake, caplog):
    fake.broken = RuntimeError("SECRET row")
    with caplog.at_level(logging.DEBUG, logger="hybrid_memory_mcp"):
        told = await refusal(client, "read_memories", query="x")
    assert told == UNEXPECTED_FAILURE
    ours = [record.getMessage() for record in caplog.records if record.name.startswith("hybrid_memory")]
    assert any("RuntimeError" in message and "fakes.py" in message for message in ours)
    assert "SECRET" not in caplog.text


async def test_an_error_of_the_memory_is_told_as_it_is(client, fake):
    fake.broken = StoreLocked(42)
    assert await refusal(client, "read_memories", query="x") == str(StoreLocked(42))


def test_an_outline_names_the_place_and_neither_text_nor_folder():
    with pytest.raises(ValueError, match="SECRET") as caught:
        int("SECRET")
    told = location_of(caught.value)
    assert told.startswith("ValueError < test_errors.py:")
    assert "SECRET" not in told
    assert "/" not in told


async def test_a_store_that_cannot_be_opened_is_tried_again_at_the_next_call():
    fake, tries = FakeService(), []

    def open_service():
        tries.append(1)
        if len(tries) == 1:
            raise StoreLocked(7)
        return fake

    async with Client(make_server(ServiceProvider(open_service))) as client:
        assert "in use by process 7" in await refusal(client, "read_memories")
        await call(client, "read_memories")
    assert len(tries) == 2


async def test_a_failed_warm_up_is_left_for_the_first_call(caplog):
    provider = ServiceProvider(lambda: (_ for _ in ()).throw(StoreLocked(7)))
    provider._warm(SCOPE)
    with pytest.raises(StoreLocked):
        await provider.call(lambda service: service)


async def test_recalls_are_applied_once_when_nothing_is_asked_for(provider, fake, monkeypatch):
    monkeypatch.setattr(background_tasks, "IDLE", 0)
    settled = anyio.Event()

    def flush_recalls():
        fake.settled += 1
        anyio.from_thread.run_sync(settled.set)

    fake.flush_recalls = flush_recalls
    await provider.call(lambda service: service)
    with anyio.fail_after(5):
        async with anyio.create_task_group() as group:
            group.start_soon(background_tasks.flush_recalls_when_idle, provider)
            await settled.wait()
            for _ in range(20):
                await anyio.lowlevel.checkpoint()
            group.cancel_scope.cancel()
    assert fake.settled == 1


async def test_a_failure_while_recalls_are_applied_stops_nothing(provider, fake):
    def flush_recalls():
        raise StoreLocked(7)

    fake.flush_recalls = flush_recalls
    await provider.call(lambda service: service)
    provider.flush_recalls()


async def test_a_finished_provider_ends_the_session_closes_and_opens_no_more(provider, fake):
    await provider.call(lambda service: service)
    provider.close(SCOPE)
    assert fake.ended == [SCOPE.session]
    assert fake.closed
    with pytest.raises(StoreClosed):
        await provider.call(lambda service: service)


async def test_finishing_what_was_never_opened_opens_nothing():
    provider = ServiceProvider(FakeService)
    provider.close(SCOPE)
    assert provider._service is None


async def test_the_memory_is_never_called_on_the_event_loop(client, fake):
    import threading

    await call(client, "write_memory", content="Ada")
    assert threading.main_thread() not in fake.threads


async def test_a_request_key_reaches_every_write(provider, fake):
    from hybrid_memory.store.base import RequestKey

    def request_key_of(context):
        return RequestKey("relay", int(context.request_id))

    async with Client(make_server(provider, request_key_of=request_key_of), mode="legacy") as client:
        written = await call(client, "write_memory", content="Ada")
        await call(client, "update_memory", id=written["id"], pinned=True)
        await call(client, "reflect", insights=[{"text": "so", "evidence": [written["id"]]}])
        await call(client, "forget_memories", ids=[written["id"]])
    assert [key.relay for key in fake.keys] == ["relay"] * 4
    assert len({key.number for key in fake.keys}) == 4


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
async def test_a_write_is_made_in_the_name_of_the_client(server, fake, mode):
    info = Implementation(name="Some\nClient", version="1")
    async with Client(server, mode=mode, client_info=info) as client:
        await call(client, "write_memory", content="Ada")
    assert fake.actors == ["SomeClient"]
