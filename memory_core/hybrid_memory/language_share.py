"""How much of a store is in other languages than English: counted over all namespaces, and anew only when a tenth has changed."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from hybrid_memory.embedding.table_choice import LANGUAGE_ENTRIES, is_due

if TYPE_CHECKING:
    from hybrid_memory.store.base import Store


class LanguageShare:
    """Counts for `hybrid_memory.embedding.table_choice`.

    ``loaded`` returns how many memories the search indexes hold: it costs nothing, and a write always goes through an index.
    """

    def __init__(self, store: Store, loaded: Callable[[], int]) -> None:
        self._store = store
        self._loaded = loaded
        self._looked_at: int | None = None
        self._counts = (0, 0)

    def counts(self) -> tuple[int, int]:
        """Return how many live memories there are, and how many of them are in other languages that the table knows.

        Raises:
            StoreError: the store cannot be read.
        """
        loaded = self._loaded()
        if is_due(loaded, self._looked_at):
            self._counts = self._store.count_named(LANGUAGE_ENTRIES)
            self._looked_at = loaded
        return self._counts

    def forget(self) -> None:
        """Count anew next time, because the words of memories were encoded anew."""
        self._looked_at = None
