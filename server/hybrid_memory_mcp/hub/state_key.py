"""The key that seals what clients carry for a hub, so that the next hub of the same store can read it too."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

STATE_KEY_BYTES = 32

_FILE = "state.key"


def load_state_key(home: Path) -> bytes:
    """Return the store's key, made at first use; one of this process alone where it cannot be kept."""
    path = home / _FILE
    with suppress(OSError):
        found = path.read_bytes()
        if len(found) == STATE_KEY_BYTES:
            return found
    fresh = os.urandom(STATE_KEY_BYTES)
    with suppress(OSError):
        # Only the holder of the hub's lock writes here, so nobody replaces what another one uses.
        new = path.with_name(_FILE + ".new")
        new.unlink(missing_ok=True)
        with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(fresh)
        new.replace(path)
    return fresh
