"""mem0: what ``get_all`` gives, of the library and of the platform, exports of the platform, and backups of OpenMemory.

Shapes (docs/openapi.json, mem0/memory/main.py, openmemory/api/app/routers/backup.py of mem0ai/mem0):

- ``get_all``: ``{"results": [memory], "relations": [...]}``, a page ``{"count", "next", "previous", "results"}``, or a list of memories. A
  memory has ``id``, ``memory``, ``created_at``, ``updated_at``, ``metadata``, ``categories``, ``user_id``, ``agent_id``, ``run_id``,
  ``expiration_date``,
  ``replaced_by`` (the id of what took its place).
- OpenMemory: a zip with ``memories.json``: ``{"user", "apps", "categories", "memories": [{"id", "content", "state", "category_ids",
  ...}]}``.
- an export of the platform has the shape that its schema gave it. Where that is a list of memories it is read as one; of any other each
  field becomes a statement, which is read only when the format is named.
- before version 0.1: ``[{"id", "text", "metadata": {"user_id", ...}}]``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from hybrid_memory.errors import InvalidInput
from hybrid_memory_importers.formats.reading import HEAD, Keys, digest, mapping
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
from hybrid_memory_importers.record import Author, Record, RecordKind, Skipped
from hybrid_memory_importers.source import Source, SourceFile

NAME = "mem0"
TITLE = "mem0"

_MEMORY = re.compile(rb'"memory"\s*:\s*"')
_BESIDE = re.compile(rb'"(?:user_id|agent_id|run_id|hash|categories|created_at|updated_at|event)"\s*:')
_OLDEST = re.compile(rb'"text"\s*:\s*"')
_OLDEST_BESIDE = re.compile(rb'"metadata"\s*:\s*\{[^{}]*"(?:user_id|agent_id|run_id)"\s*:')
_OPEN_MEMORY = re.compile(rb'"(?:owner_id|memory_categories|category_ids|export_meta)"\s*:')
_LISTS = ("results", "memories", "data", "items")
_NAMES = (".json", ".jsonl")
_GONE = "deleted there"
_KEPT = ("user_id", "agent_id", "app_id", "run_id", "session_id", "updated_at", "hash", "state", "role", "actor_id")


def recognises(source: Source) -> bool:
    """Return True if a file of a source holds memories of mem0."""
    return any(map(_is_mem0, source.files()))


def read(source: Source) -> Iterator[Record | Skipped]:
    """Yield the memories of a source.

    Raises:
        InvalidInput: it holds none.
    """
    reader, found = _Reader(), False
    known = [file for file in source.files() if _is_mem0(file)]
    for value in values_of(known or json_files(source), _LISTS):
        for record in reader.value(value):
            found = True
            yield record
    if not found:
        raise InvalidInput("file", "holds no memories of mem0")


def _is_mem0(file: SourceFile) -> bool:
    if not file.path.lower().endswith(_NAMES):
        return False
    head = file.head(HEAD)
    if _OLDEST.search(head) is not None and _OLDEST_BESIDE.search(head) is not None:
        return True
    return (_MEMORY.search(head) is not None and _BESIDE.search(head) is not None) or (
        _OPEN_MEMORY.search(head) is not None and (b'"memories"' in head or b'"apps"' in head)
    )


class _Reader:
    """Turns values into records; ``keys`` are given once for a whole source."""

    def __init__(self) -> None:
        self._keys = Keys()

    def value(self, value: Any) -> Iterator[Record | Skipped]:
        """Yield what a value holds: a memory, or a document with a list of them."""
        if isinstance(value, Skipped):
            yield value
            return
        if not isinstance(value, dict):
            yield Skipped("an entry that is no memory")
            return
        if _words(value) is not None:
            yield self._memory(value, {})
            return
        lists = [field for field in _LISTS if isinstance(value.get(field), list)]
        names = {
            str(one.get("id")): str(one.get("name")) for one in dicts_of(value.get("categories")) if one.get("name")
        }
        for field in lists:
            for one in value[field]:
                yield self._memory(one, names) if isinstance(one, dict) else self._plain(field, one)
        relations = value.get("relations")
        for one in dicts_of(relations):
            yield self._relation(one)
        if not lists and not isinstance(relations, list):
            yield from self._fields(value)

    def _memory(self, value: Mapping[str, Any], names: Mapping[str, str]) -> Record | Skipped:
        text, id_ = _words(value), name_of(value.get("id"))
        if text is None:
            return Skipped("a memory without words", id_ or "")
        if value.get("state") == "deleted" or value.get("event") == "DELETE":
            return Skipped(_GONE, id_ or "")
        of_ids = value.get("category_ids")
        categories = [names.get(str(one), "") for one in of_ids] if isinstance(of_ids, list) else []
        said_by = value.get("role", value.get("attributed_to"))
        return Record(
            key=self._keys.unique(id_ or digest(text)),
            text=text,
            kind=RecordKind.MEMORY,
            author=Author.PERSON if said_by == "user" else Author.ASSISTANT,
            at=moment_of(value.get("created_at")) or moment_of(value.get("updated_at")),
            conversation=next(
                (
                    found
                    for one in (value, mapping(value.get("metadata")))
                    for field in ("run_id", "session_id", "user_id")
                    if (found := name_of(one.get(field))) is not None
                ),
                None,
            ),
            tags=tags_of(value.get("categories"), categories),
            metadata=metadata_of(value.get("metadata"), {field: value.get(field) for field in _KEPT}),
            expires_at=moment_of(value.get("expiration_date")),
            superseded_by=name_of(value.get("replaced_by")),
            source=NAME,
        )

    def _plain(self, field: str, value: Any) -> Record | Skipped:
        text = text_of(value)
        if text is None:
            return Skipped("an entry that is no memory", field)
        return self._statement(text, {"field": field})

    def _relation(self, value: Mapping[str, Any]) -> Record | Skipped:
        source = name_of(value.get("source"))
        kind = name_of(value.get("relationship")) or name_of(value.get("relation"))
        target = name_of(value.get("target")) or name_of(value.get("destination"))
        if source is None or kind is None or target is None:
            return Skipped("a relation that does not name both ends")
        text = " ".join(part.replace("_", " ") for part in (source, kind, target))
        return self._statement(text, {"from": source, "relation": kind, "to": target})

    def _fields(self, value: Mapping[str, Any]) -> Iterator[Record | Skipped]:
        """Yield the fields of an export whose shape the person chose, each as a statement."""
        for name, inner in value.items():
            said = _said(inner)
            if said is None:
                yield Skipped("a field that is empty or holds no plain values", str(name)[:80])
            else:
                yield self._statement(f"{_spelled(str(name))}: {said}", {"field": str(name)[:80]})

    def _statement(self, text: str, metadata: Mapping[str, Any]) -> Record:
        return Record(
            key=self._keys.unique(digest(text)),
            text=text,
            kind=RecordKind.MEMORY,
            author=Author.ASSISTANT,
            metadata=metadata_of(metadata),
            source=NAME,
        )


def _words(value: Mapping[str, Any]) -> str | None:
    return next(
        (text for field in ("memory", "content", "text", "data") if (text := text_of(value.get(field))) is not None),
        None,
    )


def _said(value: object) -> str | None:
    """Return the words of a field: a plain value, or a list of them."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return str(value)
    if isinstance(value, list):
        parts = [_said(one) for one in value]
        return None if not parts or None in parts else ", ".join(part for part in parts if part is not None)
    return text_of(value)


def _spelled(name: str) -> str:
    words = name.replace("_", " ").strip()
    return words[:1].upper() + words[1:]
