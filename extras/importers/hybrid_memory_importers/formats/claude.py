"""Claude's data export: ``conversations.json``, ``projects``, ``memories`` and chats about designs, in one zip or in one for each.

Conversations are lists of ``chat_messages``; where an edited message left its former version in the list, the two have one
``parent_message_uuid``. What Claude itself remembers is in ``memories.json`` (or ``memories/*.json``) as Markdown about the person.
Attachments, artifacts, thoughts and account data are passed over.

The shape is written down nowhere by its vendor. It is what several independent programs read, among them
Sinity/polylogue, socketteer/Claude-Conversation-Exporter and davidteren/claude_desktop_export_browser.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hybrid_memory.errors import InvalidInput
from hybrid_memory_importers.formats.reading import (
    HEAD,
    NO_WORDS,
    NOT_READABLE,
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
from hybrid_memory_importers.standing_alone import apart

if TYPE_CHECKING:
    from hybrid_memory_importers.source import Source, SourceFile

NAME = "claude"
TITLE = "Claude export"

_AUTHORS = {
    "human": Author.PERSON,
    "user": Author.PERSON,
    "assistant": Author.ASSISTANT,
}
_SIGNS = (
    b'"chat_messages"',
    b'"conversations_memory"',
    b'"project_memories"',
    b'"memory_files"',
    b'"prompt_template"',
    b'"contentBlocks"',
)
_SPOKEN = ("text", "voice_note")
_NOT_READ = ("users.json", "user.json", "login_history.json")
_DOCUMENT = "a document of a project"
_HEADING = re.compile(r"#{1,6}\s+(?P<hash>.+)|\*\*(?P<bold>[^*]{1,80})\*\*:?")
_BULLET = re.compile(r"^(?:[-*•–+]\s+|\d{1,3}[.)]\s+|\[[ xX]\]\s+)+")
_RULE = re.compile(r"[-*_=]{3,}|`{3,}\w*")


def recognises(source: Source) -> bool:
    """Return True if a file's beginning has a word that only Claude's export has, or its account data lie alongside conversations."""
    names = {name_of(file.path) for file in source.files()}
    return {"users.json", "conversations.json"} <= names or any(_is_ours(file) for file in source.files())


def read(source: Source) -> Iterator[Read]:
    """Yield messages, the instructions of projects, and what Claude remembers, file after file."""
    files = [file for file in source.files() if name_of(file.path).endswith(".json")]
    ours = [file for file in files if _NAMED.search(file.path.lower()) or _is_ours(file)]
    if not ours:
        raise InvalidInput("file", "is no Claude export: it has no conversations.json, projects or memories")
    keys = Keys()
    for file, place, told in documents([file for file in ours if name_of(file.path) not in _NOT_READ]):
        if isinstance(told, Skipped):
            yield told
        elif isinstance(told, Mapping):
            yield from _of_document(told, file, keys)
        else:
            yield Skipped(NOT_READABLE, f"{file.path}, {place + 1}")


def _is_ours(file: SourceFile) -> bool:
    if not name_of(file.path).endswith(".json"):
        return False
    head = file.head(HEAD)
    return begins_as(head, b"[{") and any(sign in head for sign in _SIGNS)


def _of_document(told: Mapping[str, Any], file: SourceFile, keys: Keys) -> Iterator[Read]:
    if isinstance(told.get("conversations"), list):
        for one in told["conversations"]:
            yield from _of_document(mapping(one), file, keys)
    elif "chat_messages" in told:
        yield from _conversation(told, keys)
    elif "conversations_memory" in told or "project_memories" in told or "memory_files" in told:
        yield from _memories(told, keys)
    elif "messages" in told:
        yield from _design_chat(told, keys)
    elif "prompt_template" in told or "docs" in told:
        yield from _project(told, keys)
    else:
        yield Skipped("not a conversation, a project or a memory", file.path)


def _conversation(told: Mapping[str, Any], keys: Keys) -> Iterator[Read]:
    name = text_of(told.get("uuid")) or digest(told.get("name"), told.get("created_at"))
    messages = [mapping(one) for one in items(told.get("chat_messages"))]
    replaced = _replaced(messages, told.get("current_leaf_message_uuid"))
    at = moment(told.get("created_at"))
    for place, message in enumerate(messages):
        own = text_of(message.get("uuid")) or str(place)
        key = keys.unique(f"{name}/{own}")
        at = moment(message.get("created_at")) or at
        author = _AUTHORS.get(text_of(message.get("sender")) or text_of(message.get("role")))
        text = _words(message)
        if own in replaced:
            yield Skipped(REPLACED, key)
        elif author is None or not text:
            yield Skipped(NO_WORDS if author is not None else NOT_READABLE, key)
        else:
            yield Record(
                key=key,
                text=text,
                kind=RecordKind.MESSAGE,
                author=author,
                at=at,
                conversation=name,
                title=text_of(told.get("name")) or None,
                speaker="Claude" if author is Author.ASSISTANT else None,
            )


def _words(message: Mapping[str, Any]) -> str:
    """Return the words of a message: its blocks of text, or its plain text where it has no such blocks."""
    blocks = message.get("content")
    if isinstance(blocks, str) and blocks.strip():
        return blocks.strip()
    told = [text_of(one.get("text")) for one in map(mapping, items(blocks)) if one.get("type") in _SPOKEN]
    return "\n".join(one for one in told if one) or text_of(message.get("text"))


def _replaced(messages: Sequence[Mapping[str, Any]], leaf: object) -> set[str]:
    """Return the messages before which or before whose ancestors another version of the same message was preferred.

    That is the one towards the ``leaf``, or else the last one in the list. Of what has no parent in the list nothing is replaced.
    """
    parents = {text_of(one.get("uuid")): text_of(one.get("parent_message_uuid")) for one in messages if one.get("uuid")}
    kept: set[str] = set()
    at = leaf if isinstance(leaf, str) else ""
    while at in parents and at not in kept:
        kept.add(at)
        at = parents[at]
    versions: dict[str, list[str]] = {}
    for name, parent in parents.items():
        if parent:
            versions.setdefault(parent, []).append(name)
    out: set[str] = set()
    for same in versions.values():
        chosen = next((one for one in same if one in kept), same[-1])
        out.update(one for one in same if one != chosen)
    # The list is in the order of time, so that an answer comes behind what it answers.
    for name, parent in parents.items():
        if parent in out:
            out.add(name)
    return out


def _project(told: Mapping[str, Any], keys: Keys) -> Iterator[Read]:
    """Yield what the person wrote about a project: its description and instructions. Its documents are somebody's texts."""
    name = text_of(told.get("uuid")) or digest(told.get("name"))
    title = text_of(told.get("name"))
    for field in ("description", "prompt_template"):
        text = text_of(told.get(field))
        if text and not told.get("is_starter_project"):
            described = field == "description"
            yield Record(
                key=keys.unique(f"{name}/{field}"),
                text=f"{title}: {text}" if described and title else text,
                kind=RecordKind.MEMORY if described else RecordKind.INSTRUCTIONS,
                author=Author.PERSON,
                at=moment(told.get("updated_at")) or moment(told.get("created_at")),
                conversation=name,
                title=title or None,
                metadata={"project": field.replace("_", " ")},
            )
    for place, _ in enumerate(items(told.get("docs"))):
        yield Skipped(_DOCUMENT, f"{name}/{place}")


