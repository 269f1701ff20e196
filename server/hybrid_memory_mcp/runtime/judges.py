"""Judges of conversations, which extras offer by an entry point: each looks at what a conversation left when that has ended."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from hybrid_memory.extras import load_extra, names_of_extras

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

    from hybrid_memory.model import Scope
    from hybrid_memory_mcp.runtime.provider import ServiceProvider

_GROUP = "hybrid_memory_mcp.judges"


class Judge(Protocol):
    """What an extra offers: a module, or an object."""

    def judge(self, provider: ServiceProvider, home: Path, scope: Scope) -> None:
        """Judge the conversation that the scope names; it may take long, in a thread of its own."""
        ...

    def state(self, home: Path, now: datetime) -> str:
        """Return one line for ``status``; empty where it is switched off."""
        ...


def judges() -> dict[str, Judge]:
    """Return the judges that are installed, by their names."""
    return {name: load_extra(_GROUP, name) for name in names_of_extras(_GROUP)}
