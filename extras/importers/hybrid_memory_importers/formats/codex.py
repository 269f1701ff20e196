"""Rollouts of Codex: ``~/.codex/sessions/YYYY/MM/DD/rollout-*.jsonl``, one event a line, the first one about the session.

Codex writes what a person typed twice: as an event, and as a message with what is around it. The events are taken where there are
some. Until the middle of 2025 lines were messages without a frame. Nothing of the form is promised; what was typed is told from what Codex
adds by the same marks as in the hooks of this project (`typed.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hybrid_memory.errors import InvalidInput
from hybrid_memory_importers.formats.reading import HEAD, OF_A_PROGRAM, Read, items, mapping, moment, name_of, text_of
from hybrid_memory_importers.json_stream import json_lines
from hybrid_memory_importers.record import Author, Record, RecordKind, Skipped
from hybrid_memory_mcp.hooks.typed import typed_text

if TYPE_CHECKING:
    from datetime import datetime

    from hybrid_memory_importers.source import Source, SourceFile

NAME = "codex"
TITLE = "Codex rollouts"

_BY_AN_AGENT = "a session that an agent led with another one"
_PARTS = ("text", "Text", "input_text", "output_text", None)


def recognises(source: Source) -> bool:
    """Return True if a file of lines begins as a rollout does."""
    return any(_is_ours(file) for file in source.files())


def read(source: Source) -> Iterator[Read]:
    """Yield what was said in each session."""
    files = [file for file in source.files() if _is_ours(file)]
    if not files:
        raise InvalidInput("file", "holds no rollout of Codex")
    for file in files:
        yield from _session(file)


def _is_ours(file: SourceFile) -> bool:
    name = name_of(file.path)
    if not name.endswith(".jsonl"):
        return False
    head = file.head(HEAD)
    return b'"session_meta"' in head or (
        name.startswith("rollout-") and b'"record_type"' in head + b'"record_type"' and b'"id"' in head
    )


@dataclass(slots=True)
class _Said:
    number: int
    author: Author
    text: str
    at: datetime | None


@dataclass(slots=True)
class _Session:
    """A session while it is read: what was said as events and as messages."""

    name: str
    folder: str = ""
    title: str = ""
    by_an_agent: bool = False
    events: list[_Said] = field(default_factory=list)
    messages: list[_Said] = field(default_factory=list)
    left_out: list[Skipped] = field(default_factory=list)


def _session(file: SourceFile) -> Iterator[Read]:
    session = _Session(name_of(file.path).removesuffix(".jsonl"))
    with file.open() as stream:
        for number, told in json_lines(stream):
            if isinstance(told, Skipped):
                session.left_out.append(told)
            elif isinstance(told, Mapping):
                _note(session, told, number)
            if session.by_an_agent:
                yield Skipped(_BY_AN_AGENT, file.path)
                return
    yield from session.left_out
    typed = session.events or [one for one in session.messages if one.author is Author.PERSON]
    answers = [one for one in session.messages if one.author is Author.ASSISTANT]
    for said in sorted((*typed, *answers), key=lambda one: one.number):
        where = f"{session.name}/{said.number}"
        if said.text:
            yield _record(session, said, where)
        elif said.author is Author.PERSON:
            yield Skipped(OF_A_PROGRAM, where)


def _record(session: _Session, said: _Said, key: str) -> Record:
    return Record(
        key=key,
        text=said.text,
        kind=RecordKind.MESSAGE,
        author=said.author,
        at=said.at,
        conversation=session.name,
        title=session.title or None,
        speaker="Codex" if said.author is Author.ASSISTANT else None,
        metadata={"folder": session.folder} if session.folder else {},
    )


def _note(session: _Session, told: Mapping[str, Any], number: int) -> None:
    """Note what a line says."""
    kind, payload = told.get("type"), mapping(told.get("payload"))
    at = moment(told.get("timestamp"))
    if kind == "session_meta":
        _note_session(session, payload)
    elif kind == "event_msg":
        _note_event(session, payload, number, at)
    elif kind == "response_item" and payload.get("type") == "message":
        _note_message(session, payload, number, at)
    elif kind == "message" and "role" in told:
        _note_message(session, told, number, at)
    elif kind is None and isinstance(told.get("id"), str):
        session.name = told["id"]


def _note_session(session: _Session, payload: Mapping[str, Any]) -> None:
    session.name = text_of(payload.get("id")) or session.name
    session.folder = text_of(payload.get("cwd"))
    source = payload.get("source")
    session.by_an_agent = payload.get("thread_source") == "subagent" or (
        isinstance(source, Mapping) and "subagent" in source
    )


def _note_event(session: _Session, payload: Mapping[str, Any], number: int, at: datetime | None) -> None:
    kind, item = payload.get("type"), mapping(payload.get("item"))
    if kind == "thread_name_updated":
        session.title = text_of(payload.get("thread_name"))
    elif kind == "user_message" and payload.get("kind", "plain") == "plain":
        session.events.append(_Said(number, Author.PERSON, typed_text(text_of(payload.get("message"))), at))
    elif kind == "item_completed" and item.get("type") == "UserMessage":
        session.events.append(_Said(number, Author.PERSON, _joined(item.get("content"), typed=True), at))


def _note_message(session: _Session, message: Mapping[str, Any], number: int, at: datetime | None) -> None:
    role = message.get("role")
    if role == "assistant":
        session.messages.append(_Said(number, Author.ASSISTANT, _joined(message.get("content"), typed=False), at))
        return
    kinds = items(mapping(message.get("internal_chat_message_metadata_passthrough")).get("content_item_kinds"))
    if role == "user" and (not kinds or "user.text" in kinds):
        session.messages.append(_Said(number, Author.PERSON, _joined(message.get("content"), typed=True), at))


def _joined(content: object, *, typed: bool) -> str:
    """Return the text of a message's parts; with ``typed`` only what a person typed of each. Pictures and files are passed over."""
    if isinstance(content, str):
        return typed_text(content) if typed else content.strip()
    told = [text_of(one.get("text")) for one in map(mapping, items(content)) if one.get("type") in _PARTS]
    return "\n".join(one for one in (map(typed_text, told) if typed else told) if one)
