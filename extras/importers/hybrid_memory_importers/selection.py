"""Which records of a source come in as memories, and as what."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from hybrid_memory_importers.conversations import Conversation, is_one_at_a_time, newest_of_the_person
from hybrid_memory_importers.record import Author, Chosen, Record, RecordKind, Skipped
from hybrid_memory_importers.telling import chances

if TYPE_CHECKING:
    from hybrid_memory.capture.gate import Gate

_LONGEST_PIECE = 8_000  # characters of a message that is taken whole; a memory that is longer answers no question


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
    """What a person wants of a source. ``gate`` judges what of their messages is worth keeping; None leaves that to rules."""

    messages: Messages = Messages.TOLD
    gate: Gate | None = None


def select(records: Iterable[Record | Skipped], choice: Choice) -> Iterator[Chosen | Skipped]:
    """Yield what comes in of a source, and what is left out with the reason.

    A conversation is looked at as a whole: what the person took back there does not come in, and what they put right takes the place of
    what was wrong. So its messages come in when it ends. What a person has one of (where they live, what they are called, what they do
    not eat) is compared over all conversations and comes last.
    """
    if choice.messages is Messages.TOLD:
        yield from _told(records, choice.gate)
        return
    for record in records:
        found = _apart(record, choice)
        if found is None and isinstance(record, Record):
            yield from _whole(record)
        elif found is not None:
            yield found


def _told(records: Iterable[Record | Skipped], gate: Gate | None) -> Iterator[Chosen | Skipped]:
    said: list[Record] = []
    of_the_person: list[Chosen] = []
    name: str | None = None
    for record in records:
        found = _apart(record, Choice())
        if found is not None or not isinstance(record, Record):
            if found is not None:
                yield found
            continue
        if record.conversation is None or record.conversation != name:
            yield from _of_conversation(said, gate, of_the_person)
            said, name = [], record.conversation
        said.append(record)
    yield from _of_conversation(said, gate, of_the_person)
    yield from newest_of_the_person(of_the_person)


def _of_conversation(
    said: Sequence[Record], gate: Gate | None, of_the_person: list[Chosen]
) -> Iterator[Chosen | Skipped]:
    """Yield what a conversation gives, but for what is compared with other conversations."""
    conversation = Conversation()
    let = [None] * len(said) if gate is None else chances([one.text for one in said], gate)
    for record, chance in zip(said, let, strict=True):
        left_out = conversation.add(record, chance)
        if left_out is not None:
            yield left_out
    for one in conversation.chosen():
        if isinstance(one, Chosen) and is_one_at_a_time(one):
            of_the_person.append(one)
        else:
            yield one


def _apart(record: Record | Skipped, choice: Choice) -> Chosen | Skipped | None:
    """Return what becomes of a record that is no message of the person to look at: a memory, or what is left out."""
    if isinstance(record, Skipped):
        return record
    if record.kind is RecordKind.MEMORY:
        supersedes = None if record.supersedes is None else (record.supersedes, 0)
        return Chosen(record=record, text=record.text, tags=record.tags, supersedes=supersedes)
    if record.author is Author.OTHER:
        return Skipped("said by a tool or another one", record.key)
    if record.author is Author.ASSISTANT and choice.messages is not Messages.ALL:
        return Skipped("said by the assistant", record.key)
    return None


def _whole(record: Record) -> Iterator[Chosen]:
    """Yield a message in pieces of which each is short enough for one memory."""
    for part, piece in enumerate(pieces(record.text)):
        yield Chosen(record=record, text=piece, tags=record.tags, part=part)


def pieces(text: str) -> Iterator[str]:
    """Yield a text in pieces of at most 8,000 characters: as it is, or cut between paragraphs, lines or words, wherever there are some."""
    rest = text.strip()
    while len(rest) > _LONGEST_PIECE:
        cut = max(
            (at for mark in ("\n\n", "\n", " ") if (at := rest.rfind(mark, _LONGEST_PIECE // 2, _LONGEST_PIECE)) > 0),
            default=_LONGEST_PIECE,
        )
        yield rest[:cut].rstrip()
        rest = rest[cut:].lstrip()
    if rest:
        yield rest
