"""Reads all memories of a namespace as columns, chunk by chunk, at one moment.

Called by `PostgresStore.snapshot`: ids, sessions and speakers are read at once, the rest while the search structures are filled. A chunk
is one row of results: each column of it is one value (`wire_arrays`).

A row is an input: one of which no memory can be made is marked ``unreadable`` in its batch, and noted in the session.
"""

from __future__ import annotations

import secrets
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from hybrid_memory.clock import to_micros
from hybrid_memory.errors import StoreError
from hybrid_memory.moments import EARLIEST_MICROS, LATEST_MICROS
from hybrid_memory.store.column_batches import digests_from_hex, digests_of, pack_ids, run_offsets, split_ids
from hybrid_memory.store.memory_fields import (
    FIRST_DAY,
    LAST_DAY,
    UNSTORABLE,
    check_links,
    object_from_json,
    texts_from_json,
)
from hybrid_memory.store.snapshots import NO_TIME, ColumnBatch, Snapshot, VectorBatch
from hybrid_memory_postgres.vector_table import pinned_embedder, vector_batches
from hybrid_memory_postgres.wire_arrays import column_of, runs_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hybrid_memory.model import Json, MemoryId
    from hybrid_memory_postgres.connections import Connections
    from hybrid_memory_postgres.sql_session import PgSession
    from hybrid_memory_postgres.vector_table import PinnedEmbedder

