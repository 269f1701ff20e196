"""What an update, forgetting and restoring change. Pure.

`MemoryService.update` and `MemoryService.forget` hand `decide_update` and `decide_forget_or_restore` to the store, which calls
them in its transaction.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from hybrid_memory.decisions.tier_context import buffer_changes, buffers_of, buffers_without
from hybrid_memory.decisions.write import superseded
from hybrid_memory.errors import ConfirmationNeeded, InvalidInput, NotFound
from hybrid_memory.model import BUFFER_TIERS, Memory, MemoryId, Origin, Scope, Tier
from hybrid_memory.requests import ForgetRequest, ForgetResult, UpdateRequest, UpdateResult
from hybrid_memory.store.base import Insert, Update, WriteBatch
from hybrid_memory.tiers import flow
from hybrid_memory.tiers.buffers import Item
from hybrid_memory.trust import have_one_authority, may_displace, trust_of

if TYPE_CHECKING:
    from hybrid_memory.model import EncodedText
    from hybrid_memory.store.base import BufferState, WriteView

HoldersOf = Callable[[str, str], Sequence[MemoryId]]
"""Returns the live working memories that a session keeps under a key, as the search index knows them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedUpdate:
    """A checked update. ``encoded`` is its new content, if it has any; ``id`` is that of the version which that makes."""

    id: MemoryId
    scope: Scope
    request: UpdateRequest
    encoded: EncodedText | None = None


def decide_update(prepared: PreparedUpdate, view: WriteView) -> WriteBatch:
    """Return what an update changes: a new version for new words, otherwise the memory's attributes.

    What a person confirmed cannot be replaced by an assistant's words: these dispute it.

    Raises:
        NotFound: no such memory, or it is forgotten.
        InvalidInput: it is not the newest version.
    """
    old = _current(view, prepared.request.id)
    request = prepared.request
    changed = replace(
        old,
        importance=old.importance if request.importance is None else request.importance,
        tags=old.tags if request.tags is None else request.tags,
        pinned=old.pinned if request.pinned is None else request.pinned,
        expires_at=request.expires_at or old.expires_at,
    )
    if request.content is None or request.content == old.content or prepared.encoded is None:
        return _change_attributes(old, changed, prepared, view)
    return _new_version(old, replace(changed, content=request.content), prepared.encoded, prepared, view)


def _current(view: WriteView, memory_id: MemoryId) -> Memory:
    old = view.get([memory_id]).get(memory_id)
    if old is None or old.forgotten_at is not None:
        raise NotFound("id: no such memory")
    if old.superseded_by is not None:
        raise InvalidInput("id", f"this version was superseded; update {old.superseded_by} instead")
    return old


def _change_attributes(old: Memory, changed: Memory, prepared: PreparedUpdate, view: WriteView) -> WriteBatch:
    # The buffers keep the importance of their members.
    in_buffer = old.tier in BUFFER_TIERS and old.importance != changed.importance
    return WriteBatch(
        action="update",
        actor=prepared.scope.actor,
        updates=() if changed == old else (Update(changed),),
        buffers=_replaced_in_buffers(view, old, changed) if in_buffer else (),
        result=UpdateResult(id=old.id, tier=old.tier),
    )


def _new_version(
    old: Memory, changed: Memory, encoded: EncodedText, prepared: PreparedUpdate, view: WriteView
) -> WriteBatch:
    trust = trust_of(Origin.AGENT, [old.trust])
    displaces = may_displace(trust, old.trust)
    new = replace(
        changed,
        id=prepared.id,
        content_hash=encoded.content_hash,
        terms=encoded.words.terms,
        names=encoded.words.names,
        days=encoded.words.days,
        aspects=encoded.words.aspects,
        encoding=encoded.words.encoding,
        created_at=view.now,
        supersedes=old.id if displaces else None,
        disputes=old.disputes if displaces else old.id,
        duplicate_of=None,
        reflected_at=None,
        origin=Origin.AGENT,
        trust=trust,
        rev=1,
    )
    result = UpdateResult(
        id=new.id,
        tier=new.tier,
        supersedes=new.supersedes,
        disputes=None if displaces else old.id,
        pending=encoded.vector is None,
    )
    return WriteBatch(
        action="update",
        actor=prepared.scope.actor,
        inserts=(Insert(new, encoded.vector),),
        updates=(Update(superseded(old, new.id)),) if displaces else (),
        buffers=_replaced_in_buffers(view, old, new) if displaces and old.tier in BUFFER_TIERS else (),
        result=result,
    )


