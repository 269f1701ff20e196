"""What can be known of DuckDB's write-ahead log from outside: whether it is whole, and where a damaged one is to be cut.

The layout is that of DuckDB 1.5: a version record, then entries of size (8 bytes), checksum (8 bytes) and content. A log
that ends in the middle of an entry is shortened by DuckDB without a word, and so is one whose damaged size points beyond
the end of the file; therefore the log is walked before it is opened.
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass

_VERSION = bytes.fromhex("640062650002")
_NAMED = b"\x66\x00\x10"
_NAME_NUMBERS = 16
_COUNTED = b"\x67\x00"
_END = b"\xff\xff"
_COMMIT = bytes.fromhex("640064ffff")
_HEADER = 16
_CORRUPT = re.compile(
    r"Corrupt WAL file: entry at byte position (\d+) computed checksum \d+ does not match stored checksum (\d+)"
)


@dataclass(frozen=True, slots=True)
class WalScan:
    """What a walk over a log found: whether it ends exactly with a commit, and how many commits were passed."""

    whole: bool
    commits: int


def scan_wal(wal: bytes) -> WalScan:
    """Go over a log entry by entry; an empty one is whole."""
    if not wal:
        return WalScan(whole=True, commits=0)
    offset = _first_entry(wal)
    if offset is None:
        return WalScan(whole=False, commits=0)
    commits, whole = 0, offset == len(wal)
    while offset + _HEADER <= len(wal):
        (size,) = struct.unpack_from("<Q", wal, offset)
        end = offset + _HEADER + size
        if size == 0 or end > len(wal):
            return WalScan(whole=False, commits=commits)
        committed = wal[offset + _HEADER : end] == _COMMIT
        commits += committed
        whole = committed and end == len(wal)
        offset = end
    return WalScan(whole=whole, commits=commits)


def length_before_damage(message: str, wal: bytes) -> int | None:
    """Return how many bytes of a log to keep that DuckDB refused with ``message``; None when it cannot be told.

    The position in the message is that of an entry's content. The checksum that stands before it there proves that the
    layout is the expected one. The cut is before the entry's header: zeros that stay there would be an entry again.
    """
    found = _CORRUPT.findall(message)
    first = _first_entry(wal)
    if not found or first is None:
        return None
    # The message holds the path first, which may say anything.
    position, stored = map(int, found[-1])
    if not first + _HEADER <= position <= len(wal):
        return None
    if struct.unpack_from("<Q", wal, position - _HEADER // 2)[0] != stored:
        return None
    return position - _HEADER


def _first_entry(wal: bytes) -> int | None:
    """Return where the entries begin, None when the version record is damaged."""
    if not wal.startswith(_VERSION):
        return None
    offset = len(_VERSION)
    if wal[offset : offset + len(_NAMED)] == _NAMED:
        offset += len(_NAMED)
        for _ in range(_NAME_NUMBERS):
            offset = _after_number(wal, offset)
        if wal[offset : offset + len(_COUNTED)] != _COUNTED:
            return None
        offset = _after_number(wal, offset + len(_COUNTED))
    return offset + len(_END) if wal[offset : offset + len(_END)] == _END else None


def _after_number(wal: bytes, offset: int) -> int:
    """Skip a number of seven bits a byte, the highest bit saying that it goes on."""
    while offset < len(wal) and wal[offset] & 0x80:
        offset += 1
    return offset + 1
