"""Imports by their names in the log, by which they are listed and undone.

Each import has a name of its own there, so that one that was killed is done again, and is undone as one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from hybrid_memory.admin.purge import remaining_state
from hybrid_memory.errors import InvalidInput, NotFound

if TYPE_CHECKING:
    from hybrid_memory.store.transfer import ImportRows, TransferableStore, UndoneImport

_ACTION = "import"
_ID = re.compile(r"[0-9a-f]{4,10}")
_SHOWN = 60  # characters of what was typed in place of an id


@dataclass(frozen=True, slots=True)
class ImportEntry:
    """An import of which memories are in the store. ``at`` is when it began, ``first`` and ``last`` are times of what came in."""

    id: str
    format: str
    at: datetime
    memories: int
    namespaces: tuple[str, ...]
    first: datetime
    last: datetime


def action_of(format_name: str, import_id: str) -> str:
    """Return what the log calls an import."""
    return f"{_ACTION} {format_name} {import_id}"


def imports_of(store: TransferableStore) -> list[ImportEntry]:
    """Return the imports of which memories are in the store, the oldest first."""
    found: dict[str, list[ImportRows]] = {}
    for rows in store.transfer.imports():
        found.setdefault(rows.action, []).append(rows)
    return [_entry(action, rows) for action, rows in found.items()]


def _shown(named: str) -> str:
    """Return what was typed in place of an id, on one line and not longer than some ids."""
    return ascii(named if len(named) <= _SHOWN else f"{named[:_SHOWN]}...")


def undo_import(store: TransferableStore, named: str, *, actor: str) -> tuple[ImportEntry, UndoneImport]:
    """Let all memories of an import leave the store, by its id or the beginning of it.

    Raises:
        InvalidInput: that is no id of an import, or more than one begins so.
        NotFound: there is none of that id, or it was undone already.
    """
    wanted = named.strip().lower()
    if _ID.fullmatch(wanted) is None:
        raise InvalidInput("undo", f"{_shown(wanted)} is no id of an import; `import --list` shows them")
    found = [entry for entry in imports_of(store) if entry.id.startswith(wanted)]
    if len(found) > 1:
        raise InvalidInput("undo", "is the beginning of more than one id; write more of it")
    if not found:
        if any(action.split()[-1].startswith(wanted) for action in store.transfer.known_imports()):
            raise NotFound("nothing of that import is here any more: it was undone before, or all of it was purged")
        raise NotFound(f"there is no import of the id {_shown(wanted)}; `import --list` shows them")
    entry = found[0]
    action = action_of(entry.format, entry.id)
    return entry, store.transfer.undo_import(action, actor=actor, remaining_state=remaining_state)


def later_imports(store: TransferableStore, undone: ImportEntry) -> list[ImportEntry]:
    """Return the imports of the same format and namespace that came after one that was undone.

    A memory belongs to the import that brought it. What a later one found here already went with the earlier one, and comes in when the
    later is done again.
    """
    return [
        one
        for one in imports_of(store)
        if one.format == undone.format and one.at >= undone.at and set(one.namespaces) & set(undone.namespaces)
    ]


def _entry(action: str, rows: Sequence[ImportRows]) -> ImportEntry:
    _, format_name, import_id = action.split(" ", 2)
    return ImportEntry(
        id=import_id,
        format=format_name,
        at=min(one.at for one in rows),
        memories=sum(one.memories for one in rows),
        namespaces=tuple(one.namespace for one in rows),
        first=min(one.first for one in rows),
        last=max(one.last for one in rows),
    )
