"""The table ``reading``: the journal of who asked what (`hybrid_memory.store.readings`)."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING, Any

from hybrid_memory.clock import to_micros
from hybrid_memory.errors import ConstraintViolation, OutcomeUnknown
from hybrid_memory.store.encoding import check_moment, check_text, object_to_json, to_json
from hybrid_memory.store.readings import Reading
from hybrid_memory.store.sql.readings import READINGS, reading_of
from hybrid_memory_postgres.connections import EVERYTHING
from hybrid_memory_postgres.repeating import repeated

if TYPE_CHECKING:
    from hybrid_memory.store.sql.session import Row
    from hybrid_memory_postgres.connections import Connections

# One hub after the other: whoever's readings come later have the higher numbers, and none lie behind those that are let go.
_LOCK = "SELECT pg_advisory_xact_lock(7340032, 4)"
_INSERT = """
    INSERT INTO reading (number, namespace, read_at, session, client, way, asked, question, filters, shown, matched, outcome, tokens)
    VALUES ((SELECT coalesce(max(number), 0) + 1 FROM reading WHERE number < 4611686018427387904),
        $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
"""
# Of each namespace by itself: one that is read a lot does not push out what was asked elsewhere.
_DELETE_OLD = """
    DELETE FROM reading WHERE number IN (
        SELECT number FROM (
            SELECT number, read_at, row_number() OVER (PARTITION BY namespace ORDER BY number DESC) AS nth FROM reading
            WHERE $3::text[] = '{}' OR namespace = ANY ($3::text[])
        ) AS counted
        WHERE nth > $1 OR read_at < $2
    )
"""
_ROWS_OF = """
    SELECT namespace, read_at, session, client, way, asked, question, filters, shown, matched, outcome, tokens, number FROM reading
    WHERE namespace = ANY ($1::text[]) ORDER BY number DESC
"""
_STATE = """
    SELECT count(*), coalesce(bit_xor(hashtextextended(concat_ws(' ', number, read_at, question, filters), 0)), 0) FROM reading
"""
_STATE_OF = """
    SELECT count(*), coalesce(bit_xor(hashtextextended(concat_ws(' ', number, read_at, question, filters), 0)), 0) FROM reading
    WHERE namespace = ANY ($1::text[])
"""
_NUL = "a text holds a zero character, which the database cannot keep; leave it out"


class PostgresReadings:
    """The journal of readings of a `PostgresStore`; see `hybrid_memory.store.readings.ReadingStore`."""

    def __init__(self, connections: Connections) -> None:
        self.connections = connections
        # Decoding thousands takes tens of milliseconds, asking whether anything changed one.
        self._read: tuple[tuple[str, ...] | None, Row, tuple[Reading, ...]] | None = None

    @repeated
    def add(self, readings: Sequence[Reading], *, keep: int, since: datetime) -> None:
        """Store readings, and let those of their namespaces go that are too many or too old; with none given, those of all.

        Where ``keep`` is 0 nothing is stored and nothing goes: one hub that keeps none does not empty the journal of the others.
        """
        check_moment(since, *(one.at for one in readings))
        if keep <= 0:
            return
        rows = [_row_of(one) for one in readings[-keep:]]
        # Where nobody knows whether the commit was done, it counts as done: a reading that is missing misleads less than a double one.
        with suppress(OutcomeUnknown), self.connections.transaction(EVERYTHING) as session:
            session.send(_LOCK)
            session.send_many(_INSERT, rows)
            session.send(_DELETE_OLD, keep, to_micros(since), sorted({one.namespace for one in readings}))

    @repeated
    def latest(self, namespaces: Sequence[str] | None = None) -> list[Reading]:
        """Return the readings of some namespaces, the latest first; rows that cannot be read are left out."""
        wanted = None if namespaces is None else tuple(namespaces)
        with self.connections.snapshot(EVERYTHING if wanted is None else wanted) as session:
            values = () if wanted is None else (list(wanted),)
            state = session.rows(_STATE if wanted is None else _STATE_OF, *values)[0]
            known = self._read
            if known is None or known[:2] != (wanted, state):
                rows = session.rows(READINGS if wanted is None else _ROWS_OF, *values)
                found = tuple(one for one in map(reading_of, rows) if one is not None)
                self._read = known = (wanted, state, found)
        return list(known[2])


def _row_of(one: Reading) -> tuple[Any, ...]:
    texts = (one.namespace, one.session, one.client, one.question)
    check_text(*texts)
    if any("\0" in text for text in texts):
        raise ConstraintViolation(_NUL)
    return (
        one.namespace,
        to_micros(one.at),
        one.session,
        one.client,
        one.way.value,
        one.asked.value,
        one.question,
        object_to_json(one.filters),
        to_json(list(one.shown)),
        one.matched,
        one.outcome.value,
        one.tokens,
    )
