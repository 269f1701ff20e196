"""The view of how the memory is: who uses it, what it takes on the disk, what protects it, and what a person should do."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from hybrid_memory.admin.record_import import imports_of
from hybrid_memory.admin.trusted_lines import refusal
from hybrid_memory.importing.formats import format_named, format_names
from hybrid_memory.settings import DATABASE
from hybrid_memory.store.findings import Report
from hybrid_memory.store.home_files import list_backups
from hybrid_memory.store.neighbours import OtherHub
from hybrid_memory.store.opening import shown_address
from hybrid_memory.store.whole import whole_store
from hybrid_memory.sync.synchronise import known_folders
from hybrid_memory_mcp.clients.installed import assistants
from hybrid_memory_mcp.clients.places import this_machine
from hybrid_memory_mcp.inspector.review import Waiting, waiting
from hybrid_memory_mcp.inspector.view import ViewRequest

if TYPE_CHECKING:
    from hybrid_memory.requests import Status
    from hybrid_memory.service import MemoryService
    from hybrid_memory.store.whole import WholeStore

_OLD_BACKUP = timedelta(days=14)
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
_PROGRESS = ("being made ready", "being embedded anew", "still being loaded")

State = Literal["good", "note", "warn", "bad"]


def load(service: MemoryService, request: ViewRequest) -> dict[str, Any]:
    """Return how the memory is. Parameter ``check``: read every row as `doctor` does, and tell what it finds (``doctor``).

    ``checks`` are the answers in one line each, with ``state`` (good, note, warn, bad), and ``remedy`` where there is something to do.
    ``database`` is where the memories lie if not in the folder, ``hubs`` who else serves them.
    ``counts``, ``sizes`` (bytes), ``backups``, ``clients`` (connected now), ``assistants`` (of this machine, and whether they have the
    memory), ``embedder``, ``imports``, ``synchronised`` and ``journal`` are what they rest on.
    """
    status = service.status(request.scope)
    store = whole_store(service.store)
    backups = _backups(request.home)
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
        "checks": found if doctor is None else _worst_first([_doctor_line(doctor), *found]),
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
        "assistants": _assistants(),
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


def checks(service: MemoryService, request: ViewRequest, every: Sequence[Waiting]) -> list[dict[str, str]]:
    """Return in one line each how the memory is, the worst first; ``every`` is what waits in Review."""
    status, store = service.status(request.scope), whole_store(service.store)
    address = shown_address(request.home)
    folders = {} if store is None else known_folders(store.syncing)
    return _worst_first(
        [
            *(
                _line("note" if _is_progress(notice) else "bad", service.secrets.shown_text(notice))
                for notice in status.notices
            ),
            *([_review_line(len(every))] if every else []),
            *([] if store is None else [_backup_line(_backups(request.home), status, service.now())]),
            _vector_line(status),
            _assistant_line(_assistants()),
            *([] if address and not folders else [_sync_line(len(folders))]),
            *([] if address is None else [_shared_line(address, service.store.other_hubs())]),
        ]
    )


def _worst_first(lines: Sequence[dict[str, str]]) -> list[dict[str, str]]:
    return sorted(lines, key=lambda one: ("bad", "warn", "note", "good").index(one["state"]))


def _line(state: State, says: str, remedy: str = "", command: str = "", view: str = "") -> dict[str, str]:
    return {"state": state, "says": says, "remedy": remedy, "command": command, "view": view}


def _review_line(count: int) -> dict[str, str]:
    says = "1 memory is doubtful." if count == 1 else f"{count:,} memories are doubtful."
    return _line(
        "warn",
        says,
        "Say in Review whether it is true." if count == 1 else "Say in Review which are true.",
        view="/review",
    )


def _is_progress(notice: str) -> bool:
    """Return whether a notice tells of work that goes on by itself."""
    return any(words in notice for words in _PROGRESS)


def _checked(store: WholeStore, service: MemoryService) -> dict[str, Any]:
    """Read every row, beside other calls; what was reported before goes on being told elsewhere."""
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
        return _line("good", f"All {doctor['rows']:,} rows were read and compared: nothing is wrong.")
    return _line("bad", "The check found something wrong; it is listed below.", "", "hybrid-memory-mcp doctor")


def _backups(home: Path) -> list[dict[str, Any]]:
    """Return the backups of the store's folder, the newest first."""
    found = []
    for file in reversed(list_backups(home)):
        try:
            seen = file.stat()
        except OSError:
            continue
        at = datetime.fromtimestamp(seen.st_mtime, UTC).isoformat(timespec="seconds")
        found.append({"name": file.name, "at": at, "bytes": seen.st_size})
    return found


