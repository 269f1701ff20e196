"""What a memory holds and how it is, for people."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from hybrid_memory.requests import Status, Where

if TYPE_CHECKING:
    from hybrid_memory.model import Scope
    from hybrid_memory.requests import Progress
    from hybrid_memory.retrieval.index import NamespaceIndex
    from hybrid_memory.store.base import Store
    from hybrid_memory.text_encoder import TextEncoder


def status_of(
    store: Store, index: NamespaceIndex, encoder: TextEncoder, change: Progress | None, scope: Scope, now: datetime
) -> Status:
    """Return the state of one namespace and of its store."""
    from importlib.metadata import version

    info = store.info()
    held = index.statistics(now)
    return Status(
        version=version("hybrid-memory-mcp"),
        namespace=scope.namespace,
        session=scope.session,
        memories=held.live,
        tiers=held.tiers,
        forgotten=held.forgotten,
        superseded=held.superseded,
        insights=held.insights,
        sessions=held.sessions,
        embedder=info.embedder or encoder.wanted.identity,
        pending_vectors=held.pending,
        engine=info.engine,
        schema_version=info.schema_version,
        bytes_on_disk=info.bytes_on_disk,
        reembedding=change,
        notices=(*info.notices, *_notices(encoder, change)),
    )


def suggestions(index: NamespaceIndex, what: str, prefix: str, limit: int, now: datetime) -> list[str]:
    """Return known names that begin with a prefix: of a ``session``, ``tag``, ``speaker`` or recent ``id``."""
    if what == "id":
        return [str(one) for one in index.select(Where(), now) if one.startswith(prefix)][:limit]
    known = {"session": index.sessions, "tag": index.tags, "speaker": index.speakers}
    return known[what](prefix, limit) if what in known else []


def _notices(encoder: TextEncoder, change: Progress | None) -> list[str]:
    notices = []
    if encoder.problem is not None:
        notices.append(f"search is by words alone, and new memories wait for their vectors: {encoder.problem}")
    if change is not None:
        notices.append(f"the memories are being embedded anew for {change.embedder}: {change.done} of {change.total}")
    return notices
