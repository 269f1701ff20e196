"""`NamespaceIndex`: the search index of one namespace, a cache of the store in memory that follows the store's log.

`IndexCache` loads it from a snapshot (`load`, then `sort` in a thread) and applies each change (`apply`), those of this process and
of any other in the same way. `reads` and `MemoryService` ask it: `search` ranks (`rank.rank`), the other methods filter and
count. Everything in it can be built again from the store; no write is decided from it alone.
"""

from __future__ import annotations

import ctypes
import itertools
import threading
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from hybrid_memory.clock import MOST_CARRIED, to_micros
from hybrid_memory.language.languages import ENGLISH
from hybrid_memory.language.terms import QUESTION_TERM, TermHasher
from hybrid_memory.model import Kind, Memory, MemoryId, Tier, Usage
from hybrid_memory.requests import Where
from hybrid_memory.retrieval.approximate_search import ApproximateSearch, VectorIndexFactory
from hybrid_memory.retrieval.arrays import ABSENT, UNKNOWN
from hybrid_memory.retrieval.aspects import Aspect, telling_tags
from hybrid_memory.retrieval.bm25 import LexicalIndex
from hybrid_memory.retrieval.brief import FEW_TRUSTED, UNTRUSTED_EVERY
from hybrid_memory.retrieval.candidates import SessionNeighbours
from hybrid_memory.retrieval.disputes import disputed_first
from hybrid_memory.retrieval.id_columns import IdSequence
from hybrid_memory.retrieval.map_rows import HoldingRows, MapRows
from hybrid_memory.retrieval.memory_cache import MemoryCache
from hybrid_memory.retrieval.memory_columns import KINDS, TIERS, MemoryColumns, SessionOrder
from hybrid_memory.retrieval.near_statements import NO_STATEMENTS, NearStatements, near_statements
from hybrid_memory.retrieval.query import Below, IndexStatistics, Ranking, ReflectionRows, ScanResult, SearchQuery
from hybrid_memory.retrieval.question import Question
from hybrid_memory.retrieval.rank import SearchContext, rank, rank_hidden
from hybrid_memory.retrieval.ranking_parameters import FITTED
from hybrid_memory.retrieval.ranking_signals import MICROS_PER_DAY
from hybrid_memory.retrieval.shares import few_untrusted
from hybrid_memory.retrieval.term_weights import name_shares, name_strength
from hybrid_memory.retrieval.understanding import Understanding, understand
from hybrid_memory.retrieval.vectors import Matrix
from hybrid_memory.secret_detection.masking import masked_memory
from hybrid_memory.store.snapshots import NO_TIME, Snapshot, VectorBatch
from hybrid_memory.store.writing import ChangeType, LogEntry, RecordUse

if TYPE_CHECKING:
    from hybrid_memory.retrieval.id_columns import IdColumn

T = TypeVar("T")

HNSW_FROM = (
    1_000_000  # rows above which vectors are searched approximately; a scan of a million of 256 values takes some 32 ms
)
_WARM_PAGE = 1_024  # memories read at a time while the cache is filled
_MAX_VECTORS_BY_ID = 4_096  # more are read by a scan of all
_ABOUT = int(Aspect.ABOUT_USER | Aspect.ABOUT_FAMILY)
_WEIGHTY = 0.8  # the importance from which a memory may tell of the user whatever its words say
_INSIGHT = KINDS.index(Kind.INSIGHT)
_TASK = KINDS.index(Kind.TASK)
_WORKING = TIERS.index(Tier.WORKING)


_Live: TypeAlias = Callable[[list[int]], list[int]]
AllVectors: TypeAlias = Callable[[], Iterable[VectorBatch]]
SomeVectors: TypeAlias = Callable[[Sequence[MemoryId]], Mapping[MemoryId, NDArray[np.float32]]]
SomePassages: TypeAlias = Callable[[Sequence[MemoryId]], Mapping[MemoryId, bytes]]
_NO_PASSAGES: Mapping[MemoryId, bytes] = {}
_MOST_USES = 2**62  # of one memory


