"""The MCP server that each client gets: tools, resources, prompts, and their answers. It runs over any transport.

``memory_server.py`` puts the rest together; the hub and the HTTP server make one `MemoryServer` for each client.
"""
