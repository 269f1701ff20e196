"""Anthropic's SDK: MCP tools as tools of a message, and as its strict mode wants schemas; and its reading of our resource."""

from anthropic import transform_schema
from anthropic.lib.tools.mcp import async_mcp_tool, mcp_resource_to_content
from converting import converted, copied, mcp_tools, status
from mcp.types import ReadResourceResult

assert mcp_resource_to_content(ReadResourceResult.model_validate(status()))
converted(
    {
        "tool": {tool.name: async_mcp_tool(tool, None).to_dict()["input_schema"] for tool in mcp_tools()},
        "strictly typed": {tool.name: transform_schema(copied(tool.input_schema)) for tool in mcp_tools()},
    }
)
