"""Building blocks of the columns: arrays that grow at the end, strings as numbers, labels of rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

T = TypeVar("T", bound=np.generic)

Mask = NDArray[np.bool_]
Floats = NDArray[np.float32]

ABSENT = -1  # stands for None in a column of row or name numbers
UNKNOWN = -2  # stands for something that is not here
_FIRST_CAPACITY = 64  # elements for which there is room from the beginning


class GrowableArray(Generic[T]):
    """An array that is appended to in amortised constant time. ``values`` is a view and valid until the next append."""

    __slots__ = ("_buffer", "_size")

    def __init__(self, dtype: type[T]) -> None:
        self._buffer: NDArray[T] = np.empty(_FIRST_CAPACITY, dtype)
        self._size = 0

    def __len__(self) -> int:
        return self._size

    @property
    def values(self) -> NDArray[T]:
        """The elements so far; writing to the view writes to the array."""
        return self._buffer[: self._size]

    def append(self, value: Any) -> None:
        """Add one element."""
        if self._size == len(self._buffer):
            self.reserve(1)
        self._buffer[self._size] = value
        self._size += 1

    def extend(self, values: NDArray[Any]) -> None:
        """Add many elements."""
        self.reserve(len(values))
        self._buffer[self._size : self._size + len(values)] = values
        self._size += len(values)

    def fill(self, count: int, value: Any) -> None:
        """Add one element many times."""
        self.reserve(count)
        self._buffer[self._size : self._size + count] = value
        self._size += count

    def reserve(self, count: int) -> None:
        """Make room for more elements. The system gives room that is not written to only on paper."""
        wanted = self._size + count
        if wanted > len(self._buffer):
            buffer = np.empty(max(wanted, 2 * len(self._buffer)), self._buffer.dtype)
            buffer[: self._size] = self.values
            self._buffer = buffer


class GrowableRuns:
    """A run of int32 numbers for each row, mostly short or empty. Rows are added at the end."""

    __slots__ = ("_ends", "_values")

    def __init__(self) -> None:
        self._values: GrowableArray[np.int32] = GrowableArray(np.int32)
        self._ends: GrowableArray[np.int64] = GrowableArray(np.int64)

    def __len__(self) -> int:
        return len(self._ends)

    def reserve(self, count: int) -> None:
        """Make room for more rows."""
        self._ends.reserve(count)

    def append(self, run: Iterable[int]) -> None:
        """Add a row."""
        self._values.extend(np.array(tuple(run), np.int32))
        self._ends.append(len(self._values))

    def extend(self, values: NDArray[np.int32], offsets: NDArray[np.int64]) -> None:
        """Add rows: row i of them has ``values[offsets[i]:offsets[i + 1]]``."""
        self._ends.extend(offsets[1:] + len(self._values))
        self._values.extend(values)

    def of(self, rows: NDArray[np.integer[Any]]) -> tuple[NDArray[np.intp], NDArray[np.int32]]:
        """Return the numbers of some rows, end to end, and for each of them the place in ``rows`` of the row that has it."""
        if not len(self._values):
            return np.zeros(0, np.intp), np.zeros(0, np.int32)
        ends = self._ends.values
        begins = np.where(rows > 0, ends[rows - 1], 0)
        sizes = ends[rows] - begins
        places = np.repeat(begins - np.cumsum(sizes) + sizes, sizes) + np.arange(int(sizes.sum()))
        return np.repeat(np.arange(len(rows)), sizes), self._values.values[places]


class StringTable:
    """Strings as small numbers, in order of their first use; `ABSENT` stands for None."""

    __slots__ = ("_code_of", "names")

    def __init__(self, names: Iterable[str] = ()) -> None:
        self.names: list[str] = list(names)
        self._code_of: dict[str, int] = {name: code for code, name in enumerate(self.names)}

    def code(self, name: str | None) -> int:
        """Return the number of a name, a new one if need be."""
        if name is None:
            return ABSENT
        code = self._code_of.get(name)
        if code is None:
            code = self._code_of[name] = len(self.names)
            self.names.append(name)
        return code

    def find(self, name: str) -> int:
        """Return the number of a name, `UNKNOWN` if it was never used."""
        return self._code_of.get(name, UNKNOWN)


class LabelIndex:
    """Which rows carry which labels (tags, metadata): pairs of row and label in two arrays, so that a lookup is one scan."""

    __slots__ = ("_codes", "_names", "_of_row", "_rows")

    def __init__(self) -> None:
        self._names = StringTable()
        self._rows = GrowableArray(np.int32)
        self._codes = GrowableArray(np.int32)
        self._of_row: dict[int, tuple[str, ...]] = {}

    def put(self, row: int, labels: Iterable[str]) -> None:
        """Replace the labels of a row."""
        wanted = tuple(dict.fromkeys(labels))
        if wanted == self._of_row.get(row, ()):
            return
        if row in self._of_row:
            rows = self._rows.values
            rows[rows == row] = ABSENT
            del self._of_row[row]
        self.load({row: wanted})

    def load(self, labels: Mapping[int, tuple[str, ...]]) -> None:
        """Give labels, each once, to rows that have none."""
        rows: list[int] = []
        codes: list[int] = []
        for row, wanted in labels.items():
            if wanted:
                self._of_row[row] = wanted
                rows.extend([row] * len(wanted))
                codes.extend(map(self._names.code, wanted))
        self._rows.extend(np.array(rows, np.int32))
        self._codes.extend(np.array(codes, np.int32))

    def of(self, row: int) -> tuple[str, ...]:
        """Return the labels of a row."""
        return self._of_row.get(row, ())

    def having(self, label: str) -> NDArray[np.int32]:
        """Return the rows that carry a label."""
        carrying = (self._codes.values == self._names.find(label)) & (self._rows.values != ABSENT)
        rows: NDArray[np.int32] = self._rows.values[carrying]
        return rows

    def having_any(self, labels: Iterable[str]) -> NDArray[np.int32]:
        """Return the rows that carry one of some labels; a row with several is there as often."""
        codes = [code for code in map(self._names.find, labels) if code >= 0]
        if not codes:
            return np.zeros(0, np.int32)
        carrying = np.isin(self._codes.values, codes) & (self._rows.values != ABSENT)
        rows: NDArray[np.int32] = self._rows.values[carrying]
        return rows

    def counts(self, mask: NDArray[np.bool_]) -> dict[str, int]:
        """Return how many rows of the mask carry each label."""
        wanted = self._rows.values != ABSENT
        wanted[wanted] = mask[self._rows.values[wanted]]
        counted = np.bincount(self._codes.values[wanted], minlength=len(self._names.names))
        return {name: count for name, count in zip(self._names.names, counted.tolist(), strict=True) if count}
