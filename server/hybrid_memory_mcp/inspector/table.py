"""All views, in the order of the page's menu. A new view is a row here, a module in this package and a template of the page."""

from __future__ import annotations

from hybrid_memory_mcp.inspector.view import View

VIEWS: tuple[View, ...] = (
    View("now", "/", "Now", "now", key="n"),
    View("search", "/search", "Search", "search", key="s"),
    View("timeline", "/timeline", "Timeline", "timeline", key="t"),
    View("map", "/map", "Map", "map", key="m"),
    View("names", "/names", "People and things", "names", key="p"),
    View("name", "/names/{name}", "Name", "names", in_menu=False, function="load_one"),
    View("memory", "/memories/{id}", "Memory", "memory", in_menu=False),
    View("sessions", "/sessions", "Sessions", "sessions", key="e"),
    View("session", "/sessions/{name}", "Session", "sessions", in_menu=False, function="load_one"),
    View("insights", "/insights", "Insights", "insights", key="i"),
    View("brief", "/brief", "Brief", "brief", key="b"),
    View("review", "/review", "Review", "review", key="r"),
    View("recalls", "/recalls", "Recalls", "recalls", key="q"),
    View("health", "/health", "Health", "health", key="h"),
)
"""The views; the page makes its addresses of them, the terminal finds them by name."""


def view_named(name: str) -> View | None:
    """Return the view of a name, None without one."""
    return next((view for view in VIEWS if view.name == name), None)
