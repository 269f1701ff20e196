"""The ids of the rows as fixed-width bytes, and their content hashes as numbers: a million of either in a few megabytes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from hybrid_memory.model import MemoryId
from hybrid_memory.retrieval.arrays import ABSENT, GrowableArray
from hybrid_memory.store.column_batches import digest_of

_WIDTH_BYTES = 20  # of the ids that this program makes
_FIRST_CAPACITY = 64  # ids for which there is room from the beginning
_MAX_UNSORTED = 4096  # rows kept in a dictionary before they are sorted in; at least an eighth of all

Bytes = NDArray[np.bytes_]


class IdColumn:
    """The ids of the rows, and which row an id belongs to.

    Rows that came together are found by bisection; rows since then by a dictionary, which is emptied into the former when it
    has grown to an eighth of them.
    """

    def __init__(self) -> None:
        self._buffer: Bytes = np.zeros(_FIRST_CAPACITY, f"S{_WIDTH_BYTES}")
        self._size = 0
        self._recent: dict[MemoryId, int] = {}
        self._sorted = 0
        self._order: NDArray[np.intp] | None = None

    def __len__(self) -> int:
        return self._size

    @property
    def values(self) -> IdSequence:
        """All ids by row."""
        return IdSequence(self, None)

    def extend(self, ids: Bytes) -> None:
        """Add the ids of many rows."""
        first = self._size
        self.reserve(len(ids), ids.dtype.itemsize)
        self._buffer[first : first + len(ids)] = ids
        self._size += len(ids)
        if self._sorted == first and not self._recent:
            self._sorted = self._size
            self._order = self._order_from(first)
        else:
            self._recent.update(zip(self.ids_of(np.arange(first, self._size)), range(first, self._size), strict=True))
            self._sort_recent()

    def append(self, id_: MemoryId) -> int:
        """Add the id of one row; returns the row."""
        row = self._size
        plain = id_.encode()
        self.reserve(1, len(plain))
        self._buffer[row] = plain
        self._size += 1
        self._recent[id_] = row
        self._sort_recent()
        return row

    def row(self, id_: str) -> int | None:
        """Return the row that got an id last, None for an unknown one."""
        row = self._recent.get(MemoryId(id_))
        if row is not None:
            return row
        plain = id_.encode("utf-8", "surrogatepass")
        if id_ and len(plain) <= self._buffer.dtype.itemsize:
            found = int(self._find_sorted(np.array([plain], self._buffer.dtype))[0])
            return found if found >= 0 and self.name(found) == id_ else None
        return None

    def rows(self, ids: Bytes) -> NDArray[np.intp]:
        """Return the rows of some ids, `ABSENT` for unknown ones."""
        found = self._find_sorted(ids)
        if self._recent:
            for place in np.flatnonzero(found == ABSENT).tolist():
                found[place] = self._recent.get(MemoryId(ids[place].decode()), ABSENT)
        return found

    def _find_sorted(self, ids: Bytes) -> NDArray[np.intp]:
        """Return the rows of those that came together."""
        sorted_ids = self._buffer[: self._sorted]
        if not len(sorted_ids):
            return np.full(len(ids), ABSENT, np.intp)
        wanted = ids.astype(sorted_ids.dtype) if ids.dtype.itemsize <= sorted_ids.dtype.itemsize else ids
        at = np.minimum(np.searchsorted(sorted_ids, wanted, sorter=self._order), len(sorted_ids) - 1)
        found = at if self._order is None else self._order[at]
        return np.where(sorted_ids[found] == wanted, found, ABSENT)

    def name(self, row: int) -> MemoryId:
        """Return the id of a row."""
        return MemoryId(self._buffer[row].decode())

    def ids_of(self, rows: NDArray[np.intp]) -> list[MemoryId]:
        """Return the ids of some rows."""
        return [MemoryId(one.decode()) for one in self._buffer[rows].tolist()]

    def bytes_of(self, rows: NDArray[np.intp]) -> Bytes:
        """Return the ids of some rows as bytes."""
        return self._buffer[: self._size][rows]

    def starts_with(self, first: int, ids: Bytes) -> bool:
        """Return True if the rows from ``first`` on have just these ids."""
        return np.array_equal(self._buffer[first : min(first + len(ids), self._size)], ids)

    def reserve(self, count: int, width: int = _WIDTH_BYTES) -> None:
        """Make room for more ids, of some number of bytes."""
        wanted, dtype = self._size + count, self._buffer.dtype
        if wanted > len(self._buffer) or width > dtype.itemsize:
            room = np.zeros(
                max(wanted, 2 * len(self._buffer)) if wanted > len(self._buffer) else len(self._buffer),
                f"S{max(width, dtype.itemsize)}",
            )
            room[: self._size] = self._buffer[: self._size]
            self._buffer = room

    def _sort_recent(self) -> None:
        if len(self._recent) > max(_MAX_UNSORTED, self._sorted // 8):
            first, self._sorted = self._sorted, self._size
            self._recent.clear()
            self._order = self._order_from(first)

    def _order_from(self, first: int) -> NDArray[np.intp] | None:
        """Return the order of the ids; None while they rise with the rows, which those made by this program do."""
        if self._order is None:
            added = self._buffer[max(first - 1, 0) : self._size]
            if np.all(added[1:] >= added[:-1]):
                return None
        return np.argsort(self._buffer[: self._size], kind="stable")


class IdSequence(Sequence[MemoryId]):
    """The ids of some rows, made into text only where they are looked at. ``rows`` None: of all rows there were."""

    __slots__ = ("_column", "_rows", "_size")

    def __init__(self, column: IdColumn, rows: NDArray[np.intp] | None) -> None:
        self._column = column
        self._rows = rows
        self._size = len(column) if rows is None else len(rows)

    @property
    def rows(self) -> NDArray[np.intp]:
        """The rows whose ids these are."""
        return np.arange(self._size) if self._rows is None else self._rows

    def __len__(self) -> int:
        return self._size

    @overload
    def __getitem__(self, at: int | np.integer[Any]) -> MemoryId: ...
    @overload
    def __getitem__(self, at: slice | NDArray[Any]) -> IdSequence: ...
    def __getitem__(self, at: int | np.integer[Any] | slice | NDArray[Any]) -> MemoryId | IdSequence:
        if isinstance(at, np.ndarray) and at.dtype != np.bool_ and self._rows is None:
            return IdSequence(self._column, at)
        if isinstance(at, (slice, np.ndarray)):
            return IdSequence(self._column, self.rows[at])
        return self._column.name(int(self.rows[at]))

    def __iter__(self) -> Iterator[MemoryId]:
        return iter(self.tolist())

    def __contains__(self, id_: object) -> bool:
        return isinstance(id_, str) and self._place(id_) is not None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, (IdSequence, list, tuple)) and self.tolist() == list(other)

    __hash__ = None  # type: ignore[assignment]  # like a list: equal to others by its elements

    def followed_by(self, others: IdSequence) -> IdSequence:
        """Return these ids and then others of the same column."""
        return IdSequence(self._column, np.concatenate((self.rows, others.rows)))

    def tolist(self) -> list[MemoryId]:
        """Return the ids as texts."""
        return self._column.ids_of(self.rows)

    def encoded(self) -> Bytes:
        """Return the ids as bytes, which takes a fraction of the time."""
        return self._column.bytes_of(self.rows)

    def index(self, id_: str, start: int = 0, stop: int | None = None) -> int:
        """Return where an id stands.

        Raises:
            ValueError: it does not stand here.
        """
        place = self._place(id_)
        if place is None or place < start or (stop is not None and place >= stop):
            raise ValueError("no such id")
        return place

    def places(self, ids: Iterable[str]) -> dict[str, int]:
        """Return where those of some ids stand that stand here."""
        wanted = {row: id_ for id_ in ids if (row := self._column.row(id_)) is not None}
        found = np.flatnonzero(np.isin(self.rows, list(wanted)))
        return {wanted[row]: place for row, place in zip(self.rows[found].tolist(), found.tolist(), strict=True)}

    def _place(self, id_: str) -> int | None:
        row = self._column.row(id_)
        found = np.flatnonzero(self.rows == row)[:1].tolist() if row is not None else []
        return found[0] if found else None


class DigestColumn:
    """The content hashes of the rows as 128-bit numbers; rows with equal ones say the same."""

    def __init__(self) -> None:
        self._high = GrowableArray(np.uint64)
        self._low = GrowableArray(np.uint64)
        self._order: NDArray[np.intp] = np.zeros(0, np.intp)
        self._recent: dict[int, list[int]] = {}
        self._recent_from = 0

    def __len__(self) -> int:
        return len(self._high)

    def extend(self, digests: NDArray[np.uint64]) -> None:
        """Add (rows, 2) digests, as a batch holds them."""
        self._high.extend(digests[:, 0])
        self._low.extend(digests[:, 1])
        self._recent.clear()
        self._recent_from = len(self)

    def append(self, content_hash: str) -> None:
        """Add the next row."""
        high, low = digest_of(content_hash)
        self._recent.setdefault(high, []).append(len(self))
        self._high.append(high)
        self._low.append(low)

    def halves_of(self, rows: NDArray[np.intp]) -> tuple[list[int], list[int]]:
        """Return the upper and the lower halves of some rows' digests."""
        return self._high.values[rows].tolist(), self._low.values[rows].tolist()

    def rows(self, content_hash: str) -> list[int]:
        """Return the rows of a content hash, earlier ones first."""
        self._sort_recent()
        high, low = digest_of(content_hash)
        high_halves = self._high.values
        wanted = np.uint64(high)
        first, end = (
            int(np.searchsorted(high_halves[: len(self._order)], wanted, side=side, sorter=self._order))
            for side in ("left", "right")
        )
        found = [*self._order[first:end].tolist(), *self._recent.get(high, ())]
        return [row for row in found if int(self._low.values[row]) == low]

    def _sort_recent(self) -> None:
        """Sort what came in bulk; not before it is asked for, because reading does not need it."""
        if len(self._order) < self._recent_from or len(self._recent) > max(_MAX_UNSORTED, len(self._order) // 8):
            self._order = np.argsort(self._high.values, kind="stable")
            self._recent.clear()
            self._recent_from = len(self)
