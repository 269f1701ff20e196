"""Exports as JSON lines, and imports of them or of another program's lines; `hybrid_memory.admin.jsonl` has the format.

An import reads the file twice: first every line is checked, against the store too, so that a wrong one changes nothing; then the
items are stored, a transaction for each batch. Unless the caller says that an export is to be trusted, its memories
are stored as untrusted, like those of another program.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, TypeAlias

from hybrid_memory.admin.jsonl import (
    Header,
    header_line,
    is_header,
    item_line,
    parse_foreign_line,
    parse_header,
    parse_item,
)
from hybrid_memory.admin.user_files import atomic_file, file_errors
from hybrid_memory.clock import to_micros
from hybrid_memory.errors import ConstraintViolation, InvalidInput
from hybrid_memory.ids import id_of
from hybrid_memory.model import Kind, Memory, Origin, Tier, Trust
from hybrid_memory.requests import WriteRequest
from hybrid_memory.store.encoding import check_text, object_to_json
from hybrid_memory.store.memory_fields import check_memory
from hybrid_memory.store.transfer import EntryItem, ExistingMemory, MemoryItem, TransferItem
from hybrid_memory.text import content_hash
from hybrid_memory.text_encoder import text_of
from hybrid_memory.tiers.importance import heuristic_importance
from hybrid_memory.validation import check_name, check_write
from hybrid_memory.word_encoding import with_encoded_words

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from hybrid_memory.store.transfer import TransferableStore

Embed: TypeAlias = "Callable[[Sequence[str]], NDArray[np.float32] | None]"
"""Returns the unit vectors of texts as rows, None while the model is not at hand."""
OnProgress: TypeAlias = Callable[[int, int], None]
"""Told how many lines of how many are done."""

_BATCH_ITEMS = 1000  # lines of one transaction: what a kill loses and what is held in memory
_BATCH_BYTES = 1 << 22  # of lines of one transaction, for files of very long memories
_LONGEST_LINE_BYTES = 1 << 26  # 64 MiB, as the message says; a file without line ends is not read into memory
# Tiers of a session's attention: what comes from a stranger must not stand there.
_ATTENTION = {Tier.SENSORY, Tier.SHORT_TERM, Tier.WORKING}
_SESSION = "import"  # of lines that name none


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportPolicy:
    """How the lines of a file are imported.

    ``namespace`` is where another program's lines go (``default`` when None), and which lines of an export are wanted (all
    when None). ``trusted`` says that an export is the person's own, so that origin, trust and everything else stay as they are.
    """

    now: datetime
    namespace: str | None = None
    trusted: bool = False


@dataclass(frozen=True, slots=True)
class Exported:
    """What an export holds."""

    namespaces: tuple[str, ...]
    memories: int
    lines: int
    bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """What an import did: ``new`` lines came in, ``there`` were in the store already, ``left_out`` were not wanted.

    ``ours`` says that the file is an export of this program, ``trusted`` that origin and trust are as in the file.
    """

    new: int
    there: int
    left_out: int
    ours: bool
    trusted: bool


def export_store(
    store: TransferableStore,
    target: Path,
    *,
    namespaces: Sequence[str] | None = None,
    vectors: bool = False,
    on_progress: OnProgress,
) -> Exported:
    """Write what some namespaces hold (all when none is named) to a file that takes its place when it is whole.

    The same contents give the same bytes.

    Raises:
        InvalidInput: a namespace that was named holds nothing.
        StoreFull, StoreReadOnly: the file cannot be written.
    """
    contents = store.transfer.export_items(namespaces, vectors=vectors)
    if namespaces is not None and set(namespaces) - set(contents.namespaces):
        raise InvalidInput("namespace", "holds nothing that could be exported; check its name")
    done = 0
    with atomic_file(target) as stream:
        stream.write(header_line(contents))
        while part := list(islice(contents.items, _BATCH_ITEMS)):
            stream.write(b"".join(map(item_line, part)))
            done += len(part)
            on_progress(done, contents.total)
        size = stream.tell()
    return Exported(contents.namespaces, contents.memories, done + 1, size)


def import_file(
    store: TransferableStore, file: Path, policy: ImportPolicy, *, embed: Embed, actor: str, on_progress: OnProgress
) -> Imported:
    """Store what a file holds, in transactions of up to 1,000 lines each; everything is checked before the first of them.

    Nothing happens when a line is wrong. An import that was killed is done again: what is there is passed over.

    Raises:
        InvalidInput: names the line that is wrong, or says what a line collides with.
        StoreError: the store took no more; what came in so far stays, and the import can be done again.
    """
    with file_errors(), file.open("rb") as stream:
        # First reading: every line is checked before anything is stored.
        header = _read_header(stream)
        reader = _LineReader(header, policy)
        total, left_out = _check_file(store, reader, _lines(stream))
        vectors = _takes_vectors(store, reader)
        # Second reading: one transaction for each batch.
        stream.seek(0)
        done = new = 0
        for batch in _batches(reader, _lines(stream)):
            items = [_encoded(one, keep_vector=vectors) if isinstance(one, MemoryItem) else one for one in batch]
            ready = items if vectors else _with_vectors(store, items, embed)
            new += store.transfer.import_items(ready, action="import", actor=actor).new
            done += len(batch)
            on_progress(done, total)
    return Imported(new=new, there=total - new, left_out=left_out, ours=header is not None, trusted=reader.trusted)


def _encoded(item: MemoryItem, *, keep_vector: bool) -> MemoryItem:
    """Return a memory with what search knows of its words, which is never taken from a file: it could match what it does not say."""
    return replace(item, memory=with_encoded_words(item.memory), vector=item.vector if keep_vector else None)


class _LineReader:
    """Turns the lines of a file into items; ``header`` is None for a file of another program."""

    def __init__(self, header: Header | None, policy: ImportPolicy) -> None:
        self.header = header
        self.trusted = header is not None and policy.trusted
        self._policy = policy
        self._dimensions = header.dimensions if header else None
        if policy.namespace is not None:
            check_name("namespace", policy.namespace)
        if header is not None and policy.namespace not in {None, *header.namespaces}:
            raise InvalidInput("namespace", "is none of this export; leave it away to import everything")
        if header is None and policy.trusted:
            raise InvalidInput("trusted", "is for exports of this program; lines of another one come in as untrusted")

    def is_header(self, number: int) -> bool:
        """Return True if a line is the header."""
        return self.header is not None and number == 1

    def item(self, number: int, line: bytes) -> TransferItem | None:
        """Return the item of a line, None where it is not wanted.

        Raises:
            InvalidInput: names the line and what is wrong with it.
        """
        if self.is_header(number):
            return None
        if self.header is None:
            return MemoryItem(self._foreign_memory(number, line))
        item = parse_item(line, number, self._dimensions)
        namespace = item.memory.namespace if isinstance(item, MemoryItem) else item.namespace
        if namespace not in self.header.namespaces:
            raise InvalidInput(f"line {number}", "is of a namespace that the first line does not name")
        if self._policy.namespace not in {None, namespace}:
            return None
        if self.trusted:
            return item
        return MemoryItem(self._as_untrusted(number, item.memory), item.usage) if isinstance(item, MemoryItem) else None

    def is_same(self, one: MemoryItem, existing: ExistingMemory) -> bool:
        """Return True if a memory is the one of that id that is there."""
        if one.memory.content_hash != existing.content_hash:
            return False
        return self.header is None or to_micros(one.memory.created_at) == existing.created_at

    def _foreign_memory(self, number: int, line: bytes) -> Memory:
        parsed = parse_foreign_line(line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line, number)
        namespace = self._policy.namespace or "default"
        session = parsed.session or _SESSION
        when = parsed.created_at.astimezone(UTC) if parsed.created_at else None
        # The id is made of what the line says, so that the same line is known when it comes again.
        name = f"{namespace}\n{session}\n{when.isoformat() if when else ''}\n{parsed.speaker or ''}\n{parsed.content}"
        memory = Memory(
            id=id_of(name.encode("utf-8", "replace").decode()),
            namespace=namespace,
            session=session,
            agent="default",
            content=parsed.content,
            kind=Kind.OBSERVATION,
            tier=Tier.LONG_TERM,
            importance=heuristic_importance(parsed.content, explicit=parsed.importance, kind=Kind.OBSERVATION),
            created_at=when or self._policy.now,
            content_hash="",
            tags=tuple(parsed.tags),
            metadata=parsed.metadata,
            source=parsed.source,
            speaker=parsed.speaker,
            occurred_at=parsed.occurred_at,
            expires_at=parsed.expires_at,
        )
        return self._as_untrusted(number, memory)

    def _as_untrusted(self, number: int, memory: Memory) -> Memory:
        """Return a memory as one of unknown origin: checked like a write, analysed anew, and in nobody's attention.

        Its hash is computed here, because that of the file could make it match what it does not say.
        """
        request = WriteRequest(
            content=memory.content,
            importance=memory.importance,
            tags=memory.tags,
            metadata=memory.metadata,
            source=memory.source,
            speaker=memory.speaker,
            session=memory.session,
            occurred_at=memory.occurred_at,
        )
        try:
            for field in ("namespace", "agent", "id"):
                check_name(field, getattr(memory, field))
            for one in (memory.superseded_by, memory.supersedes, memory.duplicate_of, *memory.parents):
                if one is not None:
                    check_name("id", one)
            request = check_write(request, self._policy.now)
        except InvalidInput as error:
            raise InvalidInput(f"line {number}", str(error)) from None
        created = min(memory.created_at, self._policy.now)
        return replace(
            memory,
            tags=request.tags,
            created_at=created,
            content_hash=content_hash(memory.content),
            tier=Tier.FADED if memory.tier in _ATTENTION else memory.tier,
            key=None,
            pinned=False,
            origin=Origin.IMPORT,
            trust=Trust.UNTRUSTED,
            rev=1,
        )


def _read_header(stream: BinaryIO) -> Header | None:
    first = stream.readline(_LONGEST_LINE_BYTES)
    stream.seek(0)
    return parse_header(first) if is_header(first) else None


def _lines(stream: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Yield the lines that are not blank with their numbers, counted from 1."""
    number = 0
    while line := stream.readline(_LONGEST_LINE_BYTES):
        number += 1
        if len(line) == _LONGEST_LINE_BYTES:
            raise InvalidInput(f"line {number}", "is longer than 64 MiB")
        if line.strip():
            yield number, line


