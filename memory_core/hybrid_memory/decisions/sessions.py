"""What recalls, the end of a session and a sweep of abandoned sessions change. Pure.

Called in the store's transaction: `decide_recalls` by `MemoryService.flush_recalls`, `decide_end` by `end_session`, `decide_sweep`
by `warm_up`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from hybrid_memory.decisions.tier_context import StoredTierContext, buffer_changes, buffers_of, changes_of
from hybrid_memory.ids import is_unnamed_session
from hybrid_memory.model import Kind, Memory, MemoryId, Moved, Scope
from hybrid_memory.store.writing import BufferState, RecordUse, SetTier, Update, WriteBatch
from hybrid_memory.tiers import flow
from hybrid_memory.tiers.buffers import Item

if TYPE_CHECKING:
    from hybrid_memory.decisions.tier_context import VectorsOf
    from hybrid_memory.store.writing import WriteView
    from hybrid_memory.tiers.buffers import Buffers


@dataclass(frozen=True, slots=True)
class Recall:
    """One memory was found by a read of a session's agent."""

    id: MemoryId
    session: str
    agent: str
    at: datetime


def decide_recalls(
    recalls: Sequence[Recall], rules: flow.FlowRules, vectors_of: VectorsOf, view: WriteView
) -> WriteBatch:
    """Return what the recalls collected since the last time change: uses, enhancements, and faded ones coming back up."""
    # Between the read and this transaction a memory may have been forgotten or replaced.
    known = view.get({recall.id for recall in recalls})
    current = {id_ for id_, memory in known.items() if memory.forgotten_at is None and memory.superseded_by is None}
    live = [recall for recall in recalls if recall.id in current]
    counts = uses_of(live)
    extra_uses = {use.id: use.count for use in counts}
    moved: dict[MemoryId, Moved] = {}
    buffers: list[BufferState] = []
    for session, agent in dict.fromkeys((recall.session, recall.agent) for recall in live):
        before = buffers_of(view, session, agent)
        after = before
        context = StoredTierContext(view, before, vectors_of, extra_uses=extra_uses)
        own = (recall.id for recall in live if (recall.session, recall.agent) == (session, agent))
        for memory_id in dict.fromkeys(own):
            memory = known[memory_id]
            item = Item(memory.id, "", memory.importance)
            tier = moved[memory.id].after if memory.id in moved else memory.tier
            step = flow.recall(after, item, tier, context, rules)
            after = step.buffers
            moved.update({move.id: move for move in step.moved})
        if after != before:
            buffers += buffer_changes(view, session, agent, before, after)
    tier_changes, updates = changes_of(view, moved.values())
    return WriteBatch(
        action="recall",
        actor="memory",
        tier_changes=tier_changes,
        updates=updates,
        buffers=tuple(buffers),
        uses=counts,
    )


def uses_of(recalls: Sequence[Recall]) -> tuple[RecordUse, ...]:
    """Return the recalls as usage, one entry a memory."""
    counted: dict[MemoryId, RecordUse] = {}
    for recall in recalls:
        known = counted.get(recall.id)
        at = recall.at if known is None else max(known.at, recall.at)
        counted[recall.id] = RecordUse(recall.id, at, 1 if known is None else known.count + 1)
    return tuple(counted.values())


def decide_end(
    scope: Scope, tasks: Sequence[MemoryId], rules: flow.FlowRules, vectors_of: VectorsOf, view: WriteView
) -> WriteBatch:
    """Return what the end of a scope's session changes; ``tasks`` are its working memories, which end with it."""
    buffers = buffers_of(view, scope.session, scope.agent)
    step = flow.end_session(buffers, StoredTierContext(view, buffers, vectors_of), rules)
    return WriteBatch(
        action="end session",
        actor=scope.actor,
        tier_changes=_tier_changes(step.moved),
        updates=tuple(Update(replace(task, expires_at=view.now)) for task in _open(view.get(tasks), view.now)),
        buffers=buffer_changes(view, scope.session, scope.agent, buffers, step.buffers),
    )


def _holds_episodes_alone(view: WriteView, buffers: Buffers) -> bool:
    ids = [one.id for one in buffers.sensory] + [one.item.id for one in buffers.short_term]
    return all(one.kind is Kind.EPISODE for one in view.get(ids).values())


def _tier_changes(moved: Sequence[Moved]) -> tuple[SetTier, ...]:
    return tuple(SetTier(move.id, move.after, move.reason) for move in moved)


def _open(tasks: Mapping[MemoryId, Memory], now: datetime) -> list[Memory]:
    return [task for task in tasks.values() if task.expires_at is None or task.expires_at > now]


def decide_sweep(
    view: WriteView,
    scope: Scope,
    tasks: Sequence[MemoryId],
    idle: timedelta,
    rules: flow.FlowRules,
    vectors_of: VectorsOf,
) -> WriteBatch:
    """Return what ending the sessions changes that were silent for ``idle``.

    These are unnamed ones, whose connections broke off, and those of hooks, of which nobody tells for certain when they end.
    ``tasks`` are the open working memories of the namespace; those of such sessions end as well.
    """
    tier_changes: list[SetTier] = []
    buffers: list[BufferState] = []
    for state in view.buffers():
        if view.now - state.touched_at < idle:
            continue
        abandoned = buffers_of(view, state.session, state.agent)
        if is_unnamed_session(state.session) or _holds_episodes_alone(view, abandoned):
            step = flow.end_session(abandoned, StoredTierContext(view, abandoned, vectors_of), rules)
            tier_changes.extend(_tier_changes(step.moved))
            buffers.append(BufferState(state.session, state.agent, None, view.now))
    active_sessions = {state.session for state in view.buffers() if view.now - state.touched_at < idle}
    ending_tasks = [
        task
        for task in _open(view.get(tasks), view.now)
        if is_unnamed_session(task.session)
        and task.session not in active_sessions
        and view.now - task.created_at >= idle
    ]
    return WriteBatch(
        action="end session",
        actor=scope.actor,
        tier_changes=tuple(tier_changes),
        updates=tuple(Update(replace(task, expires_at=view.now)) for task in ending_tasks),
        buffers=tuple(buffers),
    )
