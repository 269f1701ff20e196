"""Late work in the server: piece after piece, and a rest after a failure."""

import anyio
import anyio.lowlevel
import pytest
from tests.server.fakes import FakeService

from hybrid_memory.errors import StoreFull
from hybrid_memory_mcp.runtime import background_tasks
from hybrid_memory_mcp.runtime.provider import ServiceProvider

pytestmark = pytest.mark.anyio


class Busy(FakeService):
    """Has some pieces of late work."""

    def __init__(self, pieces, failure=None):
        super().__init__()
        self.pieces = pieces
        self.failure = failure
        self.looks = 0

    def run_background_step(self):
        self.looks += 1
        if self.failure:
            raise self.failure
        self.pieces -= 1
        return self.pieces > 0


def opened(busy):
    provider = ServiceProvider(lambda: busy)
    provider.ensure_open()
    return provider


async def test_late_work_is_done_to_its_end(monkeypatch):
    monkeypatch.setattr(background_tasks, "TEND", 0.001)
    busy = Busy(5)
    async with anyio.create_task_group() as group:
        group.start_soon(background_tasks.run_background_work, opened(busy))
        while busy.pieces > 0:
            await anyio.lowlevel.checkpoint()
        group.cancel_scope.cancel()
    assert busy.looks >= 5


async def test_a_store_that_is_not_open_has_no_late_work():
    assert not ServiceProvider(lambda: pytest.fail("opened")).run_background_step()


async def test_after_a_failure_late_work_rests_and_is_tried_again(monkeypatch, caplog):
    monkeypatch.setattr("hybrid_memory_mcp.runtime.provider._REST", 3)
    busy = Busy(2, StoreFull("no space is left"))
    provider = opened(busy)
    assert [provider.run_background_step() for _ in range(4)] == [False] * 4
    assert busy.looks == 1
    assert "no space is left" in caplog.text
    busy.failure = None
    assert provider.run_background_step()
    assert not provider.run_background_step()
    assert busy.looks == 3