_HEAD = "SELECT coalesce((SELECT position FROM namespace WHERE name = $1), 0)"
# Whatever the planner believes of a table that it has not looked at yet: rows come in the order of an index, chunk by chunk. Sorting
# all that is left for each chunk would take the square of the time. Compiling a statement takes longer than running it. And one that is
# never read to its end must not keep the server from clearing up forever.
_IN_ORDER = """
    SELECT set_config('enable_sort', 'off', true), set_config('jit', 'off', true),
        set_config('idle_in_transaction_session_timeout', '10min', true)
"""
_FIRST_LOOK = """
    SELECT max(place), string_agg(id, ''), min(octet_length(id)), max(octet_length(id)), array_send(array_agg(place)),
        array_send(array_agg(hashtextextended(session, $4))),
        array_send(array_agg(coalesce(hashtextextended(speaker, $4), $5))), sum(length(terms))
    FROM (SELECT place, id, session, speaker, terms FROM memory WHERE namespace = $1 AND place > $2 ORDER BY place LIMIT $3) AS part
"""
_PLAIN_IDS = "SELECT id FROM memory WHERE namespace = $1 AND place BETWEEN $2 AND $3 ORDER BY place"
_NAMES_AT = """
    SELECT place, session, speaker FROM memory WHERE namespace = $1 AND place = ANY ($2::bigint[])
"""
_COLUMNS = """
    SELECT
        array_send(array_agg(CASE tier WHEN 'faded' THEN 3 WHEN 'long_term' THEN 2 WHEN 'short_term' THEN 1 WHEN 'sensory' THEN 0
            WHEN 'working' THEN 4 WHEN 'episodic' THEN 5 ELSE -1 END)),
        array_send(array_agg(CASE kind WHEN 'observation' THEN 0 WHEN 'insight' THEN 1 WHEN 'summary' THEN 2 WHEN 'task' THEN 3
            WHEN 'episode' THEN 4
            ELSE -1 END)),
        array_send(array_agg(CASE trust WHEN 'user' THEN 2 WHEN 'agent' THEN 1 WHEN 'untrusted' THEN 0 WHEN 'confirmed' THEN 3
            ELSE -1 END)),
        array_send(array_agg(CASE
            WHEN origin NOT IN ('user', 'agent', 'tool', 'import', 'derived')
                OR rev NOT BETWEEN -4611686018427387903 AND 4611686018427387903
                OR encoding NOT BETWEEN -4611686018427387903 AND 4611686018427387903
                OR aspects NOT BETWEEN 0 AND 2147483647
                OR occurred_at = -9223372036854775807 OR expires_at = -9223372036854775807
                OR forgotten_at = -9223372036854775807 OR reflected_at = -9223372036854775807 THEN -1
            WHEN pinned THEN 1 ELSE 0 END)),
        array_send(array_agg(importance)), array_send(array_agg(aspects)), array_send(array_agg(created_at)),
        array_send(array_agg(coalesce(occurred_at, -9223372036854775807))),
        array_send(array_agg(coalesce(expires_at, -9223372036854775807))),
        array_send(array_agg(coalesce(forgotten_at, -9223372036854775807))),
        array_send(array_agg(coalesce(reflected_at, -9223372036854775807))),
        string_agg(content_hash, ''), min(octet_length(content_hash)), max(octet_length(content_hash)),
        array_send(array_agg(length(terms))), string_agg(terms, ''),
        array_send(array_agg(coalesce(length(names), 0))), string_agg(names, ''),
        array_send(array_agg(coalesce(length(days), 0))), string_agg(days, '')
    FROM (
        SELECT tier, kind, trust, origin, rev, encoding, aspects, pinned, importance, created_at, occurred_at, expires_at, forgotten_at,
            reflected_at, content_hash, terms, names, days
        FROM memory WHERE namespace = $1 AND place BETWEEN $2 AND $3 ORDER BY place
    ) AS part
"""
_PLAIN_HASHES = "SELECT content_hash FROM memory WHERE namespace = $1 AND place BETWEEN $2 AND $3 ORDER BY place"
_PLAIN_RUNS = "SELECT terms, names, days FROM memory WHERE namespace = $1 AND place BETWEEN $2 AND $3 ORDER BY place"
_NO_LINKS = [None] * 5
_SPARSE = """
    SELECT place, key, tags, metadata, superseded_by, disputes, parents, supersedes, duplicate_of
    FROM memory
    WHERE namespace = $1 AND place BETWEEN $2 AND $3
        AND (key IS NOT NULL OR tags IS NOT NULL OR metadata IS NOT NULL OR superseded_by IS NOT NULL
            OR disputes IS NOT NULL OR parents IS NOT NULL OR supersedes IS NOT NULL OR duplicate_of IS NOT NULL)
    ORDER BY place
"""
_USAGE = """
    SELECT max(id), string_agg(id, ''), min(octet_length(id)), max(octet_length(id)), array_send(array_agg(accessed_at)),
        array_send(array_agg(count))
    FROM (SELECT id, accessed_at, count FROM usage WHERE namespace = $1 AND id > $2 ORDER BY id LIMIT $3) AS part
"""
_PLAIN_USAGE_IDS = "SELECT id FROM usage WHERE namespace = $1 AND id > $2 ORDER BY id LIMIT $3"
_CHUNK_ROWS = 20_480
_CHUNK_BYTES = 32_000_000  # of terms: long texts have ten times what usual ones have
_NOBODY = -1  # in place of the hash of a speaker where there is none
_SEED_BITS = 62
_BEFORE_ALL = -(2**63)
_FIRST_MICROS = to_micros(datetime.min.replace(tzinfo=UTC))  # what the calendar holds, more than what comes in now
_LAST_MICROS = to_micros(datetime.max.replace(tzinfo=UTC))
_MOMENTS = ("occurred_at", "expires_at", "forgotten_at", "reflected_at")
_NUMBERS = ("tier", "kind", "trust", "pinned", "importance", "aspects", "created_at", *_MOMENTS)
_KINDS = (">i4", ">i4", ">i4", ">i4", ">f8", ">i8", ">i8", *(">i8" for _ in _MOMENTS))
_RUNS = ("terms", "names", "days")
_HASH_BYTES = 32  # of a content hash: 128 bits in hex
_INT32 = 4

_Item = TypeVar("_Item")


@dataclass(frozen=True, slots=True)
class _Span:
    """Where a chunk lies, and what is known of its rows from the first look: the numbers of their sessions and speakers among all names."""

    places: NDArray[np.int64]
    ids: NDArray[np.bytes_]
    sessions: NDArray[np.int32]
    speakers: NDArray[np.int32]

    @property
    def bounds(self) -> tuple[int, int]:
        """The first and the last place."""
        return int(self.places[0]), int(self.places[-1])


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


class Lasting(Generic[_Item]):
    """Items that are read from sessions that outlive the call, which end with the last item, or when nobody wants another."""

    def __init__(self, items: Iterator[_Item], sessions: ExitStack) -> None:
        self._items = items
        self._close = weakref.finalize(self, _end, sessions)
        self._close.atexit = False

    def __iter__(self) -> Iterator[_Item]:
        return self

    def __next__(self) -> _Item:
        try:
            return next(self._items)
        except BaseException:
            self._close()
            raise


