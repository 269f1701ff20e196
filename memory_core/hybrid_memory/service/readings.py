"""The orders in which readings of several pages began, kept so that later pages go on in them.

Between two pages memories are written, pinned, replaced and forgotten, and the order made again is another one: its beginning would
repeat what was shown, or leave out what was not. What is kept is a help: without it (after a restart, or when many readings came later)
a page goes on in the order of the moment, behind the last memory that was shown.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Container, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

import numpy as np

from hybrid_memory.cursor import PagePosition, mark_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

_READINGS = 32  # that can be gone on with at a time
KEPT_IDS = 1000  # of each: more pages than a model asks for; what lies behind them follows in the order of the moment


class Readings:
    """Remembers the first ids of the latest readings, by their fingerprint and the time of their first page. Safe for threads."""

    def __init__(self) -> None:
        self._orders: OrderedDict[tuple[bytes, datetime], tuple[str, ...] | NDArray[np.bytes_]] = OrderedDict()
        self._lock = threading.Lock()

    def begin(self, fingerprint: bytes, asked_at: datetime, ids: Sequence[str] | NDArray[np.bytes_]) -> None:
        """Remember the order of a reading, of which there may be more than the page that is shown; ids as bytes are decoded when used."""
        order = ids if isinstance(ids, np.ndarray) else tuple(ids)
        with self._lock:
            self._orders[fingerprint, asked_at] = order
            self._orders.move_to_end((fingerprint, asked_at))
            while len(self._orders) > _READINGS:
                self._orders.popitem(last=False)

    def order_of(self, fingerprint: bytes, asked_at: datetime) -> tuple[str, ...]:
        """Return the order in which a reading began; nothing if it is not known any more."""
        with self._lock:
            order = self._orders.get((fingerprint, asked_at), ())
        return tuple(one.decode() for one in order.tolist()) if isinstance(order, np.ndarray) else order


def going_on(position: PagePosition, order: Sequence[str], live: Container[str]) -> PagePosition:
    """Return a position in what is ``live`` of the order in which a reading began; as it is where the last one shown is not in it."""
    marks = [mark_of(one) for one in order]
    if position.last not in marks:
        return position
    shown = [one for one in order[: marks.index(position.last) + 1] if one in live]
    return replace(position, offset=len(shown), last=mark_of(shown[-1]) if shown else None)
