"""What of a write is computed before its transaction, which must not wait for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hybrid_memory.decisions.write import KIND_OF, PreparedWrite
from hybrid_memory.tiers.importance import heuristic_importance

if TYPE_CHECKING:
    from datetime import datetime

    from hybrid_memory.encoding.text_encoder import TextEncoder
    from hybrid_memory.model import Memory, Scope
    from hybrid_memory.requests import WriteRequest
    from hybrid_memory.retrieval.index import NamespaceIndex
    from hybrid_memory.service.committing import Commits


def prepare_write(
    commits: Commits,
    encoder: TextEncoder,
    scope: Scope,
    request: WriteRequest,
    index: NamespaceIndex,
    now: datetime,
    elsewhere: tuple[Memory, ...],
) -> PreparedWrite:
    """Return the request with its encoding, and with what in the namespace it repeats or takes the place of.

    What is written after ``seen_head`` is looked at again by the decision.
    """
    seen_head = index.head
    session = request.session or scope.session
    encoded = encoder.encode(request.content, request.speaker, request.occurred_at, now, request.key)
    return PreparedWrite(
        id=commits.new_id(now),
        scope=scope,
        request=request,
        encoded=encoded,
        importance=heuristic_importance(
            request.content, explicit=request.importance, kind=KIND_OF[request.memory_type]
        ),
        repeats=tuple(index.repeats(encoded.content_hash, now)),
        key_owners=() if request.key is None else tuple(index.key_holders(session, request.key, now)),
        seen_head=seen_head,
        elsewhere=elsewhere,
    )
