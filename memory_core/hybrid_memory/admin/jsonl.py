"""The lines of an export: one JSON object each, its keys always in the same order.

The first line is the header; it says how many lines of each kind follow, so that a file that was cut short is noticed.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from operator import attrgetter
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import numpy as np
from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
    create_model,
)
from pydantic_core import PydanticCustomError

from hybrid_memory.embedding.passages import are_sound
from hybrid_memory.errors import InvalidInput
from hybrid_memory.model import Json, Memory, Usage, Verdict
from hybrid_memory.moments import NO_OFFSET, OUT_OF_RANGE, has_real_offset, is_in_range
from hybrid_memory.store.memory_fields import (
    BOOLEAN,
    DERIVED,
    FLOAT,
    HASHES,
    ID,
    IDS,
    INTEGER,
    MAYBE_ID,
    MEMORY_FIELDS,
    MOMENT,
    OBJECT,
    TEXT,
    TEXTS,
    VERDICT,
    ColumnType,
    MemoryField,
)
from hybrid_memory.store.transfer import (
    BufferItem,
    ConversationItem,
    EntryItem,
    MemoryItem,
    StoreContents,
    TransferItem,
)
from hybrid_memory.store.writing import BufferState

if TYPE_CHECKING:
    from numpy.typing import NDArray

FORMAT = "hybrid-memory"
VERSION = 1


def _in_range(moment: datetime) -> datetime:
    if not has_real_offset(moment):
        raise PydanticCustomError("offset_out_of_range", NO_OFFSET)
    if not is_in_range(moment):
        raise PydanticCustomError("moment_out_of_range", OUT_OF_RANGE)
    return moment


Moment: TypeAlias = Annotated[AwareDatetime, AfterValidator(_in_range)]
Int64 = Annotated[int, Field(ge=-(2**63), lt=2**63)]
_Whole = Annotated[int, Field(ge=0, lt=2**63)]
_Int32 = Annotated[int, Field(ge=-(2**31), lt=2**31)]


class StrictLine(BaseModel):
    """A line that has all of its keys, no others, and no value of another type."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)


class Header(StrictLine):
    """The first line. ``embedder`` and ``dimensions`` are those of the vectors; null where the file has none."""

    format: Literal["hybrid-memory"]
    version: int
    embedder: str | None
    dimensions: Annotated[int, Field(ge=1, le=100_000)] | None
    namespaces: list[str]
    memories: _Whole
    buffers: _Whole
    conversations: _Whole
    entries: _Whole

    @property
    def total(self) -> int:
        """How many lines follow."""
        return self.memories + self.buffers + self.conversations + self.entries


# What the values of a memory's fields are in JSON; for a type that is not named here (the enums), what it is decoded to.
_JSON_TYPES: Mapping[ColumnType, Any] = {
    TEXT: str,
    ID: str,  # of an export that nobody vouches for it is only compared; else the store checks it
    MAYBE_ID: str,
    IDS: list[str],
    FLOAT: float,
    BOOLEAN: bool,
    INTEGER: Int64,
    MOMENT: Moment,
    TEXTS: list[str],
    OBJECT: dict[str, Any],
    HASHES: list[_Int32],
    VERDICT: Verdict,
}

# Earlier versions ask for the terms in each line, so the field stays, empty: a store's terms would tell its key. What search knows of
# the words is made again by an import.
_FIELDS = tuple(field for field in MEMORY_FIELDS if field.name == "terms" or field.name not in DERIVED)
_NAMES = tuple(field.name for field in _FIELDS)


_ADDED_LATER = frozenset({"disputes", "verdict"})
"""Fields that exports of the first versions do not have; they are None there."""


def _line_field(field: MemoryField) -> Any:
    """Return the type of a memory's field in a line. All must be there but those that were added later."""
    json_type = _JSON_TYPES.get(field.type, field.type.decode)
    # Metadata is an empty object where there is none.
    taken = json_type | None if field.rare and field.type is not OBJECT else json_type
    return (taken, None if field.name in _ADDED_LATER else ...)


