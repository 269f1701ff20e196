"""The operation `view`: what the terminal shows of a memory; one function for all views, because they are data."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Any

from hybrid_memory.errors import InvalidInput
from hybrid_memory_mcp.views.view import ViewRequest, zone_named

if TYPE_CHECKING:
    from hybrid_memory_mcp.admin.operations import OperationRequest

VIEWS = ("now", "search", "timeline", "memory")
"""The views that the terminal shows, each a module in `hybrid_memory_mcp.views`."""


def view(request: OperationRequest) -> dict[str, Any]:
    """Return what a view shows; arguments are ``view``, its ``parameters``, ``personal``, and the ``zone`` of who looks, by its name.

    Raises:
        InvalidInput: there is no such view, or a parameter is wrong.
        NotFound: what the view says is not there.
    """
    name = str(request.arguments.get("view", ""))
    if name not in VIEWS:
        raise InvalidInput("view", f"is one of {', '.join(VIEWS)}")
    load = import_module(f"hybrid_memory_mcp.views.{name}").load
    given = request.arguments.get("parameters") or {}
    asked = ViewRequest(
        scope=replace(request.scope, personal=request.arguments.get("personal")),
        parameters={str(key): str(value) for key, value in given.items()},
        zone=zone_named(request.arguments.get("zone")),
        home=request.home,
        clients=request.clients,
    )
    shown: dict[str, Any] = request.run(lambda service: load(service, asked))
    return shown
