"""What a new statement changes, decided inside the store's transaction: `decide_write`. Pure.

`MemoryService.write` prepares the statement and hands `decide_write` to the store, which calls it with the namespace as it is
in the transaction (`WriteView`) and applies the `WriteBatch` that comes back.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from hybrid_memory.decisions.tier_context import (
    StoredTierContext,
    buffer_changes,
    buffers_of,
    buffers_without,
    changes_of,
    joined,
)
from hybrid_memory.errors import InvalidInput, NotFound
from hybrid_memory.model import (
    BUFFER_TIERS,
    MEMORY_TYPE_OF,
    TRUST_ORDER,
    Kind,
    Memory,
    MemoryId,
    MemoryType,
    Moved,
    Scope,
    Tier,
    Trust,
)
from hybrid_memory.requests import WriteRequest, WriteResult
from hybrid_memory.retrieval.near_copies import copy_key
from hybrid_memory.store.writing import BufferState, ChangeType, Insert, Prefetch, RecordUse, Update, WriteBatch
from hybrid_memory.tiers import flow
from hybrid_memory.tiers.buffers import Item
from hybrid_memory.trust import have_one_authority, may_displace, trust_of
from hybrid_memory.validation import check_joined

if TYPE_CHECKING:
    from hybrid_memory.decisions.tier_context import VectorsOf
    from hybrid_memory.model import EncodedText
    from hybrid_memory.store.writing import WriteView
    from hybrid_memory.tiers.buffers import Buffers

KIND_OF: Mapping[MemoryType, Kind] = {
    MemoryType.SHORT_TERM: Kind.OBSERVATION,
    MemoryType.LONG_TERM: Kind.OBSERVATION,
    MemoryType.WORKING: Kind.TASK,
    MemoryType.EPISODIC: Kind.SUMMARY,
}
_SAID = (Kind.OBSERVATION, Kind.EPISODE)  # what makes a habit when it is said again and again
_TIER_OF: Mapping[MemoryType, Tier] = {
    MemoryType.LONG_TERM: Tier.LONG_TERM,
    MemoryType.WORKING: Tier.WORKING,
    MemoryType.EPISODIC: Tier.EPISODIC,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedWrite:
    """A checked request with all that had to be computed before the transaction.

    ``repeats`` are live memories with the same words, oldest first; ``key_owners`` hold the same working key, newest first; both
    were looked up when the namespace's head was ``seen_head``. ``elsewhere`` are parents that lie in another namespace of the reader.
    ``contradicts`` is an earlier statement that it likely changes (`hybrid_memory.changes`).
    """

    id: MemoryId
    scope: Scope
    request: WriteRequest
    encoded: EncodedText
    importance: float
    repeats: tuple[MemoryId, ...] = ()
    key_owners: tuple[MemoryId, ...] = ()
    seen_head: int = 0
    elsewhere: tuple[Memory, ...] = ()
    contradicts: MemoryId | None = None

    @property
    def session(self) -> str:
        """The conversation it belongs to."""
        return self.request.session or self.scope.session


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteRules:
    """The rules of the attention buffers, and the number of sessions that make a habit."""

    flow: flow.FlowRules
    habit_sessions: int = 3


@dataclass(frozen=True, slots=True)
class _NewMemory:
    """What a new memory does to those that were there: counted, replaced, promoted."""

    prepared: PreparedWrite
    repeats: tuple[Memory, ...]
    replaced: tuple[Memory, ...]
    habit: tuple[Moved, ...]

    @property
    def leaving(self) -> tuple[Memory, ...]:
        """The memories that leave their attention buffers for a reason other than the buffers' own rules."""
        promoted = {move.id for move in self.habit}
        return (*self.replaced, *(one for one in self.repeats if one.id in promoted))


def prefetch_of(prepared: PreparedWrite) -> Prefetch:
    """Return what `decide_write` is going to look at, as far as that is known beforehand."""
    is_observed = prepared.request.memory_type is MemoryType.SHORT_TERM
    return Prefetch(
        after=prepared.seen_head,
        ids=(*prepared.repeats, *_named_ids(prepared)),
        buffers=(prepared.session, prepared.scope.agent) if is_observed else None,
    )


