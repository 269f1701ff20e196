"""Ids of memories and names of sessions: made here without asking the store, and in the order of time."""

from __future__ import annotations

import hashlib
from datetime import datetime

from hybrid_memory.clock import RandomSource, to_micros
from hybrid_memory.model import MemoryId

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
_RANDOM_BITS = 52
_TIME_BITS = 48
_BITS_A_CHARACTER = 5
_DRAW_BYTES = 8
_DIGEST_BYTES = 16

ID_LENGTH = (_TIME_BITS + _RANDOM_BITS) // _BITS_A_CHARACTER


def new_id(now: datetime, random_source: RandomSource) -> MemoryId:
    """Return 20 characters of Crockford's base 32: 48 bits of milliseconds, then 52 random bits.

    Later ids sort after earlier ones; the layout follows UUIDv7 (RFC 9562) in fewer characters, because models read ids.
    """
    milliseconds = (to_micros(now) // 1000) & ((1 << _TIME_BITS) - 1)
    return MemoryId(_base32((milliseconds << _RANDOM_BITS) | random_source.bits(_RANDOM_BITS), ID_LENGTH))


def id_of(text: str) -> MemoryId:
    """Return an id that a text always has, for what is to be recognised when it comes again."""
    digest = hashlib.blake2b(text.encode(), digest_size=_DIGEST_BYTES).digest()
    return MemoryId(_base32(int.from_bytes(digest, "big"), ID_LENGTH))


def new_session(random_source: RandomSource) -> str:
    """Return a name for a conversation that nobody named: ``s-`` and 60 random bits."""
    return unnamed_session(random_source.bits(60))


def unnamed_session(number: int) -> str:
    """Return the name for a conversation that nobody named; it is made of the last 60 bits of a number."""
    return "s-" + _base32(number, 12)


def is_unnamed_session(session: str) -> bool:
    """Return True if a session's name was made by `new_session`; such a session ends with its connection."""
    return session.startswith("s-") and len(session) == len("s-") + 12 and all(c in _ALPHABET for c in session[2:])


def pair_draw(first: str, second: str) -> float:
    """Return a number in [0, 1) that depends on the two ids alone, so that a run can be replayed."""
    digest = hashlib.blake2b(f"{first}\x00{second}".encode(), digest_size=_DRAW_BYTES).digest()
    return int.from_bytes(digest, "big") / (1 << (8 * _DRAW_BYTES))


def _base32(number: int, length: int) -> str:
    characters = []
    for _ in range(length):
        characters.append(_ALPHABET[number & 31])
        number >>= _BITS_A_CHARACTER
    return "".join(reversed(characters))
