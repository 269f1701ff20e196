"""The smallest MCP server: what any server on this SDK costs before it does anything."""

from mcp.server import MCPServer

server = MCPServer("bare")


@server.tool()
async def echo(text: str) -> str:
    """Give the text back."""
    return text


if __name__ == "__main__":
    server.run()
