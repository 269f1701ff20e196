"""The attention buffers as values, and their compact text for the store."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any

from hybrid_memory.errors import InvalidInput, StoreDamaged
from hybrid_memory.model import MemoryId

_VERSION = 1


@dataclass(frozen=True, slots=True)
class Item:
    """What the tier rules see of a memory. ``importance`` None says that nobody has rated it yet."""

    id: MemoryId
    text: str
    importance: float | None


@dataclass(frozen=True, slots=True)
class BufferEntry:
    """A memory in short-term with the number of its enhancements and the memories that gave them, oldest first."""

    item: Item
    count: int = 0
    enhancers: tuple[Item, ...] = ()


@dataclass(frozen=True, slots=True)
class Buffers:
    """Sensory and short-term memory of one session's agent, oldest first."""

    sensory: tuple[Item, ...] = ()
    short_term: tuple[BufferEntry, ...] = ()


def encode_buffers(buffers: Buffers) -> str:
    """Return the buffers as compact JSON without texts: ids, importances and counts.

    Raises:
        InvalidInput: an importance is not a finite number.
    """
    plain = {
        "v": _VERSION,
        "sensory": [_pack(item) for item in buffers.sensory],
        "short_term": [
            [*_pack(entry.item), entry.count, [_pack(item) for item in entry.enhancers]] for entry in buffers.short_term
        ],
    }
    return json.dumps(plain, separators=(",", ":"), ensure_ascii=False)


def decode_buffers(text: str) -> Buffers:
    """Return the buffers of `encode_buffers`, every text empty.

    Raises:
        StoreDamaged: the text is not one that `encode_buffers` wrote.
    """
    try:
        plain = json.loads(text)
        known = plain["v"] == _VERSION
        buffers = Buffers(
            sensory=tuple(_unpack(entry) for entry in plain["sensory"]),
            short_term=tuple(_unpack_entry(entry) for entry in plain["short_term"]),
        )
    except (ValueError, TypeError, KeyError):
        known, buffers = False, Buffers()
    if not known:
        raise StoreDamaged("the stored attention buffers cannot be read; clear this session to start afresh")
    return buffers


def _pack(item: Item) -> list[Any]:
    if item.importance is not None and not math.isfinite(item.importance):
        raise InvalidInput("importance", "must be a finite number")
    return [item.id, item.importance]


def _unpack(entry: list[Any]) -> Item:
    identity, importance = entry
    if not isinstance(identity, str):
        raise TypeError(type(identity))
    return Item(MemoryId(identity), "", None if importance is None else float(importance))


def _unpack_entry(entry: list[Any]) -> BufferEntry:
    identity, importance, count, enhancers = entry
    return BufferEntry(_unpack([identity, importance]), int(count), tuple(_unpack(one) for one in enhancers))
