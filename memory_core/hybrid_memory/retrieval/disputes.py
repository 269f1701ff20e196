"""What is disputed is in front of what disputes it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hybrid_memory.model import MemoryId


def disputed_first(ids: Sequence[MemoryId], disputes: Mapping[MemoryId, MemoryId]) -> list[int]:
    """Return the positions of ``ids`` in an order in which nothing is in front of what it disputes.

    The disputed memory takes the place of the first one that disputes it; all others keep their order. ``disputes`` leads from a
    memory to the one that it disputes.
    """
    place = {one: at for at, one in enumerate(ids)}
    order: list[int] = []
    taken: set[int] = set()
    for at, one in enumerate(ids):
        # What is disputed may dispute something itself. A circle, which only a damaged file holds, ends where it began.
        chain = [at]
        while (better := place.get(disputes.get(ids[chain[-1]], one))) is not None and better not in taken:
            if better in chain:
                break
            chain.append(better)
        fresh = [position for position in reversed(chain) if position not in taken]
        taken.update(fresh)
        order += fresh
    return order
