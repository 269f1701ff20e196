"""The operation `view`: what the inspector shows, for a terminal; one function for all views, because they are data."""

from __future__ import annotations

from dataclasses import replace
from datetime import tzinfo
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from hybrid_memory.errors import InvalidInput
from hybrid_memory_mcp.inspector.table import VIEWS, view_named
from hybrid_memory_mcp.inspector.view import ViewRequest

if TYPE_CHECKING:
    from hybrid_memory_mcp.admin.operations import OperationRequest


def view(request: OperationRequest) -> dict[str, Any]:
    """Return what a view shows; arguments are ``view``, its ``parameters``, ``personal``, and the ``zone`` of who looks, by its name.

    Raises:
        InvalidInput: there is no such view, or a parameter is wrong.
        NotFound: what the view says is not there.
    """
    name = str(request.arguments.get("view", ""))
    found = view_named(name)
    if found is None:
        raise InvalidInput("view", f"is one of {', '.join(one.name for one in VIEWS)}")
    given = request.arguments.get("parameters") or {}
    asked = ViewRequest(
        scope=replace(request.scope, personal=request.arguments.get("personal")),
        parameters={str(key): str(value) for key, value in given.items()},
        zone=_zone(request.arguments.get("zone")),
        home=request.home,
        clients=request.clients,
    )
    return request.run(lambda service: found.load(service, asked))


def _zone(name: Any) -> tzinfo | None:
    """Return the zone of a name; None, which is that of this process, where nobody tells one or the system does not know it."""
    try:
        return ZoneInfo(name) if name else None
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None
