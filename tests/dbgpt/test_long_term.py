from datetime import datetime, timedelta

import pytest

from hybrid_memory.errors import InvalidInput, NotFound
from hybrid_memory.store.writing import SetVector, WriteBatch
from hybrid_memory.testing import START, HashEmbedder
from hybrid_memory_dbgpt import AgentMemoryFragment, DuckDBVectorConfig, DuckDBVectorStore, LongTermMemory, RecallRules
from hybrid_memory_dbgpt.retriever import LongTermRetriever, Weights
from hybrid_memory_dbgpt.vector_store import Document

pytestmark = pytest.mark.anyio


def beside(store, clock):
    """Return another object over the same memories."""
    return DuckDBVectorStore(DuckDBVectorConfig(name="agent", embedding_fn=HashEmbedder()), store=store, clock=clock)


def texts(fragments):
    return [one.raw_observation for one in fragments]


def fragment(text, importance=1.0, age=timedelta()):
    return AgentMemoryFragment(text, importance=importance, last_accessed_time=START - age)


async def test_a_write_is_readable_at_once(vectors, clock):
    memory = LongTermMemory(vector_store=vectors, clock=clock)
    await memory.write(fragment("green tea"))
    assert texts(await memory.read("tea")) == ["green tea"]


async def test_what_was_read_has_the_id_it_was_written_with(vectors, clock):
    memory, said = LongTermMemory(vector_store=vectors, clock=clock), fragment("green tea")
    await memory.write(said)
    assert [one.id for one in await memory.read("tea")] == [said.id]


async def test_another_object_over_the_same_store_sees_what_was_written(vectors, clock):
    await LongTermMemory(vector_store=vectors, clock=clock).write(fragment("green tea"))
    assert texts(await LongTermMemory(vector_store=vectors, clock=clock).read("tea")) == ["green tea"]


async def test_each_weight_can_be_set(vectors, clock):
    memory = LongTermMemory(vector_store=vectors, clock=clock, recall=RecallRules(refresh=False))
    await memory.write(fragment("tea", 0.1, timedelta(days=30)))
    await memory.write(fragment("tea with much milk", 0.1))
    await memory.write(fragment("tea and cake and other things", 0.9, timedelta(days=30)))
    assert texts(await memory.read("tea", alpha=0, gamma=0))[0] == "tea"
    assert texts(await memory.read("tea", beta=0, gamma=0))[0] == "tea with much milk"
    assert texts(await memory.read("tea", alpha=0, beta=0))[0] == "tea and cake and other things"


@pytest.mark.slow
async def test_a_recall_keeps_a_memory_fresh_for_other_objects(vectors, clock):
    memory = LongTermMemory(vector_store=vectors, clock=clock)
    await memory.write(fragment("tea", age=timedelta(days=30)))
    await memory.read("tea")
    (found,) = vectors.documents()
    assert found.last_accessed_at == START


@pytest.mark.slow
@pytest.mark.parametrize("marker", ["[FORGET]", "[MERGE]"])
async def test_a_marked_text_is_never_returned(vectors, clock, marker):
    memory = LongTermMemory(vector_store=vectors, clock=clock)
    await memory.write(fragment(f"{marker} tea"))
    assert await memory.read("tea") == []


async def test_sessions_do_not_see_each_other(vectors, clock):
    first, second = (LongTermMemory(vector_store=vectors, clock=clock) for _ in range(2))
    first.initialize(session_id="a")
    second.initialize(session_id="b")
    await first.write(fragment("tea"))
    assert (texts(await first.read("tea")), await second.read("tea")) == (["tea"], [])


async def test_a_clone_keeps_the_filter(vectors, clock):
    memory = LongTermMemory(vector_store=vectors, clock=clock, metadata={"tenant": "t1"})
    assert memory.structure_clone().filters == {"tenant": "t1"}


async def test_a_batch_is_stored_whole_or_not_at_all(vectors, clock):
    memory = LongTermMemory(vector_store=vectors, clock=clock)
    with pytest.raises(InvalidInput, match="importance"):
        await memory.write_batch([fragment("tea"), AgentMemoryFragment("unrated")], START)
    assert (vectors.count(), memory.aggregate_importance) == (0, 0.0)


async def test_an_importance_of_any_scale_is_kept_and_its_row_stays_in_0_to_1(vectors, clock):
    memory = LongTermMemory(vector_store=vectors, clock=clock)
    await memory.write(fragment("tea", 8.1))
    (found,) = await memory.read("tea")
    assert found.importance == 8.1
    assert vectors.rows([found.id])[found.id].importance == 1.0


async def test_a_reflection_is_due_when_enough_importance_came_in(vectors, clock):
    memory = LongTermMemory(vector_store=vectors, clock=clock, reflection_threshold=1.5)
    await memory.write(fragment("tea"))
    assert not memory.reflection_due
    await memory.write(fragment("coffee"))
    assert memory.reflection_due


