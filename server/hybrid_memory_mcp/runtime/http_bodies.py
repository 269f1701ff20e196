"""A body that was read already, for who reads it again.

Used by ``http/app.py`` (MCP) and ``page/access.py`` (the page that a person opens): both look at a body before the application does.
"""

from __future__ import annotations

from starlette.types import Message, Receive


def replayed(body: bytes, receive: Receive) -> Receive:
    """Return a way to receive that gives the body first, then what else comes."""
    given = False

    async def again() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again
