"""`Overviews`: the map and the names of what a scope reads, made in a thread of their own and kept until something changes.

`overviews_of` gives those of a service. What is there already is given at once while it is brought up to date behind, unless something
was erased or forgotten since: then nothing of the old is shown any more.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYet
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from hybrid_memory.model import MemoryId
from hybrid_memory.service import reads
from hybrid_memory.store.snapshots import NO_TIME
from hybrid_memory_inspector.overview.memory_map import MemoryMap, draw
from hybrid_memory_inspector.overview.name_table import Name, NameTable, others_named

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hybrid_memory.model import Memory, Scope
    from hybrid_memory.retrieval.index import NamespaceIndex
    from hybrid_memory.retrieval.memory_columns import MemoryColumns
    from hybrid_memory.service.memory_service import MemoryService

T = TypeVar("T")
_SMALL = 3_000  # memories; an overview of no more is there within a moment, and is waited for
_SECONDS_SMALL, _SECONDS = 1.5, 0.06
_MOST_KEPT = 4  # scopes whose overviews are kept
_PAGE = 256  # memories read at a time
_PAUSE_SECONDS = 0.004  # between them, in which other threads go on
_READ_ABOUT = 400  # memories about one name that are read to see what else they name


@dataclass(frozen=True, slots=True)
class Overview(Generic[T]):
    """What was made, from which state of the store (``version``); ``current`` False: something newer is being made."""

    version: str
    value: T
    current: bool = True


@dataclass(frozen=True, slots=True)
class About:
    """What is known under a name: the newest memories that hold and those that held once, and who else they name.

    ``holding`` and ``held`` say how many there are of either; of very many, about.
    """

    name: str
    current: tuple[Memory, ...]
    former: tuple[Memory, ...]
    holding: int
    held: int
    others: tuple[tuple[str, int], ...]


def overviews_of(service: MemoryService) -> Overviews:
    """Return the overviews of a service, which keeps them."""
    return service.derived.part(Overviews, service)


class Overviews:
    """The overviews of one store; safe in several threads."""

    def __init__(self, service: MemoryService) -> None:
        self._service = service
        self._lock = threading.Lock()
        self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="overview")
        self._made: dict[tuple[str, ...], _Made[Any]] = {}
        self._closed = threading.Event()

    def map(self, scope: Scope, patience: float | None = None) -> Overview[MemoryMap] | None:
        """Return the map of what a scope reads; None while the first one is being made.

        ``patience`` is how many seconds to wait for that, by default a moment, which is enough for a small memory.
        """
        return self._get("map", scope, self._draw, patience)

    def names(self, scope: Scope, patience: float | None = None) -> Overview[tuple[Name, ...]] | None:
        """Return the names in what a scope reads, the most frequent first; None while they are counted for the first time.

        ``patience`` as with `map`.
        """
        return self._get("names", scope, self._count_names, patience)

    def about(self, scope: Scope, name: str, limit: int = 60) -> About:
        """Return what is known under a name, written so in any case; at most so many memories of each sort."""
        index = self._service.index_of(scope)
        fetch = reads.fetch_of(self._service.store, scope)
        wanted = name.casefold()
        rows = index.rows_holding(index.hasher.terms(name), self._service.now())

        def read(ids: list[MemoryId]) -> tuple[tuple[Memory, ...], int]:
            """Return the newest of some memories in which the name stands, and in how many about it does."""
            found: list[Memory] = []
            seen = 0
            for part in range(0, len(ids), _PAGE):
                page = ids[part : part + _PAGE]
                found += [one for one in index.memories(page, fetch).values() if _stands_in(wanted, one)]
                seen += len(page)
                if len(found) >= limit:
                    break
            return tuple(found), len(found) + len(ids) - seen

        current, holding = read([one for one in rows.ids if one in rows.live])
        former, held = read([one for one in rows.ids if one not in rows.live])
        texts = [(one.content, one.speaker) for one in (*current, *former)[:_READ_ABOUT]]
        listed = self.names(scope, 0)
        known = {one.name.casefold() for one in listed.value} if listed else set()
        others = others_named(texts, name, lambda one: one.casefold() in known)
        return About(name, current[:limit], former[:limit], holding, held, tuple(others))

    def forget(self) -> None:
        """Keep nothing of what was made: the store is not the one of which it was made."""
        with self._lock:
            self._made.clear()

    def close(self) -> None:
        """Stop what is being made, without waiting for it: it finds the store closed, and nobody asks for it any more."""
        self._closed.set()
        self._executor.shutdown(wait=False, cancel_futures=True)

    def _get(self, what: str, scope: Scope, make: Callable[..., T], patience: float | None) -> Overview[T] | None:
        index = self._service.index_of(scope)
        version = self._service.derived.version(scope)
        hidden = index.look(_hidden)
        if patience is None:
            patience = _SECONDS_SMALL if index.size() <= _SMALL else _SECONDS
        key = (what, *scope.namespaces)
        with self._lock:
            made: _Made[T] = self._made.pop(key) if key in self._made else _Made()
            self._made[key] = made
            while len(self._made) > 2 * _MOST_KEPT:
                self._made.pop(next(iter(self._made)))
            if made.version == version and made.value is not None:
                return Overview(version, made.value)
            if made.work is None or made.work.done():
                made.work = self._executor.submit(self._make, made, make, scope, version, hidden)
            work = made.work
        shown = made.value if made.hidden == hidden else None
        try:
            work.result(patience if shown is None else 0)
        except NotYet:
            return None if shown is None else Overview(made.version, shown, current=False)
        return None if made.value is None else Overview(made.version, made.value, current=made.version == version)

    def _make(self, made: _Made[T], make: Callable[..., T], scope: Scope, version: str, hidden: int) -> None:
        try:
            value = make(made, scope)
        except _VectorsChanged:
            return  # whoever asks next begins again
        with self._lock:
            made.value, made.version, made.hidden = value, version, hidden

    def _draw(self, made: _Made[MemoryMap], scope: Scope) -> MemoryMap:
        index = self._service.index_of(scope)
        fetch = reads.fetch_of(self._service.store, scope)
        rows = index.map_rows(self._service.now())
        length = index.vectors_at(rows.rows[:1]).shape[1]

        def vectors_of(some: NDArray[np.intp]) -> NDArray[np.float32]:
            found = index.vectors_at(some)
            if found.shape[1] != length:
                raise _VectorsChanged
            return found

        return draw(
            rows,
            vectors_of,
            index.terms_at,
            lambda ids: index.memories(ids, fetch),
            index.hasher,
            made.value,
        )

    def _count_names(self, made: _Made[tuple[Name, ...]], scope: Scope) -> tuple[Name, ...]:
        index = self._service.index_of(scope)
        table, ids = made.kept or (NameTable(), np.zeros(0, "S20"))
        ids = self._read_names(table, ids, index, scope)
        made.kept = (table, ids)
        rows = index.rows_of(ids)
        here = np.where(rows >= 0, rows, 0)
        now = self._service.now()
        live, written = index.look(lambda columns: (columns.visible(now), columns.written_at(now).copy()))
        counts = (rows >= 0) & live[here] if len(live) else np.zeros(len(ids), np.bool_)
        at = written[here] if len(written) else np.zeros(len(ids), np.int64)
        return tuple(table.listed(counts, at, index.shares_of_names))

    def _read_names(
        self, table: NameTable, known: NDArray[np.bytes_], index: NamespaceIndex, scope: Scope
    ) -> NDArray[np.bytes_]:
        """Read the names of the memories that the table does not know yet; return the ids of all that it knows."""
        fetch = reads.fetch_of(self._service.store, scope)
        now = self._service.now()
        live = index.look(lambda columns: columns.ids.bytes_of(np.flatnonzero(columns.visible(now))))
        new = live[~np.isin(live, known)] if len(known) else live
        for part in range(0, len(new), _PAGE):
            if self._closed.is_set():
                break
            page = new[part : part + _PAGE]
            wanted = [MemoryId(one.decode()) for one in page.tolist()]
            memories = fetch(wanted)
            for one in wanted:
                found = memories.get(one)
                shown = index.shown(found) if found is not None else None
                table.read(shown.content if shown else "", shown.speaker if shown else None)
            time.sleep(_PAUSE_SECONDS)
            known = np.concatenate((known, page))
        return known


class _VectorsChanged(Exception):
    """The store changed its embedder while a map was made of the former one's vectors."""


