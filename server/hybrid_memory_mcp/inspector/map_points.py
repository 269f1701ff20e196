"""The points of a map as one compact block of bytes: 17 bytes and an id for each, little-endian, for the browser's typed arrays.

``HMM1``; then seven uint32: how many points, bytes of an id, cells of a side of the heights, the seconds since 1970 at which the first
and the last came, how many regions, how many places. Then, each for all points: uint32 seconds at which it came; uint32 seconds at
which it ended (all bits set: it has not); int16 x; int16 y (32,000 is 1); uint8 region; uint8 place (255: none); uint8 tier; uint8 kind;
uint8 trust (128 more: pinned); the ids, padded with zero bytes. At last the heights, uint8, the lowest row first.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

import numpy as np

from hybrid_memory.overview.terrain import CELLS
from hybrid_memory.store.snapshots import NO_TIME

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hybrid_memory.overview.memory_map import MemoryMap
    from hybrid_memory.service import MemoryService
    from hybrid_memory_mcp.inspector.view import ViewRequest

MAGIC = b"HMM1"
SCALE = 32_000
NEVER = 2**32 - 1
_MICROS = 1_000_000
_PINNED = 128
_PATIENT_SECONDS = 10.0  # whoever asks was told that there is a map, unless something was erased since


def points(service: MemoryService, request: ViewRequest) -> bytes | None:
    """Return the points of the map of what a person asks to see; None while it is made, which this waits for."""
    found = service.overviews.map(request.scope, _PATIENT_SECONDS)
    return None if found is None else packed(found.value)


def packed(drawn: MemoryMap) -> bytes:
    """Return the points of a map as the bytes that the module's head describes."""
    rows = drawn.rows
    came = _seconds(rows.written_at)
    ended = np.where(rows.ended_at == NO_TIME, np.uint32(NEVER), _seconds(rows.ended_at))
    head = (
        len(rows),
        rows.ids.dtype.itemsize,
        CELLS,
        int(came.min(initial=NEVER)) if len(rows) else 0,
        int(came.max(initial=0)),
        len(drawn.regions),
        len(drawn.places),
    )
    columns = (
        came.astype("<u4"),
        ended.astype("<u4"),
        *((drawn.points * SCALE).clip(-SCALE * 1.02, SCALE * 1.02).astype("<i2")[:, at] for at in (0, 1)),
        drawn.terrain.region_of.astype(np.uint8),
        drawn.terrain.place_of.astype(np.uint8),
        rows.tier.astype(np.uint8),
        rows.kind.astype(np.uint8),
        rows.trust.astype(np.uint8) | (rows.pinned.astype(np.uint8) * np.uint8(_PINNED)),
        rows.ids,
        drawn.terrain.heights,
    )
    return b"".join((MAGIC, struct.pack("<7I", *head), *(np.ascontiguousarray(one).tobytes() for one in columns)))


def _seconds(micros: NDArray[np.int64]) -> NDArray[np.uint32]:
    return (micros // _MICROS).clip(0, NEVER - 1).astype(np.uint32)
