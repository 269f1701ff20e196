"""The arrays of a snapshot: columns built from `Memory` objects, ids as bytes, content hashes as numbers.

`MemoryStore` builds its whole snapshot here; the DuckDB store and the search structures use the helpers.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from hybrid_memory.clock import to_micros
from hybrid_memory.ids import ID_CHARACTERS, LONGEST_ID, is_id
from hybrid_memory.model import TRUST_ORDER, Kind, Memory, MemoryId, Tier, Usage
from hybrid_memory.store.memory_fields import UNSTORABLE
from hybrid_memory.store.snapshots import NO_TIME, ColumnBatch, Snapshot, VectorBatch

_HASH_DIGITS = 32  # hex digits of a content hash
_CHUNK_ROWS = 20_480  # as in `store.duck.snapshot`
_ID_BYTES = ID_CHARACTERS.encode()
_NO_PASSAGES: Mapping[MemoryId, bytes] = {}
_DIGITS = b"0123456789abcdef"
_TIERS = {tier: code for code, tier in enumerate(Tier)}
_KINDS = {kind: code for code, kind in enumerate(Kind)}
_TRUSTS = {trust: code for code, trust in enumerate(TRUST_ORDER)}


def build_snapshot(
    namespace: str,
    head: int,
    memories: Mapping[MemoryId, Memory],
    vectors: Mapping[MemoryId, NDArray[np.float32]],
    usage: Mapping[MemoryId, Usage],
    passages: Mapping[MemoryId, bytes] = _NO_PASSAGES,
    *,
    chunk: int = _CHUNK_ROWS,
) -> Snapshot:
    """Return the snapshot of memories at hand, which are not to change until it is read."""
    sessions = tuple(dict.fromkeys(one.session for one in memories.values()))
    speakers = tuple(dict.fromkeys(one.speaker for one in memories.values() if one.speaker is not None))
    codes = [{name: code for code, name in enumerate(names)} for names in (sessions, speakers)]
    listed, with_vector = list(memories.values()), [id_ for id_ in memories if id_ in vectors]
    return Snapshot(
        namespace=namespace,
        head=head,
        ids=[pack_ids(one.id for one in listed[at : at + chunk]) for at in range(0, len(listed), chunk)],
        sessions=sessions,
        speakers=speakers,
        batches=(column_batch(listed[at : at + chunk], usage, *codes) for at in range(0, len(listed), chunk)),
        vectors=(
            VectorBatch(
                pack_ids(part),
                np.array([vectors[one] for one in part], np.float32),
                {place: passages[one] for place, one in enumerate(part) if one in passages},
            )
            for part in (with_vector[at : at + chunk] for at in range(0, len(with_vector), chunk))
        ),
    )


def column_batch(
    memories: Sequence[Memory],
    usage: Mapping[MemoryId, Usage],
    sessions: Mapping[str, int],
    speakers: Mapping[str, int],
) -> ColumnBatch:
    """Return the columns of ``memories`` in their order; the places of sessions and speakers are given."""
    used = [usage.get(memory.id) for memory in memories]
    return ColumnBatch(
        ids=pack_ids(memory.id for memory in memories),
        unreadable=np.zeros(len(memories), np.bool_),
        tier=np.array([_TIERS[memory.tier] for memory in memories], np.int8),
        kind=np.array([_KINDS[memory.kind] for memory in memories], np.int8),
        trust=np.array([_TRUSTS[memory.trust] for memory in memories], np.int8),
        session=np.array([sessions[memory.session] for memory in memories], np.int32),
        speaker=np.array([-1 if one.speaker is None else speakers[one.speaker] for one in memories], np.int32),
        digests=digests_of([memory.content_hash for memory in memories]),
        key={place: one.key for place, one in enumerate(memories) if one.key is not None},
        tags={place: one.tags for place, one in enumerate(memories) if one.tags},
        metadata={place: dict(one.metadata) for place, one in enumerate(memories) if one.metadata},
        superseded_by={place: one.superseded_by for place, one in enumerate(memories) if one.superseded_by is not None},
        disputes={place: one.disputes for place, one in enumerate(memories) if one.disputes is not None},
        pinned=np.array([memory.pinned for memory in memories], np.bool_),
        aspects=np.array([memory.aspects for memory in memories], np.int32),
        importance=np.array([memory.importance for memory in memories], np.float64),
        created_at=_micros([memory.created_at for memory in memories]),
        occurred_at=_micros([memory.occurred_at for memory in memories]),
        expires_at=_micros([memory.expires_at for memory in memories]),
        forgotten_at=_micros([memory.forgotten_at for memory in memories]),
        reflected_at=_micros([memory.reflected_at for memory in memories]),
        accessed_at=_micros([use.accessed_at if use else None for use in used]),
        access_count=np.array([use.count if use else 0 for use in used], np.int64),
        term_offsets=run_offsets([len(memory.terms) for memory in memories]),
        terms=np.array([term for memory in memories for term in memory.terms], np.int32),
        name_offsets=run_offsets([len(memory.names) for memory in memories]),
        names=np.array([term for memory in memories for term in memory.names], np.int32),
        day_offsets=run_offsets([len(memory.days) for memory in memories]),
        days=np.array([day for memory in memories for day in memory.days], np.int32),
    )


def pack_ids(ids: Iterable[str]) -> NDArray[np.bytes_]:
    """Return ids as UTF-8 of one width; in the place of one that no memory can have another that none has."""
    return np.array([(id_ if is_id(id_) else _stand_in(id_)).encode() for id_ in ids], np.bytes_)


def _stand_in(id_: str) -> str:
    return UNSTORABLE + hashlib.blake2b(id_.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def split_ids(joined: str | None, shortest: int | None, longest: int | None) -> NDArray[np.bytes_] | None:
    """Return ids that come joined, with the least and the greatest length; None for `pack_ids` where that says too little of them."""
    if joined is None or longest is None or shortest != longest or not 0 < longest <= LONGEST_ID:
        return None
    plain = joined.encode()
    if plain.translate(None, _ID_BYTES):
        return None
    found: NDArray[np.bytes_] = np.frombuffer(plain, f"S{longest}")
    return found


def run_offsets(lengths: Sequence[int] | NDArray[np.int64]) -> NDArray[np.int64]:
    """Return where each of some runs begins in their concatenation, and at the end the whole length."""
    starts = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=starts[1:])
    return starts


def digest_of(content_hash: str) -> tuple[int, int]:
    """Return a content hash of 32 hex digits as two 64-bit numbers; any other text by a hash of its own."""
    plain = content_hash.encode()
    if len(plain) == _HASH_DIGITS and not plain.strip(_DIGITS):
        return int(plain[:16], 16), int(plain[16:], 16)
    digest = hashlib.blake2b(plain, digest_size=16).digest()
    return int.from_bytes(digest[:8], "big"), int.from_bytes(digest[8:], "big")


def digests_of(content_hashes: Sequence[str]) -> NDArray[np.uint64]:
    """Return the digests of some content hashes, (hashes, 2)."""
    return np.array([digest_of(one) for one in content_hashes], np.uint64).reshape(-1, 2)


def digests_from_hex(joined: bytes) -> NDArray[np.uint64] | None:
    """Return the digests of content hashes of 32 hex digits that stand behind each other; None where some are others."""
    values = _HEX_VALUE[np.frombuffer(joined, np.uint8)]
    if len(values) % _HASH_DIGITS or np.any(values > 0xF):  # noqa: PLR2004 - the greatest digit
        return None
    found: NDArray[np.uint64] = (values[::2] << 4 | values[1::2]).view(">u8").astype(np.uint64).reshape(-1, 2)
    return found


_HEX_VALUE = np.full(256, 255, np.uint8)
_HEX_VALUE[np.frombuffer(_DIGITS, np.uint8)] = np.arange(16)


def _micros(moments: Sequence[datetime | None]) -> NDArray[np.int64]:
    return np.array([NO_TIME if moment is None else to_micros(moment) for moment in moments], np.int64)


def finite_vectors(ids: NDArray[np.bytes_], matrix: NDArray[np.float32], passages: Mapping[int, bytes]) -> VectorBatch:
    """Return vectors without those that are none; one sum over all spares the look at each."""
    flat = matrix.reshape(-1)
    if math.isfinite(float(flat @ flat)):
        return VectorBatch(ids, matrix, passages)
    rows = np.flatnonzero(np.isfinite(matrix).all(axis=1))
    kept = {place: passages[row] for place, row in enumerate(rows.tolist()) if row in passages}
    return VectorBatch(ids[rows], matrix[rows], kept)
