"""How a memory moves through the buffers of one session's agent, and why it leaves them. Pure.

Called by `hybrid_memory.decisions`: `admit` for a new observation, `repeat`, `recall` and `end_session`.

The rules of each buffer are the reference's (`tiers.buffers`). One thing differs: where the reference loses what leaves a buffer,
it goes on to long-term here when somebody decided to keep it, or it earned that, and otherwise fades, which keeps it findable.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

from hybrid_memory.model import MemoryId, Moved, Tier
from hybrid_memory.tiers.buffers import (
    BufferEntry,
    Buffers,
    Item,
    Operation,
    ShortTermRules,
    add_to_sensory,
    enhance_probability,
    offer_to_short_term,
    split_by_score,
)

if TYPE_CHECKING:
    from hybrid_memory.settings import StoreSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowRules:
    """Sizes and thresholds.

    A leaving memory is kept in long-term from ``earned_importance`` or ``earned_uses`` on; with ``keeps_decisions`` also what somebody
    decided to keep.
    """

    sensory_buffer: int = 4
    threshold_to_short_term: float = 0.1
    short_term: ShortTermRules = field(default_factory=ShortTermRules)
    earned_importance: float = 0.7
    earned_uses: int = 2
    keeps_decisions: bool = True


def flow_rules(settings: StoreSettings) -> FlowRules:
    """Return the rules that a store's settings choose."""
    return FlowRules(
        sensory_buffer=settings.sensory_buffer,
        threshold_to_short_term=settings.threshold_to_short_term,
        short_term=ShortTermRules(
            buffer_size=settings.short_term_buffer,
            enhance_similarity_threshold=settings.enhance_similarity_threshold,
            enhance_threshold=settings.enhance_threshold,
        ),
        earned_uses=settings.earned_uses,
        keeps_decisions=settings.keeps_decisions,
    )


class TierContext(Protocol):
    """What the rules ask about memories."""

    def similarity(self, first: MemoryId, second: MemoryId) -> float:
        """Return the cosine of two memories; NaN when one has no vector."""
        ...

    def draw(self, first: MemoryId, second: MemoryId) -> float:
        """Return the draw of a pair, in [0, 1)."""
        ...

    def uses(self, memory_id: MemoryId) -> int:
        """Return how often a memory was recalled or repeated."""
        ...

    def pinned(self, memory_id: MemoryId) -> bool:
        """Return True if a memory is pinned."""
        ...

    def is_decided(self, memory_id: MemoryId) -> bool:
        """Return True if somebody who is trusted decided to keep a memory; False for what was said in passing."""
        ...


@dataclass(frozen=True, slots=True)
class FlowResult:
    """The buffers after a step and what moved, one entry a memory, in the order in which they moved first."""

    buffers: Buffers
    moved: tuple[Moved, ...] = ()

    def tier_of(self, memory_id: MemoryId, before: Tier) -> Tier:
        """Return where a memory comes after the step."""
        return next((move.after for move in self.moved if move.id == memory_id), before)


def admit(buffers: Buffers, item: Item, context: TierContext, rules: FlowRules) -> FlowResult:
    """Let a new observation in. It starts in the sensory buffer; a full one is weighed and emptied into short-term."""
    sensory, released = add_to_sensory(buffers.sensory, item, rules.sensory_buffer)
    kept, dropped = split_by_score(released, [one.importance or 0.0 for one in released], rules.threshold_to_short_term)
    moves = _Moves()
    for one in dropped:
        _evict(moves, one, Tier.SENSORY, "below the threshold of short-term", context, rules)
    short_term = buffers.short_term
    for one in kept:
        moves.add(one.id, Tier.SENSORY, Tier.SHORT_TERM, "the sensory buffer was full")
        short_term = _offer(moves, short_term, one, Operation.ADD, context, rules)
    return FlowResult(Buffers(sensory, short_term), moves.collapsed())


def repeat(buffers: Buffers, item: Item, tier: Tier, context: TierContext, rules: FlowRules) -> FlowResult:
    """Count the same words said again: in short-term as an enhancement for certain, elsewhere by drawing it there."""
    moves = _Moves()
    if any(one.item.id == item.id for one in buffers.short_term):
        entries = with_new_version(buffers, item.id, item).short_term
        short_term = _offer(moves, entries, item, Operation.RETRIEVAL, context, rules, certain={item.id})
        return FlowResult(Buffers(buffers.sensory, short_term), moves.collapsed())
    if tier not in (Tier.SENSORY, Tier.FADED):
        return FlowResult(buffers)
    sensory = tuple(one for one in buffers.sensory if one.id != item.id)
    moves.add(item.id, tier, Tier.SHORT_TERM, "repeated")
    short_term = _offer(moves, buffers.short_term, item, Operation.ADD, context, rules)
    counted = tuple(replace(one, count=one.count + 1) if one.item.id == item.id else one for one in short_term)
    return FlowResult(Buffers(sensory, counted), moves.collapsed())


