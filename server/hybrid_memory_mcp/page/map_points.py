"""The address ``/map/points.bin``: the points of the map as bytes (`hybrid_memory_mcp.inspector.map_points`)."""

from __future__ import annotations

from collections.abc import Callable
from http import HTTPStatus
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from hybrid_memory_mcp.inspector.map_points import points

if TYPE_CHECKING:
    from hybrid_memory_mcp.inspector.view import ViewRequest
    from hybrid_memory_mcp.runtime.provider import MemoryAccess


def routes(memory: MemoryAccess, asked: Callable[[Request], ViewRequest]) -> list[BaseRoute]:
    """Return the address of the points; ``asked`` makes a request of a view of one of the page."""

    async def answer(request: Request) -> Response:
        wanted = asked(request)
        found = await memory.call(lambda service: points(service, wanted))
        if found is None:
            return Response("the map is being drawn", HTTPStatus.SERVICE_UNAVAILABLE, media_type="text/plain")
        return Response(found, media_type="application/octet-stream")

    return [Route("/map/points.bin", answer)]
