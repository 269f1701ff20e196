import shutil

import pytest

from hybrid_memory.errors import StoreClosed
from hybrid_memory.testing import HashEmbedder
from hybrid_memory_dbgpt import (
    AgentMemoryFragment,
    ChromaStore,
    ChromaVectorConfig,
    Document,
    DuckDBVectorConfig,
    DuckDBVectorStore,
    HybridMemory,
    LongTermMemory,
)

pytestmark = pytest.mark.anyio


def contents(store):
    return sorted(one.content for one in store.documents())


@pytest.fixture
def opened():
    stores = []

    def opened(*given, **named):
        stores.append(DuckDBVectorStore(*given, **{"embedding_fn": HashEmbedder(), **named}))
        return stores[-1]

    yield opened
    for store in stores:
        store.close()


@pytest.mark.slow
@pytest.mark.parametrize(
    "made",
    [
        lambda path, embeddings: ChromaStore(ChromaVectorConfig(persist_path=path), name="n", embedding_fn=embeddings),
        lambda path, embeddings: ChromaStore(
            vector_store_config=ChromaVectorConfig(persist_path=path), name="n", embedding_fn=embeddings
        ),
        lambda path, embeddings: ChromaStore(
            ChromaVectorConfig(
                embedding_fn=embeddings, vector_store_config=ChromaVectorConfig(name="n", persist_path=path)
            )
        ),
        lambda path, embeddings: DuckDBVectorStore(
            DuckDBVectorConfig(name="n", persist_path=path, embedding_fn=embeddings)
        ),
    ],
)
async def test_every_form_of_a_vector_store_is_the_same_store(made, tmp_path):
    embeddings = HashEmbedder()
    store = made(str(tmp_path), embeddings)
    memory = LongTermMemory(vector_store=store, _default_importance=0.5)
    await memory.write(AgentMemoryFragment("the key is under the pot"))
    assert [one.raw_observation for one in await memory.read("key")] == ["the key is under the pot"]
    assert (store.name, store.embeddings) == ("n", embeddings)
    assert (tmp_path / "memory.duckdb").exists()
    store.close()


def test_what_is_given_beside_a_configuration_counts_first(opened):
    assert opened(DuckDBVectorConfig(name="inside"), name="beside").name == "beside"
    assert opened().name == "agent_memory"


def test_one_folder_may_be_opened_by_several_objects_of_a_process(opened, tmp_path):
    first = opened(DuckDBVectorConfig(persist_path=tmp_path))
    second = opened(DuckDBVectorConfig(persist_path=tmp_path / ".." / tmp_path.name))
    other = opened(DuckDBVectorConfig(name="other", persist_path=tmp_path))
    first.load_document([Document(content="tea")])
    assert (contents(second), contents(other)) == (["tea"], [])


def test_a_shared_folder_stays_open_until_the_last_object_closes(opened, tmp_path):
    first, second = opened(DuckDBVectorConfig(persist_path=tmp_path)), opened(DuckDBVectorConfig(persist_path=tmp_path))
    first.load_document([Document(content="tea")])
    first.close()
    first.close()
    assert contents(second) == ["tea"]
    second.close()
    with pytest.raises(StoreClosed):
        second.documents()
    assert contents(opened(DuckDBVectorConfig(persist_path=tmp_path))) == ["tea"]


@pytest.mark.slow
def test_a_folder_that_was_deleted_is_a_new_one(opened, tmp_path):
    folder = tmp_path / "store"
    old = opened(DuckDBVectorConfig(persist_path=folder))
    old.load_document([Document(content="tea")])
    shutil.rmtree(folder)
    new = opened(DuckDBVectorConfig(persist_path=folder))
    new.load_document([Document(content="coffee")])
    assert contents(new) == ["coffee"]
    with pytest.raises(StoreClosed):
        old.documents()
    old.close()
    assert contents(new) == ["coffee"]
    new.close()
    assert contents(opened(DuckDBVectorConfig(persist_path=folder))) == ["coffee"]


async def test_a_hybrid_memory_has_chromas_way_of_being_made(tmp_path):
    memory = HybridMemory.from_chroma(vstore_name="n", vstore_path=str(tmp_path), embeddings=HashEmbedder())
    await memory.write(AgentMemoryFragment("tea"))
    assert [one.raw_observation for one in await memory.read("tea")] == ["tea"]
    assert [one.raw_observation for one in memory.short_term_memory.short_term_memories] == ["tea"]
    await memory.close()
