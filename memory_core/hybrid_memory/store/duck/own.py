"""What DuckDB does in its own way of what `store.sql` does for every engine: `DUCK`."""

from __future__ import annotations

import os
from string import Template
from typing import TYPE_CHECKING

from hybrid_memory.store.audit_chain import SALT_BYTES, LogHead, chained, erased_salt
from hybrid_memory.store.duck import tables
from hybrid_memory.store.duck.memory_table import memories_by_id, update_memory
from hybrid_memory.store.encoding import to_json
from hybrid_memory.store.sql.own import Own

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from hybrid_memory.model import Memory
    from hybrid_memory.store.duck.sql_session import SqlSession
    from hybrid_memory.store.writing import LogEntry

VECTOR_TABLES = "SELECT table_name FROM duckdb_tables() WHERE regexp_full_match(table_name, 'vector_[0-9]+')"
_DELETE_VECTORS = Template("DELETE FROM $table WHERE namespace = $$1 AND id = ANY ($$2::text[])")
_DIGESTS = "SELECT position, salt, digest FROM log WHERE namespace = $1 AND digest <> '' AND id = ANY ($2::text[])"
_BLANK_DIGESTS = """
    UPDATE log SET digest = '', salt = one.salt
    FROM (SELECT unnest(from_json($2, '[{"position": "BIGINT", "salt": "VARCHAR"}]')) AS one)
    WHERE log.namespace = $1 AND log.position = one.position
"""
# Terms and the like are made again when the store is opened next: encoding 0 asks for it.
_SET_WORDS = """
    UPDATE memory SET content = $3, content_hash = $4, tags = $5, metadata = $6, source = $7, speaker = $8, key = $9, rev = $10,
        terms = [], names = NULL, days = NULL, aspects = 0, encoding = 0
    WHERE concat(namespace) = $1 AND id = $2
"""


def delete_vectors(session: SqlSession, namespace: str, ids: Collection[str]) -> None:
    """Delete the vectors of some memories by every embedder."""
    for (table,) in session.rows(VECTOR_TABLES):
        session.change(_DELETE_VECTORS.substitute(table=table), namespace, list(ids))


def erase_digests(session: SqlSession, namespace: str, ids: Collection[str]) -> None:
    """Take the digests of some memories' words out of the log; the seals that its chain is made of stay."""
    found = session.rows(_DIGESTS, namespace, list(ids))
    erased = [
        {"position": position, "salt": None if salt is None else erased_salt(salt, digest)}
        for position, salt, digest in found
    ]
    if erased:
        session.change(_BLANK_DIGESTS, namespace, to_json(erased))


def append_to_closed_log(session: SqlSession, namespace: str, log: Sequence[LogEntry]) -> None:
    """Append entries to the log of a file that is no open store, and to its chain and head."""
    if not log:
        return
    entries = chained(namespace, log, tables.read_last_link(session, namespace), os.urandom(SALT_BYTES * len(log)))
    tables.insert_log(session, namespace, entries)
    last = entries[-1]
    tables.store_closed_head(session, namespace, LogHead(last.position, last.link or ""))


def _replace(session: SqlSession, before: Memory, after: Memory) -> None:
    update_memory(session, after, before.rev)


DUCK = Own(
    memories=memories_by_id,
    usage=tables.read_usage,
    buffer=tables.read_buffer,
    replace_memory=_replace,
    delete_vectors=delete_vectors,
    erase_digests=erase_digests,
    set_words=_SET_WORDS,
)
