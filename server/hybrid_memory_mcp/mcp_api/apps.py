"""MCP Apps (extension ``io.modelcontextprotocol/ui``, specification 2026-01-26): hits shown as a card that can be corrected in place.

Only a client that announced the extension hears of it. Whoever did not gets the same bytes as before: no resource more, no token more.
What the app shows beyond an answer stands in the answer's metadata under `CARD`, which hosts hand to the app and not to the model.
The app calls our ordinary tools through its host. Its calls carry `CARD` in their metadata, which no model writes: the person looked or
corrected, not the assistant.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from mcp.server import MCPServer
from mcp.server.apps import APP_MIME_TYPE, EXTENSION_ID, client_supports_apps
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.types import Resource

from hybrid_memory.model import Memory, MemoryId, Scope
from hybrid_memory.requests import Hit, ReadRequest
from hybrid_memory.text import excerpt
from hybrid_memory_mcp.chat_app.document import inspector_html
from hybrid_memory_mcp.mcp_api import sdk

if TYPE_CHECKING:
    from hybrid_memory.service import MemoryService

INSPECTOR = "ui://memory/inspector"
SHOWN_BY = ("read_memories", "reflect")
"""The tools whose answers the app shows."""

CARD = "io.github.hybrid-memory-mcp/card"
"""Set in the metadata of a call that a person made in the app."""

BEFORE_LENGTH = 160  # characters of what a memory said before; its details have all of it

_TITLE = "Memories"
_DESCRIPTION = "What was recalled, since when it is known, what it replaced; corrected in place"
_SECURITY: dict[str, Any] = {
    "ui": {"csp": {"connectDomains": [], "resourceDomains": []}, "permissions": {}, "prefersBorder": True}
}
"""It loads nothing and asks for no permission."""


def add_inspector(server: MCPServer[None]) -> None:
    """Register the app with a server, and have it told to clients that show apps."""

    @server.resource(
        INSPECTOR,
        name="inspector",
        title=_TITLE,
        description=_DESCRIPTION,
        mime_type=APP_MIME_TYPE,
        meta=_SECURITY,
    )
    async def inspector() -> str:
        return inspector_html()

    sdk.lowlevel_server_of(server).middleware.append(_tell)


def without_inspector(resources: list[Resource]) -> list[Resource]:
    """Return a list of resources as clients see it that show no apps."""
    return [one for one in resources if one.uri != INSPECTOR]


def is_of_card(meta: Mapping[str, Any] | None) -> bool:
    """Return True if the metadata of a call says that a person made it in the app."""
    return (meta or {}).get(CARD) is True


def for_card(service: MemoryService, scope: Scope, hits: Sequence[Hit], shown: Sequence[MemoryId]) -> dict[str, Any]:
    """Return the metadata of an answer: what the app shows of the hits beyond it, by id, above all what each said before."""
    memories = [hit.memory for hit in hits if hit.memory.id in set(shown)]
    wanted = tuple(one.supersedes for one in memories if one.supersedes is not None)
    found = service.read(scope, ReadRequest(ids=wanted, limit=len(wanted), recalls=False)).hits if wanted else ()
    before = {hit.memory.id: hit.memory for hit in found}
    return {CARD: {one.id: _details(one, before.get(one.supersedes or MemoryId(""))) for one in memories}}


def _details(memory: Memory, before: Memory | None) -> dict[str, Any]:
    told: dict[str, Any] = {"trust": memory.trust.value}
    if memory.pinned:
        told["pinned"] = True
    if before is not None:
        happened = before.occurred_at or before.created_at
        told["before"] = {
            "text": excerpt(before.content, BEFORE_LENGTH),
            "since": happened.isoformat(timespec="seconds"),
        }
    return told


async def _tell(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
    """Add to what a client is told about this server, if it shows apps; the result is as it goes to the client."""
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
    shown = {"_meta": {"ui": {"resourceUri": INSPECTOR}}}
    tools = [{**one, **shown} if one.get("name") in SHOWN_BY else one for one in result.get("tools", ())]
    return _for_this_client(result) | {"tools": tools}


def _with_resource(result: dict[str, Any]) -> dict[str, Any]:
    listed = {
        "uri": INSPECTOR,
        "name": "inspector",
        "title": _TITLE,
        "description": _DESCRIPTION,
        "mimeType": APP_MIME_TYPE,
        "_meta": _SECURITY,
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
