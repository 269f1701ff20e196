"""A model that says what a script tells it to, for clients that are driven in tests.

One server on loopback speaks four dialects, because each client speaks one of them: Anthropic's Messages, OpenAI's
Responses and Chat Completions, and Gemini's `generateContent`. It keeps every request, so that a test can look at what a
client really put before its model. Standard library only; nothing here leaves the machine.

By hand: `python fake_model.py RECORD.jsonl [PORT] [SCRIPT.json]`.
"""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar, Self

Json = dict[str, Any]

MODEL = "scripted"


@dataclass(frozen=True)
class Reply:
    """What the model says next: words, or one call of the tool whose name ends with `tool`."""

    text: str = "All right."
    tool: str | None = None
    arguments: Json = field(default_factory=dict)


@dataclass(frozen=True)
class Request:
    """One request of a client: where it went and what it said."""

    path: str
    body: Json = field(repr=False)
    headers: dict[str, str] = field(default_factory=dict, repr=False)

    @property
    def text(self) -> str:
        """All of it, for "is it in there?"."""
        return json.dumps(self.body, ensure_ascii=False)

    @property
    def tools(self) -> tuple[str, ...]:
        """Names of the tools that the model may call, as the client spells them (a group's name comes first)."""
        return tuple(name for name, _ in _tools_of(self.body))


Script = Reply | Callable[[Request], Reply | None]
"""A reply, or what makes it of a request; None for a request that it is not for, which gets the next one of the script."""


class FakeModel:
    """The server; `with FakeModel() as model:` runs it on a port of its own."""

    def __init__(self, replies: Sequence[Script] = (), port: int = 0, record: Path | None = None) -> None:
        self._replies = list(replies)
        self._lock = threading.Lock()
        self._record = record
        self.requests: list[Request] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", port), type("Handler", (_Handler,), {"model": self}))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, name="fake model", daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def says(self, *replies: Script) -> None:
        """From now on these answers, in this order; afterwards the standard one."""
        with self._lock:
            self._replies = list(replies)

    def forget(self) -> None:
        with self._lock:
            self.requests.clear()

    @property
    def conversation(self) -> tuple[Request, ...]:
        """The requests in which a model could call tools: what a client asks besides (a title, a summary) is left out."""
        return tuple(request for request in self.requests if request.tools)

    def take(self, request: Request) -> tuple[Reply, int]:
        """Keep a request; return its answer and its number. One without tools never uses up a line of the script."""
        with self._lock:
            self.requests.append(request)
            if self._record is not None:
                with self._record.open("a", encoding="utf-8") as file:
                    file.write(
                        json.dumps({"path": request.path, "headers": request.headers, "body": request.body}) + "\n"
                    )
            return self._next(request), len(self.requests)

    def _next(self, request: Request) -> Reply:
        for reply in self._replies if request.tools else ():
            found = reply(request) if callable(reply) else reply
            if found is None:
                continue
            if found.tool is not None and not any(name.endswith(found.tool) for name in request.tools):
                return Reply(f"There is no tool {found.tool}.")
            self._replies.remove(reply)
            return found
        return Reply()


def _tools_of(body: Json) -> Iterator[tuple[str, str | None]]:
    """Name and group of each tool in the request, in all dialects."""
    for tool in body.get("tools") or ():
        if tool.get("type") == "namespace":
            yield from ((inner["name"], tool["name"]) for inner in tool["tools"])
        elif "functionDeclarations" in tool:
            yield from ((inner["name"], None) for inner in tool["functionDeclarations"])
        elif "function" in tool:
            yield tool["function"]["name"], None
        elif "name" in tool:
            yield tool["name"], None


def _called(body: Json, ending: str) -> tuple[str, str | None]:
    return next((name, group) for name, group in _tools_of(body) if name.endswith(ending))


def _sse(event: Json, name: str | None = None) -> bytes:
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {json.dumps(event)}\n\n".encode()


# the dialect of Anthropic


