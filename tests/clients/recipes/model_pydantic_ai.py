"""What pydantic_ai takes for a model: it makes the wanted call, and then says "done"."""

from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import FunctionModel
from wanted_call import ARGUMENTS, TOOL


def _answer(messages, info):
    told = any(isinstance(one, ToolReturnPart) for one in messages[-1].parts)
    return ModelResponse(parts=[TextPart("done") if told else ToolCallPart(TOOL, ARGUMENTS)])


MODEL = FunctionModel(_answer)
