"""The operations on a whole store: backup, restore, export, import and purge. Paths in arguments are absolute.

`hybrid_memory_mcp.admin.operations` names them and imports this module when one is asked for.
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hybrid_memory.admin import backup as backups
from hybrid_memory.admin import purge as purges
from hybrid_memory.admin import redact as redactions
from hybrid_memory.admin.export_import import export_store
from hybrid_memory.admin.trusted_lines import refusal
from hybrid_memory.admin.user_files import check_source, check_target
from hybrid_memory.clock import SystemClock
from hybrid_memory.errors import InvalidInput, NotFound
from hybrid_memory.ids import SHORTEST_BEGINNING
from hybrid_memory.model import MemoryId
from hybrid_memory.settings import store_settings
from hybrid_memory.store.home_files import find_copies, list_backups
from hybrid_memory.store.opening import restorer_of
from hybrid_memory.store.transfer import PurgeSelection
from hybrid_memory_mcp.admin.erasing import opened_store, run_eraser, synchronised_folders
from hybrid_memory_mcp.hooks.state import Conversations

if TYPE_CHECKING:
    from hybrid_memory.service.memory_service import MemoryService
    from hybrid_memory.store.transfer import PurgePlan
    from hybrid_memory_mcp.admin.operations import OperationRequest


def backup(request: OperationRequest) -> dict[str, Any]:
    """Copy the store while it is in use; arguments are ``file`` (None: among its own backups) and ``force``."""
    named = request.arguments["file"]
    target = None if named is None else check_target(Path(named), request.home, force=bool(request.arguments["force"]))

    def work(service: MemoryService) -> backups.Backup:
        keep = service.settings.keep_backups
        return backups.create_backup(opened_store(service), request.home, SystemClock().now(), keep=keep, target=target)

    return _to_json_object(request.run(work))


def moment(request: OperationRequest) -> dict[str, Any]:
    """Copy the store to a file of its folder that a move reads and removes; returns the file."""
    file = backups.file_for_moment(request.home)
    request.run(lambda service: opened_store(service).transfer.copy_to(file))
    return {"file": str(file)}


def restore(request: OperationRequest) -> dict[str, Any]:
    """Put a backup in the place of the store, or with ``preview`` say whether it can be used; ``file`` None: the newest of its own."""
    named = request.arguments["file"]
    if named is None:
        own = list_backups(request.home)
        if not own:
            raise InvalidInput("file", "there is no backup in the store's folder; name one")
        source = own[-1]
    else:
        source = check_source(Path(named))
    if request.arguments.get("preview"):
        return {"file": str(source), "memories": backups.examine(source, request.home)}
    restorer = restorer_of(store_settings(request.home), request.home)
    now = SystemClock().now()
    if restorer.needs_closed_store:
        done = request.run_exclusive(lambda: restorer.restore(source, now, refusal=refusal))
    else:
        done = restorer.restore(source, now, refusal=refusal)
        request.run_exclusive(lambda: None)  # what is in memory is of what was replaced; the next call opens it again
    announce(request)
    return _to_json_object(done) | {"file": str(source)}


def export(request: OperationRequest) -> dict[str, Any]:
    """Write what the store holds as JSON lines; arguments are ``file``, ``namespaces`` (None: all), ``vectors`` and ``force``.

    Secrets are masked unless ``reveal`` is given.
    """
    given = request.arguments
    target = check_target(Path(given["file"]), request.home, force=bool(given["force"]))
    vectors = bool(given["vectors"])
    return _to_json_object(
        request.run(
            lambda service: export_store(
                opened_store(service),
                target,
                namespaces=given["namespaces"],
                vectors=vectors,
                secrets=None if given.get("reveal") else service.secrets,
                on_progress=request.on_progress,
            )
        )
    )


def purge(request: OperationRequest) -> dict[str, Any]:
    """Erase for good, or say with ``preview`` what would go.

    Arguments are one of ``ids``, ``session``, ``forgotten`` and ``everything`` (of the request's namespace), ``derived``, and
    ``count``: the number of memories that was confirmed, None for any.
    """
    given = request.arguments
    selection = PurgeSelection(
        namespace=request.scope.namespace,
        ids=_whole_ids(request),
        session=given["session"],
        forgotten=bool(given["forgotten"]),
        everything=bool(given["everything"]),
        derived=bool(given["derived"]),
    )
    purges.check_selection(selection)
    plan = request.run(lambda service: opened_store(service).transfer.plan_purge(selection))
    purges.check_plan(plan, given["count"])
    copies = find_copies(request.home)
    counts = _counts(plan) | {"backups": len(copies.backups), "set_aside": len(copies.set_aside)}
    if given["preview"]:
        return counts | {"synchronised": synchronised_folders(request)}
    total, done = len(copies.backups) + len(copies.set_aside) + 1, 0

    def on_step(step: str) -> None:
        nonlocal done
        done = total if step == "done" else min(done + 1, total - 1)
        request.on_progress(done, total)

    actor = request.scope.actor
    now = SystemClock().now()
    gone = run_eraser(
        request,
        lambda eraser: purges.purge(eraser, selection, now, actor=actor, count=given["count"], on_step=on_step),
    )
    Conversations(str(request.home)).forget_words()  # what waits for a hub may say it again
    announce(request)
    return counts | _to_json_object(gone) | {"synchronised": synchronised_folders(request)}


def redact(request: OperationRequest) -> dict[str, Any]:
    """Take secrets out of memories for good, or say with ``preview`` what that comes to.

    Arguments are ``ids`` (of the request's namespace), ``words`` (to be taken out though not recognised; None), and ``count``: the number
    of memories that was confirmed, None for any. ``only_ids`` only looks whether the memories are there.
    """
    given, namespace = request.arguments, request.scope.namespace
    ids = _whole_ids(request)
    words: str | None = given["words"]
    redactions.check_redaction(namespace, ids, words)
    plan = request.run(lambda service: opened_store(service).transfer.plan_redaction(namespace, ids, words))
    if given.get("only_ids"):
        redactions.check_redaction_ids(plan)
        return {"named": len(plan.ids)}
    redactions.check_redaction_plan(plan, given["count"])
    copies = find_copies(request.home)
    counts = {
        "memories": len(plan.ids) + len(plan.others),
        "named": len(plan.ids),
        "others": list(plan.others),
        "kinds": list(plan.kinds),
        "entries": plan.entries,
        "backups": len(copies.backups),
        "set_aside": len(copies.set_aside),
    }
    if given["preview"]:
        return counts | {"synchronised": synchronised_folders(request)}
    now, actor = SystemClock().now(), request.scope.actor
    done = run_eraser(
        request,
        lambda eraser: redactions.redact(eraser, namespace, ids, now, actor=actor, words=words, count=given["count"]),
    )
    Conversations(str(request.home)).forget_words()
    announce(request)
    return counts | _to_json_object(done) | {"synchronised": synchronised_folders(request)}


def _counts(plan: PurgePlan) -> dict[str, Any]:
    return {
        "memories": len(plan.ids),
        "named": plan.named,
        "versions": plan.versions,
        "derived": plan.derived,
        "entries": plan.entries,
        "newer": list(plan.newer),
        "same_words": list(plan.same_words),
        "kept_derived": list(plan.kept_derived),
        "kept_older": list(plan.kept_older),
        "derived_elsewhere": [f"{id_} (--namespace {namespace})" for namespace, id_ in plan.derived_elsewhere],
    }


def _whole_ids(request: OperationRequest) -> tuple[MemoryId, ...]:
    """Return the ids that were given, whole or by their beginnings; what is not there stays as it is, and is counted by the plan.

    Raises:
        InvalidInput: a beginning is that of several.
    """

    def whole(service: MemoryService, given: str) -> MemoryId:
        if len(given) < SHORTEST_BEGINNING:
            return MemoryId(given)
        try:
            return service.whole_ids(request.scope, [given])[0]
        except NotFound:
            return MemoryId(given)

    named = [str(one) for one in request.arguments["ids"]]
    return request.run(lambda service: tuple(whole(service, one) for one in named)) if named else ()


def announce(request: OperationRequest) -> None:
    """Let clients look again; opens the store, which shows that it can be."""
    request.provider.announce(request.run(lambda service: service.store.namespaces()))


def _to_json_object(result: Any) -> dict[str, Any]:
    return {name: str(value) if isinstance(value, Path) else value for name, value in asdict(result).items()}
