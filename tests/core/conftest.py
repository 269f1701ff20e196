"""A memory without a file: real rules, real search, a clock that stands still."""

import pytest

from hybrid_memory.model import Scope
from hybrid_memory.service.memory_service import MemoryService
from hybrid_memory.settings import StoreSettings
from hybrid_memory.store.memory.store import MemoryStore
from hybrid_memory.testing import FakeClock, FakeRandomSource, HashEmbedder


@pytest.fixture
def clock():
    return FakeClock()


@pytest.fixture
def random_source():
    return FakeRandomSource()


@pytest.fixture
def service(clock, random_source):
    service = MemoryService(
        MemoryStore(clock),
        HashEmbedder(),
        clock=clock,
        random_source=random_source,
        settings=StoreSettings(sensory_buffer=4),
    )
    yield service
    service.close()


@pytest.fixture
def scope():
    return Scope(session="morning", actor="test")
