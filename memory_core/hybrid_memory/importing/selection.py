"""Which records of a source come in as memories, and as what."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from hybrid_memory.importing.record import Author, Record, RecordKind, Skipped


class Messages(StrEnum):
    """Which messages of conversations are taken; memories always are."""

    TOLD = "told"
    """What the person tells: no questions, orders, pasted texts and small talk."""
    PERSON = "person"
    """Every message of the person."""
    ALL = "all"
    """The assistant's too."""


@dataclass(frozen=True, slots=True)
class Choice:
    """What a person wants of a source."""

    messages: Messages = Messages.TOLD


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


def select(records: Iterable[Record | Skipped], choice: Choice) -> Iterator[Chosen | Skipped]:
    """Yield what comes in of a source, in its order, and what is left out with the reason."""
    for record in records:
        if isinstance(record, Skipped):
            yield record
        elif (
            record.kind is RecordKind.MESSAGE
            and record.author is not Author.PERSON
            and choice.messages is not Messages.ALL
        ):
            yield Skipped("said by the assistant", record.key)
        else:
            supersedes = None if record.supersedes is None else (record.supersedes, 0)
            yield Chosen(record=record, text=record.text, tags=record.tags, supersedes=supersedes)
