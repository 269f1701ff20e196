"""The ground of a map: how thickly memories lie, as land in a sea, and the regions and places that this makes. numpy alone, no chance.

The heights are a histogram of the points, blurred. Each hill is a region: of hills that touch the one that rises less above the
saddle between them goes to the other (persistence; Edelsbrunner, Letscher and Zomorodian, "Topological Persistence and
Simplification", 2002), until there are as many as a person can read. Regions come from a ground that is blurred more, the
smaller places in them from one that is blurred less.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]

CELLS = 184
"""The heights have so many cells across and as many down."""
EDGE = 1.3
"""They reach from minus so much to so much; the points from -1 to 1, but for a few."""
COAST = 40
"""The height from which a cell is land, of 255."""
_FEW_REGIONS, _MOST_REGIONS = 3, 16
_MOST_PLACES = 72
_FEWEST_IN_PLACE = 4  # memories; fewer are no place with a name of its own
_SHARE_OF_REGION = 0.012  # of all memories, at least
_STRAYED = 0.01  # the share of the points that may lie in the sea
_NONE = -1


@dataclass(frozen=True, slots=True)
class Hill:
    """A region or a place: where its top is, how many memories lie on it, and in which region it is (of a region: its own number)."""

    x: float
    y: float
    count: int
    region: int


@dataclass(frozen=True, slots=True, eq=False)
class Terrain:
    """Heights, (CELLS, CELLS) from 0 to 255, the first row at the bottom; regions and places, and in which each point is (-1: in none)."""

    heights: NDArray[np.uint8]
    regions: tuple[Hill, ...]
    places: tuple[Hill, ...]
    region_of: NDArray[np.int16]
    place_of: NDArray[np.int16]


def survey(points: Floats) -> Terrain:
    """Return the ground of some points, (count, 2)."""
    count = len(points)
    if not count:
        none = np.zeros(0, np.int16)
        return Terrain(np.zeros((CELLS, CELLS), np.uint8), (), (), none, none)
    cells = _cells_of(points)
    held = np.bincount(cells, minlength=CELLS * CELLS).reshape(CELLS, CELLS).astype(np.float32)
    width = _width(count)
    ground = _blurred(held, width)
    wide = _blurred(held, width * (2.2 if count > _FEWEST_IN_PLACE else 1))
    wanted = round(min(max(_FEW_REGIONS, 1.3 * count**0.22), _MOST_REGIONS))
    fewest = max(2, math.ceil(count * _SHARE_OF_REGION))
    region_of, regions = _hills(wide, held, wanted, fewest, everywhere=True)
    places_wanted = min(_MOST_PLACES, max(count // 12, 1))
    place_of, places = _hills(
        ground, held, places_wanted, max(_FEWEST_IN_PLACE, math.ceil(count / 600)), everywhere=False
    )
    within = [int(region_of[top]) for top, _ in places]
    return Terrain(
        _heights(ground, cells),
        tuple(_hill(top, held_here, at) for at, (top, held_here) in enumerate(regions)),
        tuple(_hill(top, held_here, region) for (top, held_here), region in zip(places, within, strict=True)),
        region_of[cells].astype(np.int16),
        place_of[cells].astype(np.int16),
    )


def _cells_of(points: Floats) -> NDArray[np.intp]:
    at = ((points + EDGE) * (CELLS / (2 * EDGE))).astype(np.intp).clip(0, CELLS - 1)
    cells: NDArray[np.intp] = at[:, 1] * CELLS + at[:, 0]
    return cells


def _width(count: int) -> float:
    """Return how far a memory makes the ground rise, in cells: the more there are, the less."""
    return min(max(11.7 * math.pow(count, -0.2), 1.5), 6.0)


def _blurred(held: Floats, width: float) -> Floats:
    """Return a sum of normal curves, one a point."""
    reach = math.ceil(3 * width)
    curve = np.exp(-0.5 * (np.arange(-reach, reach + 1) / width) ** 2).astype(np.float32)
    for axis in (0, 1):
        padded = np.pad(held, [(reach, reach) if one == axis else (0, 0) for one in (0, 1)])
        views = np.lib.stride_tricks.sliding_window_view(padded, 2 * reach + 1, axis=axis)
        held = views @ curve
    return held


def _heights(ground: Floats, cells: NDArray[np.intp]) -> NDArray[np.uint8]:
    """Return heights from 0 to 255: nearly all points stand on land, the thickest place is the top."""
    under = ground.ravel()[cells]
    coast = max(float(np.quantile(under, _STRAYED)) * 0.5, 0.3)
    top = max(float(np.quantile(under, 0.999)), 2 * coast)
    # A root of the number, so that a crowd does not flatten all the rest.
    rise = ((ground / coast) ** 0.4 - 1) / ((top / coast) ** 0.4 - 1)
    land = COAST + rise * (255 - COAST)
    sea = (ground / coast) * COAST
    return np.where(rise >= 0, land, sea).clip(0, 255).astype(np.uint8)


def _hills(
    ground: Floats, held: Floats, wanted: int, fewest: int, *, everywhere: bool
) -> tuple[NDArray[np.intp], list[tuple[int, int]]]:
    """Return which hill each cell is on (-1: on none), and the cell of each hill's top and how many points lie on it, the most first.

    ``everywhere``: what touches no hill belongs to the nearest one.
    """
    flat, counts = ground.ravel(), held.ravel().astype(np.int64)
    summit_of, merges = _merge_tree(flat, counts)
    order = sorted(merges, key=lambda top: (-merges[top].worth, top))
    # A hill is kept with all that flows to it; one with too few points goes to the one it touched first.
    kept: set[int] = set()
    for top in order:
        if len(kept) < wanted and (not kept or merges[top].held >= fewest):
            kept.add(top)
    final: dict[int, int] = {}
    for top in merges:
        to = top
        while to not in kept and merges[to].into != _NONE:
            to = merges[to].into
        final[top] = to if to in kept else _nearest(top, kept) if everywhere else _NONE
    number = np.full(len(flat) + 1, _NONE, np.intp)
    for top, to in final.items():
        number[top] = to
    owners = np.where(summit_of >= 0, number[summit_of], _NONE)
    sizes = {top: int(counts[owners == top].sum()) for top in kept}
    ranked = sorted((top for top in kept if sizes[top]), key=lambda top: (-sizes[top], top))
    place = np.full(len(flat) + 1, _NONE, np.intp)
    for at, top in enumerate(ranked):
        place[top] = at
    return place[owners], [(top, sizes[top]) for top in ranked]


def _nearest(top: int, tops: set[int]) -> int:
    down, across = divmod(top, CELLS)
    return min(tops, key=lambda one: ((one // CELLS - down) ** 2 + (one % CELLS - across) ** 2, one))


@dataclass(slots=True)
class _Summit:
    held: int = 0
    into: int = _NONE
    worth: float = math.inf


def _merge_tree(flat: Floats, counts: NDArray[np.int64]) -> tuple[NDArray[np.intp], dict[int, _Summit]]:
    """Return for each cell the top that it lies under, and for each top where it merged and how much it was worth until then."""
    order = np.argsort(-flat, kind="stable")
    order = order[flat[order] > flat.max() * 1e-5]
    summit = np.full(len(flat), _NONE, np.intp)
    root: dict[int, int] = {}
    tops: dict[int, _Summit] = {}

    def find(top: int) -> int:
        while root[top] != top:
            root[top] = top = root[root[top]]
        return top

    steps = [(down, across) for down in (-1, 0, 1) for across in (-1, 0, 1) if down or across]
    for cell in order.tolist():
        down, across = divmod(cell, CELLS)
        around = [
            (down + one) * CELLS + across + other
            for one, other in steps
            if 0 <= down + one < CELLS and 0 <= across + other < CELLS
        ]
        touching = sorted((one for one in around if summit[one] != _NONE), key=lambda one: (-flat[one], one))
        if not touching:
            summit[cell] = root[cell] = cell
            tops[cell] = _Summit(int(counts[cell]))
            continue
        summit[cell] = summit[touching[0]]
        groups = sorted({find(int(summit[one])) for one in touching}, key=lambda top: (-flat[top], top))
        for lower in groups[1:]:
            found = tops[lower]
            found.into = groups[0]
            found.worth = found.held * math.log(float(flat[lower]) / max(float(flat[cell]), 1e-9))
            tops[groups[0]].held += found.held
            root[lower] = groups[0]
        tops[groups[0]].held += int(counts[cell])
    return summit, tops


def _hill(top: int, count: int, region: int) -> Hill:
    down, across = divmod(top, CELLS)
    at = [round((one + 0.5) * 2 * EDGE / CELLS - EDGE, 4) for one in (across, down)]
    return Hill(at[0], at[1], count, region)
