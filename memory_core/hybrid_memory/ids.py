"""Ids of memories and names of sessions, made without asking the store; ids sort by time."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from datetime import datetime

from hybrid_memory.clock import RandomSource, to_micros
from hybrid_memory.errors import InvalidInput, NotFound
from hybrid_memory.model import MemoryId

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"  # Crockford's base 32: no i, l, o and u, which are misread
_BITS_PER_CHARACTER = 5
_RANDOM_BITS = 52  # two ids of one millisecond are equal once in 4.5e15 pairs
_TIME_BITS = 48  # milliseconds since 1970, until the year 10889
_DRAW_BYTES = 8  # more than the 53 bits that a float holds
_DIGEST_BYTES = 16  # of which `ID_LENGTH` use 100 bits

LONGEST_ID = 64
ID_CHARACTERS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz._:-"
"""All that an id is made of. Ids are shown without quotes, so none may end a line, close a mark or hide anything."""
WHAT_AN_ID_IS = f"1 to {LONGEST_ID} ASCII letters, digits and . _ : -"
_ID = re.compile(f"[{re.escape(ID_CHARACTERS)}]{{1,{LONGEST_ID}}}")

ID_LENGTH = (_TIME_BITS + _RANDOM_BITS) // _BITS_PER_CHARACTER
SHORTEST_BEGINNING = 6
"""Characters of the beginning of an id that stand for it, at least: fewer are more often a slip than an id."""
_TOLD_IDS = 4  # of those that begin alike; more would not be read
_SESSION_PREFIX = "s-"
_SESSION_CHARACTERS = 12
_SESSION_BITS = _SESSION_CHARACTERS * _BITS_PER_CHARACTER


def is_id(value: object) -> bool:
    """Return True if a value can be the id of a memory; every boundary asks this of the ids that it reads."""
    return isinstance(value, str) and _ID.fullmatch(value) is not None


def as_id(value: object) -> MemoryId:
    """Return a value as the id of a memory.

    Raises:
        ValueError: it cannot be one.
    """
    if not is_id(value):
        raise ValueError("no id")
    return MemoryId(str(value))


def new_id(now: datetime, random_source: RandomSource) -> MemoryId:
    """Return 20 characters of Crockford's base 32: 48 bits of milliseconds, then 52 random bits.

    Later ids sort after earlier ones; the layout follows UUIDv7 (RFC 9562) in fewer characters, because models read ids.
    """
    milliseconds = (to_micros(now) // 1000) & ((1 << _TIME_BITS) - 1)
    return MemoryId(_base32((milliseconds << _RANDOM_BITS) | random_source.bits(_RANDOM_BITS), ID_LENGTH))


def whole_id(given: str, ids_beginning: Callable[[str, int], Sequence[MemoryId]]) -> MemoryId:
    """Return the id that a text is the beginning of; ``ids_beginning`` gives so many ids that begin with a text.

    Raises:
        InvalidInput: it begins several, or it is shorter than `SHORTEST_BEGINNING`.
        NotFound: it begins none.
    """
    text = given.strip().rstrip("…")
    if text != given and (found := ids_beginning(text, 1)) and found[0] == text and is_id(text):
        return found[0]
    if len(text) < SHORTEST_BEGINNING:
        raise InvalidInput(
            "id", f"give at least the first {SHORTEST_BEGINNING} characters of one, as `list` or `recall` shows it"
        )
    found = ids_beginning(text, _TOLD_IDS + 1) or ids_beginning(text.lower(), _TOLD_IDS + 1)
    found = list(filter(is_id, found))
    if not found:
        raise NotFound("id: no such memory")
    if len(found) > 1 and found[0] not in (text, text.lower()):
        told = ", ".join(found[:_TOLD_IDS]) + (", ..." if len(found) > _TOLD_IDS else "")
        raise InvalidInput("id", f"several begin so: {told}; give more characters of it")
    return found[0]


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
