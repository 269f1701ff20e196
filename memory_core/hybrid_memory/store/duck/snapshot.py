"""Reads all memories of a namespace as columns, chunk by chunk, at one moment.

Called by `DuckStore.snapshot`: `read_names` and `read_spans` at once, `read_batches` while the search structures are filled.

Rows are selected by their row ids alone: DuckDB then skips the rest of the table, which it does not with a filter by namespace
alongside it (measured: 0.05 instead of 0.4 s a million rows and column). Texts are read joined to one text, or as hashes, because
an object for each takes longer than everything else.

A row is an input: one of which no memory can be made is marked ``unreadable`` in its batch, and noted in the session.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hybrid_memory.clock import to_micros
from hybrid_memory.model import Json, MemoryId
from hybrid_memory.moments import EARLIEST_MICROS, LATEST_MICROS
from hybrid_memory.store.column_batches import digests_from_hex, digests_of, pack_ids, run_offsets, split_ids
from hybrid_memory.store.duck.sql_session import SqlSession
from hybrid_memory.store.memory_fields import (
    FIRST_DAY,
    LAST_DAY,
    UNSTORABLE,
    check_links,
    object_from_json,
    texts_from_json,
)
from hybrid_memory.store.snapshots import NO_TIME, ColumnBatch

_SPAN = "SELECT min(rowid), max(rowid) FROM memory WHERE namespace = ?"
_COLUMNS = """
    SELECT rowid AS place, namespace = $1 AS here,
        (CASE tier WHEN 'sensory' THEN 0 WHEN 'short_term' THEN 1 WHEN 'long_term' THEN 2 WHEN 'faded' THEN 3
            WHEN 'working' THEN 4 WHEN 'episodic' THEN 5 ELSE -1 END)::TINYINT AS tier,
        (CASE kind WHEN 'observation' THEN 0 WHEN 'insight' THEN 1 WHEN 'summary' THEN 2 WHEN 'task' THEN 3
            WHEN 'episode' THEN 4
            ELSE -1 END)::TINYINT AS kind,
        (CASE trust WHEN 'untrusted' THEN 0 WHEN 'agent' THEN 1 WHEN 'user' THEN 2 WHEN 'confirmed' THEN 3
            ELSE -1 END)::TINYINT AS trust,
        origin IN ('user', 'agent', 'tool', 'import', 'derived')
            AND rev BETWEEN -4611686018427387903 AND 4611686018427387903
            AND coalesce(encoding BETWEEN -4611686018427387903 AND 4611686018427387903, false)
            AND coalesce(occurred_at, 0) <> -9223372036854775807 AND coalesce(expires_at, 0) <> -9223372036854775807
            AND coalesce(forgotten_at, 0) <> -9223372036854775807
            AND coalesce(reflected_at, 0) <> -9223372036854775807 AS sound,
        hash(session) AS session, hash(speaker) AS speaker, pinned, importance, created_at,
        coalesce(occurred_at, -9223372036854775807) AS occurred_at,
        coalesce(expires_at, -9223372036854775807) AS expires_at,
        coalesce(forgotten_at, -9223372036854775807) AS forgotten_at,
        coalesce(reflected_at, -9223372036854775807) AS reflected_at,
        len(terms) AS term_count, coalesce(len(names), 0) AS name_count, coalesce(len(days), 0) AS day_count,
        coalesce(try_cast(aspects AS INTEGER), -1) AS aspects
    FROM memory WHERE rowid BETWEEN $2 AND $3
"""
_IDS = """
    SELECT string_agg(id, '' ORDER BY rowid), min(strlen(id)), max(strlen(id))
    FROM memory WHERE rowid BETWEEN $2 AND $3 AND concat(namespace) = $1
"""
_PLAIN_IDS = "SELECT id FROM memory WHERE rowid BETWEEN $2 AND $3 AND concat(namespace) = $1"
_HASHES = """
    SELECT string_agg(content_hash, '' ORDER BY rowid), min(strlen(content_hash)), max(strlen(content_hash))
    FROM memory WHERE rowid BETWEEN $2 AND $3 AND concat(namespace) = $1
"""
_PLAIN_HASHES = "SELECT content_hash FROM memory WHERE rowid BETWEEN $2 AND $3 AND concat(namespace) = $1"
_PLAIN_NAMES = """
    SELECT session, speaker FROM memory WHERE rowid BETWEEN $2 AND $3 AND concat(namespace) = $1
"""
_TERMS = """
    SELECT unnest(terms) AS term FROM memory WHERE rowid BETWEEN $2 AND $3 AND concat(namespace) = $1
