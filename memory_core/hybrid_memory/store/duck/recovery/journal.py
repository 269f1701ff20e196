"""The redo journal alongside the database: what each write executed since the database file was last complete.

DuckDB keeps new writes in a write-ahead log until a checkpoint. Where that log is damaged, it drops writes, some of them
silently. So every write is also appended here, as its statements and values with a checksum and the number that the same
transaction stores in the database; what the database lacks is executed again when it is opened. After a checkpoint the journal
begins again. A record is handed to the operating system before the commit, and the header says after the commit how many writes
were committed; neither is waited for on the disk, since the write-ahead log is.

The engine appends; `recovery.open` and `recovery.repair` read. The file: a header (mark, a letter, length, checksum, JSON of
store, base and the last committed write), then records (mark, length, number, checksum, JSON of how many statements were known,
of the new ones and of the work). Checksums of records are keyed with the store's id, so that those of another store are never
taken for its own. A damaged header costs only the number of the last write: the first record tells the rest.
"""

from __future__ import annotations

import hashlib
import json
import os
import struct
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from hybrid_memory.private_files import prepare_replacement

# The layout of the file. Nothing here may change without a new file mark: stores in use have such journals.
_FILE_MARK = b"hmj1"
_RECORD_MARK = b"\xf5hmr"  # 0xf5 is never a byte of UTF-8, so the JSON of a record cannot hold the mark
_DIGEST_BYTES = 8
_HEADER = struct.Struct(f"<4scI{_DIGEST_BYTES}s")
_COMPLETE = b"c"
_INCOMPLETE = b"m"  # written by earlier versions, where a write was left out
_RECORD = struct.Struct(f"<4sIQ{_DIGEST_BYTES}s")
_BINARY = getattr(os, "O_BINARY", 0)  # Windows alone has it, and changes line ends without it

ExecutedStatement: TypeAlias = tuple[str, Sequence[Any]]
"""A statement and its values."""


@dataclass(frozen=True, slots=True)
class JournalRecord:
    """One write: its number and what it executed, as it is in the file."""

    number: int
    body: memoryview


@dataclass(frozen=True, slots=True)
class JournalContents:
    """What a journal file says of a store: ``base``, the number of the write after which it begins, and ``records`` without a gap.

    ``committed`` is the last write that was committed, None where the header does not say; ``highest`` the highest number of an
    intact record, which may come after a damaged one; ``length`` that of the intact beginning in bytes. ``ends_early`` says that more
    was written, or that an earlier version left out a write. ``is_foreign`` says that the file is another store's; then nothing
    else is known.
    """

    base: int = 0
    records: tuple[JournalRecord, ...] = ()
    committed: int | None = None
    highest: int = 0
    length: int = 0
    ends_early: bool = False
    is_foreign: bool = False

    @property
    def last(self) -> int:
        """The number of the last record that can be used."""
        return self.base + len(self.records)

    def steps_after(self, number: int) -> Iterator[tuple[int, Sequence[ExecutedStatement]]]:
        """Yield the numbers and the statements of the writes behind ``number``, until one cannot be read."""
        statements: list[str] = []
        for record in self.records:
            known, new, work = json.loads(bytes(record.body))
            if known == 0:
                # A process that went on with the journal numbers its statements again.
                statements.clear()
            if known != len(statements):
                return
            statements.extend(new)
            if record.number > number:
                yield record.number, [(statements[place], values) for place, *values in work]


def read_journal(content: bytes, store: str) -> JournalContents | None:
    """Return what the bytes of a journal tell of a store; None when nothing in it can be read."""
    key = _key(store)
    head = _parse_header(content)
    if head is not None and head.store != store:
        return JournalContents(is_foreign=True)
    view = memoryview(content)
    offset = head.end if head is not None else max(content.find(_RECORD_MARK), 0)
    first = _parse_record(view, offset, key)
    if head is None and first is None:
        return None
    base = head.base if head is not None else first.number - 1 if first is not None else 0
    records: list[JournalRecord] = []
    while (raw := _parse_record(view, offset, key)) is not None and raw.number == base + len(records) + 1:
        records.append(JournalRecord(raw.number, raw.body))
        offset = raw.end
    return JournalContents(
        base=base,
        records=tuple(records),
        committed=head.committed if head is not None else None,
        highest=max([base + len(records), *_intact_numbers(content, offset, key)]),
        length=offset,
        ends_early=offset < len(content) or content[len(_FILE_MARK) : len(_FILE_MARK) + 1] == _INCOMPLETE,
    )


def read_origin(content: bytes) -> tuple[str, int] | None:
    """Return the store's id and the number after which a journal begins; None when its header cannot be read."""
    head = _parse_header(content)
    return None if head is None else (head.store, head.base)


