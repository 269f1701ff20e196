"""Reading and writing lines of JSON-RPC (hub and HTTP), so that every request gets an answer.

The SDK's reader ignores what its parser refuses. Here a request that can be answered is: a lone surrogate, which JSON can
write but no text can hold, becomes a noncharacter that the memory refuses by name; a message that is none, one nested too
deep or one too long gets a JSON-RPC error.
"""

from __future__ import annotations

import json
import re
from typing import Any, TypeAlias

from mcp.shared.message import SessionMessage
from mcp.types import (
    INVALID_REQUEST,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError

from hybrid_memory_mcp.relay.protocol import MAX_MESSAGE_BYTES, Oversized

SURROGATE_MARK = "\ufffe"  # a noncharacter, which the memory refuses by the argument's name

_KEPT_ENDS = 4096  # bytes of each end of a line in which its id is looked for
_SURROGATE = re.compile("[\ud800-\udfff]")
# The id at the beginning (Python clients) or at the very end (TypeScript clients) belongs to the message itself.
_ID = r'"id"\s*:\s*(-?\d{1,18}|"(?:[^"\\]|\\.){0,200}")'
_ID_FIRST = re.compile(r'\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?' + _ID)
_ID_LAST = re.compile(_ID + r'\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$')

Read: TypeAlias = SessionMessage | JSONRPCError | None
"""A message to serve, an error to answer at once, or nothing worth either."""


def read_line(line: bytes | Oversized) -> Read:
    """Return what a line means."""
    if isinstance(line, Oversized):
        return _refusal(_id_at_ends(line.head, line.tail), f"the message is longer than {MAX_MESSAGE_BYTES} bytes")
    text = line.decode("utf-8", "replace")
    try:
        message = jsonrpc_message_adapter.validate_json(text, by_name=False)
    except ValidationError:
        return _second_look(text) if text.strip() else None
    # A request whose id is of a wrong type passes the SDK's parser as a notification.
    if isinstance(message, JSONRPCNotification) and '"id"' in text:
        return _second_look(text)
    return SessionMessage(message)


def write_message(message: JSONRPCMessage) -> bytes:
    """Return the line of a message."""
    return message.model_dump_json(by_alias=True, exclude_unset=True).encode("utf-8") + b"\n"


def _second_look(text: str) -> Read:
    try:
        value = json.loads(text)
        value = _without_surrogates(value)
    except RecursionError:
        ends = text.encode("utf-8", "replace")
        return _refusal(_id_at_ends(ends[:_KEPT_ENDS], ends[-_KEPT_ENDS:]), "the message is nested too deep")
    except ValueError:
        return None
    if isinstance(value, list):
        return _refusal(None, "batches are not supported; send one message a line")
    return _as_message(value) if isinstance(value, dict) else None


def _as_message(value: dict[str, Any]) -> Read:
    try:
        message = jsonrpc_message_adapter.validate_python(value, by_name=False)
        if isinstance(message, JSONRPCNotification) and "id" in value:
            return _refusal(None, "an id is a number or a text")
        return SessionMessage(message)
    except (ValidationError, RecursionError):
        answers = "method" not in value and ("result" in value or "error" in value)
        if "id" not in value or answers:
            return None
        return _refusal(value["id"], "this is no valid JSON-RPC 2.0 message")


def _without_surrogates(value: Any) -> Any:
    if isinstance(value, str):
        return _SURROGATE.sub(SURROGATE_MARK, value)
    if isinstance(value, list):
        return [_without_surrogates(one) for one in value]
    if isinstance(value, dict):
        return {_without_surrogates(key): _without_surrogates(one) for key, one in value.items()}
    return value


def _refusal(request_id: Any, problem: str) -> JSONRPCError:
    known = request_id if isinstance(request_id, str | int) and not isinstance(request_id, bool) else None
    known = _without_surrogates(known)
    return JSONRPCError(jsonrpc="2.0", id=known, error=ErrorData(code=INVALID_REQUEST, message=problem))


def _id_at_ends(head: bytes, tail: bytes) -> Any:
    found = _ID_FIRST.match(head.decode("utf-8", "replace")) or _ID_LAST.search(tail.decode("utf-8", "replace"))
    if found is None:
        return None
    try:
        return json.loads(found[1])
    except ValueError:
        return None
