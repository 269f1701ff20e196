"""What a person's judgement of memories changes: that they are true, that they are not, that they were until some day. Pure.

`hybrid_memory.service.acts.Acts` hands `decide_judge` to the store, which calls it in its transaction.

- True: trusted as `confirmed`, which nothing but another confirmed memory replaces. What disputed a memory takes its place now. What was
  said in passing is promoted.
- Untrue: forgotten, with the verdict kept on it. What it had replaced is current again: the verdict is on these words, not on those before.
  Where another of its authority holds its key by now, it stays replaced.
- Ended: it holds until that moment and is no longer found; who asks ``as_of`` an earlier one finds it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hybrid_memory.decisions.edit import current
from hybrid_memory.decisions.forgetting import Lookups, existing, held_by_equals, superseded_by_it, tier_outside_buffers
from hybrid_memory.decisions.tier_context import buffers_without
from hybrid_memory.decisions.write import superseded
from hybrid_memory.errors import InvalidInput
from hybrid_memory.model import Memory, MemoryId, Scope, Tier, Trust, Verdict
from hybrid_memory.requests import ActResult, JudgeRequest
from hybrid_memory.store.writing import Update, WriteBatch

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from hybrid_memory.store.writing import WriteView


def decide_judge(request: JudgeRequest, scope: Scope, lookups: Lookups, view: WriteView) -> WriteBatch:
    """Return what a checked judgement changes.

    Raises:
        NotFound: a memory does not exist here; to confirm or end one that is forgotten, bring it back first.
        InvalidInput: it is not the newest version, or ended before it began.
    """
    if request.verdict is Verdict.UNTRUE:
        return _untrue(request.ids, scope, lookups, view)
    named = [current(view, one, f"ids.{at}") for at, one in enumerate(request.ids)]
    if request.verdict is Verdict.ENDED:
        return _ended(named, request.until or view.now, scope)
    return _true(named, scope, view)


def _true(named: Sequence[Memory], scope: Scope, view: WriteView) -> WriteBatch:
    disputed = view.get([one.disputes for one in named if one.disputes is not None])
    judged = {one.id for one in named}
    confirmed, replaced = [], {}
    for one in named:
        better = disputed.get(one.disputes) if one.disputes is not None else None
        tier = Tier.LONG_TERM if one.is_episode else one.tier
        after = replace(one, trust=Trust.CONFIRMED, verdict=Verdict.TRUE, expires_at=_end_of(one), tier=tier)
        # Of two that say otherwise, the person may call both true: then they appear next to each other, and the dispute stays.
        if better is not None and better.id not in judged and _is_current(better):
            if better.id not in replaced:
                replaced[better.id] = Update(superseded(better, one.id))
                after = replace(after, supersedes=one.supersedes or better.id)
            after = replace(after, disputes=None)
        confirmed.append(after)
    changed = [(before, after) for before, after in zip(named, confirmed, strict=True) if before != after]
    return WriteBatch(
        action="judge",
        actor=scope.actor,
        updates=(*(Update(after, "called true") for _, after in changed), *replaced.values()),
        buffers=buffers_without(
            view, [*(disputed[one] for one in replaced), *(one for one in named if one.is_episode)]
        ),
        result=ActResult(
            action="judge",
            ids=tuple(after.id for _, after in changed),
            before=tuple(replaced),
            unchanged=tuple(before.id for before, after in zip(named, confirmed, strict=True) if before == after),
        ),
    )


def _ended(named: Sequence[Memory], until: datetime, scope: Scope) -> WriteBatch:
    for at, one in enumerate(named):
        if one.occurred_at is not None and until < one.occurred_at:
            raise InvalidInput("until", f"lies before it began (ids.{at})")
    changed = [one for one in named if (one.expires_at, one.verdict) != (until, Verdict.ENDED)]
    return WriteBatch(
        action="judge",
        actor=scope.actor,
        updates=tuple(Update(replace(one, expires_at=until, verdict=Verdict.ENDED)) for one in changed),
        result=ActResult(
            action="judge",
            ids=tuple(one.id for one in changed),
            unchanged=tuple(one.id for one in named if one not in changed),
        ),
    )


def _untrue(ids: Sequence[MemoryId], scope: Scope, lookups: Lookups, view: WriteView) -> WriteBatch:
    named = {one.id: one for one in existing(view, ids)}
    judged = [one for one in named.values() if one.verdict is not Verdict.UNTRUE or one.forgotten_at is None]
    live = [one for one in judged if one.forgotten_at is None]
    # Of what was split all parts stand for the whole: that one of them is untrue brings the whole back as little as the others.
    before = {
        old.id: old
        for one in live
        for old in superseded_by_it(one, view, lookups)
        if old.superseded_by == one.id and old.forgotten_at is None and old.id not in (*one.parents, *named)
    }
    held = held_by_equals(before.values(), named, lookups, view)
    revived = {id_: old for id_, old in before.items() if id_ not in held}
    return WriteBatch(
        action="judge",
        actor=scope.actor,
        updates=(
            *(Update(_set_aside(one, view.now)) for one in judged),
            *(Update(replace(old, superseded_by=None)) for old in revived.values()),
        ),
        buffers=buffers_without(view, live),
        result=ActResult(
            action="judge",
            ids=tuple(one.id for one in judged),
            unchanged=tuple(one.id for one in named.values() if one not in judged),
            revived=tuple(revived),
            held=held,
        ),
    )


def _set_aside(memory: Memory, now: datetime) -> Memory:
    forgotten_at = memory.forgotten_at or now
    return replace(memory, forgotten_at=forgotten_at, tier=tier_outside_buffers(memory.tier), verdict=Verdict.UNTRUE)


def _end_of(memory: Memory) -> datetime | None:
    """Return until when a memory holds that is called true: one that was called over is over no more."""
    return None if memory.verdict is Verdict.ENDED else memory.expires_at


def _is_current(memory: Memory) -> bool:
    return memory.forgotten_at is None and memory.superseded_by is None
