"""What a hub needs to follow another's writes, in one round trip: entries of the log, the memories that they name, and their vectors."""

from __future__ import annotations

from string import Template
from typing import TYPE_CHECKING

from hybrid_memory.errors import LogTrimmed
from hybrid_memory.model import MemoryId
from hybrid_memory.store.base import News
from hybrid_memory.store.postgres.memory_table import COLUMNS, readable
from hybrid_memory.store.postgres.tables import HEAD, LOG, TRIMMED, Head, entry_of
from hybrid_memory.store.postgres.vector_table import PINNED, PinnedEmbedder, read_vector

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from hybrid_memory.store.postgres.sql_session import PgSession, Row

# The ids are those of the page of the log: found again rather than sent back and forth.
_NAMED = """
    ARRAY(SELECT log.id FROM log WHERE log.namespace = $1 AND log.position > $2 AND log.position < 4611686018427387904
        ORDER BY log.position LIMIT $3)
"""
_MEMORIES = Template("SELECT $columns FROM memory WHERE namespace = $$1 AND id = ANY ($named)").substitute(
    columns=COLUMNS, named=_NAMED
)
_VECTORS = Template("""
    SELECT vector.id, vector.vec FROM vector
    WHERE vector.embedder = (SELECT max(number) FROM embedder WHERE number > 0) AND vector.namespace = $$1
        AND vector.id = ANY ($named)
""").substitute(named=_NAMED)


def read_news(session: PgSession, namespace: str, after: int, limit: int) -> News:
    """Return log entries behind ``after`` and what they are about, all of one moment; raises `LogTrimmed`."""
    page = namespace, after, max(limit, 0)
    heads, log, memories, pinned, vectors = session.together(
        (HEAD, (namespace,)), (LOG, page), (_MEMORIES, page), (PINNED, ()), (_VECTORS, page)
    )
    if heads and after + 1 < Head(*heads[0]).trimmed_before:
        raise LogTrimmed(TRIMMED)
    return News(
        [entry_of(row) for row in log],
        {memory.id: memory for memory in readable(session, memories)},
        _read_vectors(vectors, PinnedEmbedder(*pinned[0]).dimensions) if pinned else {},
    )


def _read_vectors(rows: list[Row], dimensions: int) -> dict[MemoryId, NDArray[np.float32]]:
    read = ((MemoryId(id_), read_vector(stored, dimensions)) for id_, stored in rows)
    return {id_: vector for id_, vector in read if vector is not None}
