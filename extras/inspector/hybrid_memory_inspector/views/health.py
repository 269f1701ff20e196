"""The view of how the memory is: who uses it, what it takes on the disk, what protects it, and what a person should do."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hybrid_memory.admin.imports import imports_of
from hybrid_memory.admin.trusted_lines import refusal
from hybrid_memory.settings import DATABASE
from hybrid_memory.store.administration import whole_store
from hybrid_memory.store.findings import Report
from hybrid_memory.store.opening import shown_address
from hybrid_memory.store.other_hubs import OtherHub
from hybrid_memory.store.syncing import known_folders
from hybrid_memory_mcp.views.needs import assistants_here, backups_of, check_line, checks, worst_first
from hybrid_memory_mcp.views.view import ViewRequest
from hybrid_memory_mcp.views.waiting import waiting
from hybrid_memory_mcp.words.session_names import title_of_format

if TYPE_CHECKING:
    from hybrid_memory.service.memory_service import MemoryService
    from hybrid_memory.store.administration import WholeStore

_IMPORTS = 10
_BACKUPS = 10
# What a file or folder of the store's folder is to a person; what is not named is "other".
_PARTS: Sequence[tuple[str, tuple[str, ...]]] = (
    ("the memories", (DATABASE, f"{DATABASE}.wal", "memory.journal")),
    ("backups", ("backups",)),
    ("put aside after damage", ("quarantine",)),
    ("logs", ("logs",)),
)

_HASH = re.compile(r":[0-9a-f]{16}$")  # of a table of vectors, at the end of its embedder's name


def load(service: MemoryService, request: ViewRequest) -> dict[str, Any]:
    """Return how the memory is. Parameter ``check``: read every row as `doctor` does, and tell what it finds (``doctor``).

    ``checks`` are the answers in one line each, with ``state`` (good, note, warn, bad), and ``remedy`` where there is something to do.
    ``database`` is where the memories lie if not in the folder, ``hubs`` who else serves them.
    ``counts``, ``sizes`` (bytes), ``backups``, ``clients`` (connected now), ``assistants`` (of this machine, and whether they have the
    memory), ``embedder``, ``imports``, ``synchronised`` and ``journal`` are what they rest on.
    """
    status = service.status(request.scope)
    store = whole_store(service.store)
    backups = backups_of(request.home)
    folders = {} if store is None else known_folders(store.syncing)
    doctor = _checked(store, service) if store is not None and request.flag("check") else None
    address, hubs = shown_address(request.home), service.store.other_hubs()
    found = checks(service, request, waiting(service, request.scope))
    keep, days = service.journal.limits
    return {
        "version": status.version,
        "folder": str(request.home),
        "database": address,
        "hubs": [_hub(one) for one in hubs],
        "engine": status.engine,
        "schema": status.schema_version,
        "checks": found if doctor is None else worst_first([_doctor_line(doctor), *found]),
        "counts": {
            "memories": status.memories,
            "episodes": status.episodes,
            "insights": status.insights,
            "superseded": status.superseded,
            "forgotten": status.forgotten,
            "sessions": status.sessions,
            "tiers": dict(status.tiers),
        },
        "sizes": _sizes(request.home) if store is not None else [],
        "backups": {"count": len(backups), "files": backups[:_BACKUPS]},
        "clients": [service.secrets.shown_body(one) for one in request.clients()],
        "assistants": assistants_here(),
        "embedder": {
            "name": status.embedder,
            "title": _HASH.sub("", status.embedder),
            "reason": status.embedder_reason,
            "waiting": status.pending_vectors,
            "change": asdict(status.reembedding) if status.reembedding else None,
        },
        "synchronised": [
            {"folder": name, "last": at.isoformat(timespec="seconds") if at else None} for name, at in folders.items()
        ],
        "imports": [] if store is None else _imports(store),
        "journal": {"on": service.journal.is_on, "readings": keep, "days": days},
        "doctor": doctor,
    }


def _checked(store: WholeStore, service: MemoryService) -> dict[str, Any]:
    """Read every row, alongside other calls; what was reported before goes on being told elsewhere."""
    began = time.monotonic()
    report: Report = store.check(mark_seen=False, refusal=refusal)
    return {
        "at": service.now().isoformat(timespec="seconds"),
        "seconds": round(time.monotonic() - began, 2),
        "sound": report.sound,
        "rows": sum(report.rows.values()),
        "findings": [
            {"severity": one.severity.value, "what": one.what, "remedy": one.remedy} for one in report.findings
        ],
    }


def _doctor_line(doctor: dict[str, Any]) -> dict[str, str]:
    if doctor["sound"]:
        return check_line("good", f"All {doctor['rows']:,} rows were read and compared: nothing is wrong.")
    return check_line("bad", "The check found something wrong; it is listed below.", "", "hybrid-memory-mcp doctor")


def _hub(hub: OtherHub) -> dict[str, str]:
    return {
        "name": hub.name,
        "version": hub.version,
        "since": hub.started_at.isoformat(timespec="seconds"),
        "seen": hub.seen_at.isoformat(timespec="seconds"),
    }


def _imports(store: WholeStore) -> list[dict[str, Any]]:
    """Return the newest imports of which memories are here."""
    found = sorted(imports_of(store), key=lambda one: one.at, reverse=True)[:_IMPORTS]
    return [
        {
            "id": one.id,
            "format": one.format,
            "title": title_of_format(one.format) or one.format,
            "at": one.at.isoformat(timespec="seconds"),
            "memories": one.memories,
            "namespaces": list(one.namespaces),
            "first": one.first.isoformat(timespec="seconds"),
            "last": one.last.isoformat(timespec="seconds"),
        }
        for one in found
    ]


def _sizes(home: Path) -> list[dict[str, Any]]:
    """Return what the store's folder takes on the disk, by what it is to a person; parts that take nothing are left out."""
    named = {name for _, names in _PARTS for name in names}
    try:
        others = [path for path in home.iterdir() if path.name not in named]
    except OSError:
        others = []
    parts = [(what, [home / name for name in names]) for what, names in _PARTS] + [("other files", others)]
    sizes = [{"what": what, "bytes": sum(map(_bytes_of, paths))} for what, paths in parts]
    return [one for one in sizes if one["bytes"]]


def _bytes_of(path: Path) -> int:
    try:
        if path.is_symlink():
            return 0
        if path.is_dir():
            return sum(map(_bytes_of, path.iterdir()))
        return path.stat().st_size
    except OSError:
        return 0
