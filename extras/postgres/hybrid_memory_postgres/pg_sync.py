"""What a PostgreSQL store keeps of its synchronisation through folders, and a step of it in one transaction: `PostgresStore.syncing`.

A step locks the head of its namespace first, as every write does. Steps are counted in the table ``store``, by which is known what of
a folder is older than what.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from string import Template
from typing import TYPE_CHECKING

import psycopg

from hybrid_memory.clock import from_micros
from hybrid_memory.model import Json, MemoryId
from hybrid_memory.store.encoding import check_text, object_to_json
from hybrid_memory.store.memory_fields import UNCHANGEABLE
from hybrid_memory.store.sql.purging import remove_rows
from hybrid_memory.store.sql.session import Session
from hybrid_memory.store.sql.syncing import (
    SqlSync,
    SqlSyncView,
    clean_folders_after,
    item_values,
    set_rows,
    usage_columns,
)
from hybrid_memory.store.sync_rules import (
    BUFFER,
    CONVERSATION,
    ENTRY,
    FIXED_FIELDS,
    item_digest,
    removal_entries,
    update_entries,
)
from hybrid_memory.store.syncing import (
    SYNC,
    FolderMark,
    ItemKey,
    ItemState,
    SyncBatch,
    SyncDecision,
)
from hybrid_memory.store.writing import BufferState
from hybrid_memory_postgres.appending import append_entries, erase_digests, lock_head
from hybrid_memory_postgres.connections import EVERYTHING
from hybrid_memory_postgres.memory_table import memories_by_id, update_memory
from hybrid_memory_postgres.own import COUNT_ERASURE, COUNT_STEP, POSTGRES, delete_vectors
from hybrid_memory_postgres.pg_errors import translated
from hybrid_memory_postgres.storing import store_memories
from hybrid_memory_postgres.tables import write_buffer
from hybrid_memory_postgres.target import conninfo_now

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

    from hybrid_memory.clock import Clock
    from hybrid_memory.model import Memory, Usage
    from hybrid_memory_postgres.appending import LockedHead
    from hybrid_memory_postgres.connections import Connections
    from hybrid_memory_postgres.sql_session import PgSession


# Any number that no other program locks; the second one says for what.
_ALONE = "SELECT pg_try_advisory_lock(7340032, 2)"
# Closing the connection would release it too, but only when the server notices: the next synchronisation may come before that.
_NOT_ALONE = "SELECT pg_advisory_unlock(7340032, 2)"
_IDENTITY = """
    SELECT store.id, (SELECT system_identifier FROM pg_catalog.pg_control_system())::text,
        (SELECT oid FROM pg_catalog.pg_database WHERE datname = current_database())::text
    FROM store
"""
_NOTE = "INSERT INTO sync_note (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value"
_NUMBER = "SELECT sync_number FROM store"
# All that a client can change, so that nothing is looked at again where it is equal.
_STATE = """
    SELECT concat_ws(' ', (SELECT concat(sum(position), '/', count(*)) FROM namespace), (SELECT count(*) FROM log),
        (SELECT count(*) FROM memory), (SELECT concat(count(*), '/', sum(hashtextextended(body, number))) FROM entry),
        (SELECT concat(count(*), '/', sum(last)) FROM conversation),
        (SELECT concat(count(*), '/', sum(hashtextextended(state, touched_at))) FROM buffer),
        (SELECT concat(count(*), '/', sum(count), '/', sum(accessed_at)) FROM usage), (SELECT erasures FROM store))
"""
_SET_MARK = """
    INSERT INTO sync_log (namespace, position, link, clock) VALUES ($1, $2, $3, $4)
    ON CONFLICT (namespace) DO UPDATE SET position = excluded.position, link = excluded.link, clock = excluded.clock
"""
_SET_USAGE = """
    INSERT INTO usage (namespace, id, accessed_at, count) SELECT $1, * FROM unnest($2::text[], $3::bigint[], $4::bigint[])
    ON CONFLICT (namespace, id) DO UPDATE SET accessed_at = excluded.accessed_at, count = excluded.count