class Journal:
    """The journal file of one open store: each write is appended before its commit and confirmed after it."""

    def __init__(self, file: Path, store: str) -> None:
        self.file = file
        self.bytes = 0
        self._store = store
        self._key = _key(store)
        self._numbers: dict[str, int] = {}
        self._handle: int | None = None
        self._base = self._last = 0
        self._appended: tuple[int, dict[str, int]] | None = None

    def begin(self, base: int) -> None:
        """Replace the file by an empty one that begins after write ``base``.

        Raises:
            OSError: there is no room for it; the former file is still in use.
        """
        head = _encode_header(self._store, base, base)
        # Not waited for on the disk: a header that a power cut destroys costs nothing.
        fresh = prepare_replacement(self.file, head, durable=False)
        self.release()
        fresh.replace(self.file)
        self._numbers, self._base, self._last, self.bytes, self._appended = {}, base, base, len(head), None
        self._open()

    def resume(self, contents: JournalContents) -> None:
        """Go on after the last record of a file that was read; the rest of a record that was never committed goes.

        Raises:
            OSError: the file cannot be written.
        """
        self._base, self._last, self.bytes = contents.base, contents.last, contents.length
        self._open()
        self.confirm()
        self.take_back()

    def append(self, number: int, steps: Sequence[ExecutedStatement]) -> None:
        """Append a write that is about to be committed; a file that does not end with the write before it begins again.

        Raises:
            OSError: it cannot be written; the write must not be committed.
        """
        if self._handle is None or number != self._last + 1:
            self.begin(number - 1)
        record, statements = self._encode_record(number, steps)
        self._write(self.bytes, record)
        self._appended = len(record), statements

    def confirm(self) -> None:
        """Note that the write appended last is committed."""
        if self._appended is not None:
            length, statements = self._appended
            self._numbers |= statements
            self._last += 1
            self.bytes += length
            self._appended = None
        # Where this fails, the next one says it; the record is there.
        with suppress(OSError):
            self._write(0, _encode_header(self._store, self._base, self._last))

    def take_back(self) -> None:
        """Remove the write appended last, which was not committed; where that fails, the next one is written over it."""
        self._appended = None
        if self._handle is not None:
            with suppress(OSError):
                os.ftruncate(self._handle, self.bytes)

    def remove(self) -> None:
        """Remove the file: the database file holds everything."""
        self.release()
        self.file.unlink(missing_ok=True)

    def release(self) -> None:
        """Close the file, which stays where it is."""
        if self._handle is not None:
            with suppress(OSError):
                os.close(self._handle)
            self._handle = None

    def _open(self) -> None:
        self._handle = os.open(self.file, os.O_RDWR | _BINARY)

    def _write(self, place: int, content: bytes) -> None:
        if self._handle is None:
            return
        os.lseek(self._handle, place, os.SEEK_SET)
        while content:
            # The system says why it took a part only at the next attempt.
            content = content[os.write(self._handle, content) :]

    def _encode_record(self, number: int, steps: Sequence[ExecutedStatement]) -> tuple[bytes, dict[str, int]]:
        """Return the record and the numbers of the statements that are new with it."""
        known = len(self._numbers)
        new: dict[str, int] = {}
        work = []
        for statement, values in steps:
            place = self._numbers.get(statement)
            if place is None:
                place = new.setdefault(statement, known + len(new))
            work.append([place, *values])
        body = json.dumps(
            [known, list(new), work], ensure_ascii=False, separators=(",", ":"), default=_to_plain_number
        ).encode()
        return _RECORD.pack(_RECORD_MARK, len(body), number, _digest(self._key, number, body)) + body, new


@dataclass(frozen=True, slots=True)
class _Header:
    store: str
    base: int
    committed: int | None
    end: int


@dataclass(frozen=True, slots=True)
class _RawRecord:
    number: int
    body: memoryview
    end: int


def _key(store: str) -> bytes:
    return hashlib.blake2b(store.encode(), digest_size=16).digest()


def _encode_header(store: str, base: int, committed: int) -> bytes:
    # Of one length for all numbers, so that it can be written over; what earlier versions read of it is the same.
    body = f'{{"store": {json.dumps(store)}, "base": {base}, "committed": {committed:20}}}'.encode()
    return _HEADER.pack(_FILE_MARK, _COMPLETE, len(body), _digest(b"", 0, body)) + body


def _parse_header(content: bytes) -> _Header | None:
    if len(content) < _HEADER.size:
        return None
    mark, _, length, digest = _HEADER.unpack_from(content)
    body = content[_HEADER.size : _HEADER.size + length]
    if mark != _FILE_MARK or len(body) != length or digest != _digest(b"", 0, body):
        return None
    values = json.loads(body)
    return _Header(str(values["store"]), int(values["base"]), values.get("committed"), _HEADER.size + length)


def _parse_record(content: memoryview, offset: int, key: bytes) -> _RawRecord | None:
    if offset + _RECORD.size > len(content):
        return None
    mark, length, number, digest = _RECORD.unpack_from(content, offset)
    end = offset + _RECORD.size + length
    if mark != _RECORD_MARK or end > len(content):
        return None
    body = content[offset + _RECORD.size : end]
    return _RawRecord(number, body, end) if digest == _digest(key, number, body) else None


def _intact_numbers(content: bytes, offset: int, key: bytes) -> Iterator[int]:
    """Yield the numbers of intact records behind a place, wherever they begin."""
    view = memoryview(content)
    while (offset := content.find(_RECORD_MARK, offset)) >= 0:
        raw = _parse_record(view, offset, key)
        if raw is not None:
            yield raw.number
        offset = raw.end if raw is not None else offset + 1


def _digest(key: bytes, number: int, body: bytes | memoryview) -> bytes:
    return hashlib.blake2b(body, digest_size=_DIGEST_BYTES, key=key, salt=number.to_bytes(8, "little")).digest()


def _to_plain_number(value: Any) -> Any:
    """Return the plain number of one of numpy's."""
    if hasattr(value, "item"):
        return value.item()
    raise TypeError(f"a {type(value).__name__} cannot be noted")