def recall(buffers: Buffers, item: Item, tier: Tier, context: TierContext, rules: FlowRules) -> FlowResult:
    """Offer a recalled memory to short-term; a faded one that was used often enough comes back up."""
    moves = _Moves()
    short_term = buffers.short_term
    if all(one.item.id != item.id for one in short_term) and all(one.id != item.id for one in buffers.sensory):
        short_term = _offer(moves, short_term, item, Operation.RETRIEVAL, context, rules)
    if tier is Tier.FADED and context.uses(item.id) >= rules.earned_uses:
        moves.add(item.id, Tier.FADED, Tier.LONG_TERM, "recalled again")
    return FlowResult(Buffers(buffers.sensory, short_term), moves.collapsed())


def end_session(buffers: Buffers, context: TierContext, rules: FlowRules) -> FlowResult:
    """End the session: what earned it goes to long-term, the rest fades, the buffers are empty."""
    moves = _Moves()
    for item in buffers.sensory:
        _evict(moves, item, Tier.SENSORY, "the session ended", context, rules)
    for entry in buffers.short_term:
        _evict(moves, entry.item, Tier.SHORT_TERM, "the session ended", context, rules, count=entry.count)
    return FlowResult(Buffers(), moves.collapsed())


def without_memories(buffers: Buffers, ids: Collection[MemoryId]) -> Buffers:
    """Return the buffers without some memories, as holders and as enhancers."""
    return Buffers(
        tuple(item for item in buffers.sensory if item.id not in ids),
        tuple(_without_enhancers(entry, ids) for entry in buffers.short_term if entry.item.id not in ids),
    )


def with_new_version(buffers: Buffers, old: MemoryId, new: Item) -> Buffers:
    """Return the buffers with a memory's new version in its place."""
    return Buffers(
        tuple(new if item.id == old else item for item in buffers.sensory),
        tuple(replace(entry, item=new) if entry.item.id == old else entry for entry in buffers.short_term),
    )


def _without_enhancers(entry: BufferEntry, ids: Collection[MemoryId]) -> BufferEntry:
    enhancers = tuple(item for item in entry.enhancers if item.id not in ids)
    removed = len(entry.enhancers) - len(enhancers)
    return replace(entry, count=entry.count - removed, enhancers=enhancers) if removed else entry


def _offer(
    moves: _Moves,
    short_term: tuple[BufferEntry, ...],
    item: Item,
    operation: Operation,
    context: TierContext,
    rules: FlowRules,
    certain: Collection[MemoryId] = (),
) -> tuple[BufferEntry, ...]:
    """Offer an item to short-term and note what moved on from there."""
    similarities = [context.similarity(entry.item.id, item.id) for entry in short_term]
    draws = _draws(short_term, item, similarities, context.draw, rules.short_term, certain)
    step = offer_to_short_term(short_term, item, similarities, draws, rules.short_term, operation, certain)
    for transfer in step.transfers:
        head = transfer.head.item
        members = tuple(dict.fromkeys(member.id for member in transfer.members if member.id != head.id))
        moves.add(head.id, Tier.SHORT_TERM, Tier.LONG_TERM, f"enhanced {transfer.head.count} times", members)
    for entry in step.evicted:
        _evict(moves, entry.item, Tier.SHORT_TERM, "the short-term buffer was full", context, rules, count=entry.count)
    return step.entries


def _draws(
    short_term: tuple[BufferEntry, ...],
    item: Item,
    similarities: list[float],
    draw: Callable[[MemoryId, MemoryId], float],
    rules: ShortTermRules,
    certain: Collection[MemoryId],
) -> Iterator[float]:
    """Yield the draws that `offer_to_short_term` will ask for, in its order, each from the pair it is for."""
    for entry, similarity in zip(short_term, similarities, strict=True):
        if entry.item.id not in certain and enhance_probability(similarity) >= rules.enhance_similarity_threshold:
            yield draw(entry.item.id, item.id)


def _evict(
    moves: _Moves, item: Item, before: Tier, reason: str, context: TierContext, rules: FlowRules, *, count: int = 0
) -> None:
    why = _promotion_reason(item, context, rules, count)
    if why is None:
        moves.add(item.id, before, Tier.FADED, reason)
    else:
        moves.add(item.id, before, Tier.LONG_TERM, f"{reason}; {why}")


def _promotion_reason(item: Item, context: TierContext, rules: FlowRules, count: int) -> str | None:
    if context.pinned(item.id):
        return "pinned"
    if (item.importance or 0.0) >= rules.earned_importance:
        return "important"
    if context.uses(item.id) + count >= rules.earned_uses:
        return "used"
    weighs = (item.importance or 0.0) >= rules.threshold_to_short_term
    if rules.keeps_decisions and weighs and context.is_decided(item.id):
        return "kept on purpose"
    return None


class _Moves:
    """Collects moves and joins the several moves of one memory into one."""

    def __init__(self) -> None:
        self._moves: dict[MemoryId, Moved] = {}

    def add(
        self, memory_id: MemoryId, before: Tier, after: Tier, reason: str, members: tuple[MemoryId, ...] = ()
    ) -> None:
        first = self._moves.get(memory_id)
        self._moves[memory_id] = Moved(
            id=memory_id,
            before=first.before if first else before,
            after=after,
            reason=reason,
            members=members or (first.members if first else ()),
        )

    def collapsed(self) -> tuple[Moved, ...]:
        return tuple(move for move in self._moves.values() if move.before is not move.after)