class _Made(Generic[T]):
    """What was made of one sort for one scope, and who makes it again."""

    def __init__(self) -> None:
        self.value: T | None = None
        self.version = ""
        self.hidden = -1
        self.work: Future[None] | None = None
        self.kept: Any = None


def _hidden(columns: MemoryColumns) -> int:
    """Return how many memories were purged or forgotten."""
    return int(np.count_nonzero(columns.gone.values | (columns.forgotten_at.values != NO_TIME)))


def _stands_in(wanted: str, memory: Memory) -> bool:
    """Return whether a name is in a memory as a whole, in any case."""
    text = f"{memory.speaker or ''}\n{memory.content}".casefold()
    at = text.find(wanted)
    while at >= 0:
        before, after = text[at - 1 : at], text[at + len(wanted) : at + len(wanted) + 1]
        if not _continues(before, wanted[0]) and not _continues(wanted[-1], after):
            return True
        at = text.find(wanted, at + 1)
    return False


def _continues(before: str, after: str) -> bool:
    """Return whether two characters stand in one word; in scripts without spaces between words nobody can tell, and they do not."""
    return before.isalnum() and after.isalnum() and ord(max(before, after)) < 0x3000  # noqa: PLR2004 - where those scripts begin


def names_at(names: Sequence[Name], beginning: str) -> list[Name]:
    """Return the names of which a word begins with some letters, in any case."""
    wanted = beginning.casefold()
    return [
        one
        for one in names
        if any(part.startswith(wanted) for part in (one.name.casefold(), *one.name.casefold().split()))
    ]
