"""Page cursors: the opaque text with which `read_memories` is asked for the next page."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from hybrid_memory.clock import from_micros, to_micros
from hybrid_memory.errors import InvalidInput


@dataclass(frozen=True, slots=True)
class PagePosition:
    """How far a reading has come: memories shown, when its first page was read, and the id of the last one shown."""

    offset: int
    asked_at: datetime
    last: str = ""

    def within(self, ids: Sequence[str]) -> int:
        """Return where to go on in ``ids``, behind the last one shown.

        Where that one has been forgotten or replaced since, those behind it have moved up by one.
        """
        if not self.last:
            return self.offset
        try:
            return ids.index(self.last) + 1
        except ValueError:
            return max(self.offset - 1, 0)


def encode_cursor(position: PagePosition, fingerprint: str) -> str:
    """Return a cursor: the position, and which question it belongs to."""
    plain = f"{position.offset}.{to_micros(position.asked_at)}.{fingerprint}.{position.last}"
    return base64.urlsafe_b64encode(plain.encode()).decode().rstrip("=")


def decode_cursor(cursor: str, fingerprint: str) -> PagePosition:
    """Return the position of a cursor of the question with this ``fingerprint``.

    Raises:
        InvalidInput: the cursor is not one of ours, or belongs to another question.
    """
    try:
        plain = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode()
        first, second, owner, last = plain.split(".", 3)
        position = PagePosition(int(first), from_micros(int(second)), last)
    except (ValueError, OverflowError, binascii.Error):
        raise InvalidInput("cursor", "is not one that read_memories gave; leave it out to start over") from None
    if owner != fingerprint or position.offset < 0:
        raise InvalidInput("cursor", "belongs to another question; repeat the first call's query and filters with it")
    return position
