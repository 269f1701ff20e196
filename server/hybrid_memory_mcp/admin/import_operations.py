"""The operations of ``import``: a file of our own lines; listing and undoing all imports."""

from __future__ import annotations

import hashlib
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from hybrid_memory.admin.export_import import ImportPolicy, import_file
from hybrid_memory.admin.imports import action_of, imports_of, later_imports, undo_import
from hybrid_memory.admin.user_files import check_source, file_errors, open_plain
from hybrid_memory.clock import SystemClock
from hybrid_memory.secret_detection.masking import masked
from hybrid_memory_mcp.admin.store_operations import announce

if TYPE_CHECKING:
    from hybrid_memory.admin.imports import ImportEntry
    from hybrid_memory.service.memory_service import MemoryService
    from hybrid_memory.store.transfer import TransferableStore, UndoneImport
    from hybrid_memory_mcp.admin.operations import OperationRequest

_LINES = "lines"  # what the log calls a file of JSON lines
_ID_BYTES = 5
_BLOCK = 1 << 20  # bytes


def import_(request: OperationRequest) -> dict[str, Any]:
    """Fill the store from JSON lines; arguments are ``file``, ``namespace`` (the one that was named; None) and ``trusted``.

    ``only_check`` stores nothing. ``id`` and ``format`` name the import that the file is a part of; without them it is one of its own.
    """
    given = request.arguments
    source = check_source(Path(given["file"]))
    format_name = str(given.get("format") or _LINES)
    import_id = str(
        given.get("id") or _id_of_file(source, given["namespace"] or request.scope.namespace, given["trusted"])
    )

    def work(service: MemoryService) -> dict[str, Any]:
        incoming = ImportPolicy(
            now=SystemClock().now(),
            namespace=given["namespace"],
            configured=request.scope.namespace,
            trusted=bool(given["trusted"]),
            secrets=service.secrets,
        )
        return asdict(
            import_file(
                _store(service),
                source,
                incoming,
                embed=service.encode_texts,
                actor=request.scope.actor,
                on_progress=request.on_progress,
                action=action_of(format_name, import_id),
                only_check=bool(given.get("only_check")),
            )
        )

    done = request.run(work)
    announce(request)
    samples = [(at, masked(text)) for at, text in done["samples"]] if given.get("only_check") else []
    return done | {"id": import_id, "samples": samples}


def imports(request: OperationRequest) -> dict[str, Any]:
    """Return the imports of which memories are here, under ``imports``, the oldest first."""
    return {"imports": request.run(lambda service: [_entry(one) for one in imports_of(_store(service))])}


def import_undo(request: OperationRequest) -> dict[str, Any]:
    """Let all memories of an import (argument ``id``, or the beginning of it) leave the store."""
    named, actor = str(request.arguments["id"]), request.scope.actor

    def work(service: MemoryService) -> tuple[ImportEntry, UndoneImport, list[ImportEntry]]:
        entry, gone = undo_import(_store(service), named, actor=actor)
        return entry, gone, later_imports(_store(service), entry)

    entry, gone, later = request.run(work)
    announce(request)
    resting = [{"namespace": namespace, "id": id_} for namespace, id_ in gone.resting_on]
    return _entry(entry) | {"memories": gone.memories, "resting_on": resting, "later": [one.id for one in later]}


def _entry(entry: ImportEntry) -> dict[str, Any]:
    moments = {name: getattr(entry, name).isoformat() for name in ("at", "first", "last")}
    return asdict(entry) | moments | {"namespaces": list(entry.namespaces)}


def _id_of_file(file: Path, namespace: str, trusted: object) -> str:
    digest = hashlib.blake2b(f"{namespace}\n{bool(trusted)}\n".encode(), digest_size=_ID_BYTES)
    with file_errors(), open_plain(file) as stream:
        while block := stream.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()


def _store(service: MemoryService) -> TransferableStore:
    return cast("TransferableStore", service.store)