def decide_write(prepared: PreparedWrite, rules: WriteRules, vectors_of: VectorsOf, view: WriteView) -> WriteBatch:
    """Return what storing the statement changes.

    Raises:
        NotFound: the memory that it supersedes does not exist here.
        InvalidInput: that memory was superseded before.
    """
    # 1. The search index was asked before the transaction; what other writers stored since then is added.
    prepared = _with_concurrent_writes(prepared, view)
    known = view.get([*prepared.repeats, *_named_ids(prepared)])
    repeats = [known[one] for one in prepared.repeats if one in known and _is_live(known[one])]
    parents = _known_parents(prepared, known)
    trust = trust_of(prepared.request.origin, (parent.trust for parent in parents))
    same = next((memory for memory in repeats if _is_same_statement(memory, prepared, trust)), None)
    # 2. The same statement in the same conversation is counted on the memory that is there.
    if same is not None:
        habit = _habit_again(same, repeats, prepared.request, rules.habit_sessions)
        return _count_repetition(same, prepared, habit, rules, vectors_of, view)
    # 3. Otherwise a new row: it may replace some, and may be the saying that makes a habit.
    replaced, disputed = _told_otherwise(prepared, known, trust)
    repeats = [one for one in repeats if one not in replaced]
    memory = replace(
        _new_memory(prepared, view, trust),
        supersedes=replaced[0].id if replaced else None,
        disputes=disputed or _contradicted(prepared, known, replaced) or _inherited_dispute(replaced, trust),
        duplicate_of=repeats[0].id if repeats else None,
    )
    change = _NewMemory(
        prepared, tuple(repeats), tuple(replaced), _habit_promotion(memory, repeats, rules.habit_sessions)
    )
    # 4. An observation goes through the attention buffers; the other types have their tier already.
    if prepared.request.memory_type is MemoryType.SHORT_TERM:
        return _insert_observation(memory, change, rules, vectors_of, view)
    return _insert(memory, change, view)


def _with_concurrent_writes(prepared: PreparedWrite, view: WriteView) -> PreparedWrite:
    """Add the repeats and the key's owners that were stored after the write was prepared."""
    if view.head <= prepared.seen_head:
        return prepared
    inserted = [entry for entry in view.changes(prepared.seen_head) if entry.change is ChangeType.INSERT]
    repeats = [entry.id for entry in inserted if entry.digest == prepared.encoded.content_hash]
    key_owners = prepared.key_owners
    if prepared.request.key is not None:
        newer = view.get([entry.id for entry in inserted]).values()
        own = (prepared.session, prepared.request.key)
        owners = [memory.id for memory in newer if (memory.session, memory.key) == own]
        key_owners = (*reversed(owners), *key_owners)
    return replace(prepared, repeats=(*prepared.repeats, *repeats), key_owners=key_owners)


def _named_ids(prepared: PreparedWrite) -> list[MemoryId]:
    named = (prepared.request.supersedes, *prepared.key_owners, *prepared.request.parents, prepared.contradicts)
    return [one for one in named if one is not None]


def _is_live(memory: Memory) -> bool:
    return memory.forgotten_at is None and memory.superseded_by is None


def _is_same_statement(memory: Memory, prepared: PreparedWrite, trust: Trust) -> bool:
    """Return True if a memory with the same words is this same statement, not another occasion of it.

    What is trusted otherwise is another statement: counting it would raise or lower the trust of the memory that is there.
    """
    request = prepared.request
    return (
        memory.session == prepared.session
        and memory.agent == prepared.scope.agent
        and memory.speaker == request.speaker
        and memory.origin is request.origin
        and memory.trust is trust
        and memory.kind is _kind_of(request)
        and memory.key == request.key
        and request.occurred_at in (None, memory.occurred_at)
        and request.supersedes in (None, memory.supersedes, memory.disputes)
    )


