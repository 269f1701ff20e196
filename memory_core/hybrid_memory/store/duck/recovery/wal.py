"""The bytes and messages of DuckDB's write-ahead log, read from outside; nothing else here looks into DuckDB's files.

`recovery.open` asks whether a log is whole before DuckDB opens it, and where to cut one that DuckDB refused. The layout is
that of `DUCKDB_VERSION` and is documented nowhere: a version record, then entries of size (8 bytes), checksum (8 bytes) and
content. A log that ends in the middle of an entry is shortened by DuckDB without a word, and so is one whose damaged size
points beyond the end of the file; therefore the log is scanned before it is opened.

`tests/core/store/test_duckdb_assumptions.py` holds each assumption against the engine itself.
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass

DUCKDB_VERSION = "1.5.5"  # what all below was read from; a later version needs the tests named above, then this number

# The version record: field 100 "the kind of entry" = 98 (version), field 101 "version of the log" = 2.
_VERSION = bytes.fromhex("640062650002")
# Field 102: the 16 bytes that name the database, each a number. Field 103: how many checkpoints there were.
_DATABASE_NAME = b"\x66\x00\x10"
_DATABASE_NAME_NUMBERS = 16
_CHECKPOINTS = b"\x67\x00"
_END = b"\xff\xff"  # the end of every record
_COMMIT = bytes.fromhex("640064ffff")  # the whole content of the entry that ends a transaction: kind 100
_HEADER_BYTES = 16  # size and checksum before the content of an entry
_CHECKSUM_BYTES = 8

_WAL_ERRORS = (
    "replaying WAL",
    "Corrupt WAL file",
    "Failed to read WAL",
    "WAL does not match",
    "Invalid WAL entry type",
)
_CORRUPT = re.compile(
    r"Corrupt WAL file: entry at byte position (\d+) computed checksum \d+ does not match stored checksum (\d+)"
)


@dataclass(frozen=True, slots=True)
class WalScan:
    """What is in a log: whether it ends exactly with a commit, and how many commits there are until its end or the damage."""

    whole: bool
    commits: int


def scan_wal(wal: bytes) -> WalScan:
    """Go over a log entry by entry; an empty one is whole. Checksums are not looked at: DuckDB does that itself."""
    if not wal:
        return WalScan(whole=True, commits=0)
    offset = _first_entry(wal)
    if offset is None:
        return WalScan(whole=False, commits=0)
    commits, whole = 0, offset == len(wal)
    while offset + _HEADER_BYTES <= len(wal):
        (size,) = struct.unpack_from("<Q", wal, offset)
        end = offset + _HEADER_BYTES + size
        if size == 0 or end > len(wal):
            return WalScan(whole=False, commits=commits)
        committed = wal[offset + _HEADER_BYTES : end] == _COMMIT
        commits += committed
        whole = committed and end == len(wal)
        offset = end
    return WalScan(whole=whole, commits=commits)


def names_the_wal(message: str) -> bool:
    """Return True if DuckDB's message says that the write-ahead log is what it cannot read."""
    return any(text in message for text in _WAL_ERRORS)


def length_before_damage(message: str, wal: bytes) -> int | None:
    """Return how many bytes of a log to keep that DuckDB refused with ``message``; None when it cannot be told.

    The position in the message is that of an entry's content. The checksum that comes before it there proves that the
    layout is the expected one. The cut is before the entry's header: zeros that stay there would be an entry again.
    """
    found = _CORRUPT.findall(message)
    first = _first_entry(wal)
    if not found or first is None:
        return None
    # The message holds the path first, which may say anything.
    position, stored = map(int, found[-1])
    if not first + _HEADER_BYTES <= position <= len(wal):
        return None
    if struct.unpack_from("<Q", wal, position - _CHECKSUM_BYTES)[0] != stored:
        return None
    return position - _HEADER_BYTES


def _first_entry(wal: bytes) -> int | None:
    """Return where the entries begin, None when the version record is damaged."""
    if not wal.startswith(_VERSION):
        return None
    offset = len(_VERSION)
    # Format v1.5.0 names the database, so that another one's log is refused; earlier formats do not.
    if wal[offset : offset + len(_DATABASE_NAME)] == _DATABASE_NAME:
        offset += len(_DATABASE_NAME)
        for _ in range(_DATABASE_NAME_NUMBERS):
            offset = _skip_number(wal, offset)
        if wal[offset : offset + len(_CHECKPOINTS)] != _CHECKPOINTS:
            return None
        offset = _skip_number(wal, offset + len(_CHECKPOINTS))
    return offset + len(_END) if wal[offset : offset + len(_END)] == _END else None


def _skip_number(wal: bytes, offset: int) -> int:
    """Return what is behind a number of seven bits a byte, the highest bit saying that it goes on."""
    while offset < len(wal) and wal[offset] & 0x80:
        offset += 1
    return offset + 1
