"""The search structure of one namespace: a cache of the store that follows its log.

It is loaded from a snapshot and then told each change, its own hub's and any other's in the same way. Everything in it can
be built anew; nothing is decided from it alone.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from hybrid_memory.clock import to_micros
from hybrid_memory.model import Kind, Memory, MemoryId, Tier
from hybrid_memory.requests import Where
from hybrid_memory.retrieval.ask import Ask, IndexStatistics, Ranking, ReflectionRows, Scorer
from hybrid_memory.retrieval.growing import NOTHING
from hybrid_memory.retrieval.lexical import LexicalIndex
from hybrid_memory.retrieval.rows import KINDS, TIERS, Rows
from hybrid_memory.retrieval.scoring import Material, Neighbours, rank
from hybrid_memory.retrieval.vectors import Matrix
from hybrid_memory.store.interface import Change, LogEntry, Snapshot, Touch
from hybrid_memory.text import ASKS, terms

__all__ = ["Ask", "IndexStatistics", "NamespaceIndex", "Ranking", "ReflectionRows", "Scorer"]

_INSIGHT = KINDS.index(Kind.INSIGHT)
_TASK = KINDS.index(Kind.TASK)
_WORKING = TIERS.index(Tier.WORKING)


class NamespaceIndex:
    """Finds memories by words, meaning, time and all filters. Safe to call from several threads.

    ``dimensions`` is the length of the store's vectors; None: that of the first one. No method raises errors of its own
    for ids that are not here: a cache may lag behind.
    """

    def __init__(self, dimensions: int | None = None) -> None:
        self._lock = threading.RLock()
        self._first_dimensions = dimensions
        self._head = 0
        self._hold(Rows(), LexicalIndex(), Matrix(dimensions), 0)

    @property
    def head(self) -> int:
        """The position of the last change that is in here."""
        return self._head

    def load(self, snapshot: Snapshot) -> None:
        """Replace everything by a snapshot; searches go on in the old state until the new one is complete."""
        rows, lexical, matrix = Rows(), LexicalIndex(), Matrix(self._first_dimensions)
        flat, sizes = [np.zeros(0, np.int32)], [np.zeros(1, np.int64)]
        for batch in snapshot.batches:
            first = len(rows)
            rows.extend(batch)
            matrix.add_rows(len(batch.ids))
            if batch.vectors is not None:
                matrix.fill(first, batch.vectors, batch.has_vector)
            flat.append(batch.terms)
            sizes.append(np.diff(batch.term_offsets))
        lexical.load(np.concatenate(flat), np.cumsum(np.concatenate(sizes)))
        with self._lock:
            self._hold(rows, lexical, matrix, snapshot.head)

    def apply(
        self,
        log: Sequence[LogEntry],
        memories: Mapping[MemoryId, Memory],
        vectors: Mapping[MemoryId, NDArray[np.float32]],
    ) -> None:
        """Follow the log: entries at or before `head` are known already and are passed over.

        ``memories`` holds the state after the last entry; a memory that is missing there has been purged since.
        """
        with self._lock:
            for entry in log:
                if entry.position <= self._head:
                    continue
                if entry.change is Change.PURGE:
                    self._purge(entry.id)
                elif entry.id in memories:
                    self._put(memories[entry.id], vectors.get(entry.id))
                self._head = entry.position

    def ids_from(self, row: int) -> list[MemoryId]:
        """Return the ids of the rows from ``row`` on; a row keeps its place as long as the index lives."""
        with self._lock:
            found: list[MemoryId] = self._rows.ids.values[row:].tolist()
            return found

    def take(self, matrix: Matrix) -> None:
        """Replace all vectors by those of another embedder, one row for each row here."""
        with self._lock:
            for row in np.flatnonzero(self._rows.gone.values).tolist():
                matrix.clear(row)
            self._matrix = matrix

    def touch(self, touches: Sequence[Touch]) -> None:
        """Add to the usage of memories; unknown ids are passed over."""
        with self._lock:
            for touch in touches:
                row = self._rows.row_of.get(touch.id)
                if row is not None:
                    accessed = self._rows.accessed_at.values
                    accessed[row] = max(accessed[row], to_micros(touch.at))
                    self._rows.access_count.values[row] += touch.count

    def search(self, ask: Ask) -> Ranking:
        """Return all memories that pass the filters, best first."""
        with self._lock:
            return rank(
                ask,
                Material(
                    self._rows, self._lexical, self._matrix, self._session_neighbours(), self._named(ask.text_terms)
                ),
            )

    def similar(
        self, vector: NDArray[np.float32], *, k: int, floor: float, now: datetime
    ) -> list[tuple[MemoryId, float]]:
        """Return at most ``k`` live memories whose cosine with ``vector`` is ``floor`` or more, the most alike first."""
        with self._lock:
            if k < 1 or not self._matrix.fits(vector):
                return []
            cosines = self._matrix.scores(vector)
            near = np.flatnonzero((cosines >= floor) & self._matrix.has & self._rows.visible(now))
            near = near[np.argsort(-cosines[near], kind="stable")][:k]
            return [(MemoryId(self._rows.ids.values[row]), float(cosines[row])) for row in near]

    def vectors_of(self, ids: Collection[MemoryId]) -> dict[MemoryId, NDArray[np.float32]]:
        """Return the vectors of those memories that have one."""
        with self._lock:
            rows = {one: self._rows.row_of[one] for one in ids if one in self._rows.row_of}
            held = {one: row for one, row in rows.items() if self._matrix.has[row]}
            return dict(zip(held, self._matrix.gather(np.array(list(held.values()), np.intp)), strict=True))

    def without_vector(self, now: datetime, limit: int) -> list[MemoryId]:
        """Return live memories that wait for their vector, the newest first."""
        with self._lock:
            waiting = self._rows.newest_first(self._rows.visible(now) & ~self._matrix.has)[:limit]
            found: list[MemoryId] = self._rows.ids.values[waiting].tolist()
            return found

    def repeats(self, content_hash: str, now: datetime) -> list[MemoryId]:
        """Return the live memories with the same words, oldest first."""
        with self._lock:
            rows = self._among(self._rows.with_hash(content_hash), now)
            return self._named_by(sorted(rows, key=lambda row: int(self._rows.created_at.values[row])))

    def holding_key(self, session: str, key: str, now: datetime) -> MemoryId | None:
        """Return the live working memory that a session keeps under a key, the newest if there are several."""
        with self._lock:
            code = self._rows.sessions.find(session)
            rows = [
                row
                for row in self._among(self._rows.with_key(key), now)
                if self._rows.session.values[row] == code and self._rows.tier.values[row] == _WORKING
            ]
            newest = max(rows, key=lambda row: (int(self._rows.created_at.values[row]), row), default=None)
            return None if newest is None else MemoryId(self._rows.ids.values[newest])

    def select(
        self, where: Where, now: datetime, *, forgotten: bool = False, asked_at: datetime | None = None
    ) -> list[MemoryId]:
        """Return what passes the filters, newest first.

        ``forgotten``: instead of the live memories those forgotten, whether replaced or expired or not. ``asked_at`` leaves
        live memories created later out.
        """
        with self._lock:
            mask = self._rows.matching(where)
            live = self._rows.visible(now, as_of=where.as_of, asked_at=asked_at)
            mask &= self._rows.forgotten_at.values >= 0 if forgotten else live
            found: list[MemoryId] = self._rows.ids.values[self._rows.newest_first(mask)].tolist()
            return found

    def pinned(self, now: datetime) -> list[MemoryId]:
        """Return the live memories that are pinned, newest first."""
        with self._lock:
            mask = self._rows.visible(now) & self._rows.pinned.values
            found: list[MemoryId] = self._rows.ids.values[self._rows.newest_first(mask)].tolist()
            return found

    def newest_version(self, memory_id: MemoryId) -> MemoryId:
        """Return the last memory of the chain of replacements that begins here; an unknown id is returned as it is."""
        with self._lock:
            row = self._rows.row_of.get(memory_id)
            if row is None:
                return memory_id
            seen = {row}
            while (heir := int(self._rows.successor.values[row])) >= 0 and heir not in seen:
                seen.add(heir)
                row = heir
            return MemoryId(self._rows.ids.values[row])

    def statistics(self, now: datetime) -> IndexStatistics:
        """Return how many memories of which sort there are."""
        with self._lock:
            rows = self._rows
            live, kept = rows.visible(now), ~rows.gone.values
            tiers = np.bincount(rows.tier.values[live], minlength=len(TIERS)).tolist()
            return IndexStatistics(
                rows=int(kept.sum()),
                live=int(live.sum()),
                tiers={str(tier): count for tier, count in zip(TIERS, tiers, strict=True)},
                forgotten=int((kept & (rows.forgotten_at.values >= 0)).sum()),
                superseded=int((kept & (rows.successor.values != NOTHING)).sum()),
                insights=int((live & (rows.kind.values == _INSIGHT)).sum()),
                sessions=len(np.unique(rows.session.values[live])),
                pending=int((live & ~self._matrix.has).sum()),
            )

    def sessions(self, prefix: str = "", limit: int = 20, *, asked_at: datetime | None = None) -> list[str]:
        """Return the sessions whose name begins so, those written to last first; what came after ``asked_at`` is left out."""
        with self._lock:
            rows, mask = self._rows, self._suggestible()
            if asked_at is not None:
                mask &= rows.created_at.values <= to_micros(asked_at)
            last = np.full(len(rows.sessions.names), NOTHING, np.int64)
            np.maximum.at(last, rows.session.values[mask], rows.created_at.values[mask])
            ranked = {name: when for name, when in zip(rows.sessions.names, last.tolist(), strict=True) if when >= 0}
            return _most(ranked, prefix, limit)

    def speakers(self, prefix: str = "", limit: int = 20) -> list[str]:
        """Return the speakers whose name begins so, those with the most memories first."""
        with self._lock:
            codes = self._rows.speaker.values[self._suggestible()]
            names = self._rows.speakers.names
            counts = np.bincount(codes[codes >= 0], minlength=len(names)).tolist()
            return _most({name: count for name, count in zip(names, counts, strict=True) if count}, prefix, limit)

    def tags(self, prefix: str = "", limit: int = 20) -> list[str]:
        """Return the tags that begin so, the most used first."""
        with self._lock:
            return _most(self._rows.tags.counts(self._suggestible()), prefix, limit)

    def reflection_rows(self, where: Where, now: datetime) -> ReflectionRows:
        """Return what may be thought about: live observations and summaries that pass the filters and never were evidence."""
        with self._lock:
            rows = self._rows
            mask = rows.matching(where) & rows.visible(now, as_of=where.as_of) & (rows.reflected_at.values < 0)
            mask &= (rows.kind.values != _INSIGHT) & (rows.kind.values != _TASK)
            found = rows.newest_first(mask)[::-1]
            return ReflectionRows(
                ids=tuple(rows.ids.values[found]),
                created_at=rows.created_at.values[found],
                importance=rows.importance.values[found],
                vectors=self._matrix.gather(found),
                has_vector=self._matrix.has[found],
            )

    def _hold(self, rows: Rows, lexical: LexicalIndex, matrix: Matrix, head: int) -> None:
        self._rows = rows
        self._lexical = lexical
        self._matrix = matrix
        self._head = head
        self._neighbours: Neighbours | None = None
        self._speakers_known = 0
        self._speakers_by_term: dict[int, list[int]] = {}

    def _put(self, memory: Memory, vector: NDArray[np.float32] | None) -> None:
        row = self._rows.row_of.get(memory.id)
        if row is None:
            row = self._rows.add(memory)
            self._lexical.add(memory.terms)
            self._matrix.add_rows(1)
            self._neighbours = None
        else:
            session = int(self._rows.session.values[row])
            self._rows.change(row, memory)
            if session != self._rows.session.values[row]:
                self._neighbours = None
        if vector is not None:
            self._matrix.put(row, vector)

    def _purge(self, memory_id: MemoryId) -> None:
        row = self._rows.row_of.get(memory_id)
        if row is not None:
            self._rows.purge(row)
            self._matrix.clear(row)
            self._neighbours = None

    def _among(self, rows: Sequence[int], now: datetime) -> list[int]:
        visible = self._rows.visible(now) if rows else np.zeros(0, np.bool_)
        return [row for row in rows if visible[row]]

    def _named_by(self, rows: Sequence[int]) -> list[MemoryId]:
        return [MemoryId(self._rows.ids.values[row]) for row in rows]

    def _suggestible(self) -> NDArray[np.bool_]:
        mask: NDArray[np.bool_] = ~self._rows.gone.values & (self._rows.forgotten_at.values < 0)
        return mask

    def _session_neighbours(self) -> Neighbours:
        """Return who follows whom in each session by the time of writing; purged rows are left out."""
        if self._neighbours is None:
            rows = self._rows
            kept = np.flatnonzero(~rows.gone.values)
            order = kept[np.lexsort((rows.created_at.values[kept], rows.session.values[kept]))].astype(np.int32)
            earlier, later = order[:-1], order[1:]
            together = rows.session.values[earlier] == rows.session.values[later]
            before, after = np.full((2, len(rows)), NOTHING, np.int32)
            before[later[together]] = earlier[together]
            after[earlier[together]] = later[together]
            self._neighbours = Neighbours(before, after)
        return self._neighbours

    def _named(self, asked: Sequence[int]) -> NDArray[np.bool_]:
        """Return for each speaker whether the question holds a word of the name."""
        names = self._rows.speakers.names
        for code in range(self._speakers_known, len(names)):
            for term in {*terms(names[code])} - {ASKS}:
                self._speakers_by_term.setdefault(term, []).append(code)
        self._speakers_known = len(names)
        named = np.zeros(len(names), np.bool_)
        for term in asked:
            named[self._speakers_by_term.get(term, [])] = True
        return named


def _most(ranked: Mapping[str, int], prefix: str, limit: int) -> list[str]:
    """Return the names with the prefix (in any case) by falling figure."""
    wanted = prefix.casefold()
    found = [name for name in ranked if name.casefold().startswith(wanted)]
    return sorted(found, key=lambda name: (-ranked[name], name))[: max(limit, 0)]
