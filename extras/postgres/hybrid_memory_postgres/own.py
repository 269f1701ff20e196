"""What PostgreSQL does in its own way of what `hybrid_memory.store.sql` does for every engine: `POSTGRES`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hybrid_memory.store.sql.own import Own
from hybrid_memory_postgres.appending import erase_digests
from hybrid_memory_postgres.memory_table import memories_by_id, update_memory
from hybrid_memory_postgres.tables import read_buffer, read_usage

if TYPE_CHECKING:
    from collections.abc import Collection

    from hybrid_memory.model import Memory
    from hybrid_memory_postgres.sql_session import PgSession

COUNT_ERASURE = "UPDATE store SET erasures = erasures + 1"
"""Has every hub load again what it holds in memory: for what following the log does not bring about there."""
COUNT_STEP = "UPDATE store SET sync_number = sync_number + 1 RETURNING sync_number"
"""Returns the number under which a synchronisation finds what is written in this transaction."""
_DELETE_VECTORS = "DELETE FROM vector WHERE namespace = $1 AND id = ANY ($2::text[])"
# Terms and the like are made again at the next idle time: encoding 0 asks for it.
_SET_WORDS = """
    UPDATE memory SET content = $3, content_hash = $4, tags = $5, metadata = $6, source = $7, speaker = $8, key = $9, rev = $10,
        terms = '', names = NULL, days = NULL, aspects = 0, encoding = 0
    WHERE namespace = $1 AND id = $2
"""


def delete_vectors(session: PgSession, namespace: str, ids: Collection[str]) -> None:
    """Delete the vectors of some memories by every embedder."""
    session.send(_DELETE_VECTORS, namespace, list(ids))


def _replace(session: PgSession, _: Memory, after: Memory) -> None:
    update_memory(session, after)


POSTGRES = Own(
    memories=memories_by_id,
    usage=read_usage,
    buffer=read_buffer,
    replace_memory=_replace,
    delete_vectors=delete_vectors,
    erase_digests=erase_digests,
    set_words=_SET_WORDS,
)
