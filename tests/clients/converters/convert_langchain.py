"""LangChain: an MCP tool as its own, and that as a function of OpenAI, strict or not."""

from converting import converted, mcp_tools
from langchain_core.utils.function_calling import convert_to_openai_tool
from langchain_mcp_adapters.tools import convert_mcp_tool_to_langchain_tool

connection = {"transport": "stdio", "command": "true", "args": []}
tools = {one.name: convert_mcp_tool_to_langchain_tool(None, one, connection=connection) for one in mcp_tools()}


def parameters(**options):
    return {name: convert_to_openai_tool(tool, **options)["function"]["parameters"] for name, tool in tools.items()}


converted({"function": parameters(), "strict function": parameters(strict=True)})
