"""What the readers of Markdown folders share: text of files, dates of notes, and files that this program exported."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, time
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from hybrid_memory.errors import InvalidInput
from hybrid_memory_importers.markdown.frontmatter import FrontmatterError, parse, split
from hybrid_memory_importers.markdown.memory_file import read_memory_file, read_moment
from hybrid_memory_importers.markdown.seal import Written, whose
from hybrid_memory_importers.record import Author, Record, RecordKind, Skipped

if TYPE_CHECKING:
    from hybrid_memory_importers.source import Source, SourceFile

LONGEST_NOTE = 4 << 20
"""Bytes of a note; what is longer was written by a program."""
_ENDINGS = (".md", ".markdown", ".mdc")
_RULES = frozenset({
    "claude.md", "claude.local.md", "agents.md", "agents.override.md", "gemini.md", "copilot-instructions.md",
    ".cursorrules", ".windsurfrules", ".clinerules",
})  # fmt: skip
"""Files in which assistants look for rules of the repository that they lie in."""
_FOLDERS_OF_RULES = frozenset({".claude", ".cursor", ".windsurf", ".github"})
_AMONG_RULES = "rules"  # the name of a folder in these
OVERVIEWS = ("readme.md", "index.md", "log.md")
_DAY = re.compile(r"(?<!\d)(\d{4})[-_.]?(\d\d)[-_.]?(\d\d)(?!\d)")
_JUST_A_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_NOON = time(12, tzinfo=UTC)  # of a day without a time: the same day in most of the world


def notes_of(source: Source) -> list[SourceFile]:
    """Return the Markdown files of a source."""
    return [file for file in source.files() if _is_note(file)]


def rules_of(source: Source, file: SourceFile) -> str | None:
    """Return the folder for which a file of rules was written; None for any other note, and in an archive."""
    if source.is_archive:
        return None
    path = PurePath(source.path if source.is_folder else source.path.parent, file.path)
    near = next((folder for folder in path.parents if folder.name in _FOLDERS_OF_RULES), None)
    if near is not None and (path.suffix == ".mdc" or _AMONG_RULES in path.relative_to(near.parent).parts):
        return str(near.parent)
    if path.name.lower() not in _RULES:
        return None
    return str(path.parent.parent if path.parent == near else path.parent)


def _is_note(file: SourceFile) -> bool:
    return file.path.lower().endswith(_ENDINGS) or file.name.lower() in _RULES


def text_in(file: SourceFile) -> str | Skipped:
    """Return the text of a note, or why it has none."""
    if file.size > LONGEST_NOTE:
        return Skipped(f"a file of more than {LONGEST_NOTE >> 20} MB", file.path)
    try:
        with file.open() as stream:
            data = stream.read(LONGEST_NOTE + 1)
    except InvalidInput as error:
        return Skipped(f"a file that {error.problem}", file.path)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return Skipped("a file that is no text in UTF-8", file.path)
    if "\0" in text or (text and not text.strip("\ufffd \r\n")):
        return Skipped("a file that is no text", file.path)
    return text


def is_our_overview(file: SourceFile, text: str) -> bool:
    """Return True for what is stored with the memories in a folder that this program exported."""
    return file.name.lower() in OVERVIEWS and whose(text.encode("utf-8", "surrogatepass")) is not Written.FOREIGN


def exported_record(file: SourceFile, text: str) -> Record | Skipped | None:
    """Return the record of a file that this program exported, None for any other file."""
    try:
        memory = read_memory_file(text)
    except InvalidInput as error:
        return Skipped(f"an exported memory whose {error}", file.path)
    if memory is None:
        return None
    return Record(
        key=memory.id,
        text=memory.content,
        kind=RecordKind.MEMORY,
        author=Author.OTHER,
        at=memory.created_at,
        conversation=memory.session,
        speaker=memory.speaker,
        tags=memory.tags,
        metadata=memory.metadata,
        occurred_at=memory.occurred_at,
        expires_at=memory.expires_at,
        forgotten_at=memory.forgotten_at,
        supersedes=memory.supersedes,
        superseded_by=memory.superseded_by,
        parents=tuple(memory.parents),
        source=memory.source,
        exported=memory,
    )


def fields_and_body(text: str) -> tuple[dict[str, Any] | None, str]:
    """Return the frontmatter of a note and what follows; None where there is none that can be read."""
    block, body = split(text)
    if block is None:
        return None, text
    try:
        return parse(block), body
    except FrontmatterError:
        return None, body


def day_in(name: str) -> datetime | None:
    """Return the noon of the day that a name holds, as those of daily notes do; None where it holds none."""
    for found in _DAY.finditer(name):
        try:
            day = datetime(int(found[1]), int(found[2]), int(found[3]), tzinfo=UTC)
        except ValueError:
            continue
        if 1900 <= day.year < 2200:  # noqa: PLR2004 - other numbers of eight digits are no days
            return datetime.combine(day.date(), _NOON)
    return None


def moment_in(fields: dict[str, Any], names: tuple[str, ...]) -> datetime | None:
    """Return the first moment that one of some fields holds; a day without a time is its noon."""
    for name in names:
        value = fields.get(name)
        found = read_moment(value)
        if found is not None:
            return datetime.combine(found.date(), _NOON) if _JUST_A_DAY.fullmatch(str(value).strip()) else found
    return None


def others_left_out(source: Source) -> Iterator[Skipped]:
    """Yield the files of a source that are no notes."""
    for file in source.files():
        if not _is_note(file):
            yield Skipped("no Markdown file", file.path)
