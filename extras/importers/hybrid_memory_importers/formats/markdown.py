"""Notes in Markdown: Obsidian vaults, CLAUDE.md and memory folders of assistants, any folder or file; and our own ``export --markdown``.

A note is taken apart into statements (`hybrid_memory_importers.markdown.statements`), unless it is one memory by its own word: a file with
``name`` and ``description`` in its frontmatter, as Claude Code keeps them, whose body is short. Tags come from the frontmatter and from the
words. The time is that of the frontmatter, else the day in the file's name, else that of the file. Files that this program exported come
back as they were.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import PurePosixPath
from typing import Any

from hybrid_memory.errors import InvalidInput
from hybrid_memory_importers.formats import okf
from hybrid_memory_importers.formats.reading import Keys, digest
from hybrid_memory_importers.formats.values import metadata_of, name_of, tags_of
from hybrid_memory_importers.markdown.inline import words_of
from hybrid_memory_importers.markdown.statements import LeftOut, Statement, statements, without_comments
from hybrid_memory_importers.markdown_files import (
    day_in,
    exported_record,
    fields_and_body,
    is_our_overview,
    moment_in,
    notes_of,
    others_left_out,
    rules_of,
    text_in,
)
from hybrid_memory_importers.record import Author, Record, RecordKind, Skipped
from hybrid_memory_importers.source import Source, SourceFile
from hybrid_memory_importers.standing_alone import apart

NAME = "markdown"
TITLE = "Markdown notes"

_TIMES = (
    "created",
    "created_at",
    "date",
    "timestamp",
    "createdAt",
    "updated",
    "modified",
    "date created",
    "date modified",
    "updated_at",
)
_OWN_FIELDS = frozenset(
    {*_TIMES, "tags", "tag", "title", "name", "description", "aliases", "cssclasses", "cssclass", "publish"}
)
_OF_THE_NOTE = frozenset({
    "id", "uid", "uuid", "type", "kind", "status", "state", "layout", "template", "slug", "permalink", "draft", "lang", "language",
    "author", "category", "categories", "version", "banner", "cover", "icon", "image", "color", "colour", "position", "sidebar_position",
    "order", "weight", "toc", "url", "source", "link", "links", "up", "related", "parent", "next", "prev", "globs", "model", "tools",
    "allowed-tools", "kanban-plugin", "alias", "subtitle", "summary", "keywords", "topics", "license", "paths", "applyto", "mode",
})  # fmt: skip
"""Fields that programs and writers keep about a note, rather than about what it tells of."""
_LONGEST_MEMORY = 2_000  # characters of a file that is one memory
_TEMPLATES = frozenset({"templates", "template", "_templates"})
_INDEXES = ("memory.md", "index.md", "readme.md", "_index.md")
_MOST_FIELDS = 12  # fields of a note without words that are said


def recognises(source: Source) -> bool:
    """Return True if a source has Markdown files, and is no bundle of OKF."""
    return bool(notes_of(source)) and not okf.recognises(source)


def read(source: Source) -> Iterator[Record | Skipped]:
    """Yield the statements of the notes of a source.

    Raises:
        InvalidInput: it has no Markdown files.
    """
    notes = notes_of(source)
    if not notes:
        raise InvalidInput("file", "holds no Markdown files")
    names = {file.path.lower() for file in notes}
    keys = Keys()
    for file in notes:
        text = text_in(file)
        if isinstance(text, Skipped):
            yield text
        elif _TEMPLATES & set(PurePosixPath(file.path.lower()).parts[:-1]):
            yield Skipped("a template", file.path)
        elif not is_our_overview(file, text):
            exported = exported_record(file, text)
            if exported is not None:
                yield exported
            else:
                yield from _note(file, text, keys, names, rules_of(source, file))
    yield from others_left_out(source)


def _note(file: SourceFile, text: str, keys: Keys, names: set[str], rules: str | None) -> Iterator[Record | Skipped]:
    fields, body = fields_and_body(text)
    fields = fields or {}
    if "excalidraw-plugin" in fields:
        yield Skipped("a drawing", file.path)
        return
    stem = PurePosixPath(file.path).stem
    title = name_of(fields.get("title")) or name_of(fields.get("name")) or stem
    note = _Note(file, title, fields, moment_in(fields, _TIMES) or day_in(stem) or file.modified_at, rules)
    whole = _one_memory(fields, body)
    if whole is not None:
        yield note.record(keys, Statement(whole))
        return
    found = statements(body, title=title, apart=apart)
    for one in found:
        if isinstance(one, LeftOut):
            yield Skipped(one.reason, file.path)
        elif _leads_to_a_note(one, file.path, names):
            yield Skipped("a line of an index; the note itself comes in", file.path)
        else:
            yield note.record(keys, one)
    empty = not any(isinstance(one, Statement) for one in found)
    said = _said_by_fields(title, fields if empty else _of_its_subject(fields))
    if said:
        yield note.record(keys, Statement(said))
    elif empty:
        yield Skipped("a note without words", file.path)


class _Note:
    """What the statements of one note have in common."""

    def __init__(self, file: SourceFile, title: str, fields: dict[str, Any], at: datetime, rules: str | None) -> None:
        self._file, self._title, self._at, self._rules = file, title, at, rules
        self._tags = tags_of(*([str(one).lstrip("#") for one in _listed(fields.get(name))] for name in ("tags", "tag")))
        self._metadata = {name: value for name, value in fields.items() if name not in _OWN_FIELDS}

    def record(self, keys: Keys, statement: Statement) -> Record:
        """Return the record of a statement."""
        headings = " > ".join(statement.headings)
        done = {} if statement.done is None else {"done": statement.done}
        return Record(
            key=keys.unique(f"{self._file.path}#{digest(headings, statement.text)}"),
            text=statement.text,
            kind=RecordKind.MEMORY,
            author=Author.PERSON,
            at=day_in(headings) or self._at,
            conversation=name_of(self._file.path),
            title=self._title,
            tags=tags_of([*self._tags, *statement.tags]),
            metadata=metadata_of(self._metadata, {"heading": headings}, done),
            source=name_of(self._file.path),
            rules_of=self._rules,
        )


def _listed(value: object) -> list[object]:
    if isinstance(value, str):
        return [*value.replace(",", " ").split()]
    return value if isinstance(value, list) else []


def _one_memory(fields: dict[str, Any], body: str) -> str | None:
    """Return the words of a note that is one memory, None for any other."""
    if name_of(fields.get("name")) is None or not isinstance(description := fields.get("description"), str):
        return None
    words = without_comments(body).strip() or description.strip()
    return words if 0 < len(words) <= _LONGEST_MEMORY else None


def _leads_to_a_note(statement: Statement, path: str, names: set[str]) -> bool:
    """Return True for a line of an index: the words of a link to another note of the source, and what that is about."""
    place = PurePosixPath(path)
    if place.name.lower() not in _INDEXES:
        return False
    return any(str(PurePosixPath(place.parent, link)).lower() in names for link in statement.links)


def _of_its_subject(fields: dict[str, Any]) -> dict[str, Any]:
    """Return the fields that say something of what a note is about, and not of the note."""
    return {name: value for name, value in fields.items() if name.lower() not in _OF_THE_NOTE}


def _plain(value: object) -> str:
    """Return the words of a field, without the brackets of links; nothing for what is no plain value."""
    if isinstance(value, list):
        parts = [_plain(one) for one in value]
        return ", ".join(parts) if all(parts) else ""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    return words_of(str(value)).text


def _said_by_fields(title: str, fields: dict[str, Any]) -> str | None:
    """Return the fields of a note as a sentence: those of a card of a person, a book or a place."""
    told = [
        f"{name.replace('_', ' ')}: {plain}"
        for name, value in fields.items()
        if name not in _OWN_FIELDS and (plain := _plain(value))
    ][:_MOST_FIELDS]
    return f"{title}: {'; '.join(told)}" if told else None
