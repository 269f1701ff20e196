"""The provider opens the memory once, lends it to calls, closes it for work that needs the files, and keeps its threads few."""

import math
import queue
import threading

import anyio
import anyio.lowlevel
import pytest
from tests.server.services import SCOPE, WAIT_SECONDS, ObservedService

from hybrid_memory.errors import EngineUnavailable, StoreClosed, StoreLocked
from hybrid_memory.requests import WriteRequest
from hybrid_memory_mcp.runtime.provider import ServiceProvider, WorkerPool


class LoggedService(ObservedService):
    """Writes down when it is opened and closed."""

    def __init__(self, log):
        super().__init__()
        self.log = log
        log.append("opened")

    def close(self):
        super().close()
        self.log.append("closed")


@pytest.fixture
def log():
    return []


@pytest.fixture
def provider(log):
    provider = ServiceProvider(lambda: LoggedService(log))
    yield provider
    provider.close(None)


def started(work, *arguments):
    thread = threading.Thread(target=work, args=arguments)
    thread.start()
    return thread


class Held:
    """Work that lasts until it is let go."""

    def __init__(self, log, name):
        self.log, self.name = log, name
        self.inside, self.go = threading.Event(), threading.Event()

    def __call__(self, *_):
        self.inside.set()
        assert self.go.wait(WAIT_SECONDS)
        self.log.append(self.name)


def waiting_alone(provider):
    """Return once somebody waits for the store's lock alone."""
    while not (provider._service.lock._waiting or provider._operations._waiting):
        pass


# the store is closed for exclusive work


def test_exclusive_work_closes_the_store_and_the_next_call_opens_it_again(provider, log):
    provider.run(lambda _: log.append("call"))
    provider.run_exclusive(lambda: log.append("exclusive"))
    provider.run(lambda _: log.append("call"))
    assert log == ["opened", "call", "closed", "exclusive", "opened", "call"]


def test_a_call_waits_while_exclusive_work_is_done_on_a_store_that_was_not_open(provider, log):
    exclusive = Held(log, "exclusive")
    owner = started(provider.run_exclusive, exclusive)
    assert exclusive.inside.wait(WAIT_SECONDS)
    caller = started(provider.run, lambda _: log.append("call"))
    exclusive.go.set()
    caller.join(WAIT_SECONDS)
    owner.join(WAIT_SECONDS)
    assert log == ["exclusive", "opened", "call"]


def test_a_call_that_waits_for_exclusive_work_gets_the_store_that_is_opened_afterwards(provider, log):
    call, exclusive = Held(log, "first call"), Held(log, "exclusive")
    first = started(provider.run, call)
    assert call.inside.wait(WAIT_SECONDS)
    before = provider._service
    owner = started(provider.run_exclusive, exclusive)
    waiting_alone(provider)
    served = []
    late = started(provider.run, served.append)
    call.go.set()
    exclusive.go.set()
    for thread in (first, owner, late):
        thread.join(WAIT_SECONDS)
    assert log == ["opened", "first call", "closed", "exclusive", "opened"]
    assert served[0] is not before
    assert not served[0].closed


@pytest.mark.parametrize("way", ["run", "run_operation"])
def test_exclusive_work_waits_for_what_runs(provider, log, way):
    running = Held(log, "work")
    worker = started(getattr(provider, way), running)
    assert running.inside.wait(WAIT_SECONDS)
    owner = started(provider.run_exclusive, lambda: log.append("exclusive"))
    waiting_alone(provider)
    running.go.set()
    for thread in (worker, owner):
        thread.join(WAIT_SECONDS)
    assert log == ["opened", "work", "closed", "exclusive"]


def test_a_long_operation_holds_up_neither_calls_nor_a_change_of_the_embedder(provider, log):
    operation = Held(log, "operation")
    worker = started(provider.run_operation, operation)
    assert operation.inside.wait(WAIT_SECONDS)
    with provider.ensure_open().lock.exclusive():
        log.append("change")
    provider.run(lambda service: service.write(SCOPE, WriteRequest(content="Ada")))
    operation.go.set()
    worker.join(WAIT_SECONDS)
    assert log == ["opened", "change", "operation"]


def test_a_call_takes_one_lock(provider, monkeypatch):
    service, entered = provider.ensure_open(), []
    real = service.lock._changed.wait_for
    monkeypatch.setattr(service.lock._changed, "wait_for", lambda ready: (entered.append("service"), real(ready)))
    monkeypatch.setattr(provider._operations._changed, "wait_for", lambda _: entered.append("operations"))
    provider.run(lambda service: service.write(SCOPE, WriteRequest(content="Ada")))
    assert entered == ["service"]


# opening and closing


def test_an_opening_that_failed_is_tried_again_by_the_next_call(log):
    tries = iter([StoreLocked(7), None])

    def open_service():
        if error := next(tries):
            raise error
        return LoggedService(log)

    provider = ServiceProvider(open_service)
    with pytest.raises(StoreLocked):
        provider.run(lambda service: service)
    provider.run(lambda service: service)
    provider.close(None)
    assert log == ["opened", "closed"]


def test_a_failed_warm_up_is_left_for_the_first_call():
    def fail():
        raise StoreLocked(7)

    provider = ServiceProvider(fail)
    provider._warm_up(SCOPE)
    with pytest.raises(StoreLocked):
        provider.run(lambda service: service)


def test_a_closed_provider_ends_the_session_closes_and_opens_no_more(provider):
    service = provider.ensure_open()
    provider.close(SCOPE)
    assert service.ended == [SCOPE.session]
    assert service.closed
    for use in (provider.run, provider.run_operation):
        with pytest.raises(StoreClosed):
            use(lambda service: service)
    with pytest.raises(StoreClosed):
        provider.run_exclusive(lambda: None)