"""
_NAMES = """
    SELECT unnest(names) AS name FROM memory WHERE rowid BETWEEN $2 AND $3 AND concat(namespace) = $1
"""
_DAYS = """
    SELECT unnest(days) AS day FROM memory WHERE rowid BETWEEN $2 AND $3 AND concat(namespace) = $1
"""
_NO_LINKS = [None] * 5
_SPARSE = """
    SELECT rowid, key, tags, metadata, superseded_by, disputes, parents, supersedes, duplicate_of
    FROM memory WHERE rowid BETWEEN ? AND ?
        AND (key IS NOT NULL OR tags IS NOT NULL OR metadata IS NOT NULL OR superseded_by IS NOT NULL
            OR disputes IS NOT NULL OR parents IS NOT NULL OR supersedes IS NOT NULL OR duplicate_of IS NOT NULL)
"""
_SESSIONS = """
    SELECT hash(session), session FROM memory WHERE namespace = ? GROUP BY session ORDER BY min(rowid)
"""
_SPEAKERS = """
    SELECT hash(speaker), speaker FROM memory WHERE namespace = ? AND speaker IS NOT NULL
    GROUP BY speaker ORDER BY min(rowid)
"""
_IDS_AT = """
    SELECT id FROM memory WHERE rowid IN (SELECT unnest(from_json(?, '["BIGINT"]')))
"""
_USAGE = "SELECT id, accessed_at, count FROM usage WHERE namespace = ?"
_CHUNK_ROWS = 20_480  # ten times what DuckDB reads at once: few statements, and a chunk is a few megabytes
_FIRST_MICROS = to_micros(datetime.min.replace(tzinfo=UTC))  # what the calendar holds, more than what comes in now
_LAST_MICROS = to_micros(datetime.max.replace(tzinfo=UTC))


@dataclass(frozen=True, slots=True)
class NameTable:
    """The names that a column holds, and the engine's hash of each, by which rows tell theirs."""

    names: tuple[str, ...]
    hashes: NDArray[np.uint64]
    order: NDArray[np.intp]

    @property
    def is_unambiguous(self) -> bool:
        """Whether each name has a hash of its own, so that a hash is enough to know the name."""
        found = self.hashes[self.order]
        return bool(np.all(found[1:] != found[:-1]))

    def codes(self, hashes: NDArray[np.uint64]) -> NDArray[np.int32]:
        """Return the place of each name, -1 for none."""
        if not len(self.names):
            return np.full(len(hashes), -1, np.int32)
        first = np.flatnonzero(np.append(np.ones(min(len(hashes), 1), np.bool_), hashes[1:] != hashes[:-1]))
        distinct = hashes[first]
        at = np.minimum(np.searchsorted(self.hashes, distinct, sorter=self.order), len(self.names) - 1)
        codes = np.where(self.hashes[self.order[at]] == distinct, self.order[at], -1)
        return np.repeat(codes, np.diff(first, append=len(hashes))).astype(np.int32)


