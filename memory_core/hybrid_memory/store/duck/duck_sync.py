"""What a DuckDB store keeps of its synchronisation, and a step of it in one transaction: `DuckStore.syncing`.

The tables have no keys: what is replaced is deleted and inserted, which DuckDB 1.5 refuses within a transaction where there is an index.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from contextlib import nullcontext
from string import Template
from typing import TYPE_CHECKING, Any, TypeVar

from hybrid_memory.clock import to_micros
from hybrid_memory.model import MemoryId
from hybrid_memory.store.duck import tables
from hybrid_memory.store.duck.duck_transfer import store_memories
from hybrid_memory.store.duck.memory_table import memories_by_id, update_memory
from hybrid_memory.store.duck.own import DUCK, delete_vectors, erase_digests
from hybrid_memory.store.duck.sync_items import changed_items, item_values, put_items
from hybrid_memory.store.duck.writer_cache import Head, LruCache
from hybrid_memory.store.encoding import check_text, to_json
from hybrid_memory.store.memory_fields import UNCHANGEABLE
from hybrid_memory.store.snapshots import NO_LIMIT
from hybrid_memory.store.sql.purging import remove_rows
from hybrid_memory.store.sync_rules import (
    BUFFER,
    FIXED_FIELDS,
    OTHER_WORDS,
    removal_entries,
    stamps_of_row,
    stamps_to_text,
    update_entries,
)
from hybrid_memory.store.syncing import (
    SYNC,
    ChangedItem,
    Erasure,
    FolderMark,
    ItemKey,
    ItemState,
    LoggedChange,
    LogMark,
    Outgoing,
    RowStamps,
    SyncBatch,
    SyncDecision,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from contextlib import AbstractContextManager
    from datetime import datetime

    from hybrid_memory.clock import Clock
    from hybrid_memory.model import Memory, Usage
    from hybrid_memory.store.duck.engine import Engine, Transaction
    from hybrid_memory.store.duck.sql_session import SqlSession
    from hybrid_memory.store.writing import LogEntry

_T = TypeVar("_T")

_NOTES = "SELECT name, value FROM sync_note"
_FORGET_NOTE = "DELETE FROM sync_note WHERE name = ?"
_NOTE = "INSERT INTO sync_note (name, value) VALUES (?, ?)"
_WRITES = "SELECT number FROM mark"
_SIZES = "SELECT (SELECT count(*) FROM log), (SELECT count(*) FROM memory), (SELECT count(*) FROM entry)"
_NAMESPACES = """
    SELECT namespace FROM log UNION SELECT namespace FROM buffer UNION SELECT namespace FROM conversation
    UNION SELECT namespace FROM sync_log ORDER BY namespace
"""
_MARK = "SELECT position, link, clock FROM sync_log WHERE namespace = ?"
_FORGET_MARK = "DELETE FROM sync_log WHERE namespace = ?"
_SET_MARK = "INSERT INTO sync_log (namespace, position, link, clock) VALUES (?, ?, ?, ?)"
_LINK = "SELECT link FROM log WHERE namespace = ? AND position = ?"
_LOG = """
    SELECT position, change, id, made_at, action, coalesce(note, '') FROM log
    WHERE namespace = ? AND position > ? AND position < 4611686018427387904 ORDER BY position LIMIT ?
"""
_ROWS = """
    SELECT id, born, gone, fields FROM sync_row WHERE namespace = ? AND id IN (SELECT unnest(from_json(?, '["VARCHAR"]')))
"""
_FORGET_ROWS = "DELETE FROM sync_row WHERE namespace = ? AND id IN (SELECT unnest(from_json(?, '[\"VARCHAR\"]')))"
_SET_ROWS = """
    INSERT INTO sync_row (namespace, id, born, gone, fields) SELECT $1, one.id, one.born, one.gone, one.fields
    FROM (SELECT unnest(from_json($2, '[{"id": "VARCHAR", "born": "BIGINT", "gone": "BIGINT", "fields": "VARCHAR"}]')) AS one)
"""
_LINKED = """
    WITH wanted AS (SELECT unnest(from_json($2, '["VARCHAR"]')) AS id)
    SELECT id FROM memory WHERE namespace = $1 AND (supersedes IN (SELECT id FROM wanted) OR superseded_by IN (SELECT id FROM wanted))
    UNION SELECT unnest([supersedes, superseded_by]) FROM memory WHERE namespace = $1 AND id IN (SELECT id FROM wanted)
