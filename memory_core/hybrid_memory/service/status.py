"""What a service says of its memory: how much of what there is, how it is stored, and what a user must know."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hybrid_memory.clock import ahead_of_clock
from hybrid_memory.embedding.registry import reason_of
from hybrid_memory.requests import Lag, Status

if TYPE_CHECKING:
    from hybrid_memory.encoding.text_encoder import TextEncoder
    from hybrid_memory.model import Scope
    from hybrid_memory.retrieval.index_cache import IndexCache
    from hybrid_memory.service.background import BackgroundJobs
    from hybrid_memory.service.service_time import ServiceTime
    from hybrid_memory.settings import StoreSettings
    from hybrid_memory.store.base import Store


def status_of(
    scope: Scope,
    store: Store,
    indexes: IndexCache,
    encoder: TextEncoder,
    background: BackgroundJobs,
    settings: StoreSettings,
    time: ServiceTime,
    behind: Lag | None,
) -> Status:
    """Return what the memory holds and how it is; ``behind`` others."""
    from importlib.metadata import version

    # In this order: loading the index may find what cannot be read.
    counts = indexes.get_all(scope.namespaces).statistics(time.now())
    info = store.info()
    change = background.progress()
    notices = list(info.notices)
    if encoder.problem is not None:
        notices.append(f"search is by words alone, and new memories wait for their vectors: {encoder.problem}")
    if counts.ahead:
        notices.append("; ".join(ahead_of_clock(counts.ahead)))
    if outdated := background.outdated_words():
        notices.append(
            f"{outdated} memories of an earlier version are being made ready for search by words; until then they are found "
            "by their meaning alone"
        )
    others = store.other_hubs()
    if others and change is None and (wanted := encoder.pending_change()) is not None:
        notices.append(
            f"this machine is set to the embedder {wanted.identity}, but the memories, which other machines share, have vectors "
            "of another one; `hybrid-memory-mcp embedder use` changes it for all"
        )
    if change is not None:
        notices.append(f"the memories are being embedded anew for {change.embedder}: {change.done} of {change.total}")
    return Status(
        version=version("hybrid-memory-mcp"),
        namespace=scope.namespace,
        session=scope.session,
        memories=counts.live - counts.episodes,
        tiers=counts.tiers,
        forgotten=counts.forgotten,
        superseded=counts.superseded,
        insights=counts.insights,
        episodes=counts.episodes,
        sessions=counts.sessions,
        embedder=info.embedder or encoder.target.identity,
        embedder_reason=reason_of(settings, info.embedder),
        pending_vectors=counts.pending,
        engine=info.engine,
        schema_version=info.schema_version,
        bytes_on_disk=info.bytes_on_disk,
        reembedding=change,
        other_hubs=tuple(f"{one.name} ({one.version})" for one in others),
        behind=behind,
        notices=tuple(notices),
    )
