"""The log of messages and plans; see `hybrid_memory.store.base.ConversationLog`."""

from __future__ import annotations

from hybrid_memory.store.conversation import ConversationEntry
from hybrid_memory.store.duck.sql_session import SqlSession
from hybrid_memory.store.duck.tables import object_from_json
from hybrid_memory.store.encoding import check_number, check_text

_LAST = "SELECT last FROM conversation WHERE namespace = ? AND name = ? AND kind = ?"
_NEW = "INSERT INTO conversation (last, namespace, name, kind) VALUES (?, ?, ?, ?)"
_ADVANCE = "UPDATE conversation SET last = ? WHERE namespace = ? AND name = ? AND kind = ?"
_REPLACE = "UPDATE entry SET body = ? WHERE namespace = ? AND conversation = ? AND kind = ? AND number = ?"
_INSERT = "INSERT INTO entry (body, namespace, conversation, kind, number) VALUES (?, ?, ?, ?, ?)"
_ENTRIES = "SELECT number, body FROM entry WHERE namespace = ? AND conversation = ? AND kind = ? ORDER BY number"
_REMOVE = "DELETE FROM entry WHERE namespace = ? AND conversation = ? AND kind = ?"


def put_entry(
    session: SqlSession, reads: SqlSession, place: tuple[str, str, str], body: str, number: int | None
) -> int:
    """Store an entry at ``place`` (namespace, conversation, kind), replacing one of the same number.

    ``reads`` looks at the state before the transaction.
    """
    check_text(*place)
    known = reads.row(_LAST, *place)
    last = int(known[0]) if known else 0
    number = last + 1 if number is None else number
    check_number(number)
    if known is None:
        session.change(_NEW, max(last, number), *place)
    elif number > last:
        session.change(_ADVANCE, number, *place)
    if known is None or number > last or not session.change(_REPLACE, body, *place, number):
        session.change(_INSERT, body, *place, number)
    return number


def read_entries(session: SqlSession, place: tuple[str, str, str]) -> list[ConversationEntry]:
    """Return the entries at a place by rising number."""
    return [ConversationEntry(number, object_from_json(body)) for number, body in session.rows(_ENTRIES, *place)]


def remove_entries(session: SqlSession, place: tuple[str, str, str]) -> int:
    """Remove the entries at a place; the counter stays, so no number comes twice."""
    return session.change(_REMOVE, *place)
