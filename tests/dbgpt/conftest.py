"""Fixtures of the tests of the DB-GPT names."""

import pytest
from tests.core.store.empty_database import discard, lay_empty

from hybrid_memory.store.duck.store import DuckStore
from hybrid_memory.testing import FakeClock, FakeRandomSource, HashEmbedder
from hybrid_memory_dbgpt import DuckDBVectorConfig, DuckDBVectorStore


@pytest.fixture
def anyio_backend():
    return "asyncio"


@pytest.fixture
def clock():
    return FakeClock()


@pytest.fixture
def store(tmp_path, clock):
    opened = DuckStore.open(lay_empty(tmp_path), clock)
    yield opened
    discard(opened)


@pytest.fixture
def vectors(store, clock):
    config = DuckDBVectorConfig(name="agent", embedding_fn=HashEmbedder())
    return DuckDBVectorStore(config, store=store, clock=clock, random_source=FakeRandomSource())
