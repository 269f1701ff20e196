"""What stands beside memories, as a synchronisation sees it: buffers, conversations and their entries, each under a key with a value.

Nothing of it is in the log. So a digest of each is kept as the last synchronisation left it, and what has another one was changed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING

from hybrid_memory.clock import from_micros, to_micros
from hybrid_memory.model import Json
from hybrid_memory.store.duck import tables
from hybrid_memory.store.encoding import object_to_json, to_json
from hybrid_memory.store.sql.rows import readable_object
from hybrid_memory.store.sync_rules import BUFFER, CONVERSATION, ENTRY, item_digest
from hybrid_memory.store.syncing import ChangedItem, ItemKey, ItemState
from hybrid_memory.store.writing import BufferState

if TYPE_CHECKING:
    from hybrid_memory.store.duck.engine import Transaction
    from hybrid_memory.store.duck.sql_session import SqlSession

_CHANGED = """
    WITH here AS (
        SELECT 'buffer' AS kind, session AS first, agent AS second, 0::BIGINT AS number, touched_at AS at,
            md5(concat(touched_at, ' ', state)) AS digest FROM buffer WHERE namespace = $1
        UNION ALL SELECT 'conversation', name, kind, 0, 0, md5(concat(last)) FROM conversation WHERE namespace = $1
        UNION ALL SELECT 'entry', conversation, kind, number, 0, md5(body) FROM entry WHERE namespace = $1
    ), known AS (SELECT * FROM sync_item WHERE namespace = $1)
    SELECT coalesce(here.kind, known.kind), coalesce(here.first, known.first), coalesce(here.second, known.second),
        coalesce(here.number, known.number), coalesce(here.at, 0), known.kind IS NOT NULL
    FROM here FULL JOIN known ON here.kind = known.kind AND here.first = known.first AND here.second = known.second
        AND here.number = known.number
    WHERE here.digest IS DISTINCT FROM known.digest ORDER BY 1, 2, 3, 4
