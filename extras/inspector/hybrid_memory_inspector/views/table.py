"""All views, in the order of the page's menu. A new view is a row here, a module with its data and a template of the page."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeAlias

from hybrid_memory_mcp.views.view import ViewRequest

if TYPE_CHECKING:
    from hybrid_memory.service.memory_service import MemoryService

_HERE = "hybrid_memory_inspector.views."
_SERVER = "hybrid_memory_mcp.views."  # those that the terminal shows too

Load: TypeAlias = "Callable[[MemoryService, ViewRequest], dict[str, Any]]"
"""Returns what a view shows; raises `InvalidInput` and `NotFound` for what was asked wrongly."""


@dataclass(frozen=True)
class View:
    """One view: ``path`` is its address (``{id}`` and the like are parameters), ``module`` the one that has its ``load``.

    ``title`` is in the page's list of views, where ``in_menu`` is True; ``key`` is pressed after ``g`` to go there.
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
        found: Load = getattr(import_module(self.module), self.function)
        return found(service, request)


VIEWS: tuple[View, ...] = (
    View("now", "/", "Now", _SERVER + "now", key="n"),
    View("search", "/search", "Search", _SERVER + "search", key="s"),
    View("timeline", "/timeline", "Timeline", _SERVER + "timeline", key="t"),
    View("map", "/map", "Map", _HERE + "map", key="m"),
    View("names", "/names", "People and things", _HERE + "names", key="p"),
    View("name", "/names/{name}", "Name", _HERE + "names", in_menu=False, function="load_one"),
    View("memory", "/memories/{id}", "Memory", _SERVER + "memory", in_menu=False),
    View("sessions", "/sessions", "Sessions", _HERE + "sessions", key="e"),
    View("session", "/sessions/{name}", "Session", _HERE + "sessions", in_menu=False, function="load_one"),
    View("insights", "/insights", "Insights", _HERE + "insights", key="i"),
    View("brief", "/brief", "Brief", _HERE + "brief", key="b"),
    View("review", "/review", "Review", _HERE + "review", key="r"),
    View("recalls", "/recalls", "Recalls", _HERE + "recalls", key="q"),
    View("health", "/health", "Health", _HERE + "health", key="h"),
)
