"""The provider lets one be alone with the files while the calls of clients wait."""

import queue
import threading

import anyio

from hybrid_memory_mcp.runtime.provider import ServiceProvider


class Opened:
    def __init__(self, log):
        self.log = log
        log.append("opened")

    def listen(self, _listener):
        return lambda: None

    def close(self):
        self.log.append("closed")


def test_alone_closes_the_store_and_the_next_call_opens_it_again():
    log = []
    provider = ServiceProvider(lambda: Opened(log))
    provider.run(lambda _: log.append("call"))
    provider.run_exclusive(lambda: log.append("alone"))
    provider.run(lambda _: log.append("call"))
    assert log == ["opened", "call", "closed", "alone", "opened", "call"]


def test_a_call_waits_while_somebody_is_alone():
    log = []
    provider = ServiceProvider(lambda: Opened(log))
    inside, leave = threading.Event(), threading.Event()

    def stay():
        inside.set()
        leave.wait(10)
        log.append("alone")

    owner = threading.Thread(target=provider.run_exclusive, args=(stay,))
    owner.start()
    inside.wait(10)
    caller = threading.Thread(target=provider.run, args=(lambda _: log.append("call"),))
    caller.start()
    leave.set()
    caller.join(10)
    owner.join(10)
    assert log == ["alone", "opened", "call"]


def test_alone_waits_for_the_calls_that_run():
    log = []
    provider = ServiceProvider(lambda: Opened(log))
    inside, leave = threading.Event(), threading.Event()

    def work(_):
        inside.set()
        leave.wait(10)
        log.append("call")

    async def play():
        async with anyio.create_task_group() as group:
            group.start_soon(provider.call, work)
            await anyio.to_thread.run_sync(inside.wait, 10)
            owner = threading.Thread(target=provider.run_exclusive, args=(lambda: log.append("alone"),))
            owner.start()
            leave.set()
            await anyio.to_thread.run_sync(owner.join, 10)

    anyio.run(play)
    assert log == ["opened", "call", "closed", "alone"]


def test_what_changes_otherwise_than_by_a_write_is_told_too():
    provider = ServiceProvider(lambda: Opened([]))
    told = queue.SimpleQueue()
    provider.listen(lambda *news: told.put(news), lambda: True)
    provider.run(lambda _: None)
    provider.announce(["default", "work"])
    assert [told.get(timeout=10) for _ in range(2)] == [("default", frozenset()), ("work", frozenset())]
