import pytest

from hybrid_memory.errors import InvalidInput, NotFound
from hybrid_memory.secret_detection.secret_policy import SecretMode, SecretPolicy
from hybrid_memory_dbgpt import GptsMemory, GptsMessage, GptsMessageMemory, GptsPlan, GptsPlansMemory

pytestmark = pytest.mark.anyio


def message(sender, receiver, content):
    return GptsMessage(conv_id="c", sender=sender, receiver=receiver, content=content)


async def test_the_log_works_without_any_store():
    memory = GptsMemory()
    await memory.append_message("c", message("user", "joy", "hi"))
    await memory.append_plans("c", [GptsPlan(conv_id="c", sub_task_num=1)])
    assert [one.content for one in await memory.get_messages("c")] == ["hi"]
    assert [one.sub_task_num for one in await memory.get_plans("c")] == [1]


async def test_a_history_pairs_questions_and_answers():
    memory = GptsMemory()
    for one in (message("user", "joy", "q1"), message("joy", "user", "a1"), message("user", "joy", "q2")):
        await memory.append_message("c", one)
    assert await memory.get_agent_history_memory("c", "joy") == [("q1", "a1")]


async def test_a_cleared_conversation_is_empty_and_others_are_not():
    memory = GptsMemory()
    for conversation in ("c", "d"):
        await memory.append_message(conversation, message("user", "joy", "hi"))
    await memory.clear("c")
    assert (await memory.get_messages("c"), len(await memory.get_messages("d"))) == ([], 1)


def test_messages_are_durable_in_a_store(store, clock):
    GptsMessageMemory(store, clock=clock).append(message("user", "joy", "hi"))
    (found,) = GptsMessageMemory(store, clock=clock).get_by_conv_id("c")
    assert (found.content, found.created_at) == ("hi", clock.now().isoformat())


def test_a_plan_that_is_not_there_cannot_be_completed(store):
    with pytest.raises(NotFound):
        GptsPlansMemory(store).complete_task("c", 1, "done")


def test_a_plan_number_must_be_a_number(store):
    with pytest.raises(InvalidInput, match="task_nums"):
        GptsPlansMemory(store).get_by_conv_id_and_num("c", ["one"])


TOLD = "the wifi password is hunter2"


@pytest.mark.parametrize(("mode", "kept"), [("warn", TOLD), ("mask", "the wifi password is [secret: password]")])
def test_a_message_keeps_or_loses_its_secret_as_the_policy_says(mode, kept):
    messages = GptsMessageMemory(secrets=SecretPolicy(SecretMode(mode)))
    messages.append(message("user", "joy", TOLD))
    assert [one.content for one in messages.get_by_conv_id("c")] == [kept]


def test_a_message_or_plan_with_a_secret_can_be_refused():
    policy = SecretPolicy(SecretMode.REFUSE)
    with pytest.raises(InvalidInput, match="password"):
        GptsMessageMemory(secrets=policy).append(message("user", "joy", TOLD))
    with pytest.raises(InvalidInput, match="password"):
        GptsPlansMemory(secrets=policy).batch_save([GptsPlan(conv_id="c", sub_task_num=1, result=TOLD)])
