"""While the database is away reads go on by what is in memory, if the setting allows it, and say how old that is; nothing is written."""

from time import monotonic, sleep

import pytest
from tests.postgres.proxy import Proxy

from hybrid_memory.errors import EngineUnavailable
from hybrid_memory.model import Scope
from hybrid_memory.requests import ForgetRequest, ReadRequest, WriteRequest
from hybrid_memory.service.memory_service import MemoryService
from hybrid_memory.testing import FakeClock, FakeRandomSource, HashEmbedder
from hybrid_memory_postgres.offline import OfflineReads
from hybrid_memory_postgres.store import PostgresStore

pytestmark = [pytest.mark.postgres, pytest.mark.daily]
SCOPE = Scope(session="s")


@pytest.fixture
def proxy(database):
    made = Proxy(database)
    yield made
    made.close()


@pytest.fixture
def opened(proxy, database):
    services = []

    def open_one(seconds=60.0, *, through=True):
        conninfo = proxy.conninfo if through else database.conninfo
        store = PostgresStore.open(conninfo, FakeClock(), size=4, wait_seconds=0.5)
        store = OfflineReads(store, seconds) if seconds else store
        services.append(
            MemoryService(store, HashEmbedder(16), clock=FakeClock(), random_source=FakeRandomSource(len(services) + 1))
        )
        return services[-1]

    yield open_one
    proxy.go_on()
    for one in services:
        one.close()


def until(condition):
    limit = monotonic() + 60
    while not condition():
        assert monotonic() < limit, "it does not come about"
        sleep(0.01)


def cut_off(proxy, service):
    proxy.refuse()
    proxy.cut_all()
    until(lambda: service.store.offline_seconds() is not None or service.store.behind_seconds() > 3)


def write(service, content):
    return service.write(SCOPE, WriteRequest(content=content)).id


def texts(service, query):
    return [hit.memory.content for hit in service.read(SCOPE, ReadRequest(query=query)).hits if not hit.weak]


def test_a_read_is_answered_and_says_how_old_it_is(proxy, opened):
    service = opened()
    write(service, "Ada keeps bees")
    assert service.read(SCOPE, ReadRequest(query="bees")).offline_seconds is None
    cut_off(proxy, service)
    found = service.read(SCOPE, ReadRequest(query="bees"))
    assert [hit.memory.content for hit in found.hits] == ["Ada keeps bees"]
    assert found.offline_seconds > 1


def test_what_another_hub_wrote_before_is_read_and_what_it_writes_then_is_not(proxy, opened):
    service, other = opened(), opened(0, through=False)
    write(service, "Ada keeps bees")
    service.read(SCOPE, ReadRequest(query="bees"))
    write(other, "Bo keeps ducks")
    until(lambda: texts(service, "ducks") == ["Bo keeps ducks"])
    cut_off(proxy, service)
    write(other, "Cy keeps goats")
    assert (texts(service, "ducks"), texts(service, "goats")) == (["Bo keeps ducks"], [])
    proxy.go_on()
    until(lambda: texts(service, "goats") == ["Cy keeps goats"])
    assert service.read(SCOPE, ReadRequest(query="goats")).offline_seconds is None


def test_memories_that_nobody_has_read_are_there_too(proxy, opened):
    first = opened(0, through=False)
    ids = [write(first, f"remark {number} of the day") for number in range(30)]
    service = opened()
    service.read(SCOPE, ReadRequest(query="remark 3"))
    until(lambda: not service.store._due)
    cut_off(proxy, service)
    found = service.read(SCOPE, ReadRequest(ids=tuple(ids)))
    assert {hit.memory.id for hit in found.hits} == set(ids)


def test_what_was_forgotten_before_is_not_shown(proxy, opened):
    service, other = opened(), opened(0, through=False)
    gone = write(service, "Ada keeps bees")
    other.forget(SCOPE, ForgetRequest(ids=(gone,)))
    until(lambda: texts(service, "bees") == [])
    cut_off(proxy, service)
    assert texts(service, "bees") == []


def test_nothing_is_written_meanwhile_and_it_says_so(proxy, opened):
    service = opened()
    write(service, "Ada keeps bees")
    cut_off(proxy, service)
    with pytest.raises(EngineUnavailable, match="the database cannot be reached; nothing was changed"):
        write(service, "Bo keeps ducks")
    proxy.go_on()
    until(lambda: service.store.offline_seconds() is None)
    assert texts(service, "ducks") == []


def test_without_the_setting_a_read_says_that_the_database_is_away(proxy, opened):
    service = opened(0)
    write(service, "Ada keeps bees")
    cut_off(proxy, service)
    with pytest.raises(EngineUnavailable, match="the database cannot be reached"):
        texts(service, "bees")


def test_after_the_time_that_is_allowed_a_read_says_so_too(proxy, opened):
    service = opened(3.0)
    write(service, "Ada keeps bees")
    cut_off(proxy, service)
    until(lambda: service.store.behind_seconds() > 3)
    with pytest.raises(EngineUnavailable, match="the database cannot be reached"):
        texts(service, "bees")


def test_a_namespace_that_was_never_read_is_not_known(proxy, opened):
    service = opened()
    write(service, "Ada keeps bees")
    cut_off(proxy, service)
    with pytest.raises(EngineUnavailable):
        service.get(Scope(session="s", namespace="other"), "06gzh21e6ndjkvr6d7pw")
