"""What an update of a memory changes. Pure.

`MemoryService.update` hands `decide_update` to the store, which calls it in its transaction.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from hybrid_memory.decisions.tier_context import buffer_changes, buffers_of, buffers_without
from hybrid_memory.decisions.write import superseded
from hybrid_memory.errors import InvalidInput, NotFound
from hybrid_memory.model import BUFFER_TIERS, TRUST_ORDER, Memory, MemoryId, Origin, Scope, Tier, Trust, Verdict
from hybrid_memory.requests import ActResult, UpdateRequest, UpdateResult
from hybrid_memory.store.writing import Insert, Update, WriteBatch
from hybrid_memory.tiers import flow
from hybrid_memory.tiers.buffers import Item
from hybrid_memory.trust import have_one_authority, may_displace, trust_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from hybrid_memory.model import EncodedText
    from hybrid_memory.store.writing import BufferState, WriteView


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
    old = current(view, prepared.request.id)
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


def taking_the_key(
    batch: WriteBatch, holders_of: Callable[[str, str], Sequence[MemoryId]], view: WriteView
) -> WriteBatch:
    """Return a batch that makes a new version, which also replaces what else of its authority holds its key.

    A person's words for what a tool said weigh more than that did, and it may have stood with a person's: a key has one statement of each
    authority, as after a write.
    """
    changed = {update.memory.id for update in batch.updates}
    taken: dict[MemoryId, Memory] = {}
    updates = list(batch.updates)
    for new in (insert.memory for insert in batch.inserts):
        for one in () if new.key is None else view.get(holders_of(new.session, new.key)).values():
            there = one.forgotten_at is None and one.superseded_by is None and one.id not in changed
            if there and have_one_authority(new.trust, one.trust):
                changed.add(one.id)
                taken[one.id] = one
                updates.append(Update(superseded(one, new.id)))
    if not taken:
        return batch
    result = batch.result
    if isinstance(result, ActResult):
        result = replace(result, before=(*result.before, *taken))
    return replace(batch, updates=tuple(updates), result=result)


def current(view: WriteView, memory_id: MemoryId, field: str = "id") -> Memory:
    """Return a memory that may be changed.

    Raises:
        NotFound: no such memory, or it is forgotten; ``field`` is the argument that names it.
        InvalidInput: it is not the newest version.
    """
    old = view.get([memory_id]).get(memory_id)
    if old is None or old.forgotten_at is not None:
        raise NotFound(f"{field}: no such memory")
    if old.superseded_by is not None:
        raise InvalidInput(field, f"this version was superseded; update {old.superseded_by} instead")
    return old


def _change_attributes(old: Memory, changed: Memory, prepared: PreparedUpdate, view: WriteView) -> WriteBatch:
    if old.is_episode and changed.pinned:
        changed = replace(changed, tier=Tier.LONG_TERM)
        return WriteBatch(
            action="update",
            actor=prepared.scope.actor,
            updates=(Update(changed, "pinned"),),
            buffers=buffers_without(view, [old]),
            result=UpdateResult(id=old.id, tier=changed.tier),
        )
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
    trust = trust_of_new_words(prepared.request.origin, old.trust)
    displaces = may_displace(trust, old.trust)
    new = replace(
        changed,
        tier=Tier.LONG_TERM if old.is_episode else changed.tier,  # who corrects what was said in passing keeps it
        id=prepared.id,
        content_hash=encoded.content_hash,
        terms=encoded.words.terms,
        names=encoded.words.names,
        days=encoded.words.days,
        aspects=encoded.words.aspects,
        encoding=encoded.words.encoding,
        created_at=view.now,
        supersedes=old.id if displaces else None,
        disputes=_disputed_by_new(old, trust) if displaces else old.id,
        duplicate_of=None,
        reflected_at=None,
        origin=prepared.request.origin,
        trust=trust,
        verdict=_verdict_of_new_words(old, trust),
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
        inserts=(Insert(new, encoded.vector, encoded.passages),),
        updates=(Update(superseded(old, new.id)),) if displaces else (),
        buffers=_buffers_of_new(view, old, new) if displaces and old.tier in BUFFER_TIERS else (),
        result=result,
    )


def trust_of_new_words(origin: Origin, before: Trust) -> Trust:
    """Return the trust of a new version: the user's own words are the user's, and what the user confirmed stays so in them."""
    if origin is not Origin.USER:
        return trust_of(origin, [before])
    return max(trust_of(origin), before, key=TRUST_ORDER.index)


def _verdict_of_new_words(old: Memory, trust: Trust) -> Verdict | None:
    """Return what a person's judgement of the former words says of new ones: that it ended, or what is confirmed still."""
    if old.verdict is Verdict.TRUE and trust is not Trust.CONFIRMED:
        return None
    return old.verdict


def _disputed_by_new(old: Memory, trust: Trust) -> MemoryId | None:
    """Return what a new version disputes: what the one before did, unless it is more trusted than that."""
    return old.disputes if have_one_authority(trust, old.trust) else None


def _buffers_of_new(view: WriteView, old: Memory, new: Memory) -> tuple[BufferState, ...]:
    return buffers_without(view, [old]) if old.is_episode else _replaced_in_buffers(view, old, new)


def _replaced_in_buffers(view: WriteView, old: Memory, new: Memory) -> tuple[BufferState, ...]:
    before = buffers_of(view, old.session, old.agent)
    after = flow.with_new_version(before, old.id, Item(new.id, "", new.importance))
    return buffer_changes(view, old.session, old.agent, before, after)
