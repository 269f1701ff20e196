"""What decisions are about to look at, read along with the lock of their namespace instead of in a round trip for each look.

`hybrid_memory.store.writing.Prefetch` says what a call is likely to ask for. The statements go out behind the one that takes the lock, so
what they find is true until the transaction ends. What one call of a group changes is let go for those behind it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from hybrid_memory.model import Tier
from hybrid_memory.store.sql.rows import buffer_of, entry_of
from hybrid_memory_postgres.memory_table import BY_ID, MEMBERS, readable
from hybrid_memory_postgres.tables import BUFFER, LOG

if TYPE_CHECKING:
    from hybrid_memory.model import Memory, MemoryId
    from hybrid_memory.store.batch import ChangeSet
    from hybrid_memory.store.sql.session import Row
    from hybrid_memory.store.writing import BufferState, LogEntry, Prefetch, WriteBatch
    from hybrid_memory_postgres.sql_session import PgSession, Statement

Place = tuple[str, str]
"""Session and agent."""

_MOST_ENTRIES = 200  # of the log; who lacks more reads them when they are asked for


class Prefetched:
    """What is known of a locked namespace before a decision asks.

    ``memories`` maps an id to None where there is no such memory. ``members`` are those in sensory memory, ``log`` the entries behind
    ``log_after``, which is None while none were read.
    """

    def __init__(self) -> None:
        self.memories: dict[MemoryId, Memory | None] = {}
        self.members: dict[Place, list[Memory]] = {}
        self.buffers: dict[Place, BufferState | None] = {}
        self.log: list[LogEntry] = []
        self.log_after: int | None = None

    def let_go(self, batch: WriteBatch, changes: ChangeSet) -> None:
        """Let go what a call that was applied has changed, and add what it adds to the log."""
        for id_, memory in changes.after.items():
            self.memories.pop(id_, None)
            self._let_place_go((memory.session, memory.agent))
        for memory in changes.before.values():
            self.memories.pop(memory.id, None)
            self._let_place_go((memory.session, memory.agent))
        for buffer in batch.buffers:
            self._let_place_go((buffer.session, buffer.agent))
        self.log.extend(changes.log)

    def _let_place_go(self, place: Place) -> None:
        self.members.pop(place, None)
        self.buffers.pop(place, None)


class PrefetchPlan:
    """The statements that read what some calls are likely to ask for, and what becomes of their rows."""

    def __init__(self, namespace: str, wanted: Iterable[Prefetch | None]) -> None:
        given = [one for one in wanted if one is not None]
        self._namespace = namespace
        self._places = list(dict.fromkeys(one.buffers for one in given if one.buffers is not None))
        self._ids = list(dict.fromkeys(id_ for one in given for id_ in one.ids))
        self._after = min((one.after for one in given if one.after is not None), default=None)

    def statements(self) -> list[Statement]:
        """Return the statements."""
        found: list[Statement] = []
        if self._after is not None:
            found.append((LOG, (self._namespace, self._after, _MOST_ENTRIES)))
        if self._ids:
            found.append((BY_ID, (self._namespace, self._ids)))
        for place in self._places:
            found.append((MEMBERS, (self._namespace, *place, Tier.SENSORY.value)))
            found.append((BUFFER, (self._namespace, *place)))
        return found

    def take(self, prefetched: Prefetched, session: PgSession, results: Sequence[Sequence[Row]]) -> None:
        """Add the rows of the statements, in their order, to what is known; nothing was changed since that was read."""
        rows = iter(results)
        if self._after is not None:
            log = [entry_of(row) for row in next(rows)]
            if len(log) < _MOST_ENTRIES and (prefetched.log_after is None or self._after < prefetched.log_after):
                prefetched.log_after, prefetched.log = self._after, log
        if self._ids:
            prefetched.memories.update(dict.fromkeys(self._ids))
            prefetched.memories.update((memory.id, memory) for memory in readable(session, next(rows)))
        for place in self._places:
            prefetched.members[place] = members = list(readable(session, next(rows)))
            prefetched.memories.update((memory.id, memory) for memory in members)
            prefetched.buffers[place] = next((buffer_of(row) for row in next(rows)), None)
