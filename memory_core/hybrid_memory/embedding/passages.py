"""The passages of a long text, which a question is compared with besides the whole, and their vectors as every store keeps them. Pure.

Passages are an index, not memories: nobody sees or counts them, and they go with
their memory. A passage's vector is stored with its
scale (float32, little endian) and a byte for each component: a unit vector within a cosine of .01. Bytes that are read are an input:
a memory whose bytes cannot be such has no passages.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

MOST_PASSAGES = 16
"""So many a text has at most; of more neighbours are joined."""
_SHORT = 40  # characters; a shorter sentence says little without the one before it
_LONG = 160  # up to here a passage takes short sentences in

_BETWEEN = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])\s*|\s*\n\s*")
_STEPS = 127  # of int8, to either side
_MOST_SCALE = 1.01 / _STEPS  # no component of a unit vector is greater than one, but for rounding


def passages_of(text: str) -> list[str]:
    """Return the passages of a text in their order, none for a text of a single one."""
    found: list[str] = []
    for sentence in filter(None, map(str.strip, _BETWEEN.split(text))):
        if found and len(sentence) < _SHORT and len(found[-1]) + len(sentence) < _LONG:
            found[-1] += f" {sentence}"
        else:
            found.append(sentence)
    if len(found) > MOST_PASSAGES:
        ends = [len(found) * part // MOST_PASSAGES for part in range(MOST_PASSAGES + 1)]
        found = [" ".join(found[begin:end]) for begin, end in pairwise(ends)]
    return found if len(found) > 1 else []


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