def _memories(told: Mapping[str, Any], keys: Keys) -> Iterator[Read]:
    """Yield each thing that Claude remembers; of project memories the project is the conversation."""
    account = text_of(told.get("account_uuid")) or "account"
    at = moment(told.get("updated_at")) or moment(told.get("created_at"))
    notes = [(account, "Claude's memory", told.get("conversations_memory"), at)]
    notes += [
        (name, "Claude's memory of a project", text, at) for name, text in mapping(told.get("project_memories")).items()
    ]
    for one in map(mapping, items(told.get("memory_files"))):
        changed = moment(one.get("updated_at")) or moment(one.get("created_at")) or at
        notes.append((account, text_of(one.get("path")) or "Claude's memory", one.get("content"), changed))
    for name, title, text, when in notes:
        if not isinstance(text, str) or not text.strip():
            continue
        for heading, statement in _statements_of_notes(text):
            yield Record(
                key=keys.unique(f"memory/{name}/{digest(heading, statement)}"),
                text=statement,
                kind=RecordKind.MEMORY,
                author=Author.ASSISTANT,
                at=when,
                conversation=f"memory/{name}",
                title=title,
                metadata={"heading": heading} if heading else {},
            )


def _design_chat(told: Mapping[str, Any], keys: Keys) -> Iterator[Read]:
    """Yield the messages of a chat about a design, whose parts have other names."""
    name = text_of(told.get("uuid")) or digest(told.get("title"), told.get("created_at"))
    at = moment(told.get("created_at"))
    for place, message in enumerate(map(mapping, items(told.get("messages")))):
        content = mapping(message.get("content"))
        at = moment(message.get("created_at")) or moment(content.get("timestamp")) or at
        blocks = [
            text_of(one.get("text"))
            for one in map(mapping, items(content.get("contentBlocks")))
            if one.get("type") == "text"
        ]
        author = _AUTHORS.get(text_of(message.get("role")) or text_of(message.get("sender")))
        text = "\n".join(one for one in blocks if one) or text_of(content.get("content")) or _words(message)
        key = keys.unique(f"{name}/{text_of(message.get('uuid')) or place}")
        if author is None or not text:
            yield Skipped(NO_WORDS if author is not None else NOT_READABLE, key)
            continue
        yield Record(
            key=key,
            text=text,
            kind=RecordKind.MESSAGE,
            author=author,
            at=at,
            conversation=name,
            title=text_of(told.get("title")) or text_of(mapping(told.get("project")).get("name")) or None,
            speaker="Claude" if author is Author.ASSISTANT else None,
        )


_NAMED = re.compile(
    r"(?:^|/)(?:conversations(?:[-_]\d+)?\.json|(?:projects|memories)(?:[-_]\d+)?\.json|(?:conversations|projects|memories|design_chats)/[^/]+\.json)$"
)


def _statements_of_notes(text: str) -> Iterator[tuple[str, str]]:
    """Yield the heading and the words of each statement: a sentence of a bullet or paragraph, with those behind it that need it."""
    heading = ""
    for paragraph in _paragraphs(text):
        titled = _HEADING.fullmatch(paragraph)
        if titled is not None:
            heading = (titled["hash"] or titled["bold"] or "").strip(" *:#")
            continue
        for statement in apart(paragraph):
            if any(one.isalnum() for one in statement):
                yield heading, statement


def _paragraphs(text: str) -> Iterator[str]:
    """Yield headings, bullets and paragraphs, each on one line."""
    held: list[str] = []
    for line in [*text.splitlines(), ""]:
        own = line.strip()
        starts = _BULLET.match(own) is not None or _HEADING.fullmatch(own) is not None
        if held and (starts or not own or _HEADING.fullmatch(held[-1])):
            yield " ".join(held)
            held = []
        if own and _RULE.fullmatch(own) is None:
            held.append(_BULLET.sub("", own, count=1))