"""
_HEAR_USAGE = """
    INSERT INTO sync_usage (namespace, id, accessed_at, count) SELECT $1, * FROM unnest($2::text[], $3::bigint[], $4::bigint[])
    ON CONFLICT (namespace, id) DO UPDATE SET accessed_at = excluded.accessed_at, count = excluded.count
"""
_SET_FOLDER = """
    INSERT INTO sync_folder (folder, namespace, sent, cleaned, written) VALUES ($1, $2, $3, $4, $5)
    ON CONFLICT (folder, namespace) DO UPDATE SET sent = excluded.sent, cleaned = excluded.cleaned, written = excluded.written
"""
_KNOW = "INSERT INTO sync_segment (folder, name) SELECT $1, unnest($2::text[]) ON CONFLICT DO NOTHING"
_KEEP = """
    INSERT INTO sync_item (namespace, kind, first, second, number, stamp, digest, own, written) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
    ON CONFLICT (namespace, kind, first, second, number)
    DO UPDATE SET stamp = excluded.stamp, digest = excluded.digest, own = excluded.own, written = excluded.written
"""
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
# The next number must be free, however far each hub has counted.
_RAISE = """
    INSERT INTO conversation AS known (namespace, name, kind, last)
    SELECT $1, $2, $3, max(number) FROM entry WHERE namespace = $1 AND conversation = $2 AND kind = $3 HAVING count(*) > 0
    ON CONFLICT (namespace, name, kind) DO UPDATE SET last = greatest(known.last, excluded.last)
"""
# Terms and the like are made again at the next idle time: encoding 0 asks for it.
_SET_FIXED = Template("""
    UPDATE memory SET $assignments, terms = '', names = NULL, days = NULL, aspects = 0, encoding = 0 WHERE namespace = $$1 AND id = $$2
