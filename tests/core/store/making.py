"""Short ways to make values for the tests of the store."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any

import numpy as np

from hybrid_memory.embedding.passages import packed
from hybrid_memory.model import TRUST_ORDER, Kind, Memory, MemoryId, Tier
from hybrid_memory.store.base import Store
from hybrid_memory.store.snapshots import ColumnBatch, Snapshot
from hybrid_memory.store.writing import Decision, Insert, SetTier, Update, WriteBatch, WriteView
from hybrid_memory.testing import START

DIMENSIONS = 8
_RUNS = ("terms", "names", "days")
_OFFSETS = ("term_offsets", "name_offsets", "day_offsets")


def memory(name: str, **changes: Any) -> Memory:
    values: dict[str, Any] = {
        "id": MemoryId(name),
        "namespace": "default",
        "session": "s-1",
        "agent": "default",
        "content": f"what {name} says",
        "kind": Kind.OBSERVATION,
        "tier": Tier.SENSORY,
        "importance": 0.5,
        "created_at": START,
        "content_hash": f"hash-{name}",
        "terms": (1, -2, 3),
    }
    return Memory(**(values | changes))


def vector(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(DIMENSIONS).astype(np.float32)


def passages(seed: int, count: int = 3, dimensions: int = DIMENSIONS) -> bytes:
    """Return the stored form of some passages' vectors."""
    rows = np.random.default_rng(seed).standard_normal((count, dimensions)).astype(np.float32)
    return packed(rows / np.linalg.norm(rows, axis=1, keepdims=True)) or b""


def always(**parts: Any) -> Decision:
    return lambda _view: WriteBatch(**({"action": "test", "actor": "tester"} | parts))


def put(store: Store, *names: str, namespace: str = "default", **changes: Any) -> None:
    puts = tuple(Insert(memory(name, namespace=namespace, **changes)) for name in names)
    store.write(namespace, None, always(inserts=puts))


def patch(name: str, change: Callable[[Memory], Memory]) -> Decision:
    def decide(view: WriteView) -> WriteBatch:
        return always(updates=(Update(change(view.get([MemoryId(name)])[MemoryId(name)])),))(view)

    return decide


def move(name: str, tier: Tier) -> Decision:
    return always(tier_changes=(SetTier(MemoryId(name), tier),))


def one(store: Store, name: str, namespace: str = "default") -> Memory:
    return store.get(namespace, [MemoryId(name)])[MemoryId(name)]


def rows(snapshot: Snapshot) -> dict[str, dict[str, Any]]:
    """Return every value of a snapshot by memory and column."""
    found: dict[str, dict[str, Any]] = {}
    for batch in snapshot.batches:
        for at, id_ in enumerate(batch.ids.tolist()):
            assert id_.decode() not in found
            found[id_.decode()] = row(snapshot, batch, at)
    for part in snapshot.vectors:
        for id_, vec in zip(part.ids.tolist(), part.matrix.tolist(), strict=True):
            assert found[id_.decode()]["vector"] is None
            found[id_.decode()]["vector"] = vec
    return found


def row(snapshot: Snapshot, batch: ColumnBatch, at: int) -> dict[str, Any]:
    values = {}
    for column in fields(ColumnBatch):
        held = getattr(batch, column.name)
        if column.name not in {"ids", *_RUNS, *_OFFSETS}:
            values[column.name] = held[at].tolist() if isinstance(held, np.ndarray) else held.get(at)
    values |= {
        "tier": tuple(Tier)[values["tier"]].value,
        "kind": tuple(Kind)[values["kind"]].value,
        "trust": TRUST_ORDER[values["trust"]].value,
        "session": snapshot.sessions[values["session"]],
        "speaker": None if values["speaker"] < 0 else snapshot.speakers[values["speaker"]],
        **{
            name: getattr(batch, name)[getattr(batch, offsets)[at] : getattr(batch, offsets)[at + 1]].tolist()
            for name, offsets in zip(_RUNS, _OFFSETS, strict=True)
        },
        "vector": None,
    }
    return values
