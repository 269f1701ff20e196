"""The key of a store's terms: one secret number of 64 bits, drawn by the first hub that opens the store; all others take it from there.

It is never told: no export, log or message holds it. Copies of the database do, or their terms would say nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hybrid_memory.errors import StoreDamaged
from hybrid_memory.store.postgres.connections import EVERYTHING
from hybrid_memory.terms import KEY_BITS

if TYPE_CHECKING:
    from hybrid_memory.clock import RandomSource
    from hybrid_memory.store.postgres.connections import Connections

_READ = "SELECT term_key FROM store"
_LOCK = "SELECT term_key FROM store FOR UPDATE"
_SET = "UPDATE store SET term_key = $1"
# What was encoded with another key is found by nobody.
_ENCODE_ALL_ANEW = "UPDATE memory SET encoding = 0 WHERE encoding <> 0"
_NO_KEY = "the database has lost the row that says which store it is; nothing was changed. Restore a backup"


def ensure_term_key(connections: Connections, random_source: RandomSource) -> int:
    """Return the key; it is made where there is none, once however many hubs come at the same time.

    Raises:
        StoreDamaged: the store has no row for it, or there is no number in it.
    """
    with connections.reading(EVERYTHING) as reading:
        row = reading.row(_READ)
    if row is None or row[0] is None:
        with connections.transaction(EVERYTHING) as session:
            row = session.row(_LOCK)
            if row is not None and row[0] is None:
                row = (str(random_source.bits(KEY_BITS)),)
                session.send(_SET, *row)
                session.send(_ENCODE_ALL_ANEW)
    try:
        return int(row[0]) if row is not None else _missing()
    except ValueError:
        return _missing()


def _missing() -> int:
    raise StoreDamaged(_NO_KEY)
