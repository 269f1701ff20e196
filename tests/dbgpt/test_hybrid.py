from concurrent.futures import ThreadPoolExecutor

import anyio
import pytest

from hybrid_memory.errors import EngineUnavailable, InvalidInput, StoreDamaged
from hybrid_memory.model import Kind, Tier
from hybrid_memory.testing import START, HashEmbedder
from hybrid_memory_dbgpt import (
    AgentMemory,
    AgentMemoryFragment,
    DuckDBVectorConfig,
    DuckDBVectorStore,
    EnhancedShortTermMemory,
    HybridMemory,
    LongTermMemory,
    SensoryMemory,
    ShortTermMemory,
    WriteOperation,
)
from hybrid_memory_dbgpt.vector_store import BufferWrite

pytestmark = pytest.mark.anyio


def build(vectors, clock, *, sensory=0, short=10, enhance=3, **options):
    return HybridMemory.from_vstore(
        vectors,
        sensory_memory=SensoryMemory(sensory),
        short_term_memory=EnhancedShortTermMemory(
            vectors.embeddings, buffer_size=short, enhance_threshold=enhance, draws=iter(lambda: 0.0, 1.0)
        ),
        clock=clock,
        **options,
    )


def rows(vectors):
    ids = [entry.id for entry in vectors.store.changes(vectors.name, 0)]
    return {row.content: row for row in vectors.rows(ids).values()}


def tiers(vectors):
    return {text: row.tier for text, row in rows(vectors).items()}


def texts(fragments):
    return [one.raw_observation for one in fragments]


async def write(memory, *said, **options):
    for text in said:
        await memory.write(AgentMemoryFragment(text), **options)


async def test_a_buffered_fragment_is_a_row_before_the_write_returns(vectors, clock):
    await write(build(vectors, clock, sensory=1), "first")
    assert tiers(vectors) == {"first": Tier.SENSORY}


async def test_a_row_follows_its_fragment_from_sensory_to_short_term(vectors, clock):
    await write(build(vectors, clock, sensory=1), "first", "second")
    assert tiers(vectors) == {"first": Tier.SHORT_TERM, "second": Tier.SHORT_TERM}


async def test_an_evicted_fragment_is_reported_and_fades(vectors, clock):
    memory = build(vectors, clock, short=1)
    await write(memory, "old")
    left = await memory.write(AgentMemoryFragment("new"))
    assert texts(left.faded) == ["old"]
    assert tiers(vectors) == {"old": Tier.FADED, "new": Tier.SHORT_TERM}


async def test_a_dropped_fragment_is_reported_and_fades(vectors, clock):
    left = await build(vectors, clock).write(AgentMemoryFragment("noise", importance=0.01))
    assert texts(left.faded) == ["noise"]
    assert tiers(vectors) == {"noise": Tier.FADED}


async def test_a_merge_is_a_long_term_row_that_names_its_parents(vectors, clock):
    await write(build(vectors, clock, enhance=1), "tea", "tea tea")
    merged = rows(vectors)["tea;tea tea"]
    assert merged.tier is Tier.LONG_TERM
    assert set(merged.parents) == {rows(vectors)["tea"].id, rows(vectors)["tea tea"].id}
    assert tiers(vectors)["tea"] is Tier.FADED


async def test_a_search_sees_long_term_alone(vectors, clock):
    await write(build(vectors, clock, short=1), "tea", "coffee", "water")
    assert vectors.similar_search_with_scores("tea", None, -1, {}) == []


async def test_a_read_gives_long_term_then_short_term_then_sensory(vectors, clock):
    memory = build(vectors, clock, sensory=1)
    await memory.long_term_memory.write(AgentMemoryFragment("tea lasting", importance=1.0))
    await write(memory, "one", "two", "three")
    assert texts(await memory.read("tea")) == ["tea lasting", "one", "two", "three"]


async def test_a_recalled_write_is_offered_and_not_kept(vectors, clock):
    memory = build(vectors, clock)
    await write(memory, "tea")
    await write(memory, "tea", op=WriteOperation.RETRIEVAL)
    assert [(held.item.text, held.count) for held in memory.short_term_memory.held] == [("tea", 1)]


