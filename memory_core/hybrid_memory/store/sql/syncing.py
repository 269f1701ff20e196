"""What a SQL store keeps of its synchronisation: one moment of it (`SqlSyncView`), and what is asked and noted (`SqlSync`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from hybrid_memory.clock import to_micros
from hybrid_memory.model import MemoryId
from hybrid_memory.store.snapshots import NO_LIMIT
from hybrid_memory.store.sql.rows import list_names, readable_object
from hybrid_memory.store.sync_rules import BUFFER, CONVERSATION, OTHER_WORDS, stamps_of_row, stamps_to_text
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
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager
    from datetime import datetime

    from hybrid_memory.clock import Clock
    from hybrid_memory.model import Json, Memory, Usage
    from hybrid_memory.store.sql.own import Own
    from hybrid_memory.store.sql.session import Session

_T = TypeVar("_T")

_NOTES = "SELECT name, value FROM sync_note"
_NAMESPACES = """
    SELECT namespace FROM log UNION SELECT namespace FROM buffer UNION SELECT namespace FROM conversation
    UNION SELECT namespace FROM sync_log ORDER BY namespace
"""
_MARK = "SELECT position, link, clock FROM sync_log WHERE namespace = $1"
_LINK = "SELECT link FROM log WHERE namespace = $1 AND position = $2"
_LOG = """
    SELECT position, change, id, made_at, action, coalesce(note, '') FROM log
    WHERE namespace = $1 AND position > $2 AND position < 4611686018427387904 ORDER BY position LIMIT $3
"""
_ROWS = "SELECT id, born, gone, fields FROM sync_row WHERE namespace = $1 AND id = ANY ($2::text[])"
_FORGET_ROWS = "DELETE FROM sync_row WHERE namespace = $1 AND id = ANY ($2::text[])"
_SET_ROWS = """
    INSERT INTO sync_row (namespace, id, born, gone, fields)
    SELECT $1, unnest($2::text[]), unnest($3::bigint[]), unnest($4::bigint[]), unnest($5::text[])
"""
_LINKED = """
    SELECT id FROM memory WHERE namespace = $1 AND (supersedes = ANY ($2::text[]) OR superseded_by = ANY ($2::text[]))
    UNION SELECT unnest(ARRAY[supersedes, superseded_by]) FROM memory WHERE namespace = $1 AND id = ANY ($2::text[])
"""
_REFERRING = """
    SELECT id, supersedes, superseded_by, duplicate_of, disputes, parents FROM memory WHERE namespace = $1 AND (
        superseded_by = ANY ($2::text[]) OR supersedes = ANY ($2::text[]) OR duplicate_of = ANY ($2::text[])
        OR disputes = ANY ($2::text[]) OR parents IS NOT NULL)
"""
_SAME_WORDS = "SELECT id FROM memory WHERE namespace = $1 AND content_hash = ANY ($2::text[])"
_ENTANGLED = """
    SELECT id FROM memory AS m WHERE namespace = $1 AND id = ANY ($2::text[])
        AND (supersedes IS NOT NULL OR superseded_by IS NOT NULL OR content_hash IN (
            SELECT content_hash FROM memory WHERE namespace = $1 GROUP BY content_hash HAVING count(*) > 1))
"""
_ITEMS = """
    SELECT i.kind, i.first, i.second, i.number, i.stamp FROM sync_item AS i JOIN (
        SELECT unnest($2::text[]) AS kind, unnest($3::text[]) AS first, unnest($4::text[]) AS second, unnest($5::bigint[]) AS number
    ) AS w ON i.kind = w.kind AND i.first = w.first AND i.second = w.second AND i.number = w.number WHERE i.namespace = $1
"""
_CHANGED_ITEMS = """
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
_CONVERSATION = "SELECT last FROM conversation WHERE namespace = $1 AND name = $2 AND kind = $3"
_BODY = "SELECT body FROM entry WHERE namespace = $1 AND conversation = $2 AND kind = $3 AND number = $4"
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
_TO_CLEAN = """
    SELECT DISTINCT id FROM log
    WHERE namespace = $1 AND position > $2 AND (change = 'purge' OR action = 'redact' OR note = $3)
"""
_SEGMENTS = "SELECT name FROM sync_segment WHERE folder = $1"
_UNKNOW = "DELETE FROM sync_segment WHERE folder = $1 AND name = ANY ($2::text[])"
_FORGET_FOLDER = ("DELETE FROM sync_folder WHERE folder = $1", "DELETE FROM sync_segment WHERE folder = $1")
_HEAD = "SELECT coalesce(max(position), 0) FROM log WHERE namespace = $1 AND position < 4611686018427387904"


