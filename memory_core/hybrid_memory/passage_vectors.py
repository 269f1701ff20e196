"""The vectors of a memory's passages as bytes, as every store keeps them in the row of the memory's vector.

A passage has its scale (float32, little endian) and a byte for each component: a unit vector within a cosine of .01. What is read
is an input: of a memory whose bytes cannot be such, there are no passages.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hybrid_memory.passages import MOST_PASSAGES

_STEPS = 127  # of int8, to either side
_MOST_SCALE = 1.01 / _STEPS  # no component of a unit vector is greater than one, but for rounding


@dataclass(frozen=True, slots=True, eq=False)
class PassageRows:
    """Vectors of passages: row i is ``steps[i] * scales[i]``, and of the memory at place ``owners[i]``."""

    owners: NDArray[np.intp]
    steps: NDArray[np.int8]
    scales: NDArray[np.float32]


def packed(vectors: NDArray[np.float32]) -> bytes | None:
    """Return the vectors of a memory's passages (a row each) as bytes, None for no row."""
    if not len(vectors):
        return None
    vectors = np.nan_to_num(vectors, nan=0, posinf=0, neginf=0)
    rows = np.zeros(len(vectors), _row_type(vectors.shape[1]))
    rows["scale"] = np.abs(vectors).max(axis=1) / _STEPS
    rows["steps"] = np.rint(vectors / np.maximum(rows["scale"], np.finfo(np.float32).tiny)[:, None])
    return rows.tobytes()


def unpacked(stored: Sequence[bytes], dimensions: int) -> PassageRows:
    """Return the passages of some memories; none of those whose bytes `packed` cannot have made of vectors of this length."""
    row = _row_type(dimensions)
    sizes = np.fromiter(map(len, stored), np.intp, len(stored))
    counts = sizes // row.itemsize
    counts[(sizes % row.itemsize != 0) | (counts > MOST_PASSAGES)] = 0
    rows = np.frombuffer(b"".join(one for one, count in zip(stored, counts, strict=True) if count), row)
    owners = np.repeat(np.arange(len(stored)), counts)
    sound = (rows["scale"] >= 0) & (rows["scale"] <= _MOST_SCALE)
    if not sound.all():
        sound = ~np.isin(owners, owners[~sound])
        owners, rows = owners[sound], rows[sound]
    return PassageRows(owners, rows["steps"], rows["scale"].astype(np.float32))


def are_sound(stored: bytes, dimensions: int) -> bool:
    """Return whether bytes can be the passages of a memory, by an embedder of so many components."""
    return bool(len(unpacked([stored], dimensions).owners))


def _row_type(dimensions: int) -> np.dtype[np.void]:
    return np.dtype([("scale", "<f4"), ("steps", "i1", (dimensions,))])
