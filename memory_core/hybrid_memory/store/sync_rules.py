"""What a synchronisation notes and how, whichever store it is in. Pure."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from hybrid_memory.store.audit_notes import note_of_change
from hybrid_memory.store.encoding import object_to_json
from hybrid_memory.store.memory_fields import MEMORY_FIELDS
from hybrid_memory.store.syncing import SYNC, RowStamps
from hybrid_memory.store.writing import ChangeType, LogEntry

if TYPE_CHECKING:
    from datetime import datetime

    from hybrid_memory.model import Json, Memory, MemoryId
    from hybrid_memory.store.syncing import ItemKey

BUFFER, CONVERSATION, ENTRY = "buffer", "conversation", "entry"
"""The kinds of what is stored with memories."""
OTHER_WORDS = "its words as another machine has them"
"""The log's note where a memory got other words."""
FIXED_FIELDS = tuple(
    one
    for one in MEMORY_FIELDS
    if one.name in {"agent", "kind", "created_at", "origin", "occurred_at", "content", "content_hash"}
)
"""What no client changes, but another machine may have otherwise."""


def update_entries(updates: Sequence[tuple[Memory, Memory]], head: int, at: datetime, actor: str) -> list[LogEntry]:
    """Return what the log says of memories that are now as another machine has them, behind the position ``head``."""
    return [
        LogEntry(
            position=position,
            change=ChangeType.UPDATE,
            id=after.id,
            rev=after.rev,
            at=at,
            actor=actor,
            action=SYNC,
            digest=after.content_hash,
            note=OTHER_WORDS if before.content != after.content else note_of_change(before, after, "synchronised"),
        )
        for position, (before, after) in enumerate(updates, head + 1)
    ]


def removal_entries(removed: Sequence[tuple[MemoryId, int]], head: int, at: datetime, actor: str) -> list[LogEntry]:
    """Return what the log says of memories that another machine purged, given by id and revision."""
    return [
        LogEntry(
            position=position,
            change=ChangeType.PURGE,
            id=id_,
            rev=rev,
            at=at,
            actor=actor,
            action=SYNC,
            digest="",
            note="",
        )
        for position, (id_, rev) in enumerate(removed, head + 1)
    ]


def stamps_to_text(row: RowStamps) -> str | None:
    """Return how the stamps of a memory's fields stand in a column."""
    if not row.stamps and not row.raw:
        return None
    return json.dumps({"stamps": dict(row.stamps), "raw": dict(row.raw)}, separators=(",", ":"))


def stamps_of_row(born: int, gone: int, fields: str | None) -> RowStamps:
    """Return what a row says of a memory's changes."""
    known = json.loads(fields) if fields else {}
    return RowStamps(born=born, gone=gone, stamps=known.get("stamps", {}), raw=known.get("raw", {}))


def item_digest(key: ItemKey, value: Mapping[str, Json]) -> str:
    """Return the digest of what is under a key, as the statements that look for changes make it (md5)."""
    if key[0] == BUFFER:
        text = f"{value['touched_at']} {value['state']}"
    elif key[0] == CONVERSATION:
        text = str(value["last"])
    else:
        text = object_to_json(value)
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()
