"""The Open Knowledge Format (OKF 0.1 and 0.2): a folder of Markdown files, one concept each; and our own ``export --okf``.

From the specification (``okf/SPEC.md`` of GoogleCloudPlatform/knowledge-catalog): each concept has frontmatter with a ``type``;
``index.md`` and
``log.md`` are no concepts; ``generated.at`` (once ``timestamp``) says when a concept was last changed, ``sources`` what it derives from,
of which those that
are concepts of the bundle are its parents. A concept is one memory; fields that nobody knows are kept in its metadata.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

from hybrid_memory.errors import InvalidInput
from hybrid_memory_importers.formats.values import metadata_of, name_of, tags_of, text_of
from hybrid_memory_importers.markdown.frontmatter import FrontmatterError, parse, split
from hybrid_memory_importers.markdown.statements import without_comments
from hybrid_memory_importers.markdown_files import (
    exported_record,
    fields_and_body,
    is_our_overview,
    moment_in,
    notes_of,
    others_left_out,
    text_in,
)
from hybrid_memory_importers.record import Author, Record, RecordKind, Skipped
from hybrid_memory_importers.source import Source, SourceFile

NAME = "okf"
TITLE = "the Open Knowledge Format"

_RESERVED = ("index.md", "log.md")
_LOOKED_AT = 20  # concepts by which a folder without a version is known
_HEAD = 1 << 16
_DECLARED = re.compile(rb"(?m)^okf_version\s*:")
_IN_THE_RECORD = ("tags", "title", "description")


def recognises(source: Source) -> bool:
    """Return True if the root's index names a version of OKF, or if the concepts have types and one of them another field of OKF."""
    notes = notes_of(source)
    root = min((file for file in notes if file.name == "index.md"), key=lambda file: file.path.count("/"), default=None)
    if root is not None and _DECLARED.search(root.head(_HEAD)):
        return True
    if source.path.is_file() and not _is_archive(source):
        return False
    concepts = [file for file in notes if file.name not in _RESERVED and file.name.lower() != "readme.md"][:_LOOKED_AT]
    heads = [_head_fields(file) for file in concepts]
    return bool(heads) and all(map(_has_type, heads)) and any(_is_of_okf(head) for head in heads)


def read(source: Source) -> Iterator[Record | Skipped]:
    """Yield the concepts of a bundle.

    Raises:
        InvalidInput: it has no Markdown files.
    """
    notes = notes_of(source)
    if not notes:
        raise InvalidInput("file", "holds no Markdown files, of which a bundle of OKF consists")
    root = _root_of(notes, packed=_is_archive(source))
    concepts = {_concept_id(file, root) for file in notes if file.name not in _RESERVED}
    for file in notes:
        if file.name in _RESERVED:
            continue
        text = text_in(file)
        if isinstance(text, Skipped):
            yield text
        elif not is_our_overview(file, text):
            yield exported_record(file, text) or _concept(file, text, root, concepts)
    yield from others_left_out(source)


def _concept(file: SourceFile, text: str, root: str, concepts: set[str]) -> Record | Skipped:
    fields, body = fields_and_body(text)
    if fields is None or not _has_type(fields):
        return Skipped("a file without a type in its frontmatter, so no concept", file.path)
    id_ = _concept_id(file, root)
    words = _words(fields, body)
    if words is None:
        return Skipped("a concept without words", file.path)
    generated = fields.get("generated")
    changed = generated if isinstance(generated, dict) else {}
    kept = {name: value for name, value in fields.items() if name not in _IN_THE_RECORD}
    return Record(
        key=id_,
        text=words,
        kind=RecordKind.MEMORY,
        author=Author.PERSON if str(changed.get("by", "")).startswith("human:") else Author.OTHER,
        at=moment_in(changed, ("at",)) or moment_in(fields, ("timestamp",)) or file.modified_at,
        conversation=name_of(PurePosixPath(id_).parent.as_posix()) if "/" in id_ else NAME,
        title=name_of(fields.get("title")) or PurePosixPath(id_).name,
        tags=tags_of(fields.get("tags")),
        metadata=metadata_of(kept, {"concept": id_}),
        parents=_parents(fields.get("sources"), id_, concepts),
        source=name_of(fields.get("resource")) or name_of(file.path),
    )


def _words(fields: Mapping[str, Any], body: str) -> str | None:
    """Return what a concept says: its body, with title and description before it where the body does not say them."""
    said = without_comments(body).strip()
    before: list[str] = []
    for name in ("title", "description"):
        text = text_of(fields.get(name))
        if text is not None and text.casefold() not in said.casefold() and not any(text in one for one in before):
            before.append(text)
    if not said:
        return ": ".join(before) or None
    return "\n\n".join([": ".join(before), said]) if before else said


def _parents(sources: object, id_: str, concepts: set[str]) -> tuple[str, ...]:
    """Return the concepts of the bundle that a concept derives from."""
    found = []
    for one in sources if isinstance(sources, list) else ():
        resource = one.get("resource") if isinstance(one, dict) else None
        if isinstance(resource, str):
            # The specification's own bundle names files from the root without a slash before them.
            meant = (_target(resource, id_), resource.removesuffix(".md"))
            found += [target for target in meant if target in concepts and target != id_][:1]
    return tuple(str(target) for target in dict.fromkeys(found))


def _target(resource: str, id_: str) -> str | None:
    """Return the id of the concept that a path leads to: from the bundle's root, or from the concept's own folder."""
    if "://" in resource:
        return None
    path = resource.removesuffix(".md")
    if path.startswith("/"):
        return path.lstrip("/")
    parts = list(PurePosixPath(id_).parts[:-1])
    for part in PurePosixPath(path).parts:
        if part == "..":
            if not parts:
                return None
            parts.pop()
        elif part != ".":
            parts.append(part)
    return "/".join(parts)


def _root_of(notes: list[SourceFile], *, packed: bool) -> str:
    """Return the folder of the bundle in a source: an archive mostly has one folder around everything."""
    declared = [file for file in notes if file.name == "index.md" and _DECLARED.search(file.head(_HEAD))]
    if declared:
        return min((file.path for file in declared), key=len)[: -len("index.md")]
    tops = {file.path.partition("/")[0] if "/" in file.path else "" for file in notes}
    return f"{tops.pop()}/" if packed and len(tops) == 1 and "" not in tops else ""


def _concept_id(file: SourceFile, root: str) -> str:
    return file.path.removeprefix(root).rpartition(".")[0]


def _head_fields(file: SourceFile) -> dict[str, Any]:
    block, _ = split(file.head(_HEAD).decode("utf-8", "ignore"))
    try:
        return {} if block is None else parse(block)
    except FrontmatterError:
        return {}


def _has_type(fields: Mapping[str, Any]) -> bool:
    return text_of(fields.get("type")) is not None


def _is_of_okf(fields: Mapping[str, Any]) -> bool:
    """Return True if a note with a type has another field of OKF: notes of Obsidian have types too."""
    generated = fields.get("generated")
    return (isinstance(generated, dict) and "by" in generated) or bool(
        fields.keys() & {"resource", "sources", "timestamp", "stale_after"}
    )


def _is_archive(source: Source) -> bool:
    return bool(getattr(source, "is_archive", False))
