"""Reads every row of a PostgreSQL store and compares what must agree, alongside the calls of all hubs: for ``doctor`` and a repair.

The order: every table whole; what no version of this program writes; where all can be read, what must agree between tables and the
hashes of the words, in one moment; then what protects the tables, and what an erasure left to do. That the server's own files are whole
is the server's matter (``pg_amcheck``); what it cannot read is told here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from string import Template
from typing import TYPE_CHECKING

import numpy as np

from hybrid_memory.clock import MOST_CARRIED, ahead_of_clock, to_micros
from hybrid_memory.errors import EngineUnavailable, HybridMemoryError, StoreClosed
from hybrid_memory.store.findings import Finding, Report, Severity, report_of
from hybrid_memory.store.memory_fields import MOST
from hybrid_memory.store.odd_rows import OddRows, find_odd_rows
from hybrid_memory.store.sql.rows import readable_object
from hybrid_memory_postgres.connections import EVERYTHING
from hybrid_memory_postgres.memory_table import COLUMNS, UNREADABLE, memory_of
from hybrid_memory_postgres.rewriting import is_unwritten
from hybrid_memory_postgres.row_security import wall_findings
from hybrid_memory_postgres.store_facts import read_only_findings
from hybrid_memory_postgres.tables import check_log

if TYPE_CHECKING:
    from hybrid_memory.model import Memory
    from hybrid_memory.store.transfer import Refusal
    from hybrid_memory_postgres.connections import Connections
    from hybrid_memory_postgres.sql_session import PgSession

REPAIR = "run `hybrid-memory-mcp doctor --repair`, which keeps such rows aside"
_TAMPERED = "somebody or something changed the tables; `show --history ID` shows what is noted, a backup how it was"
_DAMAGED = "restore a backup; pg_amcheck says what of the server's files is damaged"

_FIRST = to_micros(datetime.min.replace(tzinfo=UTC))  # what the calendar holds
_LAST = to_micros(datetime.max.replace(tzinfo=UTC))
_MOMENT = f"BETWEEN {_FIRST} AND {_LAST}"

_BOUNDS = {
    "moment": _MOMENT,
    "most": f"BETWEEN 0 AND {MOST}",
    "whole": f"BETWEEN {-MOST} AND {MOST}",
    "columns": COLUMNS,
}
_READ = (
    *(
        "namespace",
        "memory",
        "vector",
        "usage",
        "log",
        "buffer",
        "request",
        "embedder",
        "conversation",
        "entry",
        "reading",
        "undo",
    ),
    *("sync_row", "sync_usage", "sync_item"),
)


def _filled(statement: str, **words: str) -> str:
    """Return a statement with this program's own numbers and names in it."""
    return Template(statement).substitute(**_BOUNDS, **words)


