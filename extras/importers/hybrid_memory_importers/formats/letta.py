"""Letta (once MemGPT): agent files (``.af``) with their core memory and messages, and passages of archival memory as the API gives them.

Shapes (letta/schemas/agent_file.py, serialize_schemas/pydantic_agent_schema.py and schemas/passage.py of letta-ai/letta; samples in
letta-ai/agent-file):

- an agent file: ``{"agents": [{"id", "name", "block_ids", "messages": [message]}], "blocks": [{"id", "label", "value"}], ...}``; some are
  that JSON as one
  JSON string. The older form is one agent: ``{"agent_type", "name", "core_memory": [{"label", "value", "created_at"}], "messages":
  [message]}``.
- a message: ``role``, ``content`` (a list of ``{"type": "text", "text"}``, or a text), ``created_at``, ``tool_calls``. What the person
  wrote may stand in
  JSON: ``{"type": "user_message", "message", "time"}``; logins, heartbeats and alerts stand there in the same way. Agents of the older
  kinds speak by
  calling ``send_message``, and their text is what they think.
- a passage: ``id``, ``text``, ``created_at``, ``tags``, ``metadata``, ``archive_id``; those of files have ``file_id`` or ``source_id``.

A block is a page that the agent keeps. What it says of the agent itself (``persona``) and how it is to work is not remembered as of the
person.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from hybrid_memory.errors import InvalidInput
from hybrid_memory_importers.formats.reading import HEAD, Keys, digest
from hybrid_memory_importers.formats.values import (
    dicts_of,
    json_files,
    metadata_of,
    moment_of,
    name_of,
    tags_of,
    text_of,
    values_of,
)
from hybrid_memory_importers.markdown.statements import Statement, statements
from hybrid_memory_importers.record import Author, Record, RecordKind, Skipped
from hybrid_memory_importers.source import Source, SourceFile
from hybrid_memory_importers.standing_alone import apart

NAME = "letta"
TITLE = "Letta"

_AGENT = re.compile(rb'\\?"(?:agent_type|core_memory|block_ids|memory_blocks|in_context_message_ids)\\?"\s*:')
_PASSAGE = re.compile(rb'"(?:archive_id|embedding_config)"\s*:')
_NAMES = (".json", ".jsonl", ".af")
_PERSONA = re.compile(
    r"(?:^|[/_-])(?:persona|soul|about_me|identity|skills?|tools?|guidelines?|policies|protocols?|guardrails|system_information)(?:$|[/_-])",
    re.IGNORECASE,
)
_UNKNOWN = re.compile(
    r"^(?:[^:\n]{1,60}:)?\s*(?:\?|n/?a|none|unknown|[\[(](?:none|unknown|not yet|no|empty|tbd|populated|tracked)\b[^\])]*[\])])\.?$"
    r"|^\[[^\[\]]*\]$"
    r"|\bto be filled (?:in|out)\b|^this block\b|^(?:this is )?what i know so far about the user\b"
    r"|^(?:i )?(?:still learning|(?:have not|haven['’]t|don['’]t|do not)\b[^.]{0,60}\b(?:yet|know|learned)\b)",
    re.IGNORECASE,
)
"""What a block says as long as nothing is known."""
_REMINDER = re.compile(r"<system-reminder>(?:(?!</?system-reminder>).)*</system-reminder>", re.DOTALL)
_PASSAGE_LISTS = ("passages", "archival_memory")
_SENDS = "send_message"
_LONGEST_EMBEDDED = 1 << 26  # characters of JSON in a JSON string


def recognises(source: Source) -> bool:
    """Return True if a source holds an agent file or passages."""
    return any(map(_is_letta, source.files()))


def read(source: Source) -> Iterator[Record | Skipped]:
    """Yield the blocks, messages and passages of a source.

    Raises:
        InvalidInput: it holds none.
    """
    reader, found = _Reader(), False
    known = [file for file in source.files() if _is_letta(file)]
    for value in values_of(known or json_files(source, _NAMES)):
        for record in reader.value(_unpacked(value)):
            found = True
            yield record
    if not found:
        raise InvalidInput("file", "holds no agent and no passages of Letta")


def _is_letta(file: SourceFile) -> bool:
    name = file.path.lower()
    if name.endswith(".af"):
        return True
    head = file.head(HEAD) if name.endswith(_NAMES) else b""
    return (
        _AGENT.search(head) is not None
        or (_PASSAGE.search(head) is not None and b'"text"' in head)
        or _is_vectors_first(head)
    )


def _is_vectors_first(head: bytes) -> bool:
    """Return True for passages as the API orders their fields: the numbers of a vector fill the head of the file."""
    return re.match(rb'\s*\[\s*\{\s*"embedding"\s*:', head) is not None


def _unpacked(value: Any) -> Any:
    """Return the value of a file that is JSON within a JSON string."""
    if not isinstance(value, str) or len(value) > _LONGEST_EMBEDDED:
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


class _Reader:
    """Turns values into records; keys are given once for a whole source."""

    def __init__(self) -> None:
        self._keys = Keys()
        self._exported_at: datetime | None = None

    def value(self, value: Any) -> Iterator[Record | Skipped]:
        """Yield what a value holds: an agent file, an agent, a block, passages, or a list of these."""
        if isinstance(value, Skipped):
            yield value
        elif isinstance(value, list):
            for one in value:
                yield from self.value(one if isinstance(one, dict) else None)
        elif isinstance(value, dict):
            yield from self._object(value)
        else:
            yield Skipped("an entry that is no agent and no passage")

    def _object(self, value: Mapping[str, Any]) -> Iterator[Record | Skipped]:
        if "agents" in value:
            yield from self._agent_file(value)
        elif value.keys() & {"core_memory", "messages", "memory_blocks"}:
            yield from self._agent(value, _blocks_of(value))
        elif "label" in value and "value" in value:
            yield from self._block(value, None)
        elif isinstance(found := value.get("passage"), dict):  # an answer to a search
            yield self._passage(found)
        elif lists := [value[field] for field in _PASSAGE_LISTS if isinstance(value.get(field), list)]:
            for one in lists:
                yield from map(self._passage, dicts_of(one))
        else:
            yield self._passage(value)

    def _agent_file(self, value: Mapping[str, Any]) -> Iterator[Record | Skipped]:
        self._exported_at = moment_of(value.get("created_at"))  # blocks have no times of their own
        blocks = {str(one.get("id")): one for one in dicts_of(value.get("blocks"))}
        told: set[str] = set()
        for agent in dicts_of(value.get("agents")):
            ids = agent.get("block_ids")
            own = (
                [str(one) for one in ids if str(one) in blocks and str(one) not in told]
                if isinstance(ids, list)
                else []
            )
            told |= set(own)
            yield from self._agent(agent, [*(blocks[one] for one in own), *_blocks_of(agent)])
        for id_, block in blocks.items():
            if id_ not in told:
                yield from self._block(block, None)
        for file in dicts_of(value.get("files")):
            yield Skipped("a file that was given to the agent", name_of(file.get("file_name")) or "")
        for field in _PASSAGE_LISTS:
            yield from map(self._passage, dicts_of(value.get(field)))

    def _agent(self, agent: Mapping[str, Any], blocks: list[Mapping[str, Any]]) -> Iterator[Record | Skipped]:
        name = name_of(agent.get("name"))
        for block in blocks:
            yield from self._block(block, name)
        for field in _PASSAGE_LISTS:
            yield from map(self._passage, dicts_of(agent.get(field)))
        conversation = name or name_of(agent.get("id")) or NAME
        for number, message in enumerate(dicts_of(agent.get("messages"))):
            yield from self._message(message, conversation, number)

    def _block(self, block: Mapping[str, Any], agent: str | None) -> Iterator[Record | Skipped]:
        """Yield what a block says, statement by statement; a line that says that something is not known is none."""
        label, value = name_of(block.get("label")) or "block", text_of(block.get("value"))
        if value is None:
            return
        if _PERSONA.search(label):
            yield Skipped("about the agent itself, or how it is to work", label)
            return
        for statement in statements(value, title=None, apart=apart):
            if not isinstance(statement, Statement):
                yield Skipped(statement.reason, label)
                continue
            if _UNKNOWN.search(statement.text):
                yield Skipped("a line that says that nothing is known", label)
                continue
            yield Record(
                key=self._keys.unique(f"block:{digest(agent or '', label, statement.text)}"),
                text=statement.text,
                kind=RecordKind.MEMORY,
                author=Author.ASSISTANT,
                at=moment_of(block.get("updated_at")) or moment_of(block.get("created_at")) or self._exported_at,
                conversation=agent,
                tags=tags_of([label], list(statement.tags)),
                metadata=metadata_of({"block": label, "agent": agent, "heading": " > ".join(statement.headings)}),
                source=NAME,
            )

    def _passage(self, value: Mapping[str, Any]) -> Record | Skipped:
        id_, text = name_of(value.get("id")), text_of(value.get("text")) or text_of(value.get("content"))
        if text is None:
            return Skipped("a passage without words", id_ or "")
        if value.get("is_deleted") is True:
            return Skipped("deleted there", id_ or "")
        if value.get("file_id") or value.get("source_id") or value.get("file_name"):
            return Skipped("a piece of a file that was given to the agent", id_ or "")
        return Record(
            key=self._keys.unique(id_ or digest("passage", text)),
            text=text,
            kind=RecordKind.MEMORY,
            author=Author.ASSISTANT,
            at=moment_of(value.get("created_at")) or moment_of(value.get("timestamp")),
            conversation=name_of(value.get("archive_id")),
            tags=tags_of(value.get("tags")),
            metadata=metadata_of(value.get("metadata"), value.get("metadata_")),
            source=NAME,
        )

    def _message(self, message: Mapping[str, Any], conversation: str, number: int) -> Iterator[Record | Skipped]:
        role, where = message.get("role"), name_of(message.get("id")) or f"message {number + 1}"
        text = "\n".join(_parts(message.get("content")))
        if role == "user":
            text = _typed(text)
            reason = "an event of the program, or a message without words"
        elif role == "assistant":
            text = _sent(message) or text.strip()
            reason = "a step of the agent without words"
        else:
            text, reason = "", "a message of the system or of a tool"
        said = text_of(text)
        if said is None:
            yield Skipped(reason, where)
            return
        yield Record(
            key=self._keys.unique(f"{conversation}:{where}:{digest(said)}"),
            text=said,
            kind=RecordKind.MESSAGE,
            author=Author.PERSON if role == "user" else Author.ASSISTANT,
            at=moment_of(message.get("created_at")),
            conversation=conversation,
            title=conversation,
            speaker=name_of(message.get("name")) if role == "user" else None,
            source=NAME,
        )


def _blocks_of(agent: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    core = agent.get("core_memory")
    if isinstance(core, dict):  # as the API gives an agent: {"memory": {"blocks": [...]}}
        core = core.get("blocks")
    memory = agent.get("memory")
    inner = memory.get("blocks") if isinstance(memory, dict) else None
    return [*dicts_of(core), *dicts_of(agent.get("memory_blocks")), *dicts_of(inner)]


def _parts(content: object) -> list[str]:
    if isinstance(content, str):
        return [content]
    return [
        text for part in dicts_of(content) if part.get("type") == "text" and isinstance(text := part.get("text"), str)
    ]


def _typed(text: str) -> str:
    """Return what the person wrote of a message with the role of the user; nothing where the program wrote it."""
    bare = text.strip()
    if bare.startswith("{") and bare.endswith("}"):
        try:
            packed = json.loads(bare)
        except (ValueError, RecursionError):
            packed = None
        if isinstance(packed, dict) and "type" in packed:
            return str(packed.get("message") or "") if packed["type"] == "user_message" else ""
    return _REMINDER.sub("", text)


def _sent(message: Mapping[str, Any]) -> str:
    """Return what an agent of the older kinds said, which it does by a tool."""
    sent = []
    for call in dicts_of(message.get("tool_calls")):
        function = call.get("function")
        if not isinstance(function, dict) or function.get("name") != _SENDS:
            continue
        try:
            arguments = json.loads(str(function.get("arguments")))
        except (ValueError, RecursionError):
            continue
        if isinstance(arguments, dict) and (text := text_of(arguments.get("message"))) is not None:
            sent.append(text)
    return "\n".join(sent)
