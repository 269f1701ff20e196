"""What follows from several memories together: versions of one, the same words, links to what is gone. Pure.

Two machines that correct the same memory make two versions of it. The one of more trust, else the later one, is current; the other
becomes an earlier version of it. The same words, said on two machines, are linked to the first saying, as `decisions.write` does it.
Nothing of this is a change that somebody made: it is worked out again from what was said whenever more of that is known.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from hybrid_memory.model import BUFFER_TIERS, TRUST_ORDER, Memory, MemoryId, Tier
from hybrid_memory_sync.merge import State

LINKS = ("superseded_by", "supersedes", "duplicate_of", "disputes")


def without_purged(state: State, gone: Mapping[MemoryId, int]) -> State:
    """Return a state without links to what was purged; that counts as a change at the moment of the purge."""
    memory = state.memory
    if memory is None:
        return state
    cleaned: dict[str, Any] = {name: None for name in LINKS if getattr(memory, name) in gone}
    when = {name: gone[getattr(memory, name)] for name in cleaned}
    lost = [one for one in memory.parents if one in gone]
    if lost:
        cleaned["parents"] = tuple(one for one in memory.parents if one not in gone)
        when["parents"] = max(gone[one] for one in lost)
    if not cleaned:
        return state
    stamps = {**state.stamps, **{name: max(state.stamps.get(name, 0), stamp) for name, stamp in when.items()}}
    return replace(state, memory=replace(memory, **cleaned), stamps=stamps)


def settled(said: Mapping[MemoryId, Memory]) -> dict[MemoryId, Memory]:
    """Return memories as they are after settling; ``said`` has each as it was set, with all versions and all sayings of its words."""
    found = dict(said)
    for family in _families(said):
        for loser, winner in _replaced(family).items():
            memory = found[loser]
            tier = Tier.FADED if memory.tier in BUFFER_TIERS else memory.tier
            found[loser] = replace(memory, superseded_by=winner, tier=tier)
    for id_, first in _repeated(found.values()).items():
        found[id_] = replace(found[id_], duplicate_of=first)
    return found


def _families(said: Mapping[MemoryId, Memory]) -> Iterable[dict[MemoryId, Memory]]:
    """Return memories that are versions of each other, group by group; single ones are left out."""
    near: dict[MemoryId, set[MemoryId]] = {}
    for memory in said.values():
        for other in (memory.supersedes, memory.superseded_by):
            if other is not None and other in said:
                near.setdefault(memory.id, set()).add(other)
                near.setdefault(other, set()).add(memory.id)
    left = set(near)
    while left:
        family, pending = set[MemoryId](), [min(left)]
        while pending:
            one = pending.pop()
            if one not in family:
                family.add(one)
                pending += near[one]
        left -= family
        yield {id_: said[id_] for id_ in family}


def _replaced(family: Mapping[MemoryId, Memory]) -> dict[MemoryId, MemoryId]:
    """Return which current versions of a family are replaced by the one that stands, and by which."""
    older = {memory.supersedes for memory in family.values() if memory.forgotten_at is None}
    current = [
        memory
        for memory in family.values()
        if memory.forgotten_at is None
        and (memory.superseded_by is None or memory.superseded_by not in family)
        and memory.id not in older
        and memory.supersedes is not None
        and memory.disputes not in family
    ]
    if len(current) < 2:  # noqa: PLR2004 - one is as it should be
        return {}
    winner = max(current, key=lambda one: (TRUST_ORDER.index(one.trust), _said_at(one, family), one.created_at, one.id))
    return {memory.id: winner.id for memory in current if memory is not winner}


def _said_at(memory: Memory, family: Mapping[MemoryId, Memory]) -> datetime:
    """Return the latest time of a memory and its earlier versions: a correction is later than what it corrects, whatever the clock."""
    latest, seen = memory.created_at, {memory.id}
    while memory.supersedes is not None and memory.supersedes in family and memory.supersedes not in seen:
        memory = family[memory.supersedes]
        seen.add(memory.id)
        latest = max(latest, memory.created_at)
    return latest


def _repeated(memories: Iterable[Memory]) -> dict[MemoryId, MemoryId]:
    """Return the memories that repeat an earlier one and do not say so, and which; none repeats what is less trusted.

    What says that it repeats another is no first saying, whatever its time: so there are no circles.
    """
    by_words: dict[str, list[Memory]] = {}
    for memory in memories:
        if memory.forgotten_at is None and memory.superseded_by is None and memory.duplicate_of is None:
            by_words.setdefault(memory.content_hash, []).append(memory)
    found: dict[MemoryId, MemoryId] = {}
    for same in by_words.values():
        same.sort(key=lambda memory: (memory.created_at, memory.id))
        for at, memory in enumerate(same):
            rank = TRUST_ORDER.index(memory.trust)
            first = next((one for one in same[:at] if TRUST_ORDER.index(one.trust) >= rank), None)
            if first is not None:
                found[memory.id] = first.id
    return found