"""
_REFERRING = """
    WITH wanted AS (SELECT unnest(from_json($2, '["VARCHAR"]')) AS id)
    SELECT id FROM memory WHERE namespace = $1 AND (
        superseded_by IN (SELECT id FROM wanted) OR supersedes IN (SELECT id FROM wanted)
        OR duplicate_of IN (SELECT id FROM wanted) OR disputes IN (SELECT id FROM wanted)
        OR (parents IS NOT NULL AND list_has_any(try_cast(parents AS JSON)::VARCHAR[], from_json($2, '["VARCHAR"]'))))
"""
_SAME_WORDS = """
    SELECT id FROM memory WHERE namespace = ? AND content_hash IN (SELECT unnest(from_json(?, '["VARCHAR"]')))
"""
_ENTANGLED = """
    SELECT id FROM memory AS m WHERE namespace = $1 AND id IN (SELECT unnest(from_json($2, '["VARCHAR"]')))
        AND (supersedes IS NOT NULL OR superseded_by IS NOT NULL OR content_hash IN (
            SELECT content_hash FROM memory WHERE namespace = $1 GROUP BY content_hash HAVING count(*) > 1))
"""
_ITEMS = """
    SELECT i.kind, i.first, i.second, i.number, i.stamp FROM sync_item AS i JOIN (
        SELECT unnest(from_json($2, '[{"kind": "VARCHAR", "first": "VARCHAR", "second": "VARCHAR", "number": "BIGINT"}]'),
            recursive := true)
    ) AS w ON i.kind = w.kind AND i.first = w.first AND i.second = w.second AND i.number = w.number WHERE i.namespace = $1
"""
_SET_USAGE = """
    UPDATE usage SET accessed_at = one.accessed_at, count = one.count
    FROM (SELECT unnest(from_json($2, '[{"id": "VARCHAR", "accessed_at": "BIGINT", "count": "BIGINT"}]')) AS one) AS given
    WHERE usage.namespace = $1 AND usage.id = one.id
"""
_NEW_USAGE = """
    INSERT INTO {table} (namespace, id, accessed_at, count)
    SELECT $1, one.id, one.accessed_at, one.count
    FROM (SELECT unnest(from_json($2, '[{"id": "VARCHAR", "accessed_at": "BIGINT", "count": "BIGINT"}]')) AS one)
"""
_INSERT_USAGE = _NEW_USAGE.replace("{table}", "usage")
_INSERT_SYNC_USAGE = _NEW_USAGE.replace("{table}", "sync_usage")
_FORGET_SYNC_USAGE = (
    "DELETE FROM sync_usage WHERE namespace = ? AND id IN (SELECT unnest(from_json(?, '[\"VARCHAR\"]')))"
)
_USED = """
    SELECT u.id FROM usage AS u LEFT JOIN sync_usage AS s USING (namespace, id)
    WHERE u.namespace = ? AND (s.count IS DISTINCT FROM u.count OR s.accessed_at IS DISTINCT FROM u.accessed_at)
"""
_CHANGED_IDS = """
    SELECT DISTINCT id FROM log WHERE namespace = ? AND position > ? AND position <= ? AND id <> '' AND (action <> ? OR ?)
"""
_GONE = "SELECT id FROM sync_row WHERE namespace = ? AND gone > born"
_SENT_ITEMS = """
    SELECT kind, first, second, number FROM sync_item WHERE namespace = ? AND written > ? AND (own OR ?)
    ORDER BY kind, first, second, number
"""
_CLEAN_FOLDERS = "UPDATE sync_folder SET cleaned = -1 WHERE namespace = ?"
_FOLDER = "SELECT sent, cleaned, written FROM sync_folder WHERE folder = ? AND namespace = ?"
_FORGET_PLACE = "DELETE FROM sync_folder WHERE folder = ? AND namespace = ?"
_SET_FOLDER = "INSERT INTO sync_folder (folder, namespace, sent, cleaned, written) VALUES (?, ?, ?, ?, ?)"
_TO_CLEAN = """
    SELECT DISTINCT id FROM log WHERE namespace = ? AND position > ? AND (change = 'purge' OR action = 'redact' OR note = ?)