""").substitute(assignments=", ".join(f"{one.name} = ${at}" for at, one in enumerate(FIXED_FIELDS, 3)))


class PostgresSync(SqlSync):
    """The part of `PostgresStore` that is synchronised; see `hybrid_memory.store.syncing.SyncStore`.

    ``told`` is called with a namespace and the position of its last change when that is committed.
    """

    def __init__(self, connections: Connections, clock: Clock, told: Callable[[str, int], None]) -> None:
        super().__init__(POSTGRES, clock)
        self._connections = connections
        self._told = told

    def _reading(self) -> AbstractContextManager[Session]:
        return self._connections.reading(EVERYTHING)

    def _snapshot(self) -> AbstractContextManager[Session]:
        return self._connections.snapshot(EVERYTHING)

    def _changing(self) -> AbstractContextManager[Session]:
        return self._connections.transaction(EVERYTHING)

    def _number(self, session: Session) -> int:
        return int(session.rows(_NUMBER)[0][0])

    def _set_folder(self, session: Session, folder: str, namespace: str, mark: FolderMark) -> None:
        session.send(_SET_FOLDER, folder, namespace, mark.sent, mark.cleaned, mark.written)

    def _know(self, session: Session, folder: str, segments: Sequence[str]) -> None:
        session.send(_KNOW, folder, list(segments))

    def _hear_usage(self, session: Session, namespace: str, usage: Mapping[MemoryId, Usage]) -> None:
        session.send(_HEAR_USAGE, namespace, *usage_columns(usage))

    def identity(self) -> str | None:
        """Return what the store is, wherever its hubs run: this database of this server, and no copy of it."""
        with self._connections.reading(EVERYTHING) as session:
            return " ".join(session.rows(_IDENTITY)[0])

    @contextmanager
    def alone(self) -> Iterator[bool]:
        """Hold that no other hub synchronises this store; gives False if one does. It ends with this process, whatever happens to it."""
        with translated():
            connection = psycopg.connect(conninfo_now(self._connections.conninfo), autocommit=True)
        try:
            with translated():
                row = connection.execute(_ALONE).fetchone()
            alone = bool(row and row[0])
            try:
                yield alone
            finally:
                if alone:
                    with suppress(psycopg.Error):
                        connection.execute(_NOT_ALONE)
        finally:
            connection.close()

    def note(self, name: str, value: str) -> None:
        """Note something by name."""
        check_text(name, value)
        with self._connections.transaction(EVERYTHING) as session:
            session.send(_NOTE, name, value)
            session.rows(COUNT_STEP)

    def writes(self) -> tuple[int, str]:
        """Return how many steps of synchronisation and notes the store has had, and what clients change alongside them."""
        with self._connections.snapshot(EVERYTHING) as session:
            return int(session.rows(_NUMBER)[0][0]), str(session.rows(_STATE)[0][0])

    def write(self, namespace: str, decide: SyncDecision, *, actor: str) -> SyncBatch:
        """Let a decision look, then do what it says, in one transaction."""
        check_text(namespace, actor)
        with self._connections.transaction(EVERYTHING) as session:
            before = lock_head(session, namespace)
            view = SqlSyncView(session, POSTGRES, namespace, before.time_of_write(self._clock.now()))
            batch = decide(view)
            head = _apply(session, before, view, batch, actor)
            if batch.heard:
                self._hear_usage(session, namespace, batch.heard)
        if head.position != before.position:
            self._told(namespace, head.position)
        return batch


def _apply(session: PgSession, head: LockedHead, view: SqlSyncView, batch: SyncBatch, actor: str) -> LockedHead:
    """Do what a step says; returns the new head."""
    namespace, now = head.namespace, view.now
    step = int(session.rows(COUNT_STEP)[0][0])
    head = store_memories(session, head, batch.inserts, now, action=SYNC, actor=actor)
    head = _remove(session, head, batch.removed, now, actor)
    for before, after in batch.updates:
        _update(session, before, after)
    head = append_entries(session, head, update_entries(batch.updates, head.position, now, actor))
    set_rows(session, namespace, batch.rows)
    if batch.usage:
        session.send(_SET_USAGE, namespace, *usage_columns(batch.usage))
    _put_items(session, namespace, batch.items, batch.own, step)
    clean_folders_after(session, namespace, batch.items)
    if batch.mark != view.mark:
        session.send(_SET_MARK, namespace, batch.mark.position, batch.mark.link, batch.mark.clock)
    return head


def _update(session: PgSession, before: Memory, after: Memory) -> None:
    if any(getattr(before, name) != getattr(after, name) for name in UNCHANGEABLE):
        values = [
            None if (value := getattr(after, one.name)) is None else one.type.encode(value) for one in FIXED_FIELDS
        ]
        session.send(_SET_FIXED, after.namespace, after.id, *values)
        if before.content != after.content:
            delete_vectors(session, after.namespace, [after.id])
            erase_digests(session, after.namespace, [after.id])
            session.send(COUNT_ERASURE)
    update_memory(session, after)


def _remove(session: PgSession, head: LockedHead, ids: Sequence[MemoryId], now: datetime, actor: str) -> LockedHead:
    if not ids:
        return head
    namespace = head.namespace
    known = memories_by_id(session, namespace, ids)
    remove_rows(session, POSTGRES, namespace, ids)
    removed = [(id_, known[id_].rev if id_ in known else 1) for id_ in ids]
    return append_entries(session, head, removal_entries(removed, head.position, now, actor))


def _put_items(
    session: PgSession,
    namespace: str,
    items: Mapping[ItemKey, ItemState],
    own: Collection[ItemKey],
    step: int,
) -> None:
    """Let items have some values, and note them as written by a step; ``own`` are those that this store changed."""
    if not items:
        return
    there = item_values(session, POSTGRES, namespace, list(items))
    for key, state in items.items():
        if there.get(key) != state.value:
            _put_item(session, namespace, key, state.value)
        digest = None if state.value is None else item_digest(key, state.value)
        session.send(_KEEP, namespace, *key, state.stamp, digest, key in own, step)
    for first, second in sorted({(key[1], key[2]) for key in items if key[0] in (CONVERSATION, ENTRY)}):
        session.send(_RAISE, namespace, first, second)


def _put_item(session: PgSession, namespace: str, key: ItemKey, value: Mapping[str, Json] | None) -> None:
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