_VALUES = attrgetter(*_NAMES)
_MOMENT_NAMES = tuple(field.name for field in _FIELDS if field.type is MOMENT)
_LIST_NAMES = tuple(field.name for field in _FIELDS if field.type in (TEXTS, IDS, HASHES))
_OBJECT_NAMES = tuple(field.name for field in _FIELDS if field.type is OBJECT)

# One key for each field of a memory, and what is kept alongside it.
_MEMORY_KEYS: dict[str, Any] = {
    "type": (Literal["memory"], ...),
    **{field.name: _line_field(field) for field in _FIELDS},
    "accessed_at": (Moment | None, ...),
    "access_count": (_Whole, ...),
    "vector": (str | None, None),
    "passages": (str | None, None),
}
MemoryLine: Any = create_model("MemoryLine", __base__=StrictLine, **_MEMORY_KEYS)


class _BufferLine(StrictLine):
    type: Literal["buffer"]
    namespace: str
    session: str
    agent: str
    state: str
    touched_at: Moment


class _ConversationLine(StrictLine):
    type: Literal["conversation"]
    namespace: str
    name: str
    kind: str
    last: Int64


class _EntryLine(StrictLine):
    type: Literal["entry"]
    namespace: str
    conversation: str
    kind: str
    number: Int64
    body: dict[str, Any]


class ForeignLine(StrictLine):
    """A memory in a file of another program: its words, and what else is known of it."""

    content: str
    created_at: Moment | None = None
    occurred_at: Moment | None = None
    expires_at: Moment | None = None
    importance: Annotated[float, Field(ge=0, le=1)] | None = None
    tags: list[str] = []
    metadata: dict[str, Any] = {}
    source: str | None = None
    speaker: str | None = None
    session: str | None = None


_Any = Annotated[MemoryLine | _BufferLine | _ConversationLine | _EntryLine, Field(discriminator="type")]
_ANY: TypeAdapter[Any] = TypeAdapter(_Any)


def header_line(contents: StoreContents) -> bytes:
    """Return the first line of an export."""
    return _encode_line(
        {
            "format": FORMAT,
            "version": VERSION,
            "embedder": contents.embedder,
            "dimensions": contents.dimensions,
            "namespaces": list(contents.namespaces),
            "memories": contents.memories,
            "buffers": contents.buffers,
            "conversations": contents.conversations,
            "entries": contents.entries,
        }
    )


