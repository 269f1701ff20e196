"""Ids of memories and names of sessions, made without asking the store; ids sort by time."""

from __future__ import annotations

import hashlib
from datetime import datetime

from hybrid_memory.clock import RandomSource, to_micros
from hybrid_memory.model import MemoryId

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"  # Crockford's base 32: no i, l, o and u, which are misread
_BITS_PER_CHARACTER = 5
_RANDOM_BITS = 52  # two ids of one millisecond are equal once in 4.5e15 pairs
_TIME_BITS = 48  # milliseconds since 1970, until the year 10889
_DRAW_BYTES = 8  # more than the 53 bits that a float holds
_DIGEST_BYTES = 16  # of which `ID_LENGTH` use 100 bits

ID_LENGTH = (_TIME_BITS + _RANDOM_BITS) // _BITS_PER_CHARACTER
_SESSION_PREFIX = "s-"
_SESSION_CHARACTERS = 12
_SESSION_BITS = _SESSION_CHARACTERS * _BITS_PER_CHARACTER


def new_id(now: datetime, random_source: RandomSource) -> MemoryId:
    """Return 20 characters of Crockford's base 32: 48 bits of milliseconds, then 52 random bits.

    Later ids sort after earlier ones; the layout follows UUIDv7 (RFC 9562) in fewer characters, because models read ids.
    """
    milliseconds = (to_micros(now) // 1000) & ((1 << _TIME_BITS) - 1)
    return MemoryId(_base32((milliseconds << _RANDOM_BITS) | random_source.bits(_RANDOM_BITS), ID_LENGTH))


def id_of(text: str) -> MemoryId:
    """Return an id that depends on a text alone, so that an import knows what it has imported before."""
    digest = hashlib.blake2b(text.encode(), digest_size=_DIGEST_BYTES).digest()
    return MemoryId(_base32(int.from_bytes(digest, "big"), ID_LENGTH))


def new_session(random_source: RandomSource) -> str:
    """Return a name for a conversation that nobody named: ``s-`` and 60 random bits."""
    return unnamed_session(random_source.bits(_SESSION_BITS))


def unnamed_session(number: int) -> str:
    """Return the name for a conversation that nobody named; it is made of the last 60 bits of a number."""
    return _SESSION_PREFIX + _base32(number, _SESSION_CHARACTERS)


def is_unnamed_session(session: str) -> bool:
    """Return True if a session's name was made by `new_session`; such a session ends with its connection."""
    name = session.removeprefix(_SESSION_PREFIX)
    return name != session and len(name) == _SESSION_CHARACTERS and all(character in _ALPHABET for character in name)


def pair_draw(first: str, second: str) -> float:
    """Return a number in [0, 1) that depends on the two ids alone, so that a run can be replayed."""
    digest = hashlib.blake2b(f"{first}\x00{second}".encode(), digest_size=_DRAW_BYTES).digest()
    return int.from_bytes(digest, "big") / (1 << (8 * _DRAW_BYTES))


def _base32(number: int, length: int) -> str:
    characters = []
    for _ in range(length):
        characters.append(_ALPHABET[number & 31])
        number >>= _BITS_PER_CHARACTER
    return "".join(reversed(characters))
