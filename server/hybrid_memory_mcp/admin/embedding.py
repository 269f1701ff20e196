"""Operations on a store's embedder: what it is, and making all vectors anew."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from hybrid_memory.embedding.registry import STATIC
from hybrid_memory.errors import EmbedderUnavailable
from hybrid_memory.model import Scope

if TYPE_CHECKING:
    from hybrid_memory.requests import Progress
    from hybrid_memory.service import MemoryService
    from hybrid_memory_mcp.admin.operations import OperationRequest


def pinned(order: OperationRequest) -> dict[str, Any]:
    """Return the identity of the store's embedder under ``identity``, None before the first vector."""
    return {"identity": order.run(lambda service: service.store.info().embedder)}


def state(order: OperationRequest) -> dict[str, Any]:
    """Return what the store's embedder is, and how its vectors are."""
    return order.run(lambda service: _state(service, order.scope))


def reembed(order: OperationRequest) -> dict[str, Any]:
    """Make all vectors anew for the embedder that the settings name now, and those that are missing.

    A store that is open is opened again first, because it knows the settings of its opening.
    """
    order.run_exclusive(lambda: None)

    def work(service: MemoryService) -> dict[str, Any]:
        def tell(progress: Progress) -> None:
            order.on_progress(progress.done, progress.total)

        done = service.reembed(progress=tell)
        tell(done)
        return {"embedder": done.embedder, "total": done.total, "late": _backfilled(service)}

    return order.run(work)


def _backfilled(service: MemoryService) -> int:
    """Give vectors to memories that were stored while the model was missing; returns how many."""
    total = 0
    for namespace in service.store.namespaces():
        while late := service.backfill(Scope(namespace=namespace, session="", actor="command line")):
            total += late
    return total


def _state(service: MemoryService, scope: Scope) -> dict[str, Any]:
    from hybrid_memory.embedding.background_embedder import BackgroundEmbedder
    from hybrid_memory.embedding.fastembed_models import find_model
    from hybrid_memory.embedding.registry import choose_embedders, setting_for

    seen, info = service.status(scope), service.store.info()
    spec = None if info.embedder is None else setting_for(info.embedder)
    model = find_model(spec) if spec is not None and spec != STATIC else None
    found: dict[str, Any] = {
        "setting": service.settings.embedder,
        "pinned": info.embedder or "none yet",
        "dimensions": info.dimensions,
        "licence": "apache-2.0" if spec == STATIC else (model.licence if model else "unknown"),
        "memories": info.memories,
        "waiting_for_vectors": seen.pending_vectors,
        "changing_to": asdict(seen.reembedding) if seen.reembedding else None,
    }
    wanted, _ = choose_embedders(service.settings, info.embedder)
    try:
        identity = (wanted.loaded() if isinstance(wanted, BackgroundEmbedder) else wanted).identity
    except EmbedderUnavailable as error:
        return found | {"problem": str(error)}
    if info.embedder not in (None, identity):
        found["problem"] = f"the vectors are not of {identity}; `reembed` changes that, or a server in the background"
    return found