async def test_a_naive_time_is_local_time(vectors, clock):
    memory = LongTermMemory(vector_store=vectors, clock=clock)
    local = datetime(2026, 1, 2, 3, 4)  # noqa: DTZ001 - what datetime.now() gives
    await memory.write(AgentMemoryFragment("tea", importance=1.0, last_accessed_time=local))
    assert vectors.documents()[0].metadata["last_accessed_at"] == local.timestamp()


async def test_a_memory_needs_a_store():
    with pytest.raises(InvalidInput, match="vector_store"):
        LongTermMemory()


async def test_forgetting_what_is_not_there_is_refused(vectors):
    with pytest.raises(NotFound):
        vectors.forget(["nothing"])


@pytest.mark.slow
async def test_changes_by_another_process_are_followed(vectors, store, clock):
    memory = LongTermMemory(vector_store=vectors, clock=clock)
    await memory.write(fragment("tea"))
    await memory.write(fragment("coffee"))
    await memory.read("tea")
    other = beside(store, clock)
    other.forget([one.id for one in other.documents() if one.content == "tea"])
    await LongTermMemory(vector_store=other, clock=clock).write(fragment("water"))
    assert set(texts(await memory.read(""))) == {"coffee", "water"}


async def test_a_vector_that_follows_takes_the_place_of_the_old_one(vectors, store, clock):
    (one,) = vectors.load_document([Document(content="apples", metadata={"importance": 1.0})])
    vectors.similar_search_with_scores("apples", None, 0.0, {})
    later = HashEmbedder().embed(["zebras"])[0]
    store.write("agent", None, lambda _: WriteBatch(action="reembed", actor="test", vectors=(SetVector(one, later),)))
    (found,) = vectors.similar_search_with_scores("zebras", None, 0.5, {})
    assert found.id == one


@pytest.mark.slow
async def test_a_trimmed_log_is_no_obstacle(vectors, store, clock):
    memory = LongTermMemory(vector_store=vectors, clock=clock)
    await memory.write(fragment("tea"))
    await memory.read("tea")
    other = LongTermMemory(
        vector_store=type(vectors)(
            DuckDBVectorConfig(name="agent", embedding_fn=HashEmbedder()), store=store, clock=clock
        ),
        clock=clock,
    )
    for text in ("coffee", "water"):
        await other.write(fragment(text))
    store.trim(vectors.name, store.head(vectors.name) + 1)
    await other.write(fragment("milk"))
    assert vectors.count() == 4


async def test_a_text_without_a_vector_is_kept_and_found_without_likeness(vectors, clock):
    memory = LongTermMemory(vector_store=vectors, clock=clock)
    await memory.write(fragment("   "))
    assert texts(await memory.read("tea")) == ["   "]


class Foreign:
    """A vector store that gives documents only, as one that is not ours does."""

    def __init__(self, vectors):
        self.similar_search_with_scores = vectors.similar_search_with_scores


def scored(document, alpha, beta, gamma):
    """Return a document's score by the formula, one document at a time."""
    accessed = document.last_accessed_at or document.metadata.get("last_accessed_at")
    if accessed is None:
        return beta * document.score
    seconds = accessed.timestamp() if isinstance(accessed, datetime) else accessed
    recency = 0.99 ** max(0.0, (START.timestamp() - seconds) / 3600)
    return alpha * recency + beta * document.score + gamma * document.metadata.get("importance", 0.0)


@pytest.mark.slow
@pytest.mark.parametrize("query", ["tea cake", ""])
def test_all_are_ranked_by_the_formula_and_equals_by_their_cosine(vectors, query):
    words = ["tea", "cake", "tea cake", "coffee", "a tea and a cake"]
    vectors.load_document(
        [
            Document(content=f"{words[at % 5]} {at % 7}", metadata={"importance": at % 4, "last_accessed_at": moment})
            for at, moment in enumerate(START.timestamp() - 1000.0 * (at % 9) for at in range(80))
        ]
    )
    vectors.load_document([Document(content="tea without a time", metadata={"importance": 9})])
    vectors.touch([one.id for one in vectors.documents()[::5]], START - timedelta(hours=3))
    found = vectors.similar_search_with_scores(query, None, 0.0, {})
    expected = sorted(found, key=lambda one: -scored(one, 0.7, 1.3, 0.2))
    for store in (vectors, Foreign(vectors)):
        ranked = LongTermRetriever(store, RecallRules()).rank(query, {}, START, Weights(0.7, 1.3, 0.2))
        assert [one.document for one in ranked] == expected
        assert [one.score for one in ranked] == [scored(one, 0.7, 1.3, 0.2) for one in expected]
