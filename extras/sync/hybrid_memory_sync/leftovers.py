"""Files in the folder that still hold words that are known as purged or redacted here, and that are not this machine's to clean.

Those of other machines go when these synchronise; those of a machine that is gone for good, and copies that somebody or a carrier made
under other names, never do. So they are told, until they are gone. They are looked for after something was purged, here or elsewhere,
and where a segment that is read tells of what is purged: not each time.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from hybrid_memory_sync.folder import SyncFolder
from hybrid_memory_sync.lines import item_of_line, memory_of_line
from hybrid_memory_sync.segments import lines_of, name_of

if TYPE_CHECKING:
    from hybrid_memory.model import MemoryId
    from hybrid_memory.store.syncing import SyncStore, SyncView

_NOTE = "leftovers "


@dataclass(frozen=True, slots=True)
class Leftover:
    """A file with words that are purged: ``machine`` wrote it, or "" where it is a copy that no machine looks after."""

    file: str
    machine: str
    written_at: str


def known_leftovers(store: SyncStore, folder: SyncFolder) -> tuple[Leftover, ...]:
    """Return the files that were found the last time and are still there."""
    noted = json.loads(store.notes().get(_NOTE + folder.key, "[]"))
    return tuple(one for name in noted if (one := _leftover(folder, folder.path / name)) is not None)


def find_leftovers(store: SyncStore, folder: SyncFolder, own: Iterable[Path]) -> tuple[Leftover, ...]:
    """Look through all files of the folder but a store's ``own``, and note which hold words that are purged."""
    mine = set(own)
    found = [path for path in folder.any_segments() if path not in mine and _holds_purged(store, folder.read_any(path))]
    names = [path.relative_to(folder.path).as_posix() for path in found]
    if names or store.notes().get(_NOTE + folder.key, "[]") != "[]":
        store.note(_NOTE + folder.key, json.dumps(names))
    return known_leftovers(store, folder)


def _leftover(folder: SyncFolder, path: Path) -> Leftover | None:
    try:
        written = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    except OSError:
        return None
    is_read = path.parent.parent == folder.path and name_of(path.name) is not None
    machine = path.parent.name if is_read and not path.parent.name.startswith(".") else ""
    return Leftover(path.relative_to(folder.path).as_posix(), machine, written.isoformat(timespec="seconds"))


def _holds_purged(store: SyncStore, data: bytes) -> bool:
    found = lines_of(data)
    if found is None:
        return False
    namespace, lines = found
    words: dict[MemoryId, set[str]] = {}
    for _, told in lines:
        id_ = memory_of_line(told)
        if id_ is not None:
            words.setdefault(id_, set()).add(str(told["memory"].get("content")))
    # A buffer also goes when its session ends; conversations go by a purge alone.
    items = {key for _, told in lines if (key := item_of_line(told)) is not None and key[0] != "buffer"}

    def look(view: SyncView) -> bool:
        there = view.memories(words)
        rows = view.rows(words)
        purged = any(row.gone > row.born for id_, row in rows.items() if id_ not in there)
        redacted = any(
            "content" in rows[id_].stamps and words[id_] != {memory.content}
            for id_, memory in there.items()
            if id_ in rows
        )
        return purged or redacted or any(one.value is None for one in view.items(items).values())

    return bool(store.read(namespace, look))