"""
_KEEP = """
    INSERT INTO sync_item (namespace, kind, first, second, number, stamp, digest, own, written)
    SELECT $1, one.kind, one.first, one.second, one.number, one.stamp, one.digest, one.own, $3
    FROM (SELECT unnest(from_json($2, '[{"kind": "VARCHAR", "first": "VARCHAR", "second": "VARCHAR", "number": "BIGINT",
        "stamp": "BIGINT", "digest": "VARCHAR", "own": "BOOLEAN"}]')) AS one)
"""
_FORGET_MANY = """
    DELETE FROM sync_item WHERE namespace = $1 AND (kind, first, second, number) IN (
        SELECT (one.kind, one.first, one.second, one.number)
        FROM (SELECT unnest(from_json($2, '[{"kind": "VARCHAR", "first": "VARCHAR", "second": "VARCHAR", "number": "BIGINT"}]')) AS one))
"""
_CONVERSATION = "SELECT last FROM conversation WHERE namespace = ? AND name = ? AND kind = ?"
_BODY = "SELECT body FROM entry WHERE namespace = ? AND conversation = ? AND kind = ? AND number = ?"
_DELETE_ENTRY = "DELETE FROM entry WHERE namespace = ? AND conversation = ? AND kind = ? AND number = ?"
_SET_ENTRY = "UPDATE entry SET body = ? WHERE namespace = ? AND conversation = ? AND kind = ? AND number = ?"
_NEW_ENTRY = "INSERT INTO entry (body, namespace, conversation, kind, number) VALUES (?, ?, ?, ?, ?)"
_DELETE_CONVERSATION = "DELETE FROM conversation WHERE namespace = ? AND name = ? AND kind = ?"
_SET_CONVERSATION = "UPDATE conversation SET last = ? WHERE namespace = ? AND name = ? AND kind = ?"
_NEW_CONVERSATION = "INSERT INTO conversation (last, namespace, name, kind) VALUES (?, ?, ?, ?)"
_RAISE = """
    UPDATE conversation SET last = greatest(last, (SELECT max(number) FROM entry WHERE namespace = $1 AND conversation = $2 AND kind = $3))
    WHERE namespace = $1 AND name = $2 AND kind = $3
        AND last < (SELECT max(number) FROM entry WHERE namespace = $1 AND conversation = $2 AND kind = $3)
"""
_MISSING = """
    INSERT INTO conversation (namespace, name, kind, last)
    SELECT $1, $2, $3, max(number) FROM entry WHERE namespace = $1 AND conversation = $2 AND kind = $3
        AND NOT EXISTS (SELECT 1 FROM conversation WHERE namespace = $1 AND name = $2 AND kind = $3)
    HAVING count(*) > 0
"""


def changed_items(session: SqlSession, namespace: str) -> list[ChangedItem]:
    """Return what is not as the last synchronisation left it."""
    return [
        ChangedItem((kind, first, second, number), at, known)
        for kind, first, second, number, at, known in session.rows(_CHANGED, namespace)
    ]


def item_values(session: SqlSession, namespace: str, keys: Collection[ItemKey]) -> dict[ItemKey, Mapping[str, Json]]:
    """Return the values of those items that are there."""
    return dict(_values(session, namespace, keys))


def put_items(
    transaction: Transaction, namespace: str, items: Mapping[ItemKey, ItemState], own: Collection[ItemKey]
) -> None:
    """Let items have some values, and note them; ``own`` are those that this machine changed."""
    if not items:
        return
    session, reads, _ = transaction
    there = item_values(reads, namespace, list(items))
    kept = []
    for key, state in items.items():
        if there.get(key) != state.value:
            _put(transaction, namespace, key, state.value, is_there=key in there)
        kind, first, second, number = key
        digest = None if state.value is None else item_digest(key, state.value)
        place = {"kind": kind, "first": first, "second": second, "number": number}
        kept.append(place | {"stamp": state.stamp, "digest": digest, "own": key in own})
    for first, second in sorted({(key[1], key[2]) for key in items if key[0] in (CONVERSATION, ENTRY)}):
        # The next number must be free, whoever counted up to which.
        session.change(_RAISE, namespace, first, second)
        session.change(_MISSING, namespace, first, second)
    session.change(_FORGET_MANY, namespace, to_json(kept))
    session.change(_KEEP, namespace, to_json(kept), transaction.cache.mark + 1)


def _values(
    session: SqlSession, namespace: str, keys: Collection[ItemKey]
) -> Iterator[tuple[ItemKey, Mapping[str, Json]]]:
    for key in keys:
        kind, first, second, number = key
        if kind == BUFFER:
            buffer = tables.read_buffer(session, namespace, first, second)
            if buffer is not None:
                yield key, {"state": buffer.state, "touched_at": to_micros(buffer.touched_at)}
        elif kind == CONVERSATION:
            row = session.row(_CONVERSATION, namespace, first, second)
            if row is not None:
                yield key, {"last": row[0]}
        else:
            row = session.row(_BODY, namespace, first, second, number)
            body = None if row is None else readable_object(row[0])
            if body is not None:
                yield key, body


def _put(
    transaction: Transaction, namespace: str, key: ItemKey, value: Mapping[str, Json] | None, *, is_there: bool
) -> None:
    session, _, cache = transaction
    kind, first, second, number = key
    if kind == BUFFER:
        state = None if value is None else str(value["state"])
        at = from_micros(0 if value is None else int(str(value["touched_at"])))
        tables.write_buffer(session, cache, namespace, BufferState(first, second, state, at))
    elif kind == CONVERSATION:
        if value is None:
            session.change(_DELETE_CONVERSATION, namespace, first, second)
        else:
            session.change(
                _SET_CONVERSATION if is_there else _NEW_CONVERSATION, value["last"], namespace, first, second
            )
    elif value is None:
        session.change(_DELETE_ENTRY, namespace, first, second, number)
    else:
        session.change(_SET_ENTRY if is_there else _NEW_ENTRY, object_to_json(value), namespace, first, second, number)
