"""A memory as JSON: the same fields wherever one is shown to a person, in the command line's answers and in views."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from typing import Any

from hybrid_memory.model import Memory
from hybrid_memory.store.listing import state_of
from hybrid_memory.store.memory_fields import DERIVED

_NOT_TOLD = frozenset({*DERIVED, "content_hash", "agent", "rev"})


def memory_as_json(memory: Memory, now: datetime) -> dict[str, Any]:
    """Return the fields of a memory that say something, and its ``state``; times as ISO 8601."""
    fields = {name: value for name, value in asdict(memory).items() if name not in _NOT_TOLD}
    told = {name: value.isoformat() if isinstance(value, datetime) else value for name, value in fields.items()}
    kept = {name: value for name, value in told.items() if value not in (None, (), {}, [], False)}
    return kept | {"state": state_of(memory, now).value}
