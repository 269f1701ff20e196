"""What goes with what is purged, whichever store it is in. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from hybrid_memory.model import Kind, MemoryId, Origin, Trust
from hybrid_memory.store.memory_fields import texts_from_json
from hybrid_memory.store.transfer import PurgePlan
from hybrid_memory.trust import takes_along

if TYPE_CHECKING:
    from hybrid_memory.model import Memory
    from hybrid_memory.store.transfer import PurgeSelection

_KNOWN_TRUST = frozenset(one.value for one in Trust)


@dataclass(frozen=True, slots=True)
class Expanded:
    """All ``ids`` that go with the ``named`` ones; those of them that are ``derived``, and derived ones that stay (``kept``)."""

    named: frozenset[MemoryId]
    ids: frozenset[MemoryId]
    derived: frozenset[MemoryId]
    kept: frozenset[MemoryId]


class Links:
    """The references of one memory to others."""

    __slots__ = ("id", "is_derived", "parents", "superseded_by", "supersedes", "trust")

    def __init__(self, *row: Any) -> None:
        self.id, kind, origin, trust, self.superseded_by, self.supersedes, parents = row
        self.trust = Trust(trust) if trust in _KNOWN_TRUST else Trust.UNTRUSTED  # a damaged row takes nothing along
        try:
            self.parents = frozenset(MemoryId(parent) for parent in texts_from_json(parents))
        except ValueError:
            self.parents = frozenset()  # a row that cannot be read was derived from nothing that anybody knows
        self.is_derived = kind in {Kind.INSIGHT.value, Kind.SUMMARY.value} or origin == Origin.DERIVED.value


def expand(named: set[MemoryId], links: Sequence[Links], *, take_derived: bool) -> Expanded:
    """Return all that goes with some memories: older versions of them, and with ``take_derived`` what was derived from what goes."""
    # For each memory its older versions, as far as these are not more trusted, and what was derived from it.
    older: dict[MemoryId, set[MemoryId]] = defaultdict(set)
    derived_from: dict[MemoryId, set[MemoryId]] = defaultdict(set)
    trust = {link.id: link.trust for link in links}
    for link in links:
        for newer_id, older_id in ((link.superseded_by, link.id), (link.id, link.supersedes)):
            if newer_id in trust and older_id in trust and takes_along(trust[newer_id], trust[older_id]):
                older[newer_id].add(older_id)
        for parent in link.parents if link.is_derived else ():
            derived_from[parent].add(link.id)
    ids: set[MemoryId] = set(named)
    derived: set[MemoryId] = set()
    # From the named memories along both sorts of links, until nothing new is reached.
    pending = list(named)
    while pending:
        id_ = pending.pop()
        derived_here = derived_from[id_] - ids
        derived |= derived_here
        new = (older[id_] | derived_here if take_derived else older[id_]) - ids
        ids |= new
        pending += new
    return Expanded(frozenset(named), frozenset(ids), frozenset(derived & ids), frozenset(derived - ids))


def plan_of(
    selection: PurgeSelection,
    chosen: Expanded,
    links: Sequence[Links],
    *,
    same_words: Sequence[MemoryId],
    entries: int,
    buffers: int,
    elsewhere: Sequence[tuple[str, MemoryId]],
) -> PurgePlan:
    """Return what a selection comes to; ``same_words`` are memories with the words of one that goes, in their order."""
    ids = chosen.ids
    return PurgePlan(
        ids=ids,
        named=len(chosen.named),
        versions=len(ids) - len(chosen.named) - len(chosen.derived),
        derived=len(chosen.derived),
        missing=tuple(one for one in dict.fromkeys(selection.ids) if one not in chosen.named),
        entries=entries,
        buffers=buffers,
        newer=tuple(sorted(e.superseded_by for e in links if e.id in ids and e.superseded_by not in {None, *ids})),
        same_words=tuple(id_ for id_ in same_words if id_ not in ids),
        kept_derived=tuple(sorted(chosen.kept)),
        kept_older=tuple(sorted(e.id for e in links if e.id not in ids and e.superseded_by in ids)),
        derived_elsewhere=tuple(elsewhere),
    )


def without_references(memory: Memory, ids: frozenset[MemoryId]) -> Memory:
    """Return a memory that no longer refers to some others."""

    def kept_reference(one: MemoryId | None) -> MemoryId | None:
        return None if one in ids else one

    return replace(
        memory,
        superseded_by=kept_reference(memory.superseded_by),
        supersedes=kept_reference(memory.supersedes),
        duplicate_of=kept_reference(memory.duplicate_of),
        disputes=kept_reference(memory.disputes),
        parents=tuple(one for one in memory.parents if one not in ids),
        rev=memory.rev + 1,
    )
