"""The key with which the MCP SDK seals the state that a client carries from one call to the next.

It is kept in the store's folder, so that the next hub of the same store can read what an earlier one sealed.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from hybrid_memory.private_files import replace_private
from hybrid_memory_mcp.relay.processes import read_own

STATE_KEY_BYTES = 32  # the SDK seals with AES-256

_FILE = "state.key"


def load_state_key(home: Path) -> bytes:
    """Return the store's key, made at first use; one of this process alone where it cannot be kept."""
    path = home / _FILE
    with suppress(OSError):
        # One that somebody else put there would let them seal what clients are believed to carry.
        found = read_own(str(path), STATE_KEY_BYTES + 1)
        if len(found) == STATE_KEY_BYTES:
            return found
    fresh = os.urandom(STATE_KEY_BYTES)
    with suppress(OSError):
        # Only the holder of the hub's lock writes here, so nobody replaces what another one uses.
        replace_private(path, fresh, durable=False)
    return fresh
