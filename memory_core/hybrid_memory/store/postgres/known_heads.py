"""`KnownHeads`: up to where each namespace is known to have come, so that a read need not ask the server."""

from __future__ import annotations

import threading
from collections.abc import Mapping


class KnownHeads:
    """Positions by namespace, told by own commits at once and by whoever follows the other hubs; safe in several threads.

    ``followed`` says that somebody keeps all of them up to date: a namespace that is not known has no change then.
    """

    def __init__(self) -> None:
        self.followed = False
        self._positions: dict[str, int] = {}
        self._lock = threading.Lock()

    def note(self, namespace: str, position: int) -> bool:
        """Note that a namespace has come to a position; returns whether that is further than was known."""
        with self._lock:
            if position <= self._positions.get(namespace, 0):
                return False
            self._positions[namespace] = position
            return True

    def get(self, namespace: str) -> int | None:
        """Return the position of a namespace, None where the server has to be asked."""
        if not self.followed:
            return None
        return self._positions.get(namespace, 0)

    def replace(self, positions: Mapping[str, int]) -> None:
        """Take positions for all there are, also where they go back: after an erasure, or a store that was filled anew."""
        with self._lock:
            self._positions = dict(positions)

    def forget(self) -> None:
        """Know nothing until somebody follows again."""
        with self._lock:
            self.followed = False
            self._positions = {}
