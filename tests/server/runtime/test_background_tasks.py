"""What is done alongside calls: queued recalls are stored, and background work is done a step at a time."""

import anyio
import anyio.from_thread
import anyio.lowlevel
import pytest
from tests.server.services import SCOPE

from hybrid_memory.errors import StoreFull, StoreLocked
from hybrid_memory.requests import ReadRequest
from hybrid_memory_mcp.runtime import provider as provider_module
from hybrid_memory_mcp.runtime.provider import ServiceProvider

pytestmark = pytest.mark.anyio


class Steps:
    """In the place of a service's background step: some pieces of work, or a failure."""

    def __init__(self, pieces, failure=None):
        self.pieces = pieces
        self.failure = failure
        self.looks = 0

    def __call__(self):
        self.looks += 1
        if self.failure:
            raise self.failure
        self.pieces -= 1
        return self.pieces > 0


@pytest.fixture
def opened(provider, service, monkeypatch):
    """Open the provider's service with other background work than its own."""

    def open_with(steps):
        monkeypatch.setattr(service, "run_background_step", steps)
        provider.ensure_open()
        return provider

    return open_with


async def test_recalls_are_stored_once_when_nothing_is_asked_for(provider, service, monkeypatch):
    monkeypatch.setattr(provider_module, "FLUSH_AFTER_IDLE_SECONDS", 0)
    memory = service.keep("Ada plays the cello")
    await provider.call(lambda service: service.read(SCOPE, ReadRequest(query="cello")))
    before, flushed, real = service.flushes, anyio.Event(), provider.flush_recalls
    monkeypatch.setattr(provider, "flush_recalls", lambda: (real(), anyio.from_thread.run_sync(flushed.set)))
    with anyio.fail_after(60):
        async with anyio.create_task_group() as group:
            group.start_soon(provider_module.flush_recalls_when_idle, provider)
            await flushed.wait()
            for _ in range(20):
                await anyio.lowlevel.checkpoint()
            group.cancel_scope.cancel()
    assert service.flushes - before == 1
    assert service.store.usage("default", [memory.id])[memory.id].count > 0


async def test_a_failure_while_recalls_are_stored_stops_nothing(provider, service, monkeypatch, caplog):
    def fail():
        raise StoreLocked(7)

    provider.ensure_open()
    with monkeypatch.context() as patch:
        patch.setattr(service, "flush_recalls", fail)
        provider.flush_recalls()
    assert "in use by process 7" in caplog.text


async def test_background_work_is_done_to_its_end(opened, monkeypatch):
    monkeypatch.setattr(provider_module, "STEP_INTERVAL_SECONDS", 0.001)
    steps = Steps(5)
    async with anyio.create_task_group() as group:
        group.start_soon(provider_module.run_background_work, opened(steps))
        while steps.pieces > 0:
            await anyio.lowlevel.checkpoint()
        group.cancel_scope.cancel()
    assert steps.looks >= 5


async def test_a_store_that_is_not_open_has_no_background_work():
    assert not ServiceProvider(lambda: pytest.fail("opened")).run_background_step()


async def test_after_a_failure_background_work_rests_and_is_tried_again(opened, monkeypatch, caplog):
    monkeypatch.setattr("hybrid_memory_mcp.runtime.provider.SKIPPED_STEPS_AFTER_FAILURE", 3)
    steps = Steps(2, StoreFull("no space is left"))
    provider = opened(steps)
    assert [provider.run_background_step() for _ in range(4)] == [False] * 4
    assert steps.looks == 1
    assert "no space is left" in caplog.text
    steps.failure = None
    assert provider.run_background_step()
    assert not provider.run_background_step()
    assert steps.looks == 3
