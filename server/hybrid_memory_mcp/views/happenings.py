"""What happened last in a memory, newest first, from the log: what came in, what moved and why, what was put right."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from typing import TYPE_CHECKING, Any

from hybrid_memory.errors import LogTrimmed
from hybrid_memory.model import MemoryId, Tier
from hybrid_memory.requests import UNDO
from hybrid_memory.store.writing import ChangeType, LogEntry
from hybrid_memory_mcp.words.event_words import event_in_words, first_tier, moves_of, why_it_moved

if TYPE_CHECKING:
    from hybrid_memory.service.memory_service import MemoryService

LOOKED_AT = 1000  # entries of each namespace's log

_SHORTLY = timedelta(minutes=10)
_UNSEEN = frozenset({"embed", "repair"})  # what the program does for itself


@dataclass(frozen=True, slots=True)
class Happening:
    """One entry of a namespace's log."""

    namespace: str
    entry: LogEntry

    @property
    def move(self) -> tuple[Tier, Tier, str] | None:
        """From where to where the memory moved, and why in words."""
        found = moves_of(self.entry.note)
        return None if found is None else (found[0], found[1], why_it_moved(found[2]))


def latest(service: MemoryService, namespaces: Iterable[str], most: int = LOOKED_AT) -> list[Happening]:
    """Return the last changes of some namespaces, newest first: at most ``most`` of each."""
    found: list[Happening] = []
    for namespace in namespaces:
        after = max(service.store.head(namespace) - most, 0)
        try:
            entries: Sequence[LogEntry] = service.store.changes(namespace, after, most)
        except LogTrimmed:
            continue
        found += [Happening(namespace, entry) for entry in entries if entry.action not in _UNSEEN]
    return sorted(found, key=lambda one: (one.entry.at, one.entry.position), reverse=True)


def is_learned(one: Happening) -> bool:
    """Return whether a memory came in, also by a correction."""
    return one.entry.change is ChangeType.INSERT and first_tier(one.entry.note) is not None


def counted(happenings: Iterable[Happening], since: datetime) -> dict[str, int]:
    """Return how much of each sort happened since a moment, of changes with the newest first; what was undone did not happen."""
    counts = dict.fromkeys(("learned", "corrected", "kept", "faded", "forgotten", "erased"), 0)
    settled: set[MemoryId] = set()  # whose state a later entry says
    undone: set[MemoryId] = set()  # forgotten by an undo, so they were made or brought back by what was undone
    for one in happenings:
        entry = one.entry
        if entry.at < since:
            break
        if not (entry.id in undone and is_learned(one)):
            for sort in _sorts(one):
                counts[sort] += 1
        notes = entry.note.split(", ")
        if "forgotten" in notes and entry.action != UNDO and (entry.id not in settled or entry.id in undone):
            counts["forgotten"] += 1
            undone.discard(entry.id)
        elif "forgotten" in notes and entry.id not in settled:
            undone.add(entry.id)
        if not {"forgotten", "restored"}.isdisjoint(notes):
            settled.add(entry.id)
    return counts


def together(happenings: Iterable[Happening]) -> list[list[Happening]]:
    """Return changes in order, those of one sort together: of one write, or of one client shortly after each other."""
    groups: list[list[Happening]] = []
    for _, write in groupby(happenings, key=lambda one: (one.namespace, one.entry.at)):
        sorts: dict[tuple[object, ...], list[Happening]] = {}
        for one in write:
            sorts.setdefault(_sort_key(one), []).append(one)
        for key, those in sorts.items():
            last = groups[-1][-1] if groups else None
            if last is not None and _sort_key(last) == key and last.entry.at - those[0].entry.at < _SHORTLY:
                groups[-1] += those
            else:
                groups.append(those)
    return groups


def as_json(group: Sequence[Happening], texts: Mapping[MemoryId, str]) -> dict[str, Any]:
    """Return changes of one sort in plain words; ``text`` is missing of a memory that was erased."""
    first = group[0]
    entry, move = first.entry, first.move
    values: dict[str, Any] = {
        "at": entry.at.isoformat(),
        "by": entry.actor,
        "action": entry.action,
        "title": _title(first),
        "details": [] if move else event_in_words(entry.action, entry.note)["details"],
        "count": len({one.entry.id for one in group}),
    }
    if move:
        values["moved"] = {"from": move[0].value, "to": move[1].value, "why": move[2]}
    ids = list(dict.fromkeys((one.entry.id, one.namespace) for one in group))
    values["memories"] = [
        {"id": name, "namespace": namespace} | ({"text": texts[name]} if name in texts else {})
        for name, namespace in ids
    ]
    return values


def _title(one: Happening) -> str:
    if one.entry.change is ChangeType.PURGE:
        return "Erased for good"
    return event_in_words(one.entry.action, one.entry.note)["title"]


def _sort_key(one: Happening) -> tuple[object, ...]:
    return (one.entry.actor, one.entry.change, _title(one), one.move)


def _sorts(one: Happening) -> Iterable[str]:
    entry, move = one.entry, one.move
    if entry.change is ChangeType.PURGE:
        yield "erased"
    elif is_learned(one):
        yield "corrected" if "supersedes " in entry.note else "learned"
    if move is not None and move[1] in (Tier.LONG_TERM, Tier.FADED):
        yield "kept" if move[1] is Tier.LONG_TERM else "faded"