def _anthropic_block(body: Json, reply: Reply, number: int) -> Json:
    if reply.tool is None:
        return {"type": "text", "text": reply.text}
    return {"type": "tool_use", "id": f"toolu_{number}", "name": _called(body, reply.tool)[0], "input": reply.arguments}


def _anthropic(body: Json, reply: Reply, number: int) -> Json:
    return {
        "id": f"msg_{number}", "type": "message", "role": "assistant", "model": body.get("model", MODEL),
        "content": [_anthropic_block(body, reply, number)], "stop_sequence": None,
        "stop_reason": "end_turn" if reply.tool is None else "tool_use",
        "usage": {"input_tokens": 10, "output_tokens": 5},
    }  # fmt: skip


def _anthropic_events(body: Json, reply: Reply, number: int) -> Iterator[bytes]:
    message = _anthropic(body, reply, number)
    block = message["content"][0]
    opened = {**message, "content": [], "stop_reason": None}
    yield _sse({"type": "message_start", "message": opened}, "message_start")
    if reply.tool is None:
        empty, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": reply.text}
    else:
        empty, delta = {**block, "input": {}}, {"type": "input_json_delta", "partial_json": json.dumps(reply.arguments)}
    yield _sse({"type": "content_block_start", "index": 0, "content_block": empty}, "content_block_start")
    yield _sse({"type": "content_block_delta", "index": 0, "delta": delta}, "content_block_delta")
    yield _sse({"type": "content_block_stop", "index": 0}, "content_block_stop")
    end = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield _sse({"type": "message_delta", "delta": end, "usage": {"output_tokens": 5}}, "message_delta")
    yield _sse({"type": "message_stop"}, "message_stop")


# the two of OpenAI, first the newer one


def _responses_item(body: Json, reply: Reply, number: int) -> Json:
    if reply.tool is None:
        content = [{"type": "output_text", "text": reply.text, "annotations": []}]
        return {
            "id": f"msg_{number}",
            "type": "message",
            "role": "assistant",
            "status": "completed",
            "content": content,
        }
    name, group = _called(body, reply.tool)
    call = {
        "id": f"fc_{number}",
        "type": "function_call",
        "status": "completed",
        "call_id": f"call_{number}",
        "name": name,
    }
    return {**call, "arguments": json.dumps(reply.arguments), **({"namespace": group} if group else {})}


def _responses(body: Json, reply: Reply, number: int) -> Json:
    usage = {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15}
    return {
        "id": f"resp_{number}", "object": "response", "created_at": 0, "status": "completed", "model": body.get("model", MODEL),
        "output": [_responses_item(body, reply, number)], "usage": usage, "error": None, "incomplete_details": None,
        "parallel_tool_calls": False, "tool_choice": "auto", "tools": [], "metadata": {},
    }  # fmt: skip


def _responses_events(body: Json, reply: Reply, number: int) -> Iterator[bytes]:
    done = _responses(body, reply, number)
    item = done["output"][0]
    yield _sse(
        {"type": "response.created", "response": {**done, "status": "in_progress", "output": []}}, "response.created"
    )
    yield _sse({"type": "response.output_item.added", "output_index": 0, "item": item}, "response.output_item.added")
    if reply.tool is None:
        delta = {
            "type": "response.output_text.delta",
            "item_id": item["id"],
            "output_index": 0,
            "content_index": 0,
            "delta": reply.text,
        }
        yield _sse(delta, "response.output_text.delta")
    yield _sse({"type": "response.output_item.done", "output_index": 0, "item": item}, "response.output_item.done")
    yield _sse({"type": "response.completed", "response": done}, "response.completed")


# and the older one


def _chat_message(body: Json, reply: Reply, number: int) -> Json:
    if reply.tool is None:
        return {"role": "assistant", "content": reply.text}
    function = {"name": _called(body, reply.tool)[0], "arguments": json.dumps(reply.arguments)}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"index": 0, "id": f"call_{number}", "type": "function", "function": function}],
    }


