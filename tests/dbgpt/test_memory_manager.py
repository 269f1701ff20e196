import anyio
import pytest

from hybrid_memory_dbgpt import MemoryConfig, MemoryManager

pytestmark = pytest.mark.anyio


class Slow:
    """A summarizer that lets others go on while it thinks."""

    def __init__(self, *, fails=False):
        self.seen = []
        self.fails = fails

    async def summarize(self, entries):
        self.seen += entries
        await anyio.lowlevel.checkpoint()
        if self.fails:
            raise RuntimeError("no model")
        return f"summary of {', '.join(entries)}"


async def test_a_manager_that_is_used_at_once_opens_its_store_once(tmp_path):
    async with MemoryManager(MemoryConfig(path=tmp_path)) as manager, anyio.create_task_group() as group:
        for number in range(4):
            group.start_soon(manager.add_memory, f"word{number}")


@pytest.mark.slow
async def test_what_leaves_the_window_is_summarised_exactly_once(tmp_path):
    slow = Slow()
    config = MemoryConfig(path=tmp_path, window=1, summarize_after=2, summarizer=slow)
    async with MemoryManager(config) as manager:
        await manager.service()
        async with anyio.create_task_group() as group:
            for number in range(9):
                group.start_soon(manager.add_memory, f"alpha{number} beta{number}", "short_term", {"importance": 0.3})
        await manager.summarize()
    assert len(slow.seen) == len(set(slow.seen)) == 8


async def test_a_failing_summary_is_tried_again(tmp_path):
    slow = Slow(fails=True)
    async with MemoryManager(MemoryConfig(path=tmp_path, window=1, summarizer=slow)) as manager:
        for number in range(2):
            await manager.add_memory(f"alpha{number} beta{number}", "short_term", {"importance": 0.3})
        with pytest.raises(RuntimeError):
            await manager.summarize()
        slow.fails = False
        assert await manager.summarize() is not None
    assert slow.seen == ["alpha0 beta0"] * 2


@pytest.mark.slow
async def test_what_waits_for_a_summary_survives_a_restart_and_is_still_found(tmp_path):
    config = MemoryConfig(path=tmp_path, window=1, summarize_after=3)
    async with MemoryManager(config, conversation_id="kitchen") as manager:
        for number in range(3):
            await manager.add_memory(f"alpha{number} beta{number}", "short_term", {"importance": 0.3})
    async with MemoryManager(config, conversation_id="kitchen") as manager:
        (found, *_) = await manager.search_memory("alpha0", "short_term")
        assert found.content == "alpha0 beta0"
        assert await manager.summarize() is not None
        assert await manager.summarize() is None