def _replaced_in_buffers(view: WriteView, old: Memory, new: Memory) -> tuple[BufferState, ...]:
    before = buffers_of(view, old.session, old.agent)
    after = flow.with_new_version(before, old.id, Item(new.id, "", new.importance))
    return buffer_changes(view, old.session, old.agent, before, after)


def decide_forget_or_restore(
    request: ForgetRequest, ids: Sequence[MemoryId], scope: Scope, holders_of: HoldersOf, view: WriteView
) -> WriteBatch:
    """Return what forgetting or bringing back changes; ``ids`` are the request's own or those that its filter found.

    A request that was done before never comes here, so its repeat needs no count that fits a second time.

    Raises:
        ConfirmationNeeded: the filter found another number of memories than the request confirms.
        NotFound: names the ids that do not exist here.
    """
    if request.where is not None and request.count != len(ids):
        raise ConfirmationNeeded(len(ids))
    return decide_restore(ids, scope, holders_of, view) if request.restore else decide_forget(ids, scope, view)


def decide_forget(ids: Sequence[MemoryId], scope: Scope, view: WriteView) -> WriteBatch:
    """Return what forgetting changes; a forgotten memory stays as it is until it is restored or purged.

    Its older versions are forgotten with it: who forgets a statement does not want its first wording to stay readable. A version
    of more authority is not: it is current again.

    Raises:
        NotFound: names the positions in ``ids`` of those that do not exist here.
    """
    found = _existing(view, ids)
    live = [memory for memory in found if memory.forgotten_at is None]
    chains = _older_versions(view, live)
    forgotten = [one for one in chains.together if one.forgotten_at is None]
    gone = {one.id for one in forgotten}
    revived = [one for one in chains.above if one.superseded_by in gone and one.forgotten_at is None]
    result = ForgetResult(
        ids=tuple(memory.id for memory in live),
        unchanged=tuple(memory.id for memory in found if memory.forgotten_at is not None),
        revived=tuple(one.id for one in revived),
    )
    return WriteBatch(
        action="forget",
        actor=scope.actor,
        updates=(
            *(Update(replace(one, forgotten_at=view.now, tier=_tier_outside_buffers(one.tier))) for one in forgotten),
            *(Update(replace(one, superseded_by=None)) for one in revived),
        ),
        buffers=buffers_without(view, live),
        result=result,
    )


def decide_restore(ids: Sequence[MemoryId], scope: Scope, holders_of: HoldersOf, view: WriteView) -> WriteBatch:
    """Return what bringing forgotten memories back changes.

    What comes back is current again, unless a version that replaced it is there or comes back with it. A working memory whose key
    another one holds by now stays forgotten: a key has one holder.

    Raises:
        NotFound: names the positions in ``ids`` of those that do not exist here.
    """
    found = _existing(view, ids)
    forgotten = [memory for memory in found if memory.forgotten_at is not None]
    held = _keys_held_by_others(forgotten, holders_of, view)
    wanted = [one for one in forgotten if one.id not in held]
    coming = {one.id: one for one in _older_versions(view, wanted).together if one.forgotten_at is not None}
    updates = [Update(_brought_back(one, coming, view)) for one in coming.values()]
    result = ForgetResult(
        ids=tuple(memory.id for memory in wanted),
        unchanged=tuple(memory.id for memory in found if memory.forgotten_at is None),
        restored=True,
        held=held,
    )
    return WriteBatch(
        action="restore",
        actor=scope.actor,
        updates=(*updates, *_replaced_again(coming, view)),
        result=result,
    )


