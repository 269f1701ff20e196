"""Short-term memory: what resembles a held item enhances it, and enough enhancement moves it to long-term.

The rules are those of DB-GPT's ``EnhancedShortTermMemory`` (version 0.8.2), as pure functions of buffer, newcomer and
draws, with its faults mended: items without importance are evicted first instead of raising, a size of 0 works, what is
evicted is reported, and only the evicted item itself leaves the other items' enhancers, not every item of the same text.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from hybrid_memory.errors import InvalidInput
from hybrid_memory.model import MemoryId
from hybrid_memory.tiers.state import BufferEntry, Item


class Operation(StrEnum):
    """Why an item is offered: it is new (and joins the buffer), or it was recalled (and only enhances)."""

    ADD = "add"
    RETRIEVAL = "retrieval"


@dataclass(frozen=True, slots=True, kw_only=True)
class ShortTermRules:
    """Settings of short-term memory.

    ``enhance_similarity_threshold`` is compared with `probability`, not with the similarity itself; a perfect match has
    a probability of 0.731, so a larger threshold is never met. ``enhance_threshold`` enhancements move an item on.
    ``purge_same_text``: an eviction removes the evicted text, not only the evicted item, from the others' enhancers.

    Raises:
        InvalidInput: the size is negative, or the number of enhancements below 1.
    """

    buffer_size: int = 10
    enhance_similarity_threshold: float = 0.7
    enhance_threshold: int = 3
    purge_same_text: bool = False

    def __post_init__(self) -> None:
        if self.buffer_size < 0:
            raise InvalidInput("buffer_size", "must be 0 or more")
        if self.enhance_threshold < 1:
            raise InvalidInput("enhance_threshold", "must be 1 or more")


@dataclass(frozen=True, slots=True)
class Comparison:
    """How the newcomer fared against one held item; ``draw`` is None where none was made."""

    similarity: float
    probability: float
    draw: float | None
    enhanced: bool


@dataclass(frozen=True, slots=True)
class Transfer:
    """A group that moves to long-term.

    ``members`` are the head's enhancers in order, the current newcomer last. The group's importance is the head's.
    """

    head: BufferEntry
    members: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class Step:
    """The buffer after one offer, and what happened on the way: comparisons in buffer order, transfers, evictions."""

    held: tuple[BufferEntry, ...]
    comparisons: tuple[Comparison, ...]
    transfers: tuple[Transfer, ...]
    evicted: tuple[BufferEntry, ...]


def probability(similarity: float) -> float:
    """Return the logistic function of a similarity; not-a-number (a text without a vector) stays not-a-number."""
    if similarity >= 0:
        return 1 / (1 + math.exp(-similarity))
    grown = math.exp(similarity)
    return grown / (1 + grown)


def offer(
    held: tuple[BufferEntry, ...],
    incoming: Item,
    similarities: Sequence[float],
    draws: Iterator[float],
    rules: ShortTermRules,
    operation: Operation = Operation.ADD,
    certain: Collection[MemoryId] = (),
) -> Step:
    """Offer an item to short-term memory and return what follows.

    ``similarities`` are the cosines of the newcomer with each held item, in buffer order; not-a-number says that one of
    the two has no vector, and never enhances. A draw in 0..1 is taken exactly when the probability reaches the
    threshold, and the held item is enhanced when the draw lies below the probability. BufferEntry ids in ``certain`` are
    enhanced without a draw.

    Raises:
        InvalidInput: there is not one similarity for each held item, or the draws ran out.
    """
    if len(similarities) != len(held):
        raise InvalidInput("similarities", "must be one for each held item")
    comparisons = tuple(
        _compare(similarity, draws, rules, certain=one.item.id in certain)
        for one, similarity in zip(held, similarities, strict=True)
    )
    enhanced = (
        BufferEntry(one.item, one.count + 1, (*one.enhancers, incoming)) if comparison.enhanced else one
        for one, comparison in zip(held, comparisons, strict=True)
    )
    staying: list[BufferEntry] = []
    transfers: list[Transfer] = []
    for one in enhanced:
        if one.count >= rules.enhance_threshold:
            transfers.append(Transfer(one, one.enhancers))
        else:
            staying.append(one)
    evicted: tuple[BufferEntry, ...] = ()
    if operation is Operation.ADD:
        staying.append(BufferEntry(incoming))
        evicted = _shrink(staying, rules)
    return Step(tuple(staying), comparisons, tuple(transfers), evicted)


def append_plain(held: tuple[Item, ...], incoming: Item, buffer_size: int) -> tuple[tuple[Item, ...], tuple[Item, ...]]:
    """Append to a first-in-first-out buffer; return what is held now and what fell out, oldest first."""
    together = (*held, incoming)
    overflow = max(0, len(together) - buffer_size)
    return together[overflow:], together[:overflow]


def _compare(similarity: float, draws: Iterator[float], rules: ShortTermRules, *, certain: bool) -> Comparison:
    chance = probability(similarity)
    if certain:
        return Comparison(similarity, chance, None, enhanced=True)
    if not chance >= rules.enhance_similarity_threshold:
        return Comparison(similarity, chance, None, enhanced=False)
    draw = next(draws, None)
    if draw is None:
        raise InvalidInput("draws", "ran out before every held item was compared")
    return Comparison(similarity, chance, draw, enhanced=draw < chance)


def _shrink(staying: list[BufferEntry], rules: ShortTermRules) -> tuple[BufferEntry, ...]:
    """Evict from ``staying`` until it fits, the newest one last of all, and forget the evicted as enhancers."""
    evicted: list[BufferEntry] = []
    while len(staying) > rules.buffer_size:
        candidates = range(max(1, len(staying) - 1))
        worst = min(candidates, key=lambda at: _rank(staying[at]))
        gone = staying.pop(worst)
        evicted.append(gone)
        staying[:] = [_without(one, gone.item, rules) for one in staying]
    return tuple(evicted)


def _rank(one: BufferEntry) -> tuple[float, int]:
    importance = one.item.importance
    unrated = importance is None or math.isnan(importance)
    return (-math.inf if unrated or importance is None else importance, one.count)


def _without(one: BufferEntry, gone: Item, rules: ShortTermRules) -> BufferEntry:
    if rules.purge_same_text:
        left = tuple(item for item in one.enhancers if item.text != gone.text)
    else:
        left = tuple(item for item in one.enhancers if item.id != gone.id)
    return BufferEntry(one.item, one.count - len(one.enhancers) + len(left), left)
