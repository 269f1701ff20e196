"""The key of a store's terms: one secret number of 64 bits, drawn by the first hub that opens the store; all others take it from there.

It is never told: no export, log or message holds it. Copies of the database do, or their terms would say nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hybrid_memory.errors import StoreDamaged
from hybrid_memory.language.terms import KEY_BITS
from hybrid_memory_postgres.connections import EVERYTHING

if TYPE_CHECKING:
    from hybrid_memory.clock import RandomSource
    from hybrid_memory_postgres.connections import Connections

_READ = "SELECT id, term_key FROM store"
_LOCK = "SELECT id, term_key FROM store FOR UPDATE"
_SET = "UPDATE store SET term_key = $1"
# What was encoded with another key is found by nobody.
_ENCODE_ALL_ANEW = "UPDATE memory SET encoding = 0 WHERE encoding <> 0"
_NO_KEY = "the database has lost the row that says which store it is; nothing was changed. Restore a backup"


@dataclass(frozen=True, slots=True)
class KeyOfStore:
    """The key of a store's terms. ``store`` is the id of the store, which is another one when a backup took its place."""

    store: str
    key: int = field(repr=False)


def ensure_term_key(connections: Connections, random_source: RandomSource) -> KeyOfStore:
    """Return the key; it is made where there is none, once however many hubs come at the same time.

    Raises:
        StoreDamaged: the store has no row for it, or there is no number in it.
    """
    with connections.reading(EVERYTHING) as reading:
        row = reading.row(_READ)
    if row is None or row[1] is None:
        with connections.transaction(EVERYTHING) as session:
            row = session.row(_LOCK)
            if row is not None and row[1] is None:
                row = row[0], str(random_source.bits(KEY_BITS))
                session.send(_SET, row[1])
                session.send(_ENCODE_ALL_ANEW)
    try:
        if row is not None:
            return KeyOfStore(row[0], int(row[1]))
    except ValueError:
        pass
    raise StoreDamaged(_NO_KEY)
