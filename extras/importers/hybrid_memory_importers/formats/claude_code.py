"""Transcripts of Claude Code: ``~/.claude/projects/FOLDER/SESSION.jsonl``, one event a line.

Nothing of the form is promised. What a person typed is told from what hooks, commands, tools and sub-agents put under their name by the
same marks as in the hooks of this project (`typed.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from hybrid_memory.errors import InvalidInput
from hybrid_memory_importers.formats.reading import (
    HEAD,
    OF_A_PROGRAM,
    Keys,
    Read,
    digest,
    items,
    mapping,
    moment,
    name_of,
    text_of,
)
from hybrid_memory_importers.json_stream import json_lines
from hybrid_memory_importers.record import Author, Record, RecordKind, Skipped
from hybrid_memory_mcp.hooks.typed import typed_text

if TYPE_CHECKING:
    from hybrid_memory_importers.source import Source, SourceFile

NAME = "claude-code"
TITLE = "Claude Code transcripts"

_AGAIN = "a message that stands in another transcript too (a resumed or forked session)"
_BY_AN_AGENT = "written by an agent to another one"
_MOST_HELD = 20_000  # records of a session, before its title is looked for no longer


def recognises(source: Source) -> bool:
    """Return True if a file of lines begins as a transcript of Claude Code does."""
    return any(_is_ours(file) for file in source.files())


def read(source: Source) -> Iterator[Read]:
    """Yield what was said in each session, with its title."""
    files = [file for file in source.files() if _is_ours(file)]
    if not files:
        raise InvalidInput("file", "holds no transcript of Claude Code")
    seen: set[str] = set()
    for file in files:
        if name_of(file.path).startswith("agent-") or "/subagents/" in f"/{file.path}":
            yield Skipped(_BY_AN_AGENT, file.path)
            continue
        yield from _session(file, seen)


def _is_ours(file: SourceFile) -> bool:
    if not name_of(file.path).endswith(".jsonl"):
        return False
    head = file.head(HEAD)
    return b'"sessionId"' in head and (b'"parentUuid"' in head or b'"queue-operation"' in head or b'"summary"' in head)


@dataclass(slots=True)
class _Session:
    """What is known of a session while its lines are read."""

    name: str
    title: str = ""
    given: str = ""
    folder: str = ""
    """Where it began, wherever the client went."""


def _session(file: SourceFile, seen: set[str]) -> Iterator[Read]:
    session = _Session(name_of(file.path).removesuffix(".jsonl"))
    keys = Keys()
    held: list[Read] = []
    with file.open() as stream:
        for number, told in json_lines(stream):
            if isinstance(told, Skipped):
                held.append(told)
            elif isinstance(told, Mapping):
                _note_title(session, told)
                found = _of_line(told, session, keys, f"{session.name}/{number}", seen)
                if found is not None:
                    held.append(found)
            if len(held) >= _MOST_HELD:
                yield from _titled(held, session)
                held = []
    yield from _titled(held, session)


def _titled(held: list[Read], session: _Session) -> Iterator[Read]:
    title = session.given or session.title or None
    for one in held:
        yield one if isinstance(one, Skipped) else replace(one, title=title)


def _note_title(session: _Session, told: Mapping[str, Any]) -> None:
    kind = told.get("type")
    if kind == "custom-title":
        session.given = text_of(told.get("customTitle"))
    elif kind == "ai-title":
        session.title = text_of(told.get("aiTitle"))
    elif kind == "summary":
        session.title = text_of(told.get("summary"))


def _of_line(told: Mapping[str, Any], session: _Session, keys: Keys, where: str, seen: set[str]) -> Read | None:
    """Return what a line says: a person's or the assistant's words; None for the many lines that are nobody's words."""
    if told.get("isSidechain"):
        return Skipped(_BY_AN_AGENT, where) if told.get("type") == "user" else None
    author, text = _said(told)
    if author is None:
        return None
    if not text:
        return Skipped(OF_A_PROGRAM, where) if author is Author.PERSON else None
    own = text_of(told.get("uuid")) or digest(session.name, told.get("timestamp"), text)
    if own in seen or "forkedFrom" in told:
        return Skipped(_AGAIN, where)
    seen.add(own)
    session.folder = session.folder or text_of(told.get("cwd"))
    return Record(
        key=keys.unique(f"{session.name}/{own}"),
        text=text,
        kind=RecordKind.MESSAGE,
        author=author,
        at=moment(told.get("timestamp")),
        conversation=text_of(told.get("sessionId")) or session.name,
        speaker="Claude" if author is Author.ASSISTANT else None,
        metadata={"folder": session.folder} if session.folder else {},
    )


def _said(told: Mapping[str, Any]) -> tuple[Author | None, str]:
    """Return whose words a line holds and which; nobody's for most lines, no words where a program put them there."""
    kind, message = told.get("type"), mapping(told.get("message"))
    if kind == "assistant":
        if told.get("isApiErrorMessage") or message.get("model") == "<synthetic>":
            return None, ""
        return Author.ASSISTANT, _text_blocks(message.get("content"))
    if kind == "attachment":
        # Typed while the assistant was at work.
        queued = mapping(told.get("attachment"))
        if queued.get("type") != "queued_command" or queued.get("commandMode", "prompt") != "prompt":
            return None, ""
        return Author.PERSON, _typed(queued.get("prompt"))
    if kind != "user" or told.get("isMeta") or "toolUseResult" in told:
        return None, ""
    by_a_program = (
        told.get("isCompactSummary")
        or told.get("promptSource") == "system"
        or mapping(told.get("origin")).get("kind", "human") != "human"
    )
    return Author.PERSON, "" if by_a_program else _typed(message.get("content"))


def _typed(content: object) -> str:
    """Return what was typed of a message; nothing of a tool's result. Each part for itself: clients add parts of their own."""
    if isinstance(content, str):
        return typed_text(content)
    parts = [one if isinstance(one, str) else mapping(one) for one in (items(content) or [content])]
    if any(not isinstance(one, str) and one.get("type") == "tool_result" for one in parts):
        return ""
    told = [typed_text(one if isinstance(one, str) else text_of(one.get("text"))) for one in parts]
    return "\n".join(one for one in told if one)


def _text_blocks(content: object) -> str:
    if isinstance(content, str):
        return content.strip()
    told = [text_of(one.get("text")) for one in map(mapping, items(content)) if one.get("type") == "text"]
    return "\n".join(one for one in told if one)
