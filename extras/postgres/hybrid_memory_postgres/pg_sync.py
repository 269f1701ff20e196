"""What a PostgreSQL store keeps of its synchronisation through folders, and a step of it in one transaction: `PostgresStore.syncing`.

A step locks the head of its namespace first, as every write does. Steps are counted in the table ``store``, by which is known what of
a folder is older than what.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from string import Template
from typing import TYPE_CHECKING, TypeVar

import psycopg

from hybrid_memory.clock import to_micros
from hybrid_memory.model import MemoryId
from hybrid_memory.store.encoding import check_text
from hybrid_memory.store.memory_fields import UNCHANGEABLE
from hybrid_memory.store.purge_rules import list_names
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
from hybrid_memory_postgres.appending import append_entries, erase_digests, lock_head
from hybrid_memory_postgres.connections import EVERYTHING
from hybrid_memory_postgres.conninfo import conninfo_now
from hybrid_memory_postgres.memory_table import memories_by_id, update_memory
from hybrid_memory_postgres.own import COUNT_ERASURE, POSTGRES, delete_vectors
from hybrid_memory_postgres.pg_errors import translated
from hybrid_memory_postgres.storing import store_memories
from hybrid_memory_postgres.sync_items import changed_items, item_values, put_items
from hybrid_memory_postgres.tables import read_usage

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

    from hybrid_memory.clock import Clock
    from hybrid_memory.model import Memory, Usage
    from hybrid_memory_postgres.appending import LockedHead
    from hybrid_memory_postgres.connections import Connections
    from hybrid_memory_postgres.sql_session import PgSession

_T = TypeVar("_T")

# Any number that no other program locks; the second one says for what.
_ALONE = "SELECT pg_try_advisory_lock(7340032, 2)"
# Closing the connection would release it too, but only when the server notices: the next synchronisation may come before that.
_NOT_ALONE = "SELECT pg_advisory_unlock(7340032, 2)"
_IDENTITY = """
    SELECT store.id, (SELECT system_identifier FROM pg_catalog.pg_control_system())::text,
        (SELECT oid FROM pg_catalog.pg_database WHERE datname = current_database())::text
    FROM store
"""
_NOTES = "SELECT name, value FROM sync_note"
_NOTE = "INSERT INTO sync_note (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value"
_STEP = "UPDATE store SET sync_number = sync_number + 1 RETURNING sync_number"
_NUMBER = "SELECT sync_number FROM store"
# All that a client can change, so that nothing is looked at again where it is equal.
_STATE = """
    SELECT concat_ws(' ', (SELECT concat(sum(position), '/', count(*)) FROM namespace), (SELECT count(*) FROM log),
        (SELECT count(*) FROM memory), (SELECT concat(count(*), '/', sum(hashtextextended(body, number))) FROM entry),
        (SELECT concat(count(*), '/', sum(last)) FROM conversation),
        (SELECT concat(count(*), '/', sum(hashtextextended(state, touched_at))) FROM buffer),
        (SELECT concat(count(*), '/', sum(count), '/', sum(accessed_at)) FROM usage), (SELECT erasures FROM store))
"""
_NAMESPACES = """
    SELECT namespace FROM log UNION SELECT namespace FROM buffer UNION SELECT namespace FROM conversation
    UNION SELECT namespace FROM sync_log ORDER BY namespace
"""
_MARK = "SELECT position, link, clock FROM sync_log WHERE namespace = $1"
_SET_MARK = """
    INSERT INTO sync_log (namespace, position, link, clock) VALUES ($1, $2, $3, $4)
    ON CONFLICT (namespace) DO UPDATE SET position = excluded.position, link = excluded.link, clock = excluded.clock
"""
_LINK = "SELECT link FROM log WHERE namespace = $1 AND position = $2"
_LOG = """
    SELECT position, change, id, made_at, action, coalesce(note, '') FROM log
    WHERE namespace = $1 AND position > $2 AND position < 4611686018427387904 ORDER BY position LIMIT $3
