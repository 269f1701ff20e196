"""The table ``reading``: the journal of who asked what (`hybrid_memory.store.readings`)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, TypeVar

from hybrid_memory.clock import to_micros
from hybrid_memory.model import MemoryId
from hybrid_memory.moments import nearest_moment
from hybrid_memory.secret_detection.masking import masked
from hybrid_memory.store.duck.tables import readable_object
from hybrid_memory.store.encoding import check_moment, object_to_json, to_json
from hybrid_memory.store.memory_fields import texts_from_json
from hybrid_memory.store.readings import Asked, Outcome, Reading, Way

if TYPE_CHECKING:
    from enum import StrEnum

    from hybrid_memory.store.duck.engine import Engine
    from hybrid_memory.store.duck.sql_session import Row, SqlSession

_Word = TypeVar("_Word", bound="StrEnum")

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
_ROWS = """
    SELECT namespace, read_at, session, client, way, asked, question, filters, shown, matched, outcome, tokens, number FROM reading
    ORDER BY number DESC
"""
_STATE = "SELECT count(*), coalesce(bit_xor(hash(number, read_at, question)), 0) FROM reading"
_SHOWN = "SELECT number, shown FROM reading"
_DELETE = "DELETE FROM reading WHERE number IN (SELECT unnest(from_json(?, '[\"BIGINT\"]')))"
_HOLDING = """
    SELECT number, question, filters, shown FROM reading WHERE contains(question, $1) OR contains(filters, $2)
"""
_SET_WORDS = "UPDATE reading SET question = ?, filters = ? WHERE number = ?"
_DELETE_SESSION = "DELETE FROM reading WHERE namespace = ? AND session = ?"


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
                found = (one for one in map(_reading, session.rows(_ROWS)) if one is not None)
                self._read = known = (state, tuple(found))
        return [one for one in known[1] if namespaces is None or one.namespace in namespaces]


def forget_readings_of(session: SqlSession, ids: Collection[MemoryId]) -> int:
    """Delete the readings that showed some memories, in whatever namespace; returns how many. One that cannot be read goes as well."""
    if not ids:
        return 0
    # Compared here: an engine that unpacks a hundred thousand ids for each row takes minutes.
    gone = frozenset(ids)
    found = [number for number, shown in session.rows(_SHOWN) if _names_any(shown, gone)]
    return session.change(_DELETE, to_json(found)) if found else 0


def forget_readings_in(session: SqlSession, namespace: str, name: str) -> None:
    """Delete the readings that were made in a session; its name may have been masked."""
    for one in {name, masked(name)}:
        session.change(_DELETE_SESSION, namespace, one)


def replace_in_readings(session: SqlSession, value: str, mark: str, among: Collection[MemoryId] | None = None) -> None:
    """Put a mark in the place of a secret in all questions; or only in those of readings that showed some memories."""
    inside = to_json(value)[1:-1]
    for number, question, filters, shown in session.rows(_HOLDING, value, inside):
        if among is None or not set(_texts(shown)).isdisjoint(among):
            session.change(_SET_WORDS, question.replace(value, mark), filters.replace(inside, mark), number)


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
        filters=readable_object(filters) or {},
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
