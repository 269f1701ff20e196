"""Reads all memories of a namespace as columns, chunk by chunk, at one moment.

Called by `DuckStore.snapshot`: `read_names` and `read_spans` at once, `read_batches` while the search structures are filled.

Rows are selected by their row ids alone: DuckDB then skips the rest of the table, which it does not with a filter by namespace
beside it (measured: 0.05 instead of 0.4 s a million rows and column). Texts are read joined to one text, or as hashes, because
an object for each takes longer than everything else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hybrid_memory.errors import StoreDamaged
from hybrid_memory.model import MemoryId
from hybrid_memory.store.base import NO_TIME, ColumnBatch
from hybrid_memory.store.column_batches import digests_from_hex, digests_of, pack_ids, run_offsets
from hybrid_memory.store.duck.duckdb_errors import DAMAGED
from hybrid_memory.store.duck.sql_session import SqlSession
from hybrid_memory.store.memory_fields import texts_from_json

_SPAN = "SELECT min(rowid), max(rowid) FROM memory WHERE namespace = ?"
_COLUMNS = """
    SELECT rowid AS place, namespace = $1 AS here,
        (CASE tier WHEN 'sensory' THEN 0 WHEN 'short_term' THEN 1 WHEN 'long_term' THEN 2 WHEN 'faded' THEN 3
            WHEN 'working' THEN 4 WHEN 'episodic' THEN 5 ELSE -1 END)::TINYINT AS tier,
        (CASE kind WHEN 'observation' THEN 0 WHEN 'insight' THEN 1 WHEN 'summary' THEN 2 WHEN 'task' THEN 3
            ELSE -1 END)::TINYINT AS kind,
        (CASE trust WHEN 'untrusted' THEN 0 WHEN 'agent' THEN 1 WHEN 'user' THEN 2 WHEN 'confirmed' THEN 3
            ELSE -1 END)::TINYINT AS trust,
        hash(session) AS session, hash(speaker) AS speaker, pinned, importance, created_at,
        coalesce(occurred_at, -9223372036854775807) AS occurred_at,
        coalesce(expires_at, -9223372036854775807) AS expires_at,
        coalesce(forgotten_at, -9223372036854775807) AS forgotten_at,
        coalesce(reflected_at, -9223372036854775807) AS reflected_at,
        len(terms) AS term_count, coalesce(len(names), 0) AS name_count, coalesce(len(days), 0) AS day_count,
        coalesce(aspects, 0)::INTEGER AS aspects
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
_SPARSE = """
    SELECT rowid, key, tags, metadata, superseded_by, disputes FROM memory WHERE rowid BETWEEN ? AND ?
        AND (key IS NOT NULL OR tags IS NOT NULL OR metadata IS NOT NULL OR superseded_by IS NOT NULL
            OR disputes IS NOT NULL)
"""
_SESSIONS = """
    SELECT hash(session), session FROM memory WHERE namespace = ? GROUP BY session ORDER BY min(rowid)
"""
_SPEAKERS = """
    SELECT hash(speaker), speaker FROM memory WHERE namespace = ? AND speaker IS NOT NULL
    GROUP BY speaker ORDER BY min(rowid)
"""
_USAGE = "SELECT id, accessed_at, count FROM usage WHERE namespace = ?"
_CHUNK_ROWS = 20_480  # ten times what DuckDB reads at once: few statements, and a chunk is a few megabytes
_MAX_ID_BYTES = 64  # longer texts are not split by length, since one of them would widen all


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
        ids = split_joined(session.rows(_IDS, *span)[0])
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


def split_joined(row: tuple[Any, ...]) -> NDArray[np.bytes_] | None:
    """Return texts that come joined, with the least and the greatest length; None where they are not of one length."""
    joined, shortest, longest = row
    if joined is None or shortest != longest or not 0 < longest <= _MAX_ID_BYTES:
        return None
    found: NDArray[np.bytes_] = np.frombuffer(joined.encode(), f"S{longest}")
    return found


def _batch(
    session: SqlSession,
    span: tuple[str, int, int],
    columns: dict[str, Any],
    names: tuple[NameTable, NameTable],
    ids: NDArray[np.bytes_],
    used: tuple[NDArray[np.int64], NDArray[np.int64]],
) -> ColumnBatch:
    if min(int(columns[name].min()) for name in ("tier", "kind", "trust")) < 0:
        raise StoreDamaged(DAMAGED)
    sessions, speakers = _codes(session, span, columns, names)
    key, tags, metadata, superseded_by, disputes = _sparse(session, span, columns["place"])
    return ColumnBatch(
        ids=ids,
        tier=columns["tier"],
        kind=columns["kind"],
        trust=columns["trust"],
        session=sessions,
        speaker=speakers,
        digests=_digests(session, span),
        key=key,
        tags=tags,
        metadata=metadata,
        superseded_by=superseded_by,
        disputes=disputes,
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
        term_offsets=run_offsets(columns["term_count"].astype(np.int64)),
        terms=np.asarray(session.columns(_TERMS, *span)["term"], np.int32),
        name_offsets=run_offsets(columns["name_count"].astype(np.int64)),
        names=np.asarray(session.columns(_NAMES, *span)["name"], np.int32),
        day_offsets=run_offsets(columns["day_count"].astype(np.int64)),
        days=np.asarray(session.columns(_DAYS, *span)["day"], np.int32),
    )


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


def _sparse(
    session: SqlSession, span: tuple[str, int, int], rowids: NDArray[np.int64]
) -> tuple[dict[int, str], dict[int, tuple[str, ...]], dict[int, str], dict[int, MemoryId], dict[int, MemoryId]]:
    """Return what few rows have, by their places among ``rowids``."""
    keys: dict[int, str] = {}
    tags: dict[int, tuple[str, ...]] = {}
    metadata: dict[int, str] = {}
    successors: dict[int, MemoryId] = {}
    disputes: dict[int, MemoryId] = {}
    parsed_tags: dict[str, tuple[str, ...]] = {}  # few distinct lists of tags, many rows
    found = session.rows(_SPARSE, *span[1:])
    wanted = np.array([row[0] for row in found], np.int64)
    places = np.minimum(np.searchsorted(rowids, wanted), len(rowids) - 1)
    here = (rowids[places] == wanted).tolist()
    for place, is_here, (_, key, tag_text, data, successor, disputed) in zip(places.tolist(), here, found, strict=True):
        if not is_here:
            continue
        if key is not None:
            keys[place] = key
        if tag_text is not None:
            if tag_text not in parsed_tags:
                parsed_tags[tag_text] = texts_from_json(tag_text)
            tags[place] = parsed_tags[tag_text]
        if data is not None:
            metadata[place] = data
        if successor is not None:
            successors[place] = MemoryId(successor)
        if disputed is not None:
            disputes[place] = MemoryId(disputed)
    return keys, tags, metadata, successors, disputes


def _read_usage(session: SqlSession, namespace: str) -> _Usage:
    found = session.columns(_USAGE, namespace)
    ids = pack_ids(found["id"].tolist())
    order = np.argsort(ids, kind="stable")
    return _Usage(ids[order], np.asarray(found["accessed_at"])[order], np.asarray(found["count"])[order])


def _table(found: list[tuple[Any, ...]]) -> NameTable:
    hashes = np.array([value for value, _ in found], np.uint64)
    return NameTable(tuple(name for _, name in found), hashes, np.argsort(hashes, kind="stable"))
