"""``hybrid-memory-mcp hub``: the hub as a process of its own. Relays start it (``relay/connecting.py`` `start_hub`).

The order matters: leave the starter's process tree, take the lock and listen, import everything heavy, serve (``run.py``). Relays
connect as soon as it listens and wait for its welcome.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn


def main(arguments: Sequence[str]) -> NoReturn:
    """Run the hub of a store in the background until it is unused; ends at once when the store has a hub."""
    import gc

    from hybrid_memory_mcp.relay import paths

    if hasattr(os, "fork") and os.fork():
        # Nobody's child: a client that ends the processes it started does not end the others' hub.
        os._exit(0)
    os.umask(0o077)  # what is made here is for this user alone
    gc.disable()  # while thousands of classes are made; collecting then costs a third of the time that importing takes
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