def _chat(body: Json, reply: Reply, number: int) -> Json:
    choice = {
        "index": 0,
        "message": _chat_message(body, reply, number),
        "finish_reason": "stop" if reply.tool is None else "tool_calls",
    }
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    return {
        "id": f"chat_{number}",
        "object": "chat.completion",
        "created": 0,
        "model": body.get("model", MODEL),
        "choices": [choice],
        "usage": usage,
    }


def _chat_events(body: Json, reply: Reply, number: int) -> Iterator[bytes]:
    whole = _chat(body, reply, number)
    head = {**whole, "object": "chat.completion.chunk"}
    choice = whole["choices"][0]
    yield _sse({**head, "choices": [{"index": 0, "delta": choice["message"], "finish_reason": None}], "usage": None})
    yield _sse({**head, "choices": [{"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}]})
    yield b"data: [DONE]\n\n"


# that of Gemini


def _gemini(body: Json, reply: Reply, number: int) -> Json:
    part: Json = {"text": reply.text}
    if reply.tool is not None:
        part = {"functionCall": {"name": _called(body, reply.tool)[0], "args": reply.arguments}}
    candidate = {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}
    usage = {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15}
    return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": MODEL, "responseId": str(number)}


def _gemini_events(body: Json, reply: Reply, number: int) -> Iterator[bytes]:
    yield _sse(_gemini(body, reply, number))


DIALECTS = {
    "messages": (_anthropic, _anthropic_events),
    "responses": (_responses, _responses_events),
    "completions": (_chat, _chat_events),
    "generateContent": (_gemini, _gemini_events),
    "streamGenerateContent": (_gemini, _gemini_events),
}
COUNTED = {"count_tokens": {"input_tokens": 10}, "countTokens": {"totalTokens": 10}}


class _Handler(BaseHTTPRequestHandler):
    """One connection of a client."""

    protocol_version = "HTTP/1.1"
    model: ClassVar[FakeModel]

    def log_message(self, *_: object) -> None:
        """Say nothing: the requests are kept."""

    def do_GET(self) -> None:
        """Answer which models there are."""
        listed = {"id": MODEL, "object": "model", "type": "model", "display_name": MODEL, "created": 0}
        self._answer({"object": "list", "data": [listed], "models": [], "has_more": False})

    def do_HEAD(self) -> None:
        """Answer that the server is there."""
        self.do_GET()

    def do_POST(self) -> None:
        """Answer as the model; what is no question to a model gets an empty answer."""
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        path = self.path.split("?")[0]
        verb = path.rsplit("/", 1)[-1].rsplit(":", 1)[-1]
        body = _object_in(raw)
        if verb in COUNTED or verb not in DIALECTS or body is None:
            self._answer(COUNTED.get(verb, {}))
            return
        request = Request(path, body, {key.lower(): value for key, value in self.headers.items()})
        reply, number = self.model.take(request)
        whole, events = DIALECTS[verb]
        if body.get("stream") or verb == "streamGenerateContent":
            self._stream(events(body, reply, number))
        else:
            self._answer(whole(body, reply, number))

    def _answer(self, body: Json) -> None:
        data = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def _stream(self, events: Iterator[bytes]) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        self.close_connection = True
        # A client that has left wants no more of it.
        with suppress(ConnectionError):
            for event in events:
                self.wfile.write(event)


def _object_in(raw: bytes) -> Json | None:
    try:
        found = json.loads(raw or b"{}")
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def main(record: str, port: str = "0", script: str | None = None) -> None:
    """Runs until it is stopped; each request is a line of the file `record`."""
    replies = [Reply(**line) for line in json.loads(Path(script).read_text(encoding="utf-8"))] if script else []
    with FakeModel(replies, int(port), Path(record)) as model:
        sys.stdout.write(f"{model.url}\n")
        sys.stdout.flush()
        threading.Event().wait()


if __name__ == "__main__":
    main(*sys.argv[1:])
