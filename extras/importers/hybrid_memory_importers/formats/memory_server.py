"""The official memory server (``@modelcontextprotocol/server-memory``): a graph of entities, observations and relations.

Its file, ``memory.jsonl`` (once ``memory.json``), has a line of JSON for each: ``{"type": "entity", "name", "entityType", "observations":
[text]}`` and ``{"type": "relation", "from", "to", "relationType"}`` (src/memory/index.ts). What its tool ``read_graph`` gives is read too:
``{"entities": [...], "relations": [...]}``. It knows no times. An observation is about its entity, and says its name only by chance: the
name goes before it, so that it says the same where the graph is gone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
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
from hybrid_memory_importers.record import Author, Record, RecordKind, Skipped
from hybrid_memory_importers.source import Source, SourceFile

NAME = "memory-server"
TITLE = "the official memory server"

_LINE = re.compile(rb'"type"\s*:\s*"(?:entity|relation)"')
_FIELDS = re.compile(rb'"(?:entityType|relationType)"\s*:')
_NAMES = (".json", ".jsonl")
_PERSON = frozenset({"default_user", "user", "the user", "me"})
"""Names that stand for the person: the first is that of the prompt which the server's own page proposes."""
_TIMES = ("createdAt", "created_at", "timestamp", "updatedAt")  # of forks; the official one has none


def recognises(source: Source) -> bool:
    """Return True if a file of a source holds such a graph."""
    return any(map(_is_graph, source.files()))


def read(source: Source) -> Iterator[Record | Skipped]:
    """Yield the observations and relations of a source.

    Raises:
        InvalidInput: it holds no such graph.
    """
    keys, found = Keys(), False
    for value in values_of([file for file in source.files() if _is_graph(file)] or json_files(source)):
        for record in _read_value(value, keys):
            found = found or isinstance(record, Record)
            yield record
    if not found:
        raise InvalidInput("file", "holds no entities and no relations of the official memory server")


def _is_graph(file: SourceFile) -> bool:
    if not file.path.lower().endswith(_NAMES):
        return False
    head = file.head(HEAD)
    return _FIELDS.search(head) is not None and (_LINE.search(head) is not None or b'"entities"' in head)


def _read_value(value: Any, keys: Keys) -> Iterator[Record | Skipped]:
    if isinstance(value, Skipped):
        yield value
    elif not isinstance(value, dict):
        yield Skipped("a line that is no entity and no relation")
    elif "entities" in value or "relations" in value:
        for entity in dicts_of(value.get("entities")):
            yield from _entity(entity, keys)
        for relation in dicts_of(value.get("relations")):
            yield _relation(relation, keys)
    elif value.get("type") == "relation" or "relationType" in value:
        yield _relation(value, keys)
    elif value.get("type") == "entity" or "entityType" in value:
        yield from _entity(value, keys)
    else:
        yield Skipped("a line that is no entity and no relation")


def _entity(value: Mapping[str, Any], keys: Keys) -> Iterator[Record | Skipped]:
    name, kind = name_of(value.get("name")), name_of(value.get("entityType"))
    if name is None:
        yield Skipped("an entity without a name")
        return
    observations = value.get("observations")
    told = [_words(one) for one in observations] if isinstance(observations, list) else []
    for text in told:
        if text is None:
            yield Skipped("an observation without words", name)
            continue
        yield _record(
            keys,
            ("entity", name, text),
            _of(name, text),
            value,
            tags=tags_of([kind]),
            metadata={"entity": name, "entity_type": kind},
        )
    if not told:
        yield Skipped("an entity of which nothing is told", name)


def _relation(value: Mapping[str, Any], keys: Keys) -> Record | Skipped:
    source, target, kind = (name_of(value.get(field)) for field in ("from", "to", "relationType"))
    if source is None or target is None or kind is None:
        return Skipped("a relation that does not name both ends")
    text = f"{_spelled(source)} {kind.replace('_', ' ')} {_spelled(target)}"
    return _record(
        keys, ("relation", source, kind, target), text, value, metadata={"from": source, "to": target, "relation": kind}
    )


def _record(keys: Keys, name: tuple[str, ...], text: str, value: Mapping[str, Any], **more: Any) -> Record:
    at = next((at for field in _TIMES if (at := moment_of(value.get(field))) is not None), None)
    more["metadata"] = metadata_of(more["metadata"])
    return Record(
        key=keys.unique(f"{name[0]}:{digest(*name)}"),
        text=text,
        kind=RecordKind.MEMORY,
        author=Author.ASSISTANT,
        at=at,
        conversation=NAME,
        source="memory server",
        **more,
    )


def _words(value: object) -> str | None:
    """Return an observation; forks write objects with the words in a field."""
    if isinstance(value, dict):
        value = value.get("content", value.get("text"))
    return text_of(value)


def _of(name: str, text: str) -> str:
    """Return an observation with the name of what it is about, unless it says that."""
    words = _spelled(name)
    said = text.casefold()
    if words.casefold() in said or name.casefold() in said or (name.casefold() in _PERSON and said.startswith("user")):
        return text
    return f"{words}: {text}"


def _spelled(name: str) -> str:
    """Return a name as people write it: the server's names have underscores for blanks."""
    if name.casefold() in _PERSON:
        return "User"
    return name.replace("_", " ").strip() or name
