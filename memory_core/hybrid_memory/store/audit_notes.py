"""What an entry of the log says about its change alongside ids and digest: tiers with the reason, links, states. Never stored words."""

from __future__ import annotations

import re

from hybrid_memory.model import Memory, Origin, Tier, Trust

_OTHERS = ("disputes", "tags", "metadata", "expires_at", "parents", "key", "source", "speaker")
_LINKS = ("supersedes", "duplicate_of", "session")  # which hardly anything changes
_REASON = re.compile(r" \(.*?\)")
_MOVED = re.compile(rf"({'|'.join(Tier)}) to ({'|'.join(Tier)})")
_WORDS = ("content", "tags", "metadata", "source", "speaker", "key")
_ALL_LINKS = ("superseded_by", "supersedes", "duplicate_of", "disputes", "parents")
_TOLD_AS = {
    "superseded by ": "superseded_by",
    "current again": "superseded_by",
    "restored": "forgotten_at",
    "forgotten": "forgotten_at",
    "pinned": "pinned",
    "no longer pinned": "pinned",
    "importance ": "importance",
    "trust ": "trust",
    "served as evidence": "reflected_at",
    "verdict ": "verdict",
} | {f"{name.replace('_', ' ')} changed": name for name in (*_OTHERS, *_LINKS)}
_BEFORE_NOTES = frozenset((*_TOLD_AS.values(), "tier")) - {"verdict"}
"""What an entry without a note may have changed: earlier versions made none."""


def note_of_insert(memory: Memory) -> str:
    """Return what is to be told of a new memory."""
    parts = [memory.tier.value]
    if memory.supersedes is not None:
        parts.append(f"supersedes {memory.supersedes}")
    if memory.disputes is not None:
        parts.append(f"disputes {memory.disputes}")
    if memory.origin in (Origin.IMPORT, Origin.TOOL) and memory.trust is not Trust.UNTRUSTED:
        # The only ones of others that are trusted, so the log vouches for them.
        parts.append(f"trust {memory.trust.value}")
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
    if before.verdict is not after.verdict:
        parts.append("verdict withdrawn" if after.verdict is None else f"verdict {after.verdict.value}")
    if before.reflected_at != after.reflected_at:
        parts.append("served as evidence")
    parts += [
        field.replace("_", " ") + " changed"
        for field in (*_OTHERS, *_LINKS)
        if getattr(before, field) != getattr(after, field)
    ]
    return ", ".join(parts)


def fields_of(action: str, note: str) -> frozenset[str]:
    """Return the fields of a memory that an entry of the log for a change says were changed."""
    if action in ("purge", "undo import"):
        return frozenset(_ALL_LINKS)  # of which those went that led to what was purged
    if action == "redact":
        return frozenset(_WORDS)
    if not note:
        return _BEFORE_NOTES
    found: set[str] = set()
    for part in _REASON.sub("", note).split(", "):
        if _MOVED.fullmatch(part):
            found.add("tier")
        found |= {
            name for told, name in _TOLD_AS.items() if part == told or (told[-1] == " " and part.startswith(told))
        }
    return frozenset(found)
