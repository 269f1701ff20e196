"""ChatGPT's data export: ``conversations.json`` (since 2026 ``conversations-000.json`` and on) in its zip.

A conversation is a tree in ``mapping``; the branch that the person saw last ends at ``current_node``. Its other branches are messages that
were edited or answered again. Hidden messages, those of tools and reasoning are passed over. The custom instructions come from messages of
the type ``user_editable_context``, in old exports from hidden system messages, where they stand again and again: of their versions the last
one counts.

The shape is written down nowhere by its vendor. It is what several independent programs read, among them
mitkury/chatgpt-export-parser, jamesmoore/chatgpt-export and josephjohncox/chatgpt-json-to-md.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from hybrid_memory.errors import InvalidInput
from hybrid_memory_importers.formats.reading import (
    HEAD,
    HIDDEN,
    NO_WORDS,
    OF_A_PROGRAM,
    REPLACED,
    Keys,
    Read,
    begins_as,
    digest,
    documents,
    items,
    mapping,
    moment,
    name_of,
    text_of,
)
from hybrid_memory_importers.record import Author, Record, RecordKind, Skipped

if TYPE_CHECKING:
    from hybrid_memory_importers.source import Source, SourceFile

NAME = "chatgpt"
TITLE = "ChatGPT export"

_AUTHORS = {"user": Author.PERSON, "assistant": Author.ASSISTANT}
_SPOKEN = ("text", "multimodal_text")
_SPOKEN_PARTS = ("text", "audio_transcription")
_INSTRUCTIONS = "user_editable_context"
_FORGOTTEN = "a conversation that ChatGPT was told not to remember"
_FORMER = "custom instructions that were changed later"
_NO_CONVERSATION = "not a conversation"


def recognises(source: Source) -> bool:
    """Return True if a file's beginning has a conversation tree with authors, or its page of chats lies alongside conversations."""
    names = {name_of(file.path) for file in source.files()}
    return {"chat.html", "conversations.json"} <= names or any(_is_ours(file) for file in source.files())


def read(source: Source) -> Iterator[Read]:
    """Yield the messages of the current branch of each conversation, then the custom instructions."""
    files = [file for file in source.files() if _is_named_so(file)] or [
        file for file in source.files() if _is_ours(file)
    ]
    if not files:
        raise InvalidInput("file", "is no ChatGPT export: it has no conversations.json")
    keys = Keys()
    instructions = _Instructions()
    for file, place, told in documents(files):
        if isinstance(told, Skipped):
            yield told
        elif not isinstance(mapping(told).get("mapping"), Mapping):
            yield Skipped(_NO_CONVERSATION, f"{file.path}, {place + 1}")
        else:
            yield from _conversation(told, keys, instructions)
    yield from instructions.records()


def _is_named_so(file: SourceFile) -> bool:
    return _NAMED.fullmatch(name_of(file.path)) is not None


def _is_ours(file: SourceFile) -> bool:
    if not name_of(file.path).endswith(".json"):
        return False
    head = file.head(HEAD)
    if not begins_as(head, b"[{"):
        return False
    return b'"mapping"' in head and b'"fragments"' not in head and (b'"author"' in head or b'"current_node"' in head)


def _conversation(told: Mapping[str, Any], keys: Keys, instructions: _Instructions) -> Iterator[Read]:
    name = (
        text_of(told.get("conversation_id"))
        or text_of(told.get("id"))
        or digest(told.get("title"), told.get("create_time"))
    )
    if told.get("is_do_not_remember") is True:
        yield Skipped(_FORGOTTEN, name)
        return
    nodes = told["mapping"]
    branch = _branch(nodes, told.get("current_node"))
    at = moment(told.get("create_time"))
    for node in branch:
        message = mapping(mapping(nodes[node]).get("message"))
        if not message:
            continue
        content = mapping(message.get("content"))
        at = moment(message.get("create_time")) or at
        if content.get("content_type") == _INSTRUCTIONS or mapping(message.get("metadata")).get(
            "user_context_message_data"
        ):
            instructions.add(content, message, moment(told.get("update_time")) or at, at)
            continue
        yield _message(message, keys.unique(f"{name}/{node}"), name, told, at)
    yield from _replaced(nodes, set(branch), name)


