"""What a view is asked, and how it returns a memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from hybrid_memory.errors import InvalidInput
from hybrid_memory.model import Memory, Scope
from hybrid_memory_mcp.memory_json import memory_as_json

if TYPE_CHECKING:
    from hybrid_memory.service.memory_service import MemoryService

_TRUE = frozenset({"1", "true", "yes", "on"})


@dataclass(frozen=True, kw_only=True)
class ViewRequest:
    """What a person asks of a view.

    ``scope`` says whose memories; ``parameters`` are those of the address, of its path and behind its ``?``, one value each.
    ``zone`` is that of dates without one and of days (None: this process's own). ``home`` is the store's folder; ``clients`` tells who is
    connected; ``last_look`` is when the person looked before, where that is known.
    """

    scope: Scope
    parameters: Mapping[str, str] = field(default_factory=dict)
    zone: tzinfo | None = None
    home: Path = field(default_factory=Path)
    clients: Callable[[], list[dict[str, Any]]] = list
    last_look: datetime | None = None

    def text(self, name: str, default: str = "") -> str:
        """Return a parameter without white space around it."""
        return self.parameters.get(name, default).strip()

    def flag(self, name: str) -> bool:
        """Return whether a parameter is given and says yes."""
        return self.text(name).lower() in _TRUE

    def number(self, name: str, default: int, *, least: int = 1, most: int = 1000) -> int:
        """Return a parameter that is a whole number.

        Raises:
            InvalidInput: it is none, or out of bounds.
        """
        given = self.text(name)
        if not given:
            return default
        if not given.isascii() or not given.isdecimal() or not least <= int(given[:12]) <= most:
            raise InvalidInput(name, f"is a whole number from {least:,} to {most:,}")
        return int(given)

    @property
    def reveal(self) -> bool:
        """Whether the person asks to see secrets."""
        return self.flag("reveal")


def told(service: MemoryService, request: ViewRequest, memory: Memory) -> dict[str, Any]:
    """Return a memory as JSON, its secrets masked unless the person asks to see them.

    ``memory`` is as the store holds it: what a read returned is masked already, `MemoryService.revealed` gives it whole.
    """
    return memory_as_json(memory if request.reveal else service.secrets.shown(memory), service.now())


def zone_named(name: str | None) -> tzinfo | None:
    """Return the zone of a name; None, which is that of this process, where nobody tells one or the system does not know it."""
    try:
        return ZoneInfo(name) if name else None
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None
