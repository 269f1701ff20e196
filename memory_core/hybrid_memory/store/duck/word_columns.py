"""The derived columns of words in DuckDB: which rows an earlier version has encoded, and what this one makes of them.

DuckDB stores a row with a changed list again, behind all others. Rows are taken in their order and go there in it, so that in
the end they lie as they lay before.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hybrid_memory.model import EncodedWords, MemoryId
from hybrid_memory.moments import nearest_moment
from hybrid_memory.store.duck.writer_cache import LruCache
from hybrid_memory.store.encoding import to_json
from hybrid_memory.store.reprocessing import OutdatedWords

if TYPE_CHECKING:
    from hybrid_memory.store.duck.engine import Engine

_COUNT = "SELECT count(*) FROM memory WHERE encoding < ?"
_OUTDATED = """
    SELECT rowid, namespace, id, content, speaker, key, coalesce(occurred_at, created_at) FROM memory
    WHERE encoding < ? ORDER BY rowid LIMIT ?
"""
# The ids alongside the row ids, because a row that was stored again meanwhile left its place to nobody or to another.
_REPLACE = """
    UPDATE memory SET terms = one.terms, names = one.names, days = one.days, aspects = one.aspects,
        encoding = one.encoding
    FROM (SELECT unnest(from_json($1, '[{"place": "BIGINT", "namespace": "VARCHAR", "id": "VARCHAR", "terms": ["INTEGER"],
        "names": ["INTEGER"], "days": ["INTEGER"], "aspects": "BIGINT", "encoding": "BIGINT"}]')) AS one)
    WHERE memory.rowid BETWEEN $2 AND $3 AND memory.rowid = one.place AND memory.id = one.id
        AND memory.namespace = one.namespace
"""


class DuckWordColumns:
    """The part of `DuckStore` that has terms, names and days made again; see `hybrid_memory.store.reprocessing.ReencodingStore`."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def count(self, encoding: int) -> int:
        """Return how many memories there are whose words an earlier version has encoded."""
        with self._engine.reading() as session:
            return int(session.rows(_COUNT, encoding)[0][0])

    def outdated(self, encoding: int, limit: int) -> Sequence[OutdatedWords]:
        """Return memories whose words an earlier version has encoded."""
        with self._engine.reading() as session:
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

    def replace(self, encoded: Sequence[tuple[OutdatedWords, EncodedWords]]) -> None:
        """Store what was made of the words of memories, in one transaction."""
        if not encoded:
            return
        rows = [
            {
                "place": old.place,
                "namespace": old.namespace,
                "id": old.id,
                "terms": list(new.terms),
                "names": list(new.names) or None,
                "days": list(new.days) or None,
                "aspects": new.aspects,
                "encoding": new.encoding,
            }
            for old, new in encoded
        ]
        places = [old.place for old, _ in encoded]
        with self._engine.transaction() as (session, _, cache):
            session.change(_REPLACE, to_json(rows), min(places), max(places))
            # Filled by single writes; the next one reads what it needs.
            cache.members, cache.memories = LruCache(), LruCache()
