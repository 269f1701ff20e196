"""The attention buffers: their values, the rule of each buffer, and their text for the store. Pure.

A new memory passes them in this order:

1. sensory memory takes everything in and lets all of it go at once when it overflows (`add_to_sensory`); what scores too low
   goes no further (`split_by_score`). The rule of DB-GPT's ``SensoryMemory``.
2. short-term memory is enhanced by what resembles a memory in it; enough enhancement moves a group to long-term
   (`offer_to_short_term`). The rule of DB-GPT's ``EnhancedShortTermMemory`` (version 0.8.2) with its faults mended: items
   without importance are evicted first instead of raising, a size of 0 works, what is evicted is reported, and only the
   evicted item itself leaves the other items' enhancers, not every item of the same text.

`tiers.flow` joins the two for `MemoryService`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from hybrid_memory.errors import InvalidInput, StoreDamaged
from hybrid_memory.ids import is_id
from hybrid_memory.model import MemoryId

_FORMAT_VERSION = 1  # of the text in the store; another version is refused as damaged


@dataclass(frozen=True, slots=True)
class Item:
    """What the tier rules see of a memory. ``importance`` None says that nobody has rated it yet."""

    id: MemoryId
    text: str
    importance: float | None


@dataclass(frozen=True, slots=True)
class BufferEntry:
    """A memory in short-term with the number of its enhancements and the memories that gave them, oldest first."""

    item: Item
    count: int = 0
    enhancers: tuple[Item, ...] = ()


@dataclass(frozen=True, slots=True)
class Buffers:
    """Sensory and short-term memory of one session's agent, oldest first."""

    sensory: tuple[Item, ...] = ()
    short_term: tuple[BufferEntry, ...] = ()


def add_to_sensory(
    buffered: tuple[Item, ...], item: Item, buffer_size: int
) -> tuple[tuple[Item, ...], tuple[Item, ...]]:
    """Add an item; return what is in the buffer now and what is released: everything on overflow, else nothing.

    A size of 0 releases every item at once.
    """
    all_items = (*buffered, item)
    if len(all_items) > buffer_size:
        return (), all_items
    return all_items, ()


def split_by_score(
    released: Sequence[Item], scores: Sequence[float], threshold: float
) -> tuple[tuple[Item, ...], tuple[Item, ...]]:
    """Split released items by score: those at or above ``threshold`` with the score as their importance, then the rest.

    The rest is returned as it came, so that the caller can keep it elsewhere. A score that is not a number is below
    every threshold.

    Raises:
        InvalidInput: there is not one score for each item.
    """
    if len(released) != len(scores):
        raise InvalidInput("scores", "must be one for each released item")
    kept: list[Item] = []
    dropped: list[Item] = []
    for item, score in zip(released, scores, strict=True):
        if score >= threshold:
            kept.append(replace(item, importance=score))
        else:
            dropped.append(item)
    return tuple(kept), tuple(dropped)


class Operation(StrEnum):
    """Why an item is offered: it is new (and joins the buffer), or it was recalled (and only enhances)."""

    ADD = "add"
    RETRIEVAL = "retrieval"


@dataclass(frozen=True, slots=True, kw_only=True)
class ShortTermRules:
    """Settings of short-term memory.

    ``enhance_similarity_threshold`` is compared with `probability`, not with the similarity itself; a perfect match has
    a probability of 0.731, so a larger threshold is never met. ``enhance_threshold`` enhancements move an item on.

    Raises:
        InvalidInput: the size is negative, or the number of enhancements below 1.
    """

    buffer_size: int = 10
    enhance_similarity_threshold: float = 0.7
    enhance_threshold: int = 3

    def __post_init__(self) -> None:
        if self.buffer_size < 0:
            raise InvalidInput("buffer_size", "must be 0 or more")
        if self.enhance_threshold < 1:
            raise InvalidInput("enhance_threshold", "must be 1 or more")


@dataclass(frozen=True, slots=True)
class Comparison:
    """How the newcomer compares with one entry of the buffer; ``draw`` is None where none was made."""

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
class OfferResult:
    """The buffer after one offer, and what happened on the way: comparisons in buffer order, transfers, evictions."""

    entries: tuple[BufferEntry, ...]
    comparisons: tuple[Comparison, ...]
    transfers: tuple[Transfer, ...]
    evicted: tuple[BufferEntry, ...]


def enhance_probability(similarity: float) -> float:
    """Return the logistic function of a similarity; not-a-number (a text without a vector) stays not-a-number."""
    if similarity >= 0:
        return 1 / (1 + math.exp(-similarity))
    grown = math.exp(similarity)
    return grown / (1 + grown)


