"""What a person said in a client's transcript, read from where it was left, and what the assistant said last.

A transcript is the client's own file: lines of JSON that grow, of which nothing is promised. Whatever is not known is passed over. A mark
says how far it was read; a file that was replaced or became shorter is read again, and a last line that is not whole yet waits.
"""

from __future__ import annotations

import json
import os
import stat
import time
from binascii import crc32

from hybrid_memory_mcp.hooks.typed import typed_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any, TypeAlias

    Turn: TypeAlias = dict[str, Any]
    Mark: TypeAlias = dict[str, int]

MOST_TURNS = 500  # of one reading; the rest is read the next time
MOST_CHARACTERS = 1_000_000  # of the turns of one reading

_CHUNK_BYTES = 1 << 20
_LONGEST_LINE = 4 << 20  # bytes; a longer one holds a tool's result or an image
_HEAD_BYTES = 256  # by which a file is known again
_FIRST_BYTES = 1 << 18  # in which a client tells where a conversation began; Codex has its instructions there too
_LARGEST_DOCUMENT = 32 << 20  # bytes, of a transcript that is one JSON value
_LAST_BYTES = 1 << 20  # in which Codex tells how a command ended that it has just run
_ANSWER_BYTES = 1 << 18  # at the end, in which the assistant's last words are looked for
_LONGEST_ANSWER = 1_000  # characters
_READ = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
# A line without any of these is nothing that a person said: most lines need not be parsed.
_SIGNS = (b'user"', b'user_message"', b"UserMessage", b"queued_command", b'user_input"')


def read_turns(path: str, client: str, mark: Mapping[str, int], deadline: float) -> tuple[list[Turn], Mark]:
    """Return what a person said since the mark, and the new mark; nothing new where the file cannot be read.

    A turn has ``text``, ``at`` (ISO 8601, empty where the client does not tell it), and ``end``, how far it reaches. It stops at the
    ``deadline`` of the monotonic clock; what is left is read the next time.
    """
    try:
        descriptor = os.open(path, _READ)
    except (OSError, ValueError):
        return [], dict(mark)
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            return [], dict(mark)
        start = _start(descriptor, found.st_size, mark)
        if client == "gemini" and _is_one_value(descriptor):
            turns, new = _read_document(descriptor, found.st_size, {**start, "count": mark.get("count", 0)})
        else:
            turns, new = _read(descriptor, client, start, deadline)
    except OSError:
        return [], dict(mark)
    else:
        return turns, new
    finally:
        os.close(descriptor)


def end_of(path: str) -> Mark:
    """Return the mark behind all that a transcript holds now."""
    try:
        descriptor = os.open(path, _READ)
    except (OSError, ValueError):
        return {}
    try:
        size = os.fstat(descriptor).st_size
        return {**_start(descriptor, size, {}), "offset": size}
    except OSError:
        return {}
    finally:
        os.close(descriptor)


def first_folder(path: str) -> str:
    """Return the folder in which a conversation began, by the first lines of its transcript; empty where they do not tell it."""
    try:
        descriptor = os.open(path, _READ)
    except (OSError, ValueError):
        return ""
    try:
        head = os.read(descriptor, _FIRST_BYTES) if stat.S_ISREG(os.fstat(descriptor).st_mode) else b""
    except OSError:
        return ""
    finally:
        os.close(descriptor)
    for line in head.split(b"\n"):
        try:
            told = json.loads(line)
        except (ValueError, RecursionError):
            continue
        for one in (told, told.get("payload") if isinstance(told, dict) else None):
            folder = one.get("cwd") if isinstance(one, dict) else None
            if isinstance(folder, str) and os.path.isabs(folder) and "\0" not in folder:
                return folder
    return ""


def exit_code_of(path: str, call: str) -> int | None:
    """Return how the command of a call ended, by the last lines of Codex's transcript; None where they do not tell it."""
    for line in _last_lines(path, _LAST_BYTES, b'"CommandExecution"'):
        try:
            item = json.loads(line)["payload"]["item"]
            if item["id"] == call and type(item["exit_code"]) is int:
                return int(item["exit_code"])
        except (ValueError, RecursionError, KeyError, TypeError):
            continue  # of another form, or cut off
    return None


def last_answer(path: str) -> str:
    """Return the end of what the assistant last said, by the last lines of a transcript; empty where they do not tell it."""
    for line in _last_lines(path, _ANSWER_BYTES, b'"assistant"', b'"gemini"'):
        try:
            told = json.loads(line)
            is_other = told.get("isSidechain") or told.get("isApiErrorMessage")
            said = "" if is_other else _said_by_assistant(told.get("payload", told))
        except (ValueError, RecursionError, AttributeError, KeyError, TypeError):
            continue  # of another form, or cut off
        if said.strip():
            return said.strip()[-_LONGEST_ANSWER:]
    return ""


