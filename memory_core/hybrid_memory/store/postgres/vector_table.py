"""The table ``vector``: the vectors of all embedders, each the bytes of its float32, little endian."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from hybrid_memory.model import MemoryId
from hybrid_memory.store.postgres.sql_session import PgSession, Row
from hybrid_memory.store.snapshots import VectorBatch

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_PINNED = "SELECT number, identity, dimensions FROM embedder WHERE number > 0 ORDER BY number DESC LIMIT 1"
_SELECT = """
    SELECT vector.id, vector.vec FROM vector
    WHERE vector.embedder = $1 AND vector.namespace = $2 AND vector.id = ANY ($3::text[])
"""
_PUT = """
    INSERT INTO vector (embedder, namespace, id, vec) VALUES ($1, $2, $3, $4)
    ON CONFLICT (embedder, namespace, id) DO UPDATE SET vec = excluded.vec
"""
_ADD = """
    INSERT INTO vector (embedder, namespace, id, vec)
    SELECT $1, one.namespace, one.id, one.vec FROM unnest($2::text[], $3::text[], $4::bytea[]) AS one (namespace, id, vec)
    ORDER BY one.namespace, one.id
    ON CONFLICT (embedder, namespace, id) DO NOTHING
"""
# In the order of ids, which is that of time; so each part begins where the last one ended, whatever is stored beside.
_PART = """
    SELECT id, vec FROM vector WHERE embedder = $1 AND namespace = $2 AND id > $3 ORDER BY id LIMIT $4
"""
_PART_ROWS = (
    1_024  # of a megabyte or so: both sides work on it in the processor's cache (10,000 take twice the time each)
)

Key: TypeAlias = tuple[str, MemoryId]
"""Namespace and id."""


@dataclass(frozen=True, slots=True)
class PinnedEmbedder:
    """An embedder of the store; ``number`` is that of its vectors."""

    number: int
    identity: str
    dimensions: int


def pinned_embedder(session: PgSession) -> PinnedEmbedder | None:
    """Return the embedder whose vectors are in use, None before the first one."""
    row = session.row(_PINNED)
    return PinnedEmbedder(*row) if row else None


def vectors_by_id(
    session: PgSession, pinned: PinnedEmbedder, namespace: str, ids: Iterable[MemoryId]
) -> dict[MemoryId, NDArray[np.float32]]:
    """Return the vectors of those memories that have one."""
    wanted = list(dict.fromkeys(ids))
    rows = session.rows(_SELECT, pinned.number, namespace, wanted) if wanted else ()
    read = ((id_, read_vector(stored, pinned.dimensions)) for id_, stored in rows)
    return {MemoryId(id_): vector for id_, vector in read if vector is not None}


def put_vector(
    session: PgSession, pinned: PinnedEmbedder, namespace: str, id_: MemoryId, vector: NDArray[np.float32]
) -> None:
    """Store a memory's vector, its first one or one in place of another; without waiting for it."""
    session.send(_PUT, pinned.number, namespace, id_, vector_bytes(vector))


def add_vectors(session: PgSession, number: int, vectors: Mapping[Key, NDArray[np.float32]]) -> None:
    """Store many vectors by one statement; a memory that has one keeps that."""
    if vectors:
        session.send(
            _ADD,
            number,
            [namespace for namespace, _ in vectors],
            [id_ for _, id_ in vectors],
            list(map(vector_bytes, vectors.values())),
        )


def vector_batches(session: PgSession, pinned: PinnedEmbedder, namespace: str) -> Iterator[VectorBatch]:
    """Yield a namespace's vectors, part by part; the session must be in one transaction meanwhile."""
    last = ""
    while rows := session.rows(_PART, pinned.number, namespace, last, _PART_ROWS):
        last = rows[-1][0]
        batch = _batch(rows, pinned.dimensions)
        if len(batch.ids):
            yield batch
        if len(rows) < _PART_ROWS:
            return


def vector_bytes(vector: NDArray[np.float32]) -> bytes:
    """Return a vector as it is stored."""
    return vector.astype("<f4", copy=False).tobytes()


def read_vector(stored: bytes, dimensions: int) -> NDArray[np.float32] | None:
    """Return a stored vector; None for one that is none: its memory waits for one then, and gets it."""
    import numpy as np

    if len(stored) != _FLOAT * dimensions:
        return None
    found = np.frombuffer(stored, "<f4").astype(np.float32)
    return found if np.isfinite(found).all() else None


def _batch(rows: Sequence[Row], dimensions: int) -> VectorBatch:
    import numpy as np

    from hybrid_memory.store.column_batches import pack_ids, split_ids

    ids, stored = zip(*rows, strict=True)
    if set(map(len, stored)) != {_FLOAT * dimensions}:
        whole = [one for one in rows if len(one[1]) == _FLOAT * dimensions]
        if not whole:
            return VectorBatch(np.zeros(0, "S1"), np.zeros((0, dimensions), np.float32))
        ids, stored = zip(*whole, strict=True)
    matrix = np.frombuffer(b"".join(stored), "<f4").astype(np.float32, copy=False).reshape(-1, dimensions)
    joined = "".join(ids)
    lengths = _byte_lengths(ids, joined)
    found = split_ids(joined, min(lengths), max(lengths))
    return _finite_rows(pack_ids(ids) if found is None else found, matrix)


def _byte_lengths(ids: Collection[str], joined: str) -> set[int]:
    """Return how long some ids are; for one of other characters than ASCII there is no telling without its bytes."""
    return set(map(len, ids)) if joined.isascii() else {0}


def _finite_rows(ids: NDArray[np.bytes_], matrix: NDArray[np.float32]) -> VectorBatch:
    """Return vectors without those that are none; one sum over all spares the look at each."""
    import numpy as np

    flat = matrix.reshape(-1)
    if math.isfinite(float(flat @ flat)):
        return VectorBatch(ids, matrix)
    rows = np.isfinite(matrix).all(axis=1)
    return VectorBatch(ids[rows], matrix[rows])


_FLOAT = 4  # bytes of a number
