"""Streamable HTTP (``serve --http``): the same MCP servers as over stdin and stdout, for clients that show a token.

The way of a request: ``server.py`` (uvicorn) → ``app.py`` (address, token, limits) → ``bodies.py`` (one message) → ``sessions.py``
(which MCP server) → the SDK.
"""
