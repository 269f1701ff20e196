"""Sensory memory: takes everything, and lets all of it go at once when it overflows.

The rule is that of DB-GPT's ``SensoryMemory``: a buffer of n holds n items; the next one releases all n + 1 for scoring.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hybrid_memory.errors import InvalidInput
from hybrid_memory.tiers.state import Item


def receive(held: tuple[Item, ...], item: Item, buffer_size: int) -> tuple[tuple[Item, ...], tuple[Item, ...]]:
    """Take an item in; return what is held now and what is released: everything on overflow, else nothing.

    A size of 0 releases every item at once.
    """
    together = (*held, item)
    if len(together) > buffer_size:
        return (), together
    return together, ()


def sift(
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