def _said_by_assistant(told: Mapping[str, Any]) -> str:
    if "assistant" not in (told.get("type"), told.get("role")) and told.get("type") != "gemini":
        return ""
    message = told.get("message")
    content = message["content"] if isinstance(message, dict) else told["content"]
    if isinstance(content, str):
        return content
    return "\n".join(part["text"] for part in content if part.get("type") in _ANSWER_TEXTS)


def _last_lines(path: str, most: int, *signs: bytes) -> Iterator[bytes]:
    """Yield those of the last lines of a file that hold one of the signs, the last one first."""
    try:
        with open(os.open(path, _READ), "rb") as file:
            found = os.fstat(file.fileno())
            if not stat.S_ISREG(found.st_mode):
                return
            file.seek(max(found.st_size - most, 0))
            lines = file.read(most).split(b"\n")
    except (OSError, ValueError):
        return
    yield from (line for line in reversed(lines) if any(sign in line for sign in signs))


def has_more(path: str, mark: Mapping[str, int]) -> bool:
    """Return True if a transcript has another length than the mark."""
    try:
        return os.stat(path).st_size != mark.get("offset", 0)
    except (OSError, ValueError):
        return False


def _start(descriptor: int, size: int, mark: Mapping[str, int]) -> Mark:
    """Return the mark to go on from: the one that was given if the file still begins as it did then."""
    length = mark.get("head", 0)
    offset = mark.get("offset", 0)
    os.lseek(descriptor, 0, os.SEEK_SET)
    head = os.read(descriptor, _HEAD_BYTES)
    if length and offset <= size and crc32(head[:length]) == mark.get("crc"):
        return dict(mark)
    return {"head": len(head), "crc": crc32(head), "offset": 0, "anew": mark.get("anew", -1) + 1}


def _read(descriptor: int, client: str, start: Mark, deadline: float) -> tuple[list[Turn], Mark]:
    turns: list[Turn] = []
    offset = start["offset"]
    characters = 0
    for line, end in _lines(descriptor, offset):
        whole = line.endswith(b"\n")
        if whole and not any(sign in line for sign in _SIGNS):
            offset = end
            continue
        try:
            told = json.loads(line)
        except (ValueError, RecursionError):
            if not whole:
                break  # the client is still writing it
            told = None
        if isinstance(told, dict):
            for turn in turns_of(client, told):
                turns.append({**turn, "end": end})
                characters += len(turn["text"])
        offset = end
        if len(turns) >= MOST_TURNS or characters >= MOST_CHARACTERS or time.monotonic() > deadline:
            break
    return _of_one_kind(turns), {**start, "offset": offset}


def _lines(descriptor: int, offset: int) -> Iterator[tuple[bytes, int]]:
    """Yield lines with where they end; the last one may lack its line feed. Of one that is too long nothing is given."""
    os.lseek(descriptor, offset, os.SEEK_SET)
    held = b""
    skipping = False
    while chunk := os.read(descriptor, _CHUNK_BYTES):
        *ended, rest = (held + chunk).split(b"\n")
        for line in ended:
            offset += len(line) + 1
            yield (b"\n" if skipping else line + b"\n"), offset
            skipping = False
        if len(rest) > _LONGEST_LINE:
            offset += len(rest)
            rest, skipping = b"", True
        held = rest
    if held and not skipping:
        yield held, offset + len(held)


def _is_one_value(descriptor: int) -> bool:
    """Return True if a transcript is one JSON value, as those of Gemini CLI were until the middle of 2026."""
    os.lseek(descriptor, 0, os.SEEK_SET)
    head = os.read(descriptor, _HEAD_BYTES)
    return head.split(b"\n")[0].strip() == b"{" or b'"messages"' in head


def _read_document(descriptor: int, size: int, start: Mark) -> tuple[list[Turn], Mark]:
    """Read a transcript that is one JSON value and is written again at each change; the mark counts its messages."""
    if size > _LARGEST_DOCUMENT:
        return [], start
    os.lseek(descriptor, 0, os.SEEK_SET)
    parts = []
    while size > 0 and (chunk := os.read(descriptor, min(size, _CHUNK_BYTES))):
        parts.append(chunk)
        size -= len(chunk)
    try:
        told = json.loads(b"".join(parts))
    except (ValueError, RecursionError):
        return [], start
    messages = told.get("messages") if isinstance(told, dict) else None
    if not isinstance(messages, list):
        return [], start
    seen = start.get("count", 0)
    if seen > len(messages):
        seen = 0
    turns = [turn for one in messages[seen:] if isinstance(one, dict) for turn in turns_of("gemini", one)]
    return [{**turn, "end": 0} for turn in turns[:MOST_TURNS]], {**start, "count": len(messages)}