def offer_to_short_term(
    entries: tuple[BufferEntry, ...],
    incoming: Item,
    similarities: Sequence[float],
    draws: Iterator[float],
    rules: ShortTermRules,
    operation: Operation = Operation.ADD,
    certain: Collection[MemoryId] = (),
) -> OfferResult:
    """Offer an item to short-term memory and return what follows.

    ``similarities`` are the cosines of the newcomer with each entry, in buffer order; not-a-number says that one of the
    two has no vector, and never enhances. A draw in 0..1 is taken exactly when the probability reaches the threshold,
    and the entry is enhanced when the draw lies below the probability. Entries whose ids are in ``certain`` are enhanced
    without a draw.

    Raises:
        InvalidInput: there is not one similarity for each entry, or the draws ran out.
    """
    if len(similarities) != len(entries):
        raise InvalidInput("similarities", "must be one for each held item")
    comparisons = tuple(
        _compare(similarity, draws, rules, certain=entry.item.id in certain)
        for entry, similarity in zip(entries, similarities, strict=True)
    )
    enhanced = (
        BufferEntry(entry.item, entry.count + 1, (*entry.enhancers, incoming)) if comparison.enhanced else entry
        for entry, comparison in zip(entries, comparisons, strict=True)
    )
    staying: list[BufferEntry] = []
    transfers: list[Transfer] = []
    for entry in enhanced:
        if entry.count >= rules.enhance_threshold:
            transfers.append(Transfer(entry, entry.enhancers))
        else:
            staying.append(entry)
    evicted: tuple[BufferEntry, ...] = ()
    if operation is Operation.ADD:
        staying.append(BufferEntry(incoming))
        evicted = _evict_overflow(staying, rules)
    return OfferResult(tuple(staying), comparisons, tuple(transfers), evicted)


def append_fifo(
    buffered: tuple[Item, ...], incoming: Item, buffer_size: int
) -> tuple[tuple[Item, ...], tuple[Item, ...]]:
    """Append to a first-in-first-out buffer; return what is in it now and what fell out, oldest first."""
    all_items = (*buffered, incoming)
    overflow = max(0, len(all_items) - buffer_size)
    return all_items[overflow:], all_items[:overflow]


def _compare(similarity: float, draws: Iterator[float], rules: ShortTermRules, *, certain: bool) -> Comparison:
    probability = enhance_probability(similarity)
    if certain:
        return Comparison(similarity, probability, None, enhanced=True)
    # "not >=" instead of "<", because not-a-number must not enhance.
    if not probability >= rules.enhance_similarity_threshold:
        return Comparison(similarity, probability, None, enhanced=False)
    draw = next(draws, None)
    if draw is None:
        raise InvalidInput("draws", "ran out before every held item was compared")
    return Comparison(similarity, probability, draw, enhanced=draw < probability)


def _evict_overflow(staying: list[BufferEntry], rules: ShortTermRules) -> tuple[BufferEntry, ...]:
    """Evict from ``staying`` until it fits, the newest one last of all, and forget the evicted as enhancers."""
    evicted: list[BufferEntry] = []
    while len(staying) > rules.buffer_size:
        candidates = range(max(1, len(staying) - 1))
        first_to_go = min(candidates, key=lambda position: _eviction_order(staying[position]))
        removed = staying.pop(first_to_go)
        evicted.append(removed)
        staying[:] = [_without_enhancer(entry, removed.item) for entry in staying]
    return tuple(evicted)


def _eviction_order(entry: BufferEntry) -> tuple[float, int]:
    importance = entry.item.importance
    unrated = importance is None or math.isnan(importance)
    return (-math.inf if unrated or importance is None else importance, entry.count)


def _without_enhancer(entry: BufferEntry, removed: Item) -> BufferEntry:
    enhancers = tuple(item for item in entry.enhancers if item.id != removed.id)
    return BufferEntry(entry.item, entry.count - len(entry.enhancers) + len(enhancers), enhancers)


def encode_buffers(buffers: Buffers) -> str:
    """Return the buffers as compact JSON without texts: ids, importances and counts.

    Raises:
        InvalidInput: an importance is not a finite number.
    """
    plain = {
        "v": _FORMAT_VERSION,
        "sensory": [_pack(item) for item in buffers.sensory],
        "short_term": [
            [*_pack(entry.item), entry.count, [_pack(item) for item in entry.enhancers]] for entry in buffers.short_term
        ],
    }
    return json.dumps(plain, separators=(",", ":"), ensure_ascii=False)


def decode_buffers(text: str) -> Buffers:
    """Return the buffers of `encode_buffers`, every text empty. What has no sound id is left out: no memory is read by it.

    Raises:
        StoreDamaged: the text is not one that `encode_buffers` wrote.
    """
    try:
        plain = json.loads(text)
        is_known_format = plain["v"] == _FORMAT_VERSION
        buffers = Buffers(
            sensory=_unpack_all(plain["sensory"]),
            short_term=tuple(_unpack_entry(entry) for entry in plain["short_term"] if is_id(entry[0])),
        )
    except (ValueError, TypeError, LookupError, OverflowError, RecursionError):
        is_known_format, buffers = False, Buffers()
    if not is_known_format:
        raise StoreDamaged("the stored attention buffers cannot be read; clear this session to start afresh")
    return buffers


def _pack(item: Item) -> list[Any]:
    if item.importance is not None and not math.isfinite(item.importance):
        raise InvalidInput("importance", "must be a finite number")
    return [item.id, item.importance]


def _unpack_all(entries: list[list[Any]]) -> tuple[Item, ...]:
    return tuple(_unpack(entry) for entry in entries if is_id(entry[0]))


def _unpack(entry: list[Any]) -> Item:
    identity, importance = entry
    if importance is not None and not math.isfinite(importance):
        raise ValueError(type(importance))
    return Item(MemoryId(identity), "", None if importance is None else float(importance))


def _unpack_entry(entry: list[Any]) -> BufferEntry:
    identity, importance, count, enhancers = entry
    return BufferEntry(_unpack([identity, importance]), int(count), _unpack_all(enhancers))
