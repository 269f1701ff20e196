"""What stands beside memories, as a synchronisation sees it: buffers, conversations and their entries, each under a key with a value.

Nothing of it is in the log. So a digest of each is kept as the last synchronisation left it, and what has another one was changed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING

from hybrid_memory.clock import from_micros, to_micros
from hybrid_memory.model import Json
from hybrid_memory.store.encoding import object_to_json
from hybrid_memory.store.sql.rows import readable_object
from hybrid_memory.store.sync_rules import BUFFER, CONVERSATION, ENTRY, item_digest
from hybrid_memory.store.syncing import ChangedItem, ItemKey, ItemState
from hybrid_memory.store.writing import BufferState
from hybrid_memory_postgres.tables import read_buffer, write_buffer

if TYPE_CHECKING:
    from hybrid_memory_postgres.sql_session import PgSession

_CHANGED = """
    WITH here AS (
        SELECT 'buffer' AS kind, session AS first, agent AS second, 0::bigint AS number, touched_at AS at,
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
    INSERT INTO sync_item (namespace, kind, first, second, number, stamp, digest, own, written) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
    ON CONFLICT (namespace, kind, first, second, number)
    DO UPDATE SET stamp = excluded.stamp, digest = excluded.digest, own = excluded.own, written = excluded.written
"""
_CONVERSATION = "SELECT last FROM conversation WHERE namespace = $1 AND name = $2 AND kind = $3"
_BODY = "SELECT body FROM entry WHERE namespace = $1 AND conversation = $2 AND kind = $3 AND number = $4"
_DELETE_ENTRY = "DELETE FROM entry WHERE namespace = $1 AND conversation = $2 AND kind = $3 AND number = $4"
_PUT_ENTRY = """
    INSERT INTO entry (namespace, conversation, kind, number, body) VALUES ($1, $2, $3, $4, $5)
    ON CONFLICT (namespace, conversation, kind, number) DO UPDATE SET body = excluded.body
"""
_DELETE_CONVERSATION = "DELETE FROM conversation WHERE namespace = $1 AND name = $2 AND kind = $3"
_PUT_CONVERSATION = """
    INSERT INTO conversation (namespace, name, kind, last) VALUES ($1, $2, $3, $4)
    ON CONFLICT (namespace, name, kind) DO UPDATE SET last = excluded.last
"""
# The next number must be free, whoever counted up to which.
_RAISE = """
    INSERT INTO conversation AS known (namespace, name, kind, last)
    SELECT $1, $2, $3, max(number) FROM entry WHERE namespace = $1 AND conversation = $2 AND kind = $3 HAVING count(*) > 0
    ON CONFLICT (namespace, name, kind) DO UPDATE SET last = greatest(known.last, excluded.last)
"""


def changed_items(session: PgSession, namespace: str) -> list[ChangedItem]:
    """Return what is not as the last synchronisation left it."""
    return [
        ChangedItem((kind, first, second, number), at, known)
        for kind, first, second, number, at, known in session.rows(_CHANGED, namespace)
    ]


def item_values(session: PgSession, namespace: str, keys: Collection[ItemKey]) -> dict[ItemKey, Mapping[str, Json]]:
    """Return the values of those items that are there."""
    return dict(_values(session, namespace, keys))


def put_items(
    session: PgSession,
    namespace: str,
    items: Mapping[ItemKey, ItemState],
    own: Collection[ItemKey],
    step: int,
) -> None:
    """Let items have some values, and note them as written by a step; ``own`` are those that this store changed."""
    if not items:
        return
    there = item_values(session, namespace, list(items))
    for key, state in items.items():
        if there.get(key) != state.value:
            _put(session, namespace, key, state.value)
        digest = None if state.value is None else item_digest(key, state.value)
        session.send(_KEEP, namespace, *key, state.stamp, digest, key in own, step)
    for first, second in sorted({(key[1], key[2]) for key in items if key[0] in (CONVERSATION, ENTRY)}):
        session.send(_RAISE, namespace, first, second)


def _values(
    session: PgSession, namespace: str, keys: Collection[ItemKey]
) -> Iterator[tuple[ItemKey, Mapping[str, Json]]]:
    for key in keys:
        kind, first, second, number = key
        if kind == BUFFER:
            buffer = read_buffer(session, namespace, first, second)
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


def _put(session: PgSession, namespace: str, key: ItemKey, value: Mapping[str, Json] | None) -> None:
    kind, first, second, number = key
    if kind == BUFFER:
        state = None if value is None else str(value["state"])
        at = from_micros(0 if value is None else int(str(value["touched_at"])))
        write_buffer(session, namespace, BufferState(first, second, state, at))
    elif kind == CONVERSATION:
        if value is None:
            session.send(_DELETE_CONVERSATION, namespace, first, second)
        else:
            session.send(_PUT_CONVERSATION, namespace, first, second, value["last"])
    elif value is None:
        session.send(_DELETE_ENTRY, namespace, first, second, number)
    else:
        session.send(_PUT_ENTRY, namespace, first, second, number, object_to_json(value))