class SqlSyncView:
    """One moment of one namespace; see `hybrid_memory.store.syncing.SyncView`."""

    def __init__(self, session: Session, own: Own, namespace: str, now: datetime) -> None:
        self._session = session
        self._own = own
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
        return self._own.memories(self._session, self._namespace, ids)

    def usage(self, ids: Iterable[MemoryId]) -> dict[MemoryId, Usage]:
        """Return how memories were used."""
        return self._own.usage(self._session, self._namespace, ids)

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
        wanted = frozenset(ids)
        return {
            MemoryId(id_)
            for id_, *links, parents in self._session.rows(_REFERRING, self._namespace, list(ids))
            # A list that nobody can read names nobody here: the row itself is left out by every reader.
            if not wanted.isdisjoint(links) or (parents is not None and list_names(parents, wanted))
        }

    def same_words(self, digests: Collection[str]) -> set[MemoryId]:
        """Return the memories with some digests of words."""
        return self._ids(_SAME_WORDS, digests)

    def entangled(self, ids: Collection[MemoryId]) -> set[MemoryId]:
        """Return which of some memories have versions, or the words of another."""
        return self._ids(_ENTANGLED, ids)

    def changed_items(self) -> Sequence[ChangedItem]:
        """Return what next to memories is not as the last synchronisation left it.

        Nothing of it is in the log. So a digest of each is kept as the last synchronisation left it, and what has another one was changed.
        """
        return [
            ChangedItem((kind, first, second, number), at, known)
            for kind, first, second, number, at, known in self._session.rows(_CHANGED_ITEMS, self._namespace)
        ]

    def items(self, keys: Collection[ItemKey]) -> dict[ItemKey, ItemState]:
        """Return what is known of items, with the values that they have now."""
        if not keys:
            return {}
        columns = map(list, zip(*keys, strict=True))
        stamps = {
            (kind, first, second, number): stamp
            for kind, first, second, number, stamp in self._session.rows(_ITEMS, self._namespace, *columns)
        }
        values = item_values(self._session, self._own, self._namespace, keys)
        return {
            key: ItemState(values.get(key), stamps.get(key, 0))
            for key in keys
            if key in stamps or values.get(key) is not None
        }

    def _ids(self, statement: str, wanted: Collection[str]) -> set[MemoryId]:
        if not wanted:
            return set()
        return {MemoryId(id_) for (id_,) in self._session.rows(statement, self._namespace, sorted(wanted)) if id_}