def _message(message: Mapping[str, Any], key: str, name: str, told: Mapping[str, Any], at: datetime | None) -> Read:
    author = _AUTHORS.get(text_of(mapping(message.get("author")).get("role")))
    beside = mapping(message.get("metadata"))
    if author is None:
        return Skipped(OF_A_PROGRAM, key)
    if (
        beside.get("is_visually_hidden_from_conversation")
        or beside.get("is_user_system_message")
        or message.get("weight") == 0
    ):
        return Skipped(HIDDEN, key)
    if author is Author.ASSISTANT and message.get("recipient", "all") not in ("all", None):
        return Skipped(OF_A_PROGRAM, key)
    content = mapping(message.get("content"))
    if content.get("content_type") not in _SPOKEN:
        return Skipped(NO_WORDS if author is Author.PERSON else OF_A_PROGRAM, key)
    text = "\n".join(part for part in map(_words, items(content.get("parts"))) if part)
    if not text:
        return Skipped(NO_WORDS, key)
    return Record(
        key=key,
        text=text,
        kind=RecordKind.MESSAGE,
        author=author,
        at=at,
        conversation=name,
        title=text_of(told.get("title")) or None,
        speaker="ChatGPT" if author is Author.ASSISTANT else None,
    )


def _words(part: object) -> str:
    """Return the words of a part of a message: text, or what was heard of a voice."""
    if isinstance(part, str):
        return text_of(part)
    told = mapping(part)
    return text_of(told.get("text")) if told.get("content_type") in _SPOKEN_PARTS else ""


def _branch(nodes: Mapping[str, Any], current: object) -> list[str]:
    """Return the names of the nodes from the root to the current one; without one that is there, along each last answer."""
    seen: dict[str, None] = {}
    at = current
    while isinstance(at, str) and at in nodes and at not in seen:
        seen[at] = None
        at = mapping(nodes[at]).get("parent")
    if seen:
        return list(seen)[::-1]
    at = next((name for name, node in nodes.items() if mapping(node).get("parent") not in nodes), None)
    while isinstance(at, str) and at in nodes and at not in seen:
        seen[at] = None
        at = next((one for one in reversed(items(mapping(nodes[at]).get("children"))) if one in nodes), None)
    return list(seen)


def _replaced(nodes: Mapping[str, Any], branch: set[str], name: str) -> Iterator[Skipped]:
    """Yield what a person or the assistant said in other branches."""
    for node, told in nodes.items():
        message = mapping(mapping(told).get("message"))
        if node in branch or mapping(message.get("author")).get("role") not in _AUTHORS:
            continue
        if mapping(message.get("content")).get("content_type") in _SPOKEN:
            yield Skipped(REPLACED, f"{name}/{node}")


@dataclass(slots=True)
class _Instructions:
    """The custom instructions of all conversations: their lines, and when each was in use first and the version last."""

    _first: dict[tuple[str, str], datetime | None] = field(default_factory=dict)
    _last: dict[str, tuple[str, datetime | None]] = field(default_factory=dict)

    def add(
        self, content: Mapping[str, Any], message: Mapping[str, Any], used: datetime | None, at: datetime | None
    ) -> None:
        """Note the version of one conversation."""
        beside = mapping(mapping(message.get("metadata")).get("user_context_message_data"))
        for sort, own, wrapped in (
            ("about you", "about_user_message", "user_profile"),
            ("how to respond", "about_model_message", "user_instructions"),
        ):
            text = text_of(beside.get(own)) or _unwrapped(text_of(content.get(wrapped)))
            if not text:
                continue
            for line in _lines(text):
                known = self._first.get((sort, line), at)
                self._first[sort, line] = at if known is None or (at is not None and at < known) else known
            before = self._last.get(sort)
            if before is None or before[1] is None or (used is not None and used > before[1]):
                self._last[sort] = (text, used)

    def records(self) -> Iterator[Read]:
        """Yield a memory for each line of the last version, and what is out of use."""
        for sort, (text, _) in self._last.items():
            current = list(_lines(text))
            for line in current:
                yield Record(
                    key=f"instructions/{digest(sort, line)}",
                    text=line,
                    kind=RecordKind.MEMORY,
                    author=Author.PERSON,
                    at=self._first[sort, line],
                    conversation="custom instructions",
                    title="Custom instructions",
                    tags=("preference",) if sort == "how to respond" else (),
                    metadata={"custom_instructions": sort},
                )
            for kind, line in self._first:
                if kind == sort and line not in current:
                    yield Skipped(_FORMER, sort)


def _unwrapped(text: str) -> str:
    """Return what the person wrote of a text that ChatGPT put into a fence behind a sentence of its own."""
    found = _FENCED.search(text)
    return found["own"].strip() if found is not None else text


def _lines(text: str) -> Iterator[str]:
    seen = set()
    for line in text.splitlines():
        own = _LABEL.sub("", _BULLET.sub("", line.strip())).strip()
        if any(one.isalnum() for one in own) and own not in seen:
            seen.add(own)
            yield own


_NAMED = re.compile(r"conversations(?:[-_]\d+)?\.json")
_FENCED = re.compile(r"^The user provided .*?```(?P<own>.*?)(?:```\s*)?\Z", re.DOTALL)
_BULLET = re.compile(r"^(?:[-*•–]\s+|\d{1,2}[.)]\s+|#{1,6}\s+)")
_LABEL = re.compile(r"^Other Information:\s*")