"""
_ROWS = "SELECT id, born, gone, fields FROM sync_row WHERE namespace = $1 AND id = ANY ($2::text[])"
_FORGET_ROWS = "DELETE FROM sync_row WHERE namespace = $1 AND id = ANY ($2::text[])"
_SET_ROWS = """
    INSERT INTO sync_row (namespace, id, born, gone, fields)
    SELECT $1, * FROM unnest($2::text[], $3::bigint[], $4::bigint[], $5::text[])
"""
_LINKED = """
    SELECT id FROM memory WHERE namespace = $1 AND (supersedes = ANY ($2::text[]) OR superseded_by = ANY ($2::text[]))
    UNION SELECT unnest(ARRAY[supersedes, superseded_by]) FROM memory WHERE namespace = $1 AND id = ANY ($2::text[])
"""
_REFERRING = """
    SELECT id, parents, superseded_by = ANY ($2::text[]) OR supersedes = ANY ($2::text[]) OR duplicate_of = ANY ($2::text[])
        OR disputes = ANY ($2::text[])
    FROM memory WHERE namespace = $1 AND (superseded_by = ANY ($2::text[]) OR supersedes = ANY ($2::text[])
        OR duplicate_of = ANY ($2::text[]) OR disputes = ANY ($2::text[]) OR parents IS NOT NULL)
"""
_SAME_WORDS = "SELECT id FROM memory WHERE namespace = $1 AND content_hash = ANY ($2::text[])"
_ENTANGLED = """
    SELECT id FROM memory AS m WHERE namespace = $1 AND id = ANY ($2::text[])
        AND (supersedes IS NOT NULL OR superseded_by IS NOT NULL OR content_hash IN (
            SELECT content_hash FROM memory WHERE namespace = $1 GROUP BY content_hash HAVING count(*) > 1))
"""
_ITEMS = """
    SELECT i.kind, i.first, i.second, i.number, i.stamp FROM sync_item AS i
    JOIN unnest($2::text[], $3::text[], $4::text[], $5::bigint[]) AS w (kind, first, second, number)
        ON i.kind = w.kind AND i.first = w.first AND i.second = w.second AND i.number = w.number
    WHERE i.namespace = $1
"""
_SET_USAGE = """
    INSERT INTO usage (namespace, id, accessed_at, count) SELECT $1, * FROM unnest($2::text[], $3::bigint[], $4::bigint[])
    ON CONFLICT (namespace, id) DO UPDATE SET accessed_at = excluded.accessed_at, count = excluded.count
"""
_HEAR_USAGE = """
    INSERT INTO sync_usage (namespace, id, accessed_at, count) SELECT $1, * FROM unnest($2::text[], $3::bigint[], $4::bigint[])
    ON CONFLICT (namespace, id) DO UPDATE SET accessed_at = excluded.accessed_at, count = excluded.count
"""
_USED = """
    SELECT u.id FROM usage AS u LEFT JOIN sync_usage AS s USING (namespace, id)
    WHERE u.namespace = $1 AND (s.count IS DISTINCT FROM u.count OR s.accessed_at IS DISTINCT FROM u.accessed_at)
"""
_CHANGED_IDS = """
    SELECT DISTINCT id FROM log WHERE namespace = $1 AND position > $2 AND position <= $3 AND id <> '' AND (action <> $4 OR $5)
"""
_GONE = "SELECT id FROM sync_row WHERE namespace = $1 AND gone > born"
_SENT_ITEMS = """
    SELECT kind, first, second, number FROM sync_item WHERE namespace = $1 AND written > $2 AND (own OR $3)
    ORDER BY kind, first, second, number
"""
_CLEAN_FOLDERS = "UPDATE sync_folder SET cleaned = -1 WHERE namespace = $1"
_FOLDER = "SELECT sent, cleaned, written FROM sync_folder WHERE folder = $1 AND namespace = $2"
_SET_FOLDER = """
    INSERT INTO sync_folder (folder, namespace, sent, cleaned, written) VALUES ($1, $2, $3, $4, $5)
    ON CONFLICT (folder, namespace) DO UPDATE SET sent = excluded.sent, cleaned = excluded.cleaned, written = excluded.written