def _told_otherwise(
    prepared: PreparedWrite, known: Mapping[MemoryId, Memory], trust: Trust
) -> tuple[list[Memory], MemoryId | None]:
    """Return the memories that a statement of this trust replaces, the named one first, and one that it can only dispute.

    Who says the same in the same or nearly the same words disputes nothing.
    """
    named = _named_by_supersedes(prepared, known)
    holders = [known[one] for one in prepared.key_owners if one in known and _is_live(known[one])]
    others = list({one.id: one for one in (*named, *holders)}.values())
    # Of several, the most trusted is the one that it is a version of; those that it names come first.
    replaced = [one for one in others if may_displace(trust, one.trust)]
    replaced.sort(key=lambda one: (one not in named, -TRUST_ORDER.index(one.trust)))
    said = copy_key(prepared.request.content)
    better = (one for one in others if not may_displace(trust, one.trust))
    disputed = next((one.id for one in better if copy_key(one.content) != said), None)
    return replaced, disputed


def _contradicted(
    prepared: PreparedWrite, known: Mapping[MemoryId, Memory], replaced: Sequence[Memory]
) -> MemoryId | None:
    """Return the statement that a new one likely changes, if that holds still; both stay, and readers see that they disagree."""
    old = known.get(prepared.contradicts) if prepared.contradicts is not None else None
    return old.id if old is not None and _is_live(old) and old not in replaced else None


def _inherited_dispute(replaced: Sequence[Memory], trust: Trust) -> MemoryId | None:
    """Return what the version before disputes, if the new one is no more trusted than that."""
    return replaced[0].disputes if replaced and have_one_authority(trust, replaced[0].trust) else None


def _named_by_supersedes(prepared: PreparedWrite, known: Mapping[MemoryId, Memory]) -> list[Memory]:
    wanted = prepared.request.supersedes
    if wanted is None:
        return []
    old = known.get(wanted)
    if old is None or old.forgotten_at is not None:
        raise NotFound("supersedes: no such memory")
    if old.superseded_by is not None:
        raise InvalidInput("supersedes", f"was already superseded; its newer version is {old.superseded_by}")
    return [old]


def _known_parents(prepared: PreparedWrite, known: Mapping[MemoryId, Memory]) -> list[Memory]:
    parents = {one.id: one for one in prepared.elsewhere} | dict(known)
    missing = [one for one in prepared.request.parents if one not in parents]
    if missing:
        raise NotFound("parents: no such memory; nothing was stored")
    return [parents[one] for one in prepared.request.parents]


def _new_memory(prepared: PreparedWrite, view: WriteView, trust: Trust) -> Memory:
    """Return the statement as a memory, without its links to those that were there."""
    request = prepared.request
    return Memory(
        id=prepared.id,
        namespace=prepared.scope.namespace,
        session=prepared.session,
        agent=prepared.scope.agent,
        content=request.content,
        kind=_kind_of(request),
        tier=_TIER_OF.get(request.memory_type, Tier.SENSORY),
        importance=prepared.importance,
        created_at=view.now,
        content_hash=prepared.encoded.content_hash,
        terms=prepared.encoded.words.terms,
        names=prepared.encoded.words.names,
        days=prepared.encoded.words.days,
        aspects=prepared.encoded.words.aspects,
        encoding=prepared.encoded.words.encoding,
        pinned=_is_pinned(request, trust),
        tags=request.tags,
        metadata=request.metadata,
        source=request.source,
        speaker=request.speaker,
        origin=request.origin,
        trust=trust,
        key=request.key,
        occurred_at=request.occurred_at,
        expires_at=request.expires_at,
        parents=prepared.request.parents,
    )


def _kind_of(request: WriteRequest) -> Kind:
    return Kind.EPISODE if request.episode else KIND_OF[request.memory_type]


def _is_pinned(request: WriteRequest, trust: Trust) -> bool:
    """Return True if a statement is pinned: what is untrusted cannot put itself at the head of each brief."""
    return request.pinned and trust is not Trust.UNTRUSTED


