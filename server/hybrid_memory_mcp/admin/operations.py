"""What commands ask of a store, done wherever the store is open: in its hub, or else in the command's own process.

An operation takes an `OperationRequest` and returns a JSON object; both cross a socket when a hub does the work.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from hybrid_memory.errors import InvalidInput
from hybrid_memory.model import Scope
from hybrid_memory.requests import ReadRequest
from hybrid_memory_mcp.runtime.provider import ServiceProvider

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from hybrid_memory.service import MemoryService
    from hybrid_memory.store.health import Report

T = TypeVar("T")

ProgressCallback: TypeAlias = Callable[[int, int], None]
"""Told how many of how many are done; may raise to stop the work where it can be stopped."""


@dataclass(frozen=True)
class OperationRequest:
    """One operation that was asked for. ``home`` is the store's folder, ``arguments`` are the operation's own."""

    provider: ServiceProvider
    home: Path
    scope: Scope
    arguments: Mapping[str, Any]
    on_progress: ProgressCallback
    clients: Callable[[], list[dict[str, Any]]] = list

    def run(self, work: Callable[[MemoryService], T]) -> T:
        """Do work with the open memory, beside the calls of clients.

        Raises:
            HybridMemoryError: the store cannot be opened, or the work failed.
        """
        return self.provider.run(work)

    def run_exclusive(self, work: Callable[[], T]) -> T:
        """Do work for which the store must be closed, while calls wait; the next call opens it again."""
        return self.provider.run_exclusive(work)


Operation: TypeAlias = Callable[[OperationRequest], dict[str, Any]]


def run_operation(name: str, order: OperationRequest) -> dict[str, Any]:
    """Do an operation.

    Raises:
        InvalidInput: there is no such operation, or an argument is wrong.
        HybridMemoryError: what the operation says.
    """
    operation = OPERATIONS.get(name)
    if operation is None:
        raise InvalidInput("operation", "is not known to the running version; close all clients and try again")
    return operation(order)


def status(order: OperationRequest) -> dict[str, Any]:
    """Return what the store holds and who is connected."""
    return asdict(order.run(lambda service: service.status(order.scope))) | {"clients": order.clients()}


def recall(order: OperationRequest) -> dict[str, Any]:
    """Return what a question finds; arguments are ``query`` and ``limit``."""
    request = ReadRequest(query=str(order.arguments["query"]), limit=int(order.arguments["limit"]))
    result = order.run(lambda service: service.read(order.scope, request))
    hits = [
        {
            "created_at": hit.memory.created_at.isoformat(),
            "tier": hit.memory.tier.value,
            "content": hit.memory.content,
            "score": hit.score,
            "weak": hit.weak,
        }
        for hit in result.hits
    ]
    return {"hits": hits, "total": result.total, "words_alone": result.words_alone}


def doctor(order: OperationRequest) -> dict[str, Any]:
    """Check the store beside the calls of clients; one that cannot be opened for damage is a finding."""
    from hybrid_memory.admin import health_check
    from hybrid_memory.errors import EngineUnavailable, StoreDamaged

    try:
        return _told(order.run(lambda service: health_check.check_open(service.store)))
    except (StoreDamaged, EngineUnavailable) as error:
        return _told(health_check.unreadable_report(error))


def repair(order: OperationRequest) -> dict[str, Any]:
    """Save what can be read of a damaged store, while calls wait."""
    from hybrid_memory.admin import health_check
    from hybrid_memory.clock import SystemClock

    return _told(order.run_exclusive(lambda: health_check.repair(order.home, SystemClock())))


def _told(report: Report) -> dict[str, Any]:
    return {
        "sound": report.sound,
        "findings": [asdict(finding) for finding in report.findings],
        "rows": dict(report.rows),
    }


def _later(name: str, module: str = "hybrid_memory_mcp.admin.store_operations") -> Operation:
    """Return an operation of another module, which is imported when it is asked for."""

    def operation(order: OperationRequest) -> dict[str, Any]:
        found: Operation = getattr(import_module(module), name)
        return found(order)

    return operation


OPERATIONS: Mapping[str, Operation] = {
    "status": status,
    "recall": recall,
    "doctor": doctor,
    "repair": repair,
    "backup": _later("backup"),
    "restore": _later("restore"),
    "export": _later("export"),
    "import": _later("import_"),
    "purge": _later("purge"),
    "embedder": _later("state", "hybrid_memory_mcp.admin.embedding"),
    "pinned": _later("pinned", "hybrid_memory_mcp.admin.embedding"),
    "reembed": _later("reembed", "hybrid_memory_mcp.admin.embedding"),
}


@contextmanager
def local_provider(home: Path, namespace: str) -> Iterator[tuple[ServiceProvider, Scope]]:
    """Give a provider of the store in a folder to operations of this process, and close the store afterwards."""
    from hybrid_memory.clock import SystemClock, SystemRandomSource
    from hybrid_memory.ids import new_session
    from hybrid_memory_mcp.runtime import library_patches

    def open_service() -> MemoryService:
        library_patches.install_pandas_stub()
        os.umask(0o077)
        from hybrid_memory.service import MemoryService

        return MemoryService.open(home, clock=SystemClock(), random_source=random_source)

    random_source = SystemRandomSource()
    provider = ServiceProvider(open_service)
    try:
        yield provider, Scope(namespace=namespace, session=new_session(random_source), actor="command line")
    finally:
        provider.close(None)
