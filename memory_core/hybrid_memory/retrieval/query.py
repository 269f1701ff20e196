"""What a search structure is asked and what it answers: frozen values around numpy arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING

from hybrid_memory.model import MemoryId
from hybrid_memory.requests import Where
from hybrid_memory.retrieval.question import Question

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from hybrid_memory.retrieval.id_columns import IdSequence
    from hybrid_memory.retrieval.newer import Rivals
    from hybrid_memory.settings import StoreSettings


class Scorer(StrEnum):
    """How rows are scored: words and vectors with context, the reference system's formula, or one of the two alone."""

    FUSED = "fused"
    REFERENCE = "reference"
    LEXICAL = "lexical"
    DENSE = "dense"


@dataclass(frozen=True, slots=True, kw_only=True)
class RankingWeights:
    """How a store ranks unless a question says otherwise; None is the scorer's own weight."""

    scorer: Scorer = Scorer.FUSED
    alpha: float | None = None
    beta: float | None = None
    gamma: float | None = None


def ranking_weights(settings: StoreSettings) -> RankingWeights:
    """Return the formula that a store's settings name."""
    return RankingWeights(
        scorer=Scorer(settings.scorer), alpha=settings.alpha, beta=settings.beta, gamma=settings.gamma
    )


@dataclass(frozen=True, slots=True, eq=False)
class ScanResult:
    """What a scan found, as columns of one length: ids, cosines, and the times of the last recall in microseconds (or `NO_TIME`)."""

    ids: list[MemoryId]
    cosines: NDArray[np.float32]
    accessed_at: NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchQuery:
    """A question to the index.

    ``question`` is the parsed text, ``vector`` its unit vector (None, or one of another embedder's length: words alone decide);
    ``multilingual`` says that the vectors know the words of every language. ``asked_at``, the time of the first page, hides
    memories created later, so that pages fit together. ``history``: what something newer has replaced is found, too.
    ``alpha``, ``beta`` and ``gamma`` weigh recency, relevance and importance; None is the scorer's own
    weight.
    """

    question: Question = field(default_factory=Question)
    vector: NDArray[np.float32] | None = None
    multilingual: bool = False
    where: Where = field(default_factory=Where)
    now: datetime
    asked_at: datetime | None = None
    history: bool = False
    scorer: Scorer | str = Scorer.FUSED
    alpha: float | None = None
    beta: float | None = None
    gamma: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """All candidates, best first; the arrays are aligned with ``ids``, which are made into text where they are looked at.

    ``weak`` marks those below the relevance floor, ``has_vector`` those whose vector is there. ``parts`` are the summands of
    the score by name, in an order of their own: ``positions`` leads from a rank to them, because few ranks are ever explained.
    ``unknown`` says that the question is not answered here, where that can be told. ``newer`` names, for a memory that a
    later one seems to change, that one; ``repeats`` those that say the same in the same words and are left out.

    Where what is trusted and what is not were found, this ranks what is trusted, as if there were nothing else, and ``below`` the
    rest; `shares.joined` makes one ranking of both, in which ``untrusted`` marks the rest. ``answered`` says that what is trusted
    may answer the question (``answering.py``).
    """

    ids: IdSequence
    scores: NDArray[np.float32]
    weak: NDArray[np.bool_]
    has_vector: NDArray[np.bool_]
    parts: Mapping[str, NDArray[np.float32]]
    positions: NDArray[np.intp]
    unknown: bool = False
    answered: bool = True
    repeats: Mapping[MemoryId, tuple[MemoryId, ...]] = field(default_factory=dict)
    newer: Mapping[MemoryId, MemoryId] = field(default_factory=dict)
    rivals: Rivals | None = None
    below: Below | None = None
    untrusted: NDArray[np.bool_] | None = None

    def __len__(self) -> int:
        return len(self.ids)

    def terms(self, position: int) -> dict[str, float]:
        """Return the summands of the score at ``position`` that are not zero, by name."""
        at = self.positions[position]
        return {name: float(part[at]) for name, part in self.parts.items() if part[at] != 0}


@dataclass(frozen=True, slots=True, kw_only=True)
class Below:
    """What is trusted less than who asks: its ranking, and for each place in it how many of the trusted hits are better (``places``)."""

    ranking: Ranking
    places: NDArray[np.intp]


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexStatistics:
    """How many memories there are: ``rows`` all, ``live`` those a search can find, ``tiers`` the live ones by tier.

    ``pending`` counts live memories without a vector, ``ahead`` those with a time that has not come.
    """

    rows: int
    live: int
    tiers: Mapping[str, int]
    forgotten: int
    superseded: int
    insights: int
    episodes: int
    sessions: int
    pending: int
    ahead: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ReflectionRows:
    """Columns of the memories that may be thought about, oldest first. ``created_at`` is in microseconds since 1970.

    ``vectors`` is (rows, dimensions) float32, zero where ``has_vector`` is false; ``terms`` and ``sessions`` are the numbers of words and
    conversations; ``untrusted`` as in `is_untrusted` of a memory.
    """

    ids: Sequence[MemoryId]
    created_at: NDArray[np.int64]
    importance: NDArray[np.float64]
    vectors: NDArray[np.float32]
    has_vector: NDArray[np.bool_]
    terms: Sequence[frozenset[int]]
    sessions: NDArray[np.int64]
    untrusted: NDArray[np.bool_]
