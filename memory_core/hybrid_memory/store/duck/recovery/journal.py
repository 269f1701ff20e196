"""The redo journal alongside the database: what each write executed since the database file was last complete.

DuckDB keeps new writes in a write-ahead log until a checkpoint. Where that log is damaged, it drops writes, some of them
without a word. So every committed write is also appended here, as its statements and values with a checksum and the number
that the same transaction stored in the database; what the database lacks is executed again when it is opened. After a
checkpoint the journal begins again. A record is handed to the operating system before the write is answered; it is
not waited for on the disk, since the write-ahead log is.

The engine appends; `recovery.open` and `recovery.repair` read. The file: a header (mark, whether it is complete, length,
checksum, JSON of store and base), then records (mark, length, number, checksum, JSON of how many statements were known, of
the new ones and of the work). Checksums of records are keyed with the store's id, so that those of another store are never
taken for its own. A damaged header costs nothing: the first record tells what it told.
"""

from __future__ import annotations

import hashlib
import json
import os
import struct
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeAlias

from hybrid_memory.private_files import replace_private

# The layout of the file. Nothing here may change without a new file mark: stores in use have such journals.
_FILE_MARK = b"hmj1"
_RECORD_MARK = b"\xf5hmr"  # 0xf5 is never a byte of UTF-8, so the JSON of a record cannot hold the mark
_DIGEST_BYTES = 8
_HEADER = struct.Struct(f"<4scI{_DIGEST_BYTES}s")
_COMPLETE = b"c"
_INCOMPLETE = b"m"
_COMPLETE_AT = len(_FILE_MARK)
_RECORD = struct.Struct(f"<4sIQ{_DIGEST_BYTES}s")
_BINARY = getattr(os, "O_BINARY", 0)  # Windows alone has it, and changes line ends without it

ExecutedStatement: TypeAlias = tuple[str, Sequence[Any]]
"""A statement and its values."""


class JournalEnd(StrEnum):
    """How a journal ends: whole, in the middle of its last record as a killed process leaves it, or damaged."""

    WHOLE = "whole"
    TORN = "torn"
    DAMAGED = "damaged"


@dataclass(frozen=True, slots=True)
class JournalRecord:
    """One write: its number and what it executed, as it is in the file."""

    number: int
    body: memoryview


@dataclass(frozen=True, slots=True)
class JournalContents:
    """What a journal file tells of a store: ``base``, the number of the write behind which it begins, and ``records`` without a gap.

    ``highest`` is the highest number of an intact record, which may stand behind a damaged one; ``length`` is that of
    the intact beginning in bytes. ``is_complete`` says that no write is left out. ``is_foreign`` says that the file is
    another store's; then it tells nothing else.
    """

    base: int = 0
    records: tuple[JournalRecord, ...] = ()
    highest: int = 0
    length: int = 0
    end: JournalEnd = JournalEnd.WHOLE
    is_complete: bool = True
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
    later = list(_intact_numbers(content, offset, key))
    end = _find_end(content, offset, later) if head is not None else JournalEnd.DAMAGED
    is_complete = content[_COMPLETE_AT : _COMPLETE_AT + 1] == _COMPLETE
    return JournalContents(base, tuple(records), max([base + len(records), *later]), offset, end, is_complete)


def read_origin(content: bytes) -> tuple[str, int] | None:
    """Return the store's id and the number after which a journal begins; None when its header cannot be read."""
    head = _parse_header(content)
    return None if head is None else (head.store, head.base)