def _backup_line(backups: Sequence[dict[str, Any]], status: Status, now: datetime) -> dict[str, str]:
    command = "hybrid-memory-mcp backup"
    if not status.memories and not backups:
        return _line("note", "Nothing is remembered yet, so there is nothing to back up.")
    if not backups:
        return _line("warn", "There is no backup yet.", "Make one; it takes seconds, and nobody has to stop.", command)
    age = now - datetime.fromisoformat(backups[0]["at"])
    if age > _OLD_BACKUP:
        return _line("warn", f"The newest backup is {age.days} days old.", "Make a new one.", command)
    when = "today" if age < timedelta(days=1) else "a day ago" if age.days == 1 else f"{age.days} days ago"
    kept = "1 backup is" if len(backups) == 1 else f"{len(backups)} backups are"
    return _line("good", f"{kept} kept; the newest was made {when}.")


def _vector_line(status: Status) -> dict[str, str]:
    if status.pending_vectors:
        some = "1 memory waits" if status.pending_vectors == 1 else f"{status.pending_vectors:,} memories wait"
        return _line("note", f"{some} for the model that knows meanings; words find them meanwhile.")
    return _line("good", "Search knows words and meanings.")


def _assistants() -> list[dict[str, Any]]:
    return [
        {"name": one.name, "title": one.title, "state": one.state, "file": str(one.file)}
        for one in assistants(this_machine())
    ]


def _assistant_line(here: Sequence[dict[str, Any]]) -> dict[str, str]:
    having = [one["title"] for one in here if one["state"] in ("installed", "plugin")]
    lacking = [one for one in here if one["state"] == "absent"]
    if not here:
        return _line("note", "No known assistant was found on this machine.", "", "hybrid-memory-mcp install --print")
    if not having:
        names = ", ".join(one["title"] for one in lacking)
        says = f"{names} does not have the memory." if len(lacking) == 1 else f"{names}: none of them has the memory."
        return _line("note", says, "", "hybrid-memory-mcp install")  # perhaps on purpose, after `install --uninstall`
    says = f"{', '.join(having)} {'has' if len(having) == 1 else 'have'} the memory."
    if not lacking:
        return _line("good", says)
    others = ", ".join(one["title"] for one in lacking)
    command = f"hybrid-memory-mcp install {' '.join(one['name'] for one in lacking)}"
    return _line("note", f"{says} {others} could have it too.", "", command)


def _sync_line(folders: int) -> dict[str, str]:
    if not folders:
        return _line("note", "Kept on this machine alone, and synchronised with no other.")
    return _line("good", f"Synchronised through {'1 folder' if folders == 1 else f'{folders} folders'}.")


def _shared_line(address: str, hubs: Sequence[OtherHub]) -> dict[str, str]:
    names = ", ".join(dict.fromkeys(one.name for one in hubs))
    some = "one more hub serves them" if len(hubs) == 1 else f"{len(hubs)} more hubs serve them"
    return _line("good", f"The memories lie in {address}" + (f", and {some}: {names}." if hubs else "."))


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
            "title": format_named(one.format).TITLE if one.format in format_names() else one.format,
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