async def test_a_new_object_takes_the_buffers_up_again(vectors, clock):
    await write(build(vectors, clock, sensory=1), "tea", "tea tea", "later")
    memory = build(vectors, clock, sensory=1, resume=True)
    assert texts(await memory.read("x")) == ["tea", "tea tea", "later"]
    assert memory.short_term_memory.held[0].count == 1


async def test_an_object_of_another_session_starts_empty(vectors, clock):
    await write(build(vectors, clock), "tea")
    memory = build(vectors, clock, resume=True)
    memory.initialize(session_id="another")
    assert await memory.read("x") == []


async def test_a_failing_store_leaves_the_buffers_as_they_were(vectors, clock, monkeypatch):
    memory = build(vectors, clock, enhance=1)
    await write(memory, "tea")

    def fail(*_):
        raise EngineUnavailable("no")

    with monkeypatch.context() as patch:
        patch.setattr(vectors, "commit", fail)
        with pytest.raises(EngineUnavailable):
            await write(memory, "tea tea")
    assert [(held.item.text, held.count) for held in memory.short_term_memory.held] == [("tea", 0)]
    await write(memory, "tea tea")
    assert tiers(vectors)["tea;tea tea"] is Tier.LONG_TERM


async def test_a_failing_extractor_costs_insights_only(vectors, clock):
    class Failing:
        async def extract_insights(self, _):
            raise RuntimeError("model down")

    memory = build(vectors, clock, enhance=1, default_insight_extractor=Failing())
    await write(memory, "tea")
    with pytest.raises(RuntimeError, match="model down"):
        await write(memory, "tea tea")
    assert tiers(vectors)["tea;tea tea"] is Tier.LONG_TERM


async def test_every_insight_is_kept_with_its_origin(vectors, clock):
    class Two:
        async def extract_insights(self, _):
            return ["likes tea", "wakes early"]

    await write(build(vectors, clock, enhance=1, default_insight_extractor=Two()), "tea", "tea tea")
    found = rows(vectors)
    assert found["likes tea"].kind is found["wakes early"].kind is Kind.INSIGHT
    assert found["likes tea"].parents == (found["tea;tea tea"].id,)


async def test_a_slow_extractor_does_not_hold_up_other_writes(vectors, clock):
    asked, answer = anyio.Event(), anyio.Event()

    class Slow:
        async def extract_insights(self, _):
            asked.set()
            await answer.wait()
            return []

    memory = build(vectors, clock, enhance=1, default_insight_extractor=Slow())
    await write(memory, "tea")
    async with anyio.create_task_group() as group:
        group.start_soon(write, memory, "tea tea")
        await asked.wait()
        await write(memory, "something else")
        answer.set()
    assert tiers(vectors)["something else"] is Tier.SHORT_TERM


async def test_concurrent_writes_are_all_kept(vectors, clock):
    memory = build(vectors, clock, sensory=2)
    said = [f"word{at}" for at in range(12)]
    async with anyio.create_task_group() as group:
        for text in said:
            group.start_soon(write, memory, text)
    assert set(rows(vectors)) == set(said)


async def test_the_same_fragment_can_be_written_twice(vectors, clock):
    memory, fragment = build(vectors, clock), AgentMemoryFragment("tea")
    await memory.write(fragment)
    await memory.write(fragment)
    assert tiers(vectors) == {"tea": Tier.SHORT_TERM}


async def test_a_clone_shares_long_term_and_has_buffers_of_its_own(vectors, clock):
    memory = build(vectors, clock)
    await write(memory, "tea")
    twin = memory.structure_clone()
    await write(twin, "coffee")
    assert texts(twin.short_term_memory.fragments) == ["coffee"]
    assert texts(await build(vectors, clock, resume=True).read("x")) == ["tea"]


async def test_a_clear_empties_everything_and_destroys_nothing(vectors, clock):
    memory = build(vectors, clock)
    await memory.long_term_memory.write(AgentMemoryFragment("lasting", importance=1.0))
    await write(memory, "tea")
    assert sorted(texts(await memory.clear())) == ["lasting", "tea"]
    assert await memory.read("tea") == []
    assert rows(vectors)["tea"].tier is Tier.FADED
    assert rows(vectors)["lasting"].forgotten_at is not None


