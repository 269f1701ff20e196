"""What an entry of the log says about its change beside ids and digest: tiers with the reason, links, states. Never stored words."""

from __future__ import annotations

from hybrid_memory.model import Memory

_OTHERS = ("disputes", "tags", "metadata", "expires_at", "parents", "key", "source", "speaker")


def note_of_insert(memory: Memory) -> str:
    """Return what is to be told of a new memory."""
    parts = [memory.tier.value]
    if memory.supersedes is not None:
        parts.append(f"supersedes {memory.supersedes}")
    if memory.disputes is not None:
        parts.append(f"disputes {memory.disputes}")
    return ", ".join(parts)


def note_of_change(before: Memory, after: Memory, reason: str) -> str:
    """Return what is to be told of a change; ``reason`` is that of a move to another tier."""
    parts = []
    if before.tier is not after.tier:
        parts.append(f"{before.tier.value} to {after.tier.value}" + (f" ({reason})" if reason else ""))
    if before.superseded_by != after.superseded_by:
        parts.append(f"superseded by {after.superseded_by}" if after.superseded_by else "current again")
    if (before.forgotten_at is None) != (after.forgotten_at is None):
        parts.append("restored" if after.forgotten_at is None else "forgotten")
    if before.pinned != after.pinned:
        parts.append("pinned" if after.pinned else "no longer pinned")
    if before.importance != after.importance:
        parts.append(f"importance {before.importance:.2f} to {after.importance:.2f}")
    if before.trust is not after.trust:
        parts.append(f"trust {before.trust.value} to {after.trust.value}")
    if before.reflected_at != after.reflected_at:
        parts.append("served as evidence")
    parts += [
        field.replace("_", " ") + " changed" for field in _OTHERS if getattr(before, field) != getattr(after, field)
    ]
    return ", ".join(parts)
