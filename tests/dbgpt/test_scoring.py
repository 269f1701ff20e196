import anyio
import pytest
from tests.tables import each

from hybrid_memory.errors import InvalidInput
from hybrid_memory_dbgpt import (
    AgentMemory,
    AgentMemoryFragment,
    ImportanceScorer,
    InsightExtractor,
    InsightMemoryFragment,
    LLMImportanceScorer,
    LLMInsightExtractor,
    SensoryMemory,
    ShortTermMemory,
)

pytestmark = pytest.mark.anyio


def answering(answer):
    asked = []

    async def complete(prompt):
        asked.append(prompt)
        return answer

    return complete, asked


class Model:
    def __init__(self, answer):
        self.generate, self.asked = answering(answer)


@each("answer, rating", [("8", 8.0), ("Rating: 7/10", 7.0), ("none at all", 5.0), ("100", 10.0)])
def test_a_rating_is_read_from_the_answer(answer, rating):
    complete, asked = answering(answer)
    assert anyio.run(LLMImportanceScorer(complete).score_importance, "I moved to {Oslo}") == rating
    assert "I moved to {Oslo}" in asked[0]


def test_insights_are_the_lines_of_the_answer():
    complete, asked = answering("1. likes tea\n\n2. wakes early\n")
    assert anyio.run(LLMInsightExtractor(complete).extract_insights, "tea;tea") == ["likes tea", "wakes early"]
    assert "tea;tea" in asked[0]


class ByLength(ImportanceScorer[AgentMemoryFragment]):
    def __init__(self):
        self.models = []

    async def score_importance(self, memory_fragment, llm_client=None):
        self.models.append(llm_client)
        return len(memory_fragment.raw_observation)


class FragmentAlone:
    async def score_importance(self, memory_fragment):
        return len(memory_fragment.raw_observation)


class TextAlone:
    async def score_importance(self, text):
        return len(text)


class ModelByName:
    async def score_importance(self, memory_fragment, *, llm_client=None):
        del llm_client
        return len(memory_fragment.raw_observation)


@pytest.mark.parametrize("scorer", [ByLength(), FragmentAlone(), TextAlone(), ModelByName()])
async def test_a_scorer_gets_the_fragment(scorer):
    memory = AgentMemory(SensoryMemory(), importance_scorer=scorer)
    left = await memory.write(AgentMemoryFragment("four"))
    assert [one.importance for one in left.fragments] == [pytest.approx(4 * 0.9)]


async def test_a_scorer_gets_the_model_that_the_memory_was_initialized_with():
    scorer, model = ByLength(), Model("7")
    memory = SensoryMemory()
    memory.initialize(llm_client=model, importance_scorer=scorer)
    await memory.write(AgentMemoryFragment("four"))
    assert scorer.models == [model]


async def test_a_model_scorer_without_a_model_of_its_own_asks_the_memorys():
    memory = SensoryMemory()
    memory.initialize(llm_client=Model("7"), importance_scorer=LLMImportanceScorer())
    left = await memory.write(AgentMemoryFragment("tea"))
    assert [one.importance for one in left.fragments] == [pytest.approx(7 * 0.9)]


async def test_a_model_scorer_without_any_model_says_so():
    with pytest.raises(InvalidInput, match="llm_client"):
        await LLMImportanceScorer().score_importance("tea")


class InFragments(InsightExtractor[AgentMemoryFragment]):
    async def extract_insights(self, memory_fragment, llm_client=None):
        del llm_client
        return InsightMemoryFragment(memory_fragment, [AgentMemoryFragment("own fragment", is_insight=True), "a line"])


class InLines:
    async def extract_insights(self, text):
        return [f"about {text}"]


class Nothing:
    async def extract_insights(self, _):
        return None


@pytest.mark.parametrize(
    ("extractor", "texts"), [(InFragments(), ["own fragment", "a line"]), (InLines(), ["about tea"]), (Nothing(), [])]
)
async def test_an_extractor_returns_an_insight_fragment_or_lines(extractor, texts):
    memory = AgentMemory(ShortTermMemory(buffer_size=0), insight_extractor=extractor)
    tea = AgentMemoryFragment("tea")
    left = await memory.write(tea)
    (found,) = left.discarded_insights
    assert found.original_memory_fragment is tea
    assert [one.raw_observation for one in found.insights] == texts
    assert all(one.is_insight and one.parents == (tea.id,) for one in found.insights)
    assert left.discarded_memory_fragments == [tea]