# Every value is read, and none sent.
_READ_WHOLE = {
    table: _filled("SELECT count(*), bit_xor(hashtextextended(r::text, 0)) FROM $table AS r", table=table)
    for table in _READ
}
# What no version of this program writes, by table: the place of each row.
_BESIDE: Mapping[str, str] = {
    "usage": _filled("SELECT ctid::text FROM usage WHERE accessed_at NOT $moment OR count < 0"),
    "log": _filled("""
        SELECT ctid::text FROM log WHERE change NOT IN ('put', 'patch', 'purge') OR made_at NOT $moment OR position < 1
            OR position NOT $most OR rev NOT $whole
    """),
    "buffer": _filled("SELECT ctid::text FROM buffer WHERE touched_at NOT $moment"),
    "namespace": _filled("SELECT ctid::text FROM namespace WHERE trimmed_before NOT $most OR position NOT $most"),
    "conversation": _filled("SELECT ctid::text FROM conversation WHERE last NOT $whole"),
    "vector": """
        SELECT v.ctid::text FROM vector AS v JOIN embedder AS e ON abs(e.number) = v.embedder WHERE octet_length(v.vec) <> 4 * e.dimensions
    """,
}
# The same, with a text that has to be a JSON object.
_OBJECTS: Mapping[str, str] = {
    "request": _filled("SELECT ctid::text, result, made_at NOT $moment OR position NOT $most FROM request"),
    "entry": "SELECT ctid::text, body, false FROM entry",
    "undo": _filled("SELECT ctid::text, body, made_at NOT $moment FROM undo"),
    "reading": _filled("""
        SELECT ctid::text, filters, number < 1 OR number NOT $most OR read_at NOT $moment OR matched NOT $most OR tokens NOT $most
            OR way NOT IN ('tool', 'hook', 'resource', 'prompt') OR asked NOT IN ('question', 'more', 'brief', 'ids', 'latest')
            OR outcome NOT IN ('found', 'weak', 'unknown', 'nothing') FROM reading
    """),
}
_MEMORIES = _filled("""
    SELECT $columns, ctid::text FROM memory WHERE (namespace, id) > ($$1, $$2) ORDER BY namespace, id LIMIT 2000
""")
_VECTORS = """
    SELECT embedder, namespace, id, vec, ctid::text FROM vector WHERE (embedder, namespace, id) > ($1, $2, $3)
    ORDER BY embedder, namespace, id LIMIT 2000
"""
_OTHER_DIGESTS = """
    SELECT DISTINCT l.namespace, l.id FROM log AS l JOIN memory AS m USING (namespace, id)
    WHERE l.digest <> m.content_hash AND l.digest <> '' AND l.position > coalesce((SELECT max(r.position) FROM log AS r
        WHERE r.namespace = l.namespace AND r.id = l.id AND r.action = 'repair'), 0)
"""
_OTHER_REVISIONS = """
    SELECT m.namespace, m.id FROM memory AS m LEFT JOIN LATERAL (
        SELECT l.rev FROM log AS l WHERE l.namespace = m.namespace AND l.id = m.id ORDER BY l.position DESC LIMIT 1
    ) AS last ON true WHERE last.rev IS DISTINCT FROM m.rev
"""
_IMPORTED_AS_TOLD = """
    SELECT DISTINCT namespace, id FROM log WHERE change = 'put'
        AND (action = 'sync' OR starts_with(action, 'import ') AND right(note, 11) = 'trust agent')
"""
_CONFIRMED_BY_A_PERSON = """
    SELECT DISTINCT namespace, id FROM log WHERE strpos(note, 'to confirmed') > 0
        OR change = 'put' AND (action = 'sync' OR starts_with(action, 'import') AND right(note, 15) = 'trust confirmed')
"""
_AHEAD = "SELECT count(*) FROM memory WHERE created_at > $1"
USAGE_ORPHANS = """
    SELECT ctid::text FROM usage AS u WHERE NOT EXISTS (SELECT 1 FROM memory AS m WHERE m.namespace = u.namespace AND m.id = u.id)
"""
VECTOR_ORPHANS = """
    SELECT ctid::text FROM vector AS v WHERE NOT EXISTS (SELECT 1 FROM memory AS m WHERE m.namespace = v.namespace AND m.id = v.id)
"""
NAMESPACES_WITH_LOG = "SELECT name FROM namespace WHERE position > 0 UNION SELECT namespace FROM log ORDER BY name"


def check_store(connections: Connections, now: datetime, refusal: Refusal) -> Report:
    """Read every row of an open store and compare what must agree. ``refusal`` says what an import would not take."""
    return _StoreCheck(connections, now, refusal).report()


