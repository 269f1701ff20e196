"""Where memories stand at this moment: which came last into each tier, and what nobody has vouched for yet. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

import numpy as np

from hybrid_memory.model import TRUST_ORDER, MemoryId, Tier, Trust
from hybrid_memory.retrieval.memory_columns import TIERS

if TYPE_CHECKING:
    from hybrid_memory.retrieval.memory_columns import Mask, MemoryColumns


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """The memories that hold now: ``newest`` of all and ``of_tier``, those written last first.

    ``untrusted`` counts what tools and files said, ``disputing`` what says something else than a more
    trusted memory that holds, where no person has confirmed either.
    """

    newest: tuple[MemoryId, ...]
    of_tier: Mapping[Tier, tuple[MemoryId, ...]]
    untrusted: int
    disputing: int


def standing(columns: MemoryColumns, now: datetime, *, newest: int, of_tier: Mapping[Tier, int]) -> Standing:
    """Return where the memories of some columns stand; ``newest`` and ``of_tier`` say how many are named."""
    live = columns.visible(now)
    tier, trust = columns.tier.values, columns.trust.values
    unsettled = live & (trust != TRUST_ORDER.index(Trust.CONFIRMED))  # a person has said which of two is true
    disputes = [columns.row_of(one) for row, one in columns.all_disputes().items() if unsettled[row]]
    return Standing(
        newest=_newest(columns, live, newest),
        of_tier={one: _newest(columns, live & (tier == TIERS.index(one)), many) for one, many in of_tier.items()},
        untrusted=int(np.count_nonzero(live & (trust == TRUST_ORDER.index(Trust.UNTRUSTED)))),
        disputing=sum(row is not None and bool(unsettled[row]) for row in disputes),
    )


def _newest(columns: MemoryColumns, wanted: Mask, many: int) -> tuple[MemoryId, ...]:
    rows = np.flatnonzero(wanted)
    created = columns.created_at.values[rows]
    if len(rows) > many:
        last = np.argpartition(created, len(rows) - many)[-many:]
        rows, created = rows[last], created[last]
    in_order = rows[np.lexsort((rows, created))[::-1]]
    return tuple(columns.ids.ids_of(in_order))
