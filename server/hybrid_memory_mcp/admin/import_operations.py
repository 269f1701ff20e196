"""The operations of ``import``: a file of our own lines, or lines that the command made of another program's; looking, listing, undoing.

The command reads the other program's file itself (`hybrid_memory.admin.import_plan`); what is here only sees the lines that it made.
"""

from __future__ import annotations

import hashlib
from dataclasses import asdict
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from hybrid_memory.admin.export_import import ImportPolicy, import_file
from hybrid_memory.admin.record_import import (
    Batch,
    action_of,
    import_records,
    imports_of,
    later_imports,
    look_at_records,
    projects_of,
    undo_import,
)
from hybrid_memory.admin.user_files import check_source, file_errors, open_plain
from hybrid_memory.clock import SystemClock
from hybrid_memory.project_names import project_namespace
from hybrid_memory.secret_detection.masking import masked
from hybrid_memory.secret_policy import SecretPolicy
from hybrid_memory_mcp.admin.store_operations import announce

if TYPE_CHECKING:
    from hybrid_memory.admin.record_import import ImportEntry
    from hybrid_memory.service import MemoryService
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


def import_records_(request: OperationRequest) -> dict[str, Any]:
    """Store the lines that the command made of another program's file; arguments are ``file``, ``id`` and ``format``.

    With ``by_folder`` what was said in a folder goes to the project there.
    """
    given = request.arguments
    action = action_of(str(given["format"]), str(given["id"]))

    def work(service: MemoryService) -> dict[str, Any]:
        done = import_records(
            _store(service),
            Path(given["file"]),
            _batch(request, service),
            action=action,
            embed=service.encode_texts,
            actor=request.scope.actor,
            on_progress=request.on_progress,
        )
        return asdict(done)

    done = request.run(work)
    announce(request)
    return done


def import_preview(request: OperationRequest) -> dict[str, Any]:
    """Say what such lines (argument ``file``) come to in the store; nothing is changed."""
    file = Path(request.arguments["file"])
    return request.run(lambda service: asdict(look_at_records(_store(service), file, _batch(request, service))))


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


def _batch(request: OperationRequest, service: MemoryService) -> Batch:
    return _placed(request.scope.namespace, service.secrets, by_folder=bool(request.arguments.get("by_folder")))


def projects_without_store(file: Path, person: str) -> tuple[tuple[str, int], ...]:
    """Return the namespaces of projects to which such lines would go if there is no store yet, each with how many."""
    return projects_of(file, _placed(person, SecretPolicy(), by_folder=True))


def _placed(person: str, secrets: SecretPolicy, *, by_folder: bool) -> Batch:
    of_folder = cache(partial(_namespace_of, person)) if by_folder else None
    of_rules = cache(partial(_namespace_of_rules, person)) if by_folder else None
    return Batch(namespace=person, now=SystemClock().now(), secrets=secrets, of_folder=of_folder, of_rules=of_rules)


def _namespace_of(person: str, folder: str) -> str:
    """Return where goes what was said in a folder: as if it was said there now, but of a folder that is gone to a project of its own."""
    from hybrid_memory_mcp.projects import place_of
    from hybrid_memory_mcp.relay.repositories import project_name_of
    from hybrid_memory_mcp.runtime.client_options import Options

    if not Path(folder).is_absolute():
        return person
    place = place_of(folder, Options(home=Path(), namespace=person))
    is_nowhere = place.off or (place.project is None and not Path(folder).is_dir())
    return project_namespace(project_name_of(folder), person) if is_nowhere else place.namespace


def _namespace_of_rules(person: str, folder: str) -> str:
    """Return where rules for a folder go. Those in a client's own folder, such as ~/.claude, hold in every project."""
    home, where = Path.home(), Path(folder)
    hidden = where.is_relative_to(home) and any(one.startswith(".") for one in where.relative_to(home).parts[:1])
    return person if where == home or hidden else _namespace_of(person, folder)


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
