"""A hub as a process of its own: it listens first and imports what it needs afterwards."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn


def main(arguments: Sequence[str]) -> NoReturn:
    """Be the hub of a store, in the background; does nothing when it has one."""
    import gc

    from hybrid_memory_mcp.relay import paths

    if hasattr(os, "fork") and os.fork():
        # Nobody's child: a client that ends the processes it started does not end the others' hub.
        os._exit(0)
    os.umask(0o077)
    gc.disable()
    home = Path(paths.store_folder(arguments, {}))
    from hybrid_memory_mcp.hub.listener import acquire_listener

    try:
        listener = acquire_listener(home)
    except OSError as error:
        sys.exit(f"hybrid-memory-mcp: the hub cannot listen: {error.strerror}")
    if listener is None:
        sys.exit(0)
    from hybrid_memory_mcp.hub import run

    gc.enable()
    gc.freeze()
    run.serve(home, listener, paths.option(arguments, "--embedder"))
    listener.release()
    sys.stderr.flush()
    os._exit(0)
