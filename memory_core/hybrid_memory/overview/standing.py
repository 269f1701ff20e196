"""Where memories stand at this moment: which came last, of all and into each tier. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

import numpy as np

from hybrid_memory.model import MemoryId, Tier
from hybrid_memory.retrieval.memory_columns import TIERS

if TYPE_CHECKING:
    from hybrid_memory.retrieval.memory_columns import Mask, MemoryColumns


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """The memories that hold now: ``newest`` of all and ``of_tier``, those written last first."""

    newest: tuple[MemoryId, ...]
    of_tier: Mapping[Tier, tuple[MemoryId, ...]]


def standing(columns: MemoryColumns, now: datetime, *, newest: int, of_tier: Mapping[Tier, int]) -> Standing:
    """Return where the memories of some columns stand; ``newest`` and ``of_tier`` say how many are named."""
    live = columns.visible(now)
    tier = columns.tier.values
    return Standing(
        newest=_newest(columns, live, newest),
        of_tier={one: _newest(columns, live & (tier == TIERS.index(one)), many) for one, many in of_tier.items()},
    )


def _newest(columns: MemoryColumns, wanted: Mask, many: int) -> tuple[MemoryId, ...]:
    rows = np.flatnonzero(wanted)
    created = columns.created_at.values[rows]
    if len(rows) > many:
        last = np.argpartition(created, len(rows) - many)[-many:]
        rows, created = rows[last], created[last]
    in_order = rows[np.lexsort((rows, created))[::-1]]
    return tuple(columns.ids.ids_of(in_order))
