"""The MCP server of a memory under test: the product's own, which also notes every call."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING, Any

from mcp.server.mcpserver.context import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import CallToolResult, GetPromptResult, InputRequiredResult

from hybrid_memory.model import Scope
from hybrid_memory_mcp.mcp_api.memory_server import MemoryServer
from hybrid_memory_testing.clock import STEP
from hybrid_memory_testing.transcript import GET_PROMPT, READ_RESOURCE, Call, text_of

if TYPE_CHECKING:
    from hybrid_memory_mcp.mcp_api.views import Views
    from hybrid_memory_mcp.runtime.client_place import ClientPlace
    from hybrid_memory_mcp.runtime.provider import MemoryAccess
    from hybrid_memory_testing.clock import MovableClock

_WAITS = "(asked the client's own model)"


@dataclass
class Observer:
    """What the servers of one test share: its clock, and where calls are noted."""

    clock: MovableClock
    on_call: Callable[[Call], None]
    clients: int = 0

    def next_client(self) -> int:
        """Return the number of a new client."""
        self.clients += 1
        return self.clients - 1


class ObservedServer(MemoryServer):
    """`MemoryServer` whose calls are noted; after each a second has passed."""

    def __init__(
        self,
        observer: Observer,
        provider: MemoryAccess,
        scope: Scope | ClientPlace,
        zone: tzinfo | None,
        views: Views,
        **options: Any,
    ) -> None:
        with _logging_as_it_is():
            super().__init__(provider, scope, zone, views, **options)
        self._observer = observer
        self._client = observer.next_client()

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[None, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        """Call a tool and note it, also where it refuses."""
        at = self._observer.clock.now()
        try:
            result = await super().call_tool(name, arguments, context)
        except ToolError as error:
            self._note(name, arguments, at, text=str(error), failed=True)
            raise
        if isinstance(result, InputRequiredResult):
            self._note(name, arguments, at, text=_WAITS)
        else:
            answer = result.structured_content or {}
            self._note(name, arguments, at, text=text_of(result), answer=answer, failed=bool(result.is_error))
        return result

    async def read_resource(self, uri: Any, context: Context[None, Any] | None = None) -> Any:
        """Return a resource and note that it was read."""
        at = self._observer.clock.now()
        contents = await super().read_resource(uri, context)
        found = contents if isinstance(contents, InputRequiredResult) else list(contents)
        texts = [] if isinstance(found, InputRequiredResult) else [str(one.content) for one in found]
        self._note(READ_RESOURCE, {"uri": str(uri)}, at, text="\n".join(texts))
        return found

    async def get_prompt(
        self, name: str, arguments: dict[str, Any] | None = None, context: Context[None, Any] | None = None
    ) -> GetPromptResult | InputRequiredResult:
        """Return a prompt and note that it was fetched."""
        at = self._observer.clock.now()
        found = await super().get_prompt(name, arguments, context)
        self._note(GET_PROMPT, {"name": name, **(arguments or {})}, at)
        return found

    def _note(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        at: datetime,
        *,
        text: str = "",
        answer: Mapping[str, Any] | None = None,
        failed: bool = False,
    ) -> None:
        self._observer.on_call(
            Call(
                tool=tool,
                arguments=dict(arguments),
                answer=answer or {},
                text=text,
                failed=failed,
                session=self._where.scope.session,
                agent=self._where.scope.agent,
                client=self._client,
                at=at,
            )
        )
        self._observer.clock.advance(seconds=STEP.total_seconds())


@contextmanager
def _logging_as_it_is() -> Iterator[None]:
    """Keep the SDK's server from putting a handler of its own into the log of somebody's tests."""
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    try:
        yield
    finally:
        for handler in root.handlers[:]:
            if handler not in handlers:
                root.removeHandler(handler)
        root.setLevel(level)
