"""What a DuckDB store keeps of its synchronisation, and a step of it in one transaction: `DuckStore.syncing`.

The tables have no keys: what is replaced is deleted and inserted, which DuckDB 1.5 refuses within a transaction where there is an index.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from string import Template
from typing import TYPE_CHECKING

from hybrid_memory.clock import from_micros, to_micros
from hybrid_memory.model import Json, MemoryId
from hybrid_memory.store.duck import tables
from hybrid_memory.store.duck.duck_transfer import store_memories
from hybrid_memory.store.duck.memory_table import update_memory
from hybrid_memory.store.duck.own import DUCK, delete_vectors, erase_digests
from hybrid_memory.store.duck.writer_cache import Head, LruCache
from hybrid_memory.store.encoding import check_text, object_to_json, to_json
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

if TYPE_CHECKING:
    from collections.abc import Mapping
    from contextlib import AbstractContextManager
    from datetime import datetime

    from hybrid_memory.clock import Clock
    from hybrid_memory.model import Memory, Usage
    from hybrid_memory.store.duck.engine import Engine, Transaction
    from hybrid_memory.store.duck.sql_session import SqlSession
    from hybrid_memory.store.writing import LogEntry


_FORGET_NOTE = "DELETE FROM sync_note WHERE name = ?"
_NOTE = "INSERT INTO sync_note (name, value) VALUES (?, ?)"
_WRITES = "SELECT number FROM mark"
_SIZES = "SELECT (SELECT count(*) FROM log), (SELECT count(*) FROM memory), (SELECT count(*) FROM entry)"
_FORGET_MARK = "DELETE FROM sync_log WHERE namespace = ?"
_SET_MARK = "INSERT INTO sync_log (namespace, position, link, clock) VALUES (?, ?, ?, ?)"
_SET_USAGE = """
    UPDATE usage SET accessed_at = one.accessed_at, count = one.count
    FROM (SELECT unnest($2::text[]) AS id, unnest($3::bigint[]) AS accessed_at, unnest($4::bigint[]) AS count) AS one
    WHERE usage.namespace = $1 AND usage.id = one.id
"""
_INSERT_USAGE = """
    INSERT INTO usage (namespace, id, accessed_at, count) SELECT $1, unnest($2::text[]), unnest($3::bigint[]), unnest($4::bigint[])
"""
_INSERT_SYNC_USAGE = """
    INSERT INTO sync_usage (namespace, id, accessed_at, count)
    SELECT $1, unnest($2::text[]), unnest($3::bigint[]), unnest($4::bigint[])
"""
_FORGET_SYNC_USAGE = "DELETE FROM sync_usage WHERE namespace = $1 AND id = ANY ($2::text[])"
_FORGET_PLACE = "DELETE FROM sync_folder WHERE folder = ? AND namespace = ?"
_SET_FOLDER = "INSERT INTO sync_folder (folder, namespace, sent, cleaned, written) VALUES (?, ?, ?, ?, ?)"
_KNOW = "INSERT INTO sync_segment (folder, name) SELECT $1, unnest($2::text[])"
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
# Terms and the like are made again by anyone who opens the store next, or at idle times: encoding 0 asks for it.
_SET_FIXED = Template("""
    UPDATE memory SET $assignments, terms = [], names = NULL, days = NULL, aspects = 0, encoding = 0
    WHERE concat(namespace) = ? AND id = ?
