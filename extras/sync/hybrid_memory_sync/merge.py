"""How what several machines know of one memory becomes one: a join, so order and repetition do not matter. Pure.

Each part of a state is joined by a rule of its own:

- a field that can be changed: the later stamp, of equal ones the greater value (only what was never changed has equal ones);
- what never changes: the smaller, where two machines made the same id apart (imports of one file);
- revision and use: the greatest;
- whether it was purged: a purge wins, unless the memory was stored again by somebody who knew of it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from hybrid_memory.model import Memory, Usage
from hybrid_memory.store.memory_fields import DERIVED, MEMORY_FIELDS
from hybrid_memory.store.syncing import ItemState

_FIELDS = {one.name: one for one in MEMORY_FIELDS}
_WORDS = ("content", "content_hash")
MERGED = (*(one.name for one in MEMORY_FIELDS if one.changeable and one.name != "rev"), "content")
"""The fields of which the later change wins; the words change by a redaction alone."""
FIXED = tuple(
    one.name for one in MEMORY_FIELDS if not one.changeable and one.name not in {*DERIVED, *_WORDS, "namespace", "id"}
)
"""The fields that nobody changes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """What a machine knows of a memory: each field as somebody set it, with its stamp (0: as it was written).

    ``memory`` is None where it was purged; ``gone`` and ``born`` are the stamps of the purge and of coming again after it.
    """

    memory: Memory | None
    usage: Usage | None = None
    stamps: Mapping[str, int] = field(default_factory=dict)
    born: int = 0
    gone: int = 0

    @property
    def is_gone(self) -> bool:
        """Whether it was purged and did not come again."""
        return self.gone > self.born


def join(first: State, second: State) -> State:
    """Return what both know: commutative, associative and idempotent."""
    born, gone = max(first.born, second.born), max(first.gone, second.gone)
    if gone > born:
        return State(memory=None, born=born, gone=gone)
    # What was stored again is another life of the memory: nothing of the one before it counts.
    alive = [one for one in (first, second) if one.born == born and one.memory is not None]
    if len(alive) < 2:  # noqa: PLR2004 - nothing to join
        return replace(alive[0], gone=gone) if alive else State(memory=None, born=born, gone=gone)
    memory, stamps = _joined_memories(first, second)
    return State(memory=memory, usage=_joined_use(first.usage, second.usage), stamps=stamps, born=born, gone=gone)


def join_items(first: ItemState, second: ItemState) -> ItemState:
    """Return what is known of a buffer, a conversation or an entry: what was said later, of equal ones the greater value."""
    return max(first, second, key=lambda one: (one.stamp, "" if one.value is None else _json(one.value)))


def _joined_memories(first: State, second: State) -> tuple[Memory, dict[str, int]]:
    one, other = first.memory, second.memory
    if one is None or other is None:
        raise ValueError("both must be there")
    values: dict[str, Any] = {}
    stamps: dict[str, int] = {}
    for name in MERGED:
        mine, theirs = first.stamps.get(name, 0), second.stamps.get(name, 0)
        taken = one if (mine, text_of(one, name)) >= (theirs, text_of(other, name)) else other
        values[name] = getattr(taken, name)
        if name == "content":
            values["content_hash"] = taken.content_hash
        if mine or theirs:
            stamps[name] = max(mine, theirs)
    fixed = min(one, other, key=lambda memory: (memory.created_at, [text_of(memory, name) for name in FIXED]))
    values |= {name: getattr(fixed, name) for name in FIXED}
    values["rev"] = max(one.rev, other.rev)
    if all(getattr(one, name) == value for name, value in values.items()):
        return one, stamps
    return replace(one, **values), stamps


def _joined_use(first: Usage | None, second: Usage | None) -> Usage | None:
    if first is None or second is None:
        return first or second
    accessed_at: datetime = max(first.accessed_at, second.accessed_at)
    return Usage(accessed_at=accessed_at, count=max(first.count, second.count))


def text_of(memory: Memory, name: str) -> str:
    """Return a field's value as text, by which two values can be put in order; "" for none."""
    value = getattr(memory, name)
    if value is None:
        return ""
    kind = _FIELDS[name].type
    encoded = kind.encode(value)
    return "" if encoded is None else _json(encoded)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=True, separators=(",", ":"))
