"""Words that models and people read alike, where importing what else says them would take long."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hybrid_memory.requests import ReflectionGroup

PROBABLY_UNKNOWN = "Probably nothing is known about this. Closest:"

KIND_NAMES = {"episode": "said in passing"}
"""What kinds of memories are called, where that is another word than their name in JSON."""

TIER_NAMES = {
    "sensory": "just heard",
    "short_term": "in mind",
    "long_term": "kept",
    "faded": "faded",
    "working": "at work",
    "episodic": "episode",
}
"""The parts of memory, by their names in JSON; the card in a chat and the map say the same."""


_ASKS = {
    "conflict": "These may contradict each other: which holds? Forget what does not; if all hold, store an insight that says how.",
    "repeated": "Said in passing in several conversations: if it lasts, store it as one insight with all of these as evidence.",
}


def asks_of(group: ReflectionGroup) -> str | None:
    """Return what a group of memories asks for beyond a thought; None for nothing."""
    if group.silent:
        last = group.memories[-1]
        return f"Nothing newer is known since {(last.occurred_at or last.created_at).date()}: does it still hold?"
    return _ASKS.get(group.sort.value)
