"""Whether a file that somebody gives us as a store is one: looked at from another database, where nothing in it is run.

`restore` asks before anything is changed. The file is attached alongside an empty database: its macros and views are in no search path.
"""

from __future__ import annotations

from string import Template
from typing import TYPE_CHECKING

import duckdb

from hybrid_memory.errors import ConstraintViolation, SchemaTooNew, StoreDamaged, StoreError
from hybrid_memory.store.duck.catalogue import foreign_tables, foreign_things
from hybrid_memory.store.duck.duckdb_errors import translated, translated_opening
from hybrid_memory.store.duck.files.database_file import FORMAT
from hybrid_memory.store.duck.recovery.bad_rows import find_bad_rows, odd_rows
from hybrid_memory.store.duck.schema import MIGRATIONS
from hybrid_memory.store.duck.sql_session import SqlSession
from hybrid_memory.store.memory_fields import MOST
from hybrid_memory.store.odd_rows import takes_all

if TYPE_CHECKING:
    from pathlib import Path

    from hybrid_memory.store.transfer import Refusal

# The statement takes no parameter for a file.
_ATTACH = Template("ATTACH '$file' AS given (READ_ONLY)")
_NO_FILES = "SET enable_external_access=false"
_NO_SETTINGS = "SET lock_configuration=true"
_DONE = "SELECT number FROM given.migration ORDER BY number"
_MARK = "SELECT number FROM given.mark"
_MARK_MIGRATION = 3  # the number of the migration that made the table "mark"
_EMBEDDER = "SELECT identity FROM given.embedder ORDER BY number DESC LIMIT 1"
_REMEDY = (
    "To use what is sound of it, put the file into an empty folder as memory.duckdb and run "
    "`hybrid-memory-mcp doctor --repair --home FOLDER`"
)
_MEMORY_LIMIT = "512MiB"


def inspect(file: Path, refusal: Refusal = takes_all) -> str | None:
    """Check that a database file that nobody has open is one that this program wrote, as a reader will read it; returns its embedder.

    ``refusal`` says what an import would not take.

    Raises:
        StoreDamaged: it declares what this program does not make, or holds rows that it does not write: what `doctor` calls an error.
        SchemaTooNew: a later version of this program wrote it.
    """
    with translated_opening():
        connection = duckdb.connect(":memory:", config={**FORMAT, "memory_limit": _MEMORY_LIMIT, "threads": 1})
    session = SqlSession(connection)
    try:
        session.rows(_ATTACH.substitute(file=str(file.absolute()).replace("'", "''")))
        session.rows(_NO_FILES)
        session.rows(_NO_SETTINGS)
        _inspect(session, refusal)
        found = session.rows(_EMBEDDER)
        return found[0][0] if found else None
    except ConstraintViolation:
        # A statement that fits our tables does not fit these.
        raise StoreDamaged("the file holds other tables than this program's; nothing was changed") from None
    finally:
        session.close()
        with translated():
            connection.close()


def _inspect(session: SqlSession, refusal: Refusal) -> None:
    things = foreign_things(session, "given")
    if things:
        sorts = " and ".join(sorted({f"a {one.split()[0]}" for one in things}))
        raise StoreDamaged(f"the file declares {sorts}, which this program never makes; nothing was changed")
    try:
        done = [number for (number,) in session.rows(_DONE)]
    except StoreError:
        raise StoreDamaged("the file holds no memories of this program; nothing was changed") from None
    known = [migration.number for migration in MIGRATIONS]
    if done and done[-1] > known[-1]:
        raise SchemaTooNew("the file was written by a later version of this program; upgrade to use it")
    if (
        not done
        or done != known[: len(done)]
        or foreign_tables(session, "given", migrations=len(done), prefix="given.")
    ):
        raise StoreDamaged("the file declares other tables than this program makes; nothing was changed")
    if done[-1] >= _MARK_MIGRATION:
        marks = session.rows(_MARK)
        if len(marks) != 1 or not 0 <= marks[0][0] < MOST:
            raise StoreDamaged("the file does not count its writes as this program does; nothing was changed")
    bad = find_bad_rows(session, prefix="given.")
    odd = odd_rows(session, refusal, prefix="given.")
    if not bad and (odd.changed or odd.refused):
        raise StoreDamaged(
            f"the file holds {len({*odd.changed.values(), *odd.refused})} memories whose words do not fit their digest, or that no import "
            f"would take; nothing was changed. {_REMEDY}"
        )
    if bad:
        told = ", ".join(f"{len(rowids)} of the table {table}" for table, rowids in bad.items())
        raise StoreDamaged(
            f"the file holds rows that this program never writes ({told}); nothing was changed. {_REMEDY}"
        )