def _brought_back(memory: Memory, coming: Collection[MemoryId], view: WriteView) -> Memory:
    """Return a memory as it stands when it is no longer forgotten: current, if nothing that replaced it is there."""
    successor = memory.superseded_by if _stays_replaced(memory, coming, view) else None
    return replace(memory, forgotten_at=None, superseded_by=successor)


def _stays_replaced(memory: Memory, coming: Collection[MemoryId], view: WriteView) -> bool:
    """Return True if what replaced a memory is there, or comes back with it."""
    successor = memory.superseded_by
    if successor is None or successor in coming:
        return successor is not None
    there = view.get([successor]).get(successor)
    return there is not None and there.forgotten_at is None


def _replaced_again(coming: Mapping[MemoryId, Memory], view: WriteView) -> list[Update]:
    """Return the changes to older versions that were current while the newer one was forgotten."""
    older = view.get([one.supersedes for one in coming.values() if one.supersedes is not None])
    updates = []
    for one in coming.values():
        before = older.get(one.supersedes) if one.supersedes is not None else None
        if before is None or before.id in coming or before.forgotten_at is not None or before.superseded_by is not None:
            continue
        if may_displace(one.trust, before.trust):
            updates.append(Update(superseded(before, one.id)))
    return updates


def _keys_held_by_others(
    forgotten: Sequence[Memory], holders_of: HoldersOf, view: WriteView
) -> dict[MemoryId, MemoryId]:
    """Return which memories cannot come back, with the holders of their keys: those there, or those that come back as well."""
    held: dict[MemoryId, MemoryId] = {}
    coming = {memory.id for memory in forgotten}
    current: dict[tuple[str, str], list[Memory]] = {}
    # The newest of several that come back is the key's holder, as it would be had they been written in this order.
    for memory in sorted(forgotten, key=lambda one: (one.created_at, one.id), reverse=True):
        if memory.key is None or _stays_replaced(memory, coming, view):
            continue
        place = (memory.session, memory.key)
        if place not in current:
            current[place] = [one for one in view.get(holders_of(*place)).values() if _is_current(one)]
        holder = next((one for one in current[place] if have_one_authority(one.trust, memory.trust)), None)
        if holder is None:
            current[place].append(memory)
        else:
            held[memory.id] = holder.id
            coming.remove(memory.id)
    return held


def _is_current(memory: Memory) -> bool:
    return memory.forgotten_at is None and memory.superseded_by is None


@dataclass(frozen=True, slots=True)
class _Chains:
    """Memories with the older versions that go and come ``together`` with them, and the first ``above`` them in authority."""

    together: tuple[Memory, ...]
    above: tuple[Memory, ...]


def _older_versions(view: WriteView, memories: Iterable[Memory]) -> _Chains:
    """Return memories and the versions that they superseded, each once, as far as these have no more authority."""
    found = {memory.id: memory for memory in memories}
    above: dict[MemoryId, Memory] = {}
    newest = list(found.values())
    while newest:
        older = view.get([one.supersedes for one in newest if one.supersedes is not None])
        links = [
            (one, older[one.supersedes]) for one in newest if one.supersedes is not None and one.supersedes in older
        ]
        above |= {old.id: old for new, old in links if not may_displace(new.trust, old.trust)}
        newest = [old for new, old in links if may_displace(new.trust, old.trust) and old.id not in found]
        found |= {old.id: old for old in newest}
    return _Chains(tuple(found.values()), tuple(one for one in above.values() if one.id not in found))


def _tier_outside_buffers(tier: Tier) -> Tier:
    return Tier.FADED if tier in BUFFER_TIERS else tier


def _existing(view: WriteView, ids: Sequence[MemoryId]) -> list[Memory]:
    known = view.get(ids)
    missing = [f"ids.{at}" for at, one in enumerate(ids) if one not in known]
    if missing:
        raise NotFound(f"{', '.join(missing)}: no such memory; nothing was changed")
    return [known[one] for one in dict.fromkeys(ids)]
