"""What langchain takes for a model: it makes the wanted call, and then says "done"."""

from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from wanted_call import ARGUMENTS, TOOL


class _Scripted(GenericFakeChatModel):
    def bind_tools(self, tools, **_):
        return self


_ASKED = AIMessage("", tool_calls=[{"name": TOOL, "args": ARGUMENTS, "id": "call-1"}])
MODEL = _Scripted(messages=iter([_ASKED, AIMessage("done")]))
