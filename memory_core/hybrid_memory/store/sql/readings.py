"""The table ``reading``: the journal of who asked what (`hybrid_memory.store.readings`), and what of it goes with memories and words."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from hybrid_memory.model import MemoryId
from hybrid_memory.moments import nearest_moment
from hybrid_memory.secret_detection.masking import masked
from hybrid_memory.store.encoding import to_json
from hybrid_memory.store.memory_fields import texts_from_json
from hybrid_memory.store.readings import Asked, Outcome, Reading, Way
from hybrid_memory.store.sql.rows import list_names, readable_object

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from enum import StrEnum

    from hybrid_memory.store.sql.session import Row, Session

_Word = TypeVar("_Word", bound="StrEnum")

READINGS = """
    SELECT namespace, read_at, session, client, way, asked, question, filters, shown, matched, outcome, tokens, number FROM reading
    ORDER BY number DESC
"""
"""All rows, for `reading_of`."""
_SHOWN = "SELECT number, shown FROM reading"
_DELETE = "DELETE FROM reading WHERE number = ANY ($1::bigint[])"
_HOLDING = """
    SELECT number, question, filters, shown FROM reading WHERE strpos(question, $1) > 0 OR strpos(filters, $2) > 0
"""
_SET_WORDS = "UPDATE reading SET question = $1, filters = $2 WHERE number = $3"
_DELETE_SESSION = "DELETE FROM reading WHERE namespace = $1 AND session = $2"


def forget_readings_of(session: Session, ids: Collection[MemoryId]) -> int:
    """Delete the readings that showed some memories, in whatever namespace; returns how many. One that cannot be read goes as well."""
    if not ids:
        return 0
    # Compared here: an engine that unpacks a hundred thousand ids for each row takes minutes.
    gone = frozenset(ids)
    found = [number for number, shown in session.rows(_SHOWN) if list_names(shown, gone)]
    return session.change(_DELETE, found) if found else 0


def forget_readings_in(session: Session, namespace: str, name: str) -> None:
    """Delete the readings that were made in a session; its name may have been masked."""
    for one in {name, masked(name)}:
        session.send(_DELETE_SESSION, namespace, one)


def replace_in_readings(session: Session, value: str, mark: str, among: Collection[MemoryId] | None = None) -> None:
    """Put a mark in the place of a secret in all questions; or only in those of readings that showed some memories."""
    inside = to_json(value)[1:-1]
    for number, question, filters, shown in session.rows(_HOLDING, value, inside):
        if among is None or not set(_texts(shown)).isdisjoint(among):
            session.send(_SET_WORDS, question.replace(value, mark), filters.replace(inside, mark), number)


def reading_of(row: Row) -> Reading | None:
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
