"""`KnownHeads`: up to where each namespace is known to have come, so that a read need not ask the server."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from time import monotonic

CERTAIN_SECONDS = 1.5
"""So long after the last look at all heads they are believed; then each is asked for, which also shows whether the server is there."""


class KnownHeads:
    """Positions by namespace, told by own commits at once and by anyone who follows the other hubs; safe in several threads.

    While they are ``confirm``-ed again and again, a namespace that is not known has no change.
    """

    def __init__(self) -> None:
        self._certain_until = 0.0
        self._positions: dict[str, int] = {}
        self._links: dict[str, tuple[int, str]] = {}
        self._lock = threading.Lock()

    def note(self, namespace: str, position: int, link: str = "") -> bool:
        """Note that a namespace has come to a position; returns whether that is further than was known.

        ``link`` is that of the entry which is there, empty where it is not known.
        """
        with self._lock:
            if link and position >= self._links.get(namespace, (0, ""))[0]:
                self._links[namespace] = position, link
            known = self._positions.get(namespace, 0)
            self._positions[namespace] = max(known, position)
            return position > known

    def get(self, namespace: str) -> int | None:
        """Return the position of a namespace, None where the server has to be asked."""
        if monotonic() >= self._certain_until:
            return None
        return self._positions.get(namespace, 0)

    def positions(self) -> dict[str, int]:
        """Return all that is known, certain or not."""
        with self._lock:
            return dict(self._positions)

    def links(self) -> dict[str, tuple[int, str]]:
        """Return of each namespace the last entry whose link is known: its position and link.

        A server that has another entry there, or none, has lost what was written: a link is no other entry's (`store.audit_chain`).
        """
        with self._lock:
            return dict(self._links)

    def confirm(self) -> None:
        """Believe what is known for the next moment: all heads were just looked at."""
        self._certain_until = monotonic() + CERTAIN_SECONDS

    def doubt(self) -> None:
        """Have each head asked for, until all are looked at again."""
        self._certain_until = 0.0

    def replace(self, positions: Mapping[str, int]) -> None:
        """Take positions for all there are, also where they go back: after an erasure, or a store that was filled again."""
        with self._lock:
            self._positions = dict(positions)
            self._links = {}

    def forget(self) -> None:
        """Know nothing until somebody follows again."""
        with self._lock:
            self._certain_until = 0.0
            self._positions = {}
            self._links = {}