async def test_damaged_buffers_are_reported_and_can_be_cleared(vectors, clock):
    vectors.commit([], BufferWrite(session="default", agent="default", state="damaged"))
    memory = build(vectors, clock, resume=True)
    with pytest.raises(StoreDamaged, match="clear"):
        await memory.read("x")
    await memory.clear()
    assert await build(vectors, clock, resume=True).read("x") == []


async def test_the_plain_short_term_memory_hands_the_oldest_to_long_term(vectors, clock):
    memory = HybridMemory.from_vstore(vectors, short_term_memory=ShortTermMemory(1), clock=clock)
    await write(memory, "old", "new")
    assert texts(await memory.long_term_memory.read("old")) == ["old"]


async def test_time_passes_from_the_given_start(vectors, clock):
    memory = build(vectors, clock, enhance=1, now=START.replace(year=2030))
    clock.advance(hours=2)
    await write(memory, "tea", "tea tea")
    moment = START.replace(year=2030, hour=14).timestamp()
    assert rows(vectors)["tea;tea tea"].metadata["last_accessed_at"] == moment


async def test_short_term_may_use_another_embedder_than_the_store(vectors, clock):
    memory = HybridMemory.from_vstore(vectors, HashEmbedder(8, "small"), clock=clock)
    await memory.long_term_memory.write(AgentMemoryFragment("tea", importance=1.0))
    await write(memory, "tea")
    assert texts(await memory.read("tea")) == ["tea", "tea"]


async def test_a_store_that_is_not_ours_works_too(clock):
    class Listed:
        def __init__(self):
            self.documents_held = []

        def load_document(self, documents):
            self.documents_held += documents
            return [one.id for one in documents]

        def similar_search_with_scores(self, *_):
            return self.documents_held

    memory = HybridMemory.from_vstore(Listed(), HashEmbedder(), clock=clock)
    await memory.long_term_memory.write(AgentMemoryFragment("tea", importance=1.0))
    await write(memory, "now")
    assert texts(await memory.read("tea")) == ["tea", "now"]


async def test_embeddings_are_needed_for_a_store_that_is_not_ours():
    with pytest.raises(InvalidInput, match="embeddings"):
        HybridMemory.from_vstore(object())


async def test_blocking_work_runs_in_the_executor(vectors, clock):
    used = []

    class Noting(ThreadPoolExecutor):
        def submit(self, *work):
            used.append(True)
            return super().submit(*work)

    with Noting(1) as executor:
        memory = HybridMemory.from_vstore(vectors, executor=executor, clock=clock)
        await write(memory, "tea")
        await memory.read("tea")
    assert len(used) >= 3


async def test_the_default_start_keeps_memories_over_a_restart(tmp_path):
    memory = HybridMemory.from_duckdb(vstore_path=tmp_path)
    await AgentMemory(memory).write(AgentMemoryFragment("I drink green tea in the morning"))
    await memory.long_term_memory.write(AgentMemoryFragment("The capital of France is Paris", importance=0.5))
    await memory.close()
    again = HybridMemory.from_duckdb(vstore_path=tmp_path)
    assert texts(await again.read("Which city is France's capital?")) == [
        "The capital of France is Paris",
        "I drink green tea in the morning",
    ]
    await again.close()


async def test_vectors_of_another_embedder_are_refused(vectors, store, clock):
    await write(build(vectors, clock), "tea")
    other = DuckDBVectorStore(DuckDBVectorConfig(name="b", embedding_fn=HashEmbedder(8, "small")), store=store)
    with pytest.raises(InvalidInput, match="another embedder"):
        await LongTermMemory(vector_store=other).write(AgentMemoryFragment("tea", importance=1.0))


async def test_taking_up_buffers_and_reading_take_no_write_transaction(vectors, clock, monkeypatch):
    await write(build(vectors, clock), "tea", "coffee")

    def refused(*_):
        raise AssertionError("a write transaction")

    monkeypatch.setattr(vectors.store, "write", refused)
    again = build(vectors, clock, resume=True)
    assert sorted(texts(await again.read("tea"))) == ["coffee", "tea"]
