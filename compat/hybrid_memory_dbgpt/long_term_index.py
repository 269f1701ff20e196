"""The long-term rows of one namespace, searched exactly: a float32 matrix that follows the store's change log."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from hybrid_memory.clock import from_micros
from hybrid_memory.errors import LogTrimmed
from hybrid_memory.model import Json, Memory, MemoryId, Tier
from hybrid_memory.store.base import Store

_FIRST_CAPACITY = 64
_TIERS = tuple(Tier)


class LongTermIndex:
    """Not safe for several threads; its owner locks.

    A row's place never changes while it is searchable; places of rows that left are reused when everything is loaded
    again. Times of access come from the store when it is loaded, afterwards from `touched`.
    """

    def __init__(self, store: Store, namespace: str) -> None:
        self._store = store
        self._namespace = namespace
        self._head: int | None = None
        self._last_mask: tuple[dict[str, Json], NDArray[np.bool_]] | None = None
        self._clear()

    def follow(self) -> None:
        """Apply what the store changed since the last call."""
        if self._head is None:
            self._load()
            return
        if self._store.head(self._namespace) == self._head:
            return
        try:
            while entries := self._store.changes(self._namespace, self._head):
                self._apply(dict.fromkeys(entry.id for entry in entries))
                self._head = entries[-1].position
        except LogTrimmed:
            self._load()

    def search(
        self, query: NDArray[np.float32] | None, topk: int | None, score_threshold: float, filters: Mapping[str, Json]
    ) -> list[tuple[Memory, float]]:
        """Return rows whose metadata equal the filters and whose cosine reaches the threshold, most alike first.

        Without a query every row scores 0 and the newest comes first. Equals keep the order in which they were written.
        """
        count = len(self._ids)
        if query is None or self._matrix.shape[1] != len(query):
            scores = np.zeros(count, np.float32)
            order = np.arange(count - 1, -1, -1)
        else:
            scores = self._matrix[:count] @ query
            order = np.argsort(-scores, kind="stable")
        chosen = order[(scores[order] >= score_threshold) & self._mask(filters)[order]][:topk]
        return [
            (self._rows[self._ids[place]], score)
            for place, score in zip(chosen.tolist(), scores[chosen].tolist(), strict=True)
        ]

    def vector(self, memory_id: MemoryId) -> NDArray[np.float32]:
        """Return the vector of a row; it is not to be changed."""
        row: NDArray[np.float32] = self._matrix[self._places[memory_id]]
        return row

    def accessed(self, memory_id: MemoryId) -> datetime | None:
        """Return when a row was recalled last; None if it never was."""
        return self._accessed.get(memory_id)

    def touched(self, ids: Sequence[MemoryId], moment: datetime) -> None:
        """Note a recall."""
        for one in ids:
            self._accessed[one] = max(moment, self._accessed.get(one, moment))

    def _mask(self, filters: Mapping[str, Json]) -> NDArray[np.bool_]:
        """Return which places hold a row that equals the filters; the last answer is kept until something changes."""
        if self._last_mask is not None and self._last_mask[0] == filters:
            return self._last_mask[1]
        rows = (self._rows.get(one) for one in self._ids)
        held = (row is not None and _matches(row.metadata, filters) for row in rows)
        mask = np.fromiter(held, np.bool_, len(self._ids))
        self._last_mask = (dict(filters), mask)
        return mask

    def _clear(self) -> None:
        self._last_mask = None
        self._rows: dict[MemoryId, Memory] = {}
        self._ids: list[MemoryId] = []
        self._places: dict[MemoryId, int] = {}
        self._accessed: dict[MemoryId, datetime] = {}
        self._matrix: NDArray[np.float32] = np.zeros((0, 0), np.float32)

    def _load(self) -> None:
        snapshot = self._store.snapshot(self._namespace)
        self._clear()
        for batch in snapshot.batches:
            ids = [MemoryId(one.decode()) for one in batch.ids.tolist()]
            wanted = [one for one, tier in zip(ids, batch.tier, strict=True) if _TIERS[tier] is Tier.LONG_TERM]
            for one, at in zip(ids, batch.accessed_at, strict=True):
                if at >= 0:
                    self._accessed[one] = from_micros(int(at))
            self._apply(wanted)
        self._head = snapshot.head

    def _apply(self, ids: Iterable[MemoryId]) -> None:
        asked = list(ids)
        self._last_mask = None
        memories = self._store.get(self._namespace, asked)
        vectors = self._store.vectors(self._namespace, asked)
        for one in asked:
            memory = memories.get(one)
            if memory is None or not _searchable(memory):
                self._rows.pop(one, None)
                continue
            self._rows[one] = memory
            vector = vectors.get(one)
            if one not in self._places:
                self._append(one, vector)
            elif vector is not None and len(vector) == self._matrix.shape[1]:
                self._matrix[self._places[one]] = vector

    def _append(self, memory_id: MemoryId, vector: NDArray[np.float32] | None) -> None:
        place = len(self._ids)
        width = self._matrix.shape[1] if vector is None else len(vector)
        if place >= len(self._matrix) or width != self._matrix.shape[1]:
            grown = np.zeros((max(_FIRST_CAPACITY, 2 * place), width), np.float32)
            if width == self._matrix.shape[1]:
                grown[:place] = self._matrix[:place]
            self._matrix = grown
        if vector is not None:
            self._matrix[place] = vector
        self._ids.append(memory_id)
        self._places[memory_id] = place


def _searchable(memory: Memory) -> bool:
    return memory.tier is Tier.LONG_TERM and memory.forgotten_at is None and memory.superseded_by is None


def _matches(metadata: Mapping[str, Json], filters: Mapping[str, Json]) -> bool:
    return all(name in metadata and metadata[name] == wanted for name, wanted in filters.items())
