"""What is over: an appointment that has passed, "just tonight", "the office is closed this week". Deterministic; no word is listed.

A logistic regression over a statement's vector says how likely it was of a passing matter; its days (`Memory.days`) say
whether that has passed. ``tools/fit_endings.py`` fits it and writes its calibration: of statements that get a chance of p, about p were
marked as over within three months.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from hybrid_memory.model import Memory, MemoryId, Tier

if TYPE_CHECKING:
    from numpy.typing import NDArray

MODEL = Path(__file__).with_name("data") / "endings.npz"
CALIBRATION = MODEL.with_suffix(".json")
VECTOR_WEIGHT = 3.0  # so that the penalty of the fit leaves a unit vector room

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_AFTER_DAY = timedelta(days=2)  # a statement's last day ends then wherever the person lives, and is a day back


@dataclass(frozen=True, slots=True, kw_only=True)
class EndingModel:
    """The weights for a unit vector, the last one constant; from ``threshold`` on a statement counts as one of a passing matter."""

    weights: NDArray[np.float32]
    threshold: float

    def chances(self, vectors: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return for each row (statements, values) the chance (0..1) that it speaks of a passing matter."""
        odds = VECTOR_WEIGHT * vectors @ self.weights[:-1] + self.weights[-1]
        found: NDArray[np.float32] = np.reciprocal(1 + np.exp(-np.clip(odds, -30, 30)), dtype=np.float32)
        return found


def among_passing(
    model: EndingModel, passed: Iterable[Memory], vectors: Mapping[MemoryId, NDArray[np.float32]]
) -> frozenset[MemoryId]:
    """Return those that speak of a passing matter, of memories whose time `has_passed`; what has no vector lasts."""
    judged = [one for one in passed if one.id in vectors]
    if not judged:
        return frozenset()
    chances = model.chances(np.stack([vectors[one.id] for one in judged]))
    return frozenset(one.id for one, chance in zip(judged, chances, strict=True) if chance >= model.threshold)


def has_passed(memory: Memory, now: datetime) -> bool:
    """Return True if a statement spoke of days to come, and they lie back. What is pinned or held in working memory never has."""
    if memory.pinned or memory.tier is Tier.WORKING:
        return False
    told = min(memory.occurred_at or memory.created_at, memory.created_at)
    to_come = [day for day in (_EPOCH + timedelta(days=one) for one in memory.days) if day > told]
    return bool(to_come) and max(to_come) + _AFTER_DAY < now


@cache
def load_endings() -> EndingModel:
    """Return the fitted model."""
    with np.load(MODEL, allow_pickle=False) as held:
        weights = held["weights"].astype(np.float32)
    return EndingModel(weights=weights, threshold=json.loads(CALIBRATION.read_text(encoding="utf-8"))["threshold"])
