"""The derived columns of words: which rows an earlier version has encoded, and what this one makes of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from hybrid_memory.model import EncodedWords, MemoryId
from hybrid_memory.moments import nearest_moment
from hybrid_memory.store.reprocessing import OutdatedWords
from hybrid_memory_postgres.connections import EVERYTHING
from hybrid_memory_postgres.repeating import repeated

if TYPE_CHECKING:
    from hybrid_memory_postgres.connections import Connections

_COUNT = "SELECT count(*) FROM memory WHERE encoding < $1"
# In the order of the index: none of the rows that are done is looked at again.
_OUTDATED = """
    SELECT place, namespace, id, content, speaker, key, coalesce(occurred_at, created_at) FROM memory
    WHERE encoding < $1 ORDER BY encoding, place LIMIT $2
"""
# As every write does: it locks the row of the namespace before any of its memories, so that two never wait for each other.
_LOCK = "SELECT name FROM namespace WHERE name = ANY ($1::text[]) ORDER BY name FOR UPDATE"
_STORE = "SELECT id FROM store"
# Only where the words are still those that were encoded: another hub may have changed the speaker or the key meanwhile.
_REPLACE = """
    UPDATE memory SET terms = $1, names = $2, days = $3, aspects = $4, encoding = $5
    WHERE namespace = $6 AND id = $7 AND place = $8 AND encoding < $5 AND content = $9
        AND speaker IS NOT DISTINCT FROM $10::text AND key IS NOT DISTINCT FROM $11::text
"""


class PostgresWordColumns:
    """The part of `PostgresStore` that has terms, names and days made again; see `hybrid_memory.store.reprocessing.ReencodingStore`.

    ``store`` gives the id of the store for which words are encoded here.
    """

    def __init__(self, connections: Connections, store: Callable[[], str]) -> None:
        self.connections = connections
        self._store = store

    @repeated
    def count(self, encoding: int) -> int:
        """Return how many memories there are whose words an earlier version has encoded."""
        with self.connections.reading(EVERYTHING) as session:
            return int(session.rows(_COUNT, encoding)[0][0])

    @repeated
    def outdated(self, encoding: int, limit: int) -> Sequence[OutdatedWords]:
        """Return memories whose words an earlier version has encoded, those of the earliest version first."""
        with self.connections.reading(EVERYTHING) as session:
            return [
                OutdatedWords(
                    place=place,
                    namespace=namespace,
                    id=MemoryId(id_),
                    content=content,
                    speaker=speaker,
                    key=key,
                    when=nearest_moment(when),
                )
                for place, namespace, id_, content, speaker, key, when in session.rows(_OUTDATED, encoding, limit)
            ]

    @repeated
    def replace(self, encoded: Sequence[tuple[OutdatedWords, EncodedWords]]) -> None:
        """Store what was made of the words of memories, in one transaction; nothing where a backup took the place of the store since."""
        if not encoded:
            return
        with self.connections.transaction(EVERYTHING) as session:
            session.send(_LOCK, sorted({old.namespace for old, _ in encoded}))
            if session.rows(_STORE) == [(self._store(),)]:
                session.send_many(_REPLACE, [_values(old, new) for old, new in encoded])


def _values(old: OutdatedWords, new: EncodedWords) -> tuple[object, ...]:
    lists = (_bytes(new.terms), _bytes(new.names) or None, _bytes(new.days) or None)
    return (*lists, new.aspects, new.encoding, old.namespace, old.id, old.place, old.content, old.speaker, old.key)


def _bytes(numbers: Sequence[int]) -> bytes:
    import numpy as np

    return np.array(numbers, "<i4").tobytes()