@dataclass(frozen=True, slots=True)
class _Usage:
    """When and how often memories were used, by rising id."""

    ids: NDArray[np.bytes_]
    accessed_at: NDArray[np.int64]
    count: NDArray[np.int64]

    def of(self, ids: NDArray[np.bytes_]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        accessed_at, count = np.full(len(ids), NO_TIME, np.int64), np.zeros(len(ids), np.int64)
        if len(self.ids):
            at = np.minimum(np.searchsorted(self.ids, ids), len(self.ids) - 1)
            used = self.ids[at] == ids
            accessed_at[used], count[used] = self.accessed_at[at[used]], self.count[at[used]]
        return accessed_at, count


def read_names(session: SqlSession, namespace: str) -> tuple[NameTable, NameTable]:
    """Return the sessions and the speakers of a namespace, in order of their first memory."""
    return _table(session.rows(_SESSIONS, namespace)), _table(session.rows(_SPEAKERS, namespace))


def read_spans(session: SqlSession, namespace: str) -> list[tuple[int, NDArray[np.bytes_]]]:
    """Return the first row id of each chunk that holds memories of the namespace, and their ids.

    Row ids have holes after deletes and belong to all namespaces together, so chunks differ in size.
    """
    low, high = session.rows(_SPAN, namespace)[0]
    if low is None:
        return []
    found = []
    for start in range(low, high + 1, _CHUNK_ROWS):
        span = (namespace, start, start + _CHUNK_ROWS - 1)
        ids = split_ids(*session.rows(_IDS, *span)[0])
        if ids is None:
            ids = pack_ids(session.columns(_PLAIN_IDS, *span)["id"].tolist())
        if len(ids):
            found.append((start, ids))
    return found


def read_batches(
    session: SqlSession,
    namespace: str,
    spans: Sequence[tuple[int, NDArray[np.bytes_]]],
    names: tuple[NameTable, NameTable],
) -> Iterator[ColumnBatch]:
    """Yield the batches of some spans; the session must still be in the transaction that read the spans."""
    used = _read_usage(session, namespace)
    for start, ids in spans:
        span = (namespace, start, start + _CHUNK_ROWS - 1)
        columns = {name: np.asarray(values) for name, values in session.columns(_COLUMNS, *span).items()}
        here = columns.pop("here").astype(np.bool_)
        if not here.all():
            columns = {name: values[here] for name, values in columns.items()}
        yield _batch(session, span, columns, names, ids, used.of(ids))


def _batch(
    session: SqlSession,
    span: tuple[str, int, int],
    columns: dict[str, Any],
    names: tuple[NameTable, NameTable],
    ids: NDArray[np.bytes_],
    used: tuple[NDArray[np.int64], NDArray[np.int64]],
) -> ColumnBatch:
    sessions, speakers = _codes(session, span, columns, names)
    sparse = _sparse(session, span, columns["place"])
    runs = [
        _runs(session.columns(statement, *span), columns[count])
        for statement, count in ((_TERMS, "term_count"), (_NAMES, "name_count"), (_DAYS, "day_count"))
    ]
    (terms, term_offsets, no_terms), (names_, name_offsets, no_names), (days, day_offsets, no_days) = runs
    unreadable = _unreadable(columns, ids) | no_terms | no_names | no_days | _with_impossible_day(days, day_offsets)
    unreadable[sparse.unreadable] = True
    if unreadable.any():
        _note_unreadable(session, span[0], columns["place"][unreadable])
        for name in ("tier", "kind", "trust", "aspects", "importance", "created_at"):
            columns[name] = np.where(unreadable, 0, columns[name])
    return ColumnBatch(
        ids=ids,
        unreadable=unreadable,
        tier=columns["tier"].astype(np.int8),
        kind=columns["kind"].astype(np.int8),
        trust=columns["trust"].astype(np.int8),
        session=sessions,
        speaker=speakers,
        digests=_digests(session, span),
        key=sparse.keys,
        tags=sparse.tags,
        metadata=sparse.metadata,
        superseded_by=sparse.successors,
        disputes=sparse.disputes,
        pinned=columns["pinned"].astype(np.bool_),
        importance=columns["importance"].astype(np.float64),
        aspects=columns["aspects"].astype(np.int32),
        created_at=columns["created_at"].astype(np.int64),
        occurred_at=columns["occurred_at"].astype(np.int64),
        expires_at=columns["expires_at"].astype(np.int64),
        forgotten_at=columns["forgotten_at"].astype(np.int64),
        reflected_at=columns["reflected_at"].astype(np.int64),
        accessed_at=used[0],
        access_count=used[1],
        term_offsets=term_offsets,
        terms=terms,
        name_offsets=name_offsets,
        names=names_,
        day_offsets=day_offsets,
        days=days,
    )


def _unreadable(columns: Mapping[str, Any], ids: NDArray[np.bytes_]) -> NDArray[np.bool_]:
    """Return the rows of which `memory_table.memory_of` could not make a memory, as far as their plain values tell."""
    found = ~columns["sound"].astype(np.bool_) | ~np.isfinite(columns["importance"])
    for name in ("tier", "kind", "trust", "aspects"):
        found |= columns[name] < 0
    created = columns["created_at"]
    found |= (created < _FIRST_MICROS) | (created > _LAST_MICROS)
    for name in ("occurred_at", "expires_at", "forgotten_at", "reflected_at"):
        moments = columns[name]
        found |= ((moments < _FIRST_MICROS) & (moments != NO_TIME)) | (moments > _LAST_MICROS)
    if UNSTORABLE.encode() in ids.tobytes():
        found |= np.char.startswith(ids, UNSTORABLE.encode())
    return np.asarray(found, np.bool_)


def _runs(
    found: Mapping[str, Any], counts: NDArray[np.int64]
) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.bool_]]:
    """Return the numbers of some rows, where each row's begin, and which rows have holes among theirs."""
    (values,) = found.values()
    offsets = run_offsets(counts.astype(np.int64))
    holed = np.zeros(len(counts), np.bool_)
    if isinstance(values, np.ma.MaskedArray) and values.mask.any():
        holed[np.searchsorted(offsets, np.flatnonzero(values.mask), side="right") - 1] = True
        values = values.filled(0)
    return np.asarray(values, np.int32), offsets, holed


