"""The table ``reading``: the journal of who asked what (`hybrid_memory.store.readings`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from hybrid_memory.clock import to_micros
from hybrid_memory.store.encoding import check_moment, object_to_json, to_json
from hybrid_memory.store.readings import Reading
from hybrid_memory.store.sql.readings import READINGS, reading_of

if TYPE_CHECKING:
    from hybrid_memory.store.duck.engine import Engine
    from hybrid_memory.store.sql.session import Row

_LAST = "SELECT coalesce(max(number), 0) FROM reading WHERE number < 4611686018427387904"
_INSERT = """
    INSERT INTO reading (number, namespace, read_at, session, client, way, asked, question, filters, shown, matched, outcome, tokens)
    SELECT one.number, one.namespace, one.read_at, one.session, one.client, one.way, one.asked, one.question, one.filters, one.shown,
        one.matched, one.outcome, one.tokens
    FROM (SELECT unnest(from_json(?, '[{
        "number": "BIGINT", "namespace": "VARCHAR", "read_at": "BIGINT", "session": "VARCHAR", "client": "VARCHAR", "way": "VARCHAR",
        "asked": "VARCHAR", "question": "VARCHAR", "filters": "VARCHAR", "shown": "VARCHAR", "matched": "BIGINT", "outcome": "VARCHAR",
        "tokens": "BIGINT"}]')) AS one)
"""
_OLD = "SELECT count(*) FROM reading WHERE number <= ? OR read_at < ?"
_DELETE_OLD = "DELETE FROM reading WHERE number <= ? OR read_at < ?"
_STATE = "SELECT count(*), coalesce(bit_xor(hash(number, read_at, question)), 0) FROM reading"


class DuckReadings:
    """The journal of readings of a `DuckStore`; see `hybrid_memory.store.readings.ReadingStore`."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        # Decoding thousands takes tens of milliseconds, asking whether anything changed one.
        self._read: tuple[Row, tuple[Reading, ...]] | None = None

    def add(self, readings: Sequence[Reading], *, keep: int, since: datetime) -> None:
        """Store readings, and let those go that are too many or too old."""
        check_moment(since, *(one.at for one in readings))
        with self._engine.transaction() as (session, reads, _):
            last = int(reads.rows(_LAST)[0][0])
            kept = readings[-keep:] if keep > 0 else ()
            if kept:
                session.change(_INSERT, to_json([_row_of(one, last + at) for at, one in enumerate(kept, 1)]))
            bounds = (last + len(kept) - keep, to_micros(since))
            if reads.rows(_OLD, *bounds)[0][0]:
                session.change(_DELETE_OLD, *bounds)

    def latest(self, namespaces: Sequence[str] | None = None) -> list[Reading]:
        """Return the readings of some namespaces, the latest first; rows that cannot be read are left out."""
        with self._engine.snapshot() as session:
            state, known = session.rows(_STATE)[0], self._read
            if known is None or known[0] != state:
                found = (one for one in map(reading_of, session.rows(READINGS)) if one is not None)
                self._read = known = (state, tuple(found))
        return [one for one in known[1] if namespaces is None or one.namespace in namespaces]


def _row_of(one: Reading, number: int) -> Mapping[str, str | int]:
    return {
        "number": number,
        "namespace": one.namespace,
        "read_at": to_micros(one.at),
        "session": one.session,
        "client": one.client,
        "way": one.way.value,
        "asked": one.asked.value,
        "question": one.question,
        "filters": object_to_json(one.filters),
        "shown": to_json(list(one.shown)),
        "matched": one.matched,
        "outcome": one.outcome.value,
        "tokens": one.tokens,
    }
