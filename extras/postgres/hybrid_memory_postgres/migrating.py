"""Brings the tables to this version's schema, and says whether this version may use a store that a later one has changed.

The table ``migration`` has a row for each step that was taken: its number, and from which schema on programs may use the store
afterwards (`Migration.usable_from`). So machines are upgraded one after the other: where a later version has only added something, hubs of
this one read and write alongside it. What concerns the store as a whole (copies, exports, erasures, repairs) is refused to them then: they
would leave out what they do not know (`refuse_later`).

All steps that a store has not had run in one transaction, together with their records. A step that hubs of an earlier version would
not understand waits until none of them lives; one that comes back later finds out by itself (`follower`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from hybrid_memory.clock import to_micros
from hybrid_memory.errors import SchemaTooNew, StoreDamaged, StoreError
from hybrid_memory_postgres import hub_rows, schema
from hybrid_memory_postgres.connections import EVERYTHING, OUTDATED
from hybrid_memory_postgres.table_changes import changing_tables

if TYPE_CHECKING:
    from hybrid_memory_postgres.connections import Connections
    from hybrid_memory_postgres.schema import Migration
    from hybrid_memory_postgres.sql_session import PgSession

# Types too: each table has one of its name.
_HAS_RECORD = """
    WITH record AS (
        SELECT n.nspname = current_schema() AS is_here FROM pg_catalog.pg_class t JOIN pg_catalog.pg_namespace n ON n.oid = t.relnamespace
        WHERE t.oid = to_regclass('migration') AND 2 = (
            SELECT count(*) FROM pg_catalog.pg_attribute c WHERE c.attrelid = t.oid AND c.attname IN ('number', 'applied_at')
        )
    )
    SELECT EXISTS (SELECT 1 FROM record), EXISTS (SELECT 1 FROM record WHERE NOT is_here),
        EXISTS (
            SELECT 1 FROM pg_catalog.pg_type t JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace
            WHERE n.nspname = current_schema() AND t.typname IN (
                'memory', 'vector', 'usage', 'namespace', 'log', 'buffer', 'request', 'undo', 'conversation', 'entry', 'reading',
                'sync_log', 'sync_row', 'sync_usage', 'sync_item', 'sync_folder', 'sync_note', 'sync_segment',
                'embedder', 'store', 'hub', 'lease', 'moving', 'migration', 'role_namespace')
        )
"""
_MAKE_RECORD = """
    CREATE TABLE migration (
        number BIGINT NOT NULL PRIMARY KEY, name TEXT NOT NULL, usable_from BIGINT NOT NULL, applied_at BIGINT NOT NULL
    )
"""
_DONE = "SELECT number, usable_from FROM migration ORDER BY number"
_RECORD = "INSERT INTO migration (number, name, usable_from, applied_at) VALUES ($1, $2, $3, $4)"

_OTHERS = (
    "the database holds tables or types of another program (as those of an extension) with names of this store; nothing was changed. "
    "Name another database, or a schema of its own (?options=-csearch_path%3DNAME behind the address)"
)
_ELSEWHERE = (
    "the store's tables are not in the first schema of this login's search path; name theirs alone in the address "
    "(?options=-csearch_path%3DNAME)"
)
_LEFT_OUT = (
    "a later version of this program has added to the store what this version does not know, and would leave out here. Memories can be "
    "read and written; do this with the later version, or upgrade this one"
)
_NOTICE = (
    "a later version of this program has added to the store: backup, restore, export, migrate, purge and repair want that version. "
    "Upgrade this machine's"
)


@dataclass(frozen=True, slots=True)
class Standing:
    """How a store's schema stands to a program's: how many of its steps the store lacks, and whether the store has had later ones."""

    missing: int
    is_later: bool


def standing_of(done: Sequence[tuple[int, int]], known: Sequence[int]) -> Standing:
    """Return how a store stands to a program.

    ``done`` are the steps that the store has had, in their order, each as its number and from which schema on programs may use the store
    afterwards. ``known`` are the numbers of the program's own steps, in their order.

    Raises:
        SchemaTooNew: a later step says that this program may not use the store.
        StoreDamaged: a step is missing between others.
    """
    newest = known[-1]
    own = [number for number, _ in done if number <= newest]
    later = [usable_from for number, usable_from in done if number > newest]
    if later and max(later) > newest:
        raise SchemaTooNew(OUTDATED)
    if own != list(known[: len(own)]) or (later and len(own) < len(known)):
        raise StoreDamaged(
            "the database's record of its own versions has a hole; nothing was changed. Restore a backup"
        )
    return Standing(len(known) - len(own), bool(later))


def migrate(connections: Connections, now: datetime, migrations: Sequence[Migration] | None = None) -> int:
    """Bring a store to the newest schema that this program knows, and return the number of that one.

    It is done whole or not at all, by one hub if several come at once. A store of a later schema stays as it is.

    Raises:
        SchemaTooNew: a later version has changed the store in a way that this program does not understand.
        StoreError: hubs are at work that would not understand the store any more, or the tables were in use all the time.
        StoreDamaged: the record of migrations has a hole, or the database holds another program's tables of these names.
    """
    migrations = schema.MIGRATIONS if migrations is None else migrations
    known = [migration.number for migration in migrations]
    # Mostly there is nothing to do, which is known without the lock.
    with connections.reading(EVERYTHING) as session:
        if _standing(session, known).missing == 0:
            return known[-1]
    changing_tables(connections, lambda session: _take_steps(session, now, migrations))
    return known[-1]


def _take_steps(session: PgSession, now: datetime, migrations: Sequence[Migration]) -> None:
    missing = _standing(session, [migration.number for migration in migrations]).missing
    if missing == len(migrations):
        session.send(_MAKE_RECORD)
    elif missing:
        _refuse_beside_earlier(session, max(migration.usable_from for migration in migrations[-missing:]))
    for migration in migrations[len(migrations) - missing :]:
        for statement in migration.statements:
            session.send(statement)
        session.send(_RECORD, migration.number, migration.name, migration.usable_from, to_micros(now))


def refuse_later(session: PgSession) -> None:
    """Let nobody copy, erase or mend a store as a whole of which this program does not know all tables and columns.

    Raises:
        SchemaTooNew: a later version of this program has changed the store.
        StoreDamaged: the record of migrations has a hole, or the database holds another program's tables of these names.
    """
    if _standing(session, _known()).is_later:
        raise SchemaTooNew(_LEFT_OUT)


def later_notices(session: PgSession) -> tuple[str, ...]:
    """Return what is to be told where a later version has added to the store; nothing where it has not."""
    return (_NOTICE,) if _standing(session, _known()).is_later else ()


def _known() -> list[int]:
    return [migration.number for migration in schema.MIGRATIONS]


def _standing(session: PgSession, known: Sequence[int]) -> Standing:
    has_record, is_elsewhere, has_tables = session.rows(_HAS_RECORD)[0]
    if is_elsewhere:
        raise StoreDamaged(_ELSEWHERE)
    if not has_record:
        if has_tables:
            raise StoreDamaged(_OTHERS)
        return Standing(len(known), is_later=False)
    return standing_of([(number, usable_from) for number, usable_from in session.rows(_DONE)], known)


def _refuse_beside_earlier(session: PgSession, usable_from: int) -> None:
    earlier = hub_rows.living_below(session, usable_from)
    if earlier:
        raise StoreError(
            f"this version changes the store in a way that hubs of an earlier version do not understand, and such are at work: "
            f"{', '.join(earlier)}. Upgrade them, or end their clients, and try again"
        )
