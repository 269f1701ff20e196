"""What a detector says: where a secret stands and what it is."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class SecretFound:
    """The characters from ``start`` (included) to ``end`` (excluded) are a secret; ``kind`` names it in words for people."""

    start: int
    end: int
    kind: str
