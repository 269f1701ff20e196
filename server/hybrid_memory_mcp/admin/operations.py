"""What commands ask of a store, done wherever the store is open: in its hub, or else in the command's own process.

An operation takes an `OperationRequest` and returns a JSON object; both cross a socket when a hub does the work. `OPERATIONS`
at the end is the list. Those on the whole store (backup, restore, export, purge) are in `store_operations`, those of `import`
in `import_operations`, those on single memories in `memory_operations`, those of the adapters in `item_operations`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from hybrid_memory.errors import InvalidInput
from hybrid_memory.extras import load_extra, names_of_extras
from hybrid_memory.model import Scope
from hybrid_memory_mcp.runtime.provider import ServiceProvider

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import tzinfo
    from pathlib import Path

    from hybrid_memory.requests import Progress
    from hybrid_memory.service.memory_service import MemoryService
    from hybrid_memory.settings import StoreSettings
    from hybrid_memory.store.findings import Report

T = TypeVar("T")

ProgressCallback: TypeAlias = Callable[[int, int], None]
"""Told how many of how many are done; may raise to stop the work where it can be stopped."""


@dataclass(frozen=True)
class OperationRequest:
    """One operation that was asked for. ``home`` is the store's folder, ``arguments`` are the operation's own.

    ``zone`` is that of who asked; None is that of this process.
    """

    provider: ServiceProvider
    home: Path
    scope: Scope
    arguments: Mapping[str, Any]
    on_progress: ProgressCallback
    clients: Callable[[], list[dict[str, Any]]] = list
    zone: tzinfo | None = None

    def run(self, work: Callable[[MemoryService], T]) -> T:
        """Do work with the open memory, however long it takes, alongside the calls of clients.

        Raises:
            HybridMemoryError: the store cannot be opened, or the work failed.
        """
        return self.provider.run_operation(work)

    def run_exclusive(self, work: Callable[[], T]) -> T:
        """Do work for which the store must be closed, while calls wait; the next call opens it again."""
        return self.provider.run_exclusive(work)


Operation: TypeAlias = Callable[[OperationRequest], dict[str, Any]]


def run_operation(name: str, request: OperationRequest) -> dict[str, Any]:
    """Do an operation.

    Raises:
        InvalidInput: there is no such operation, or an argument is wrong.
        HybridMemoryError: what the operation says.
    """
    operation = OPERATIONS.get(name)
    if operation is not None:
        return operation(request)
    if name in names_of_extras("hybrid_memory_mcp.operations"):
        added: Operation = load_extra("hybrid_memory_mcp.operations", name)
        return added(request)
    raise InvalidInput("operation", "is not known to the running version; close all clients and try again")


def doctor(request: OperationRequest) -> dict[str, Any]:
    """Check the store alongside the calls of clients; one that cannot be opened for damage is a finding."""
    from hybrid_memory.admin import health_check
    from hybrid_memory.errors import EngineUnavailable, NotEnoughMemory, StoreDamaged
    from hybrid_memory_mcp.admin.erasing import synchronised_folders

    try:
        seen = request.run(lambda service: service.status(request.scope))
        report = request.run(lambda service: health_check.check_open(service.store))
        more = {
            "embedder": f"{seen.embedder} ({seen.embedder_reason})",
            "synchronised": synchronised_folders(request),
        }
        return _report_as_json(report) | more
    except NotEnoughMemory:
        raise
    except (StoreDamaged, EngineUnavailable) as error:
        if not _is_file_store(request.home):
            raise  # nothing that a repair here could save
        return _report_as_json(health_check.unreadable_report(error))


def repair(request: OperationRequest) -> dict[str, Any]:
    """Save what can be read of a damaged store, while calls wait; one on a server is mended while it is open."""
    from hybrid_memory.admin import health_check
    from hybrid_memory.clock import SystemClock

    if _is_file_store(request.home):
        return _report_as_json(request.run_exclusive(lambda: health_check.repair(request.home, SystemClock())))
    report = request.run(lambda service: health_check.repair_open(service.store, request.home))
    request.run_exclusive(lambda: None)  # what was put aside leaves the memory of this process, too
    return _report_as_json(report)


def _is_file_store(home: Path) -> bool:
    from hybrid_memory.store.opening import shown_address

    return shown_address(home) is None


def embedder_identity(request: OperationRequest) -> dict[str, Any]:
    """Return the identity of the store's embedder under ``identity``, None before the first vector."""
    return {"identity": request.run(lambda service: service.store.info().embedder)}


def embedder_state(request: OperationRequest) -> dict[str, Any]:
    """Return what the store's embedder is, and how its vectors are."""
    return request.run(lambda service: _embedder_state(service, request.scope))


def reembed(request: OperationRequest) -> dict[str, Any]:
    """Make all vectors again for the embedder that the settings name now, and those that are missing.

    A store that is open is opened again first, because it knows the settings of its opening.
    """
    request.run_exclusive(lambda: None)

    def work(service: MemoryService) -> dict[str, Any]:
        def tell(progress: Progress) -> None:
            request.on_progress(progress.done, progress.total)

        done = service.reembed(progress=tell)
        tell(done)
        return {"embedder": done.embedder, "total": done.total, "late": _backfilled(service)}

    return request.run(work)


