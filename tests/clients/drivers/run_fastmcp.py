"""fastmcp: its ``Client``."""

from contextlib import asynccontextmanager

from fastmcp import Client
from fastmcp.client.transports import StdioTransport, StreamableHttpTransport
from steps import JOB, play, shown


class FastMcp:
    def __init__(self, client):
        self.client = client

    async def tools(self):
        return [one.name for one in await self.client.list_tools()]

    async def call(self, tool, arguments):
        result = await self.client.call_tool(tool, arguments, raise_on_error=False)
        return shown(result), result.is_error


@asynccontextmanager
async def connect():
    if JOB["transport"] == "http":
        transport = StreamableHttpTransport(JOB["url"], auth=JOB["token"])
    else:
        transport = StdioTransport(JOB["command"][0], JOB["command"][1:], keep_alive=False)
    async with Client(transport) as client:
        yield FastMcp(client)


play(connect)
