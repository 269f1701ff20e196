"""Reads all memories of a namespace as columns, chunk by chunk, at one moment."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hybrid_memory.store.columns import offsets
from hybrid_memory.store.duck.memo import Pinned
from hybrid_memory.store.duck.records import texts_of
from hybrid_memory.store.duck.session import Session
from hybrid_memory.store.duck.vectors import VectorTable
from hybrid_memory.store.interface import NO_TIME, Batch

_SPAN = "SELECT min(rowid), max(rowid) FROM memory WHERE namespace = ?"
_COLUMNS = """
    SELECT id, tier, kind, session, agent, speaker, key, trust, tags, content_hash, metadata, superseded_by, pinned,
        importance, created_at,
        coalesce(occurred_at, -9223372036854775807) AS occurred_at,
        coalesce(expires_at, -9223372036854775807) AS expires_at,
        coalesce(forgotten_at, -9223372036854775807) AS forgotten_at,
        coalesce(reflected_at, -9223372036854775807) AS reflected_at,
        len(terms) AS term_count
    FROM memory WHERE namespace = ? AND rowid BETWEEN ? AND ?
"""
_TERMS = "SELECT unnest(terms) AS term FROM memory WHERE namespace = ? AND rowid BETWEEN ? AND ?"
_USAGE = "SELECT id, accessed_at, count FROM usage WHERE namespace = ?"
_CHUNK = 20_480

_Used = dict[str, tuple[int, int]]


def read_batches(session: Session, namespace: str, pinned: Pinned | None) -> Iterator[Batch]:
    """Yield the namespace's batches; the session must be in one transaction from the first to the last.

    Row ids have holes after deletes and belong to all namespaces together, so chunks differ in size.
    """
    low, high = session.rows(_SPAN, namespace)[0]
    if low is None:
        return
    table = VectorTable(pinned) if pinned else None
    places = table.places(session, namespace) if table else {}
    used: _Used = {id_: (at, count) for id_, at, count in session.rows(_USAGE, namespace)}
    for start in range(low, high + 1, _CHUNK):
        batch = _read(session, namespace, start, used)
        if len(batch["id"]):
            where = np.array([places.get(id_, -1) for id_ in batch["id"]], np.int64)
            yield _batch(batch, where, table.gather(session, namespace, where) if table else None)


def _read(session: Session, namespace: str, start: int, used: _Used) -> dict[str, Any]:
    span = (namespace, start, start + _CHUNK - 1)
    columns: dict[str, Any] = {}
    for name, values in session.columns(_COLUMNS, *span).items():
        columns[name] = values.tolist() if values.dtype == object else np.asarray(values)
    columns["terms"] = np.asarray(session.columns(_TERMS, *span)["term"], np.int32)
    usage = [used.get(id_, (NO_TIME, 0)) for id_ in columns["id"]]
    columns["accessed_at"] = np.array([at for at, _ in usage], np.int64)
    columns["access_count"] = np.array([count for _, count in usage], np.int64)
    return columns


def _batch(columns: dict[str, Any], places: NDArray[np.int64], vectors: NDArray[np.float32] | None) -> Batch:
    return Batch(
        ids=columns["id"],
        tier=columns["tier"],
        kind=columns["kind"],
        session=columns["session"],
        agent=columns["agent"],
        speaker=columns["speaker"],
        key=columns["key"],
        trust=columns["trust"],
        tags=[texts_of(tags) for tags in columns["tags"]],
        content_hash=columns["content_hash"],
        metadata=columns["metadata"],
        superseded_by=columns["superseded_by"],
        pinned=columns["pinned"].astype(np.bool_),
        importance=columns["importance"].astype(np.float64),
        created_at=columns["created_at"].astype(np.int64),
        occurred_at=columns["occurred_at"].astype(np.int64),
        expires_at=columns["expires_at"].astype(np.int64),
        forgotten_at=columns["forgotten_at"].astype(np.int64),
        reflected_at=columns["reflected_at"].astype(np.int64),
        accessed_at=columns["accessed_at"],
        access_count=columns["access_count"],
        term_offsets=offsets(columns["term_count"].astype(np.int64)),
        terms=columns["terms"],
        has_vector=places >= 0,
        vectors=vectors,
    )
