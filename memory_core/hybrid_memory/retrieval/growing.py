"""Numpy arrays that grow at the end, and names kept as numbers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

T = TypeVar("T", bound=np.generic)

_FIRST = 64
NOTHING = -1
UNKNOWN = -2


class Growing(Generic[T]):
    """An array that is appended to in amortised constant time. ``values`` is a view and valid until the next append."""

    __slots__ = ("_room", "_size")

    def __init__(self, dtype: type[T]) -> None:
        self._room: NDArray[T] = np.empty(_FIRST, dtype)
        self._size = 0

    def __len__(self) -> int:
        return self._size

    @property
    def values(self) -> NDArray[T]:
        """The elements so far; writing to the view writes to the array."""
        return self._room[: self._size]

    def append(self, value: Any) -> None:
        """Add one element."""
        self._reserve(1)
        self._room[self._size] = value
        self._size += 1

    def extend(self, values: NDArray[Any]) -> None:
        """Add many elements."""
        self._reserve(len(values))
        self._room[self._size : self._size + len(values)] = values
        self._size += len(values)

    def _reserve(self, count: int) -> None:
        wanted = self._size + count
        if wanted > len(self._room):
            room = np.empty(max(wanted, 2 * len(self._room)), self._room.dtype)
            room[: self._size] = self.values
            self._room = room


class Names:
    """Strings as small numbers, in order of their first use; `NOTHING` stands for None."""

    __slots__ = ("_code_of", "names")

    def __init__(self) -> None:
        self._code_of: dict[str, int] = {}
        self.names: list[str] = []

    def code(self, name: str | None) -> int:
        """Return the number of a name, a new one if need be."""
        if name is None:
            return NOTHING
        code = self._code_of.get(name)
        if code is None:
            code = self._code_of[name] = len(self.names)
            self.names.append(name)
        return code

    def find(self, name: str) -> int:
        """Return the number of a name, `UNKNOWN` if it was never used."""
        return self._code_of.get(name, UNKNOWN)


class Labels:
    """Which rows carry which labels (tags, metadata): pairs of row and label in two arrays, so that a lookup is one scan."""

    __slots__ = ("_codes", "_names", "_of_row", "_rows")

    def __init__(self) -> None:
        self._names = Names()
        self._rows = Growing(np.int32)
        self._codes = Growing(np.int32)
        self._of_row: dict[int, tuple[str, ...]] = {}

    def put(self, row: int, labels: Iterable[str]) -> None:
        """Replace the labels of a row."""
        wanted = tuple(dict.fromkeys(labels))
        if wanted == self._of_row.get(row, ()):
            return
        if row in self._of_row:
            rows = self._rows.values
            rows[rows == row] = NOTHING
            del self._of_row[row]
        if wanted:
            self._of_row[row] = wanted
        for label in wanted:
            self._rows.append(row)
            self._codes.append(self._names.code(label))

    def of(self, row: int) -> tuple[str, ...]:
        """Return the labels of a row."""
        return self._of_row.get(row, ())

    def having(self, label: str) -> NDArray[np.int32]:
        """Return the rows that carry a label."""
        carrying = (self._codes.values == self._names.find(label)) & (self._rows.values != NOTHING)
        rows: NDArray[np.int32] = self._rows.values[carrying]
        return rows

    def counts(self, mask: NDArray[np.bool_]) -> dict[str, int]:
        """Return how many rows of the mask carry each label."""
        held = self._rows.values != NOTHING
        held[held] = mask[self._rows.values[held]]
        counted = np.bincount(self._codes.values[held], minlength=len(self._names.names))
        return {name: count for name, count in zip(self._names.names, counted.tolist(), strict=True) if count}
