"""The Agent Development Kit of Google: what it declares to Gemini and Vertex of an MCP tool."""

from converting import converted, mcp_tools
from google.adk.tools._gemini_schema_util import _to_gemini_schema
from google.adk.tools.mcp_tool.mcp_tool import McpTool


def declared(tool):
    made = McpTool(mcp_tool=tool, mcp_session_manager=None)._get_declaration()
    if made.parameters_json_schema is not None:
        return made.parameters_json_schema
    return made.parameters.model_dump(mode="json", exclude_none=True)


converted(
    {
        "declaration": {tool.name: declared(tool) for tool in mcp_tools()},
        "schema of Gemini": {
            tool.name: _to_gemini_schema(tool.input_schema).model_dump(mode="json", exclude_none=True)
            for tool in mcp_tools()
        },
    }
)
