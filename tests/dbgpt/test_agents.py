import pytest

from hybrid_memory.errors import InvalidInput
from hybrid_memory_dbgpt import (
    ActionOutput,
    AgentContext,
    AgentMemory,
    AgentMemoryFragment,
    BlankAction,
    CallableLLM,
    ConversableAgent,
    LLMConfig,
    ProfileConfig,
    ShortTermMemory,
    UserProxyAgent,
)

pytestmark = pytest.mark.anyio

TEMPLATE = "{{ question }} -> {{ thought }}"


async def answer(prompt):
    return "you are Ada" if "I am Ada" in prompt else "who are you?"


class Own(ConversableAgent):
    profile: ProfileConfig = ProfileConfig(name="Own", write_memory_template=TEMPLATE)

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self._init_actions([BlankAction])

    async def write_memories(self, question, ai_message, action_output: ActionOutput | None = None, **others):
        del others
        text = self._render_template(self.write_memory_template, question=question, thought=ai_message)
        await self.memory.write(AgentMemoryFragment(text, importance=float(action_output is not None)))


async def built(agent, memory):
    model = LLMConfig(llm_client=CallableLLM(answer))
    return await agent.bind(AgentContext(conv_id="c")).bind(model).bind(memory).bind(BlankAction).build()


async def test_a_subclass_may_bring_its_profile_and_its_way_of_remembering():
    memory = AgentMemory(ShortTermMemory())
    agent = await built(Own(), memory)
    await agent.generate_reply("I am Ada")
    (kept,) = await memory.read("")
    assert (agent.profile.name, kept.raw_observation, kept.importance) == ("Own", "I am Ada -> you are Ada", 1.0)
    assert await agent.generate_reply("who am I?") == "you are Ada"


async def test_a_profile_that_is_given_counts_before_the_class():
    assert Own(profile=ProfileConfig(name="Other")).profile.name == "Other"
    assert Own().profile.name == "Own"


async def test_the_agents_model_is_the_memorys():
    memory = AgentMemory()
    agent = await built(ConversableAgent(), memory)
    assert memory.memory.llm_client is agent.llm.llm_client


async def test_the_log_of_a_conversation_is_reached_from_the_memory():
    memory = AgentMemory()
    agent = await built(ConversableAgent(profile=ProfileConfig(name="Joy")), memory)
    user = await UserProxyAgent().bind(memory).bind(agent.context).build()
    await user.initiate_chat(recipient=agent, reviewer=user, message="I am Ada")
    assert [one.content for one in memory.message_memory.get_by_conv_id("c")] == ["I am Ada", "you are Ada"]
    assert memory.plans_memory.get_by_conv_id("c") == []


async def test_what_is_no_part_of_an_agent_is_refused():
    with pytest.raises(InvalidInput, match="part"):
        ConversableAgent().bind("a text")
