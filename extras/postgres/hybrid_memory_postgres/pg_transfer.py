"""Copies, exports and fills a PostgreSQL store as a whole: `PostgresStore.transfer`, called by `hybrid_memory.admin`.

A copy is a DuckDB file, as of every store: it can be restored into a folder or a database, on a machine that has no server.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from hybrid_memory.errors import ConstraintViolation
from hybrid_memory.store.encoding import check_number, check_text, object_to_json
from hybrid_memory.store.sql.purging import plan_purge
from hybrid_memory.store.sql.rows import readable_object
from hybrid_memory.store.transfer import (
    BufferItem,
    ConversationItem,
    EntryItem,
    ExistingMemory,
    ImportCounts,
    ImportRows,
    MemoryItem,
    PurgePlan,
    PurgeSelection,
    StoreContents,
    TransferItem,
    UndoneImport,
)
from hybrid_memory_postgres import import_rows, tables
from hybrid_memory_postgres.appending import LockedHead, lock_head
from hybrid_memory_postgres.connections import EVERYTHING
from hybrid_memory_postgres.export_rows import contents_of
from hybrid_memory_postgres.migrating import refuse_later
from hybrid_memory_postgres.own import POSTGRES
from hybrid_memory_postgres.row_tables import PgRows
from hybrid_memory_postgres.storing import store_memories

if TYPE_CHECKING:
    from pathlib import Path

    from hybrid_memory.clock import Clock
    from hybrid_memory.model import MemoryId
    from hybrid_memory.store.erasing import RemainingState
    from hybrid_memory.store.transfer import RedactionPlan, TableSums
    from hybrid_memory_postgres.connections import Connections
    from hybrid_memory_postgres.sql_session import PgSession

Told: TypeAlias = Callable[[str, int], None]
"""Told the namespace and its new head after a commit."""

_LAST = "SELECT last FROM conversation WHERE namespace = $1 AND name = $2 AND kind = $3"
_PUT_CONVERSATION = """
    INSERT INTO conversation AS known (namespace, name, kind, last) VALUES ($1, $2, $3, $4)
    ON CONFLICT (namespace, name, kind) DO UPDATE SET last = greatest(known.last, excluded.last)
