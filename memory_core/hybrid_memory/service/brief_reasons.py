"""Why a brief says what it says: what gave each line its place, what would come next, and what was looked at and left out.

For a person who looks at the memory (`MemoryService.brief_with_reasons`). The brief itself is that of `reads.brief`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hybrid_memory.retrieval.brief import SHARES, SHARES_AT_BEGINNING, Dropped, Line, Queue
from hybrid_memory.service import reads

if TYPE_CHECKING:
    from hybrid_memory.model import Memory, MemoryId
    from hybrid_memory.requests import Hit, ReadRequest
    from hybrid_memory.retrieval.index import NamespaceIndex
    from hybrid_memory.service.profile import Fetch

NEXT_SHOWN = 10  # memories behind the page; a person reads a few
DROPPED_SHOWN = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class BriefReasons:
    """What comes behind a brief.

    ``lines`` are those of its head by their ids, in their order; what else a page shows is there because it is recent. ``following`` are
    the memories behind the page, ``dropped`` those that were looked at and have no line, ``shares`` those of the queues in its tokens.
    """

    lines: Mapping[MemoryId, Line] = field(default_factory=dict)
    following: tuple[Hit, ...] = ()
    dropped: tuple[tuple[Memory, Dropped], ...] = ()
    shares: Mapping[Queue, float] = field(default_factory=dict)


def brief_reasons_of(
    found: reads.FoundBrief, index: NamespaceIndex, fetch: Fetch, request: ReadRequest
) -> BriefReasons:
    """Return what comes behind a page of a brief."""
    end = found.offset + len(found.page)
    following = found.listing.beginning(end + NEXT_SHOWN)[end:]
    dropped = index.memories(list(found.lines.dropped)[:DROPPED_SHOWN], fetch)
    return BriefReasons(
        lines=found.lines.shown,
        following=reads.brief_hits(found, following, index, fetch),
        dropped=tuple((memory, found.lines.dropped[one]) for one, memory in dropped.items()),
        shares=SHARES_AT_BEGINNING if request.begins else SHARES,
    )
