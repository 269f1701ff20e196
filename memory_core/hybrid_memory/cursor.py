"""Cursors: the short opaque text with which the next page of a reading is asked for.

A cursor holds a digest of its question, when the first page was read, a mark of the last memory shown, and how many were shown:
17 or 18 bytes in 23 or 24 characters, because a model reads it and writes it again.
"""

from __future__ import annotations

import base64
import binascii
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from hybrid_memory.clock import from_micros, to_micros
from hybrid_memory.errors import InvalidInput
from hybrid_memory.moments import is_in_range

FINGERPRINT_BYTES = 4  # two questions share a fingerprint once in four thousand million pairs
_TIME_BYTES = 8
_MARK_BYTES = 4
_FIELDS = ((0, 4), (4, 12), (12, 16), (16, None))  # where fingerprint, time, mark and offset lie
_MAX_OFFSET_BYTES = 4
# So far around its former place the last memory shown is looked for: it has moved up by those before it that were forgotten
# meanwhile, and down by those that were brought back.
_REACH = 4096


@dataclass(frozen=True, slots=True)
class PagePosition:
    """How far a reading has come: memories shown, when its first page was read, and the `mark_of` the last one shown."""

    offset: int
    asked_at: datetime
    last: int | None = None

    def within(self, ids: Sequence[str]) -> int:
        """Return where to go on in ``ids``, behind the last one shown.

        Where that one has been forgotten or replaced since, those behind it have moved up by one.
        """
        if self.last is None or not self.offset:
            return self.offset
        expected = self.offset - 1
        if expected < len(ids) and mark_of(ids[expected]) == self.last:
            return self.offset
        first = max(expected - _REACH, 0)
        near = [first + at for at, one in enumerate(ids[first : expected + _REACH]) if mark_of(one) == self.last]
        return min(near, key=lambda place: abs(place - expected)) + 1 if near else expected


def mark_of(memory_id: str) -> int:
    """Return 32 bits, never all 0, that tell an id from the others of a page."""
    return zlib.crc32(memory_id.encode("utf-8", "surrogatepass")) or 1


def encode_cursor(position: PagePosition, fingerprint: bytes) -> str:
    """Return a cursor for a position in the answer to the question with this ``fingerprint`` (`FINGERPRINT_BYTES`)."""
    size = max((position.offset.bit_length() + 7) // 8, 1)
    plain = (
        fingerprint
        + to_micros(position.asked_at).to_bytes(_TIME_BYTES, "big", signed=True)
        + (position.last or 0).to_bytes(_MARK_BYTES, "big")
        + position.offset.to_bytes(size, "big")
    )
    return base64.urlsafe_b64encode(plain).decode().rstrip("=")


def decode_cursor(cursor: str, fingerprint: bytes) -> PagePosition:
    """Return the position of a cursor of the question with this ``fingerprint``.

    Raises:
        InvalidInput: the cursor is not one of ours, is one of an earlier version, or belongs to another question.
    """
    try:
        plain = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        owner, time, last, offset = (plain[first:end] for first, end in _FIELDS)
        asked_at = from_micros(int.from_bytes(time, "big", signed=True))
    except (ValueError, OverflowError, binascii.Error):
        offset = b""
    else:
        offset = offset if is_in_range(asked_at) else b""
    if not 0 < len(offset) <= _MAX_OFFSET_BYTES:
        raise InvalidInput(
            "cursor", "is not one that this version of read_memories gave; leave it out to start over"
        ) from None
    if owner != fingerprint:
        raise InvalidInput("cursor", "belongs to another question; repeat the first call's query and filters with it")
    return PagePosition(int.from_bytes(offset, "big"), asked_at, int.from_bytes(last, "big") or None)