def _store_operation(name: str, module: str = "store_operations") -> Operation:
    """Return an operation of a module of this folder, which is imported when it is asked for."""

    def operation(request: OperationRequest) -> dict[str, Any]:
        found: Operation = getattr(import_module(f"hybrid_memory_mcp.admin.{module}"), name)
        return found(request)

    return operation


def _memory_operation(name: str) -> Operation:
    """Return an operation on single memories; its module is imported when it is asked for."""

    def operation(request: OperationRequest) -> dict[str, Any]:
        from hybrid_memory_mcp.admin import memory_operations

        found: Operation = getattr(memory_operations, name)
        return found(request)

    return operation


def _report_as_json(report: Report) -> dict[str, Any]:
    return {
        "sound": report.sound,
        "findings": [asdict(finding) for finding in report.findings],
        "rows": dict(report.rows),
    }


def _backfilled(service: MemoryService) -> int:
    """Give vectors to memories that were stored while the model was missing; returns how many."""
    total = 0
    for namespace in service.store.namespaces():
        while late := service.backfill(Scope(namespace=namespace, session="", actor="command line")):
            total += late
    return total


def _embedder_state(service: MemoryService, scope: Scope) -> dict[str, Any]:
    from hybrid_memory.embedding.background_embedder import BackgroundEmbedder
    from hybrid_memory.embedding.registry import choose_embedders, setting_for
    from hybrid_memory.errors import EmbedderUnavailable

    seen, info = service.status(scope), service.store.info()
    spec = None if info.embedder is None else setting_for(info.embedder)
    found: dict[str, Any] = {
        "setting": service.settings.embedder,
        "pinned": info.embedder or "none yet",
        "reason": seen.embedder_reason,
        "dimensions": info.dimensions,
        "licence": _licence_of(spec),
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
        found["problem"] = (
            f"the vectors are not of {identity}; `embedder use` changes that, or a server in the background"
        )
    return found


def _licence_of(spec: str | None) -> str:
    """Return the licence of the model that a setting means, as far as it is known."""
    from hybrid_memory.embedding.fastembed_models import find_model
    from hybrid_memory.embedding.registry import MINILM, MULTILINGUAL, STATIC, UNIVERSAL

    own = {UNIVERSAL: "apache-2.0", STATIC: "apache-2.0", MINILM: "apache-2.0", MULTILINGUAL: "mit"}
    if spec in own:
        return own[spec]
    model = None if spec is None else find_model(spec)
    return model.licence if model else "unknown"


OPERATIONS: Mapping[str, Operation] = {
    "status": _store_operation("status", "status_operation"),
    "recall": _memory_operation("recall"),
    "remember": _memory_operation("remember"),
    "list": _memory_operation("list_memories"),
    "show": _memory_operation("show"),
    "correct": _memory_operation("correct"),
    "forget": _memory_operation("forget"),
    "pin": _memory_operation("pin"),
    "act": _store_operation("do", "act_operations"),
    "acts": _store_operation("recent", "act_operations"),
    "reflect": _memory_operation("reflect"),
    "store_insights": _memory_operation("store_insights"),
    **{
        name: _store_operation(name, "item_operations")
        for name in (
            "item",
            "put_item",
            "forget_items",
            "items",
            "search_items",
            "entries",
            "add_entries",
            "pop_entry",
            "clear_entries",
        )
    },
    "history": _memory_operation("history"),
    "view": _store_operation("view", "view_operation"),
    "eval": _store_operation("evaluate", "eval_operation"),
    "doctor": doctor,
    "repair": repair,
    "backup": _store_operation("backup"),
    "moment": _store_operation("moment"),
    "restore": _store_operation("restore"),
    "export": _store_operation("export"),
    "import": _store_operation("import_", "import_operations"),
    "import_undo": _store_operation("import_undo", "import_operations"),
    "imports": _store_operation("imports", "import_operations"),
    "purge": _store_operation("purge"),
    "redact": _store_operation("redact"),
    "embedder": embedder_state,
    "pinned": embedder_identity,
    "reembed": reembed,
}


@contextmanager
def local_provider(
    home: Path, namespace: str, settings: StoreSettings | None = None
) -> Iterator[tuple[ServiceProvider, Scope]]:
    """Give a provider of the store in a folder to operations of this process, and close the store afterwards.

    ``settings`` are used in place of the folder's own.
    """
    from hybrid_memory.clock import SystemClock, SystemRandomSource
    from hybrid_memory.ids import new_session
    from hybrid_memory_mcp.runtime import library_patches

    def open_service() -> MemoryService:
        library_patches.install_pandas_stub()
        os.umask(0o077)
        from hybrid_memory.service.memory_service import MemoryService

        return MemoryService.open(home, clock=SystemClock(), random_source=random_source, settings=settings)

    random_source = SystemRandomSource()
    provider = ServiceProvider(open_service)
    try:
        yield provider, Scope(namespace=namespace, session=new_session(random_source), actor="command line")
    finally:
        provider.close(None)
