"""What crewai takes for a model: it makes the wanted call, and then says "done"."""

import json

from crewai import BaseLLM
from wanted_call import ARGUMENTS, TOOL

_SAID = []


class _Scripted(BaseLLM):
    def call(self, messages, *_, **__):
        if len(_SAID) == 1:
            return "Thought: I now know the final answer\nFinal Answer: done"
        _SAID.append(messages)
        return f"Thought: it is to be kept\nAction: {TOOL}\nAction Input: {json.dumps(ARGUMENTS)}"

    def supports_function_calling(self):
        return False


MODEL = _Scripted(model="scripted")
