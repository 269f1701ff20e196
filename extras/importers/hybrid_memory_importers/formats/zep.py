"""Zep and Graphiti: facts (edges of a graph) with the time from which and until which they held, entities, episodes, messages, threads.

Shapes (types of getzep/zep-python, graphiti_core/edges.py and nodes.py of getzep/graphiti): an edge has ``uuid``, ``fact``, ``name``,
``created_at``,
``valid_at``, ``invalid_at``, ``expired_at``; a node ``uuid``, ``name``, ``summary``, ``labels``; an episode ``uuid``, ``content``,
``source``, ``role``,
``role_type``, ``thread_id``; a message ``uuid``, ``content``, ``role`` (once ``role_type``), ``name``, ``created_at``. They come as
lists, or in the fields
``edges``, ``facts``, ``nodes``, ``episodes``, ``messages`` of an answer. A fact that stopped being true has an end, and is no longer
remembered after it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from hybrid_memory.errors import InvalidInput
from hybrid_memory_importers.formats.reading import HEAD, Keys, digest
from hybrid_memory_importers.formats.values import (
    json_files,
    metadata_of,
    moment_of,
    name_of,
    tags_of,
    text_of,
    values_of,
)
from hybrid_memory_importers.record import Author, Record, RecordKind, Skipped
from hybrid_memory_importers.source import Source, SourceFile

NAME = "zep"
TITLE = "Zep or Graphiti"

_NAMES = (".json", ".jsonl")
_FACT = re.compile(rb'"fact"\s*:\s*"')
_FACT_BESIDE = re.compile(rb'"(?:uuid|valid_at|invalid_at|expired_at|source_node_uuid|rating)"\s*:')
_TALK = re.compile(rb'"(?:role_type|source_description|thread_created_at)"\s*:')
_NODE = re.compile(rb'"summary"\s*:')
_GRAPH = re.compile(rb'"(?:group_id|name_embedding|graph_id)"\s*:')
_LISTS = (
    "edges",
    "facts",
    "relevant_facts",
    "nodes",
    "episodes",
    "messages",
    "observations",
    "thread_summaries",
    "results",
)
_LINE = re.compile(r"^([^:\n()]{1,60})(?:\(([^()\n]{1,60})\))?: (.+)$")
"""A message in an episode of several: ``name: words`` or ``name(role): words``."""
_ROLES = {"user": Author.PERSON, "human": Author.PERSON, "assistant": Author.ASSISTANT, "ai": Author.ASSISTANT}
_LEFT_OUT_FIELDS = frozenset({"fact_embedding", "name_embedding", "score", "relevance", "selection_rank", "processed"})


def recognises(source: Source) -> bool:
    """Return True if a file of a source holds facts, episodes or messages of Zep."""
    return any(map(_is_zep, source.files()))


def read(source: Source) -> Iterator[Record | Skipped]:
    """Yield what a source holds.

    Raises:
        InvalidInput: it holds nothing of Zep.
    """
    reader, found = _Reader(), False
    known = [file for file in source.files() if _is_zep(file)]
    for value in values_of(known or json_files(source), _LISTS):
        for record in reader.value(value, {}):
            found = True
            yield record
    if not found:
        raise InvalidInput("file", "holds no facts, episodes or messages of Zep or Graphiti")


def _is_zep(file: SourceFile) -> bool:
    if not file.path.lower().endswith(_NAMES):
        return False
    head = file.head(HEAD)
    if _FACT.search(head) and _FACT_BESIDE.search(head):
        return True
    return _TALK.search(head) is not None or (_NODE.search(head) is not None and _GRAPH.search(head) is not None)


class _Reader:
    """Turns values into records; keys are given once for a whole source."""

    def __init__(self) -> None:
        self._keys = Keys()

    def value(self, value: Any, around: Mapping[str, Any]) -> Iterator[Record | Skipped]:
        """Yield what a value holds; ``around`` is the answer that it is in."""
        if isinstance(value, Skipped):
            yield value
        elif isinstance(value, str) and around:  # of an answer's list of facts
            yield self._fact({"fact": value})
        elif not isinstance(value, dict):
            yield Skipped("an entry that is no fact, episode or message")
        elif (
            any(isinstance(value.get(field), list) for field in _LISTS)
            and "fact" not in value
            and "content" not in value
        ):
            for field in _LISTS:
                inner = value.get(field)
                for one in inner if isinstance(inner, list) else ():
                    yield from self.value(one, value)
        elif "fact" in value:
            yield self._fact(value)
        elif "content" in value:
            yield from self._said(value, around)
        else:
            yield self._node(value)

    def _fact(self, value: Mapping[str, Any]) -> Record | Skipped:
        id_, text = name_of(value.get("uuid")), text_of(value.get("fact")) or text_of(value.get("content"))
        if text is None:
            return Skipped("a fact without words", id_ or "")
        return Record(
            key=self._keys.unique(id_ or digest("fact", text)),
            text=text,
            kind=RecordKind.MEMORY,
            author=Author.ASSISTANT,
            at=moment_of(value.get("created_at")),
            conversation=name_of(value.get("group_id")),
            occurred_at=moment_of(value.get("valid_at")),
            expires_at=moment_of(value.get("invalid_at")) or moment_of(value.get("expired_at")),
            metadata=metadata_of(
                {
                    "relation": value.get("name"),
                    **_kept(value, "attributes", "rating", "source_node_name", "target_node_name"),
                }
            ),
            source=NAME,
        )

    def _node(self, value: Mapping[str, Any]) -> Record | Skipped:
        id_, name, summary = name_of(value.get("uuid")), name_of(value.get("name")), text_of(value.get("summary"))
        if summary is None:
            return Skipped("an entity without a summary; its facts say what is known", id_ or "")
        text = summary if name is None or name.casefold() in summary.casefold() else f"{name}: {summary}"
        return Record(
            key=self._keys.unique(id_ or digest("node", text)),
            text=text,
            kind=RecordKind.MEMORY,
            author=Author.ASSISTANT,
            at=moment_of(value.get("created_at")),
            conversation=name_of(value.get("group_id")),
            tags=tags_of(value.get("labels")),
            metadata=metadata_of({"entity": name, **_kept(value, "attributes")}),
            source=NAME,
        )

    def _said(self, value: Mapping[str, Any], around: Mapping[str, Any]) -> Iterator[Record | Skipped]:
        """Yield a message or an episode; an episode may hold several messages, each in a line with its speaker."""
        id_, text = name_of(value.get("uuid")), text_of(value.get("content"))
        if text is None:
            yield Skipped("a message without words", id_ or "")
            return
        if value.get("source") == "json":
            yield Skipped("data (JSON) of an episode", id_ or "")
            return
        key = id_ or digest("said", str(value.get("created_at")), text)
        role = value.get("role_type") or value.get("role")
        if role is None:
            lines = [_LINE.match(line) for line in text.splitlines() if line.strip()]
            if value.get("source") == "message" and lines and all(lines):
                for line in filter(None, lines):
                    yield self._message(key, line[3], line[2] or line[1], line[1], value, around)
                return
            yield self._message(key, text, None, None, value, around)
            return
        speaker = name_of(value.get("name")) or (name_of(value.get("role")) if value.get("role_type") else None)
        yield self._message(key, text, str(role), speaker, value, around)

    def _message(
        self,
        key: str,
        text: str,
        role: str | None,
        speaker: str | None,
        value: Mapping[str, Any],
        around: Mapping[str, Any],
    ) -> Record:
        conversation = next(
            (
                name
                for holder in (value, around)
                for field in ("thread_id", "session_id", "group_id", "user_id")
                if (name := name_of(holder.get(field)))
            ),
            None,
        )
        is_role = speaker is not None and speaker.casefold() in _ROLES
        return Record(
            key=self._keys.unique(key),
            text=text,
            # A text without a speaker is a document that was given to be remembered.
            kind=RecordKind.MEMORY if role is None else RecordKind.MESSAGE,
            author=Author.OTHER if role is None else _ROLES.get(role.casefold().strip(), Author.OTHER),
            at=moment_of(value.get("valid_at")) or moment_of(value.get("created_at")),
            conversation=conversation,
            speaker=None if is_role else name_of(speaker),
            metadata=metadata_of(value.get("metadata"), {"about": value.get("source_description")}),
            source=NAME,
        )


def _kept(value: Mapping[str, Any], *fields: str) -> dict[str, Any]:
    found = {field: value.get(field) for field in fields if field != "attributes"}
    attributes = value.get("attributes")
    inner = attributes if "attributes" in fields and isinstance(attributes, dict) else {}
    return {**{name: one for name, one in inner.items() if name not in _LEFT_OUT_FIELDS}, **found}