def _of_one_kind(turns: list[Turn]) -> list[Turn]:
    """Codex tells a prompt twice, once with what is around it: take the one without where both are there."""
    plain = [turn for turn in turns if turn.get("plain")]
    return plain or turns


def turns_of(client: str, told: Mapping[str, Any]) -> list[Turn]:
    """Return what a person said in one line of a transcript: none or one, seldom more."""
    try:
        found = _READERS.get(client, _claude_code)(told)
    except (AttributeError, KeyError, TypeError, IndexError):
        return []  # a line of another form than any that is known
    if found is None:
        return []
    text, at, plain = found
    typed = typed_text(text)
    if not typed:
        return []
    return [{"text": typed, "at": at if isinstance(at, str) else "", "plain": plain}]


def _claude_code(told: Mapping[str, Any]) -> tuple[str, Any, bool] | None:
    if told.get("isSidechain") or told.get("isMeta") or told.get("isCompactSummary") or "forkedFrom" in told:
        return None
    if told.get("type") == "attachment":
        # Typed while the assistant was at work.
        queued = told["attachment"]
        if queued.get("type") != "queued_command" or queued.get("commandMode", "prompt") != "prompt":
            return None
        return _joined(queued["prompt"]), told.get("timestamp"), False
    if told.get("type") != "user" or "toolUseResult" in told or told.get("promptSource") == "system":
        return None
    origin = told.get("origin")
    if isinstance(origin, dict) and origin.get("kind", "human") != "human":
        return None
    return _joined(told["message"]["content"]), told.get("timestamp"), False


def _codex(told: Mapping[str, Any]) -> tuple[str, Any, bool] | None:
    payload = told["payload"]
    kind = payload["type"]
    if told["type"] == "event_msg":
        if kind == "user_message" and payload.get("kind", "plain") == "plain":
            return payload["message"], told.get("timestamp"), True
        if kind == "item_completed" and payload["item"]["type"] == "UserMessage":
            return _joined(payload["item"]["content"]), told.get("timestamp"), True
    if told["type"] == "response_item" and kind == "message" and payload["role"] == "user":
        beside = payload.get("internal_chat_message_metadata_passthrough")
        kinds = beside.get("content_item_kinds") if isinstance(beside, dict) else None
        if kinds and "user.text" not in kinds:
            return None
        return _joined(payload["content"]), told.get("timestamp"), False
    return None


def _gemini(told: Mapping[str, Any]) -> tuple[str, Any, bool] | None:
    if told.get("type") != "user":
        return None
    shown = told.get("displayContent")
    return _joined(shown or told["content"]), told.get("timestamp"), False


def _cursor(told: Mapping[str, Any]) -> tuple[str, Any, bool] | None:
    if told.get("role") != "user":
        return None
    message = told.get("message")
    content = message["content"] if isinstance(message, dict) else told.get("content", "")
    return _joined(content), told.get("timestamp"), False


def _windsurf(told: Mapping[str, Any]) -> tuple[str, Any, bool] | None:
    if told.get("type") != "user_input":
        return None
    given = told["user_input"]
    text = given if isinstance(given, str) else given.get("user_response") or given.get("query") or given.get("text")
    return (text, told.get("timestamp"), False) if isinstance(text, str) else None


_READERS = {"claude-code": _claude_code, "codex": _codex, "gemini": _gemini, "cursor": _cursor, "windsurf": _windsurf}
_TEXTS = ("text", "input_text", None)
_ANSWER_TEXTS = ("text", "output_text")


def _joined(content: Any) -> str:
    """Return the text of a message; nothing of one that holds a tool's result. Images and files are passed over."""
    if isinstance(content, str):
        return content
    if isinstance(content, dict):
        content = [content]
    texts = []
    for part in content:
        if isinstance(part, str):
            texts.append(part)
        elif part.get("type") in ("tool_result", "function_call_output") or "functionResponse" in part:
            return ""
        elif part.get("type") in _TEXTS and isinstance(part.get("text"), str):
            # Each part for itself: clients add parts of their own alongside the person's.
            texts.append(typed_text(part["text"]) if len(content) > 1 else part["text"])
    return "\n".join(text for text in texts if text)
