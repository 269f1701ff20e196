"""Reads every row of an open store and compares what must agree; called by ``doctor`` and by a repair.

The order: every table span by span, with the vectors; where all can be read, what must agree between tables and the hashes of
the words; then files, room on the disk, and what was reported before.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING

from hybrid_memory.clock import MOST_CARRIED, ahead_of_clock, to_micros
from hybrid_memory.errors import HybridMemoryError, StoreClosed
from hybrid_memory.language.text import content_hash
from hybrid_memory.store.duck import tables
from hybrid_memory.store.duck.catalogue import foreign_tables, foreign_things
from hybrid_memory.store.duck.files.database_file import size_on_disk
from hybrid_memory.store.duck.recovery import quarantine
from hybrid_memory.store.duck.recovery.bad_rows import (
    OTHER_DIGESTS,
    OTHER_REVISIONS,
    SPAN_ROWS,
    find_bad_rows,
    odd_rows,
)
from hybrid_memory.store.duck.sql_session import SqlSession
from hybrid_memory.store.findings import Finding, Report, Severity, report_of
from hybrid_memory.store.home_files import QUARANTINE, set_aside
from hybrid_memory.store.odd_rows import takes_all

if TYPE_CHECKING:
    from hybrid_memory.store.duck.engine import Engine
    from hybrid_memory.store.transfer import Refusal

TABLES = (
    *("namespace", "memory", "usage", "log", "buffer", "request", "embedder", "conversation", "entry", "mark"),
    *("term_key", "log_head"),
    *("sync_note", "sync_log", "sync_row", "sync_usage", "sync_item", "sync_folder", "sync_segment"),
    *("reading", "undo"),
)
_REPAIR = "close all clients and run `hybrid-memory-mcp doctor --repair`, which keeps the damaged file aside"
_TAMPERED = "somebody or something changed the file; `show --history ID` shows what is noted, a backup how it was"
_LEAST_FREE_BYTES = 100 * 2**20  # a checkpoint and a backup of a usual store fit in
_OTHERS = stat.S_IRWXG | stat.S_IRWXO

# Names of tables are this program's constants, and numbers of embedders; nothing else is put into a statement.
_BOUNDS = Template("SELECT min(rowid), max(rowid) FROM $table")
_READ = Template("SELECT count(*), bit_xor(hash(row)) FROM $table AS row WHERE rowid BETWEEN $$1 AND $$2")
_COUNT = Template("SELECT count(*) FROM $table WHERE rowid BETWEEN $$1 AND $$2")
_EMBEDDERS = "SELECT abs(number) FROM embedder ORDER BY number"
_AHEAD = "SELECT count(*) FROM memory WHERE created_at > ?"
_CONTENTS = "SELECT content, content_hash FROM memory WHERE rowid BETWEEN ? AND ?"
_ORPHANS = Template("""
    SELECT count(*) FROM $table AS v
    WHERE NOT EXISTS (SELECT 1 FROM memory AS m WHERE m.namespace = v.namespace AND m.id = v.id)