def _check_file(store: TransferableStore, reader: _LineReader, lines: Iterable[tuple[int, bytes]]) -> tuple[int, int]:
    """Read the whole file; returns how many lines will come in and how many are left out.

    Raises:
        InvalidInput: a line is wrong, collides with the store, or lines are missing.
    """
    seen: set[tuple[str, str]] = set()
    wanted = left_out = 0
    part: list[tuple[int, MemoryItem]] = []
    for number, line in lines:
        item = reader.item(number, line)
        if item is None:
            left_out += not reader.is_header(number)
            continue
        wanted += 1
        _check_item(number, item)
        if isinstance(item, MemoryItem):
            key = (item.memory.namespace, item.memory.id)
            if key in seen and reader.header is not None:
                raise InvalidInput(f"line {number}", "has the id of an earlier line; nothing was imported")
            seen.add(key)
            part.append((number, item))
            if len(part) == _BATCH_ITEMS:
                _check_existing(store, reader, part)
                part.clear()
    _check_existing(store, reader, part)
    if reader.header is not None and wanted + left_out != reader.header.total:
        raise InvalidInput("file", "was cut short: it holds fewer lines than its first line says; nothing was imported")
    return wanted, left_out


def _check_item(number: int, item: TransferItem) -> None:
    try:
        if isinstance(item, MemoryItem):
            check_memory(item.memory, item.memory.namespace)
            object_to_json(item.memory.metadata)
        elif isinstance(item, EntryItem):
            check_text(item.namespace, item.conversation, item.kind)
            object_to_json(item.body)
    except ConstraintViolation as error:
        raise InvalidInput(f"line {number}", f"{error}; nothing was imported") from None