class SqlSync:
    """What is the same for all engines of a `hybrid_memory.store.syncing.SyncStore`; the methods with ``_`` are each engine's own."""

    def __init__(self, own: Own, clock: Clock) -> None:
        self._own = own
        self._clock = clock

    def _reading(self) -> AbstractContextManager[Session]:
        """Give a session in which each statement sees the newest committed state."""
        raise NotImplementedError  # each engine has its own

    def _snapshot(self) -> AbstractContextManager[Session]:
        """Give a session of one moment."""
        raise NotImplementedError  # each engine has its own

    def _changing(self) -> AbstractContextManager[Session]:
        """Give a session in a transaction, which is committed when the block ends."""
        raise NotImplementedError  # each engine has its own

    def _number(self, session: Session) -> int:
        """Return the number of the last step that may have changed items."""
        raise NotImplementedError  # each engine has its own

    def _set_folder(self, session: Session, folder: str, namespace: str, mark: FolderMark) -> None:
        raise NotImplementedError  # each engine has its own

    def _know(self, session: Session, folder: str, segments: Sequence[str]) -> None:
        raise NotImplementedError  # each engine has its own

    def _hear_usage(self, session: Session, namespace: str, usage: Mapping[MemoryId, Usage]) -> None:
        raise NotImplementedError  # each engine has its own

    def notes(self) -> dict[str, str]:
        """Return what was noted, by name."""
        with self._reading() as session:
            return dict(session.rows(_NOTES))

    def namespaces(self) -> Sequence[str]:
        """Return all namespaces that there is or was anything in."""
        with self._reading() as session:
            return [name for (name,) in session.rows(_NAMESPACES)]

    def read(self, namespace: str, look: Callable[[SqlSyncView], _T]) -> _T:
        """Let somebody look at one moment of a namespace."""
        with self._snapshot() as session:
            return look(SqlSyncView(session, self._own, namespace, self._clock.now()))

    def outgoing(self, folder: str, namespace: str, *, relay: bool) -> Outgoing:
        """Return what a folder does not have yet; what was never sent there is sent whole."""
        with self._snapshot() as session:
            mark, first = _folder_mark(session, folder, namespace)
            view = SqlSyncView(session, self._own, namespace, self._clock.now())
            changed = session.rows(_CHANGED_IDS, namespace, mark.sent, view.mark.position, SYNC, relay or first)
            ids = {MemoryId(id_) for (id_,) in changed}
            ids |= {MemoryId(id_) for (id_,) in session.rows(_USED, namespace)}
            if first:
                ids |= {MemoryId(id_) for (id_,) in session.rows(_GONE, namespace)}
            items = session.rows(_SENT_ITEMS, namespace, mark.written, relay or first)
            sent = FolderMark(view.mark.position, mark.cleaned, self._number(session))
            return Outgoing(tuple(sorted(ids)), tuple((a, b, c, d) for a, b, c, d in items), sent)

    def sent(
        self, folder: str, namespace: str, mark: FolderMark, segments: Collection[str], usage: Mapping[MemoryId, Usage]
    ) -> None:
        """Note that something was sent, in some segments, and the use of memories that was told."""
        with self._changing() as session:
            if segments:
                self._know(session, folder, sorted(segments))
            self._set_folder(session, folder, namespace, mark)
            if usage:
                self._hear_usage(session, namespace, usage)

    def to_clean(self, folder: str, namespace: str) -> tuple[Erasure, FolderMark]:
        """Return what lost words since a folder was cleaned, and the mark after it."""
        with self._snapshot() as session:
            mark, _ = _folder_mark(session, folder, namespace)
            head = session.rows(_HEAD, namespace)[0][0]
            found = {MemoryId(id_) for (id_,) in session.rows(_TO_CLEAN, namespace, mark.cleaned, OTHER_WORDS)}
            return Erasure(frozenset(found), mark.cleaned < 0), FolderMark(mark.sent, head, mark.written)

    def cleaned(self, folder: str, namespace: str, mark: FolderMark) -> None:
        """Note that a folder was cleaned."""
        with self._changing() as session:
            self._set_folder(session, folder, namespace, mark)

    def segments(self, folder: str) -> set[str]:
        """Return the names of the segments of a folder that are known here."""
        with self._reading() as session:
            return {name for (name,) in session.rows(_SEGMENTS, folder)}

    def know(self, folder: str, segments: Collection[str]) -> None:
        """Note that segments are known here."""
        with self._changing() as session:
            if segments:
                self._know(session, folder, sorted(segments))

    def unknow(self, folder: str, segments: Collection[str]) -> None:
        """Note that segments are no longer there."""
        with self._changing() as session:
            session.send(_UNKNOW, folder, sorted(segments))

    def unsent(self, folder: str, namespace: str) -> int:
        """Return about how many memories a folder does not have as they are."""
        with self._snapshot() as session:
            mark, first = _folder_mark(session, folder, namespace)
            changed = {id_ for (id_,) in session.rows(_CHANGED_IDS, namespace, mark.sent, NO_LIMIT, SYNC, first)}
            return len(changed | {id_ for (id_,) in session.rows(_USED, namespace)})

    def forget_folder(self, folder: str) -> None:
        """Forget what a folder has."""
        with self._changing() as session:
            for statement in _FORGET_FOLDER:
                session.send(statement, folder)


def set_rows(session: Session, namespace: str, rows: Mapping[MemoryId, RowStamps]) -> None:
    """Note what is known of the changes of memories."""
    if not rows:
        return
    session.send(_FORGET_ROWS, namespace, list(rows))
    kept = {id_: row for id_, row in rows.items() if row != RowStamps()}
    if kept:
        born, gone = [row.born for row in kept.values()], [row.gone for row in kept.values()]
        session.send(_SET_ROWS, namespace, list(kept), born, gone, [stamps_to_text(row) for row in kept.values()])


def clean_folders_after(session: Session, namespace: str, items: Mapping[ItemKey, ItemState]) -> None:
    """Have all folders cleaned where items were erased; a buffer that is empty because its session ended is no erasing."""
    if any(one.value is None and key[0] != BUFFER for key, one in items.items()):
        session.send(_CLEAN_FOLDERS, namespace)


def usage_columns(usage: Mapping[MemoryId, Usage]) -> tuple[list[Any], list[Any], list[Any]]:
    """Return ids, times and counts, as columns."""
    return list(usage), [to_micros(one.accessed_at) for one in usage.values()], [one.count for one in usage.values()]


def item_values(
    session: Session, own: Own, namespace: str, keys: Collection[ItemKey]
) -> dict[ItemKey, Mapping[str, Json]]:
    """Return the values of those items that are there: buffers, conversations and their entries."""
    return dict(_values(session, own, namespace, keys))


def _values(
    session: Session, own: Own, namespace: str, keys: Collection[ItemKey]
) -> Iterator[tuple[ItemKey, Mapping[str, Json]]]:
    for key in keys:
        kind, first, second, number = key
        if kind == BUFFER:
            buffer = own.buffer(session, namespace, first, second)
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


def _folder_mark(session: Session, folder: str, namespace: str) -> tuple[FolderMark, bool]:
    """Return what a folder has of a namespace, and whether that is nothing, or nothing since it was purged as a whole."""
    row = session.row(_FOLDER, folder, namespace)
    return (FolderMark(*row), row[0] < 0) if row else (FolderMark(), True)