""").substitute(assignments=", ".join(one.name + " = ?" for one in FIXED_FIELDS))


class DuckSync(SqlSync):
    """The part of `DuckStore` that is synchronised; see `hybrid_memory.store.syncing.SyncStore`."""

    def __init__(self, engine: Engine, clock: Clock) -> None:
        super().__init__(DUCK, clock)
        self._engine = engine

    def _reading(self) -> AbstractContextManager[Session]:
        return self._engine.reading()

    def _snapshot(self) -> AbstractContextManager[Session]:
        return self._engine.snapshot()

    @contextmanager
    def _changing(self) -> Iterator[Session]:
        with self._engine.transaction() as (session, _, _):
            yield session

    def _number(self, session: Session) -> int:
        return int(session.rows(_WRITES)[0][0])

    def _set_folder(self, session: Session, folder: str, namespace: str, mark: FolderMark) -> None:
        session.send(_FORGET_PLACE, folder, namespace)
        session.send(_SET_FOLDER, folder, namespace, mark.sent, mark.cleaned, mark.written)

    def _know(self, session: Session, folder: str, segments: Sequence[str]) -> None:
        session.send(_KNOW, folder, list(segments))

    def _hear_usage(self, session: Session, namespace: str, usage: Mapping[MemoryId, Usage]) -> None:
        session.send(_FORGET_SYNC_USAGE, namespace, list(usage))
        session.send(_INSERT_SYNC_USAGE, namespace, *usage_columns(usage))

    def identity(self) -> str | None:
        """Return None: the store is the file in the folder of its hub."""
        return None

    def alone(self) -> AbstractContextManager[bool]:
        """Hold that nobody else synchronises this store: one process has the file."""
        return nullcontext(enter_result=True)

    def note(self, name: str, value: str) -> None:
        """Note something by name."""
        check_text(name, value)
        with self._engine.transaction() as (session, _, _):
            session.change(_FORGET_NOTE, name)
            session.change(_NOTE, name, value)

    def writes(self) -> tuple[int, str]:
        """Return how many writes the store has had, and what a purge changes, which is none of them."""
        with self._engine.snapshot() as session:
            return int(session.rows(_WRITES)[0][0]), " ".join(map(str, session.rows(_SIZES)[0]))

    def write(self, namespace: str, decide: SyncDecision, *, actor: str) -> SyncBatch:
        """Let a decision look, then do what it says, in one transaction."""
        check_text(namespace, actor)
        with self._engine.transaction() as transaction:
            now = transaction.cache.write_time(self._clock)
            view = SqlSyncView(transaction.reads, DUCK, namespace, now)
            batch = decide(view)
            _apply(transaction, namespace, view, batch, actor)
            if batch.heard:
                self._hear_usage(transaction.changes, namespace, batch.heard)
            return batch


def _apply(transaction: Transaction, namespace: str, view: SqlSyncView, batch: SyncBatch, actor: str) -> None:
    session, _, cache = transaction
    now = view.now
    store_memories(transaction, batch.inserts, now, action=SYNC, actor=actor)
    _remove(transaction, namespace, batch.removed, view, now, actor)
    for before, after in batch.updates:
        _update(session, before, after)
    _log(transaction, namespace, update_entries(batch.updates, _head(transaction, namespace), now, actor))
    set_rows(session, namespace, batch.rows)
    _set_usage(transaction, namespace, batch.usage)
    _put_items(transaction, namespace, batch.items, batch.own)
    clean_folders_after(session, namespace, batch.items)
    if batch.mark != view.mark:
        session.change(_FORGET_MARK, namespace)
        session.change(_SET_MARK, namespace, batch.mark.position, batch.mark.link, batch.mark.clock)
    # Filled by single writes, which these rows did not pass; the next write reads what it needs.
    cache.members, cache.memories = LruCache(), LruCache()


def _update(session: SqlSession, before: Memory, after: Memory) -> None:
    if any(getattr(before, name) != getattr(after, name) for name in UNCHANGEABLE):
        values = [
            None if (value := getattr(after, one.name)) is None else one.type.encode(value) for one in FIXED_FIELDS
        ]
        session.change(_SET_FIXED, *values, after.namespace, after.id)
        if before.content != after.content:
            delete_vectors(session, after.namespace, [after.id])
            erase_digests(session, after.namespace, [after.id])
    update_memory(session, after, before.rev)


def _remove(
    transaction: Transaction,
    namespace: str,
    ids: Sequence[MemoryId],
    view: SqlSyncView,
    now: datetime,
    actor: str,
) -> None:
    if not ids:
        return
    revs = view.memories(ids)
    remove_rows(transaction.changes, DUCK, namespace, ids)
    removed = [(id_, revs[id_].rev if id_ in revs else 1) for id_ in ids]
    _log(transaction, namespace, removal_entries(removed, _head(transaction, namespace), now, actor))


def _head(transaction: Transaction, namespace: str) -> int:
    return transaction.cache.heads.get(namespace, Head()).position


def _log(transaction: Transaction, namespace: str, log: Sequence[LogEntry]) -> None:
    if log:
        tables.append_log(transaction.changes, transaction.cache, namespace, log)
        tables.advance(transaction.cache, namespace, log[-1].position, to_micros(log[-1].at))


def _set_usage(transaction: Transaction, namespace: str, usage: Mapping[MemoryId, Usage]) -> None:
    if not usage:
        return
    session, reads, _ = transaction
    known = tables.read_usage(reads, namespace, usage)
    old = {id_: one for id_, one in usage.items() if id_ in known}
    new = {id_: one for id_, one in usage.items() if id_ not in known}
    if old:
        session.change(_SET_USAGE, namespace, *usage_columns(old))
    if new:
        session.change(_INSERT_USAGE, namespace, *usage_columns(new))


def _put_items(
    transaction: Transaction, namespace: str, items: Mapping[ItemKey, ItemState], own: Collection[ItemKey]
) -> None:
    """Let items have some values, and note them; ``own`` are those that this machine changed."""
    if not items:
        return
    session, reads, _ = transaction
    there = item_values(reads, DUCK, namespace, list(items))
    kept = []
    for key, state in items.items():
        if there.get(key) != state.value:
            _put_item(transaction, namespace, key, state.value, is_there=key in there)
        kind, first, second, number = key
        digest = None if state.value is None else item_digest(key, state.value)
        place = {"kind": kind, "first": first, "second": second, "number": number}
        kept.append(place | {"stamp": state.stamp, "digest": digest, "own": key in own})
    for first, second in sorted({(key[1], key[2]) for key in items if key[0] in (CONVERSATION, ENTRY)}):
        # The next number must be free, however far each hub has counted.
        session.change(_RAISE, namespace, first, second)
        session.change(_MISSING, namespace, first, second)
    session.change(_FORGET_MANY, namespace, to_json(kept))
    session.change(_KEEP, namespace, to_json(kept), transaction.cache.mark + 1)


def _put_item(
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
