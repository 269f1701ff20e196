"""Where damaged files are kept before anything is mended, and what is reported about them until somebody has seen it.

Each event has a folder ``quarantine/<time>-<what>`` alongside the database with copies of the files as they were found, and a
``report.json``. A folder gets its name when both are in it, so that a killed process leaves none that nobody can explain.
Opening and repair write here; a restore puts the replaced store here; ``status`` and ``doctor`` read the reports.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any

from hybrid_memory.private_files import FOLDER_MODE, fsync_folder, read_plain_file, replace_private, write_private
from hybrid_memory.store.duck.duckdb_errors import translated
from hybrid_memory.store.home_files import QUARANTINE, REPORT

_BEING_MADE = ".new"


@dataclass(frozen=True, slots=True, kw_only=True)
class RecoveryReport:
    """What was found damaged when a store was opened, and what became of it. The fields are those of ``report.json``.

    ``restored`` writes came back from the journal; ``lost`` acknowledged ones are missing, None when nobody can tell.
    ``folder`` is the name of the folder in quarantine. ``unfinished`` says that the recovery has only begun, ``seen`` that
    somebody has read the report.
    """

    at: str
    damaged: str
    folder: str
    restored: int = 0
    lost: int | None = None
    unfinished: bool = False
    seen: bool = False

    def message(self) -> str:
        """Return the report in a sentence or two, for people."""
        if self.lost is None:
            loss = "acknowledged writes may be missing, and how many cannot be told"
        elif self.lost:
            loss = f"the newest {self.lost} acknowledged {'write is' if self.lost == 1 else 'writes are'} missing"
        else:
            loss = "nothing that was acknowledged is missing"
        back = f", {self.restored} {'write was' if self.restored == 1 else 'writes were'} restored from the journal"
        return (
            f"{self.at}: {self.damaged}{back if self.restored else ''}; {loss}. The files as they were found are in "
            f"{QUARANTINE}/{self.folder}. `hybrid-memory-mcp doctor` checks the store and takes this notice away"
        )


def store_copies(database: Path, files: Mapping[str, bytes], what: str, now: datetime, report: RecoveryReport) -> Path:
    """Store files as they were found, by name, with a report, in a new folder in quarantine, durably; returns the folder.

    Raises:
        StoreFull, StoreReadOnly: there is no room for them, or the folder cannot be written.
    """
    with translated():
        folder = _free_folder(database, what, now)
        made = folder.with_name(_BEING_MADE)
        shutil.rmtree(made, ignore_errors=True)  # what a killed process left half done
        made.mkdir(FOLDER_MODE)
        try:
            for name, content in files.items():
                write_private(made / name, content)
            write_report(made, replace(report, folder=folder.name))
            made.replace(folder)
            fsync_folder(folder.parent)
        except BaseException:
            shutil.rmtree(made, ignore_errors=True)
            raise
        return folder


def write_report(folder: Path, report: RecoveryReport) -> None:
    """Store a report, durably, in place of what was stored before.

    Raises:
        StoreFull, StoreReadOnly: it cannot be written.
    """
    with translated():
        replace_private(folder / REPORT, json.dumps(asdict(report)).encode())


def close_interrupted(database: Path, name: str, content: bytes) -> None:
    """Report of recoveries that were killed, and kept a file ``name`` with this content, that nothing is missing.

    Raises:
        StoreFull, StoreReadOnly: that cannot be written.
    """
    for report in all_reports(database):
        folder = database.parent / QUARANTINE / report.folder
        if report.unfinished and _content(folder / name) == content:
            damaged = "a damaged store was mended in more than one attempt"
            write_report(folder, replace(report, damaged=damaged, lost=0, unfinished=False))


def unseen_reports(database: Path) -> Sequence[RecoveryReport]:
    """Return the reports that nobody has seen, oldest first."""
    return [report for report in all_reports(database) if not report.seen]


def all_reports(database: Path) -> Sequence[RecoveryReport]:
    """Return all reports, oldest first; a folder whose report cannot be read says so."""
    place = database.parent / QUARANTINE
    try:
        folders = sorted(one for one in place.iterdir() if one.is_dir() and one.name != _BEING_MADE)
    except OSError:
        return []
    return [_read_report(folder) for folder in folders]


def bytes_used(database: Path) -> int:
    """Return the bytes of all files in quarantine."""
    place = database.parent / QUARANTINE
    return sum(file.stat().st_size for file in place.rglob("*") if file.is_file())


def mark_all_seen(database: Path) -> None:
    """Let the reports no longer be told in the status.

    Raises:
        StoreFull, StoreReadOnly: that cannot be written.
    """
    for report in unseen_reports(database):
        write_report(database.parent / QUARANTINE / report.folder, replace(report, seen=True))


def create_folder(database: Path, what: str, now: datetime) -> Path:
    """Make a folder in quarantine whose name begins with the time and says ``what``; the caller holds the store's lock."""
    folder = _free_folder(database, what, now)
    folder.mkdir(FOLDER_MODE)
    return folder


def report_time(now: datetime) -> str:
    """Return a moment as it is in reports."""
    return f"{now.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def _free_folder(database: Path, what: str, now: datetime) -> Path:
    place = database.parent / QUARANTINE
    place.mkdir(FOLDER_MODE, exist_ok=True)
    stem = f"{now.astimezone(UTC):%Y%m%dT%H%M%SZ}-{what}"
    names = (stem if number == 1 else f"{stem}-{number}" for number in count(1))
    return next(folder for name in names if not (folder := place / name).exists())


def _content(file: Path) -> bytes | None:
    try:
        return read_plain_file(file)
    except OSError:
        return None


def _read_report(folder: Path) -> RecoveryReport:
    try:
        fields: dict[str, Any] = json.loads((folder / REPORT).read_text("utf-8"))
        return replace(RecoveryReport(**fields), folder=folder.name)
    except (OSError, ValueError, TypeError):
        return RecoveryReport(at=folder.name, damaged="files were put aside without a report", folder=folder.name)
