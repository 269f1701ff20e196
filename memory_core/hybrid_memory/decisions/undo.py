"""What undoes a person's act, worked out from the act itself, and what undoing changes. Pure.

`undoable` wraps any decision: what its batch changes of each memory, field by field, is kept with it. `decide_undo` sets these fields
back if nothing else has changed them since; what the act has made is forgotten, with its link to what it replaced, so that `history`
tells all of it. An undo can be undone the same way.

Tiers are moved by their own rules meanwhile, so they are no obstacle. What comes back in the place of its newer version takes its place in
attention too; what was in attention otherwise comes back outside of it, as by `decide_restore`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hybrid_memory.decisions.forgetting import tier_outside_buffers
from hybrid_memory.decisions.tier_context import buffers_with
from hybrid_memory.errors import ChangedSince, NotFound
from hybrid_memory.ids import is_id
from hybrid_memory.model import BUFFER_TIERS, Kind, Memory, MemoryId, Scope, Tier
from hybrid_memory.requests import REDO, UNDO, ActResult
from hybrid_memory.store.memory_fields import MEMORY_FIELDS
from hybrid_memory.store.writing import UndoRecord, Update, WriteBatch
from hybrid_memory.tiers.buffers import Item

if TYPE_CHECKING:
    from datetime import datetime

    from hybrid_memory.decisions.forgetting import Lookups
    from hybrid_memory.model import Json
    from hybrid_memory.store.writing import Decision, WriteView

_FIELDS = {one.name: one for one in MEMORY_FIELDS if one.changeable and one.name != "rev"}
_STATE = ("superseded_by", "forgotten_at")
_MAY_MOVE = frozenset({"tier", "reflected_at", "parents"})
"""What may have changed since: attention, what has gone through it together, and that somebody has thought about it."""

NO_LONGER = "undo: this cannot be undone any more: it was undone before, is too long ago, or what it changed was erased"


def undoable(decide: Decision, undo: str, lookups: Lookups) -> Decision:
    """Return a decision that keeps what undoes it, under an id that its result names; what changes nothing keeps nothing."""

    def kept(view: WriteView) -> WriteBatch:
        batch = decide(view)
        body = record_of(batch, lookups, view)
        result = batch.result
        if body is None:
            return batch
        action = batch.action
        if isinstance(result, ActResult):
            result, action = replace(result, undo=undo), result.action
        return replace(batch, undo=UndoRecord(id=undo, body=body, action=action), result=result)

    return kept


def record_of(batch: WriteBatch, lookups: Lookups, view: WriteView) -> Mapping[str, Json] | None:
    """Return what a batch changes: of each memory the fields ``before`` (None: it is new) and ``after``, as they are stored.

    ``beside`` are others that held the key of one of these before: what stood alongside them then may do so again.
    """
    changed = {update.memory.id: update.memory for update in batch.updates}
    befores = view.get(changed)
    told: dict[str, Json] = {}
    for insert in batch.inserts:
        told[insert.memory.id] = {"before": None, "after": _values(insert.memory, _FIELDS)}
    for id_, after in changed.items():
        if id_ not in befores:
            continue
        before = befores[id_]
        names = [name for name in _FIELDS if getattr(before, name) != getattr(after, name)]
        if names:
            told[id_] = {"before": _values(before, names), "after": _values(after, {*names, *_STATE, "tier"})}
    if not told:
        return None
    rivals = (_others_with_its_key(one, befores.keys(), lookups, view) for one in befores.values())
    return {"memories": told, "beside": sorted({each.id for some in rivals for each in some})}


def ids_in(record: UndoRecord) -> tuple[MemoryId, ...]:
    """Return the memories that an act has changed or made."""
    memories: Any = record.body.get("memories")
    return tuple(MemoryId(one) for one in memories if is_id(one)) if isinstance(memories, dict) else ()


def decide_undo(undo: str, scope: Scope, lookups: Lookups, view: WriteView) -> WriteBatch:
    """Return what undoing an act changes.

    Raises:
        NotFound: it is not kept any more.
        ChangedSince: one of its memories was changed since, or another one has its place.
    """
    record = view.undo_record(undo)
    if record is None:
        raise NotFound(NO_LONGER)
    there = view.get(ids_in(record))
    check_unchanged(record, there)
    backs = {id_: _back(there[id_], told, view) for id_, told in _told(record).items()}
    coming = [one for id_, one in backs.items() if _is_live(one) and not _is_live(there[id_])]
    leaving = [there[id_] for id_, one in backs.items() if not _is_live(one) and _is_live(there[id_])]
    _check_places(record, [one for id_, one in backs.items() if _comes(there[id_], one, view.now)], lookups, view)
    successors = {one.id: Item(one.id, "", one.importance) for one in backs.values() if _is_live(one)}
    successors = {id_: item for id_, item in successors.items() if _is_live(there[id_])}
    for one in coming:
        former = next((old for old in leaving if _take_turns(one, old) and _was_in_attention(record, old.id)), None)
        if former is not None:
            backs[one.id] = replace(one, tier=former.tier)
            successors[former.id] = Item(one.id, "", one.importance)
    changed = {id_: one for id_, one in backs.items() if one != there[id_]}
    touched = [there[id_] for id_ in changed if _is_live(there[id_])]
    return WriteBatch(
        action="undo",
        actor=scope.actor,
        updates=tuple(Update(one, f"undo of {record.action}") for one in changed.values()),
        buffers=buffers_with(view, touched, successors),
        result=ActResult(
            action=REDO if record.action == UNDO else UNDO,
            ids=tuple(one.id for one in changed.values() if _is_live(one)),
            before=tuple(one.id for one in changed.values() if not _is_live(one)),
        ),
        undone=undo,
    )


def check_unchanged(record: UndoRecord, there: Mapping[MemoryId, Memory]) -> None:
    """Check that what an act has changed is as the act left it.

    Raises:
        ChangedSince: names the first memory that is not.
    """
    told = _told(record)
    if not told:
        raise NotFound(NO_LONGER)
    for id_, one in told.items():
        memory, after = there.get(id_), one["after"]
        if memory is None:
            raise ChangedSince("undo", f"{id_} was erased since; nothing was changed")
        names = [name for name in after if name in _FIELDS and name not in _MAY_MOVE]
        if _values(memory, names) != {name: after[name] for name in names}:
            raise ChangedSince("undo", f"{id_} was changed since; undo that first. Nothing was changed")


def _back(memory: Memory, told: Mapping[str, Any], view: WriteView) -> Memory:
    """Return a memory as it was before an act; what the act made is forgotten."""
    before: Mapping[str, Any] | None = told["before"]
    if before is None:
        return replace(memory, forgotten_at=view.now, tier=tier_outside_buffers(memory.tier))
    values: dict[str, Any] = {
        name: _FIELDS[name].type.decode(value)
        for name, value in before.items()
        if name in _FIELDS and name not in _MAY_MOVE
    }
    back = replace(memory, **values)
    if not _is_live(back):
        return replace(back, tier=tier_outside_buffers(back.tier))
    former = before.get("tier")
    if former in BUFFER_TIERS and memory.kind is Kind.EPISODE:
        return replace(back, tier=Tier.FADED)  # it is an episode again, outside of attention
    if former is None or former in BUFFER_TIERS or memory.tier.value != told["after"].get("tier"):
        return back
    return replace(back, tier=Tier(former))


def _check_places(record: UndoRecord, coming: Sequence[Memory], lookups: Lookups, view: WriteView) -> None:
    """Check that nothing holds the key of what comes back that did not hold it before the act too.

    Raises:
        ChangedSince: something does.
    """
    beside = _beside(record)
    for one in coming:
        for other in _others_with_its_key(one, ids_in(record), lookups, view):
            if not _stood_there(other, beside, view):
                raise ChangedSince("undo", f"{other.id} holds its key by now; forget that first. Nothing was changed")


def _others_with_its_key(memory: Memory, own: Collection[MemoryId], lookups: Lookups, view: WriteView) -> list[Memory]:
    if memory.key is None:
        return []
    holders = view.get(lookups.holders_of(memory.session, memory.key)).values()
    return [one for one in holders if one.id not in own and one.id != memory.id and _is_current(one, view.now)]


def _stood_there(memory: Memory, beside: Collection[MemoryId], view: WriteView) -> bool:
    """Return True if a memory, or an older version of it, is one of some."""
    seen: set[MemoryId] = set()
    one: Memory | None = memory
    while one is not None and one.id not in seen and one.id not in beside:
        seen.add(one.id)
        one = None if one.supersedes is None else view.get([one.supersedes]).get(one.supersedes)
    return one is not None and one.id in beside


def _comes(there: Memory, back: Memory, now: datetime) -> bool:
    return _is_current(back, now) and not _is_current(there, now)


def _beside(record: UndoRecord) -> frozenset[MemoryId]:
    beside: Any = record.body.get("beside")
    return frozenset(MemoryId(one) for one in beside if is_id(one)) if isinstance(beside, list) else frozenset()


def _take_turns(one: Memory, other: Memory) -> bool:
    """Return True if two memories of one conversation are versions that follow each other."""
    follow = other.supersedes == one.id or one.supersedes == other.id
    return follow and (one.session, one.agent) == (other.session, other.agent)


def _was_in_attention(record: UndoRecord, id_: MemoryId) -> bool:
    after: Mapping[str, Any] = _told(record)[id_]["after"]
    return after.get("tier") in BUFFER_TIERS


def _told(record: UndoRecord) -> dict[MemoryId, dict[str, Any]]:
    memories: Any = record.body.get("memories")
    if not isinstance(memories, dict):
        return {}
    return {MemoryId(id_): told for id_, told in memories.items() if is_id(id_)}


def _values(memory: Memory, names: Collection[str] | Mapping[str, Any]) -> dict[str, Json]:
    return {name: _FIELDS[name].type.encode(getattr(memory, name)) for name in sorted(names)}


def _is_live(memory: Memory) -> bool:
    return memory.forgotten_at is None and memory.superseded_by is None


def _is_current(memory: Memory, now: datetime) -> bool:
    return _is_live(memory) and (memory.expires_at is None or memory.expires_at > now)
