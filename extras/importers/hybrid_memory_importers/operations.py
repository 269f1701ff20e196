"""The operations ``import_records``, ``import_preview`` and ``export_folder``.

The command reads another program's file itself (`hybrid_memory_importers.plan`); what is here only sees the lines that it made.
"""

from __future__ import annotations

from dataclasses import asdict
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from hybrid_memory.admin.imports import action_of
from hybrid_memory.clock import SystemClock
from hybrid_memory.project_names import project_namespace
from hybrid_memory.secret_detection.secret_policy import SecretPolicy
from hybrid_memory_importers import folder_export as folders
from hybrid_memory_importers import record_import as records
from hybrid_memory_mcp.admin.erasing import opened_store
from hybrid_memory_mcp.admin.store_operations import announce

if TYPE_CHECKING:
    from hybrid_memory.service.memory_service import MemoryService
    from hybrid_memory.store.transfer import TransferableStore
    from hybrid_memory_mcp.admin.operations import OperationRequest


def import_records(request: OperationRequest) -> dict[str, Any]:
    """Store the lines that the command made of another program's file; arguments are ``file``, ``id`` and ``format``.

    With ``by_folder`` what was said in a folder goes to the project there.
    """
    given = request.arguments
    action = action_of(str(given["format"]), str(given["id"]))

    def work(service: MemoryService) -> dict[str, Any]:
        done = records.import_records(
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
    return request.run(lambda service: asdict(records.look_at_records(_store(service), file, _batch(request, service))))


def export_folder(request: OperationRequest) -> dict[str, Any]:
    """Write what the store holds as a folder of Markdown files.

    Arguments are ``folder``, ``layout`` (markdown or okf), ``namespaces`` (None: all), ``force`` and ``reveal``.
    """
    given = request.arguments
    folder = folders.check_folder(Path(given["folder"]), request.home)
    return asdict(
        request.run(
            lambda service: folders.export_folder(
                opened_store(service),
                folder,
                folders.FolderLayout(given["layout"]),
                namespaces=given["namespaces"],
                secrets=None if given["reveal"] else service.secrets,
                force=bool(given["force"]),
                on_progress=request.on_progress,
            )
        )
    )


def _batch(request: OperationRequest, service: MemoryService) -> records.Batch:
    return _placed(request.scope.namespace, service.secrets, by_folder=bool(request.arguments.get("by_folder")))


def projects_without_store(file: Path, person: str) -> tuple[tuple[str, int], ...]:
    """Return the namespaces of projects to which such lines would go if there is no store yet, each with how many."""
    return records.projects_of(file, _placed(person, SecretPolicy(), by_folder=True))


def _placed(person: str, secrets: SecretPolicy, *, by_folder: bool) -> records.Batch:
    of_folder = cache(partial(_namespace_of, person)) if by_folder else None
    of_rules = cache(partial(_namespace_of_rules, person)) if by_folder else None
    return records.Batch(
        namespace=person, now=SystemClock().now(), secrets=secrets, of_folder=of_folder, of_rules=of_rules
    )


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


def _store(service: MemoryService) -> TransferableStore:
    return cast("TransferableStore", service.store)
