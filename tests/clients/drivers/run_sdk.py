"""The SDK's own client: ``mcp.Client``, of either era; in memory it speaks to the server object in this process."""

from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC
from pathlib import Path

import anyio
import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.types import ResourceUpdatedNotification
from steps import HEADERS, JOB, play, shown

MODERN = "2026-07-28"


class SdkClient:
    def __init__(self, client, stack, heard):
        self.client, self.stack, (self.send, self.receive) = client, stack, heard

    async def tools(self):
        return [one.name for one in (await self.client.list_tools()).tools]

    async def call(self, tool, arguments):
        result = await self.client.call_tool(tool, arguments)
        return shown(result), result.is_error

    async def subscribe(self, uri):
        if JOB["era"] == "legacy":
            await self.client.subscribe_resource(uri)
            return
        stream = await self.stack.enter_async_context(self.client.listen(resource_subscriptions=[uri]))
        group = await self.stack.enter_async_context(anyio.create_task_group())
        self.stack.callback(group.cancel_scope.cancel)

        async def listen():
            async for event in stream:
                await self.send.send(event.uri)

        group.start_soon(listen)

    async def heard(self):
        return str(await self.receive.receive())


@asynccontextmanager
async def in_memory():
    from hybrid_memory.clock import SystemRandomSource
    from hybrid_memory.model import Scope
    from hybrid_memory_mcp.mcp_api.memory_server import MemoryServer
    from hybrid_memory_mcp.mcp_api.views import Views
    from hybrid_memory_mcp.runtime.provider import ServiceProvider, open_service

    service = open_service(Path(JOB["home"]), None, SystemRandomSource())
    provider, scope = ServiceProvider(lambda: service), Scope(session="driver")
    try:
        yield MemoryServer(provider, scope, UTC, Views(provider, scope, UTC, SystemRandomSource(), None))
    finally:
        service.close()


@asynccontextmanager
async def target():
    if JOB["transport"] == "memory":
        async with in_memory() as server:
            yield server
    elif JOB["transport"] == "http":
        async with httpx2.AsyncClient(headers=HEADERS, timeout=30) as http:
            yield streamable_http_client(JOB["url"], http_client=http)
    else:
        yield StdioServerParameters(command=JOB["command"][0], args=JOB["command"][1:])


@asynccontextmanager
async def connect():
    heard = anyio.create_memory_object_stream(100)

    async def listen(message):
        if isinstance(message, ResourceUpdatedNotification):
            await heard[0].send(message.params.uri)

    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(target())
        mode = "legacy" if JOB["era"] == "legacy" else MODERN
        client = await stack.enter_async_context(Client(server, mode=mode, message_handler=listen))
        yield SdkClient(client, stack, heard)


play(connect)
