"""What smolagents takes for a model: it makes the wanted call, and then says "done"."""

from smolagents import ChatMessage, MessageRole, Model
from smolagents.models import ChatMessageToolCall, ChatMessageToolCallFunction
from wanted_call import ARGUMENTS, TOOL

_EMPTY = {"string": "", "number": 0, "integer": 0, "boolean": False, "array": [], "object": {}}


class _Scripted(Model):
    """Names every argument, because smolagents refuses a call that leaves one out."""

    def __init__(self):
        super().__init__(model_id="scripted")
        self._has_called = False

    def generate(self, messages, tools_to_call_from=(), **_):
        name, arguments = "final_answer", {"answer": "done"}
        if not self._has_called:
            (tool,) = [one for one in tools_to_call_from if one.name == TOOL]
            name, arguments = TOOL, {key: _EMPTY[one["type"]] for key, one in tool.inputs.items()} | ARGUMENTS
        self._has_called = True
        function = ChatMessageToolCallFunction(name=name, arguments=arguments)
        call = ChatMessageToolCall(id="call-1", type="function", function=function)
        return ChatMessage(role=MessageRole.ASSISTANT, content="", tool_calls=[call])


MODEL = _Scripted()
