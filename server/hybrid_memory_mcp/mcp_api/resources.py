"""The resources: the most recent memories (to subscribe to), one memory, and the state of the memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcp.server.mcpserver.resources import ResourceSecurity

from hybrid_memory_mcp.mcp_api.errors import as_protocol_errors
from hybrid_memory_mcp.mcp_api.subscriptions import RECENT
from hybrid_memory_mcp.mcp_api.views import Views

if TYPE_CHECKING:
    from mcp.server import MCPServer

STATUS = "memory://status"
SESSION_TEMPLATE = RECENT + "/{session}"
MEMORY_TEMPLATE = "memory://memories/{id}"

# A session's name is no path; whatever it holds is only compared.
_ANY_NAME = ResourceSecurity(exempt_params={"session"})


def add_resources(server: MCPServer[None], views: Views) -> None:
    """Register the resources with a server."""

    @server.resource(
        RECENT,
        name="most_recent_memories",
        title="Most recent memories",
        description="A brief: who the user is, what is open, what was decided, the latest memories of all sessions",
        mime_type="text/markdown",
    )
    async def recent() -> str:
        with as_protocol_errors("most_recent_memories"):
            return await views.recent()

    @server.resource(
        STATUS,
        name="status",
        title="State of the memory",
        description="Counts, embedder, store and notices as JSON",
        mime_type="text/plain",  # what is JSON all the same: a helper of Anthropic's SDK takes texts alone
    )
    async def status() -> str:
        with as_protocol_errors("status"):
            return await views.status()

    @server.resource(
        SESSION_TEMPLATE,
        name="session_memories",
        title="Most recent memories of a session",
        description="The latest memories of one session",
        mime_type="text/markdown",
        security=_ANY_NAME,
    )
    async def of_session(session: str) -> str:
        with as_protocol_errors("session_memories"):
            return await views.recent(session)

    @server.resource(
        MEMORY_TEMPLATE,
        name="memory",
        title="One memory",
        description="A memory in full, by its id",
        mime_type="text/markdown",
    )
    async def memory(id: str) -> str:  # noqa: A002 - the name in the template
        with as_protocol_errors("memory"):
            return await views.memory(id)
