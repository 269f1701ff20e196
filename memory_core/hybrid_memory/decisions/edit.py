"""What an update, forgetting and restoring change. Pure.

`MemoryService.update` and `MemoryService.forget` hand `decide_update` and `decide_forget_or_restore` to the store, which calls
them in its transaction.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from hybrid_memory.decisions.tier_context import buffer_changes, buffers_of, buffers_without
from hybrid_memory.decisions.write import least_trust, superseded
from hybrid_memory.errors import ConfirmationNeeded, InvalidInput, NotFound
from hybrid_memory.model import BUFFER_TIERS, TRUST_OF, Memory, MemoryId, Origin, Scope, Tier
from hybrid_memory.requests import ForgetRequest, ForgetResult, UpdateRequest, UpdateResult
from hybrid_memory.store.base import Insert, Update, WriteBatch
from hybrid_memory.tiers import flow
from hybrid_memory.tiers.buffers import Item

if TYPE_CHECKING:
    from hybrid_memory.model import EncodedText
    from hybrid_memory.store.base import BufferState, WriteView


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedUpdate:
    """A checked update. ``encoded`` is its new content, if it has any; ``id`` is that of the version which that makes."""

    id: MemoryId
    scope: Scope
    request: UpdateRequest
    encoded: EncodedText | None = None


def decide_update(prepared: PreparedUpdate, view: WriteView) -> WriteBatch:
    """Return what an update changes: a new version for new words, otherwise the memory's attributes.

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
        supersedes=old.id,
        duplicate_of=None,
        reflected_at=None,
        origin=Origin.AGENT,
        trust=least_trust([old.trust, TRUST_OF[Origin.AGENT]]),
        rev=1,
    )
    pending = encoded.vector is None
    result = UpdateResult(id=new.id, tier=new.tier, supersedes=old.id, pending=pending)
    return WriteBatch(
        action="update",
        actor=prepared.scope.actor,
        inserts=(Insert(new, encoded.vector),),
        updates=(Update(superseded(old, new.id)),),
        buffers=_replaced_in_buffers(view, old, new) if old.tier in BUFFER_TIERS else (),
        result=result,
    )


def _replaced_in_buffers(view: WriteView, old: Memory, new: Memory) -> tuple[BufferState, ...]:
    before = buffers_of(view, old.session, old.agent)
    after = flow.with_new_version(before, old.id, Item(new.id, "", new.importance))
    return buffer_changes(view, old.session, old.agent, before, after)


def decide_forget_or_restore(
    request: ForgetRequest, ids: Sequence[MemoryId], scope: Scope, view: WriteView
) -> WriteBatch:
    """Return what forgetting or bringing back changes; ``ids`` are the request's own or those that its filter found.

    A request that was done before never comes here, so its repeat needs no count that fits a second time.

    Raises:
        ConfirmationNeeded: the filter found another number of memories than the request confirms.
        NotFound: names the ids that do not exist here.
    """
    if request.where is not None and request.count != len(ids):
        raise ConfirmationNeeded(len(ids))
    return decide_restore(ids, scope, view) if request.restore else decide_forget(ids, scope, view)


def decide_forget(ids: Sequence[MemoryId], scope: Scope, view: WriteView) -> WriteBatch:
    """Return what forgetting changes; a forgotten memory stays as it is until it is restored or purged.

    Its older versions are forgotten with it: who forgets a statement does not want its first wording to stay readable.

    Raises:
        NotFound: names the positions in ``ids`` of those that do not exist here.
    """
    found = _existing(view, ids)
    live = [memory for memory in found if memory.forgotten_at is None]
    result = ForgetResult(
        ids=tuple(memory.id for memory in live),
        unchanged=tuple(memory.id for memory in found if memory.forgotten_at is not None),
    )
    forgotten = [one for one in _with_older_versions(view, live) if one.forgotten_at is None]
    return WriteBatch(
        action="forget",
        actor=scope.actor,
        updates=tuple(
            Update(replace(one, forgotten_at=view.now, tier=_tier_outside_buffers(one.tier))) for one in forgotten
        ),
        buffers=buffers_without(view, live),
        result=result,
    )


def decide_restore(ids: Sequence[MemoryId], scope: Scope, view: WriteView) -> WriteBatch:
    """Return what bringing forgotten memories back changes.

    Raises:
        NotFound: names the positions in ``ids`` of those that do not exist here.
    """
    found = _existing(view, ids)
    forgotten = [memory for memory in found if memory.forgotten_at is not None]
    result = ForgetResult(
        ids=tuple(memory.id for memory in forgotten),
        unchanged=tuple(memory.id for memory in found if memory.forgotten_at is None),
        restored=True,
    )
    return WriteBatch(
        action="restore",
        actor=scope.actor,
        updates=tuple(
            Update(replace(one, forgotten_at=None))
            for one in _with_older_versions(view, forgotten)
            if one.forgotten_at is not None
        ),
        result=result,
    )


def _with_older_versions(view: WriteView, memories: Sequence[Memory]) -> list[Memory]:
    """Return memories and all versions that they superseded, each once."""
    found = {memory.id: memory for memory in memories}
    wanted = [memory.supersedes for memory in memories if memory.supersedes is not None]
    while wanted:
        older = view.get([one for one in wanted if one not in found])
        found.update(older)
        wanted = [one.supersedes for one in older.values() if one.supersedes is not None]
    return list(found.values())


def _tier_outside_buffers(tier: Tier) -> Tier:
    return Tier.FADED if tier in BUFFER_TIERS else tier


def _existing(view: WriteView, ids: Sequence[MemoryId]) -> list[Memory]:
    known = view.get(ids)
    missing = [f"ids.{at}" for at, one in enumerate(ids) if one not in known]
    if missing:
        raise NotFound(f"{', '.join(missing)}: no such memory; nothing was changed")
    return [known[one] for one in dict.fromkeys(ids)]
