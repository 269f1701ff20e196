"""What it changes that a judge has looked at the memories of a conversation: some are kept, some take the place of earlier ones. Pure.

The judge is a model of the person's own. `hybrid_memory.service.acts.Acts.settle` hands `decide_settle` to the store, which calls it in its
transaction. What no longer is as the judge saw it is passed over, and so is what trust does not allow: nobody's judgement but the
person's own ends what a person confirmed or pinned, and words that may be somebody else's end nothing.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hybrid_memory.decisions.tier_context import buffers_without
from hybrid_memory.decisions.write import superseded
from hybrid_memory.model import Kind, Memory, MemoryId, Scope, Tier
from hybrid_memory.requests import ActResult
from hybrid_memory.store.writing import Update, WriteBatch
from hybrid_memory.trust import may_displace, may_outdate

if TYPE_CHECKING:
    from hybrid_memory.requests import SettledChange, Settlement
    from hybrid_memory.store.writing import WriteView

ACTION = "settle"
_STATEMENTS = (Kind.OBSERVATION, Kind.EPISODE)
_LEAST_IMPORTANCE = 0.5  # of what is kept; that of a statement which the offline judge just lets through


def decide_settle(settlement: Settlement, scope: Scope, view: WriteView) -> WriteBatch:
    """Return what a judge's decisions change in one namespace; those about memories of another one change nothing here."""
    before = dict(view.get(settlement.ids))
    now = dict(before)
    for one, tags in settlement.kept.items():
        old = now.get(one)
        if old is not None and old.is_episode and _is_live(old):
            importance = max(old.importance, _LEAST_IMPORTANCE)
            now[one] = replace(old, tier=Tier.LONG_TERM, importance=importance, tags=tags or old.tags)
    replaced: list[MemoryId] = []
    for change in sorted(settlement.changes, key=lambda one: one.later):  # in the order of time: a chain has one end
        if change.later in now and change.earlier in now and _may_change(now[change.later], now[change.earlier]):
            now |= _changed(change, now[change.later], now[change.earlier])
            replaced += [change.earlier] if now[change.earlier].superseded_by else []
    touched = [one for one, memory in now.items() if memory != before[one]]
    return WriteBatch(
        action=ACTION,
        actor=scope.actor,
        updates=tuple(Update(now[one], f"judged by {scope.actor}") for one in touched),
        buffers=buffers_without(view, [before[one] for one in touched if now[one].tier is not before[one].tier]),
        result=ActResult(
            action=ACTION, ids=tuple(one for one in touched if one not in replaced), before=tuple(replaced)
        ),
    )


def _changed(change: SettledChange, later: Memory, earlier: Memory) -> dict[MemoryId, Memory]:
    """Return both memories after one has changed the other."""
    if change.ends and _may_end(later, earlier):
        disputes = None if later.disputes == earlier.id else later.disputes
        successor = replace(later, supersedes=later.supersedes or earlier.id, disputes=disputes)
        return {later.id: successor, earlier.id: superseded(earlier, later.id)}
    return {later.id: replace(later, disputes=later.disputes or earlier.id)}


def _may_change(later: Memory, earlier: Memory) -> bool:
    statements = later.kind in _STATEMENTS and earlier.kind in _STATEMENTS
    return statements and later.id != earlier.id and _is_live(later) and _is_live(earlier) and may_outdate(later)


def _may_end(later: Memory, earlier: Memory) -> bool:
    held = earlier.pinned or earlier.tier is Tier.WORKING or earlier.verdict is not None
    return not held and may_displace(later.trust, earlier.trust)


def _is_live(memory: Memory) -> bool:
    return memory.forgotten_at is None and memory.superseded_by is None
