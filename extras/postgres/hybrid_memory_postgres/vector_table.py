"""The table ``vector``: the vectors of all embedders, each the bytes of its float32, little endian, with the memory's passages."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from hybrid_memory.model import MemoryId
from hybrid_memory.store.snapshots import VectorBatch
from hybrid_memory.store.sql.session import Row
from hybrid_memory_postgres.sql_session import PgSession

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_PINNED = "SELECT number, identity, dimensions FROM embedder WHERE number > 0 ORDER BY number DESC LIMIT 1"
_SELECT = """
    SELECT vector.id, vector.vec FROM vector
    WHERE vector.embedder = $1 AND vector.namespace = $2 AND vector.id = ANY ($3::text[])
"""
_PASSAGES = """
    SELECT vector.id, vector.passages FROM vector
    WHERE vector.embedder = $1 AND vector.namespace = $2 AND vector.id = ANY ($3::text[]) AND vector.passages IS NOT NULL
"""
_PUT = """
    INSERT INTO vector (embedder, namespace, id, vec, passages) VALUES ($1, $2, $3, $4, $5)
    ON CONFLICT (embedder, namespace, id) DO UPDATE SET vec = excluded.vec, passages = excluded.passages
"""
_ADD = """
    INSERT INTO vector (embedder, namespace, id, vec, passages)
    SELECT $1, one.namespace, one.id, one.vec, one.passages
    FROM unnest($2::text[], $3::text[], $4::bytea[], $5::bytea[]) AS one (namespace, id, vec, passages)
    ORDER BY one.namespace, one.id
    ON CONFLICT (embedder, namespace, id) DO NOTHING
"""
# In the order of ids, which is that of time; so each part begins where the last one ended, whatever is stored alongside.
_PART = """
    SELECT id, vec, passages FROM vector WHERE embedder = $1 AND namespace = $2 AND id > $3 ORDER BY id LIMIT $4
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


def passages_by_id(
    session: PgSession, pinned: PinnedEmbedder, namespace: str, ids: Iterable[MemoryId]
) -> dict[MemoryId, bytes]:
    """Return the passages of those memories that have some."""
    from hybrid_memory.embedding.passages import are_sound

    wanted = list(dict.fromkeys(ids))
    rows = session.rows(_PASSAGES, pinned.number, namespace, wanted) if wanted else ()
    return {MemoryId(id_): passages for id_, passages in rows if are_sound(passages, pinned.dimensions)}


def put_vector(
    session: PgSession,
    pinned: PinnedEmbedder,
    namespace: str,
    id_: MemoryId,
    vector: NDArray[np.float32],
    passages: bytes | None,
) -> None:
    """Store a memory's vector with its passages, its first one or one in place of another; without waiting for it."""
    session.send(_PUT, pinned.number, namespace, id_, vector_bytes(vector), passages)


def add_vectors(
    session: PgSession, number: int, vectors: Mapping[Key, NDArray[np.float32]], passages: Mapping[Key, bytes]
) -> None:
    """Store many vectors by one statement; a memory that has one keeps that."""
    if vectors:
        session.send(
            _ADD,
            number,
            [namespace for namespace, _ in vectors],
            [id_ for _, id_ in vectors],
            list(map(vector_bytes, vectors.values())),
            [passages.get(key) for key in vectors],
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

    from hybrid_memory.store.column_batches import finite_vectors, pack_ids, split_ids

    ids, stored, passages = zip(*rows, strict=True)
    if set(map(len, stored)) != {_FLOAT * dimensions}:
        whole = [one for one in rows if len(one[1]) == _FLOAT * dimensions]
        if not whole:
            return VectorBatch(np.zeros(0, "S1"), np.zeros((0, dimensions), np.float32))
        ids, stored, passages = zip(*whole, strict=True)
    matrix = np.frombuffer(b"".join(stored), "<f4").astype(np.float32, copy=False).reshape(-1, dimensions)
    joined = "".join(ids)
    lengths = _byte_lengths(ids, joined)
    found = split_ids(joined, min(lengths), max(lengths))
    there = {place: one for place, one in enumerate(passages) if one is not None}
    return finite_vectors(pack_ids(ids) if found is None else found, matrix, there)


def _byte_lengths(ids: Collection[str], joined: str) -> set[int]:
    """Return how long some ids are; for one of other characters than ASCII there is no telling without its bytes."""
    return set(map(len, ids)) if joined.isascii() else {0}


_FLOAT = 4  # bytes of a number
