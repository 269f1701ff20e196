"""Which memories are versions of one another: everything that a chain of replacements links with one memory. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from hybrid_memory.model import MemoryId
    from hybrid_memory.retrieval.memory_columns import MemoryColumns


def versions_of(columns: MemoryColumns, memory_id: MemoryId) -> list[MemoryId]:
    """Return the ids of all versions of a memory, itself included, those stored first first; none of an unknown one.

    What replaced it, what that replaced, and so on: of a merged text that is all that was merged.
    """
    row = columns.row_of(memory_id)
    if row is None:
        return []
    successors = columns.successor.values
    linked = np.flatnonzero(successors >= 0)
    found = np.zeros(len(columns), np.bool_)
    found[row] = True
    wanted = {row}
    # Forward to the newest, then back over everything that was replaced on the way: one look at the links for each step back.
    while (at := int(successors[row])) >= 0 and not found[at]:
        found[at] = True
        wanted.add(at)
        row = at
    while wanted:
        before = linked[np.isin(successors[linked], list(wanted))]
        wanted = set(before[~found[before]].tolist())
        found[before] = True
    return columns.ids.ids_of(np.flatnonzero(found))
