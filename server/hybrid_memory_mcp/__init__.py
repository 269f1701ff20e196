"""The MCP server and the command line over `hybrid_memory`."""

__version__ = "0.1.0"
