"""What a write needs to know before it decides, found without a transaction."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from hybrid_memory.decisions import write
from hybrid_memory.tiers.importance import heuristic_importance

if TYPE_CHECKING:
    from hybrid_memory.model import Analysis, MemoryId, Scope
    from hybrid_memory.requests import WriteRequest
    from hybrid_memory.retrieval.index import NamespaceIndex


def statement_of(
    memory_id: MemoryId,
    scope: Scope,
    request: WriteRequest,
    analysis: Analysis,
    index: NamespaceIndex,
    now: datetime,
) -> write.PreparedWrite:
    """Return a checked request as a statement, with what in the namespace it repeats or takes the place of.

    Changes behind the statement's mark are looked at again by the decision.
    """
    mark = index.head
    session = request.session or scope.session
    return write.PreparedWrite(
        id=memory_id,
        scope=scope,
        request=request,
        analysis=analysis,
        importance=heuristic_importance(
            request.content, explicit=request.importance, kind=write.KIND_OF[request.memory_type]
        ),
        repeats=tuple(index.repeats(analysis.content_hash, now)),
        holder=None if request.key is None else index.holding_key(session, request.key, now),
        mark=mark,
    )
