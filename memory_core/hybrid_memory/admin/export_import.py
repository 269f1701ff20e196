"""Exports as JSON lines, and imports of them or of another program's lines."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, TypeAlias

from hybrid_memory.admin.import_policy import ImportPolicy, LineReader
from hybrid_memory.admin.jsonl import Header, header_line, header_of, is_header, item_line
from hybrid_memory.admin.named_files import atomic_file, file_errors
from hybrid_memory.errors import ConstraintViolation, InvalidInput
from hybrid_memory.store.encoding import check_memory, check_text, object_to_json
from hybrid_memory.store.transfer import EntryItem, MemoryItem, TransferItem
from hybrid_memory.text_encoder import text_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from hybrid_memory.store.transfer import TransferableStore

Embed: TypeAlias = "Callable[[Sequence[str]], NDArray[np.float32] | None]"
"""Returns the unit vectors of texts as rows, None while the model is not at hand."""
OnProgress: TypeAlias = Callable[[int, int], None]

_BATCH = 1000
_BATCH_BYTES = 1 << 22
_LONGEST = 1 << 26


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
    place: Path,
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
    with atomic_file(place) as stream:
        stream.write(header_line(contents))
        while part := list(islice(contents.items, _BATCH)):
            stream.write(b"".join(map(item_line, part)))
            done += len(part)
            on_progress(done, contents.total)
        size = stream.tell()
    return Exported(contents.namespaces, contents.memories, done + 1, size)


def import_file(
    store: TransferableStore, file: Path, incoming: ImportPolicy, *, embed: Embed, actor: str, on_progress: OnProgress
) -> Imported:
    """Store what a file holds, in transactions of up to 1,000 lines each; everything is checked before the first of them.

    Nothing happens when a line is wrong. An import that was killed is done again: what is there is passed over.

    Raises:
        InvalidInput: names the line that is wrong, or says what a line collides with.
        StoreError: the store took no more; what came in so far stays, and the import can be done again.
    """
    with file_errors(), file.open("rb") as stream:
        header = _header(stream)
        reader = LineReader(header, incoming)
        total, left_out = _check(store, reader, _lines(stream))
        vectors = _uses_vectors(store, reader)
        stream.seek(0)
        done = new = 0
        for batch in _batches(reader, _lines(stream)):
            items = [replace(one, vector=None) if isinstance(one, MemoryItem) and not vectors else one for one in batch]
            ready = items if vectors else _embedded(store, items, embed)
            new += store.transfer.import_items(ready, action="import", actor=actor).new
            done += len(batch)
            on_progress(done, total)
    return Imported(new=new, there=total - new, left_out=left_out, ours=header is not None, trusted=reader.trusted)


def _header(stream: BinaryIO) -> Header | None:
    first = stream.readline(_LONGEST)
    stream.seek(0)
    return header_of(first) if is_header(first) else None


def _lines(stream: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Yield the lines that say something with their numbers, counted from 1."""
    number = 0
    while line := stream.readline(_LONGEST):
        number += 1
        if len(line) == _LONGEST:
            raise InvalidInput(f"line {number}", "is longer than 64 MiB")
        if line.strip():
            yield number, line


def _check(store: TransferableStore, reader: LineReader, lines: Iterable[tuple[int, bytes]]) -> tuple[int, int]:
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
            if len(part) == _BATCH:
                _check_known(store, reader, part)
                part.clear()
    _check_known(store, reader, part)
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


def _check_known(store: TransferableStore, reader: LineReader, part: Sequence[tuple[int, MemoryItem]]) -> None:
    known = store.transfer.existing([(one.memory.namespace, one.memory.id) for _, one in part]) if part else {}
    for number, one in part:
        there = known.get((one.memory.namespace, one.memory.id))
        if there is not None and not reader.is_same(one, there):
            raise InvalidInput(
                f"line {number}",
                "has the id of a memory that is there already and says something else; nothing was imported",
            )


def _uses_vectors(store: TransferableStore, reader: LineReader) -> bool:
    """Say whether the file's vectors fit the store, which takes over their embedder if it has none."""
    header = reader.header
    if not reader.trusted or header is None or header.embedder is None or header.dimensions is None:
        return False
    return store.pin_embedder(header.embedder, header.dimensions)


def _batches(reader: LineReader, lines: Iterable[tuple[int, bytes]]) -> Iterator[list[TransferItem]]:
    batch: list[TransferItem] = []
    size = 0
    for number, line in lines:
        item = reader.item(number, line)
        if item is None:
            continue
        batch.append(item)
        size += len(line)
        if len(batch) == _BATCH or size > _BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _embedded(store: TransferableStore, items: Sequence[TransferItem], embed: Embed) -> list[TransferItem]:
    """Return the items, new memories with vectors if there is a model for that."""
    given = [one for one in items if isinstance(one, MemoryItem)]
    known = store.transfer.existing([(one.memory.namespace, one.memory.id) for one in given]) if given else {}
    new = [one for one in given if (one.memory.namespace, one.memory.id) not in known]
    rows = embed([text_of(one.memory) for one in new]) if new else None
    if rows is None:
        return list(items)
    made = {id(one): replace(one, vector=row) for one, row in zip(new, rows, strict=True)}
    return [made.get(id(one), one) for one in items]
