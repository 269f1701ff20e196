"""What anthropic takes for a model: an API that has the memory tool write what is wanted, and then says "done"."""

import json

import anthropic
import httpx2
from wanted_call import ARGUMENTS

MODEL = "scripted"


def _answer(request):
    told = any(isinstance(one["content"], list) for one in json.loads(request.content)["messages"])
    written = {"command": "create", "path": "/memories/maria.md", "file_text": ARGUMENTS["content"]}
    call = {"type": "tool_use", "id": "call-1", "name": "memory", "input": written}
    said = {
        "id": "m",
        "type": "message",
        "role": "assistant",
        "model": MODEL,
        "content": [{"type": "text", "text": "done"} if told else call],
        "stop_reason": "end_turn" if told else "tool_use",
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }
    return httpx2.Response(200, json=said)


class _Scripted(anthropic.Anthropic):
    def __init__(self):
        super().__init__(api_key="none", http_client=httpx2.Client(transport=httpx2.MockTransport(_answer)))


anthropic.Anthropic = _Scripted
