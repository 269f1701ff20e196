"""The log of messages and plans that a store keeps beside the memories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from hybrid_memory.model import Json


@dataclass(frozen=True, slots=True)
class ConversationEntry:
    """One message or plan of the conversation log; ``number`` orders it within its conversation and kind."""

    number: int
    body: Mapping[str, Json]


class ConversationLog(Protocol):
    """The log of messages and plans beside the memories; ``kind`` is "message" or "plan"."""

    def put_entry(
        self, namespace: str, conversation: str, kind: str, body: Mapping[str, Json], number: int | None = None
    ) -> int:
        """Store an entry durably, replacing one of the same number; None takes the next number. Returns the number."""
        ...

    def entries(self, namespace: str, conversation: str, kind: str) -> Sequence[ConversationEntry]:
        """Return the entries of a conversation by rising number."""
        ...

    def remove_entries(self, namespace: str, conversation: str, kind: str) -> int:
        """Remove the entries of a conversation; returns how many there were. Their numbers are not used again."""
        ...