def _end(sessions: ExitStack) -> None:
    with suppress(StoreError):  # that the connection is gone, or the store closed
        sessions.close()


def read_snapshot(connections: Connections, namespace: str) -> Snapshot:
    """Return head and rows of this moment; batches and vectors are read from the server as they are asked for.

    They have a connection each, so that two threads can read them. Equal heads say that both see the same moment.
    """
    with ExitStack() as opened:
        first, first_stack, head = _looking(connections, namespace, opened)
        second, second_stack, second_head = _looking(connections, namespace, opened)
        while head != second_head:
            first_stack.close()
            first, first_stack, head = second, second_stack, second_head
            second, second_stack, second_head = _looking(connections, namespace, opened)
        names = _Names()
        spans = list(_first_look(first, namespace, names))
        pinned = pinned_embedder(second)
        vectors: Iterator[VectorBatch] = vector_batches(second, pinned, namespace) if pinned else iter(())
        found = Snapshot(
            namespace=namespace,
            head=head,
            ids=[span.ids for span in spans],
            sessions=names.sessions,
            speakers=names.speakers,
            batches=Lasting(_batches(first, namespace, spans), first_stack),
            vectors=Lasting(vectors, second_stack),
        )
        opened.pop_all()
    return found


def read_vectors(
    connections: Connections, namespace: str, choose: Callable[[PgSession], PinnedEmbedder]
) -> Lasting[VectorBatch]:
    """Return a namespace's vectors of the embedder that ``choose(session)`` names, read as they are asked for."""
    with ExitStack() as opened:
        session, stack, _ = _looking(connections, namespace, opened)
        found = Lasting(vector_batches(session, choose(session), namespace), stack)
        opened.pop_all()
    return found


def _looking(connections: Connections, namespace: str, opened: ExitStack) -> tuple[PgSession, ExitStack, int]:
    """Return a session in one moment, what closes it, and the head of the namespace at that moment."""
    stack = opened.enter_context(ExitStack())
    session = stack.enter_context(connections.copying([namespace]))
    head = int(session.rows(_HEAD, namespace)[0][0])
    session.send(_IN_ORDER)
    return session, stack, head


class _Names:
    """The sessions and speakers of a namespace, in order of their first memory, and their numbers.

    Rows tell theirs by a hash with a secret seed, drawn for each snapshot: that two names share one is as good as impossible, and nobody
    can make such a pair.
    """

    def __init__(self) -> None:
        self.seed = secrets.randbits(_SEED_BITS)
        self.sessions: list[str] = []
        self.speakers: list[str] = []
        self._session_codes: dict[int, int] = {}
        self._speaker_codes: dict[int, int] = {_NOBODY: -1}

    def codes(
        self, session: PgSession, namespace: str, places: NDArray[np.int64], hashes: tuple[NDArray[np.int64], ...]
    ) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return the numbers of some rows' sessions and speakers; names that are new are asked for."""
        distinct = [np.unique(column, return_index=True, return_inverse=True) for column in hashes]
        known = (self._session_codes, self._speaker_codes)
        new = [
            [int(places[at]) for value, at in zip(one[0].tolist(), one[1].tolist(), strict=True) if value not in codes]
            for one, codes in zip(distinct, known, strict=True)
        ]
        if any(new):
            rows = {row[0]: row[1:] for row in session.rows(_NAMES_AT, namespace, sorted({*new[0], *new[1]}))}
            for one, codes, wanted, at, found in zip(
                hashes, known, new, (0, 1), (self.sessions, self.speakers), strict=True
            ):
                for place in sorted(wanted):
                    codes[int(one[np.searchsorted(places, place)])] = len(found)
                    found.append(rows[place][at])
        coded = [
            np.array([codes[value] for value in one[0].tolist()], np.int32)[one[2].reshape(-1)]
            for one, codes in zip(distinct, known, strict=True)
        ]
        return coded[0], coded[1]