class Journal:
    """The journal file of one open store. ``is_complete`` says whether it holds all writes since the last checkpoint."""

    def __init__(self, file: Path, store: str) -> None:
        self.file = file
        self.is_complete = True
        self.bytes = 0
        self._store = store
        self._key = _key(store)
        self._numbers: dict[str, int] = {}
        self._handle: int | None = None
        self._last = 0

    def begin(self, base: int) -> None:
        """Replace the file by an empty one that begins after write ``base``.

        Raises:
            OSError: the former file is still there.
        """
        self.release()
        self.is_complete = False
        head = _encode_header(self._store, base)
        # Not waited for on the disk: a header that a power cut destroys costs nothing.
        replace_private(self.file, head, durable=False)
        self._numbers, self._last, self.bytes = {}, base, len(head)
        self._open()
        self.is_complete = True

    def resume(self, reading: JournalContents) -> None:
        """Go on behind the last record of a file that was read.

        Raises:
            OSError: the file cannot be written.
        """
        self._last, self.bytes = reading.last, reading.length
        self._open()

    def ensure_open(self, base: int) -> None:
        """Begin the file after write ``base`` unless it is there, so that no write is committed without one."""
        if self._handle is None and self.is_complete:
            try:
                self.begin(base)
            except OSError:
                self.mark_incomplete()

    def append(self, number: int, steps: Sequence[ExecutedStatement]) -> None:
        """Append a committed write. When that cannot be done, ``is_complete`` is false from then on, and the file says so."""
        if not self.is_complete:
            return
        try:
            # A record with a gap before it could never be executed again.
            if number != self._last + 1 or self._handle is None:
                self.mark_incomplete()
                return
            record = self._encode_record(number, steps)
            self._write(self._handle, record)
        except (OSError, TypeError, ValueError):
            self.mark_incomplete()
            return
        self._last = number
        self.bytes += len(record)

    def mark_incomplete(self) -> None:
        """Say, in the file too where that is possible, that writes are left out from now on."""
        self.is_complete = False
        with suppress(OSError):
            handle = os.open(self.file, os.O_RDWR | _BINARY)
            try:
                os.lseek(handle, _COMPLETE_AT, os.SEEK_SET)
                os.write(handle, _INCOMPLETE)
            finally:
                os.close(handle)

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
        self._handle = os.open(self.file, os.O_WRONLY | os.O_APPEND | _BINARY)

    def _write(self, handle: int, record: bytes) -> None:
        written = os.write(handle, record)
        if written != len(record):
            # A half record would hide those behind it; the system says why it stopped at the second attempt.
            with suppress(OSError):
                os.ftruncate(handle, self.bytes)
            raise OSError("the journal took a part of a record only")

    def _encode_record(self, number: int, steps: Sequence[ExecutedStatement]) -> bytes:
        known = len(self._numbers)
        new, work = [], []
        for statement, values in steps:
            if statement not in self._numbers:
                self._numbers[statement] = len(self._numbers)
                new.append(statement)
            work.append([self._numbers[statement], *values])
        body = json.dumps(
            [known, new, work], ensure_ascii=False, separators=(",", ":"), default=_to_plain_number
        ).encode()
        return _RECORD.pack(_RECORD_MARK, len(body), number, _digest(self._key, number, body)) + body


@dataclass(frozen=True, slots=True)
class _Header:
    store: str
    base: int
    end: int


@dataclass(frozen=True, slots=True)
class _RawRecord:
    number: int
    body: memoryview
    end: int


def _key(store: str) -> bytes:
    return hashlib.blake2b(store.encode(), digest_size=16).digest()


def _encode_header(store: str, base: int) -> bytes:
    body = json.dumps({"store": store, "base": base}).encode()
    return _HEADER.pack(_FILE_MARK, _COMPLETE, len(body), _digest(b"", 0, body)) + body


def _parse_header(content: bytes) -> _Header | None:
    if len(content) < _HEADER.size:
        return None
    mark, _, length, digest = _HEADER.unpack_from(content)
    body = content[_HEADER.size : _HEADER.size + length]
    if mark != _FILE_MARK or len(body) != length or digest != _digest(b"", 0, body):
        return None
    values = json.loads(body)
    return _Header(str(values["store"]), int(values["base"]), _HEADER.size + length)


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


def _find_end(content: bytes, offset: int, later: Sequence[int]) -> JournalEnd:
    rest = content[offset:]
    if not rest:
        return JournalEnd.WHOLE
    if not rest.strip(b"\0"):
        # A power cut can leave the length of a write without its content.
        return JournalEnd.TORN
    if later:
        return JournalEnd.DAMAGED
    if len(rest) < _RECORD.size:
        return JournalEnd.TORN if _RECORD_MARK.startswith(rest[: len(_RECORD_MARK)]) else JournalEnd.DAMAGED
    mark, length, _, _ = _RECORD.unpack_from(rest)
    return JournalEnd.TORN if mark == _RECORD_MARK and _RECORD.size + length > len(rest) else JournalEnd.DAMAGED


def _digest(key: bytes, number: int, body: bytes | memoryview) -> bytes:
    return hashlib.blake2b(body, digest_size=_DIGEST_BYTES, key=key, salt=number.to_bytes(8, "little")).digest()


def _to_plain_number(value: Any) -> Any:
    """Return the plain number of one of numpy's."""
    if hasattr(value, "item"):
        return value.item()
    raise TypeError(f"a {type(value).__name__} cannot be noted")
