"""`MemoryMap`: all memories of a namespace as points of a map, with its land, its regions and their words; and what brings it up to date.

A map is made again from the last one: memories that were on it keep their place, new ones find theirs among them. Only when very many
have come since it was laid out, or their vectors are others now, is it laid out again, beginning from the old one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hybrid_memory_inspector.overview import hill_words, layout
from hybrid_memory_inspector.overview.layout import Layout
from hybrid_memory_inspector.overview.terrain import Hill, Terrain, survey

if TYPE_CHECKING:
    from hybrid_memory.language.terms import TermHasher
    from hybrid_memory.model import Memory, MemoryId
    from hybrid_memory.retrieval.map_rows import MapRows

REGION_WORDS, PLACE_WORDS = 3, 2
_GROWN = 1.25  # times as many memories as when it was laid out: it is laid out again
_CHECKED = 32  # memories whose places are computed again, to see whether their vectors are still the same
_SAME = 1e-3

ReadMemories = Callable[[Sequence["MemoryId"]], Mapping["MemoryId", "Memory"]]


@dataclass(frozen=True, slots=True)
class NamedHill:
    """A region or place of the map with the words that its memories have in common, the most telling first; maybe none."""

    hill: Hill
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class MemoryMap:
    """A map. ``rows`` tells what is known of each point, ``points`` where it lies, (count, 2); both in the order of writing."""

    rows: MapRows
    points: NDArray[np.float32]
    terrain: Terrain
    regions: tuple[NamedHill, ...]
    places: tuple[NamedHill, ...]
    layout: Layout
    laid_out: int
    """How many memories there were when it was laid out."""


def draw(
    rows: MapRows,
    vectors_of: Callable[[NDArray[np.intp]], NDArray[np.float32]],
    terms_of: Callable[[NDArray[np.intp]], tuple[NDArray[np.int32], NDArray[np.int64]]],
    read: ReadMemories,
    hasher: TermHasher,
    former: MemoryMap | None = None,
) -> MemoryMap:
    """Return the map of some rows. ``vectors_of`` and ``terms_of`` take numbers of rows, ``read`` gives memories as they may be shown."""
    points, ground, laid_out = _points(rows, vectors_of, former)
    terrain = survey(points)
    terms, sizes = terms_of(rows.rows)

    def named(
        hills: Sequence[Hill], hill_of: NDArray[np.int16], most: int, over: Sequence[NamedHill] = ()
    ) -> tuple[NamedHill, ...]:
        telling = hill_words.telling(terms, sizes, hill_of, len(hills))
        ids = {place: rows.id_of(place) for one in telling for place in one.read}
        memories = read(list(ids.values())) if ids else {}
        words = [
            hill_words.spelled(
                one.terms,
                [found.content for place in one.read if (found := memories.get(ids[place]))],
                hasher,
            )
            for one in telling
        ]
        known = [over[hill.region].words if hill.region >= 0 else () for hill in hills] if over else None
        chosen = hill_words.named(words, [hill.count for hill in hills], most, known)
        return tuple(NamedHill(hill, tuple(found)) for hill, found in zip(hills, chosen, strict=True))

    regions = named(terrain.regions, terrain.region_of, REGION_WORDS)
    places = named(terrain.places, terrain.place_of, PLACE_WORDS, regions)
    regions = tuple(one if one.words else _by_a_place(at, one.hill, places) for at, one in enumerate(regions))
    return MemoryMap(rows, points, terrain, regions, places, ground, laid_out)


def _by_a_place(region: int, hill: Hill, places: Sequence[NamedHill]) -> NamedHill:
    """Return a region whose memories have no words in common under those of its largest place that has some."""
    return NamedHill(hill, next((one.words for one in places if one.hill.region == region and one.words), ()))


def _points(
    rows: MapRows, vectors_of: Callable[[NDArray[np.intp]], NDArray[np.float32]], former: MemoryMap | None
) -> tuple[NDArray[np.float32], Layout, int]:
    """Return where the rows lie, in which layout, and of how many memories that was made."""
    old = None if former is None else former.layout
    if former is not None and len(rows.rows) <= max(_GROWN * former.laid_out, former.laid_out + 1):
        known = rows.places_in(former.rows)
        seen = np.flatnonzero(known >= 0)
        some = seen[:: max(len(seen) // _CHECKED, 1)]
        places = layout.place(former.layout, rows.rows[some], vectors_of) if _fits(rows, vectors_of, former) else None
        if places is not None and np.abs(places - former.points[known[some]]).max(initial=0) < _SAME:
            points = np.zeros((len(rows.rows), 2), np.float32)
            points[seen] = former.points[known[seen]]
            new = np.flatnonzero(known < 0)
            points[new] = layout.place(former.layout, rows.rows[new], vectors_of)
            return points, former.layout, former.laid_out
    ground = layout.fit(rows.rows, vectors_of, old)
    return layout.place(ground, rows.rows, vectors_of), ground, len(rows.rows)


def _fits(rows: MapRows, vectors_of: Callable[[NDArray[np.intp]], NDArray[np.float32]], former: MemoryMap) -> bool:
    """Return whether the vectors are as long as those that the former map was made of."""
    return bool(len(rows.rows)) and vectors_of(rows.rows[:1]).shape[1:] == former.layout.mean.shape