def _with_impossible_day(days: NDArray[np.int32], offsets: NDArray[np.int64]) -> NDArray[np.bool_]:
    found = np.zeros(len(offsets) - 1, np.bool_)
    places = np.flatnonzero((days < FIRST_DAY) | (days > LAST_DAY))
    found[np.searchsorted(offsets, places, side="right") - 1] = True
    return found


def _note_unreadable(session: SqlSession, namespace: str, places: NDArray[np.int64]) -> None:
    rows = session.rows(_IDS_AT, json.dumps(places.tolist()))
    session.unreadable.update((namespace, id_) for (id_,) in rows)


def _digests(session: SqlSession, span: tuple[str, int, int]) -> NDArray[np.uint64]:
    (row,) = session.rows(_HASHES, *span)
    found = digests_from_hex(row[0].encode()) if row[1] == row[2] == 32 else None  # noqa: PLR2004 - 128 bits in hex
    if found is None:
        return digests_of(session.columns(_PLAIN_HASHES, *span)["content_hash"].tolist())
    return found


def _codes(
    session: SqlSession, span: tuple[str, int, int], columns: Mapping[str, Any], names: tuple[NameTable, NameTable]
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the places of the rows' sessions and speakers, by the names themselves if two share a hash."""
    if all(table.is_unambiguous for table in names):
        return names[0].codes(columns["session"]), names[1].codes(columns["speaker"])
    plain = session.columns(_PLAIN_NAMES, *span)
    found = []
    for table, column in zip(names, ("session", "speaker"), strict=True):
        place = {name: at for at, name in enumerate(table.names)}
        found.append(np.array([place.get(name, -1) for name in plain[column].tolist()], np.int32))
    return found[0], found[1]


@dataclass(frozen=True, slots=True)
class _Sparse:
    """What few rows have, by their places; ``unreadable`` are the places of those whose lists or objects are none."""

    keys: dict[int, str] = field(default_factory=dict)
    tags: dict[int, tuple[str, ...]] = field(default_factory=dict)
    metadata: dict[int, Mapping[str, Json]] = field(default_factory=dict)
    successors: dict[int, MemoryId] = field(default_factory=dict)
    disputes: dict[int, MemoryId] = field(default_factory=dict)
    unreadable: list[int] = field(default_factory=list)

    @property
    def columns(self) -> tuple[dict[int, Any], ...]:
        """All columns, in the order of the statement."""
        return self.keys, self.tags, self.metadata, self.successors, self.disputes


def _sparse(session: SqlSession, span: tuple[str, int, int], rowids: NDArray[np.int64]) -> _Sparse:
    """Return what few rows have, by their places among ``rowids``."""
    sparse = _Sparse()
    parsed: dict[str, tuple[str, ...]] = {}  # few distinct lists of tags, many rows
    found = session.rows(_SPARSE, *span[1:])
    wanted = np.array([row[0] for row in found], np.int64)
    places = np.minimum(np.searchsorted(rowids, wanted), len(rowids) - 1)
    here = (rowids[places] == wanted).tolist()
    for place, is_here, (_, key, tags, data, successor, disputed, parents, *links) in zip(
        places.tolist(), here, found, strict=True
    ):
        if not is_here:
            continue
        try:
            if tags is not None and tags not in parsed:
                parsed[tags] = texts_from_json(tags)
            if [parents, successor, disputed, *links] != _NO_LINKS:
                check_links(parents, successor, disputed, *links)
            metadata = object_from_json(data)
        except ValueError:
            sparse.unreadable.append(place)
            continue
        values = (key, None if tags is None else parsed[tags], metadata or None, successor, disputed)
        for by_place, value in zip(sparse.columns, values, strict=True):
            if value is not None:
                by_place[place] = value
    return sparse


def _read_usage(session: SqlSession, namespace: str) -> _Usage:
    found = session.columns(_USAGE, namespace)
    ids = pack_ids(found["id"].tolist())
    order = np.argsort(ids, kind="stable")
    accessed_at = np.clip(np.asarray(found["accessed_at"])[order], EARLIEST_MICROS, LATEST_MICROS)
    return _Usage(ids[order], accessed_at, np.maximum(np.asarray(found["count"])[order], 0))


def _table(found: list[tuple[Any, ...]]) -> NameTable:
    hashes = np.array([value for value, _ in found], np.uint64)
    return NameTable(tuple(name for _, name in found), hashes, np.argsort(hashes, kind="stable"))
