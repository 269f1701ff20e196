"""The format of a segment: JSON lines of one namespace, written once, that count only as a whole.

The first line says what the file is, the last how many lines stand before it and their digest. A file that was cut short, is still on its
way or was changed has another digest, and is as if it were not there. The digest is part of the file's name, so that a copy of it under
a longer name ("... (conflicted copy).jsonl") is known again. Line ends are not part of the digest: some carriers change them.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from hybrid_memory.admin.jsonl import item_line, parse_item
from hybrid_memory.admin.trusted_lines import check_trusted_item
from hybrid_memory.clock import from_micros
from hybrid_memory.errors import ConstraintViolation, InvalidInput
from hybrid_memory.model import Json, MemoryId
from hybrid_memory.moments import EARLIEST_MICROS, LATEST_MICROS
from hybrid_memory.store.encoding import check_text, object_to_json
from hybrid_memory.store.memory_fields import check_memory, is_storable_id
from hybrid_memory.store.syncing import ItemKey, ItemState
from hybrid_memory.store.transfer import BufferItem, ConversationItem, EntryItem, MemoryItem, TransferItem
from hybrid_memory.store.writing import BufferState
from hybrid_memory.sync.merge import MERGED, State
from hybrid_memory.sync.stamps import LATEST_STAMP
from hybrid_memory.text import content_hash
from hybrid_memory.validation import NAME_LIMIT

FORMAT = "hybrid-memory-sync"
VERSION = 1
NAME = re.compile(r"(\d{8})-([0-9a-f]{32})\b.*\.jsonl")


@dataclass(frozen=True, slots=True)
class MemoryChange:
    """What a machine knows of a memory."""

    id: MemoryId
    state: State


@dataclass(frozen=True, slots=True)
class ItemChange:
    """What a machine knows of an item beside the memories."""

    key: ItemKey
    state: ItemState


Change: TypeAlias = MemoryChange | ItemChange


@dataclass(frozen=True, slots=True)
class Segment:
    """A segment that is whole. ``refused`` counts lines that no version of this program writes."""

    machine: str
    namespace: str
    changes: tuple[Change, ...]
    refused: int = 0

    @property
    def latest(self) -> int:
        """The latest stamp in it."""
        return max((stamp for one in self.changes for stamp in _stamps_of(one)), default=0)


class NotWholeError(Exception):
    """The file is no whole segment: cut short, still on its way, or changed."""


class TooFarAheadError(Exception):
    """It holds a time that no clock shows for a century: believed, it would win over all that is changed until then."""


class NewerFormatError(Exception):
    """A later version of this program wrote the segment."""


def segment_bytes(machine: str, number: int, namespace: str, changes: Iterable[Change]) -> tuple[str, bytes]:
    """Return the name of a segment and what it holds."""
    head = {"format": FORMAT, "version": VERSION, "machine": machine, "number": number, "namespace": namespace}
    lines = [_line(head), *(_line(_told(change)) for change in changes)]
    digest = _digest(lines)
    lines.append(_line({"end": len(lines) - 1, "digest": digest}))
    return f"{number:08d}-{digest}.jsonl", b"".join(lines)


def name_of(name: str) -> str | None:
    """Return under which name the segment of a file is known, None where a file is none."""
    found = NAME.fullmatch(name)
    return None if found is None else f"{found[1]}-{found[2]}"


def ends_as(end: bytes, name: str) -> bool:
    """Return True if the end of a file is the last line of the segment of a name."""
    return end.rstrip(b"\r\n").endswith(b'"digest":"' + name.partition("-")[2].encode() + b'"}')


def is_newer(first_line: bytes) -> bool:
    """Return True if a later version of this program wrote the file of a first line."""
    head = _object(first_line)
    version = head.get("version")
    return head.get("format") == FORMAT and isinstance(version, int) and version > VERSION


def namespace_of(first_line: bytes) -> str | None:
    """Return the namespace of the file of a first line, None where it is no segment."""
    name = _object(first_line).get("namespace")
    return name if isinstance(name, str) else None


def read_segment(data: bytes, name: str) -> Segment:
    """Return what a segment holds.

    Raises:
        NewerFormatError: upgrade to read it.
        NotWholeError: it is not whole.
    """
    lines = [line + b"\n" for line in data.replace(b"\r\n", b"\n").split(b"\n") if line]
    if lines and is_newer(lines[0]):
        raise NewerFormatError
    if len(lines) < 2:  # noqa: PLR2004 - the first and the last
        raise NotWholeError
    head, end = _object(lines[0]), _object(lines[-1])
    digest = _digest(lines[:-1])
    if end.get("digest") != digest or not name.endswith(digest) or end.get("end") != len(lines) - 2:
        raise NotWholeError
    namespace, machine = head.get("namespace"), head.get("machine")
    if head.get("format") != FORMAT or not isinstance(namespace, str) or not isinstance(machine, str):
        raise NotWholeError
    if not 0 < len(namespace) <= NAME_LIMIT:
        raise NotWholeError
    changes = [_parsed(line, number, namespace) for number, line in enumerate(lines[1:-1], 2)]
    known = tuple(one for one in changes if one is not None)
    return Segment(machine, namespace, known, len(changes) - len(known))


def lines_of(data: bytes) -> tuple[str, list[tuple[bytes, dict[str, Any]]]] | None:
    """Return the namespace of a segment and its lines, each with what it says; None for what is none."""
    lines = data.replace(b"\r\n", b"\n").splitlines(keepends=True)
    namespace = namespace_of(lines[0]) if lines else None
    return None if namespace is None else (namespace, [(line, _object(line)) for line in lines[1:-1]])


def memory_of_line(told: Mapping[str, Any]) -> MemoryId | None:
    """Return the memory whose words a line holds."""
    memory = told.get("memory")
    return MemoryId(memory["id"]) if isinstance(memory, dict) and isinstance(memory.get("id"), str) else None


def item_of_line(told: Mapping[str, Any]) -> ItemKey | None:
    """Return the item that a line has the value of."""
    place = told.get("item")
    if not isinstance(place, dict) or told.get("value") is None:
        return None
    return (str(place["kind"]), str(place["first"]), str(place["second"]), int(place["number"]))


def rewritten(machine: str, number: int, namespace: str, lines: Sequence[bytes]) -> tuple[str, bytes]:
    """Return name and contents of a segment of some lines that another one had."""
    head = {"format": FORMAT, "version": VERSION, "machine": machine, "number": number, "namespace": namespace}
    whole = [_line(head), *lines]
    digest = _digest(whole)
    return f"{number:08d}-{digest}.jsonl", b"".join([*whole, _line({"end": len(lines), "digest": digest})])


def _told(change: Change) -> Mapping[str, Json]:
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


def _parsed(line: bytes, number: int, namespace: str) -> Change | None:
    """Return what a line says, None for what no version writes: it takes the others of its segment not along."""
    told = _object(line)
    try:
        if "memory" in told:
            return _memory_change(told, number, namespace)
        if "purged" in told:
            id_, state = told["purged"], State(memory=None, born=_stamp(told["born"]), gone=_stamp(told["gone"]))
            check_text(id_)
            return MemoryChange(MemoryId(id_), state) if state.is_gone and is_storable_id(id_) else None
        return _item_change(told, namespace)
    except (InvalidInput, ConstraintViolation, KeyError, ValueError, TypeError, OverflowError):
        return None


def _memory_change(told: Mapping[str, Any], number: int, namespace: str) -> MemoryChange | None:
    item = parse_item(json.dumps(told["memory"]).encode(), number, None)
    if not isinstance(item, MemoryItem) or item.memory.namespace != namespace:
        return None
    # The digest is made anew: a line's could make one memory pass for another.
    memory = replace(item.memory, content_hash=content_hash(item.memory.content))
    check_trusted_item(item)
    check_memory(memory, namespace)
    object_to_json(memory.metadata)
    stamps = {name: _stamp(stamp) for name, stamp in told["stamps"].items() if name in MERGED}
    state = State(memory=memory, usage=item.usage, stamps=stamps, born=_stamp(told["born"]), gone=_stamp(told["gone"]))
    return None if state.is_gone else MemoryChange(memory.id, state)


def _item_change(told: Mapping[str, Any], namespace: str) -> ItemChange | None:
    place, value = told["item"], told["value"]
    key: ItemKey = (place["kind"], place["first"], place["second"], place["number"])
    check_text(*key[:3])
    if type(key[3]) is not int or (value is not None and type(value) is not dict):
        return None
    item = _item_of(key, namespace, value)
    if item is None:
        return None
    if value is not None:
        check_trusted_item(item)
        object_to_json(value)
    return ItemChange(key, ItemState(value, _stamp(told["stamp"])))


def _item_of(key: ItemKey, namespace: str, value: Mapping[str, Any] | None) -> TransferItem | None:
    kind, first, second, number = key
    if kind == "buffer":
        at = 0 if value is None else value["touched_at"]
        if type(at) is not int or not EARLIEST_MICROS <= at <= LATEST_MICROS:
            return None
        state = None if value is None else value["state"]
        return BufferItem(namespace, BufferState(first, second, state, from_micros(at)))
    if kind == "conversation":
        return ConversationItem(namespace, first, second, 0 if value is None else int(value["last"]))
    return EntryItem(namespace, first, second, number, value or {}) if kind == "entry" else None


def _stamps_of(change: Change) -> tuple[int, ...]:
    if isinstance(change, ItemChange):
        return (change.state.stamp,)
    return (change.state.born, change.state.gone, *change.state.stamps.values())


def _stamp(value: Any) -> int:
    if type(value) is not int or not 0 <= value <= LATEST_STAMP:
        raise ValueError("no stamp")
    return value


def _object(line: bytes) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _line(value: Mapping[str, Any]) -> bytes:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode() + b"\n"


def _digest(lines: Iterable[bytes]) -> str:
    digest = hashlib.sha256()
    for line in lines:
        digest.update(line)
    return digest.hexdigest()[:32]


def parts(changes: Iterable[Change], most: int) -> Iterator[list[Change]]:
    """Yield changes by ``most``."""
    part: list[Change] = []
    for change in changes:
        part.append(change)
        if len(part) == most:
            yield part
            part = []
    if part:
        yield part
