"""What of a write is computed before its transaction, which must not wait for it; and the search for related memories beside it."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING

from hybrid_memory import reads
from hybrid_memory.decisions.write import KIND_OF, PreparedWrite
from hybrid_memory.errors import StoreClosed, StoreError
from hybrid_memory.tiers.importance import heuristic_importance

if TYPE_CHECKING:
    from datetime import datetime

    from hybrid_memory.committing import Commits
    from hybrid_memory.model import Memory, Scope
    from hybrid_memory.requests import Related, WriteRequest
    from hybrid_memory.retrieval.index import NamespaceIndex
    from hybrid_memory.retrieval.index_cache import IndexCache
    from hybrid_memory.store.base import Store
    from hybrid_memory.text_encoder import TextEncoder


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


def related_of(search: Future[tuple[Related, ...]]) -> tuple[Related, ...]:
    """Return what a search beside a write has found; nothing where the store could not be read, since the write is done."""
    try:
        return search.result()
    except StoreError:
        return ()


class RelatedSearch:
    """Looks for what is related to a write in a thread of its own, while the commit waits for the disk."""

    def __init__(self, store: Store, indexes: IndexCache) -> None:
        self._store = store
        self._indexes = indexes
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="related")

    def start(
        self, prepared: PreparedWrite, scope: Scope, index: NamespaceIndex, now: datetime
    ) -> Future[tuple[Related, ...]]:
        """Look for memories about the same thing in another thread, without those that the write itself deals with."""
        excluded = {*prepared.repeats, prepared.request.supersedes, *prepared.key_owners, prepared.id}
        fetch = reads.fetch_of(self._store, scope)
        if scope.personal is not None:
            index = self._indexes.get_all(scope.namespaces)
        try:
            return self._thread.submit(reads.related, index, fetch, prepared.encoded.vector, excluded, now)
        except RuntimeError:
            raise StoreClosed("the memory was closed; open it again") from None

    def close(self) -> None:
        """Wait for the search that goes on; none begins any more."""
        self._thread.shutdown()