""")
_DOUBLE = Template("SELECT count(*) - count(DISTINCT (namespace, id)) FROM $table")
_NAME = "SELECT system.main.current_database()"
_COUNT_OF = Template("SELECT count(*) FROM ($rows)")
_OTHER_REVISIONS = _COUNT_OF.substitute(rows=OTHER_REVISIONS)
_OTHER_DIGESTS = _COUNT_OF.substitute(rows=OTHER_DIGESTS.substitute(prefix=""))


class _StoreCheck:
    """One check of an open store; other calls may go on meanwhile."""

    def __init__(self, engine: Engine, now: datetime, refusal: Refusal) -> None:
        self._refusal = refusal
        self._engine = engine
        self._now = now
        self._findings: list[Finding] = []
        self._rows: dict[str, int] = {}

    def report(self, *, mark_seen: bool) -> Report:
        """Check everything; ``mark_seen`` lets what happened before no longer be told in the status."""
        self._check_tables()
        if not any(finding.severity is Severity.ERROR for finding in self._findings):
            self._check_rows()
            self._check_odd_rows()
            self._check_agreement()
            self._check_contents()
            self._check_times()
        self._check_catalogue()
        self._check_files()
        self._report_history(mark_seen=mark_seen)
        return report_of(self._findings, self._rows)

    def _add(self, severity: Severity, what: str, remedy: str = "") -> None:
        self._findings.append(Finding(severity, what, remedy))

    @contextmanager
    def _reading(self, what: str) -> Iterator[SqlSession]:
        """Give a session; what cannot be read in it is a finding, and the check goes on."""
        try:
            with self._engine.reading() as session:
                yield session
        except StoreClosed:
            raise
        except HybridMemoryError:
            self._add(Severity.ERROR, f"{what} cannot be read", _REPAIR)

    def _check_catalogue(self) -> None:
        with self._reading("what the file declares") as session:
            name = session.rows(_NAME)[0][0]
            foreign = (*foreign_things(session, name), *foreign_tables(session, name))
            if foreign:
                sorts = ", ".join(sorted({one.split()[0] for one in foreign}))
                self._add(
                    Severity.ERROR,
                    f"the file declares {len(foreign)} things that are not this program's ({sorts})",
                    _REPAIR,
                )

    def _check_rows(self) -> None:
        with self._reading("the rows") as session:
            for table, rowids in find_bad_rows(session).items():
                one = len(rowids) == 1
                self._add(
                    Severity.ERROR,
                    f"{len(rowids)} {'row' if one else 'rows'} of the table {table} {'is' if one else 'are'} none that this "
                    f"program writes, and {'is' if one else 'are'} left out",
                    _REPAIR,
                )

    def _check_odd_rows(self) -> None:
        with self._reading("the table memory") as session:
            odd = odd_rows(session, self._refusal)
            if odd.refused:
                why = ", ".join(sorted(set(odd.refused.values())))
                self._add(
                    Severity.ERROR, f"{len(odd.refused)} memories are such that no import takes them: {why}", _REPAIR
                )
            if odd.raised:
                self._add(
                    Severity.WARNING,
                    f"{len(odd.raised)} memories of a tool or an import are trusted as more than that",
                    _REPAIR,
                )
            if odd.unprintable:
                self._add(
                    Severity.NOTE,
                    f"{odd.unprintable} memories hold control characters or no words",
                    "`export` shows them; `purge ID` takes them out",
                )

    def _check_tables(self) -> None:
        numbers: list[int] = []
        with self._reading("the embedder's number") as session:
            numbers = [number for (number,) in session.rows(_EMBEDDERS)]
        for table in (*TABLES, *(f"vector_{int(number)}" for number in numbers)):
            self._read_table(table)
        for number in numbers if not self._findings else ():
            self._check_vectors(f"vector_{int(number)}")

    def _read_table(self, table: str) -> None:
        self._rows[table] = unread = 0
        for span in _spans(self._bounds(table)):
            try:
                with self._engine.reading() as session:
                    self._rows[table] += session.rows(_READ.substitute(table=table), *span)[0][0]
            except StoreClosed:
                raise
            except HybridMemoryError:
                # Counting reads no values, so it tells how many rows the damage may concern.
                with self._reading(f"the table {table}") as session:
                    unread += session.rows(_COUNT.substitute(table=table), *span)[0][0]
        if unread:
            self._add(Severity.ERROR, f"up to {unread} rows of the table {table} cannot be read", _REPAIR)

    def _bounds(self, table: str) -> tuple[int | None, int | None]:
        with self._reading(f"the table {table}") as session:
            low, high = session.rows(_BOUNDS.substitute(table=table))[0]
            return low, high
        return None, None

    def _check_vectors(self, table: str) -> None:
        self._count(_DOUBLE.substitute(table=table), "memories have more than one vector", "reembed")
        self._count(_ORPHANS.substitute(table=table), "vectors belong to no memory", "reembed")

    def _check_agreement(self) -> None:
        self._count(_OTHER_REVISIONS, "memories have another revision than the log says", _REPAIR)
        self._count(_OTHER_DIGESTS, "memories have another digest than the log noted", _REPAIR)
        self._count(_ORPHANS.substitute(table="usage"), "rows of usage belong to no memory", _REPAIR)
        self._check_chains()

    def _check_chains(self) -> None:
        """Follow the chain of the log of each namespace; the first entry that does not fit is named."""
        names: list[str] = []
        with self._reading("the log") as session:
            names = tables.namespaces_with_log(session)
        unchained = anchors = 0
        for name in names:
            with self._engine.snapshot() as session:
                found = tables.check_log(session, name)
            unchained, anchors = unchained + found.unchained, anchors + found.anchors
            if found.problem is not None:
                self._add(Severity.WARNING, f"the audit log of the namespace {name!r}: {found.problem}", _TAMPERED)
        if anchors:
            self._add(
                Severity.NOTE,
                f"a repair began the chain of the audit log anew: {anchors} times; `repair` in the log says why",
            )
        if unchained:
            self._add(Severity.NOTE, f"{unchained} entries of the audit log are from before its chain of digests")

    def _count(self, statement: str, what: str, remedy: str) -> None:
        with self._reading("the store") as session:
            count = session.rows(statement)[0][0]
            if count:
                self._add(Severity.WARNING, f"{count} {what}", remedy)

    def _check_contents(self) -> None:
        changed = 0
        for span in _spans(self._bounds("memory")):
            with self._reading("the table memory") as session:
                changed += sum(
                    content_hash(words) != stored_hash for words, stored_hash in session.rows(_CONTENTS, *span)
                )
        if changed:
            self._add(
                Severity.ERROR,
                f"{changed} memories have other words than when they were written",
                f"restore a backup, or {_REPAIR} and their trust lower",
            )

    def _check_times(self) -> None:
        with self._reading("the table memory") as session:
            count = session.rows(_AHEAD, to_micros(self._now + MOST_CARRIED))[0][0]
            if count:
                self._add(Severity.WARNING, *ahead_of_clock(count))

    def _check_files(self) -> None:
        path = self._engine.path
        if os.name == "posix" and _is_open_to_others(path):
            self._add(
                Severity.WARNING,
                "other users of this machine may enter the store's folder or read its files",
                "take their rights away: chmod 700 for the folder, 600 for its files",
            )
        free, wanted = shutil.disk_usage(path.parent).free, max(_LEAST_FREE_BYTES, size_on_disk(path))
        if free < wanted:
            self._add(
                Severity.WARNING,
                f"only {free // 2**20} MiB are free on the store's disk; a backup or a purge may need {wanted // 2**20}",
                "make room",
            )

    def _report_history(self, *, mark_seen: bool) -> None:
        path = self._engine.path
        for recovery in quarantine.unseen_reports(path):
            self._add(Severity.NOTE, recovery.message())
        if kept := set_aside(path.parent):
            size = quarantine.bytes_used(path)
            self._add(
                Severity.NOTE,
                f"files that were put aside {'once' if len(kept) == 1 else f'{len(kept)} times'}, by a repair or a restore, "
                f"are kept in {QUARANTINE} ({size / 2**20:.1f} MiB), the newest in {QUARANTINE}/{kept[-1].name}",
                "`export` with such a folder as --home reads a store that a restore replaced; delete the folders when you no longer "
                "need them",
            )
        if mark_seen:
            quarantine.mark_all_seen(path)


def check_store(engine: Engine, now: datetime, *, mark_seen: bool, refusal: Refusal = takes_all) -> Report:
    """Read every row of an open store and compare what must agree, alongside other calls.

    ``mark_seen`` lets what happened before, such as a recovery, no longer be told in the status.
    ``refusal`` says what an import would not take.
    """
    return _StoreCheck(engine, now, refusal).report(mark_seen=mark_seen)


def _spans(bounds: tuple[int | None, int | None]) -> Iterator[tuple[int, int]]:
    low, high = bounds
    if low is not None and high is not None:
        for start in range(low - low % SPAN_ROWS, high + 1, SPAN_ROWS):
            yield start, start + SPAN_ROWS - 1


def _is_open_to_others(path: Path) -> bool:
    places: list[Callable[[], os.stat_result]] = [path.parent.stat]
    places += [file.stat for file in path.parent.iterdir() if file.name.startswith(path.stem) and file.is_file()]
    for read_stat in places:
        try:
            if read_stat().st_mode & _OTHERS:
                return True
        except FileNotFoundError:
            continue
    return False
