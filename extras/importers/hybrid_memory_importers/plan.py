"""What would come in of a source: read once, chosen, put in order, and counted for the person before anything is stored."""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, BinaryIO, cast

from hybrid_memory.admin.export_import import SAMPLES, SpreadSamples
from hybrid_memory.admin.jsonl import header_line, item_line
from hybrid_memory.errors import InvalidInput
from hybrid_memory.private_files import create_private
from hybrid_memory.store.transfer import MemoryItem, StoreContents
from hybrid_memory_importers.record import Author, Chosen, Record, RecordKind, Skipped
from hybrid_memory_importers.selection import Choice, select
from hybrid_memory_importers.spool import SpoolLine, SpoolWriter, line_of, write_spool

if TYPE_CHECKING:
    from hybrid_memory.model import Memory
    from hybrid_memory_importers.formats import Format
    from hybrid_memory_importers.source import Source

_TOLD_EVERY = 64  # records between two words to the person
_NOT_THE_PERSONS = frozenset({"markdown", "okf"})
"""Formats that anybody may have written: what they hold is untrusted unless the person says that it is theirs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What a person asked for. ``told`` says whose a source is: the person's own, somebody else's, or None for what its format says."""

    namespace: str
    choice: Choice = field(default_factory=Choice)
    told: bool | None = None

    def is_told(self, format_name: str) -> bool:
        """Return whether what comes in is the person's own."""
        return format_name not in _NOT_THE_PERSONS if self.told is None else self.told


@dataclass(frozen=True, slots=True)
class Sample:
    """A memory as it would come in."""

    at: datetime | None
    text: str


@dataclass(slots=True, kw_only=True)
class Plan:
    """What a source holds and what would come in of it.

    ``id`` names the import: the same contents with the same wish have the same one. ``file`` holds the lines, ``exported`` those that an
    export of this program had (`Record.exported`), each None where there are none. ``first`` and ``last`` are moments of what was read.
    ``exported_namespaces`` counts those of the export by namespace.
    ``unreadable`` counts what comes in with the mark of letters that were in no known encoding.
    ``left_out`` counts by reason, ``repeated`` what is not taken because the same author said the same words before.
    """

    id: str
    format: str
    title: str
    namespace: str
    told: bool
    file: Path | None = None
    exported: Path | None = None
    conversations: int = 0
    messages: int = 0
    of_the_person: int = 0
    memories: int = 0
    chosen: int = 0
    repeated: int = 0
    first: datetime | None = None
    last: datetime | None = None
    left_out: Counter[str] = field(default_factory=Counter)
    samples: list[Sample] = field(default_factory=list)
    exported_namespaces: Counter[str] = field(default_factory=Counter)
    corrected: int = 0
    unreadable: int = 0


class _Reading:
    """Counts what a reader gives while it passes on to the selection."""

    def __init__(self, plan: Plan, on_read: Callable[[int], None]) -> None:
        self._plan = plan
        self._on_read = on_read
        self._conversations: set[str] = set()
        self.exported: list[Memory] = []

    def records(self, read: Iterable[Record | Skipped]) -> Iterator[Record | Skipped]:
        plan = self._plan
        for number, one in enumerate(read, 1):
            if number % _TOLD_EVERY == 0:
                self._on_read(number)
            if isinstance(one, Skipped):
                yield one
                continue
            self._note(one)
            if one.exported is not None:
                self.exported.append(one.exported)
            else:
                yield one
        plan.conversations = len(self._conversations)

    def _note(self, record: Record) -> None:
        plan = self._plan
        if record.kind is RecordKind.MESSAGE:
            plan.messages += 1
            plan.of_the_person += record.author is Author.PERSON
        else:
            plan.memories += 1
        if record.conversation is not None and record.kind is RecordKind.MESSAGE:
            self._conversations.add(record.conversation)
        at = record.at
        if at is not None and at.tzinfo is not None:
            plan.first = at if plan.first is None else min(plan.first, at)
            plan.last = at if plan.last is None else max(plan.last, at)


def make_plan(
    source: Source, format_: Format, wish: Wish, folder: Path, *, on_read: Callable[[int], None] = lambda _: None
) -> Plan:
    """Read a source and write what comes in to a private file in ``folder``; nothing is stored. ``on_read`` is told how much was read.

    Raises:
        InvalidInput: the source is not in that format, or it is damaged or hostile.
    """
    told = wish.is_told(format_.NAME)
    plan = Plan(id="", format=format_.NAME, title=format_.TITLE, namespace=wish.namespace, told=told)
    reading = _Reading(plan, on_read)
    with ExitStack() as opened:
        draft = cast("BinaryIO", opened.enter_context(TemporaryFile(dir=folder)))
        writer = SpoolWriter(draft)
        _take(select(reading.records(format_.read(source)), wish.choice), writer, plan)
        plan.left_out.update(skipped.reason for skipped in source.left_out)
        file = folder / f"{os.getpid()}.jsonl"
        file.unlink(missing_ok=True)
        stream = opened.enter_context(create_private(file))
        salt = [format_.NAME, wish.namespace, str(told)]
        if reading.exported:
            plan.exported = folder / f"{os.getpid()}.own.jsonl"
            salt.append(_write_own_lines(plan.exported, reading.exported))
        plan.chosen, plan.id = write_spool(stream, _sampled(writer.lines(), plan), salt)
    plan.repeated = writer.repeated
    if writer.contained:
        plan.left_out["said in a longer statement that comes in"] = writer.contained
    plan.file = file if plan.chosen else None
    plan.samples += [Sample(one.created_at, one.content) for one in reading.exported[:SAMPLES]]
    plan.chosen += len(reading.exported)
    plan.exported_namespaces.update(memory.namespace for memory in reading.exported)
    return plan


def _write_own_lines(file: Path, memories: Sequence[Memory]) -> str:
    """Write memories that an export of this program had as an export of JSON lines has them; returns a digest of the file."""
    contents = StoreContents(
        embedder=None,
        dimensions=None,
        namespaces=tuple(sorted({memory.namespace for memory in memories})),
        memories=len(memories),
        buffers=0,
        conversations=0,
        entries=0,
        items=iter(()),
    )
    file.unlink(missing_ok=True)
    digest = hashlib.blake2b(digest_size=16)
    with create_private(file) as stream:
        for line in (header_line(contents), *(item_line(MemoryItem(memory)) for memory in _oldest_first(memories))):
            stream.write(line)
            digest.update(line)
    return digest.hexdigest()


def _oldest_first(memories: Sequence[Memory]) -> list[Memory]:
    """Return memories in the order of an export: what is linked to comes before what links to it."""
    return sorted(memories, key=lambda memory: (memory.namespace, memory.created_at, memory.id))


def _take(found: Iterable[Chosen | Skipped], writer: SpoolWriter, plan: Plan) -> None:
    for one in found:
        if isinstance(one, Skipped):
            plan.left_out[one.reason] += 1
            continue
        try:
            line = line_of(one, plan.format, plan.namespace, told=plan.told)
        except InvalidInput as error:
            plan.left_out[f"a text that {error.problem}" if error.field == "content" else f"its {error}"] += 1
            continue
        writer.add(one, line)


def _sampled(lines: Iterator[SpoolLine], plan: Plan) -> Iterator[SpoolLine]:
    """Pass lines on and keep some of them."""
    samples = SpreadSamples[Sample]()
    for line in lines:
        plan.unreadable += "\ufffd" in line.content
        plan.corrected += line.superseded_by is not None
        samples.add(Sample(line.at, line.content))
        yield line
    plan.samples += samples.kept()
