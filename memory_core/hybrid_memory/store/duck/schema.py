"""The tables, and how a store of an earlier version becomes one of this version.

Each migration runs in one transaction together with its record. There are no foreign keys: DuckDB 1.5 cannot delete
child and parent in one transaction. Times are whole microseconds since 1970 in UTC.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from string import Template

from hybrid_memory.clock import to_micros
from hybrid_memory.errors import SchemaTooNew, StoreDamaged
from hybrid_memory.store.duck.duckdb_errors import DAMAGED
from hybrid_memory.store.duck.sql_session import SqlSession

_HAS_RECORD = "SELECT count(*) FROM duckdb_tables() WHERE table_name = 'migration' AND schema_name = 'main'"
_TABLES = "SELECT count(*) FROM duckdb_tables() WHERE NOT internal"
MAKE_RECORD = """
    CREATE TABLE migration (number INTEGER NOT NULL PRIMARY KEY, name VARCHAR NOT NULL, applied_at BIGINT NOT NULL)
"""
_DONE = "SELECT number FROM migration ORDER BY number"
_EMBEDDERS = "SELECT abs(number) FROM embedder"
_RECORD = "INSERT INTO migration (number, name, applied_at) VALUES (?, ?, ?)"


@dataclass(frozen=True, slots=True)
class Migration:
    """One step of the schema: its number, a name for people, and what it does.

    ``of_vectors`` is done to the vector table of each embedder, ``$number`` being the embedder's.
    """

    number: int
    name: str
    statements: tuple[str, ...]
    of_vectors: Template | None = None


M001_BEGIN = Migration(
    1,
    "begin",
    (
        """
        CREATE TABLE namespace (
            name VARCHAR NOT NULL PRIMARY KEY, trimmed_before BIGINT NOT NULL
        )
        """,
        """
        CREATE TABLE memory (
            namespace VARCHAR NOT NULL, id VARCHAR NOT NULL, session VARCHAR NOT NULL, agent VARCHAR NOT NULL,
            content VARCHAR NOT NULL, kind VARCHAR NOT NULL, tier VARCHAR NOT NULL, importance DOUBLE NOT NULL,
            created_at BIGINT NOT NULL, content_hash VARCHAR NOT NULL, terms INTEGER[] NOT NULL,
            pinned BOOLEAN NOT NULL, tags VARCHAR, metadata VARCHAR, source VARCHAR, speaker VARCHAR,
            origin VARCHAR NOT NULL, trust VARCHAR NOT NULL, key VARCHAR, occurred_at BIGINT, expires_at BIGINT,
            forgotten_at BIGINT, superseded_by VARCHAR, supersedes VARCHAR, duplicate_of VARCHAR, parents VARCHAR,
            reflected_at BIGINT, rev BIGINT NOT NULL, PRIMARY KEY (namespace, id)
        )
        """,
        """
        CREATE TABLE usage (
            namespace VARCHAR NOT NULL, id VARCHAR NOT NULL, accessed_at BIGINT NOT NULL, count BIGINT NOT NULL,
            PRIMARY KEY (namespace, id)
        )
        """,
        """
        CREATE TABLE log (
            namespace VARCHAR NOT NULL, position BIGINT NOT NULL, change VARCHAR NOT NULL, id VARCHAR NOT NULL,
            rev BIGINT NOT NULL, made_at BIGINT NOT NULL, actor VARCHAR NOT NULL, action VARCHAR NOT NULL,
            digest VARCHAR NOT NULL
        )
        """,
        """
        CREATE TABLE buffer (
            namespace VARCHAR NOT NULL, session VARCHAR NOT NULL, agent VARCHAR NOT NULL, state VARCHAR NOT NULL,
            touched_at BIGINT NOT NULL, PRIMARY KEY (namespace, session, agent)
        )
        """,
        """
        CREATE TABLE request (
            relay VARCHAR NOT NULL, number BIGINT NOT NULL, namespace VARCHAR NOT NULL, position BIGINT NOT NULL,
            made_at BIGINT NOT NULL, result VARCHAR NOT NULL, PRIMARY KEY (relay, number)
        )
        """,
        """
        CREATE TABLE embedder (
            number INTEGER NOT NULL PRIMARY KEY, identity VARCHAR NOT NULL, dimensions INTEGER NOT NULL,
            pinned_at BIGINT NOT NULL
        )
        """,
        """
        CREATE TABLE conversation (
            namespace VARCHAR NOT NULL, name VARCHAR NOT NULL, kind VARCHAR NOT NULL, last BIGINT NOT NULL,
            PRIMARY KEY (namespace, name, kind)
        )
        """,
        """
        CREATE TABLE entry (
            namespace VARCHAR NOT NULL, conversation VARCHAR NOT NULL, kind VARCHAR NOT NULL,
            number BIGINT NOT NULL, body VARCHAR NOT NULL, PRIMARY KEY (namespace, conversation, kind, number)
        )
        """,
    ),
)

# Without it the rows of eight ids cost a scan of all rows: 80 ms among a million, 4 with it. DuckDB 1.5 searches an index
# of one column only, so the primary key does not serve.
M002_FIND_BY_ID = Migration(2, "find by id", ("CREATE INDEX memory_id ON memory (id)",))

# Each write counts up here in its own transaction; the journal's records have the same numbers. The id says whose journal.
M003_MARK = Migration(
    3,
    "mark",
    (
        "CREATE TABLE mark (store VARCHAR NOT NULL, number BIGINT NOT NULL)",
        "INSERT INTO mark (store, number) VALUES (uuid()::VARCHAR, 0)",
    ),
)

# Rows that are there get encoding 0: what search knows of their words is made again by anyone who opens the store.
# The lists have no default (NULL is none): for one DuckDB 1.5 would change a setting, and settings are locked.
M004_NAMES_AND_DAYS = Migration(
    4,
    "names and days",
    (
        "ALTER TABLE memory ADD COLUMN names INTEGER[]",
        "ALTER TABLE memory ADD COLUMN days INTEGER[]",
        "ALTER TABLE memory ADD COLUMN encoding BIGINT DEFAULT 0",
    ),
)

# What words tell about the user, made again together with terms, names and days.
M005_ASPECTS = Migration(5, "aspects", ("ALTER TABLE memory ADD COLUMN aspects BIGINT DEFAULT 0",))

# The key of the store's terms (`hybrid_memory.language.terms`): one row, which is made at the opening where it is missing, because
# it is drawn at random (`hybrid_memory.store.duck.term_key`).
_TERM_KEY = ("CREATE TABLE term_key (number UBIGINT NOT NULL)",)

# What is less trusted may only dispute (`hybrid_memory.trust`). Up to here a tool's or an import's words could replace the user's:
# those become disputes, and what they had replaced is current again.
_DISPUTES = (
    "ALTER TABLE memory ADD COLUMN disputes VARCHAR",
    """
    UPDATE memory SET disputes = older.id, supersedes = NULL FROM memory AS older
    WHERE memory.trust = 'untrusted' AND older.trust <> 'untrusted'
        AND older.namespace = memory.namespace AND older.id = memory.supersedes
    """,
    """
    UPDATE memory SET superseded_by = NULL FROM memory AS newer
    WHERE newer.trust = 'untrusted' AND memory.trust <> 'untrusted'
        AND newer.namespace = memory.namespace AND newer.id = memory.superseded_by
    """,
)

# The chain of the log (`hybrid_memory.store.audit_chain`): empty in entries that are there. The head of the namespace that was
# written last is in the mark, which each write changes anyway; those of the others in a table.
_AUDIT_CHAIN = (
    "ALTER TABLE log ADD COLUMN note VARCHAR",
    "ALTER TABLE log ADD COLUMN salt VARCHAR",
    "ALTER TABLE log ADD COLUMN link VARCHAR",
    "ALTER TABLE mark ADD COLUMN namespace VARCHAR",
    "ALTER TABLE mark ADD COLUMN position BIGINT",
    "ALTER TABLE mark ADD COLUMN link VARCHAR",
    "CREATE TABLE log_head (namespace VARCHAR NOT NULL PRIMARY KEY, position BIGINT NOT NULL, link VARCHAR NOT NULL)",
)

M006_TRUST = Migration(6, "trust", (*_TERM_KEY, *_DISPUTES, *_AUDIT_CHAIN))

# What is known of other machines' stores, and of the folders through which they are met (`hybrid_memory.store.syncing`). Without keys:
# rows are replaced within one transaction, which DuckDB 1.5 refuses where there is an index.
M007_SYNC = Migration(
    7,
    "sync",
    (
        "CREATE TABLE sync_note (name VARCHAR NOT NULL, value VARCHAR NOT NULL)",
        """
        CREATE TABLE sync_log (
            namespace VARCHAR NOT NULL, position BIGINT NOT NULL, link VARCHAR, clock BIGINT NOT NULL
        )
        """,
        """
        CREATE TABLE sync_row (
            namespace VARCHAR NOT NULL, id VARCHAR NOT NULL, born BIGINT NOT NULL, gone BIGINT NOT NULL, fields VARCHAR
        )
        """,
        """
        CREATE TABLE sync_usage (
            namespace VARCHAR NOT NULL, id VARCHAR NOT NULL, accessed_at BIGINT NOT NULL, count BIGINT NOT NULL
        )
        """,
        """
        CREATE TABLE sync_item (
            namespace VARCHAR NOT NULL, kind VARCHAR NOT NULL, first VARCHAR NOT NULL, second VARCHAR NOT NULL,
            number BIGINT NOT NULL, stamp BIGINT NOT NULL, digest VARCHAR, own BOOLEAN NOT NULL, written BIGINT NOT NULL
        )
        """,
        """
        CREATE TABLE sync_folder (
            folder VARCHAR NOT NULL, namespace VARCHAR NOT NULL, sent BIGINT NOT NULL, cleaned BIGINT NOT NULL,
            written BIGINT NOT NULL
        )
        """,
        "CREATE TABLE sync_segment (folder VARCHAR NOT NULL, name VARCHAR NOT NULL)",
    ),
)

# The journal of readings (`hybrid_memory.store.readings`), what undoes a person's changes, and what a person judged of a memory. Without
# keys, as above: old rows go in the transaction that brings new ones.
M008_SEEING = Migration(
    8,
    "seeing",
    (
        """
        CREATE TABLE reading (
            number BIGINT NOT NULL, namespace VARCHAR NOT NULL, read_at BIGINT NOT NULL, session VARCHAR NOT NULL,
            client VARCHAR NOT NULL, way VARCHAR NOT NULL, asked VARCHAR NOT NULL, question VARCHAR NOT NULL,
            filters VARCHAR NOT NULL, shown VARCHAR NOT NULL, matched BIGINT NOT NULL, outcome VARCHAR NOT NULL,
            tokens BIGINT NOT NULL
        )
        """,
        """
        CREATE TABLE undo (
            namespace VARCHAR NOT NULL, id VARCHAR NOT NULL, made_at BIGINT NOT NULL, actor VARCHAR NOT NULL,
            action VARCHAR NOT NULL, body VARCHAR NOT NULL
        )
        """,
        "ALTER TABLE memory ADD COLUMN verdict VARCHAR",
    ),
)

# The vectors of a memory's passages (`embedding.passages`); those of stored memories come with their next vector.
M009_PASSAGES = Migration(9, "passages", (), Template("ALTER TABLE vector_$number ADD COLUMN passages BLOB"))

MIGRATIONS: tuple[Migration, ...] = (
    *(M001_BEGIN, M002_FIND_BY_ID, M003_MARK, M004_NAMES_AND_DAYS, M005_ASPECTS),
    *(M006_TRUST, M007_SYNC, M008_SEEING, M009_PASSAGES),
)


def migrate(session: SqlSession, now: datetime, migrations: Sequence[Migration] = MIGRATIONS) -> int:
    """Bring a store to the newest schema; returns its number. A failed step leaves the store as it was before it.

    Raises:
        SchemaTooNew: the store knows a migration that this program does not.
        StoreDamaged: the record of migrations has a hole, or the file holds other tables than this program's.
    """
    done = done_migrations(session)
    known = [migration.number for migration in migrations]
    if done and done[-1] > known[-1]:
        raise SchemaTooNew("the store was written by a later version of this program; upgrade to open it")
    if done != known[: len(done)]:
        raise StoreDamaged(DAMAGED)
    for migration in migrations[len(done) :]:
        _apply(session, migration, now)
    return known[-1]


def done_migrations(session: SqlSession) -> list[int]:
    """Return the numbers of the migrations that a store has had; none in a new file.

    Raises:
        StoreDamaged: the file holds other tables than this program's.
    """
    if session.rows(_HAS_RECORD)[0][0]:
        return [number for (number,) in session.rows(_DONE)]
    if session.rows(_TABLES)[0][0]:
        raise StoreDamaged("the file is a database of another program; nothing was changed. Choose another folder")
    return []


def _apply(session: SqlSession, migration: Migration, now: datetime) -> None:
    session.begin()
    try:
        if migration.number == 1:
            session.rows(MAKE_RECORD)
        for statement in migration.statements:
            session.rows(statement)
        if migration.of_vectors is not None:
            for (number,) in session.rows(_EMBEDDERS):
                session.rows(migration.of_vectors.substitute(number=int(number)))
        session.change(_RECORD, migration.number, migration.name, to_micros(now))
        session.commit()
    except BaseException:
        session.rollback()
        raise
