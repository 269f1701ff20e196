"""What a line of a segment says, and the schema by which each line of a file is checked at the door.

Anyone who can write into the folder can write any line. One that is not as this program writes it says nothing, and takes no other along.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Annotated, Any, Literal, Self, TypeAlias

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
    create_model,
    model_validator,
)

from hybrid_memory.admin.jsonl import Int64, MemoryLine, StrictLine, item_line, memory_item
from hybrid_memory.admin.trusted_lines import MOST_COUNTED, check_trusted_item
from hybrid_memory.clock import from_micros
from hybrid_memory.errors import ConstraintViolation, InvalidInput
from hybrid_memory.ids import as_id, is_id
from hybrid_memory.language.text import content_hash
from hybrid_memory.model import Json, MemoryId
from hybrid_memory.moments import EARLIEST_MICROS, LATEST_MICROS
from hybrid_memory.store.encoding import object_to_json
from hybrid_memory.store.memory_fields import MEMORY_FIELDS, TEXT, check_memory
from hybrid_memory.store.syncing import ItemKey, ItemState
from hybrid_memory.store.transfer import BufferItem, ConversationItem, EntryItem, MemoryItem, TransferItem
from hybrid_memory.store.writing import BufferState
from hybrid_memory.validation import NAME_LIMIT, check_name
from hybrid_memory_sync.merge import MERGED, State
from hybrid_memory_sync.stamps import LATEST_STAMP

FORMAT = "hybrid-memory-sync"
_PLAIN_TEXTS = attrgetter(*(one.name for one in MEMORY_FIELDS if one.type is TEXT))


@dataclass(frozen=True, slots=True)
class MemoryChange:
    """What a machine knows of a memory."""

    id: MemoryId
    state: State


@dataclass(frozen=True, slots=True)
class ItemChange:
    """What a machine knows of an item alongside the memories."""

    key: ItemKey
    state: ItemState


Change: TypeAlias = MemoryChange | ItemChange


def _without_zero(text: str) -> str:
    if "\0" in text:
        raise ValueError("a zero character, which PostgreSQL cannot keep")
    return text


class Head(BaseModel):
    """The first line of a segment."""

    model_config = ConfigDict(strict=True)

    format: Literal["hybrid-memory-sync"]
    version: int
    machine: str
    namespace: Annotated[str, AfterValidator(lambda name: check_name("namespace", name))]


_Stamp = Annotated[int, Field(ge=0, le=LATEST_STAMP)]
_Text = Annotated[str, AfterValidator(_without_zero)]
_Name = Annotated[_Text, Field(max_length=NAME_LIMIT)]

_MemoryTold: Any = create_model(
    "_MemoryTold",
    __base__=StrictLine,
    memory=(MemoryLine, ...),
    stamps=(dict[str, _Stamp], ...),
    born=(_Stamp, ...),
    gone=(_Stamp, ...),
)


class _PurgedTold(StrictLine):
    purged: Annotated[str, AfterValidator(as_id)]
    born: _Stamp
    gone: _Stamp


class _Place(StrictLine):
    kind: Literal["buffer", "conversation", "entry"]
    first: _Name
    second: _Name
    number: Annotated[int, Field(ge=0, le=MOST_COUNTED)]

    @model_validator(mode="after")
    def _has_its_key(self) -> Self:
        if self.number and self.kind != "entry":
            raise ValueError("a number of what has none, so that two keys would name one row")
        return self

    @property
    def key(self) -> ItemKey:
        return (self.kind, self.first, self.second, self.number)


class _BufferValue(StrictLine):
    state: _Text
    touched_at: Annotated[int, Field(ge=EARLIEST_MICROS, le=LATEST_MICROS)]


class _ConversationValue(StrictLine):
    last: Int64


class _ItemTold(StrictLine):
    item: _Place
    value: dict[str, Any] | None
    stamp: _Stamp


_LINE: TypeAdapter[Any] = TypeAdapter(
    Annotated[_MemoryTold | _PurgedTold | _ItemTold, Field(union_mode="left_to_right")]
)


def parse_head(line: bytes) -> Head | None:
    """Return what the first line of a segment says, None where it is none."""
    try:
        return Head.model_validate_json(line)
    except (InvalidInput, ValidationError):
        return None


def told_line(change: Change) -> Mapping[str, Json]:
    """Return a change as a line says it."""
    if isinstance(change, ItemChange):
        kind, first, second, number = change.key
        value = None if change.state.value is None else dict(change.state.value)
        place: dict[str, Json] = {"kind": kind, "first": first, "second": second, "number": number}
        return {"item": place, "value": value, "stamp": change.state.stamp}
    state = change.state
    if state.memory is None:
        return {"purged": change.id, "born": state.born, "gone": state.gone}
    memory = json.loads(item_line(MemoryItem(state.memory, state.usage)))
    return {"memory": memory, "stamps": dict(sorted(state.stamps.items())), "born": state.born, "gone": state.gone}


def parse_line(line: bytes, namespace: str) -> Change | None:
    """Return what a line says, None for what no version of this program writes."""
    try:
        told = _LINE.validate_json(line)
        if isinstance(told, _PurgedTold):
            state = State(memory=None, born=told.born, gone=told.gone)
            return MemoryChange(MemoryId(told.purged), state) if state.is_gone else None
        return _item_change(told, namespace) if isinstance(told, _ItemTold) else _memory_change(told, namespace)
    except (InvalidInput, ConstraintViolation, ValueError, OverflowError):
        return None


def memory_of_line(told: Mapping[str, Any]) -> MemoryId | None:
    """Return the memory whose words a line holds, whatever else the line says."""
    memory = told.get("memory")
    found = memory.get("id") if isinstance(memory, dict) else None
    return MemoryId(found) if isinstance(found, str) and is_id(found) else None


def item_of_line(told: Mapping[str, Any]) -> ItemKey | None:
    """Return the item that a line has the value of."""
    try:
        return None if told.get("value") is None else _Place.model_validate(told.get("item")).key
    except ValidationError:
        return None


def _memory_change(told: Any, namespace: str) -> MemoryChange | None:
    item = memory_item(told.memory, None)
    # The digest is made again: a line's could make one memory pass for another.
    memory = replace(item.memory, content_hash=content_hash(item.memory.content))
    for text in _PLAIN_TEXTS(memory):
        _without_zero(text or "")
    check_trusted_item(item)
    check_memory(memory, namespace)
    object_to_json(memory.metadata)
    stamps = {name: stamp for name, stamp in told.stamps.items() if name in MERGED}
    state = State(memory=memory, usage=item.usage, stamps=stamps, born=told.born, gone=told.gone)
    return None if state.is_gone else MemoryChange(memory.id, state)


def _item_change(told: _ItemTold, namespace: str) -> ItemChange:
    if told.value is not None:
        check_trusted_item(_item_of(told.item, namespace, told.value))
        object_to_json(told.value)
    return ItemChange(told.item.key, ItemState(told.value, told.stamp))


def _item_of(place: _Place, namespace: str, value: Mapping[str, Any]) -> TransferItem:
    if place.kind == "buffer":
        buffer = _BufferValue.model_validate(value)
        return BufferItem(
            namespace, BufferState(place.first, place.second, buffer.state, from_micros(buffer.touched_at))
        )
    if place.kind == "conversation":
        return ConversationItem(namespace, place.first, place.second, _ConversationValue.model_validate(value).last)
    return EntryItem(namespace, place.first, place.second, place.number, value)