def _first_look(session: PgSession, namespace: str, names: _Names) -> Iterator[_Span]:
    last = _BEFORE_ALL
    while True:
        last_place, joined, shortest, longest, sent_places, *hashes, weight = session.rows(
            _FIRST_LOOK, namespace, last, _CHUNK_ROWS, names.seed, _NOBODY
        )[0]
        if last_place is None:
            return
        places = column_of(sent_places, ">i8")
        ids = split_ids(joined, shortest, longest)
        if ids is None:
            ids = pack_ids(id_ for (id_,) in session.rows(_PLAIN_IDS, namespace, int(places[0]), last_place))
        columns = (column_of(hashes[0], ">i8"), column_of(hashes[1], ">i8"))
        codes = names.codes(session, namespace, places, columns)
        parts = int(weight) // _CHUNK_BYTES + 1
        for arrays in zip(*(np.array_split(one, parts) for one in (places, ids, *codes)), strict=True):
            if len(arrays[0]):
                yield _Span(*arrays)
        last = last_place


def _batches(session: PgSession, namespace: str, spans: Sequence[_Span]) -> Iterator[ColumnBatch]:
    used = _read_usage(session, namespace) if spans else None
    for span in spans:
        if used is not None:
            yield _batch(session, namespace, span, used)


def _batch(session: PgSession, namespace: str, span: _Span, used: _Usage) -> ColumnBatch:
    row = session.rows(_COLUMNS, namespace, *span.bounds)[0]
    columns = {
        name: column_of(sent, kind) for name, sent, kind in zip(_NUMBERS, row[: len(_NUMBERS)], _KINDS, strict=True)
    }
    hashes, runs = row[len(_NUMBERS) : -2 * len(_RUNS)], row[-2 * len(_RUNS) :]
    numbers, offsets, broken = _all_runs(session, namespace, span, runs)
    sparse = _sparse(session, namespace, span)
    unreadable = _unreadable(columns, span.ids) | broken | _with_impossible_day(numbers[2], offsets[2])
    unreadable[sparse.unreadable] = True
    if unreadable.any():
        _note_unreadable(session, namespace, span, unreadable)
        for name in ("tier", "kind", "trust", "pinned", "aspects", "importance", "created_at"):
            columns[name] = np.where(unreadable, 0, columns[name])
    accessed_at, access_count = used.of(span.ids)
    return ColumnBatch(
        ids=span.ids,
        unreadable=unreadable,
        tier=columns["tier"].astype(np.int8),
        kind=columns["kind"].astype(np.int8),
        trust=columns["trust"].astype(np.int8),
        session=span.sessions,
        speaker=span.speakers,
        digests=_digests(session, namespace, span, hashes),
        key=sparse.keys,
        tags=sparse.tags,
        metadata=sparse.metadata,
        superseded_by=sparse.successors,
        disputes=sparse.disputes,
        pinned=columns["pinned"] > 0,
        aspects=columns["aspects"].astype(np.int32),
        importance=columns["importance"],
        created_at=columns["created_at"],
        occurred_at=columns["occurred_at"],
        expires_at=columns["expires_at"],
        forgotten_at=columns["forgotten_at"],
        reflected_at=columns["reflected_at"],
        accessed_at=accessed_at,
        access_count=access_count,
        term_offsets=offsets[0],
        terms=numbers[0],
        name_offsets=offsets[1],
        names=numbers[1],
        day_offsets=offsets[2],
        days=numbers[2],
    )


def _unreadable(columns: Mapping[str, NDArray[Any]], ids: NDArray[np.bytes_]) -> NDArray[np.bool_]:
    """Return the rows of which `memory_table.memory_of` could not make a memory, as far as their plain values tell."""
    found = ~np.isfinite(columns["importance"])
    for name in ("tier", "kind", "trust", "pinned"):
        found |= columns[name] < 0
    created = columns["created_at"]
    found |= (created < _FIRST_MICROS) | (created > _LAST_MICROS)
    for name in _MOMENTS:
        moments = columns[name]
        found |= ((moments < _FIRST_MICROS) & (moments != NO_TIME)) | (moments > _LAST_MICROS)
    if UNSTORABLE.encode() in ids.tobytes():
        found |= np.char.startswith(ids, UNSTORABLE.encode())
    return np.asarray(found, np.bool_)


