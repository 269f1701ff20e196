"""Words of a store in memory that are encoded again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hybrid_memory.model import EncodedWords
from hybrid_memory.store.memory.data import StoreData
from hybrid_memory.store.reprocessing import OutdatedWords


class MemoryReencoding:
    """The part of `MemoryStore` that has terms, names and days made again; see `hybrid_memory.store.reprocessing.ReencodingStore`."""

    def __init__(self, data: StoreData) -> None:
        self._data = data

    def count(self, encoding: int) -> int:
        """Return how many memories there are whose words an earlier version has encoded."""
        with self._data.reading():
            namespaces = self._data.namespaces.values()
            return sum(one.encoding < encoding for records in namespaces for one in records.memories.values())

    def outdated(self, encoding: int, limit: int) -> Sequence[OutdatedWords]:
        """Return memories whose words an earlier version has encoded."""
        with self._data.reading():
            memories = [one for records in self._data.namespaces.values() for one in records.memories.values()]
            return [
                OutdatedWords(
                    place=place,
                    namespace=one.namespace,
                    id=one.id,
                    content=one.content,
                    speaker=one.speaker,
                    key=one.key,
                    when=one.occurred_at or one.created_at,
                )
                for place, one in enumerate(memories)
                if one.encoding < encoding
            ][:limit]

    def replace(self, encoded: Sequence[tuple[OutdatedWords, EncodedWords]]) -> None:
        """Store what was made of the words of memories, in one transaction."""
        with self._data.writing():
            for old, new in encoded:
                memories = self._data.namespaces[old.namespace].memories
                if old.id in memories:
                    memories[old.id] = replace(
                        memories[old.id],
                        terms=new.terms,
                        names=new.names,
                        days=new.days,
                        aspects=new.aspects,
                        encoding=new.encoding,
                    )
