"""The operations that keep a store: backups, the way back, exports, imports and purging. Paths in arguments are absolute."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from hybrid_memory.admin import backup as backups
from hybrid_memory.admin import purge as purges
from hybrid_memory.admin.export_import import export_store, import_file
from hybrid_memory.admin.import_policy import ImportPolicy
from hybrid_memory.admin.named_files import check_source, check_target
from hybrid_memory.clock import SystemClock
from hybrid_memory.errors import InvalidInput
from hybrid_memory.model import MemoryId
from hybrid_memory.store.purge_plan import PurgeSelection

if TYPE_CHECKING:
    from hybrid_memory.service import MemoryService
    from hybrid_memory.store.purge_plan import PurgePlan
    from hybrid_memory.store.transfer import TransferStore
    from hybrid_memory_mcp.admin.operations import OperationRequest


def backup(order: OperationRequest) -> dict[str, Any]:
    """Copy the store while it is in use; arguments are ``file`` (None: among its own backups) and ``force``."""
    named = order.arguments["file"]
    place = None if named is None else check_target(Path(named), order.home, force=bool(order.arguments["force"]))

    def work(service: MemoryService) -> backups.Backup:
        keep = service.settings.keep_backups
        return backups.create_backup(_store(service), order.home, SystemClock().now(), keep=keep, place=place)

    return _plain(order.run(work))


def restore(order: OperationRequest) -> dict[str, Any]:
    """Put a backup in the place of the store; the argument ``file`` None means the newest of its own."""
    named = order.arguments["file"]
    if named is None:
        own = backups.list_backups(order.home)
        if not own:
            raise InvalidInput("file", "there is no backup in the store's folder; name one")
        source = own[-1]
    else:
        source = check_source(Path(named))
    done = order.run_exclusive(lambda: backups.restore(order.home, source, SystemClock().now()))
    _announce(order)
    return _plain(done) | {"file": str(source)}


def export(order: OperationRequest) -> dict[str, Any]:
    """Write what the store holds as JSON lines; arguments are ``file``, ``namespaces`` (None: all), ``vectors`` and ``force``."""
    given = order.arguments
    place = check_target(Path(given["file"]), order.home, force=bool(given["force"]))
    vectors = bool(given["vectors"])
    return _plain(
        order.run(
            lambda service: export_store(
                _store(service), place, namespaces=given["namespaces"], vectors=vectors, on_progress=order.on_progress
            )
        )
    )


def import_(order: OperationRequest) -> dict[str, Any]:
    """Store what a file of JSON lines holds; arguments are ``file``, ``namespace`` (None: as in the file) and ``trusted``."""
    given = order.arguments
    source = check_source(Path(given["file"]))
    incoming = ImportPolicy(now=SystemClock().now(), namespace=given["namespace"], trusted=bool(given["trusted"]))

    def work(service: MemoryService) -> dict[str, Any]:
        embed, actor = service.encode_texts, order.scope.actor
        return _plain(
            import_file(_store(service), source, incoming, embed=embed, actor=actor, on_progress=order.on_progress)
        )

    done = order.run(work)
    _announce(order)
    return done


def purge(order: OperationRequest) -> dict[str, Any]:
    """Erase for good, or say with ``preview`` what would go.

    Arguments are one of ``ids``, ``session``, ``forgotten`` and ``everything`` (of the order's namespace), ``derived``, and
    ``count``: the number of memories that was confirmed, None for any.
    """
    given = order.arguments
    selection = PurgeSelection(
        namespace=order.scope.namespace,
        ids=tuple(MemoryId(str(one)) for one in given["ids"]),
        session=given["session"],
        forgotten=bool(given["forgotten"]),
        everything=bool(given["everything"]),
        derived=bool(given["derived"]),
    )
    purges.check_selection(selection)
    chosen = order.run(lambda service: _store(service).plan_purge(selection))
    purges.check_plan(chosen, given["count"])
    copies = purges.find_copies(order.home)
    told = _told(chosen) | {"backups": len(copies.backups), "set_aside": len(copies.set_aside)}
    if given["preview"]:
        return told
    total, done = len(copies.backups) + len(copies.set_aside) + 1, 0

    def on_step(step: str) -> None:
        nonlocal done
        done = total if step == "done" else min(done + 1, total - 1)
        order.on_progress(done, total)

    actor = order.scope.actor
    now = SystemClock().now()
    gone = order.run_exclusive(
        lambda: purges.purge(order.home, selection, now, actor=actor, count=given["count"], on_step=on_step)
    )
    _announce(order)
    return told | _plain(gone)


def _told(chosen: PurgePlan) -> dict[str, Any]:
    return {
        "memories": len(chosen.ids),
        "named": chosen.named,
        "versions": chosen.versions,
        "derived": chosen.derived,
        "entries": chosen.entries,
        "newer": list(chosen.newer),
        "same_words": list(chosen.same_words),
        "kept_derived": list(chosen.kept_derived),
    }


def _announce(order: OperationRequest) -> None:
    """Let clients look again; opens the store, which shows that it can be."""
    order.provider.announce(order.run(lambda service: service.store.namespaces()))


def _store(service: MemoryService) -> TransferStore:
    # A service that was opened in a folder stands on the store that can do this; one in memory is for tests.
    return cast("TransferStore", service.store)


def _plain(result: Any) -> dict[str, Any]:
    return {name: str(value) if isinstance(value, Path) else value for name, value in asdict(result).items()}
