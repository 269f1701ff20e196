"""Named arrays in one file that is mapped into memory: nothing is read before it is used, and programs share the pages.

The file begins with a line of JSON (what made the content, its size, where each array begins); the arrays follow. What makes such
a file can make it again, so a file that is not as expected is simply not used.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import weakref
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from hybrid_memory.private_files import FOLDER_MODE, open_plain_file

Arrays = Mapping[str, NDArray[Any]]

_ALIGNMENT = 64  # bytes: a line of the processor's cache
_HEADER_LIMIT = 1 << 16
_UNFINISHED = ".new"  # the end of the name of a file that is being written
_ABANDONED_SECONDS = 600.0  # after which its writer was killed
_LARGE = 1 << 24  # bytes: of an array of so many a program uses a few rows, so it is not read through at each load


class Rows:
    """Some rows of a matrix at a time.

    A mapped matrix brings sixteen pages into memory with each row, all of it in the end; where the system can, they are read.
    """

    def __init__(self, matrix: NDArray[Any], stream: BinaryIO | None = None, start: int = 0) -> None:
        self._matrix = matrix
        self._start = start
        self._file: int | None = None
        if stream is not None and hasattr(os, "pread"):
            self._file = os.dup(stream.fileno())
            weakref.finalize(self, os.close, self._file)

    def at(self, numbers: NDArray[np.intp]) -> NDArray[Any]:
        """Return the rows of these numbers."""
        if self._file is None:
            found: NDArray[Any] = self._matrix[numbers]
            return found
        size = self._matrix.strides[0]
        read = [os.pread(self._file, size, self._start + size * number) for number in numbers.tolist()]
        return np.frombuffer(b"".join(read), self._matrix.dtype).reshape(len(read), -1)


def write_arrays(file: Path, arrays: Arrays, made_from: str) -> None:
    """Write the arrays for this user alone under a name of their own, and rename the file when it is whole.

    Raises:
        OSError: it cannot be written.
    """
    file.parent.mkdir(FOLDER_MODE, parents=True, exist_ok=True)
    places, at = {}, _HEADER_LIMIT
    for name, array in arrays.items():
        places[name] = (array.dtype.str, array.shape, at)
        at += -(-array.nbytes // _ALIGNMENT) * _ALIGNMENT
    header = {"made_from": made_from, "size": at, "hash": _hash_of(arrays), "arrays": places}
    descriptor, name = tempfile.mkstemp(dir=file.parent, prefix=file.name, suffix=_UNFINISHED)  # 0600
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(json.dumps(header).encode() + b"\n")
            for array, (_, _, start) in zip(arrays.values(), places.values(), strict=True):
                stream.seek(start)
                stream.write(np.ascontiguousarray(array).data)
            stream.truncate(at)
            now = os.fstat(stream.fileno()).st_mtime
        Path(name).replace(file)
        for left in file.parent.glob(f"{file.name}*{_UNFINISHED}"):
            if left.stat().st_mtime < now - _ABANDONED_SECONDS:
                left.unlink(missing_ok=True)
    except BaseException:
        with suppress(OSError):
            Path(name).unlink()
        raise


def map_arrays(file: Path, made_from: str, rows_of: str) -> tuple[Arrays, Rows] | None:
    """Return the arrays of a file, read-only, and the rows of the one named; None where it is missing, damaged or of something else."""
    try:
        with open_plain_file(file) as stream:
            header = json.loads(stream.readline(_HEADER_LIMIT))
            if header["made_from"] != made_from or header["size"] != os.fstat(stream.fileno()).st_size:
                return None
            mapped = np.memmap(stream, np.uint8, "r")
            places = header["arrays"]
            arrays = {
                name: np.ndarray(tuple(shape), np.dtype(kind), mapped, start)
                for name, (kind, shape, start) in places.items()
            }
            rows = Rows(arrays[rows_of], stream, places[rows_of][2])
            return (arrays, rows) if header["hash"] == _hash_of(arrays) else None
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None


def _hash_of(arrays: Arrays) -> str:
    """Return a hash over all but the large arrays."""
    digest = hashlib.sha256()
    for array in arrays.values():
        if array.nbytes < _LARGE:
            digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()
