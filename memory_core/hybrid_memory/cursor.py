"""The opaque text with which a reading is continued."""

from __future__ import annotations

import base64
import binascii
from datetime import datetime

from hybrid_memory.clock import from_micros, to_micros
from hybrid_memory.errors import InvalidInput


def encode_cursor(offset: int, asked_at: datetime, fingerprint: str) -> str:
    """Return a cursor: where to go on, when the first page was read, and which question it belongs to."""
    plain = f"{offset}.{to_micros(asked_at)}.{fingerprint}"
    return base64.urlsafe_b64encode(plain.encode()).decode().rstrip("=")


def decode_cursor(cursor: str, fingerprint: str) -> tuple[int, datetime]:
    """Return offset and first reading time of a cursor of the question with this ``fingerprint``.

    Raises:
        InvalidInput: the cursor is not one of ours, or belongs to another question.
    """
    try:
        plain = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode()
        first, second, owner = plain.split(".")
        offset, asked_at = int(first), from_micros(int(second))
    except (ValueError, OverflowError, binascii.Error):
        raise InvalidInput("cursor", "is not one that read_memories gave; leave it out to start over") from None
    if owner != fingerprint or offset < 0:
        raise InvalidInput("cursor", "belongs to another question; repeat the first call's query and filters with it")
    return offset, asked_at
