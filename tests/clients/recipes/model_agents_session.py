"""What openai_agents takes for a model where no tool is called: it says "done"."""

from agents import Model, ModelResponse, Usage, set_tracing_disabled
from openai.types.responses import ResponseOutputMessage, ResponseOutputText

set_tracing_disabled(disabled=True)


class _Scripted(Model):
    async def get_response(self, *_, **__):
        text = ResponseOutputText(type="output_text", text="done", annotations=[])
        said = ResponseOutputMessage(id="m", type="message", role="assistant", status="completed", content=[text])
        return ModelResponse(output=[said], usage=Usage(), response_id=None)

    def stream_response(self, *_, **__):
        raise NotImplementedError


MODEL = _Scripted()