def _check_existing(store: TransferableStore, reader: _LineReader, part: Sequence[tuple[int, MemoryItem]]) -> None:
    known = store.transfer.existing([(one.memory.namespace, one.memory.id) for _, one in part]) if part else {}
    for number, one in part:
        existing = known.get((one.memory.namespace, one.memory.id))
        if existing is not None and not reader.is_same(one, existing):
            raise InvalidInput(
                f"line {number}",
                "has the id of a memory that is there already and says something else; nothing was imported",
            )


def _takes_vectors(store: TransferableStore, reader: _LineReader) -> bool:
    """Return True if the file's vectors fit the store, which takes over their embedder if it has none."""
    header = reader.header
    if not reader.trusted or header is None or header.embedder is None or header.dimensions is None:
        return False
    return store.pin_embedder(header.embedder, header.dimensions)


def _batches(reader: _LineReader, lines: Iterable[tuple[int, bytes]]) -> Iterator[list[TransferItem]]:
    batch: list[TransferItem] = []
    size = 0
    for number, line in lines:
        item = reader.item(number, line)
        if item is None:
            continue
        batch.append(item)
        size += len(line)
        if len(batch) == _BATCH_ITEMS or size > _BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _with_vectors(store: TransferableStore, items: Sequence[TransferItem], embed: Embed) -> list[TransferItem]:
    """Return the items, new memories with vectors if there is a model for that."""
    given = [one for one in items if isinstance(one, MemoryItem)]
    known = store.transfer.existing([(one.memory.namespace, one.memory.id) for one in given]) if given else {}
    new = [one for one in given if (one.memory.namespace, one.memory.id) not in known]
    rows = embed([text_of(one.memory) for one in new]) if new else None
    if rows is None:
        return list(items)
    made = {id(one): replace(one, vector=row) for one, row in zip(new, rows, strict=True)}
    return [made.get(id(one), one) for one in items]
