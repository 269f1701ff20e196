"""Where memories lie on a map: points in the plane, near each other where they mean nearly the same. numpy alone, no chance.

A few hundred *landmarks* (all memories, where there are no more; else centres of small clusters, found by k-means) are laid out by
t-SNE (van der Maaten and Hinton, "Visualizing Data using t-SNE", 2008), kept a little exaggerated, so that what belongs together
makes islands (Böhm, Berens and Kobak, "Attraction-Repulsion Spectrum in Neighbor Embeddings", 2022). Every other memory lies among
the landmarks that it resembles most. So the work grows with the landmarks' square, and only linearly with the memories; a
memory that comes later finds its place without moving the others.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Rows = NDArray[np.intp]
VectorsOf = Callable[[Rows], Floats]
"""Returns the vectors of some rows, (rows, dimensions)."""

MOST_LANDMARKS = 1_000
_SAMPLED = 10_000  # memories among which the landmarks are sought
_ROUNDS = 6  # of k-means
_CHUNK = 8_192  # rows whose vectors are held at a time
_NEIGHBOURS = 15  # the perplexity: about so many neighbours of a landmark are drawn to it
_STEPS, _EARLY_STEPS = 400, 100
_EARLY, _LATE = 8.0, 1.3  # how much stronger than in the plain method neighbours attract, first and later
_FEWEST = 6  # below, there is nothing to lay out: they stand in a circle
_AROUND = 12  # landmarks around one that say which way is which
_RIDGE = 0.3  # how much the ground is smoothed, as a share of how the neighbours differ
_REACH = (
    1.1  # how far from its landmark a memory lies at most, in distances between landmarks; half of them within `_USUAL`
)
_USUAL = 0.5
_KEPT = 0.995  # the share of points inside the map's frame; those beyond are drawn in
_TINY = 1e-9
_LEAST = 1e-4  # distance between neighbours on the map, and what keeps equal ones apart where a system of equations is solved


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """Landmarks in the space of meaning, (landmarks, dimensions) unit vectors without the ``mean`` of all, and on the map.

    ``places`` is (landmarks, 2), within -1 and 1 but for a few; ``spacing`` is how far apart neighbours lie there.
    """

    mean: Floats
    landmarks: Floats
    places: Floats
    spacing: Floats
    leaning: Floats


def fit(rows: Rows, vectors_of: VectorsOf, former: Layout | None = None) -> Layout:
    """Return the layout of the memories at some rows, which have a vector each.

    With a ``former`` layout of vectors of the same length the new one begins where that stood, so that a map that was seen before
    is known again. The same input gives the same layout on the same machine.
    """
    if not len(rows):
        return Layout(*(np.zeros(shape, np.float32) for shape in ((0,), (0, 0), (0, 2), (0,), (0, 2, 0))))
    sample = rows[_spread_out(len(rows), _SAMPLED)]
    vectors = np.array(vectors_of(sample), np.float32)
    mean = vectors.mean(axis=0)
    vectors = _direction(vectors - mean)
    landmarks = vectors if len(vectors) <= MOST_LANDMARKS else _centres(vectors, MOST_LANDMARKS)
    known = former is not None and former.landmarks.shape[1:] == landmarks.shape[1:] and len(former.landmarks) > _FEWEST
    begin = (
        place(former, vectors_of=lambda _: landmarks + mean, rows=np.arange(len(landmarks)))
        if known and former
        else None
    )
    places = _laid_out(landmarks, begin)
    spacing = _spacing(places)
    return Layout(mean, landmarks, places, spacing, _leaning(landmarks, places, spacing, vectors))


def place(layout: Layout, rows: Rows, vectors_of: VectorsOf) -> Floats:
    """Return where the memories at some rows lie, (rows, 2)."""
    found = np.zeros((len(rows), 2), np.float32)
    if not len(layout.landmarks):
        return found
    for part in _chunks(len(rows)):
        vectors = _direction(np.asarray(vectors_of(rows[part]), np.float32) - layout.mean)
        found[part] = _among_landmarks(layout, vectors)
    return found


def _among_landmarks(layout: Layout, vectors: Floats) -> Floats:
    """Return where vectors lie: by the landmark that each resembles most, on the side on which the neighbours lie that it leans to."""
    nearest = np.argmax(vectors @ layout.landmarks.T, axis=1)
    off = vectors - layout.landmarks[nearest]
    leans = np.matmul(layout.leaning[nearest], off[:, :, None])[:, :, 0]
    length = np.sqrt((leans**2).sum(axis=1, keepdims=True))
    # However far it leans, it stays nearer to its own landmark than to the next.
    reach = _REACH * layout.spacing[nearest][:, None]
    found: Floats = layout.places[nearest] + leans * (reach * np.tanh(length / reach) / np.maximum(length, _TINY))
    return found.astype(np.float32)


def _leaning(landmarks: Floats, places: Floats, spacing: Floats, vectors: Floats) -> Floats:
    """Return for each landmark the linear map, (2, dimensions), from how a vector differs from it to where it lies off.

    It is the least one that leads from the landmark's neighbours on the map to their places, so that the ground between landmarks
    is continuous; then made as great as spreads a sample of ``vectors`` over it.
    """
    count = len(landmarks)
    around = min(_AROUND, count - 1)
    if around < 2:  # noqa: PLR2004 - a plane needs two
        return np.zeros((count, 2, landmarks.shape[1]), np.float32)
    near = np.argpartition(_squares_apart(places), around, axis=1)[:, : around + 1]
    near = near[near != np.arange(count)[:, None]].reshape(count, -1)[:, :around]
    off = landmarks[near] - landmarks[:, None, :]
    there = places[near] - places[:, None, :]
    products = np.matmul(off, off.transpose(0, 2, 1))
    ridge = _RIDGE * np.trace(products, axis1=1, axis2=2)[:, None, None] / around * np.eye(around, dtype=np.float32)
    maps = np.matmul(
        np.linalg.solve(products + ridge + _LEAST * np.eye(around, dtype=np.float32), there).transpose(0, 2, 1), off
    ).astype(np.float32)
    nearest = np.argmax(vectors @ landmarks.T, axis=1)
    leans = np.matmul(maps[nearest], (vectors - landmarks[nearest])[:, :, None])[:, :, 0]
    usual = float(np.median(np.sqrt((leans**2).sum(axis=1)) / spacing[nearest]))
    maps *= np.float32(_USUAL / max(usual, 0.05))
    leaning: Floats = maps
    return leaning


def _laid_out(landmarks: Floats, begin: Floats | None) -> Floats:
    """Return where landmarks lie, the long side of the whole lying across."""
    count = len(landmarks)
    if count < _FEWEST:
        turn = 2 * np.pi * np.arange(count) / max(count, 1)
        circle = np.stack((np.cos(turn), np.sin(turn)), axis=1) * (0.5 if count > 1 else 0)
        return circle.astype(np.float32)
    principal = begin if begin is not None else _principal(landmarks)
    places = _descend(_attraction(landmarks), principal, early=begin is None)
    if begin is None:
        places = _principal(places)
    return _framed(places)


def _principal(points: Floats) -> Floats:
    """Return points along the two axes in which they are spread most, the side of greater weight to the right and up."""
    centred = points - points.mean(axis=0)
    _, axes = np.linalg.eigh(centred.T @ centred)
    found = centred @ axes[:, ::-1][:, :2]
    if found.shape[1] == 1:
        found = np.concatenate((found, np.zeros_like(found)), axis=1)
    found *= np.where((found**3).sum(axis=0) < 0, -1, 1)
    principal: Floats = found.astype(np.float32)
    return principal


def _attraction(landmarks: Floats) -> Floats:
    """Return how strongly each pair is drawn together (all together 1), each landmark by about `_NEIGHBOURS` others."""
    count = len(landmarks)
    distances = np.maximum(2 - 2 * (landmarks @ landmarks.T), 0)
    np.fill_diagonal(distances, np.inf)
    wanted = math.log(min(_NEIGHBOURS, max((count - 1) / 3, 1.5)))
    # One precision for each row, by halving: the entropy of its shares falls as it grows.
    low, high = np.full(count, -4.0), np.full(count, 12.0)
    nearest = distances.min(axis=1, keepdims=True)
    finite = np.where(np.isinf(distances), 0, distances - nearest)
    for _ in range(22):
        middle = (low + high) / 2
        shares = np.exp(-np.exp(middle)[:, None] * (distances - nearest))
        sums = shares.sum(axis=1)
        entropy = np.log(sums) + np.exp(middle) * (shares * finite).sum(axis=1) / sums
        low, high = np.where(entropy > wanted, middle, low), np.where(entropy > wanted, high, middle)
    shares /= sums[:, None]
    both: Floats = ((shares + shares.T) / (2 * count)).astype(np.float32)
    np.maximum(both, np.float32(1e-12), out=both)
    return both


def _descend(attraction: Floats, begin: Floats, *, early: bool) -> Floats:
    """Return the points after the descent of t-SNE from a beginning; ``early``: from one that says nothing of islands yet."""
    count = len(begin)
    jitter = np.stack((np.sin(np.arange(count) * 12.9898), np.cos(np.arange(count) * 78.233)), axis=1)
    scale = max(float(begin.std(axis=0).max()), _TINY)
    places = (begin / scale * (1e-2 if early else 4.0) + jitter * 1e-4).astype(np.float32)
    moved, gain = np.zeros_like(places), np.ones_like(places)
    rate = max(count / _EARLY / 4, 10.0)
    steps = _STEPS if early else _STEPS // 3
    for step in range(steps):
        is_early = early and step < _EARLY_STEPS
        pull = _force(places, attraction, _EARLY if is_early else _LATE)
        gain = np.where(np.sign(pull) != np.sign(moved), gain + 0.2, gain * 0.8).clip(0.01)
        moved = (0.5 if is_early else 0.8) * moved - np.float32(4 * rate) * gain.astype(np.float32) * pull
        length = np.sqrt((moved**2).sum(axis=1, keepdims=True))
        moved *= np.minimum(1, 5 / np.maximum(length, _TINY)).astype(np.float32)
        places = places + moved
        places -= places.mean(axis=0)
    return places


def _force(places: Floats, attraction: Floats, exaggeration: float) -> Floats:
    """Return the gradient of t-SNE at each point, a quarter of it."""
    square = (places**2).sum(axis=1)
    near = square[:, None] + square[None, :] - 2 * (places @ places.T)
    near += 1
    np.reciprocal(near, out=near)
    np.fill_diagonal(near, 0)
    push = near * near
    push *= np.float32(1 / near.sum())
    near *= attraction
    near *= np.float32(exaggeration)
    near -= push
    found: Floats = near.sum(axis=1)[:, None] * places - near @ places
    return found


def _framed(places: Floats) -> Floats:
    """Return points moved and scaled so that nearly all lie within -1 and 1."""
    low, high = np.quantile(places, 1 - _KEPT, axis=0), np.quantile(places, _KEPT, axis=0)
    framed = (places - (low + high) / 2) / max(float((high - low).max()) / 2, _TINY) * 0.94
    within: Floats = framed.clip(-1, 1).astype(np.float32)
    return within


def _spacing(places: Floats) -> Floats:
    """Return how far from each landmark its third neighbour lies."""
    count = len(places)
    if count < _FEWEST:
        return np.full(count, 0.1, np.float32)
    third = np.sqrt(np.partition(_squares_apart(places), 3, axis=1)[:, 3])
    spacing: Floats = np.maximum(third, max(float(np.median(third)) / 2, _LEAST)).astype(np.float32)
    return spacing


def _squares_apart(places: Floats) -> Floats:
    square = (places**2).sum(axis=1)
    squares: Floats = np.maximum(square[:, None] + square[None, :] - 2 * (places @ places.T), 0)
    return squares


def _centres(vectors: Floats, count: int) -> Floats:
    """Return the centres of clusters of unit vectors, by k-means from vectors spread out over all."""
    centres = vectors[_spread_out(len(vectors), count)]
    for _ in range(_ROUNDS):
        nearest = np.concatenate([np.argmax(vectors[part] @ centres.T, axis=1) for part in _chunks(len(vectors))])
        order = np.argsort(nearest, kind="stable")
        held, begins = np.unique(nearest[order], return_index=True)
        sums = np.add.reduceat(vectors[order], begins, axis=0)
        centres = centres.copy()
        centres[held] = sums
        centres = _direction(centres)
    return centres


def _direction(vectors: Floats) -> Floats:
    lengths = np.sqrt((vectors**2).sum(axis=1, keepdims=True))
    unit: Floats = vectors / np.maximum(lengths, np.float32(1e-6))
    return unit


def _spread_out(count: int, most: int) -> Rows:
    """Return at most so many places of ``count``, evenly apart."""
    return np.arange(count) if count <= most else (np.arange(most) * (count / most)).astype(np.intp)


def _chunks(count: int) -> Iterator[slice]:
    return (slice(first, first + _CHUNK) for first in range(0, count, _CHUNK))