def _all_runs(
    session: PgSession, namespace: str, span: _Span, sent: Sequence[bytes | None]
) -> tuple[list[NDArray[np.int32]], list[NDArray[np.int64]], NDArray[np.bool_]]:
    """Return the terms, names and days of a chunk, where each row's begin, and which rows hold what is no list of numbers."""
    lengths = [column_of(one, ">i4").astype(np.int64) for one in sent[::2]]
    broken = np.zeros(len(span.ids), np.bool_)
    for one in lengths:
        broken |= one % _INT32 != 0
    if not broken.any():
        found = [runs_of(joined, length) for joined, length in zip(sent[1::2], lengths, strict=True)]
        return [numbers for numbers, _ in found], [offsets for _, offsets in found], broken
    rows = session.rows(_PLAIN_RUNS, namespace, *span.bounds)
    plain = [
        [b"" if bad else (value or b"") for value, bad in zip(column, broken, strict=True)]
        for column in zip(*rows, strict=True)
    ]
    parts = [np.frombuffer(b"".join(column), "<i4").astype(np.int32) for column in plain]
    return parts, [run_offsets([len(one) // _INT32 for one in column]) for column in plain], broken


def _with_impossible_day(days: NDArray[np.int32], offsets: NDArray[np.int64]) -> NDArray[np.bool_]:
    found = np.zeros(len(offsets) - 1, np.bool_)
    places = np.flatnonzero((days < FIRST_DAY) | (days > LAST_DAY))
    found[np.searchsorted(offsets, places, side="right") - 1] = True
    return found


def _note_unreadable(session: PgSession, namespace: str, span: _Span, unreadable: NDArray[np.bool_]) -> None:
    rows = session.rows(_PLAIN_IDS, namespace, *span.bounds)
    session.unreadable.update((namespace, id_) for (id_,), bad in zip(rows, unreadable.tolist(), strict=True) if bad)


def _digests(session: PgSession, namespace: str, span: _Span, hashes: Sequence[Any]) -> NDArray[np.uint64]:
    joined, shortest, longest = hashes
    found = digests_from_hex(joined.encode()) if shortest == longest == _HASH_BYTES else None
    if found is None:
        return digests_of([one for (one,) in session.rows(_PLAIN_HASHES, namespace, *span.bounds)])
    return found


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


def _sparse(session: PgSession, namespace: str, span: _Span) -> _Sparse:
    """Return what few rows have, by their places in the chunk."""
    sparse = _Sparse()
    parsed: dict[str, tuple[str, ...]] = {}  # few distinct lists of tags, many rows
    found = session.rows(_SPARSE, namespace, *span.bounds)
    rows_at = np.searchsorted(span.places, np.array([row[0] for row in found], np.int64)).tolist()
    for nth, (_, key, tags, data, successor, disputed, parents, *links) in zip(rows_at, found, strict=True):
        try:
            if tags is not None and tags not in parsed:
                parsed[tags] = texts_from_json(tags)
            if [parents, successor, disputed, *links] != _NO_LINKS:
                check_links(parents, successor, disputed, *links)
            metadata = object_from_json(data)
        except ValueError:
            sparse.unreadable.append(nth)
            continue
        values = (key, None if tags is None else parsed[tags], metadata or None, successor, disputed)
        for by_place, value in zip(sparse.columns, values, strict=True):
            if value is not None:
                by_place[nth] = value
    return sparse


def _read_usage(session: PgSession, namespace: str) -> _Usage:
    ids, accessed, counts = [np.zeros(0, "S1")], [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    last = ""
    while True:
        until, joined, shortest, longest, seen, times = session.rows(_USAGE, namespace, last, _CHUNK_ROWS)[0]
        if until is None:
            break
        part = split_ids(joined, shortest, longest)
        if part is None:
            part = pack_ids(id_ for (id_,) in session.rows(_PLAIN_USAGE_IDS, namespace, last, _CHUNK_ROWS))
        ids.append(part)
        accessed.append(np.clip(column_of(seen, ">i8"), EARLIEST_MICROS, LATEST_MICROS))
        counts.append(np.maximum(column_of(times, ">i8"), 0))
        last = until
    packed_ids = np.concatenate(ids)
    order = np.argsort(packed_ids, kind="stable")  # sorted but for such as were replaced
    return _Usage(packed_ids[order], np.concatenate(accessed)[order], np.concatenate(counts)[order])
