"""What a file of another program says, one statement or message at a time. Every reader in `hybrid_memory_importers` gives these."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hybrid_memory.model import Json, Memory


class Author(StrEnum):
    """Whose words a record holds."""

    PERSON = "person"
    ASSISTANT = "assistant"
    OTHER = "other"
    """A tool, a system prompt, another participant."""


class RecordKind(StrEnum):
    """What a record is in the program that it comes from."""

    MESSAGE = "message"
    """One turn of a conversation: not all that is said there is worth keeping."""
    MEMORY = "memory"
    """A statement that a memory already held, or a note that somebody wrote down."""
    INSTRUCTIONS = "instructions"
    """What the person wrote for an assistant to follow: nobody said it in a conversation, and not all of it tells something."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One message or memory of another program.

    ``key`` is the record's own name in its source: the same record has the same key whenever the source is exported again, and no two
    records of one source share one. ``at`` is when it was said or stored (aware), None where the source does not tell. ``conversation`` is
    the source's own name of the conversation, the folder or the user that it belongs to; ``title`` is what people call that.
    ``supersedes``, ``superseded_by`` and ``parents`` are keys of records of the same source; either end of a pair may tell of
    it. ``source`` is where a statement was taken from, as in `hybrid_memory.model.Memory`. Readers copy what the source says and judge
    nothing.

    ``rules_of`` is the folder for which a file of rules was written: all of it belongs to the project there.

    ``exported`` is the memory as an export of this program had it, for files of our own: it stands for all of it, links, namespace and
    double words included, and comes in as a line of our own export does.
    """

    key: str
    text: str
    kind: RecordKind
    author: Author
    at: datetime | None = None
    conversation: str | None = None
    title: str | None = None
    speaker: str | None = None
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, Json] = field(default_factory=dict)
    occurred_at: datetime | None = None
    expires_at: datetime | None = None
    forgotten_at: datetime | None = None
    supersedes: str | None = None
    superseded_by: str | None = None
    parents: tuple[str, ...] = ()
    source: str | None = None
    rules_of: str | None = None
    exported: Memory | None = None


@dataclass(frozen=True, slots=True)
class Skipped:
    """Something of the source that is no record: a picture, an empty message, a line that cannot be read. ``reason`` is for people."""

    reason: str
    where: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """A part of a record that becomes a memory.

    ``text`` are its words, ``part`` counts the parts of one record from 0. ``importance`` is None where it is as of any other text.
    ``supersedes`` names what it takes the place of: the key of a record of the same source, and the part of it.
    """

    record: Record
    text: str
    importance: float | None = None
    tags: tuple[str, ...] = ()
    part: int = 0
    supersedes: tuple[str, int] | None = None