def test_closing_what_was_never_opened_opens_nothing(provider, log):
    provider.close(SCOPE)
    assert log == []


def test_what_changes_otherwise_than_by_a_write_is_told_too(provider):
    told = queue.SimpleQueue()
    provider.listen(lambda *news: told.put(news), lambda: True)
    provider.run(lambda _: None)
    provider.announce(["default", "work"])
    assert [told.get(timeout=WAIT_SECONDS) for _ in range(2)] == [("default", frozenset()), ("work", frozenset())]


# threads


async def until(condition):
    with anyio.fail_after(60):
        while not condition():
            await anyio.lowlevel.checkpoint()


async def begun(workers, work, *limiters):
    """Begin work whose caller gives up while it is being done."""
    started = threading.Event()

    def watched():
        started.set()
        return work()

    async with anyio.create_task_group() as group:
        group.start_soon(workers.run, watched, *limiters)
        await until(started.is_set)
        group.cancel_scope.cancel()


@pytest.mark.anyio
async def test_work_gives_its_answer_and_its_place_back():
    workers = WorkerPool(1)
    assert [await workers.run(lambda: 1), await workers.run(lambda: 2)] == [1, 2]
    assert workers.busy == 0


@pytest.mark.anyio
async def test_an_error_reaches_the_caller_and_gives_the_place_back():
    workers = WorkerPool(1)
    with pytest.raises(ZeroDivisionError):
        await workers.run(lambda: 1 // 0)
    assert workers.busy == 0


@pytest.mark.anyio
async def test_work_whose_caller_left_keeps_its_place_until_it_is_done():
    workers, end = WorkerPool(1), threading.Event()
    await begun(workers, end.wait)
    assert workers.busy == 1
    end.set()
    await until(lambda: workers.busy == 0)


@pytest.mark.anyio
async def test_work_that_had_to_wait_is_not_begun_when_its_caller_left():
    workers, end, done = WorkerPool(1), threading.Event(), []
    async with anyio.create_task_group() as group:
        group.start_soon(workers.run, end.wait)
        await until(lambda: workers.busy == 1)
        async with anyio.create_task_group() as impatient:
            impatient.start_soon(workers.run, lambda: done.append("late"))
            await anyio.lowlevel.checkpoint()
            impatient.cancel_scope.cancel()
        end.set()
    assert await workers.run(lambda: "next") == "next"
    assert done == []


@pytest.mark.anyio
async def test_work_whose_caller_left_keeps_its_place_in_its_lane_too():
    workers, limiter, end = WorkerPool(2), anyio.CapacityLimiter(1), threading.Event()
    await begun(workers, end.wait, limiter)
    assert limiter.borrowed_tokens == 1
    end.set()
    await until(lambda: limiter.borrowed_tokens == 0 and workers.busy == 0)


@pytest.mark.anyio
async def test_who_leaves_before_there_is_a_place_gives_back_the_one_in_the_lane():
    workers, limiter, end = WorkerPool(1), anyio.CapacityLimiter(1), threading.Event()
    async with anyio.create_task_group() as group:
        group.start_soon(workers.run, end.wait)
        await until(lambda: workers.busy == 1)
        with anyio.move_on_after(0):
            await workers.run(lambda: None, limiter)
        assert limiter.borrowed_tokens == 0
        end.set()


class WatchedLock:
    """A lock that tells how many came to it."""

    def __init__(self):
        self._lock = threading.Lock()
        self.came = threading.Semaphore(0)

    def __enter__(self):
        self.came.release()
        self._lock.acquire()

    def __exit__(self, *_):
        self._lock.release()


class Unreachable:
    """A store whose opening fails, once it is let go."""

    def __init__(self):
        self.tries = 0
        self.begun = threading.Event()
        self.may_fail = threading.Event()

    def __call__(self):
        self.tries += 1
        self.begun.set()
        assert self.may_fail.wait(WAIT_SECONDS)
        raise EngineUnavailable("the database cannot be reached")


def test_of_callers_that_wait_for_an_opening_none_tries_again_what_failed():
    opening = Unreachable()
    provider = ServiceProvider(opening)
    provider._opening = WatchedLock()
    told = queue.Queue()

    def ask():
        try:
            provider.ensure_open()
        except EngineUnavailable as error:
            told.put(str(error))

    first = started(ask)
    assert opening.begun.wait(WAIT_SECONDS)
    others = [started(ask) for _ in range(3)]
    for _ in range(4):
        assert provider._opening.came.acquire(timeout=WAIT_SECONDS)
    opening.may_fail.set()
    for one in (first, *others):
        one.join(WAIT_SECONDS)
    assert [told.get(timeout=WAIT_SECONDS) for _ in range(4)] == ["the database cannot be reached"] * 4
    assert opening.tries == 1


def test_who_comes_later_tries_again():
    opening = Unreachable()
    opening.may_fail.set()
    provider = ServiceProvider(opening)
    for _ in range(2):
        with pytest.raises(EngineUnavailable):
            provider.ensure_open()
    assert opening.tries == 2


def test_a_store_that_could_not_be_opened_is_endlessly_behind_and_one_that_nobody_asked_for_is_not():
    opening = Unreachable()
    opening.may_fail.set()
    provider = ServiceProvider(opening)
    assert provider.behind_seconds() == 0
    with pytest.raises(EngineUnavailable):
        provider.ensure_open()
    assert provider.behind_seconds() == math.inf