"""
_ONE_ENTRY = "SELECT body FROM entry WHERE namespace = $1 AND conversation = $2 AND kind = $3 AND number = $4"


class PostgresTransfer:
    """The part of `PostgresStore` that is copied, exported and filled as a whole."""

    def __init__(self, connections: Connections, clock: Clock, told: Told) -> None:
        self._connections = connections
        self._clock = clock
        self._told = told

    def copy_to(self, file: Path) -> TableSums:
        """Write a copy of this moment to a new database file, alongside reads and writes."""
        from hybrid_memory.store.duck.moving_files import write_file

        with self._connections.copying(EVERYTHING) as session:
            refuse_later(session)
            return write_file(file, PgRows(session), self._clock.now())

    def export_items(self, namespaces: Sequence[str] | None, *, vectors: bool) -> StoreContents:
        """Return what some namespaces hold at this moment; items are read from the server as they are asked for."""
        stack = ExitStack()
        try:
            session = stack.enter_context(self._connections.copying(namespaces or EVERYTHING))
            refuse_later(session)
            contents = contents_of(session, namespaces, vectors=vectors)
        except BaseException:
            stack.close()
            raise
        return replace(contents, items=_ItemsOfMoment(stack, contents.items))

    def plan_purge(self, selection: PurgeSelection) -> PurgePlan:
        """Return what a purge of a selection would erase."""
        # In another namespace there can be what rests on it, so all are looked at.
        with self._connections.snapshot(EVERYTHING) as session:
            return plan_purge(session, selection)

    def plan_redaction(self, namespace: str, ids: Sequence[MemoryId], words: str | None) -> RedactionPlan:
        """Return what taking the secrets out of some memories would come to."""
        from hybrid_memory.store.sql.redacting import plan_redaction

        with self._connections.snapshot(EVERYTHING) as session:
            return plan_redaction(session, POSTGRES, namespace, ids, words)

    def existing(self, keys: Sequence[tuple[str, MemoryId]]) -> dict[tuple[str, MemoryId], ExistingMemory]:
        """Return those memories that exist, by namespace and id."""
        with self._connections.reading(_names(keys)) as session:
            return import_rows.existing(session, keys)

    def same_words(self, namespace: str, digests: Sequence[str]) -> list[ExistingMemory]:
        """Return the memories of a namespace whose words have one of some digests."""
        with self._connections.reading([namespace]) as session:
            return import_rows.same_words(session, namespace, digests)

    def imports(self) -> list[ImportRows]:
        """Return the imports of which memories are in the store."""
        with self._connections.reading(EVERYTHING) as session:
            return import_rows.imports_in(session)

    def known_imports(self) -> list[str]:
        """Return the actions of all imports that there ever were."""
        with self._connections.reading(EVERYTHING) as session:
            return import_rows.known_imports(session)

    def undo_import(self, action: str, *, actor: str, remaining_state: RemainingState) -> UndoneImport:
        """Delete what came in with an import, in one transaction."""
        with self._connections.transaction(EVERYTHING) as session:
            refuse_later(session)
            undone, heads = import_rows.erase_import(
                session, action, self._clock.now(), actor=actor, remaining_state=remaining_state
            )
        self._tell(heads)
        return undone

    def import_items(self, items: Sequence[TransferItem], *, action: str, actor: str) -> ImportCounts:
        """Store items as they are, in one transaction: memories with usage, vectors and log, then buffers, then conversations."""
        names = sorted({_namespace_of(one) for one in items})
        if not names:
            return ImportCounts(0, 0)
        with self._connections.transaction(names) as session:
            heads = {
                name: lock_head(session, name) for name in names
            }  # in one order, so that no two wait for each other
            memories = _without_existing(session, [one for one in items if isinstance(one, MemoryItem)])
            new = len(memories)
            for name in names:
                ours = [one for one in memories if one.memory.namespace == name]
                at = heads[name].time_of_write(self._clock.now())
                heads[name] = store_memories(session, heads[name], ours, at, action=action, actor=actor)
            new += sum(_insert_buffer(session, one) for one in items if isinstance(one, BufferItem))
            new += sum(_insert_conversation(session, one) for one in items if isinstance(one, ConversationItem))
            new += sum(_insert_entry(session, one) for one in items if isinstance(one, EntryItem))
        self._tell(heads.values())
        return ImportCounts(new, len(items) - new)

    def _tell(self, heads: Iterable[LockedHead]) -> None:
        for one in heads:
            self._told(one.namespace, one.position)


class _ItemsOfMoment(Iterator[TransferItem]):
    """Items that are read in a session of their own, which is let go after the last one, or with anyone who holds them."""

    def __init__(self, session: ExitStack, items: Iterator[TransferItem]) -> None:
        self._session = session
        self._items = items

    def __next__(self) -> TransferItem:
        try:
            return next(self._items)
        except BaseException:
            self._session.close()
            raise

    def __del__(self) -> None:
        self._session.close()


def _names(keys: Sequence[tuple[str, MemoryId]]) -> list[str]:
    return sorted({name for name, _ in keys})


def _namespace_of(item: TransferItem) -> str:
    return item.memory.namespace if isinstance(item, MemoryItem) else item.namespace


def _without_existing(session: PgSession, memories: Sequence[MemoryItem]) -> list[MemoryItem]:
    """Return the memories that are not there yet, each once.

    Raises:
        ConstraintViolation: one is there that says something else.
    """
    given = {(one.memory.namespace, one.memory.id): one for one in memories}
    known = import_rows.existing(session, list(given)) if given else {}
    for key, existing in known.items():
        if given[key].memory.content_hash != existing.content_hash:
            raise ConstraintViolation(
                "a memory of that id is there already and says something else; nothing was changed"
            )
    return [one for key, one in given.items() if key not in known]


def _insert_buffer(session: PgSession, one: BufferItem) -> int:
    if tables.read_buffer(session, one.namespace, one.buffer.session, one.buffer.agent) is not None:
        return 0
    tables.write_buffer(session, one.namespace, one.buffer)
    return 1


def _insert_conversation(session: PgSession, one: ConversationItem) -> int:
    place = (one.namespace, one.name, one.kind)
    check_text(*place)
    check_number(one.last)
    known = session.row(_LAST, *place)
    session.send(_PUT_CONVERSATION, *place, one.last)
    return int(known is None)


def _insert_entry(session: PgSession, one: EntryItem) -> int:
    place = (one.namespace, one.conversation, one.kind)
    check_text(*place)
    check_number(one.number)
    known = session.row(_ONE_ENTRY, *place, one.number)
    if known is None:
        tables.put_entry(session, place, object_to_json(one.body), one.number)
        return 1
    if readable_object(known[0]) != dict(one.body):
        raise ConstraintViolation("an entry of that number is in that conversation already; nothing was changed")
    return 0
