"""What google_adk takes for a model: it makes the wanted call, and then says "done"."""

from google.adk.models import BaseLlm, LlmResponse
from google.genai import types
from wanted_call import ARGUMENTS, TOOL


class _Scripted(BaseLlm):
    model: str = "scripted"

    async def generate_content_async(self, llm_request, stream=False):
        told = any(one.function_response for one in llm_request.contents[-1].parts)
        call = types.Part(function_call=types.FunctionCall(id="call-1", name=TOOL, args=ARGUMENTS))
        yield LlmResponse(content=types.Content(role="model", parts=[types.Part(text="done") if told else call]))


MODEL = _Scripted()
