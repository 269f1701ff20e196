"""The table ``reading``: the journal of who asked what (`hybrid_memory.store.readings`)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar

from hybrid_memory.clock import to_micros
from hybrid_memory.errors import ConstraintViolation, OutcomeUnknown
from hybrid_memory.model import MemoryId
from hybrid_memory.moments import nearest_moment
from hybrid_memory.secret_detection.masking import masked
from hybrid_memory.store.encoding import check_moment, check_text, object_to_json, to_json
from hybrid_memory.store.memory_fields import object_from_json, texts_from_json
from hybrid_memory.store.readings import Asked, Outcome, Reading, Way
from hybrid_memory_postgres.connections import EVERYTHING
from hybrid_memory_postgres.repeating import repeated

if TYPE_CHECKING:
    from enum import StrEnum

    from hybrid_memory_postgres.connections import Connections
    from hybrid_memory_postgres.sql_session import PgSession, Row

_Word = TypeVar("_Word", bound="StrEnum")

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
_ROWS = """
    SELECT namespace, read_at, session, client, way, asked, question, filters, shown, matched, outcome, tokens, number FROM reading
    ORDER BY number DESC
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
_SHOWN = "SELECT number, shown FROM reading"
_DELETE = "DELETE FROM reading WHERE number = ANY ($1::bigint[])"
_HOLDING = """
    SELECT number, question, filters, shown FROM reading WHERE strpos(question, $1) > 0 OR strpos(filters, $2) > 0
"""
_SET_WORDS = "UPDATE reading SET question = $1, filters = $2 WHERE number = $3"
_DELETE_SESSION = "DELETE FROM reading WHERE namespace = $1 AND session = $2"
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
                rows = session.rows(_ROWS if wanted is None else _ROWS_OF, *values)
                found = tuple(one for one in map(_reading, rows) if one is not None)
                self._read = known = (wanted, state, found)
        return list(known[2])


def forget_readings_of(session: PgSession, ids: Collection[MemoryId]) -> int:
    """Delete the readings that showed some memories, in whatever namespace; returns how many. One that cannot be read goes as well."""
    if not ids:
        return 0
    gone = frozenset(ids)
    found = [number for number, shown in session.rows(_SHOWN) if _names_any(shown, gone)]
    return session.change(_DELETE, found) if found else 0


def forget_readings_in(session: PgSession, namespace: str, name: str) -> None:
    """Delete the readings that were made in a session; its name may have been masked."""
    for one in {name, masked(name)}:
        session.send(_DELETE_SESSION, namespace, one)


def replace_in_readings(session: PgSession, value: str, mark: str, among: Collection[MemoryId] | None = None) -> None:
    """Put a mark in the place of a secret in all questions; or only in those of readings that showed some memories."""
    inside = to_json(value)[1:-1]
    for number, question, filters, shown in session.rows(_HOLDING, value, inside):
        if among is None or not set(_texts(shown)).isdisjoint(among):
            session.send(_SET_WORDS, question.replace(value, mark), filters.replace(inside, mark), number)


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


def _reading(row: Row) -> Reading | None:
    """Return the reading of a row, None if no version of this program writes such a one."""
    namespace, at, session, client, way, asked, question, filters, shown, matched, outcome, tokens, number = row
    words = (_word(Way, way), _word(Asked, asked), _word(Outcome, outcome))
    if words[0] is None or words[1] is None or words[2] is None:
        return None
    return Reading(
        number=number,
        at=nearest_moment(at),
        namespace=namespace,
        session=session,
        client=client,
        way=words[0],
        asked=words[1],
        question=question,
        filters=_object(filters),
        shown=tuple(map(MemoryId, _texts(shown))),
        matched=max(matched, 0),
        outcome=words[2],
        tokens=max(tokens, 0),
    )


def _word(kind: type[_Word], stored: str) -> _Word | None:
    try:
        return kind(stored)
    except ValueError:
        return None


def _object(stored: str) -> dict[str, Any]:
    try:
        return object_from_json(stored)
    except ValueError:
        return {}


def _texts(stored: str) -> Sequence[str]:
    try:
        return texts_from_json(stored)
    except ValueError:
        return ()


def _names_any(shown: str, ids: frozenset[MemoryId]) -> bool:
    """Return whether a stored list names some ids; one that cannot be read may name anything."""
    try:
        return not ids.isdisjoint(texts_from_json(shown))
    except ValueError:
        return True