class _StoreCheck:
    """One check of an open store; other calls, of other hubs too, go on meanwhile."""

    def __init__(self, connections: Connections, now: datetime, refusal: Refusal) -> None:
        self._connections = connections
        self._now = now
        self._refusal = refusal
        self._findings: list[Finding] = []
        self._rows: dict[str, int] = {}

    def report(self) -> Report:
        """Do it all."""
        self._read_tables()
        if not self._findings:
            with self._connections.copying(EVERYTHING) as session:
                self._check_rows(session)
                self._check_odd_rows(session)
                self._check_agreement(session)
                self._check_chains(session)
                count = session.rows(_AHEAD, to_micros(self._now + MOST_CARRIED))[0][0]
                if count:
                    self._add(Severity.WARNING, *ahead_of_clock(count))
        with self._connections.reading(EVERYTHING) as session:
            self._findings += wall_findings(session)
            self._findings += read_only_findings(session)
        if is_unwritten(self._connections):
            self._add(
                Severity.WARNING,
                "what was erased lately may still stand in the server's files: the tables could not be written anew",
                "run `hybrid-memory-mcp doctor --repair` at a quiet time",
            )
        return report_of(self._findings, self._rows)

    def _add(self, severity: Severity, what: str, remedy: str = "") -> None:
        self._findings.append(Finding(severity, what, remedy))

    def _read_tables(self) -> None:
        for table, statement in _READ_WHOLE.items():
            try:
                with self._connections.reading(EVERYTHING) as session:
                    self._rows[table] = int(session.rows(statement)[0][0])
            except (StoreClosed, EngineUnavailable):
                raise
            except HybridMemoryError:
                self._add(Severity.ERROR, f"the table {table} cannot be read whole", _DAMAGED)

    def _check_rows(self, session: PgSession) -> None:
        for table, places in bad_rows(session).items():
            one = len(places) == 1
            self._add(
                Severity.ERROR,
                f"{len(places)} {'row' if one else 'rows'} of the table {table} {'is' if one else 'are'} none that this program writes, "
                f"and {'is' if one else 'are'} left out",
                REPAIR,
            )

    def _check_odd_rows(self, session: PgSession) -> None:
        odd, _ = odd_rows(session, self._refusal)
        if odd.refused:
            why = ", ".join(sorted(set(odd.refused.values())))
            self._add(Severity.ERROR, f"{len(odd.refused)} memories are such that no import takes them: {why}", REPAIR)
        if odd.changed:
            self._add(
                Severity.ERROR,
                f"{len(odd.changed)} memories have other words than when they were written",
                f"restore a backup, or {REPAIR} and their trust lower",
            )
        if odd.raised:
            self._add(
                Severity.WARNING,
                f"{len(odd.raised)} memories of a tool or an import are trusted as more than that",
                REPAIR,
            )
        if odd.unprintable:
            self._add(
                Severity.NOTE,
                f"{odd.unprintable} memories hold control characters or no words",
                "`export` shows them; `purge ID` takes them out",
            )

    def _check_agreement(self, session: PgSession) -> None:
        for statement, what, remedy in (
            (_OTHER_REVISIONS, "memories have another revision than the log says", REPAIR),
            (USAGE_ORPHANS, "rows of usage belong to no memory", REPAIR),
            (VECTOR_ORPHANS, "vectors belong to no memory", REPAIR),
        ):
            count = len(session.rows(statement))
            if count:
                self._add(Severity.WARNING, f"{count} {what}", remedy)

    def _check_chains(self, session: PgSession) -> None:
        """Follow the chain of the log of each namespace; the first entry that does not fit is named."""
        unchained = anchors = 0
        for (name,) in session.rows(NAMESPACES_WITH_LOG):
            found = check_log(session, name)
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


def bad_rows(session: PgSession) -> dict[str, list[str]]:
    """Return by table the places (ctid) of what a reader could not take for what it should be; empty where all is well."""
    found = {"memory": [place for place, memory in memories_of(session) if memory is None]}
    for table, statement in _BESIDE.items():
        found[table] = [place for (place,) in session.rows(statement)]
    for table, statement in _OBJECTS.items():
        found[table] = [
            place for place, text, wrong in session.rows(statement) if wrong or readable_object(text) is None
        ]
    found["vector"] += [place for place in _endless_vectors(session) if place not in found["vector"]]
    return {table: places for table, places in found.items() if places}


def memories_of(session: PgSession) -> Iterator[tuple[str, Memory | None]]:
    """Yield the place of each memory with the memory; None for a row that is none."""
    after = ("", "")
    while rows := session.rows(_MEMORIES, *after):
        for row in rows:
            try:
                yield row[-1], memory_of(row[:-1])
            except UNREADABLE:
                yield row[-1], None
        after = rows[-1][:2]


def odd_rows(session: PgSession, refusal: Refusal) -> tuple[OddRows, Sequence[str]]:
    """Return the memories that a reader takes but that do not fit, and the places (ctid) that their numbers stand for."""
    places: list[str] = []

    def numbered() -> Iterator[tuple[int, Memory]]:
        for place, memory in memories_of(session):
            if memory is not None:
                places.append(place)
                yield len(places) - 1, memory

    noted, told, confirmed = (session.rows(one) for one in (_OTHER_DIGESTS, _IMPORTED_AS_TOLD, _CONFIRMED_BY_A_PERSON))
    return find_odd_rows(numbered(), noted, told, confirmed, refusal), places


def other_revisions(session: PgSession) -> list[tuple[str, str]]:
    """Return the memories (namespace and id) of which the log does not have the newest revision."""
    return [(namespace, id_) for namespace, id_ in session.rows(_OTHER_REVISIONS)]


def _endless_vectors(session: PgSession) -> Iterator[str]:
    after = (0, "", "")
    while rows := session.rows(_VECTORS, *after):
        for *_, vec, place in rows:
            if len(vec) % 4 == 0 and not np.isfinite(np.frombuffer(vec, "<f4")).all():
                yield place
        after = tuple(rows[-1][:3])