def _insert_observation(
    memory: Memory, change: _NewMemory, rules: WriteRules, vectors_of: VectorsOf, view: WriteView
) -> WriteBatch:
    """Let the memory into the buffers of its session, without those that this write takes out of attention."""
    prepared = change.prepared
    before = buffers_of(view, memory.session, memory.agent)
    buffers = flow.without_memories(before, {one.id for one in change.leaving})
    fresh = {} if prepared.encoded.vector is None else {memory.id: prepared.encoded.vector}
    context = StoredTierContext(
        view, buffers, vectors_of, fresh, pinned={memory.id} if memory.pinned else (), new=memory
    )
    step = flow.admit(buffers, Item(memory.id, "", memory.importance), context, rules.flow)
    memory = replace(memory, tier=step.tier_of(memory.id, Tier.SENSORY))
    written = buffer_changes(view, memory.session, memory.agent, before, step.buffers)
    return _insert(memory, change, view, step.moved, written)


def _insert(
    memory: Memory,
    change: _NewMemory,
    view: WriteView,
    moved: tuple[Moved, ...] = (),
    written: tuple[BufferState, ...] | None = None,
) -> WriteBatch:
    """Insert the memory, move what moved, and mark what it replaces. ``written`` are the buffers that changed already."""
    moved = (*moved, *change.habit)
    written_keys = () if written is None else ((memory.session, memory.agent),)
    prepared = change.prepared
    result = WriteResult(
        id=memory.id,
        tier=memory.tier,
        duplicate_of=memory.duplicate_of,
        disputes=memory.disputes,
        unpinned=prepared.request.pinned and not memory.pinned,
        moved=moved,
        pending=prepared.encoded.vector is None,
        namespace=memory.namespace,
    )
    tier_changes, updates = changes_of(view, (move for move in moved if move.id != memory.id))
    replaced = [Update(superseded(one, memory.id)) for one in change.replaced]
    counted = [one for one in change.repeats if may_displace(memory.trust, one.trust)]
    return WriteBatch(
        action="remember",
        actor=prepared.scope.actor,
        inserts=(Insert(memory, prepared.encoded.vector, prepared.encoded.passages),),
        tier_changes=tier_changes,
        updates=(*updates, *replaced),
        buffers=(*(written or ()), *buffers_without(view, change.leaving, written_keys)),
        uses=tuple(RecordUse(one.id, view.now) for one in counted[:1]),
        result=result,
    )


def superseded(old: Memory, new: MemoryId) -> Memory:
    """Return the old version as it comes after a new one; it no longer takes part in attention."""
    tier = Tier.FADED if old.tier in BUFFER_TIERS else old.tier
    return replace(old, superseded_by=new, tier=tier)


def _habit_promotion(memory: Memory, repeats: Sequence[Memory], habit_sessions: int) -> tuple[Moved, ...]:
    """Let the first of the same words, said in enough sessions, become long-term with the others as its members.

    What a tool repeats makes no habit of what a person said, nor the other way round.
    """
    alike = [one for one in repeats if one.kind in _SAID and have_one_authority(one.trust, memory.trust)]
    sessions = {one.session for one in alike} | {memory.session}
    if len(sessions) < habit_sessions or memory.kind not in _SAID:
        return ()
    first = alike[0]
    if first.tier is Tier.LONG_TERM:
        return ()
    members = tuple(one.id for one in (*alike[1:], memory))
    reason = f"said in {len(sessions)} sessions"
    return (Moved(id=first.id, before=first.tier, after=Tier.LONG_TERM, reason=reason, members=members),)


def _habit_again(same: Memory, repeats: Sequence[Memory], request: WriteRequest, habit_sessions: int) -> Moved | None:
    """Return the move of the first of the same words that enough sessions hold, where none is long-term any more.

    The one that was may have been corrected or forgotten, and each of these sessions has the words already: no new memory comes to make
    the habit.
    """
    alike = [one for one in repeats if one.kind in _SAID and have_one_authority(one.trust, same.trust)]
    made = any(one.tier is Tier.LONG_TERM for one in alike) or request.memory_type is not MemoryType.SHORT_TERM
    sessions = {one.session for one in alike}
    if made or len(sessions) < habit_sessions:
        return None
    members = tuple(one.id for one in alike[1:])
    reason = f"said in {len(sessions)} sessions"
    return Moved(id=alike[0].id, before=alike[0].tier, after=Tier.LONG_TERM, reason=reason, members=members)


