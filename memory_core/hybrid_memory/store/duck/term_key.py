"""The key of a store's terms: one secret number of 64 bits, drawn when the store is made or comes from an earlier version.

It is never told: no export, log or message holds it. Copies of the database do, or their terms would say nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hybrid_memory.errors import StoreDamaged
from hybrid_memory.language.terms import KEY_BITS
from hybrid_memory.store.duck.duckdb_errors import DAMAGED

if TYPE_CHECKING:
    from hybrid_memory.clock import RandomSource
    from hybrid_memory.store.duck.sql_session import SqlSession

_READ = "SELECT number FROM term_key"
_INSERT = "INSERT INTO term_key (number) VALUES (?)"
# What was encoded with another key, or by a version without one, is found by nobody.
_ENCODE_ALL_ANEW = "UPDATE memory SET encoding = 0 WHERE encoding <> 0"


def read_term_key(session: SqlSession) -> int:
    """Return the key.

    Raises:
        StoreDamaged: there is none.
    """
    row = session.row(_READ)
    if row is None:
        raise StoreDamaged(DAMAGED)
    return int(row[0])


def ensure_term_key(session: SqlSession, random_source: RandomSource) -> bool:
    """Make the key of a store that has none, and have all its memories encoded again; returns whether it did."""
    if session.row(_READ) is not None:
        return False
    session.begin()
    try:
        session.change(_INSERT, random_source.bits(KEY_BITS))
        session.change(_ENCODE_ALL_ANEW)
        session.commit()
    except BaseException:
        session.rollback()
        raise
    return True