"""
_SEGMENTS = "SELECT name FROM sync_segment WHERE folder = ?"
_KNOW = "INSERT INTO sync_segment (folder, name) SELECT ?, unnest(from_json(?, '[\"VARCHAR\"]'))"
_UNKNOW = "DELETE FROM sync_segment WHERE folder = ? AND name IN (SELECT unnest(from_json(?, '[\"VARCHAR\"]')))"
_FORGET_FOLDER = ("DELETE FROM sync_folder WHERE folder = ?", "DELETE FROM sync_segment WHERE folder = ?")
_HEAD = "SELECT coalesce(max(position), 0) FROM log WHERE namespace = ? AND position < 4611686018427387904"
# Terms and the like are made anew by whoever opens the store next, or at idle times: encoding 0 asks for it.
_SET_FIXED = Template("""
    UPDATE memory SET $assignments, terms = [], names = NULL, days = NULL, aspects = 0, encoding = 0
    WHERE concat(namespace) = ? AND id = ?
""").substitute(assignments=", ".join(one.name + " = ?" for one in FIXED_FIELDS))


class DuckSyncView:
    """One moment of one namespace; see `hybrid_memory.store.syncing.SyncView`."""

    def __init__(self, session: SqlSession, namespace: str, now: datetime) -> None:
        self._session = session
        self._namespace = namespace
        self.now = now
        row = session.row(_MARK, namespace)
        self.mark = LogMark(*row) if row else LogMark()

    def is_same_log(self) -> bool:
        """Return False if the log behind the mark is another one than it was."""
        return not self.mark.position or (
            bool(self._session.rows(_LINK, self._namespace, self.mark.position))
            and self.link_at(self.mark.position) == self.mark.link
        )

    def log(self, after: int, limit: int) -> list[LoggedChange]:
        """Return entries of the log behind a position."""
        return [LoggedChange(*row) for row in self._session.rows(_LOG, self._namespace, after, limit)]

    def link_at(self, position: int) -> str | None:
        """Return the link of an entry of the log."""
        row = self._session.row(_LINK, self._namespace, position)
        return None if row is None else row[0]

    def memories(self, ids: Iterable[MemoryId]) -> dict[MemoryId, Memory]:
        """Return the memories that exist."""
        return memories_by_id(self._session, self._namespace, ids)

    def usage(self, ids: Iterable[MemoryId]) -> dict[MemoryId, Usage]:
        """Return how memories were used."""
        return tables.read_usage(self._session, self._namespace, ids)

    def rows(self, ids: Iterable[MemoryId]) -> dict[MemoryId, RowStamps]:
        """Return what is known of the changes of memories."""
        found = self._session.rows(_ROWS, self._namespace, to_json(list(ids)))
        return {MemoryId(id_): stamps_of_row(born, gone, fields) for id_, born, gone, fields in found}

    def linked(self, ids: Collection[MemoryId]) -> set[MemoryId]:
        """Return memories that one of some supersedes, or that supersede one of them."""
        return self._ids(_LINKED, ids)

    def referring(self, ids: Collection[MemoryId]) -> set[MemoryId]:
        """Return memories with a link to one of some."""
        return self._ids(_REFERRING, ids)

    def same_words(self, digests: Collection[str]) -> set[MemoryId]:
        """Return the memories with some digests of words."""
        return self._ids(_SAME_WORDS, digests)

    def entangled(self, ids: Collection[MemoryId]) -> set[MemoryId]:
        """Return which of some memories have versions, or the words of another."""
        return self._ids(_ENTANGLED, ids)

    def changed_items(self) -> Sequence[ChangedItem]:
        """Return what beside memories is not as the last synchronisation left it."""
        return changed_items(self._session, self._namespace)

    def items(self, keys: Collection[ItemKey]) -> dict[ItemKey, ItemState]:
        """Return what is known of items, with the values that they have now."""
        wanted = [
            {"kind": kind, "first": first, "second": second, "number": number} for kind, first, second, number in keys
        ]
        if not wanted:
            return {}
        stamps = {
            (kind, first, second, number): stamp
            for kind, first, second, number, stamp in self._session.rows(_ITEMS, self._namespace, to_json(wanted))
        }
        values = item_values(self._session, self._namespace, keys)
        return {
            key: ItemState(values.get(key), stamps.get(key, 0))
            for key in keys
            if key in stamps or values.get(key) is not None
        }

    def _ids(self, statement: str, wanted: Collection[str]) -> set[MemoryId]:
        if not wanted:
            return set()
        return {
            MemoryId(id_) for (id_,) in self._session.rows(statement, self._namespace, to_json(sorted(wanted))) if id_
        }


class DuckSync:
    """The part of `DuckStore` that is synchronised; see `hybrid_memory.store.syncing.SyncStore`."""

    def __init__(self, engine: Engine, clock: Clock) -> None:
        self._engine = engine
        self._clock = clock

    def identity(self) -> str | None:
        """Return None: the store is the file in the folder of its hub."""
        return None

    def alone(self) -> AbstractContextManager[bool]:
        """Hold that nobody else synchronises this store: one process has the file."""
        return nullcontext(enter_result=True)

    def notes(self) -> dict[str, str]:
        """Return what was noted, by name."""
        with self._engine.reading() as session:
            return dict(session.rows(_NOTES))

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

    def namespaces(self) -> Sequence[str]:
        """Return all namespaces that there is or was anything in."""
        with self._engine.reading() as session:
            return [name for (name,) in session.rows(_NAMESPACES)]

    def read(self, namespace: str, look: Callable[[DuckSyncView], _T]) -> _T:
        """Let somebody look at one moment of a namespace."""
        with self._engine.snapshot() as session:
            return look(DuckSyncView(session, namespace, self._clock.now()))

    def write(self, namespace: str, decide: SyncDecision, *, actor: str) -> SyncBatch:
        """Let a decision look, then do what it says, in one transaction."""
        check_text(namespace, actor)
        with self._engine.transaction() as transaction:
            now = transaction.cache.write_time(self._clock)
            view = DuckSyncView(transaction.reads, namespace, now)
            batch = decide(view)
            _apply(transaction, namespace, view, batch, now, actor)
            return batch

    def outgoing(self, folder: str, namespace: str, *, relay: bool) -> Outgoing:
        """Return what a folder does not have yet; what was never sent there is sent whole."""
        with self._engine.snapshot() as session:
            mark, first = _folder_mark(session, folder, namespace), _is_first(session, folder, namespace)
            view = DuckSyncView(session, namespace, self._clock.now())
            changed = session.rows(_CHANGED_IDS, namespace, mark.sent, view.mark.position, SYNC, relay or first)
            ids = {MemoryId(id_) for (id_,) in changed}
            ids |= {MemoryId(id_) for (id_,) in session.rows(_USED, namespace)}
            if first:
                ids |= {MemoryId(id_) for (id_,) in session.rows(_GONE, namespace)}
            items = session.rows(_SENT_ITEMS, namespace, mark.written, relay or first)
            sent = FolderMark(view.mark.position, mark.cleaned, session.rows(_WRITES)[0][0])
            return Outgoing(tuple(sorted(ids)), tuple((a, b, c, d) for a, b, c, d in items), sent)

    def sent(
        self, folder: str, namespace: str, mark: FolderMark, segments: Collection[str], usage: Mapping[MemoryId, Usage]
    ) -> None:
        """Note that something was sent, in some segments, and the use of memories that was told."""
        with self._engine.transaction() as (session, _, _):
            _know(session, folder, segments)
            _set_folder_mark(session, folder, namespace, mark)
            _hear_usage(session, namespace, usage)

    def to_clean(self, folder: str, namespace: str) -> tuple[Erasure, FolderMark]:
        """Return what lost words since a folder was cleaned, and the mark after it."""
        with self._engine.snapshot() as session:
            mark = _folder_mark(session, folder, namespace)
            head = session.rows(_HEAD, namespace)[0][0]
            found = {MemoryId(id_) for (id_,) in session.rows(_TO_CLEAN, namespace, mark.cleaned, OTHER_WORDS)}
            all_of_it = mark.cleaned < 0
            return Erasure(frozenset(found), all_of_it), FolderMark(mark.sent, head, mark.written)

    def cleaned(self, folder: str, namespace: str, mark: FolderMark) -> None:
        """Note that a folder was cleaned."""
        with self._engine.transaction() as (session, _, _):
            _set_folder_mark(session, folder, namespace, mark)

    def segments(self, folder: str) -> set[str]:
        """Return the names of the segments of a folder that are known here."""
        with self._engine.reading() as session:
            return {name for (name,) in session.rows(_SEGMENTS, folder)}

    def know(self, folder: str, segments: Collection[str]) -> None:
        """Note that segments are known here."""
        with self._engine.transaction() as (session, _, _):
            _know(session, folder, segments)

    def unknow(self, folder: str, segments: Collection[str]) -> None:
        """Note that segments are no longer there."""
        with self._engine.transaction() as (session, _, _):
            session.change(_UNKNOW, folder, to_json(sorted(segments)))

    def unsent(self, folder: str, namespace: str) -> int:
        """Return about how many memories a folder does not have as they are."""
        with self._engine.snapshot() as session:
            first = _is_first(session, folder, namespace)
            sent = _folder_mark(session, folder, namespace).sent
            changed = {id_ for (id_,) in session.rows(_CHANGED_IDS, namespace, sent, NO_LIMIT, SYNC, first)}
            return len(changed | {id_ for (id_,) in session.rows(_USED, namespace)})

    def forget_folder(self, folder: str) -> None:
        """Forget what a folder has."""
        with self._engine.transaction() as (session, _, _):
            for statement in _FORGET_FOLDER:
                session.change(statement, folder)


def _apply(
    transaction: Transaction, namespace: str, view: DuckSyncView, batch: SyncBatch, now: datetime, actor: str
) -> None:
    session, _, cache = transaction
    store_memories(transaction, batch.inserts, now, action=SYNC, actor=actor)
    _remove(transaction, namespace, batch.removed, view, now, actor)
    for before, after in batch.updates:
        _update(session, before, after)
    _log(transaction, namespace, update_entries(batch.updates, _head(transaction, namespace), now, actor))
    _set_rows(session, namespace, batch.rows)
    _set_usage(transaction, namespace, batch.usage)
    _hear_usage(session, namespace, batch.heard)
    put_items(transaction, namespace, batch.items, batch.own)
    # A buffer that is empty because its session ended is no erasing.
    if any(one.value is None and key[0] != BUFFER for key, one in batch.items.items()):
        session.change(_CLEAN_FOLDERS, namespace)
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
    view: DuckSyncView,
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


def _set_rows(session: SqlSession, namespace: str, rows: Mapping[MemoryId, RowStamps]) -> None:
    if not rows:
        return
    session.change(_FORGET_ROWS, namespace, to_json(list(rows)))
    given = [
        {"id": id_, "born": row.born, "gone": row.gone, "fields": stamps_to_text(row)}
        for id_, row in rows.items()
        if row != RowStamps()
    ]
    if given:
        session.change(_SET_ROWS, namespace, to_json(given))


def _set_usage(transaction: Transaction, namespace: str, usage: Mapping[MemoryId, Usage]) -> None:
    if not usage:
        return
    session, reads, _ = transaction
    known = tables.read_usage(reads, namespace, usage)
    old = {id_: one for id_, one in usage.items() if id_ in known}
    new = {id_: one for id_, one in usage.items() if id_ not in known}
    if old:
        session.change(_SET_USAGE, namespace, to_json(_usage_rows(old)))
    if new:
        session.change(_INSERT_USAGE, namespace, to_json(_usage_rows(new)))


def _hear_usage(session: SqlSession, namespace: str, usage: Mapping[MemoryId, Usage]) -> None:
    if usage:
        session.change(_FORGET_SYNC_USAGE, namespace, to_json(list(usage)))
        session.change(_INSERT_SYNC_USAGE, namespace, to_json(_usage_rows(usage)))


def _usage_rows(usage: Mapping[MemoryId, Usage]) -> list[dict[str, Any]]:
    return [{"id": id_, "accessed_at": to_micros(one.accessed_at), "count": one.count} for id_, one in usage.items()]


def _folder_mark(session: SqlSession, folder: str, namespace: str) -> FolderMark:
    row = session.row(_FOLDER, folder, namespace)
    return FolderMark(*row) if row else FolderMark()


def _is_first(session: SqlSession, folder: str, namespace: str) -> bool:
    """Return True if a folder has nothing of a namespace, or nothing since it was purged as a whole."""
    row = session.row(_FOLDER, folder, namespace)
    return row is None or row[0] < 0


def _set_folder_mark(session: SqlSession, folder: str, namespace: str, mark: FolderMark) -> None:
    session.change(_FORGET_PLACE, folder, namespace)
    session.change(_SET_FOLDER, folder, namespace, mark.sent, mark.cleaned, mark.written)


def _know(session: SqlSession, folder: str, segments: Collection[str]) -> None:
    if segments:
        session.change(_KNOW, folder, to_json(sorted(segments)))
