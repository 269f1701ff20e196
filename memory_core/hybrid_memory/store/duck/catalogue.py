"""What a database file declares, and whether it is what this program makes: nothing else may stand there.

A macro or a view can take the place of what a statement means, a default or a generated column can put in what nobody wrote, and a
column of another type can fail a reader. So what is not ours is not used: opening refuses other tables and indexes (under a
millisecond), `doctor` and `restore` everything else too. Functions are named with their schema here, so that no macro answers for them.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from string import Template
from typing import TYPE_CHECKING

import duckdb

from hybrid_memory.errors import StoreDamaged
from hybrid_memory.store.duck.duckdb_errors import translated
from hybrid_memory.store.duck.files.database_file import FORMAT
from hybrid_memory.store.duck.schema import M009_PASSAGES, MAKE_RECORD, MIGRATIONS
from hybrid_memory.store.duck.sql_session import SqlSession

if TYPE_CHECKING:
    from collections.abc import Sequence

_TABLES = """
    SELECT table_name, sql, schema_name FROM system.main.duckdb_tables() WHERE database_name = ? AND NOT internal
"""
_INDEXES = "SELECT index_name, sql, schema_name FROM system.main.duckdb_indexes() WHERE database_name = ?"
_OTHERS = (
    ("view", "SELECT view_name FROM system.main.duckdb_views() WHERE database_name = ? AND NOT internal"),
    ("macro", "SELECT function_name FROM system.main.duckdb_functions() WHERE database_name = ? AND NOT internal"),
    ("sequence", "SELECT sequence_name FROM system.main.duckdb_sequences() WHERE database_name = ?"),
    ("type", "SELECT type_name FROM system.main.duckdb_types() WHERE database_name = ? AND NOT internal"),
    ("schema", "SELECT schema_name FROM system.main.duckdb_schemas() WHERE database_name = ? AND NOT internal"),
)
_NAME = "SELECT system.main.current_database()"
_EMBEDDERS = Template("SELECT number, dimensions FROM ${prefix}embedder")
_VECTORS = re.compile(
    r'CREATE TABLE vector_(\d+)\("?namespace"? VARCHAR NOT NULL, id VARCHAR NOT NULL, vec FLOAT\[(\d+)\] NOT NULL(, passages BLOB)?\);'
)
# The digest of what the newest schema declares, as DuckDB 1.5 writes it; another one is compared word by word, which takes 20 ms.
_NEWEST = "6c3f37ac18a758c2"


def check_tables(session: SqlSession) -> None:
    """Check the tables and indexes of an open database of the newest schema.

    Raises:
        StoreDamaged: they are not those that this program makes; nothing was changed.
    """
    if foreign_tables(session, session.rows(_NAME)[0][0]):
        raise StoreDamaged(
            "the file declares tables that this program does not make; nothing was changed. `hybrid-memory-mcp doctor --repair` "
            "takes over the rows that can be read"
        )


def foreign_tables(
    session: SqlSession, database: str, *, migrations: int = len(MIGRATIONS), prefix: str = ""
) -> list[str]:
    """Return in words what tables and indexes are not those of a schema, or are missing."""
    declared = _declared(session, database)
    vectors = {name: sql for name, sql in declared.items() if name.startswith("table vector_")}
    ours = {name: sql for name, sql in declared.items() if name not in vectors}
    found = []
    if migrations != len(MIGRATIONS) or digest_of(ours) != _NEWEST:
        expected = declared_by(migrations)
        found = [name for name in ours.keys() | expected.keys() if ours.get(name) != expected.get(name)]
    if not found:
        found = _wrong_vectors(session, vectors, prefix, has_passages=migrations >= M009_PASSAGES.number)
    return sorted(found)


def foreign_things(session: SqlSession, database: str) -> list[str]:
    """Return in words what is stored with tables and indexes, where nothing should: macros, views and the like."""
    return sorted(f"{what} {name}" for what, statement in _OTHERS for (name,) in session.rows(statement, database))


def declared_by(migrations: int) -> Mapping[str, str]:
    """Return what the first migrations declare, made in memory by the engine itself."""
    with translated():
        connection = duckdb.connect(":memory:", config=dict(FORMAT))
    session = SqlSession(connection)
    try:
        session.rows(MAKE_RECORD)
        for migration in MIGRATIONS[:migrations]:
            for statement in migration.statements:
                session.rows(statement)
        return _declared(session, session.rows(_NAME)[0][0])
    finally:
        session.close()
        connection.close()


def digest_of(declared: Mapping[str, str]) -> str:
    """Return a short digest of what is declared."""
    return hashlib.blake2b(repr(sorted(declared.items())).encode(), digest_size=8).hexdigest()


def _declared(session: SqlSession, database: str) -> dict[str, str]:
    return {
        **_by_name("table", session.rows(_TABLES, database)),
        **_by_name("index", session.rows(_INDEXES, database)),
    }


def _by_name(what: str, rows: Iterable[Sequence[str]]) -> dict[str, str]:
    return {f"{what} {name if schema == 'main' else f'{schema}.{name}'}": sql for name, sql, schema in rows}


def _wrong_vectors(session: SqlSession, vectors: Mapping[str, str], prefix: str, *, has_passages: bool) -> list[str]:
    embedders = session.rows(_EMBEDDERS.substitute(prefix=prefix))
    passages = ", passages BLOB" if has_passages else ""
    expected = {
        f"table vector_{abs(number)}": (str(abs(number)), str(length), passages) for number, length in embedders
    }
    made = {name: match.groups("") for name, sql in vectors.items() if (match := _VECTORS.fullmatch(sql))}
    return [name for name in vectors.keys() | expected.keys() if made.get(name) != expected.get(name, ())]
