"""Sensory and short-term memory: the pure rules of `hybrid_memory.tiers` around fragments."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from datetime import datetime

from hybrid_memory.errors import InvalidInput
from hybrid_memory.ids import pair_draw
from hybrid_memory.model import MemoryId
from hybrid_memory.tiers.buffers import (
    BufferEntry,
    Item,
    OfferResult,
    ShortTermRules,
    add_to_sensory,
    append_fifo,
    enhance_probability,
    offer_to_short_term,
    split_by_score,
)
from hybrid_memory_dbgpt.async_tools import run_blocking
from hybrid_memory_dbgpt.embeddings import Embeddings, TextEmbedder, cosines
from hybrid_memory_dbgpt.fragments import DiscardedMemoryFragments, MemoryFragment, WriteOperation
from hybrid_memory_dbgpt.memory_base import Memory, copies


@dataclass(frozen=True, slots=True)
class BufferSnapshot:
    """A buffer at one moment, to be restored when a later step fails."""

    held: tuple[BufferEntry, ...]
    fragments: Mapping[MemoryId, MemoryFragment]


class SensoryMemory(Memory):
    """Takes everything in; when more than ``buffer_size`` are held, all are weighed and let go.

    Those of at least ``threshold_to_short_term`` are handed on, the rest is reported as faded. A fragment that came with
    an importance keeps it; the others are rated when they arrive, so a slow rating holds up nobody else's writes.
    """

    importance_weight = 0.9

    def __init__(self, buffer_size: int = 0, threshold_to_short_term: float = 0.1) -> None:
        super().__init__()
        if buffer_size < 0:
            raise InvalidInput("buffer_size", "must be 0 or more")
        self.buffer_size = buffer_size
        self.threshold_to_short_term = threshold_to_short_term
        self._held: tuple[Item, ...] = ()
        self._fragments: dict[MemoryId, MemoryFragment] = {}
        self._scores: dict[MemoryId, float] = {}

    @property
    def fragments(self) -> list[MemoryFragment]:
        """What is held, oldest first."""
        return [self._fragments[item.id] for item in self._held]

    def structure_clone(self, now: datetime | None = None) -> SensoryMemory:
        """Return an empty sensory memory with the same settings."""
        del now
        return SensoryMemory(self.buffer_size, self.threshold_to_short_term).with_settings_of(self)

    async def write(
        self, memory_fragment: MemoryFragment, now: datetime | None = None, op: WriteOperation = WriteOperation.ADD
    ) -> DiscardedMemoryFragments | None:
        """Take a fragment in; return what was handed on and what faded if that made the buffer overflow."""
        del now, op
        await self.weigh([memory_fragment])
        return self.take(memory_fragment)

    async def weigh(self, fragments: Sequence[MemoryFragment]) -> None:
        """Rate the fragments that have no importance yet and remember the ratings until they leave."""
        unrated = [one for one in fragments if one.importance is None and one.id not in self._scores]
        if unrated:
            scores = await self.score_memory_importance(unrated)
            self._scores.update((one.id, score) for one, score in zip(unrated, scores, strict=True))

    def hands_on(self, fragment: MemoryFragment) -> list[MemoryFragment]:
        """Return what `take` would hand on for this weighed fragment."""
        _, released = add_to_sensory(self._held, _item(fragment), self.buffer_size)
        going = [*self.fragments, fragment] if released else []
        return [one for one in going if self._score(one) >= self.threshold_to_short_term]

    def take(self, fragment: MemoryFragment) -> DiscardedMemoryFragments | None:
        """Do what `write` does for a weighed fragment, without waiting for anything."""
        self._held, released = add_to_sensory(self._held, _item(fragment), self.buffer_size)
        self._fragments[fragment.id] = fragment
        if not released:
            return None
        scores = [self._score(self._fragments[item.id]) for item in released]
        kept, dropped = split_by_score(released, scores, self.threshold_to_short_term)
        for item, score in zip(released, scores, strict=True):
            self._fragments[item.id].update_importance(score)
        left = DiscardedMemoryFragments(
            fragments=[self._fragments[item.id] for item in kept], faded=[self._fragments[item.id] for item in dropped]
        )
        self._fragments = {}
        for item in released:
            self._scores.pop(item.id, None)
        return left

    async def read(
        self, observation: str, alpha: float | None = None, beta: float | None = None, gamma: float | None = None
    ) -> list[MemoryFragment]:
        """Return everything held, oldest first, whatever the observation."""
        del observation, alpha, beta, gamma
        return self.fragments

    async def clear(self) -> list[MemoryFragment]:
        """Let go of everything and return it."""
        left = self.fragments
        self.restore(BufferSnapshot((), {}))
        self._scores = {}
        return left

    def snapshot(self) -> BufferSnapshot:
        """Return the present state."""
        return BufferSnapshot(tuple(BufferEntry(item) for item in self._held), dict(self._fragments))

    def restore(self, state: BufferSnapshot) -> None:
        """Go back to a state."""
        self._held = tuple(entry.item for entry in state.held)
        self._fragments = dict(state.fragments)

    def _score(self, fragment: MemoryFragment) -> float:
        if fragment.importance is not None:
            return fragment.importance
        if fragment.id not in self._scores:
            raise InvalidInput("fragments", "must be weighed before they are taken")
        return self._scores[fragment.id]


class ShortTermMemory(Memory):
    """The last ``buffer_size`` fragments, first in, first out. What falls out is handed on."""

    def __init__(self, buffer_size: int = 5) -> None:
        super().__init__()
        if buffer_size < 0:
            raise InvalidInput("buffer_size", "must be 0 or more")
        self.buffer_size = buffer_size
        self._held: tuple[BufferEntry, ...] = ()
        self._fragments: dict[MemoryId, MemoryFragment] = {}

    @property
    def embedder_identity(self) -> str | None:
        """Name of what makes the vectors of this memory; None if it needs none."""
        return None

    @property
    def held(self) -> tuple[BufferEntry, ...]:
        """What is held, oldest first, with the enhancements of each."""
        return self._held

    @property
    def fragments(self) -> list[MemoryFragment]:
        """What is held, oldest first."""
        return [self._fragments[entry.item.id] for entry in self._held]

    @property
    def short_term_memories(self) -> list[MemoryFragment]:
        """What DB-GPT calls ``fragments``."""
        return self.fragments

    def structure_clone(self, now: datetime | None = None) -> ShortTermMemory:
        """Return an empty short-term memory with the same settings."""
        del now
        return ShortTermMemory(self.buffer_size).with_settings_of(self)

    async def write(
        self, memory_fragment: MemoryFragment, now: datetime | None = None, op: WriteOperation = WriteOperation.ADD
    ) -> DiscardedMemoryFragments | None:
        """Append a fragment; return what fell out, with its insights, or None. A recalled fragment is not appended.

        What the insight extractor raises passes through; what fell out is then still held.
        """
        del now
        left = self.take(memory_fragment, op)
        if not left.fragments:
            return None
        known = {one.id: one for one in left.fragments}
        return await self._with_insights(left, [BufferEntry(_item(one)) for one in left.fragments], known)

    async def prepare(self, fragments: Sequence[MemoryFragment]) -> None:
        """Get what `take` needs to know about fragments; this class needs nothing."""
        del fragments

    def take(self, fragment: MemoryFragment, op: WriteOperation) -> DiscardedMemoryFragments:
        """Do what `write` does, without insights and without waiting for anything."""
        if op is WriteOperation.RETRIEVAL:
            return DiscardedMemoryFragments()
        self._fragments[fragment.id] = fragment
        kept, fallen = append_fifo(tuple(entry.item for entry in self._held), _item(fragment), self.buffer_size)
        left = DiscardedMemoryFragments(fragments=[self._fragments[item.id] for item in fallen])
        self._keep(tuple(BufferEntry(item) for item in kept))
        return left

    async def read(
        self, observation: str, alpha: float | None = None, beta: float | None = None, gamma: float | None = None
    ) -> list[MemoryFragment]:
        """Return copies of everything held, oldest first, whatever the observation."""
        del observation, alpha, beta, gamma
        return copies(self.fragments)

    async def clear(self) -> list[MemoryFragment]:
        """Let go of everything and return it."""
        left = self.fragments
        self.restore(BufferSnapshot((), {}))
        return left

    def snapshot(self) -> BufferSnapshot:
        """Return the present state."""
        return BufferSnapshot(self._held, dict(self._fragments))

    def restore(self, state: BufferSnapshot) -> None:
        """Go back to a state."""
        self._fragments = dict(state.fragments)
        self._keep(state.held)

    async def _with_insights(
        self, left: DiscardedMemoryFragments, removed: Sequence[BufferEntry], known: Mapping[MemoryId, MemoryFragment]
    ) -> DiscardedMemoryFragments:
        """Add the insights, or put what was removed back at the front of the buffer and pass the failure on."""
        try:
            left.insights = await self.get_insights(left.fragments)
        except BaseException:
            self._fragments = {**known, **self._fragments}
            self._keep((*removed, *self._held))
            raise
        return left

    def _keep(self, held: tuple[BufferEntry, ...]) -> None:
        """Hold these, and only the fragments that they speak of."""
        self._held = held
        known = [one.item.id for one in held] + [item.id for one in held for item in one.enhancers]
        self._fragments = {one: self._fragments[one] for one in known if one in self._fragments}


class EnhancedShortTermMemory(ShortTermMemory):
    """Short-term memory in which likeness counts: what is said again and again moves on to long-term.

    A newcomer enhances each held fragment with the probability ``1 / (1 + exp(-cosine))`` if that reaches
    ``enhance_similarity_threshold``; ``enhance_threshold`` enhancements merge a fragment with what enhanced it. On
    overflow the least important (those without importance first), least enhanced, oldest fragment but the newest is
    evicted and reported as faded. ``draws`` are numbers in [0, 1) that decide; without them they follow from the ids of
    the two fragments.

    Raises:
        InvalidInput: a size is negative, or the number of enhancements below 1.
    """

    def __init__(
        self,
        embeddings: Embeddings,
        executor: Executor | None = None,
        buffer_size: int = 10,
        enhance_similarity_threshold: float = 0.7,
        enhance_threshold: int = 3,
        *,
        draws: Iterator[float] | None = None,
    ) -> None:
        super().__init__(buffer_size)
        self.rules = ShortTermRules(
            buffer_size=buffer_size,
            enhance_similarity_threshold=enhance_similarity_threshold,
            enhance_threshold=enhance_threshold,
        )
        highest = enhance_probability(1.0)
        if enhance_similarity_threshold > highest:
            warnings.warn(
                f"enhance_similarity_threshold {enhance_similarity_threshold} can never be met: it is compared with a "
                f"probability, which is {highest:.4f} for equal texts. Nothing will be consolidated.",
                stacklevel=2,
            )
        self._embeddings = embeddings
        self._executor = executor
        self._draws = draws

    @property
    def embedder_identity(self) -> str:
        """Name of what makes the vectors of this memory."""
        return TextEmbedder(self._embeddings).identity

    def structure_clone(self, now: datetime | None = None) -> EnhancedShortTermMemory:
        """Return an empty short-term memory with the same settings and embedder."""
        del now
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            twin = type(self)(
                self._embeddings,
                self._executor,
                self.buffer_size,
                self.rules.enhance_similarity_threshold,
                self.rules.enhance_threshold,
                draws=self._draws,
            )
        return twin.with_settings_of(self)

    async def write(
        self, memory_fragment: MemoryFragment, now: datetime | None = None, op: WriteOperation = WriteOperation.ADD
    ) -> DiscardedMemoryFragments:
        """Offer a fragment; return the merged fragments with their insights, and what was evicted.

        A recalled fragment (``op`` retrieval) enhances but is not appended. What the embedder raises passes through and
        leaves the buffer as it was; what the insight extractor raises passes through too, and the fragment that was to
        be merged is still held.
        """
        del now
        await self.prepare([memory_fragment])
        before = self.snapshot()
        left = self.take(memory_fragment, op)
        if left.fragments:
            still_known = {entry.item.id for entry in self._held} | {fragment.id for fragment in left.faded}
            merged = [entry for entry in before.held if entry.item.id not in still_known]
            return await self._with_insights(left, merged, before.fragments)
        return left

    async def prepare(self, fragments: Sequence[MemoryFragment]) -> None:
        """Embed the fragments that have no vector yet."""
        missing = [one for one in fragments if one.embeddings is None]
        if missing:
            embedder = TextEmbedder(self._embeddings)
            rows = await run_blocking(self._executor, lambda: embedder.raw([one.raw_observation for one in missing]))
            for one, row in zip(missing, rows, strict=True):
                one.update_embeddings(row)

    def take(self, fragment: MemoryFragment, op: WriteOperation) -> DiscardedMemoryFragments:
        """Do what `write` does for a prepared fragment, without insights and without waiting for anything."""
        if fragment.embeddings is None:
            raise InvalidInput("fragment", "must be prepared before it is taken")
        vectors = [one.embeddings for one in self.fragments]
        similarities = cosines([one for one in vectors if one is not None], fragment.embeddings)
        incoming = _item(fragment)
        step = self._offer(incoming, similarities, self._draws or self._pair_draws(incoming, similarities), op)
        known = {**self._fragments, fragment.id: fragment}
        merged = [
            type(known[transfer.head.item.id]).reduce(
                [known[transfer.head.item.id], *(known[item.id] for item in transfer.members)],
                importance=transfer.head.item.importance,
            )
            for transfer in step.transfers
        ]
        self._fragments = known
        self._keep(step.entries)
        return DiscardedMemoryFragments(fragments=merged, faded=[known[entry.item.id] for entry in step.evicted])

    def _offer(
        self, incoming: Item, similarities: Sequence[float], draws: Iterator[float], op: WriteOperation
    ) -> OfferResult:
        """Apply the rule; a subclass may watch it."""
        return offer_to_short_term(self._held, incoming, similarities, draws, self.rules, op)

    def _pair_draws(self, incoming: Item, similarities: Sequence[float]) -> Iterator[float]:
        threshold = self.rules.enhance_similarity_threshold
        return (
            pair_draw(entry.item.id, incoming.id)
            for entry, similarity in zip(self._held, similarities, strict=True)
            if enhance_probability(similarity) >= threshold
        )


def _item(fragment: MemoryFragment) -> Item:
    return Item(fragment.id, fragment.raw_observation, fragment.importance)
