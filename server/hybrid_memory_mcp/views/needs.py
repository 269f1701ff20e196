"""What needs a person: the one list that `status`, Now, Review and Health go by, so that none says "all is well" while another warns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Literal

from hybrid_memory.store.administration import whole_store
from hybrid_memory.store.home_files import list_backups
from hybrid_memory.store.opening import shown_address
from hybrid_memory.store.reviewing import Reason
from hybrid_memory.store.syncing import known_folders
from hybrid_memory_mcp.clients.installed import assistants
from hybrid_memory_mcp.clients.places import this_machine

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from hybrid_memory.requests import Status
    from hybrid_memory.service.memory_service import MemoryService
    from hybrid_memory.store.other_hubs import OtherHub
    from hybrid_memory_mcp.views.view import ViewRequest
    from hybrid_memory_mcp.views.waiting import Waiting

_OLD_BACKUP = timedelta(days=14)
_PROGRESS = ("being made ready", "being embedded anew", "still being loaded")
_SAYS: Mapping[Reason, tuple[str, str, str]] = {  # of one, of several, what to do
    Reason.DISPUTED: (
        "1 memory contradicts one that you trust",
        "{:,} memories contradict one that you trust",
        "Say which of the two is true.",
    ),
    Reason.SECRET: ("1 memory holds a secret", "{:,} memories hold a secret", "Decide what to keep."),
    Reason.PASTED: (
        "1 memory may be somebody else's words",
        "{:,} memories may be somebody else's words",
        "Say what is true of you.",
    ),
    Reason.UNTRUSTED: (
        "1 memory comes from a tool or a file",
        "{:,} memories come from tools or files",
        "Nobody has said yet what is true.",
    ),
}

State = Literal["good", "note", "warn", "bad"]


def needs_of(service: MemoryService, request: ViewRequest, every: Sequence[Waiting]) -> list[dict[str, Any]]:
    """Return what needs a person: what waits in Review (``every``), by its reason, then what Health warns of, the worst first.

    Each has ``kind`` (a reason, or "health"), ``count``, ``says``, ``remedy``, and the ``command`` and ``view`` that help, if any.
    """
    counts = Counter(one.reason for one in every)
    return [
        *(_of_review(reason, counts[reason]) for reason in Reason if counts[reason]),
        *(
            {"kind": "health", "count": 1, "view": "/health"}
            | {name: one[name] for name in ("says", "remedy", "command")}
            for one in checks(service, request, every)
            if one["state"] in ("bad", "warn") and not one["view"]
        ),
    ]


def _of_review(reason: Reason, count: int) -> dict[str, Any]:
    one, several, remedy = _SAYS[reason]
    return {
        "kind": reason.value,
        "count": count,
        "says": one if count == 1 else several.format(count),
        "remedy": remedy,
        "command": "",
        "view": f"/review?reason={reason.value}",
    }


def checks(service: MemoryService, request: ViewRequest, every: Sequence[Waiting]) -> list[dict[str, str]]:
    """Return in one line each how the memory is, the worst first; ``every`` is what waits in Review."""
    status, store = service.status(request.scope), whole_store(service.store)
    address = shown_address(request.home)
    folders = {} if store is None else known_folders(store.syncing)
    return worst_first(
        [
            *(
                check_line("note" if _is_progress(notice) else "bad", service.secrets.shown_text(notice))
                for notice in status.notices
            ),
            *([_review_line(len(every))] if every else []),
            *([] if store is None else [_backup_line(backups_of(request.home), status, service.now())]),
            _vector_line(status),
            _assistant_line(assistants_here()),
            *([] if address and not folders else [_sync_line(len(folders))]),
            *([] if address is None else [_shared_line(address, service.store.other_hubs())]),
        ]
    )


def worst_first(lines: Sequence[dict[str, str]]) -> list[dict[str, str]]:
    """Return lines of `check_line` in order, the worst first."""
    return sorted(lines, key=lambda one: ("bad", "warn", "note", "good").index(one["state"]))


def check_line(state: State, says: str, remedy: str = "", command: str = "", view: str = "") -> dict[str, str]:
    """Return one line of how the memory is, with the remedy, the command and the view that help."""
    return {"state": state, "says": says, "remedy": remedy, "command": command, "view": view}


def _review_line(count: int) -> dict[str, str]:
    says = "1 memory is doubtful." if count == 1 else f"{count:,} memories are doubtful."
    return check_line(
        "warn",
        says,
        "Say in Review whether it is true." if count == 1 else "Say in Review which are true.",
        view="/review",
    )


def _is_progress(notice: str) -> bool:
    """Return whether a notice tells of work that goes on by itself."""
    return any(words in notice for words in _PROGRESS)


def backups_of(home: Path) -> list[dict[str, Any]]:
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
        return check_line("note", "Nothing is remembered yet, so there is nothing to back up.")
    if not backups:
        return check_line(
            "warn", "There is no backup yet.", "Make one; it takes seconds, and nobody has to stop.", command
        )
    age = now - datetime.fromisoformat(backups[0]["at"])
    if age > _OLD_BACKUP:
        return check_line("warn", f"The newest backup is {age.days} days old.", "Make a new one.", command)
    when = "today" if age < timedelta(days=1) else "a day ago" if age.days == 1 else f"{age.days} days ago"
    kept = "1 backup is" if len(backups) == 1 else f"{len(backups)} backups are"
    return check_line("good", f"{kept} kept; the newest was made {when}.")


def _vector_line(status: Status) -> dict[str, str]:
    if status.pending_vectors:
        some = "1 memory waits" if status.pending_vectors == 1 else f"{status.pending_vectors:,} memories wait"
        return check_line("note", f"{some} for the model that knows meanings; words find them meanwhile.")
    return check_line("good", "Search knows words and meanings.")


def assistants_here() -> list[dict[str, Any]]:
    """Return the assistants of this machine, and whether they have the memory."""
    return [
        {"name": one.name, "title": one.title, "state": one.state, "file": str(one.file)}
        for one in assistants(this_machine())
    ]


def _assistant_line(here: Sequence[dict[str, Any]]) -> dict[str, str]:
    having = [one["title"] for one in here if one["state"] in ("installed", "plugin")]
    lacking = [one for one in here if one["state"] == "absent"]
    if not here:
        return check_line(
            "note", "No known assistant was found on this machine.", "", "hybrid-memory-mcp install --print"
        )
    if not having:
        names = ", ".join(one["title"] for one in lacking)
        says = f"{names} does not have the memory." if len(lacking) == 1 else f"{names}: none of them has the memory."
        return check_line(
            "note", says, "", "hybrid-memory-mcp install"
        )  # perhaps on purpose, after `install --uninstall`
    says = f"{', '.join(having)} {'has' if len(having) == 1 else 'have'} the memory."
    if not lacking:
        return check_line("good", says)
    others = ", ".join(one["title"] for one in lacking)
    command = f"hybrid-memory-mcp install {' '.join(one['name'] for one in lacking)}"
    return check_line("note", f"{says} {others} could have it too.", "", command)


def _sync_line(folders: int) -> dict[str, str]:
    if not folders:
        return check_line("note", "Kept on this machine alone, and synchronised with no other.")
    return check_line("good", f"Synchronised through {'1 folder' if folders == 1 else f'{folders} folders'}.")


def _shared_line(address: str, hubs: Sequence[OtherHub]) -> dict[str, str]:
    names = ", ".join(dict.fromkeys(one.name for one in hubs))
    some = "one more hub serves them" if len(hubs) == 1 else f"{len(hubs)} more hubs serve them"
    return check_line("good", f"The memories lie in {address}" + (f", and {some}: {names}." if hubs else "."))