def _later_expiry(same: Memory, request: WriteRequest) -> datetime | None:
    """Return until when a repeated statement is valid: as long as either saying of it; a task as it was said last."""
    if request.memory_type is MemoryType.WORKING:
        return request.expires_at or same.expires_at
    if same.expires_at is None or request.expires_at is None:
        return None
    return max(same.expires_at, request.expires_at)


def _count_repetition(
    same: Memory,
    prepared: PreparedWrite,
    habit: Moved | None,
    rules: WriteRules,
    vectors_of: VectorsOf,
    view: WriteView,
) -> WriteBatch:
    """Count the repetition on the memory that is there, and add what the repetition says more.

    ``habit`` is the move of the first of the same words, if the repetition makes these one.
    """
    request = prepared.request
    before = buffers_of(view, same.session, same.agent)
    buffers = before if habit is None else flow.without_memories(before, {habit.id})
    pinned = same.pinned or _is_pinned(request, same.trust)
    context = StoredTierContext(view, buffers, vectors_of, extra_uses={same.id: 1}, pinned={same.id} if pinned else ())
    item = Item(same.id, "", max(same.importance, request.importance or 0.0))
    step = _step_of_repetition(same, item, request, habit, buffers, context, rules)
    # What the repetition says more is added to the memory, nothing is taken away.
    richer = replace(
        same,
        importance=item.importance if item.importance is not None else same.importance,
        pinned=pinned,
        tags=tuple(dict.fromkeys((*same.tags, *request.tags))),
        metadata={**same.metadata, **request.metadata},
        source=request.source or same.source,
        parents=joined(same.parents, request.parents),
        expires_at=_later_expiry(same, request),
    )
    if request.tags or request.metadata:
        check_joined(richer.tags, richer.metadata)
    # The memory's own move is part of its update; the others are changes of their own.
    own_move = next((move for move in step.moved if move.id == same.id), None)
    if own_move is not None:
        richer = replace(richer, tier=own_move.after, parents=joined(richer.parents, own_move.members))
    tier_changes, updates = changes_of(view, (move for move in step.moved if move.id != same.id))
    result = WriteResult(
        id=same.id,
        tier=step.tier_of(same.id, same.tier),
        duplicate_of=same.id,
        disputes=same.disputes,
        unpinned=request.pinned and not pinned,
        moved=step.moved,
        namespace=same.namespace,
    )
    return WriteBatch(
        action="repeat",
        actor=prepared.scope.actor,
        tier_changes=tier_changes,
        updates=updates
        if richer == same
        else (*updates, Update(richer, own_move.reason if own_move is not None else "")),
        buffers=(
            *buffer_changes(view, same.session, same.agent, before, step.buffers),
            *buffers_without(view, _memories_of(habit, view), ((same.session, same.agent),)),
        ),
        uses=(RecordUse(same.id, view.now),),
        result=result,
    )


def _memories_of(habit: Moved | None, view: WriteView) -> list[Memory]:
    return [] if habit is None else list(view.get([habit.id]).values())


def _step_of_repetition(
    same: Memory,
    item: Item,
    request: WriteRequest,
    habit: Moved | None,
    buffers: Buffers,
    context: StoredTierContext,
    rules: WriteRules,
) -> flow.FlowResult:
    """Return what moves: in the buffers a repetition enhances; one as another type moves the memory to that type's tier."""
    moved = () if habit is None else (habit,)
    if habit is not None and habit.id == same.id:
        return flow.FlowResult(buffers, moved)
    if request.memory_type is MemoryType.SHORT_TERM:
        step = flow.repeat(buffers, item, same.tier, context, rules.flow)
        return replace(step, moved=(*step.moved, *moved))
    if MEMORY_TYPE_OF[same.tier] is not request.memory_type:
        target = _TIER_OF[request.memory_type]
        one = Moved(id=same.id, before=same.tier, after=target, reason="written again as " + request.memory_type)
        return flow.FlowResult(flow.without_memories(buffers, {same.id}), (one,))
    return flow.FlowResult(buffers)
