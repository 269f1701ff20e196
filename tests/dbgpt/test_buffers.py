import pytest

from hybrid_memory.errors import InvalidInput
from hybrid_memory.testing import HashEmbedder
from hybrid_memory_dbgpt import (
    AgentMemory,
    AgentMemoryFragment,
    EnhancedShortTermMemory,
    SensoryMemory,
    ShortTermMemory,
    StructuredAgentMemoryFragment,
)

pytestmark = pytest.mark.anyio


class Failing:
    async def extract_insights(self, _):
        raise RuntimeError("model down")

    async def score_importance(self, _):
        raise RuntimeError("model down")


def eager():
    """Every draw succeeds, and one enhancement is enough."""
    return EnhancedShortTermMemory(HashEmbedder(), enhance_threshold=1, draws=iter(lambda: 0.0, 1.0))


def texts(fragments):
    return [one.raw_observation for one in fragments]


async def test_a_failing_scorer_leaves_the_buffer_as_it_was():
    memory = SensoryMemory()
    memory.initialize(importance_scorer=Failing())
    with pytest.raises(RuntimeError, match="model down"):
        await memory.write(AgentMemoryFragment("a"))
    assert memory.fragments == []


@pytest.mark.parametrize("build", [lambda: ShortTermMemory(1), eager])
async def test_a_failing_extractor_loses_nothing(build):
    memory = build()
    await memory.write(AgentMemoryFragment("tea"))
    memory.insight_extractor = Failing()
    with pytest.raises(RuntimeError, match="model down"):
        await memory.write(AgentMemoryFragment("tea tea"))
    assert texts(memory.fragments) == ["tea", "tea tea"]


async def test_without_given_draws_a_run_can_be_repeated():
    async def run():
        memory = EnhancedShortTermMemory(HashEmbedder())
        for at in range(8):
            await memory.write(AgentMemoryFragment("tea", memory_id=f"m{at}"))
        return [(held.item.id, held.count) for held in memory.held]

    assert await run() == await run()


async def test_a_threshold_that_cannot_be_met_is_pointed_out():
    with pytest.warns(UserWarning, match="never be met"):
        EnhancedShortTermMemory(HashEmbedder(), enhance_similarity_threshold=0.75)


async def test_embeddings_of_langchain_are_taken():
    class LangChainLike:
        def embed_documents(self, texts):
            return [[1.0, 0.0] for _ in texts]

        def embed_query(self, _):
            return [1.0, 0.0]

    memory = EnhancedShortTermMemory(LangChainLike(), draws=iter([0.0]))
    await memory.write(AgentMemoryFragment("a"))
    await memory.write(AgentMemoryFragment("b"))
    assert memory.held[0].count == 1


@pytest.mark.parametrize(
    "build", [SensoryMemory, ShortTermMemory, lambda size: EnhancedShortTermMemory(HashEmbedder(), buffer_size=size)]
)
async def test_a_negative_size_is_refused(build):
    with pytest.raises(InvalidInput, match="buffer_size"):
        build(-1)


async def test_a_reader_cannot_change_what_is_held():
    memory = ShortTermMemory()
    await memory.write(AgentMemoryFragment("a", importance=1.0))
    (found,) = await memory.read("x")
    found.update_importance(9.0)
    assert memory.fragments[0].importance == 1.0


async def test_an_agent_remembers_an_exchange_as_the_prompt_will_show_it():
    memory = AgentMemory()
    await memory.write_memories("My name is Bob", "Hello Bob")
    assert await memory.read_memories("What is my name?") == "user: My name is Bob assistant: Hello Bob"


async def test_what_an_agent_reads_and_writes_can_be_overridden():
    class Joy(AgentMemory):
        async def read_memories(self, question):
            return "".join(texts(await self.read(question)))

        async def write_memories(self, question, ai_message):
            assert question == "q"
            return await self.write(AgentMemoryFragment(ai_message))

    memory = Joy()
    await memory.write_memories("q", "one")
    await memory.write_memories("q", "two")
    assert await memory.read_memories("q") == "onetwo"


async def test_a_clone_of_an_agents_memory_shares_the_conversation_log():
    memory = AgentMemory()
    assert memory.structure_clone().gpts_memory is memory.gpts_memory


def test_structured_text_that_is_not_json_takes_part_in_a_merge():
    parts = [StructuredAgentMemoryFragment({"thought": "t"}), AgentMemoryFragment("plain words")]
    merged = StructuredAgentMemoryFragment.reduce(parts)
    assert merged.structured_observation == [{"thought": "t"}, {"observation": "plain words"}]


@pytest.mark.parametrize("kind", [AgentMemoryFragment, StructuredAgentMemoryFragment])
def test_nothing_cannot_be_merged(kind):
    with pytest.raises(InvalidInput, match="fragments"):
        kind.reduce([])


def test_a_merge_names_its_parents():
    parts = [AgentMemoryFragment("a"), AgentMemoryFragment("b")]
    assert AgentMemoryFragment.reduce(parts).parents == tuple(one.id for one in parts)


def test_an_update_returns_what_was_before():
    fragment = AgentMemoryFragment("a", importance=1.0)
    assert (fragment.update_importance(2.0), fragment.importance) == (1.0, 2.0)
