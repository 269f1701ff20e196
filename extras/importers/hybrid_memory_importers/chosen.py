"""What is taken of a source: the choice, a part of a record that becomes a memory, and a long text in pieces. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from hybrid_memory_importers.record import Record

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
