"""MCP Apps (extension ``io.modelcontextprotocol/ui``, specification 2026-01-26): an extra may show the answers of tools in the chat.

Only a client that announced the extension hears of the app. Others get the same bytes as without it: no resource more, no token more.
What the app shows beyond an answer is in the answer's metadata under `CARD`, which hosts hand to the app and not to the model.
The app calls our ordinary tools through its host. Its calls carry `CARD` in their metadata, which no model writes: the person looked or
corrected, not the assistant.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from mcp.server import MCPServer
from mcp.server.apps import APP_MIME_TYPE, EXTENSION_ID, client_supports_apps
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel.helper_types import ReadResourceContents

from hybrid_memory.extras import load_extra, names_of_extras
from hybrid_memory.model import MemoryId, Scope
from hybrid_memory.requests import Hit
from hybrid_memory_mcp.mcp_api import sdk

if TYPE_CHECKING:
    from hybrid_memory.service.memory_service import MemoryService

CARD = "io.github.hybrid-memory-mcp/card"
"""Set in the metadata of a call that a person made in the app."""

_GROUP = "hybrid_memory_mcp.apps"
_SCHEME = "ui://"


@dataclass(frozen=True, kw_only=True)
class App:
    """An app as an extra offers it, under the entry point group ``hybrid_memory_mcp.apps``.

    ``uri`` to ``meta`` are those of its resource, whose text ``document`` returns. ``shown_by`` names the tools whose answers it shows.
    ``details`` returns what it shows of some hits beyond an answer, by id: of those that the answer shows.
    """

    uri: str
    name: str
    title: str
    description: str
    meta: Mapping[str, Any]
    shown_by: Sequence[str]
    document: Callable[[], str]
    details: Callable[[MemoryService, Scope, Sequence[Hit], Sequence[MemoryId]], dict[str, Any]]


@cache
def installed_app() -> App | None:
    """Return the app that is installed, if there is one; looked for only when a client that shows apps asks for something of it."""
    names = names_of_extras(_GROUP)
    return load_extra(_GROUP, names[0]) if names else None


def announce_app(server: MCPServer[None]) -> None:
    """Have clients that show apps told of the app."""
    sdk.lowlevel_server_of(server).middleware.append(_tell)


def read_app(uri: str) -> list[ReadResourceContents] | None:
    """Return the document of the app; None where that is not what an address names."""
    app = installed_app() if uri.startswith(_SCHEME) else None
    if app is None or app.uri != uri:
        return None
    return [ReadResourceContents(content=app.document(), mime_type=APP_MIME_TYPE, meta=dict(app.meta))]


def is_of_card(meta: Mapping[str, Any] | None) -> bool:
    """Return True if the metadata of a call says that a person made it in the app."""
    return (meta or {}).get(CARD) is True


def for_card(
    service: MemoryService, scope: Scope, hits: Sequence[Hit], shown: Sequence[MemoryId]
) -> dict[str, Any] | None:
    """Return the metadata of an answer: what the app shows of the hits beyond it; None without an app."""
    app = installed_app()
    return None if app is None else {CARD: app.details(service, scope, hits, shown)}


async def _tell(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
    """Add to what a client hears about this server, if it shows apps; the result is as it goes to the client."""
    result = await call_next(ctx)
    add = _ADDITIONS.get(ctx.method)
    return add(dict(result)) if add is not None and isinstance(result, dict) and _shows_apps(ctx) else result


def _shows_apps(ctx: ServerRequestContext[Any, Any]) -> bool:
    if ctx.method != "initialize":
        return client_supports_apps(ctx)
    told: Any = ctx.params  # the client of a handshake is known only after it
    for name in ("capabilities", "extensions", EXTENSION_ID, "mimeTypes"):
        told = told.get(name) if isinstance(told, Mapping) else None
    return isinstance(told, list) and APP_MIME_TYPE in told


def _with_extension(result: dict[str, Any]) -> dict[str, Any]:
    capabilities = dict(result.get("capabilities") or {})
    extensions = dict(capabilities.get("extensions") or {}) | {EXTENSION_ID: {}}
    return result | {"capabilities": capabilities | {"extensions": extensions}}


def _with_app(result: dict[str, Any]) -> dict[str, Any]:
    app = installed_app()
    if app is None:
        return result
    shown = {"_meta": {"ui": {"resourceUri": app.uri}}}
    tools = [{**one, **shown} if one.get("name") in app.shown_by else one for one in result.get("tools", ())]
    return _for_this_client(result) | {"tools": tools}


def _with_resource(result: dict[str, Any]) -> dict[str, Any]:
    app = installed_app()
    if app is None:
        return result
    listed = {
        "uri": app.uri,
        "name": app.name,
        "title": app.title,
        "description": app.description,
        "mimeType": APP_MIME_TYPE,
        "_meta": dict(app.meta),
    }
    return _for_this_client(result) | {"resources": [*result.get("resources", ()), listed]}


def _for_this_client(result: dict[str, Any]) -> dict[str, Any]:
    """Return a list without leave to show it to other clients, where the protocol speaks of that."""
    return result | ({"cacheScope": "private"} if "cacheScope" in result else {})


_ADDITIONS = {
    "initialize": _with_extension,
    "server/discover": _with_extension,
    "tools/list": _with_app,
    "resources/list": _with_resource,
}
