"""Who may come in over loopback, where any user of the machine can knock: one who knows the token."""

from __future__ import annotations

import secrets
import socket

import anyio

from hybrid_memory_mcp.relay.reaching import proof

SHAKING_HANDS = 5.0

_NONCE = 16
_PROOF = 32


async def admit(guest: socket.socket, token: bytes) -> bool:
    """Say whether who connected knows the token, and prove that this hub does; no thread waits for a stranger."""
    guest.settimeout(0)
    try:
        with anyio.move_on_after(SHAKING_HANDS):
            theirs, ours = await _read_exactly(guest, _NONCE), secrets.token_bytes(_NONCE)
            guest.sendall(proof(token, theirs, b"hub") + ours)  # fits into the buffer of a connection that is new
            return secrets.compare_digest(await _read_exactly(guest, _PROOF), proof(token, ours, b"relay"))
    except OSError:
        pass
    return False


async def _read_exactly(guest: socket.socket, count: int) -> bytes:
    found = b""
    while len(found) < count:
        await anyio.wait_readable(guest)
        part = guest.recv(count - len(found))
        if not part:
            raise ConnectionResetError("the other side left")
        found += part
    return found
