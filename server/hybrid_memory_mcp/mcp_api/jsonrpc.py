"""Reading and writing lines of JSON-RPC (hub and HTTP), so that every request gets an answer.

The SDK's reader ignores what its parser refuses. Here every line but a blank one, a notification and an answer gets an answer: a lone
surrogate, which JSON can write but no text can hold, becomes a noncharacter that the memory refuses by name; what is no JSON, no
message, nested too deep, too long, or holds a number of thousands of digits gets a JSON-RPC error, under its id where that can be known.
"""

from __future__ import annotations

import json
import re
from typing import Any, TypeAlias

from mcp.shared.message import SessionMessage
from mcp.types import (
    INVALID_REQUEST,
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError

from hybrid_memory_mcp.relay.protocol import MAX_MESSAGE_BYTES, Oversized

SURROGATE_MARK = "\ufffe"  # a noncharacter, which the memory refuses by the argument's name

BYTE_ORDER_MARK = b"\xef\xbb\xbf"  # some programs of Windows write one before UTF-8

_KEPT_ENDS = 4096  # bytes of each end of a line in which its id is looked for
_SURROGATE = re.compile("[\ud800-\udfff]")
# The id at the beginning (Python clients) or at the very end (TypeScript clients) belongs to the message itself.
_ID = r'"id"\s*:\s*(-?\d{1,18}(?![\d.eE])|"(?:[^"\\]|\\.){0,200}")'
_ID_FIRST = re.compile(r'\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?' + _ID)
_ID_LAST = re.compile(_ID + r'\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$')

Read: TypeAlias = SessionMessage | JSONRPCError | None
"""A message to serve, an error to answer at once, or nothing worth either."""


def read_line(line: bytes | Oversized) -> Read:
    """Return what a line means."""
    if isinstance(line, Oversized):
        return _refusal(_id_at_ends(line.head, line.tail), f"the message is longer than {MAX_MESSAGE_BYTES} bytes")
    text = line.removeprefix(BYTE_ORDER_MARK).decode("utf-8", "replace")
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
        return _refusal(_id_in(text), "the message is nested too deep")
    except json.JSONDecodeError as error:
        return _refusal(
            _id_in(text), f"the message is not JSON in UTF-8 ({error.msg} at character {error.pos + 1})", PARSE_ERROR
        )
    except ValueError:
        # Python reads no number of more digits than that from a text.
        return _refusal(_id_in(text), "the message holds a number of thousands of digits; send it as text", PARSE_ERROR)
    if isinstance(value, list):
        return _refusal(None, "batches are not supported; send one message a line")
    if not isinstance(value, dict):
        return _refusal(None, "a message is a JSON object")
    return _as_message(value)


def _as_message(value: dict[str, Any]) -> Read:
    try:
        message = jsonrpc_message_adapter.validate_python(value, by_name=False)
        if isinstance(message, JSONRPCNotification) and "id" in value:
            return _refusal(None, "an id is a number or a text")
        return SessionMessage(message)
    except (ValidationError, RecursionError):
        answers = "method" not in value and ("result" in value or "error" in value)
        notifies = "id" not in value and isinstance(value.get("method"), str)
        if answers or notifies:
            return None
        return _refusal(value.get("id"), "this is no valid JSON-RPC 2.0 message")


def _without_surrogates(value: Any) -> Any:
    if isinstance(value, str):
        return _SURROGATE.sub(SURROGATE_MARK, value)
    if isinstance(value, list):
        return [_without_surrogates(one) for one in value]
    if isinstance(value, dict):
        return {_without_surrogates(key): _without_surrogates(one) for key, one in value.items()}
    return value


def _refusal(request_id: Any, problem: str, code: int = INVALID_REQUEST) -> JSONRPCError:
    known = request_id if isinstance(request_id, str | int) and not isinstance(request_id, bool) else None
    known = _without_surrogates(known)
    return JSONRPCError(jsonrpc="2.0", id=known, error=ErrorData(code=code, message=problem))


def _id_in(text: str) -> Any:
    """Return the id of a message that cannot be read whole, as far as its ends tell."""
    ends = (text[:_KEPT_ENDS], text[-_KEPT_ENDS:])
    return _id_at_ends(*(one.encode("utf-8", "replace") for one in ends))


def _id_at_ends(head: bytes, tail: bytes) -> Any:
    found = _ID_FIRST.match(head.decode("utf-8", "replace")) or _ID_LAST.search(tail.decode("utf-8", "replace"))
    if found is None:
        return None
    try:
        return json.loads(found[1])
    except ValueError:
        return None
