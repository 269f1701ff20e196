"""What openai_agents takes for a model: it makes the wanted call, and then says "done"."""

import json

from agents import Model, ModelResponse, Usage, set_tracing_disabled
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText
from wanted_call import ARGUMENTS, TOOL

set_tracing_disabled(disabled=True)


class _Scripted(Model):
    async def get_response(self, system_instructions, input, *_, **__):
        told = any(isinstance(one, dict) and one.get("type") == "function_call_output" for one in input)
        call = ResponseFunctionToolCall(
            type="function_call", call_id="call-1", name=TOOL, arguments=json.dumps(ARGUMENTS)
        )
        text = ResponseOutputText(type="output_text", text="done", annotations=[])
        said = ResponseOutputMessage(id="m", type="message", role="assistant", status="completed", content=[text])
        return ModelResponse(output=[said if told else call], usage=Usage(), response_id=None)

    def stream_response(self, *_, **__):
        raise NotImplementedError


MODEL = _Scripted()
