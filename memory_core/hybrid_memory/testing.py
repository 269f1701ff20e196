"""Fakes of the clock, the random source and the embedder, for tests of this library and of programs that use it."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from hybrid_memory.language.terms import KEY_BITS, TermHasher

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

START = datetime(2026, 1, 10, 12, 0, tzinfo=UTC)


class FakeClock:
    """A clock that stands still until it is told to move."""

    def __init__(self, start: datetime = START) -> None:
        self._now = start

    def now(self) -> datetime:
        """Return the moment that was set."""
        return self._now

    def advance(self, *, days: float = 0, hours: float = 0, seconds: float = 0) -> None:
        """Move on (or back, with negative figures)."""
        self._now += timedelta(days=days, hours=hours, seconds=seconds)

    def set(self, moment: datetime) -> None:
        """Jump to a moment."""
        self._now = moment


class FakeRandomSource:
    """Random bits that are the same in every run with the same seed."""

    def __init__(self, seed: int = 0) -> None:
        self._random = random.Random(seed)  # noqa: S311 - reproducible on purpose

    def bits(self, count: int) -> int:
        """Return the next ``count`` bits."""
        return self._random.getrandbits(count)


HASHER = TermHasher(FakeRandomSource().bits(KEY_BITS))
"""Makes the terms of a store whose key is drawn from `FakeRandomSource`, for what has no store."""

FakeDice = FakeRandomSource
"""The former name, for programs that use it."""


class HashEmbedder:
    """Every distinct word gets a fixed pseudo-random direction; a text is the sum of its words.

    Texts that share words are alike, the same text is the same vector, and no model is needed.
    """

    def __init__(self, dimensions: int = 64, identity: str = "hash-1") -> None:
        self._dimensions = dimensions
        self._identity = identity

    @property
    def identity(self) -> str:
        """The name that was given."""
        return self._identity

    @property
    def dimensions(self) -> int:
        """The length of a vector."""
        return self._dimensions

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return unit rows; a text without words gives zeros."""
        import numpy as np

        rows = np.zeros((len(texts), self._dimensions), np.float32)
        for at, text in enumerate(texts):
            for word in text.lower().split():
                seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:8], "big")
                rows[at] += np.random.default_rng(seed).standard_normal(self._dimensions, np.float32)
        lengths = np.sqrt((rows * rows).sum(axis=1, keepdims=True))
        return (rows / np.where(lengths > 0, lengths, 1)).astype(np.float32)
