"""What each engine does in its own way, for the functions of this folder that need it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from hybrid_memory.model import Memory, MemoryId, Usage
    from hybrid_memory.store.writing import BufferState


@dataclass(frozen=True, slots=True)
class Own:
    """Functions whose first argument is a session of the engine, and the second mostly a namespace.

    ``replace_memory`` takes a memory as it was and as it shall be. ``set_words`` is the statement that gives a memory ($1 namespace, $2 id)
    other words: content, its hash, tags, metadata, source, speaker, key, revision.
    """

    memories: Callable[[Any, str, Iterable[MemoryId]], dict[MemoryId, Memory]]
    usage: Callable[[Any, str, Iterable[MemoryId]], dict[MemoryId, Usage]]
    buffer: Callable[[Any, str, str, str], BufferState | None]
    replace_memory: Callable[[Any, Memory, Memory], Any]
    delete_vectors: Callable[[Any, str, Collection[MemoryId]], None]
    erase_digests: Callable[[Any, str, Collection[MemoryId]], None]
    set_words: str
