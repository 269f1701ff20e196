"""How the views stand in the page's menu: in which group, with which picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hybrid_memory_mcp.inspector.view import View

_GROUPS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("See", ("now", "search", "timeline", "map")),
    ("About", ("names", "insights", "sessions")),
    ("Assistants", ("brief", "recalls")),
    ("Care", ("review", "health")),
)
_OTHERS = "More"


@dataclass(frozen=True, slots=True)
class MenuGroup:
    """Some views under one heading."""

    title: str
    views: tuple[View, ...]


def menu_of(views: Sequence[View]) -> tuple[MenuGroup, ...]:
    """Return the views that the menu shows in their groups; one that no group names stands in the last."""
    shown = {view.name: view for view in views if view.in_menu}
    groups = [MenuGroup(title, tuple(shown.pop(name) for name in names if name in shown)) for title, names in _GROUPS]
    groups.append(MenuGroup(_OTHERS, tuple(shown.values())))
    return tuple(group for group in groups if group.views)
