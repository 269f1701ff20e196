"""The OpenAI Agents SDK: strict schemas, and the tools as it hands them to a model."""

from agents.mcp import MCPServerStdio
from agents.mcp.util import MCPUtil
from agents.strict_schema import ensure_strict_json_schema
from converting import converted, copied, mcp_tools

server = MCPServerStdio({"command": "true"})  # never started
strict = {tool.name: MCPUtil.to_function_tool(tool, server, convert_schemas_to_strict=True) for tool in mcp_tools()}
assert all(tool.strict_json_schema for tool in strict.values())
converted(
    {
        "strict schema": {tool.name: ensure_strict_json_schema(copied(tool.input_schema)) for tool in mcp_tools()},
        "strict tool": {name: tool.params_json_schema for name, tool in strict.items()},
    }
)