def is_header(line: bytes) -> bool:
    """Return True if a line begins a file of ours, whatever its version."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) and value.get("format") == FORMAT


def parse_header(line: bytes) -> Header:
    """Return the header of a file of ours.

    Raises:
        InvalidInput: a later version wrote it, or it is damaged.
    """
    value = json.loads(line)
    if value.get("version") != VERSION:
        raise InvalidInput("line 1", "is of another version of the format; upgrade to import this file")
    with _named_line(1):
        return Header.model_validate_json(line)


def item_line(item: TransferItem) -> bytes:
    """Return an item as a line."""
    if isinstance(item, MemoryItem):
        return _encode_line(_memory(item))
    if isinstance(item, BufferItem):
        return _encode_line(_buffer(item))
    if isinstance(item, ConversationItem):
        return _encode_line(
            {
                "type": "conversation",
                "namespace": item.namespace,
                "name": item.name,
                "kind": item.kind,
                "last": item.last,
            }
        )
    return _encode_line(
        {
            "type": "entry",
            "namespace": item.namespace,
            "conversation": item.conversation,
            "kind": item.kind,
            "number": item.number,
            "body": dict(item.body),
        }
    )


def parse_item(line: bytes, number: int, dimensions: int | None) -> TransferItem:
    """Return the item of a line; ``number`` is that of the line, for errors.

    Raises:
        InvalidInput: names the line and what is wrong with it.
    """
    with _named_line(number):
        parsed = _ANY.validate_json(line)
        if isinstance(parsed, MemoryLine):
            return memory_item(parsed, dimensions)
        if isinstance(parsed, _BufferLine):
            state = BufferState(parsed.session, parsed.agent, parsed.state, parsed.touched_at)
            return BufferItem(parsed.namespace, state)
        if isinstance(parsed, _ConversationLine):
            return ConversationItem(parsed.namespace, parsed.name, parsed.kind, parsed.last)
        return EntryItem(parsed.namespace, parsed.conversation, parsed.kind, parsed.number, parsed.body)


def parse_foreign_line(line: bytes, number: int) -> ForeignLine:
    """Return a line of another program's file.

    Raises:
        InvalidInput: names the line and what is wrong with it.
    """
    with _named_line(number):
        return ForeignLine.model_validate_json(line)


@contextmanager
def _named_line(number: int) -> Iterator[None]:
    """Turn what is wrong with a line into an error that names the line, and never what it says."""
    try:
        yield
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        key = ".".join(str(part) for part in first["loc"] if str(part) not in _KINDS)
        reason = _REASONS.get(first["type"], first["msg"])
        raise InvalidInput(f"line {number}", f"{key or 'the object'}: {reason}") from None
    except (binascii.Error, UnicodeError, OverflowError):
        raise InvalidInput(f"line {number}", "holds a value that no export holds") from None


_KINDS = {"memory", "buffer", "conversation", "entry"}
_REASONS = {
    "json_invalid": "is not JSON",
    "union_tag_invalid": "type must be memory, buffer, conversation or entry",
    "union_tag_not_found": "has no type",
    "extra_forbidden": "is no field of this format",
    "missing": "is missing",
}


def _memory(item: MemoryItem) -> Mapping[str, Json]:
    memory, usage = item.memory, item.usage
    line: dict[str, Json] = {"type": "memory"}
    # Enums are texts and tuples are lists to the encoder of JSON; the rest is made plain below.
    line.update(zip(_NAMES, _VALUES(memory), strict=True))
    for name in _MOMENT_NAMES:
        line[name] = _iso(getattr(memory, name))
    for name in _OBJECT_NAMES:
        line[name] = dict(getattr(memory, name))
    line["terms"] = []
    if memory.verdict is None:
        del line["verdict"]  # earlier versions refuse a line with a field that they do not know
    line["accessed_at"] = _iso(usage.accessed_at if usage else None)
    line["access_count"] = usage.count if usage else 0
    if item.vector is not None:
        line["vector"] = base64.b64encode(item.vector.astype("<f4").tobytes()).decode()
    if item.passages is not None:
        line["passages"] = base64.b64encode(item.passages).decode()
    return line


def _buffer(item: BufferItem) -> Mapping[str, Json]:
    return {
        "type": "buffer",
        "namespace": item.namespace,
        "session": item.buffer.session,
        "agent": item.buffer.agent,
        "state": item.buffer.state,
        "touched_at": item.buffer.touched_at.isoformat(),
    }


def memory_item(line: Any, dimensions: int | None) -> MemoryItem:
    """Return the memory of a `MemoryLine`; a memory's lists are tuples.

    Raises:
        ValueError: its vector is none of so many dimensions, or its passages are.
    """
    values: dict[str, Any] = dict(zip(_NAMES, _VALUES(line), strict=True))
    for name in _LIST_NAMES:
        values[name] = tuple(values[name])
    memory = Memory(**values)
    usage = None if line.accessed_at is None else Usage(accessed_at=line.accessed_at, count=line.access_count)
    if line.vector is None:
        return MemoryItem(memory, usage)
    passages = None if line.passages is None else _passages(line.passages, dimensions)
    return MemoryItem(memory, usage, _vector(line.vector, dimensions), passages)


def _vector(text: str, dimensions: int | None) -> NDArray[np.float32]:
    raw = base64.b64decode(text, validate=True)
    if dimensions is None or len(raw) != 4 * dimensions:
        raise binascii.Error("a vector of another length than the header says")
    vector = np.frombuffer(raw, "<f4").astype(np.float32)
    if not np.isfinite(vector).all():
        raise binascii.Error("a vector with a component that is not finite")
    return vector


def _passages(text: str, dimensions: int | None) -> bytes:
    raw = base64.b64decode(text, validate=True)
    if not are_sound(raw, dimensions or 0):
        raise binascii.Error("passages of another length than the header says")
    return raw


def _iso(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()


def _encode_line(value: Mapping[str, Json]) -> bytes:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode() + b"\n"
