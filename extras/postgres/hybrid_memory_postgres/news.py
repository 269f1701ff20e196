"""What a hub needs to follow another's writes, in one statement: entries of the log, the memories that they name, and their vectors."""

from __future__ import annotations

from string import Template
from typing import TYPE_CHECKING

from hybrid_memory.errors import LogTrimmed
from hybrid_memory.store.memory_fields import NAMES
from hybrid_memory.store.neighbours import News
from hybrid_memory.store.sql.rows import entry_of
from hybrid_memory_postgres.memory_table import readable
from hybrid_memory_postgres.tables import TRIMMED
from hybrid_memory_postgres.vector_table import read_vector

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from hybrid_memory.model import Memory, MemoryId
    from hybrid_memory_postgres.sql_session import PgSession

# One row for each entry, or one without an entry; of one moment, without a transaction around it. OFFSET 0 keeps the server from
# turning the looks by id into a join over all rows of a table that it knows nothing of yet.
_NEWS = Template("""
    SELECT head.position, head.link, head.trimmed_before, embedder.dimensions,
        log.position, log.change, log.id, log.rev, log.made_at, log.actor, log.action, log.digest, coalesce(log.note, ''),
        vector.vec, vector.passages, $columns
    FROM (SELECT position, link, trimmed_before FROM namespace WHERE name = $$1) AS head
    LEFT JOIN (
        SELECT number, dimensions FROM embedder WHERE number > 0 ORDER BY number DESC LIMIT 1
    ) AS embedder ON true
    LEFT JOIN LATERAL (
        SELECT position, change, id, rev, made_at, actor, action, digest, note FROM log
        WHERE namespace = $$1 AND position > $$2 AND position < 4611686018427387904 ORDER BY position LIMIT $$3
    ) AS log ON true
    LEFT JOIN LATERAL (
        SELECT * FROM memory WHERE memory.namespace = $$1 AND memory.id = log.id OFFSET 0
    ) AS memory ON true
    LEFT JOIN LATERAL (
        SELECT vec, passages FROM vector
        WHERE vector.embedder = embedder.number AND vector.namespace = $$1 AND vector.id = log.id OFFSET 0
    ) AS vector ON true
    ORDER BY log.position
""").substitute(columns=", ".join(f"memory.{name}" for name in NAMES))
_ENTRY, _VECTOR, _PASSAGES, _MEMORY = 4, 13, 14, 15
"""Where in a row the entry, the vector, the passages and the memory begin."""
_ID = _MEMORY + NAMES.index("id")


def read_news(session: PgSession, namespace: str, after: int, limit: int) -> tuple[News, int, str]:
    """Return log entries behind ``after`` and what they are about, and position and link of the last; raises `LogTrimmed`."""
    rows = session.rows(_NEWS, namespace, after, max(limit, 0))
    if not rows:
        return News((), {}, {}, {}), 0, ""
    head, link, trimmed_before, dimensions = rows[0][:_ENTRY]
    if after + 1 < trimmed_before:
        raise LogTrimmed(TRIMMED)
    rows = [row for row in rows if row[_ENTRY] is not None]
    last = {row[_ID]: row for row in rows if row[_ID] is not None}
    memories: dict[MemoryId, Memory] = {
        memory.id: memory for memory in readable(session, (row[_MEMORY:] for row in last.values()))
    }
    vectors: dict[MemoryId, NDArray[np.float32]] = {}
    for id_, row in last.items():
        if row[_VECTOR] is not None and (vector := read_vector(row[_VECTOR], dimensions)) is not None:
            vectors[id_] = vector
    passages: dict[MemoryId, bytes] = {id_: row[_PASSAGES] for id_, row in last.items() if row[_PASSAGES] is not None}
    return News([entry_of(row[_ENTRY:]) for row in rows], memories, vectors, passages), head, link