"""
_TO_CLEAN = """
    SELECT DISTINCT id FROM log
    WHERE namespace = $1 AND position > $2 AND (change = 'purge' OR action = 'redact' OR note = $3)
"""
_SEGMENTS = "SELECT name FROM sync_segment WHERE folder = $1"
_KNOW = "INSERT INTO sync_segment (folder, name) SELECT $1, unnest($2::text[]) ON CONFLICT DO NOTHING"
_UNKNOW = "DELETE FROM sync_segment WHERE folder = $1 AND name = ANY ($2::text[])"
_FORGET_FOLDER = ("DELETE FROM sync_folder WHERE folder = $1", "DELETE FROM sync_segment WHERE folder = $1")
_HEAD = "SELECT coalesce(max(position), 0) FROM log WHERE namespace = $1 AND position < 4611686018427387904"
# Terms and the like are made anew at the next idle time: encoding 0 asks for it.
_SET_FIXED = Template("""
    UPDATE memory SET $assignments, terms = '', names = NULL, days = NULL, aspects = 0, encoding = 0 WHERE namespace = $$1 AND id = $$2
""").substitute(assignments=", ".join(f"{one.name} = ${at}" for at, one in enumerate(FIXED_FIELDS, 3)))


class PostgresSyncView:
    """One moment of one namespace; see `hybrid_memory.store.syncing.SyncView`."""

    def __init__(self, session: PgSession, namespace: str, now: datetime) -> None:
        self._session = session
        self._namespace = namespace
        self.now = now
        row = session.row(_MARK, namespace)
        self.mark = LogMark(*row) if row else LogMark()

    def is_same_log(self) -> bool:
        """Return False if the log behind the mark is another one than it was."""
        if not self.mark.position:
            return True
        row = self._session.row(_LINK, self._namespace, self.mark.position)
        return row is not None and row[0] == self.mark.link

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
        return read_usage(self._session, self._namespace, ids)

    def rows(self, ids: Iterable[MemoryId]) -> dict[MemoryId, RowStamps]:
        """Return what is known of the changes of memories."""
        found = self._session.rows(_ROWS, self._namespace, list(ids))
        return {MemoryId(id_): stamps_of_row(born, gone, fields) for id_, born, gone, fields in found}

    def linked(self, ids: Collection[MemoryId]) -> set[MemoryId]:
        """Return memories that one of some supersedes, or that supersede one of them."""
        return self._ids(_LINKED, ids)

    def referring(self, ids: Collection[MemoryId]) -> set[MemoryId]:
        """Return memories with a link to one of some."""
        if not ids:
            return set()
        found = self._session.rows(_REFERRING, self._namespace, list(ids))
        wanted = frozenset(ids)
        return {MemoryId(id_) for id_, parents, linked in found if linked or _has_parent(parents, wanted)}

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
        if not keys:
            return {}
        columns = map(list, zip(*keys, strict=True))
        stamps = {
            (kind, first, second, number): stamp
            for kind, first, second, number, stamp in self._session.rows(_ITEMS, self._namespace, *columns)
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
        return {MemoryId(id_) for (id_,) in self._session.rows(statement, self._namespace, list(wanted)) if id_}


class PostgresSync:
    """The part of `PostgresStore` that is synchronised; see `hybrid_memory.store.syncing.SyncStore`.

    ``told`` is called with a namespace and the position of its last change when that is committed.
    """

    def __init__(self, connections: Connections, clock: Clock, told: Callable[[str, int], None]) -> None:
        self._connections = connections
        self._clock = clock
        self._told = told

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

    def notes(self) -> dict[str, str]:
        """Return what was noted, by name."""
        with self._connections.reading(EVERYTHING) as session:
            return dict(session.rows(_NOTES))

    def note(self, name: str, value: str) -> None:
        """Note something by name."""
        check_text(name, value)
        with self._connections.transaction(EVERYTHING) as session:
            session.send(_NOTE, name, value)
            session.rows(_STEP)

    def writes(self) -> tuple[int, str]:
        """Return how many steps of synchronisation and notes the store has had, and what clients change beside them."""
        with self._connections.snapshot(EVERYTHING) as session:
            return int(session.rows(_NUMBER)[0][0]), str(session.rows(_STATE)[0][0])

    def namespaces(self) -> Sequence[str]:
        """Return all namespaces that there is or was anything in."""
        with self._connections.reading(EVERYTHING) as session:
            return [name for (name,) in session.rows(_NAMESPACES)]

    def read(self, namespace: str, look: Callable[[PostgresSyncView], _T]) -> _T:
        """Let somebody look at one moment of a namespace."""
        with self._connections.snapshot(EVERYTHING) as session:
            return look(PostgresSyncView(session, namespace, self._clock.now()))

    def write(self, namespace: str, decide: SyncDecision, *, actor: str) -> SyncBatch:
        """Let a decision look, then do what it says, in one transaction."""
        check_text(namespace, actor)
        with self._connections.transaction(EVERYTHING) as session:
            before = lock_head(session, namespace)
            view = PostgresSyncView(session, namespace, before.time_of_write(self._clock.now()))
            batch = decide(view)
            head = _apply(session, before, view, batch, actor)
        if head.position != before.position:
            self._told(namespace, head.position)
        return batch

    def outgoing(self, folder: str, namespace: str, *, relay: bool) -> Outgoing:
        """Return what a folder does not have yet; what was never sent there is sent whole."""
        with self._connections.snapshot(EVERYTHING) as session:
            mark, first = _folder_mark(session, folder, namespace), _is_first(session, folder, namespace)
            view = PostgresSyncView(session, namespace, self._clock.now())
            changed = session.rows(_CHANGED_IDS, namespace, mark.sent, view.mark.position, SYNC, relay or first)
            ids = {MemoryId(id_) for (id_,) in changed}
            ids |= {MemoryId(id_) for (id_,) in session.rows(_USED, namespace)}
            if first:
                ids |= {MemoryId(id_) for (id_,) in session.rows(_GONE, namespace)}
            items = session.rows(_SENT_ITEMS, namespace, mark.written, relay or first)
            sent = FolderMark(view.mark.position, mark.cleaned, session.rows(_NUMBER)[0][0])
            return Outgoing(tuple(sorted(ids)), tuple((a, b, c, d) for a, b, c, d in items), sent)

    def sent(
        self, folder: str, namespace: str, mark: FolderMark, segments: Collection[str], usage: Mapping[MemoryId, Usage]
    ) -> None:
        """Note that something was sent, in some segments, and the use of memories that was told."""
        with self._connections.transaction(EVERYTHING) as session:
            _know(session, folder, segments)
            _set_folder_mark(session, folder, namespace, mark)
            _put_usage(session, _HEAR_USAGE, namespace, usage)

    def to_clean(self, folder: str, namespace: str) -> tuple[Erasure, FolderMark]:
        """Return what lost words since a folder was cleaned, and the mark after it."""
        with self._connections.snapshot(EVERYTHING) as session:
            mark = _folder_mark(session, folder, namespace)
            head = session.rows(_HEAD, namespace)[0][0]
            found = {MemoryId(id_) for (id_,) in session.rows(_TO_CLEAN, namespace, mark.cleaned, OTHER_WORDS)}
            return Erasure(frozenset(found), mark.cleaned < 0), FolderMark(mark.sent, head, mark.written)

    def cleaned(self, folder: str, namespace: str, mark: FolderMark) -> None:
        """Note that a folder was cleaned."""
        with self._connections.transaction(EVERYTHING) as session:
            _set_folder_mark(session, folder, namespace, mark)

    def segments(self, folder: str) -> set[str]:
        """Return the names of the segments of a folder that are known here."""
        with self._connections.reading(EVERYTHING) as session:
            return {name for (name,) in session.rows(_SEGMENTS, folder)}

    def know(self, folder: str, segments: Collection[str]) -> None:
        """Note that segments are known here."""
        with self._connections.transaction(EVERYTHING) as session:
            _know(session, folder, segments)

    def unknow(self, folder: str, segments: Collection[str]) -> None:
        """Note that segments are no longer there."""
        with self._connections.transaction(EVERYTHING) as session:
            session.send(_UNKNOW, folder, sorted(segments))

    def unsent(self, folder: str, namespace: str) -> int:
        """Return about how many memories a folder does not have as they are."""
        with self._connections.snapshot(EVERYTHING) as session:
            first = _is_first(session, folder, namespace)
            sent = _folder_mark(session, folder, namespace).sent
            changed = {id_ for (id_,) in session.rows(_CHANGED_IDS, namespace, sent, NO_LIMIT, SYNC, first)}
            return len(changed | {id_ for (id_,) in session.rows(_USED, namespace)})

    def forget_folder(self, folder: str) -> None:
        """Forget what a folder has."""
        with self._connections.transaction(EVERYTHING) as session:
            for statement in _FORGET_FOLDER:
                session.send(statement, folder)


def _apply(session: PgSession, head: LockedHead, view: PostgresSyncView, batch: SyncBatch, actor: str) -> LockedHead:
    """Do what a step says; returns the new head."""
    namespace, now = head.namespace, view.now
    step = int(session.rows(_STEP)[0][0])
    head = store_memories(session, head, batch.inserts, now, action=SYNC, actor=actor)
    head = _remove(session, head, batch.removed, now, actor)
    for before, after in batch.updates:
        _update(session, before, after)
    head = append_entries(session, head, update_entries(batch.updates, head.position, now, actor))
    _set_rows(session, namespace, batch.rows)
    _put_usage(session, _SET_USAGE, namespace, batch.usage)
    _put_usage(session, _HEAR_USAGE, namespace, batch.heard)
    put_items(session, namespace, batch.items, batch.own, step)
    # A buffer that is empty because its session ended is no erasing.
    if any(one.value is None and key[0] != BUFFER for key, one in batch.items.items()):
        session.send(_CLEAN_FOLDERS, namespace)
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


def _set_rows(session: PgSession, namespace: str, rows: Mapping[MemoryId, RowStamps]) -> None:
    if not rows:
        return
    session.send(_FORGET_ROWS, namespace, list(rows))
    kept = {id_: row for id_, row in rows.items() if row != RowStamps()}
    if kept:
        session.send(
            _SET_ROWS,
            namespace,
            list(kept),
            [row.born for row in kept.values()],
            [row.gone for row in kept.values()],
            [stamps_to_text(row) for row in kept.values()],
        )


def _put_usage(session: PgSession, statement: str, namespace: str, usage: Mapping[MemoryId, Usage]) -> None:
    if usage:
        seen = [to_micros(one.accessed_at) for one in usage.values()]
        session.send(statement, namespace, list(usage), seen, [one.count for one in usage.values()])


def _has_parent(parents: str | None, wanted: frozenset[MemoryId]) -> bool:
    # A list that nobody can read names nobody here: the row itself is left out by every reader.
    return parents is not None and list_names(parents, wanted)


def _folder_mark(session: PgSession, folder: str, namespace: str) -> FolderMark:
    row = session.row(_FOLDER, folder, namespace)
    return FolderMark(*row) if row else FolderMark()


def _is_first(session: PgSession, folder: str, namespace: str) -> bool:
    """Return True if a folder has nothing of a namespace, or nothing since it was purged as a whole."""
    row = session.row(_FOLDER, folder, namespace)
    return row is None or row[0] < 0


def _set_folder_mark(session: PgSession, folder: str, namespace: str, mark: FolderMark) -> None:
    session.send(_SET_FOLDER, folder, namespace, mark.sent, mark.cleaned, mark.written)


def _know(session: PgSession, folder: str, segments: Collection[str]) -> None:
    if segments:
        session.send(_KNOW, folder, sorted(segments))
