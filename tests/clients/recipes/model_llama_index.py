"""What llama_index takes for a model: it makes the wanted call, and then says "done"."""

from llama_index.core.base.llms.types import ChatMessage, MessageRole, ToolCallBlock
from llama_index.core.llms.mock import MockFunctionCallingLLM
from wanted_call import ARGUMENTS, TOOL


def _answer(messages, **_):
    if messages[-1].role == MessageRole.TOOL:
        return ChatMessage(role="assistant", content="done")
    asked = ToolCallBlock(tool_call_id="call-1", tool_name=TOOL, tool_kwargs=ARGUMENTS)
    return ChatMessage(role="assistant", blocks=[asked])


MODEL = MockFunctionCallingLLM(response_generator=_answer, is_chat_model=True)
