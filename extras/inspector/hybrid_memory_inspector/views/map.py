"""The view `map`: all memories as a map by meaning, its regions by their words, and as a table; what matches a question on it."""

from __future__ import annotations

import struct
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from hybrid_memory.errors import NotFound
from hybrid_memory.model import TRUST_ORDER, Kind, MemoryId, Tier
from hybrid_memory.requests import ReadRequest
from hybrid_memory.store.snapshots import NO_TIME
from hybrid_memory_inspector.overview.overviews import overviews_of
from hybrid_memory_inspector.overview.terrain import CELLS
from hybrid_memory_mcp.views.view import told

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hybrid_memory.service.memory_service import MemoryService
    from hybrid_memory_inspector.overview.memory_map import MemoryMap, NamedHill
    from hybrid_memory_mcp.views.view import ViewRequest

_MOST_IDS = 40  # asked for at a time
_MOST_MATCHES = 100
_PAGE = 25
_PATIENT_SECONDS = 2.0  # that `wait=1` waits for what is made for the first time
_MICROS = 1_000_000
MAGIC = b"HMM1"
SCALE = 32_000
NEVER = 2**32 - 1
_PINNED = 128
_POINTS_SECONDS = 10.0  # the page was answered that there is a map, unless something was erased since
COLOURS = ("topic", "age", "tier", "trust", "kind")


def load(service: MemoryService, request: ViewRequest) -> dict[str, Any]:
    """Return the map: ``ready`` False while it is being made for the first time, ``current`` False while a newer one is.

    ``points`` is the address of its points (`packed`). ``ids=`` asks for some memories alone, ``q=`` for which points match a
    question, ``region=`` for the memories of one region, page by page.
    """
    if asked := request.text("ids"):
        return {"memories": _memories(service, request, [MemoryId(one) for one in asked.split(",")[:_MOST_IDS]])}
    found = overviews_of(service).map(request.scope, _PATIENT_SECONDS if request.flag("wait") else None)
    if found is None:
        return {"ready": False, "count": 0, "regions": [], "places": [], "memories": [], "total": 0}
    drawn, rows = found.value, found.value.rows
    live = _live(drawn, service.now())
    chosen, matches = _chosen(service, request, drawn)
    page, limit = request.number("page", 1, most=1_000_000), request.number("limit", _PAGE, most=200)
    newest = chosen[::-1] if matches is None else chosen
    ids = [rows.id_of(int(at)) for at in newest[(page - 1) * limit : page * limit]]
    shown = _memories(service, request, ids)
    region_of = {
        rows.id_of(int(at)): int(drawn.terrain.region_of[at]) for at in newest[(page - 1) * limit : page * limit]
    }
    return {
        "ready": True,
        "current": found.current,
        "version": found.version,
        "points": "/map/points.bin",
        "count": len(rows),
        "live": int(np.count_nonzero(live)),
        "without_place": rows.without_vector,
        "first": _moment(rows.written_at, 0),
        "last": _moment(rows.written_at, -1),
        "regions": [
            _hill(at, one) | {"count": int(np.count_nonzero(live & (drawn.terrain.region_of == at)))}
            for at, one in enumerate(drawn.regions)
        ],
        "places": [_hill(at, one) | {"region": one.hill.region} for at, one in enumerate(drawn.places)],
        "tiers": [tier.value for tier in Tier],
        "kinds": [kind.value for kind in Kind],
        "trusts": [trust.value for trust in TRUST_ORDER],
        "colours": list(COLOURS),
        "matches": matches,
        "most": _MOST_MATCHES,
        "region": request.number("region", 0, least=0) if request.text("region") else None,
        "memories": [one | {"region": region_of.get(MemoryId(one["id"]), -1)} for one in shown],
        "total": len(chosen),
        "page": page,
        "limit": limit,
    }


def _chosen(
    service: MemoryService, request: ViewRequest, drawn: MemoryMap
) -> tuple[NDArray[np.intp], list[int] | None]:
    """Return the places of the points that the table shows, and those that match a question, best first."""
    query = request.text("q")
    live = _live(drawn, service.now())
    if query:
        places = _matching(service, request, drawn, query)
        return np.array(places, np.intp), places
    if request.text("region"):
        region = request.number("region", 0, least=0)
        if region >= len(drawn.regions):
            raise NotFound(f"region: the map has {len(drawn.regions)} regions, counted from 0")
        live &= drawn.terrain.region_of == region
    return np.flatnonzero(live), None


def _matching(service: MemoryService, request: ViewRequest, drawn: MemoryMap, query: str) -> list[int]:
    asked = ReadRequest(query=query, limit=_MOST_MATCHES, recalls=False, zone=request.zone)
    hits = [hit.memory.id for hit in service.read(request.scope, asked).hits if not hit.weak]
    return [at for at in drawn.rows.places_of(hits) if at >= 0]


def _memories(service: MemoryService, request: ViewRequest, ids: list[MemoryId]) -> list[dict[str, Any]]:
    known = service.revealed(request.scope, ids)
    return [told(service, request, known[one]) for one in ids if one in known and known[one].forgotten_at is None]


def _live(drawn: MemoryMap, now: datetime) -> NDArray[np.bool_]:
    ended = drawn.rows.ended_at
    live: NDArray[np.bool_] = (ended == NO_TIME) | (ended > int(now.timestamp() * _MICROS))
    return live


def _hill(at: int, named: NamedHill) -> dict[str, Any]:
    return {"number": at, "x": named.hill.x, "y": named.hill.y, "count": named.hill.count, "words": list(named.words)}


def _moment(times: NDArray[np.int64], at: int) -> str | None:
    return datetime.fromtimestamp(int(times[at]) / _MICROS, UTC).isoformat() if len(times) else None


def points(service: MemoryService, request: ViewRequest) -> bytes | None:
    """Return the points of the map of what a person asks to see; None while it is made, which this waits for."""
    found = overviews_of(service).map(request.scope, _POINTS_SECONDS)
    return None if found is None else packed(found.value)


def packed(drawn: MemoryMap) -> bytes:
    """Return the points of a map as one compact block of bytes, little-endian, for the browser's typed arrays.

    ``HMM1``; then seven uint32: how many points, bytes of an id, cells of a side of the heights, the seconds since 1970 at which the first
    and the last came, how many regions, how many places. Then, each for all points: uint32 seconds at which it came; uint32 seconds at
    which it ended (all bits set: it has not); int16 x; int16 y (32,000 is 1); uint8 region; uint8 place (255: none); uint8 tier; uint8
    kind; uint8 trust (128 more: pinned); the ids, padded with zero bytes. At last the heights, uint8, the lowest row first.
    """
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
