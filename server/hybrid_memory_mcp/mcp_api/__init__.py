"""The MCP server of one client: tools, resources, prompts, and what they answer."""
