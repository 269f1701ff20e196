"""The MCP server and the command line over `hybrid_memory`."""
