"""What a view is, and what it is asked: the values that the views, the page and the terminal share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from hybrid_memory.errors import InvalidInput
from hybrid_memory.model import Memory, Scope
from hybrid_memory_mcp.memory_json import memory_as_json

if TYPE_CHECKING:
    from hybrid_memory.service import MemoryService

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


Load: TypeAlias = "Callable[[MemoryService, ViewRequest], dict[str, Any]]"
"""Returns what a view shows; raises `InvalidInput` and `NotFound` for what was asked wrongly."""


@dataclass(frozen=True)
class View:
    """One view: ``path`` is its address (``{id}`` and the like are parameters), ``module`` the one in this package that has its ``load``.

    ``title`` stands in the page's list of views, where ``in_menu`` is True; ``key`` is pressed after ``g`` to go there.
    The template is ``<name>.html.j2``.
    """

    name: str
    path: str
    title: str
    module: str
    key: str = ""
    in_menu: bool = True
    function: str = "load"

    @property
    def data_path(self) -> str:
        """The address of what it shows as JSON."""
        return f"/{self.name}.json" if self.path == "/" else f"{self.path}.json"

    @property
    def template(self) -> str:
        """The name of its template."""
        return f"{self.name}.html.j2"

    def load(self, service: MemoryService, request: ViewRequest) -> dict[str, Any]:
        """Return what the view shows; its module is imported when that is asked for."""
        found: Load = getattr(import_module(f"hybrid_memory_mcp.inspector.{self.module}"), self.function)
        return found(service, request)


def told(service: MemoryService, request: ViewRequest, memory: Memory) -> dict[str, Any]:
    """Return a memory as JSON, its secrets masked unless the person asks to see them.

    ``memory`` is as the store holds it: what a read returned is masked already, `MemoryService.revealed` gives it whole.
    """
    return memory_as_json(memory if request.reveal else service.secrets.shown(memory), service.now())