class NamespaceIndex:
    """Finds memories by words, meaning, time and all filters. Safe to call from several threads.

    ``hasher`` made the memories' terms and makes those of questions. ``dimensions`` is the length of the store's vectors; None: that
    of the first one. ``has_old_words`` says that it has followed a memory whose words an earlier version than ``encoding`` has encoded.
    No method raises errors of its own for ids that are not here: a cache may lag behind.
    """

    def __init__(
        self,
        hasher: TermHasher,
        dimensions: int | None = None,
        *,
        make: VectorIndexFactory | None = None,
        hnsw_from: int = HNSW_FROM,
        shown: Callable[[Memory], Memory] = masked_memory,
        encoding: int = 0,
    ) -> None:
        self.hasher = hasher
        self.has_old_words = False
        self._encoding = encoding
        self._lock = threading.RLock()
        self._make = make
        self._hnsw_from = hnsw_from
        self.parameters = FITTED
        """What each step of a search adds; replaced only to measure."""
        self._initial_dimensions = dimensions
        self._head = 0
        self.shown = shown
        """What a reader may see of a memory."""
        self._cache = MemoryCache(shown=shown)
        self._set_state(MemoryColumns(), LexicalIndex(hasher), Matrix(dimensions), 0)

    @property
    def head(self) -> int:
        """The position of the last change that is in here."""
        return self._head

    def load(self, snapshot: Snapshot) -> None:
        """Replace everything by a snapshot; searches go on in the old state until the new one is complete."""
        loaded = load(snapshot, self.hasher, self._initial_dimensions)
        with self._lock:
            old = self._approximate
            self._set_state(*loaded, snapshot.head)
            self._cache.clear()
        if old is not None:
            old.close()

    def sort(self) -> None:
        """Make searching fast; a search before that is as exact. Other calls go on meanwhile."""
        self._lexical.sort()
        with self._lock:
            self._neighbours()
            self._maintain_approximate()
        give_back_memory()

    def apply(
        self,
        log: Sequence[LogEntry],
        memories: Mapping[MemoryId, Memory],
        vectors: Mapping[MemoryId, NDArray[np.float32]],
        passages: Mapping[MemoryId, bytes] = _NO_PASSAGES,
    ) -> None:
        """Follow the log: entries at or before `head` are known already and are passed over.

        ``memories`` holds the state after the last entry; a memory that is missing there has been purged since.
        """
        with self._lock:
            # Another thread may have caught up with a part of the log meanwhile.
            fresh = [entry for entry in log if entry.position > self._head]
            self._follow(fresh, memories, vectors, passages)
            if fresh:
                self._head = fresh[-1].position

    def _follow(
        self,
        fresh: Sequence[LogEntry],
        memories: Mapping[MemoryId, Memory],
        vectors: Mapping[MemoryId, NDArray[np.float32]],
        passages: Mapping[MemoryId, bytes],
    ) -> None:
        # First the cached memories, so that no reader gets one that is older than `head`.
        self._cache.apply_changes({entry.id for entry in fresh}, memories)
        for entry in fresh:
            if entry.change is ChangeType.PURGE:
                self._purge(entry.id)
            elif entry.id in memories:
                self._put(memories[entry.id], vectors.get(entry.id), passages.get(entry.id))
        self._maintain_approximate()

    def memories(
        self, ids: Sequence[MemoryId], read: Callable[[Sequence[MemoryId]], Mapping[MemoryId, Memory]]
    ) -> dict[MemoryId, Memory]:
        """Return the memories that exist as they are `shown`, in the order of ``ids``, as new as `head`.

        ``read`` gives those not at hand.
        """
        return self._cache.get(ids, read)

    def warm(self, read: Callable[[Sequence[MemoryId]], Mapping[MemoryId, Memory]]) -> None:
        """Read the newest memories beforehand, as many as are kept at hand."""
        with self._lock:
            count = len(self._columns)
            newest = self._columns.ids.values[np.arange(max(count - self._cache.free, 0), count)]
        for at in range(0, len(newest), _WARM_PAGE):
            self._cache.get(newest[at : at + _WARM_PAGE].tolist(), read)

    def record_uses(self, uses: Sequence[RecordUse]) -> None:
        """Add to the usage of memories; unknown ids are passed over."""
        with self._lock:
            for use in uses:
                row = self._columns.row_of(use.id)
                if row is not None:
                    accessed = self._columns.accessed_at.values
                    accessed[row] = max(accessed[row], to_micros(use.at))
                    counts = self._columns.access_count.values
                    # As the store does: a full counter stays full.
                    counts[row] = min(int(counts[row]), _MOST_USES) + use.count

    def take_usage(self, usage: Mapping[MemoryId, Usage]) -> None:
        """Take over how memories were used, which another hub counted; unknown ids are passed over."""
        with self._lock:
            for id_, used in usage.items():
                row = self._columns.row_of(id_)
                if row is not None:
                    accessed, counts = self._columns.accessed_at.values, self._columns.access_count.values
                    accessed[row] = max(accessed[row], to_micros(used.accessed_at))
                    counts[row] = max(counts[row], used.count)

    def search(self, query: SearchQuery) -> Ranking:
        """Return all memories that pass the filters, best first."""
        with self._lock:
            return rank(query, self._context())

    def search_hidden(self, query: SearchQuery) -> Below | None:
        """Return what passes the filters and no reading finds, best first, with its places among what is found (`rank_hidden`)."""
        with self._lock:
            return rank_hidden(query, self._context())

    def understand(self, query: SearchQuery) -> Understanding:
        """Return what a search takes a question for."""
        with self._lock:
            return understand(query, self._context())

    def _context(self) -> SearchContext:
        return SearchContext(
            self._columns,
            self._lexical,
            self._matrix,
            self._neighbours(),
            self._named_speakers,
            self.parameters,
        )

    def words_held(self, question: Question, now: datetime) -> tuple[dict[int, float], dict[int, int]]:
        """Return for each term of a question how surely it is a name here, from 0 to 1, and how many live memories hold it."""
        with self._lock:
            shares = name_shares(self._lexical, question.terms)
            names = {
                word.term: name_strength(word.form, share) for word, share in zip(question.words, shares, strict=True)
            }
            held = self._lexical.document_frequencies(question.terms, self._columns.visible(now))
            return names, dict(zip(question.terms, held, strict=True))

    def similar(
        self, vector: NDArray[np.float32], *, k: int, floor: float, now: datetime
    ) -> list[tuple[MemoryId, float]]:
        """Return at most ``k`` live memories, no episodes, whose cosine with ``vector`` is ``floor`` or more, the most alike first."""
        with self._lock:
            if k < 1 or not self._matrix.fits(vector):
                return []
            shown = self._columns.visible(now) & ~self._columns.is_episode()
            near, cosines = self._matrix.top(vector, k, shown)
            found = zip(near.tolist(), cosines.tolist(), strict=True)
            return [(self._columns.ids.name(row), cosine) for row, cosine in found if cosine >= floor]

    def nearest_statements(
        self,
        vector: NDArray[np.float32],
        behind: NDArray[np.float32] | None,
        terms: Collection[int],
        session: str,
        now: datetime,
        *,
        in_passing: bool,
    ) -> NearStatements:
        """Return the live statements that a new one may change: nearest by vector, by rare words in common, and last of its session.

        ``behind`` is a second vector, of the new one together with what it answers.
        Statements are what nobody by name said, either to be kept or ``in_passing``; the rest changes nothing.
        """
        with self._lock:
            if not self._matrix.fits(vector):
                return NO_STATEMENTS
            stated = self._columns.visible(now) & self._columns.are_statements(in_passing=in_passing) & self._matrix.has
            return near_statements(self._columns, self._lexical, self._matrix, stated, vector, behind, terms, session)

    def scan(self, vector: NDArray[np.float32] | None, where: Where, now: datetime) -> ScanResult:
        """Return all live memories that pass the filters, each with its exact cosine and its last recall, the most alike first.

        Equals come in the order in which they were written. Without a vector (or with one of another embedder's length)
        the cosines are 0 and the newest come first.
        """
        with self._lock:
            mask = self._columns.matching(where)
            mask &= self._columns.visible(now, as_of=where.as_of, min_trust=where.min_trust)
            if vector is not None and self._matrix.fits(vector):
                found = np.flatnonzero(mask)
                cosines = self._matrix.scores(vector, found)
                order = np.argsort(-cosines, kind="stable")
                found, cosines = found[order], cosines[order]
            else:
                found = self._columns.newest_first(mask, now)
                cosines = np.zeros(len(found), np.float32)
            return ScanResult(self._columns.ids.ids_of(found), cosines, self._columns.accessed_at.values[found])

    def vectors_of(self, ids: Collection[MemoryId]) -> dict[MemoryId, NDArray[np.float32]]:
        """Return the vectors of those memories that have one."""
        with self._lock:
            rows = ((one, self._columns.row_of(one)) for one in ids)
            row_of = {id_: row for id_, row in rows if row is not None and self._matrix.has[row]}
            return dict(zip(row_of, self._matrix.gather(np.array(list(row_of.values()), np.intp)), strict=True))

    def without_vector(self, now: datetime, limit: int) -> list[MemoryId]:
        """Return live memories that wait for their vector, the newest first."""
        with self._lock:
            waiting = self._columns.newest_first(self._columns.visible(now) & ~self._matrix.has, now)[:limit]
            return self._columns.ids.ids_of(waiting)

    def repeats(self, content_hash: str, now: datetime) -> list[MemoryId]:
        """Return the live memories with the same words, oldest first."""
        with self._lock:
            rows = self._visible_of(self._columns.with_hash(content_hash), now)
            return self._ids_at(sorted(rows, key=lambda row: int(self._columns.created_at.values[row])))

    def episodes_to_sweep(self, before: datetime, most: int, now: datetime) -> list[MemoryId]:
        """Return the episodes, oldest first, that were written before a moment or are more than ``most``.

        None of them speaks of a day ahead.
        """
        with self._lock:
            columns = self._columns
            rows = np.flatnonzero(columns.is_episode() & ~columns.gone.values)
            rows = rows[np.argsort(columns.created_at.values[rows], kind="stable")]
            old = columns.created_at.values[rows] < to_micros(before)
            old[: max(len(rows) - most, 0)] = True
            rows = rows[old]
            places, days = columns.days.of(rows)
            ahead = np.zeros(len(rows), np.bool_)
            ahead[places[days >= to_micros(now) // MICROS_PER_DAY]] = True
            return columns.ids.ids_of(rows[~ahead])

    def key_holders(self, session: str, key: str, now: datetime) -> list[MemoryId]:
        """Return the live working memories that a session keeps under a key, newest first: writes leave one for each authority."""
        with self._lock:
            code = self._columns.sessions.find(session)
            rows = [
                row
                for row in self._visible_of(self._columns.with_key(key), now)
                if self._columns.session.values[row] == code and self._columns.tier.values[row] == _WORKING
            ]
            rows.sort(key=lambda row: (int(self._columns.created_at.values[row]), row), reverse=True)
            return self._ids_at(rows)

    def select(
        self,
        where: Where,
        now: datetime,
        *,
        forgotten: bool = False,
        asked_at: datetime | None = None,
        among: Collection[MemoryId] | None = None,
    ) -> IdSequence:
        """Return what passes the filters, newest first.

        ``forgotten``: instead of the live memories those forgotten, whether replaced or expired or not. ``asked_at`` leaves
        live memories created later out. ``among`` looks at these memories alone.
        """
        with self._lock:
            mask = self._columns.matching(where)
            if among is not None:
                mask &= self._mask_of(among)
            live = self._columns.visible(now, as_of=where.as_of, asked_at=asked_at, min_trust=where.min_trust)
            mask &= self._columns.forgotten_at.values != NO_TIME if forgotten else live
            return self._columns.ids.values[self._columns.newest_first(mask, now)]

    def telling(
        self,
        where: Where,
        now: datetime,
        *,
        wanted: Sequence[tuple[int, int]],
        newest: int,
        asked_at: datetime | None = None,
    ) -> list[MemoryId]:
        """Return memories that pass the filters and may tell of the user; newest first.

        For each pair of bits of `Aspect` and a count, so many that have any of the bits: those about the user first, then the most
        important, then the newest. Besides so many of great importance, insights, those with a telling tag, and the ``newest`` of all.
        So many of what is trusted, and of what is not.
        """
        with self._lock:
            columns = self._columns
            live = columns.visible(now, as_of=where.as_of, asked_at=asked_at, min_trust=where.min_trust)
            rows = columns.newest_first(columns.matching(where) & live, now)
            chosen = np.zeros(len(rows), np.bool_)
            trusted = columns.is_trusted(rows)
            for places in (np.flatnonzero(trusted), np.flatnonzero(~trusted)):
                chosen[places[_telling(columns, rows[places], wanted, newest)]] = True
            return columns.ids.ids_of(rows[chosen])

    def first_of_each_trust(self, ids: IdSequence, count: int) -> list[MemoryId]:
        """Return the first ``count`` of some ids that are trusted, and of those that are not, in their order."""
        with self._lock:
            trusted = self._columns.is_trusted(ids.rows)
            if trusted.all():
                return ids[:count].tolist()
            kept = np.where(trusted, np.cumsum(trusted), np.cumsum(~trusted)) <= count
            return ids[np.flatnonzero(kept)].tolist()

    def with_few_untrusted(
        self, ids: IdSequence, shown: Collection[MemoryId], left_out: Collection[MemoryId]
    ) -> tuple[IdSequence, int]:
        """Return the ids of a brief in another order, and how many of them its first page may show.

        Of those that follow the lines ``shown``, and are not left out, a quarter of every beginning at most is untrusted, as long as
        others follow, and nothing is in front of what it disputes; a first page ends where no others follow.
        """
        with self._lock:
            columns, rows = self._columns, ids.rows
            untrusted = ~columns.is_trusted(rows)
            lines = np.array([row for row in map(columns.row_of, shown) if row is not None], np.intp)
            if not untrusted.any() or not columns.is_trusted(lines).any():
                return ids, len(ids)
            passed = np.isin(rows, [*lines.tolist(), *(columns.row_of(one) for one in left_out)])
            rest, others = np.flatnonzero(~passed), np.flatnonzero(passed)
            order, certain = few_untrusted(untrusted[rest], UNTRUSTED_EVERY)
            ordered = ids[np.concatenate((rest[order], others))]
            return self._disputed_first(ordered), len(shown) + certain

    def recent_in_shares(self, ids: IdSequence, limit: int) -> tuple[list[MemoryId], int]:
        """Return at most ``limit`` of some ids in their order, and how many untrusted ones would be among them but for their share.

        Of every beginning a quarter at most is untrusted; fewer than `FEW_TRUSTED` trusted ones are followed by as many others. Where
        nothing is trusted, the first ones. Nothing is in front of what it disputes.
        """
        with self._lock:
            untrusted = ~self._columns.is_trusted(ids.rows)
            trusted = int(np.count_nonzero(~untrusted))
            if trusted in (0, len(ids)):
                return ids[:limit].tolist(), 0
            order, certain = few_untrusted(untrusted, UNTRUSTED_EVERY)
            if trusted < FEW_TRUSTED:
                order, certain = np.argsort(untrusted, kind="stable"), 2 * trusted
            shown = self._disputed_first(ids[order])[: min(limit, certain)]
            held_back = np.setdiff1d(ids.rows[:limit][untrusted[:limit]], shown.rows)
            return shown.tolist(), len(held_back)

    def _disputed_first(self, ids: IdSequence) -> IdSequence:
        """Return ids in an order in which nothing is in front of what it disputes; only those that have to change their place do."""
        disputes = self._columns.all_disputes()
        if not disputes:
            return ids
        behind = self._behind(
            {*(self._columns.ids.name(row) for row in disputes), *disputes.values()}, lambda rows: rows
        )
        places = sorted(ids.places({*behind, *behind.values()}).values())
        order = np.arange(len(ids))
        moved = disputed_first([ids[place] for place in places], behind)
        order[places] = [places[at] for at in moved]
        return ids[order]

    def stands_behind(self, ids: Iterable[MemoryId], now: datetime) -> dict[MemoryId, MemoryId]:
        """Return which of some memories stand behind a live one, and that one.

        What disputes a more trusted memory comes behind it; of two that are trusted alike the later one likely tells what changed,
        and the earlier one comes behind. A dispute of what is no longer current is over.
        """
        with self._lock:
            if not self._columns.all_disputes():
                return {}
            return self._behind(ids, lambda rows: self._visible_of(rows, now))

    def _behind(self, ids: Iterable[MemoryId], live: _Live) -> dict[MemoryId, MemoryId]:
        found: dict[MemoryId, MemoryId] = {}
        for one in ids:
            front = self._more_trusted(one, live) or self._contradicting(one, live)
            if front is not None:
                found[one] = front
        return found

    def _more_trusted(self, one: MemoryId, live: _Live) -> MemoryId | None:
        """Return the memory that one disputes, if that is trusted more."""
        columns, row = self._columns, self._columns.row_of(one)
        target = None if row is None else columns.disputes((row,)).get(row)
        disputed = None if target is None else columns.row_of(target)
        if row is None or disputed is None or columns.trust.values[disputed] <= columns.trust.values[row]:
            return None
        return target if live([disputed]) else None

    def _contradicting(self, one: MemoryId, live: _Live) -> MemoryId | None:
        """Return the last memory that likely changes one and is trusted as far."""
        row, trust = self._columns.row_of(one), self._columns.trust.values
        if row is None:
            return None
        later = live([other for other in self._columns.disputing(one) if trust[other] >= trust[row]])
        return self._columns.ids.name(max(later, key=self._columns.created_at.values.__getitem__)) if later else None

    def disputed_by_these(self, ids: Iterable[MemoryId], now: datetime) -> dict[MemoryId, MemoryId]:
        """Return which of some memories dispute a live one that is trusted more, and that one."""
        with self._lock:
            found = {one: self._more_trusted(one, lambda rows: self._visible_of(rows, now)) for one in ids}
            return {one: disputed for one, disputed in found.items() if disputed is not None}

    def disputed_by(self, ids: Iterable[MemoryId], now: datetime) -> dict[MemoryId, tuple[MemoryId, ...]]:
        """Return for those memories that are disputed the live, less trusted memories that do it, oldest first."""
        with self._lock:
            columns, trust = self._columns, self._columns.trust.values
            found = {}
            for one in ids:
                disputing, row = columns.disputing(one), columns.row_of(one)
                less = [other for other in disputing if row is None or trust[other] < trust[row]]
                if live := self._visible_of(less, now):
                    found[one] = tuple(self._ids_at(sorted(live, key=columns.created_at.values.__getitem__)))
            return found

    def contradicted_by(self, ids: Iterable[MemoryId], now: datetime) -> dict[MemoryId, MemoryId]:
        """Return for those memories that a later one likely changes, and that is trusted as far, the last one that does."""
        with self._lock:
            if not self._columns.all_disputes():
                return {}
            found = {one: self._contradicting(one, lambda rows: self._visible_of(rows, now)) for one in ids}
            return {one: later for one, later in found.items() if later is not None}

    def not_forgotten(self, ids: Iterable[MemoryId], *, absent: bool = False) -> frozenset[MemoryId]:
        """Return those of some ids that are here and not forgotten; replaced and expired ones are. ``absent`` adds what is not here."""
        with self._lock:
            forgotten = self._columns.forgotten_at.values
            rows = {one: self._columns.row_of(one) for one in ids}
            return frozenset(one for one, row in rows.items() if (absent if row is None else forgotten[row] == NO_TIME))

    def pinned(self, now: datetime) -> IdSequence:
        """Return the live memories that are pinned, newest first."""
        with self._lock:
            mask = self._columns.visible(now) & self._columns.pinned.values
            return self._columns.ids.values[self._columns.newest_first(mask, now)]

    def newest_version(self, memory_id: MemoryId) -> MemoryId:
        """Return the last memory of the chain of replacements that begins here; an unknown id is returned as it is."""
        with self._lock:
            row = self._columns.row_of(memory_id)
            if row is None:
                return memory_id
            seen = {row}
            while (successor := int(self._columns.successor.values[row])) >= 0 and successor not in seen:
                seen.add(successor)
                row = successor
            return self._columns.ids.name(row)

    def replaced_by(self, memory_id: MemoryId) -> list[MemoryId]:
        """Return the memories that one replaced."""
        with self._lock:
            row = self._columns.row_of(memory_id)
            return [] if row is None else self._ids_at(np.flatnonzero(self._columns.successor.values == row).tolist())

    def statistics(self, now: datetime) -> IndexStatistics:
        """Return how many memories of which sort there are."""
        with self._lock:
            columns = self._columns
            live, kept = columns.visible(now), ~columns.gone.values
            tiers = np.bincount(columns.tier.values[live], minlength=len(TIERS)).tolist()
            return IndexStatistics(
                rows=int(kept.sum()),
                live=int(live.sum()),
                tiers={str(tier): count for tier, count in zip(TIERS, tiers, strict=True)},
                forgotten=int((kept & (columns.forgotten_at.values != NO_TIME)).sum()),
                superseded=int((kept & (columns.successor.values != ABSENT)).sum()),
                insights=int((live & (columns.kind.values == _INSIGHT)).sum()),
                episodes=int((live & columns.is_episode()).sum()),
                sessions=int(np.count_nonzero(np.bincount(columns.session.values[live]))),
                pending=int((live & ~self._matrix.has).sum()),
                ahead=columns.ahead(now + MOST_CARRIED),
            )

    def sessions(
        self,
        prefix: str = "",
        limit: int = 20,
        *,
        now: datetime | None = None,
        asked_at: datetime | None = None,
        trusted: bool = False,
    ) -> list[str]:
        """Return the sessions whose name begins so, those written to last first; what came after ``asked_at`` is left out.

        With ``now`` what has a time that has not come counts where it was written. ``trusted``: what was written by somebody trusted
        counts, as far as there is any, and episodes do not.
        """
        with self._lock:
            columns, mask = self._columns, self._suggestible()
            if trusted:
                mask &= ~columns.is_episode()
            if trusted and np.any(of_trusted := mask & columns.is_trusted()):
                mask = of_trusted
            written = columns.created_at.values if now is None else columns.written_at(now)
            if asked_at is not None:
                mask &= written <= to_micros(asked_at)
            last = np.full(len(columns.sessions.names), NO_TIME, np.int64)
            found = columns.newest_first(mask, now)[::-1]
            # Of what was the very first no time is known; its session has a name all the same.
            last[columns.session.values[found]] = np.maximum(written[found], NO_TIME + 1)
            return _ranked_names(columns.sessions.names, last, prefix, limit)

    def speakers(self, prefix: str = "", limit: int = 20) -> list[str]:
        """Return the speakers whose name begins so, those with the most memories first."""
        with self._lock:
            codes = self._columns.speaker.values[self._suggestible()]
            names = self._columns.speakers.names
            counts = np.bincount(codes[codes >= 0], minlength=len(names))
            return _ranked_names(names, np.where(counts, counts, NO_TIME), prefix, limit)

    def tags(self, prefix: str = "", limit: int = 20) -> list[str]:
        """Return the tags that begin so, the most used first."""
        with self._lock:
            counts = self._columns.tags.counts(self._suggestible())
            return _ranked_names(list(counts), np.array(list(counts.values()), np.int64), prefix, limit)

    def reflection_rows(
        self,
        where: Where,
        now: datetime,
        *,
        among: Collection[MemoryId] | None = None,
        newest: int | None = None,
        episodes: bool = False,
    ) -> ReflectionRows:
        """Return what may be thought about: live observations and summaries that pass the filters and never were evidence.

        ``episodes``: only what was said in passing.
        ``among`` looks at these memories alone; ``newest`` returns at most so many of those with a vector that are trusted, and of others.
        """
        with self._lock:
            columns = self._columns
            mask = (
                columns.matching(where)
                & columns.visible(now, as_of=where.as_of)
                & (columns.reflected_at.values == NO_TIME)
            )
            mask &= (columns.kind.values != _INSIGHT) & (columns.kind.values != _TASK)
            if episodes:
                mask &= columns.is_episode()
            if among is not None:
                mask &= self._mask_of(among)
            if newest is not None:
                mask &= self._matrix.has
            found = columns.newest_first(mask, now)[::-1]
            untrusted = ~columns.is_trusted(found)
            if newest is not None:
                of_each = [np.flatnonzero(untrusted == kind)[-newest:] for kind in (False, True)]
                kept = np.sort(np.concatenate(of_each))
                found, untrusted = found[kept], untrusted[kept]
            return ReflectionRows(
                ids=columns.ids.values[found],
                created_at=columns.created_at.values[found],
                importance=columns.importance.values[found],
                vectors=self._matrix.gather(found),
                has_vector=self._matrix.has[found],
                terms=[frozenset(one.tolist()) for one in self._lexical.terms_of_rows(found)],
                sessions=columns.session.values[found].astype(np.int64),
                untrusted=untrusted,
            )

    def of_same_words(self, now: datetime) -> list[list[MemoryId]]:
        """Return the live statements that hold the same terms together, as far as there are several."""
        with self._lock:
            rows = np.flatnonzero(self._columns.visible(now) & self._columns.are_statements())
            groups: dict[bytes, list[int]] = {}
            for row, terms in zip(rows.tolist(), self._lexical.terms_of_rows(rows), strict=True):
                groups.setdefault(np.sort(terms).tobytes(), []).append(row)
            return [self._ids_at(some) for some in groups.values() if len(some) > 1]

    def passed(self, now: datetime) -> list[MemoryId]:
        """Return the live memories that spoke of days to come, all of which lie back by now (`endings.has_passed` says how far)."""
        with self._lock:
            columns = self._columns
            rows = np.flatnonzero(columns.visible(now))
            places, days = columns.days.of(rows)
            micros = days.astype(np.int64) * MICROS_PER_DAY
            told = columns.happened_at(rows)[places]
            last = np.full(len(rows), NO_TIME, np.int64)
            np.maximum.at(last, places[micros > told], micros[micros > told])
            return columns.ids.ids_of(rows[(last != NO_TIME) & (last < to_micros(now))])

    def look(self, work: Callable[[MemoryColumns], T]) -> T:
        """Call a function with the columns while nothing changes them; it copies what it keeps, and everybody else waits for it."""
        with self._lock:
            return work(self._columns)

    def map_rows(self, now: datetime) -> MapRows:
        """Return what a map shows: all that has a vector, but for what is purged, forgotten, or replaced by something unknown."""
        with self._lock:
            columns = self._columns
            successor, written = columns.successor.values, columns.written_at(now)
            mask = self._suggestible() & (successor != UNKNOWN)
            rows = np.flatnonzero(mask & self._matrix.has)
            rows = rows[np.argsort(written[rows], kind="stable")]
            replaced = np.where(successor[rows] >= 0, written[successor[rows]], NO_TIME)
            expires = columns.expires_at.values[rows]
            both = (replaced != NO_TIME) & (expires != NO_TIME)
            return MapRows(
                rows=rows,
                ids=columns.ids.bytes_of(rows),
                tier=columns.tier.values[rows],
                kind=columns.kind.values[rows],
                trust=columns.trust.values[rows],
                pinned=columns.pinned.values[rows],
                written_at=written[rows],
                ended_at=np.where(both, np.minimum(replaced, expires), np.maximum(replaced, expires)),
                without_vector=int(np.count_nonzero(columns.visible(now) & ~self._matrix.has)),
            )

    def vectors_at(self, rows: NDArray[np.intp]) -> NDArray[np.float32]:
        """Return the vectors of some rows."""
        with self._lock:
            return self._matrix.gather(rows)

    def terms_at(self, rows: NDArray[np.intp]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Return the terms of some rows, end to end, and how many each has."""
        with self._lock:
            found = self._lexical.terms_of_rows(rows)
            sizes = np.fromiter(map(len, found), np.int64, len(found))
            return np.concatenate([np.zeros(0, np.int32), *found]), sizes

    def rows_holding(self, terms: Collection[int], now: datetime) -> HoldingRows:
        """Return the memories that hold all of some terms and are not forgotten, newest first, and which of them are live."""
        with self._lock:
            mask = self._suggestible()
            for parts in self._lexical.postings(terms).values():
                held = np.zeros(len(mask), np.bool_)
                for rows, _ in parts:
                    held[rows] = True
                mask &= held
            found = self._columns.newest_first(mask, now) if terms else np.zeros(0, np.intp)
            live = self._columns.visible(now)[found]
            return HoldingRows(self._columns.ids.ids_of(found), frozenset(self._columns.ids.ids_of(found[live])))

    def shares_of_names(self, words: Sequence[str]) -> list[float | None]:
        """Return for some words in how many of the memories that hold them, and tell, they are names; None where none tells."""
        with self._lock:
            return name_shares(self._lexical, [self.hasher.term_in(ENGLISH, word.lower()) for word in words])

    def close(self) -> None:
        """Stop what is running in the background. The index remains as it is."""
        if self._approximate is not None:
            self._approximate.close()

    def size(self) -> int:
        """Return the number of rows, those of purged memories included."""
        with self._lock:
            return len(self._columns)

    def rows_of(self, ids: NDArray[np.bytes_]) -> NDArray[np.intp]:
        """Return the rows of some ids, a negative number for an unknown one; a row keeps its place."""
        with self._lock:
            return self._columns.ids.rows(ids)

    def ids_of(self, rows: NDArray[np.intp]) -> list[MemoryId]:
        """Return the ids of some rows."""
        with self._lock:
            return self._columns.ids.ids_of(rows)

    def replace_vectors(self, matrix: Matrix) -> Callable[[], None]:
        """Replace all vectors by those of another embedder, one row for each row here; returns what stops work on the old."""
        with self._lock:
            for row in np.flatnonzero(self._columns.gone.values).tolist():
                matrix.clear(row)
            old = self._approximate
            self._set_vectors(matrix)
            self._maintain_approximate()
        return _do_nothing if old is None else old.close

    def _set_state(self, columns: MemoryColumns, lexical: LexicalIndex, matrix: Matrix, head: int) -> None:
        self._columns = columns
        self._lexical = lexical
        self._set_vectors(matrix)
        self._head = head
        self._order: SessionOrder | None = None
        self._speakers_known = 0
        self._speakers_by_term: dict[int, list[int]] = {}

    def _set_vectors(self, matrix: Matrix) -> None:
        self._matrix = matrix
        self._approximate: ApproximateSearch | None = None
        if self._make is not None:
            self._approximate = ApproximateSearch(matrix, self._lock, self._make, self._hnsw_from)
        matrix.approximate = self._approximate

    def _maintain_approximate(self) -> None:
        if self._approximate is not None:
            self._approximate.maintain(self._columns.lately_visible())

    def _put(self, memory: Memory, vector: NDArray[np.float32] | None, passages: bytes | None) -> None:
        self.has_old_words |= memory.encoding < self._encoding
        columns = self._columns
        row = columns.row_of(memory.id)
        if row is None:
            row = columns.add(memory)
            self._lexical.add(memory.terms, memory.names, trusted=bool(columns.is_trusted(row)))
            self._matrix.add_rows(1)
            self._add_to_session(row)
        else:
            conversation, trusted = int(columns.conversation.values[row]), bool(columns.is_trusted(row))
            columns.change(row, memory)
            if trusted != columns.is_trusted(row):
                self._lexical.trust_names(memory.names, trusted=not trusted)
            if conversation != columns.conversation.values[row]:
                self._remove_from_session(row, conversation)
                self._add_to_session(row)
        if vector is not None:
            self._matrix.put(row, vector, passages)

    def _purge(self, memory_id: MemoryId) -> None:
        row = self._columns.row_of(memory_id)
        if row is not None:
            self._columns.purge(row)
            self._matrix.clear(row)
            self._remove_from_session(row, int(self._columns.conversation.values[row]))

    def _add_to_session(self, row: int) -> None:
        if self._order is not None:
            self._order.add(row, self._columns.conversation.values, self._columns.created_at.values)

    def _remove_from_session(self, row: int, conversation: int) -> None:
        if self._order is not None:
            self._order.remove(row, conversation)

    def _mask_of(self, ids: Collection[MemoryId]) -> NDArray[np.bool_]:
        mask = np.zeros(len(self._columns), np.bool_)
        mask[[row for row in map(self._columns.row_of, ids) if row is not None]] = True
        return mask

    def _visible_of(self, rows: Sequence[int], now: datetime) -> list[int]:
        visible = self._columns.visible(now) if rows else np.zeros(0, np.bool_)
        return [row for row in rows if visible[row]]

    def _ids_at(self, rows: Sequence[int]) -> list[MemoryId]:
        return [self._columns.ids.name(row) for row in rows]

    def _suggestible(self) -> NDArray[np.bool_]:
        mask: NDArray[np.bool_] = ~self._columns.gone.values & (self._columns.forgotten_at.values == NO_TIME)
        return mask

    def _neighbours(self) -> SessionNeighbours:
        """Return who follows whom in each session, those that are trusted apart from the others; purged rows are left out."""
        if self._order is None:
            self._order = SessionOrder()
            self._order.load(self._columns.conversation.values, self._columns.created_at.values)
            for row in np.flatnonzero(self._columns.gone.values).tolist():
                self._order.remove(row, int(self._columns.conversation.values[row]))
        return SessionNeighbours(self._order.before, self._order.after)

    def _named_speakers(self, question: Question) -> NDArray[np.bool_]:
        """Return for each speaker whether the question holds a word of the name."""
        asked = {term for word in question.words for term in (word.term, self.hasher.term_in(ENGLISH, word.marked))}
        names = self._columns.speakers.names
        for code in range(self._speakers_known, len(names)):
            for term in {*self.hasher.terms(names[code])} - {QUESTION_TERM}:
                self._speakers_by_term.setdefault(term, []).append(code)
        self._speakers_known = len(names)
        named = np.zeros(len(names), np.bool_)
        for term in asked:
            named[self._speakers_by_term.get(term, [])] = True
        return named


class VectorSwap:
    """The next matrix of one index, of another embedder's vectors, brought together while the index goes on with those it has.

    ``everything`` gives all the new vectors that there are, ``some`` those of some memories, ``passages`` the passages of these.
    """

    def __init__(
        self,
        index: NamespaceIndex,
        dimensions: int,
        everything: AllVectors,
        some: SomeVectors,
        passages: SomePassages,
    ) -> None:
        self.index = index
        self._everything = everything
        self._some = some
        self._passages = passages
        self._matrix = Matrix(dimensions)

    def catch_up(self) -> None:
        """Fetch the vectors of rows that came in since the last time, and of those that had none then."""
        self._matrix.add_rows(self.index.size() - len(self._matrix.has))
        if np.count_nonzero(~self._matrix.has) > _MAX_VECTORS_BY_ID:
            for part in self._everything():
                rows = self.index.rows_of(part.ids)
                known = (rows >= 0) & (rows < len(self._matrix.has))
                self._matrix.scatter(rows[known], part.matrix[known])
                _add_passages(self._matrix, np.where(known, rows, ABSENT), part)
        missing = np.flatnonzero(~self._matrix.has)
        for start in range(0, len(missing), _MAX_VECTORS_BY_ID):
            rows = missing[start : start + _MAX_VECTORS_BY_ID]
            ids = self.index.ids_of(rows)
            found, passages = self._some(ids), self._passages(ids)
            for row, id_ in zip(rows.tolist(), ids, strict=True):
                if id_ in found:
                    self._matrix.put(row, found[id_], passages.get(id_))

    def finish(self) -> Callable[[], None]:
        """Give the index its new matrix, if nothing was added to it since the last `catch_up`.

        Returns what stops work on the old one, as `NamespaceIndex.replace_vectors` does.
        """
        return self.index.replace_vectors(self._matrix)


def _telling(
    columns: MemoryColumns, rows: NDArray[np.intp], wanted: Sequence[tuple[int, int]], newest: int
) -> NDArray[np.bool_]:
    """Return which of some rows, newest first, may tell of the user (`NamespaceIndex.telling`)."""
    aspects, importance = columns.aspects.values[rows], columns.importance.values[rows]
    chosen = np.zeros(len(rows), np.bool_)
    chosen[:newest] = True
    # The place among the newest decides between equals.
    worth = (aspects & _ABOUT != 0) + importance - np.arange(len(rows)) / max(len(rows), 1) / 100
    labelled = np.isin(rows, columns.tags.having_any(telling_tags())) | (columns.kind.values[rows] == _INSIGHT)
    groups = [(aspects & bits != 0, count) for bits, count in wanted]
    for group, count in (*groups, (labelled, newest), (importance >= _WEIGHTY, newest)):
        places = np.flatnonzero(group)
        if len(places) > count:
            places = places[np.argpartition(-worth[places], count)[:count]]
        chosen[places] = True
    return chosen


def _do_nothing() -> None:
    pass


def _ranked_names(names: Sequence[str], ranked: NDArray[np.int64], prefix: str, limit: int) -> list[str]:
    """Return the names with the prefix (in any case) by falling figure, those of `NO_TIME` left out."""
    wanted, found = prefix.casefold(), []
    order = np.argsort(-ranked, kind="stable")
    for figure, same in itertools.groupby(order[ranked[order] != NO_TIME].tolist(), key=ranked.__getitem__):
        del figure
        found += sorted(name for name in map(names.__getitem__, same) if name.casefold().startswith(wanted))
        if len(found) >= limit:
            break
    return found[: max(limit, 0)]


def load(snapshot: Snapshot, hasher: TermHasher, dimensions: int | None) -> tuple[MemoryColumns, LexicalIndex, Matrix]:
    """Return rows, terms and vectors of all memories of a snapshot; the terms are still to be sorted.

    Vectors are read alongside the rest: the store and numpy work mostly without holding the interpreter's lock.
    """
    columns, lexical = MemoryColumns(snapshot.sessions, snapshot.speakers), LexicalIndex(hasher)
    matrix = Matrix(dimensions)
    count = sum(map(len, snapshot.ids))
    columns.reserve(count)
    columns.ids.reserve(count)
    for ids in snapshot.ids:
        columns.ids.extend(ids)
    matrix.add_rows(len(columns.ids))
    with ThreadPoolExecutor(max_workers=2, thread_name_prefix="vectors") as executor:
        vectors_read = executor.submit(_fill, matrix, columns.ids, snapshot.vectors, executor)
        for batch in snapshot.batches:
            first = len(columns)
            columns.extend(batch)
            untrusted = np.repeat(~columns.is_trusted(np.arange(first, len(columns))), np.diff(batch.name_offsets))
            lexical.load(batch.terms, batch.term_offsets, batch.names, batch.names[untrusted])
        vectors_read.result()
    return columns, lexical, matrix


def _fill(matrix: Matrix, ids: IdColumn, vectors: Iterable[VectorBatch], executor: ThreadPoolExecutor) -> None:
    """Copy vectors into the matrix, each part while the next is being read."""
    copied: Future[int] | None = None
    for part in vectors:
        place = 0 if copied is None else copied.result()
        copied = executor.submit(_copy, matrix, ids, part, place)
    if copied is not None:
        copied.result()


def _copy(matrix: Matrix, ids: IdColumn, part: VectorBatch, place: int) -> int:
    """Copy a part that should begin with the vector of row ``place``; returns the row of the vector expected next.

    Vectors mostly stand in the order of their memories; then they are copied as they come.
    """
    if ids.starts_with(place, part.ids):
        matrix.fill(place, part.matrix)
        _add_passages(matrix, np.arange(place, place + len(part.ids)), part)
        return place + len(part.ids)
    rows = ids.rows(part.ids)
    known = rows != ABSENT
    matrix.scatter(rows[known], part.matrix[known])
    _add_passages(matrix, rows, part)
    return int(rows[-1]) + 1


def _add_passages(matrix: Matrix, rows: NDArray[np.intp], part: VectorBatch) -> None:
    """Add the passages of a part whose memories have these rows, `ABSENT` for none."""
    known = [place for place in part.passages if rows[place] != ABSENT]
    matrix.add_passages(rows[known], [part.passages[place] for place in known])


def give_back_memory() -> None:
    """Let the system have what was freed. The C library of Linux else keeps much of what loading took for a moment."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
