"""What the server needs of the memory: the shape of `hybrid_memory.service.MemoryService`, so that nothing heavy is imported."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Protocol, TypeAlias

from hybrid_memory.model import Memory, MemoryId, Scope
from hybrid_memory.requests import (
    ForgetRequest,
    ForgetResult,
    Insight,
    ReadRequest,
    ReadResult,
    ReflectionGroup,
    Status,
    UpdateRequest,
    UpdateResult,
    WriteRequest,
    WriteResult,
)
from hybrid_memory.store.interface import RequestKey

Committed: TypeAlias = Callable[[str, frozenset[str]], None]
"""Called with namespace and touched sessions after a commit, from the thread that wrote."""


class Service(Protocol):
    """The memory: synchronous, safe in any thread; every method raises `HybridMemoryError` subclasses only."""

    def write(self, scope: Scope, request: WriteRequest, *, key: RequestKey | None = None) -> WriteResult:
        """Remember a statement; durable when this returns."""
        ...

    def read(self, scope: Scope, request: ReadRequest) -> ReadResult:
        """Answer a question, give a brief, or fetch by ids."""
        ...

    def offer_reflection(
        self, scope: Scope, *, focus: str | None, session: str | None, since: datetime | None, limit: int = 3
    ) -> tuple[ReflectionGroup, ...]:
        """Return groups of related memories that are worth a thought."""
        ...

    def store_insights(
        self, scope: Scope, insights: Sequence[Insight], *, key: RequestKey | None = None
    ) -> tuple[MemoryId, ...]:
        """Store thoughts with their evidence."""
        ...

    def update(self, scope: Scope, request: UpdateRequest, *, key: RequestKey | None = None) -> UpdateResult:
        """Change a memory, or replace it with a new version."""
        ...

    def forget(self, scope: Scope, request: ForgetRequest, *, key: RequestKey | None = None) -> ForgetResult:
        """Forget memories, or bring them back."""
        ...

    def recent(self, scope: Scope, *, limit: int = 20, session: str | None = None) -> tuple[Memory, ...]:
        """Return the most recent memories of the namespace, or of one session."""
        ...

    def get(self, scope: Scope, memory_id: MemoryId) -> Memory:
        """Return one memory."""
        ...

    def status(self, scope: Scope) -> Status:
        """Return what the memory holds and how it is."""
        ...

    def notices(self) -> tuple[str, ...]:
        """Return what a user must know about the store: what was damaged, and what became of it."""
        ...

    def acknowledge(self, relay: str, up_to: int | None) -> None:
        """Forget the stored results of a relay's requests up to a number, None for all."""
        ...

    def suggest(self, scope: Scope, what: str, prefix: str, limit: int) -> list[str]:
        """Return known sessions, tags, speakers or ids that begin with ``prefix``."""
        ...

    def flush_recalls(self) -> None:
        """Apply what recalls have queued."""
        ...

    def run_background_step(self) -> bool:
        """Do a piece of what is late; returns whether there is more."""
        ...

    def end_session(self, scope: Scope) -> None:
        """Let the attention of a conversation come to rest."""
        ...

    def warm_up(self, scope: Scope) -> None:
        """Load now what the first calls of this scope would wait for."""
        ...

    def close(self) -> None:
        """Write everything out and let the store go."""
        ...

    def listen(self, listener: Committed) -> Callable[[], None]:
        """Call back after each commit; returns what ends that."""
        ...
