"""``hybrid-memory-mcp hub``: the hub as a process of its own. Relays start it (``relay/connecting.py`` `start_hub`).

The order matters: leave the starter's process tree, take the lock and listen, import everything heavy, serve (``run.py``). Relays
connect as soon as it listens and wait for its welcome.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NoReturn


def main(arguments: Sequence[str]) -> NoReturn:
    """Run the hub of a store in the background until it is unused; ends at once when the store has a hub."""
    import gc

    from hybrid_memory_mcp.relay import paths

    say_listening = _leave_starter()
    os.umask(0o077)  # what is made here is for this user alone
    gc.disable()  # while thousands of classes are made; collecting then costs a third of the time that importing takes
    home = Path(paths.store_folder(arguments, {}))
    from hybrid_memory_mcp.hub.listener import acquire_listener

    try:
        listener = acquire_listener(home)
    except OSError as error:
        sys.exit(f"hybrid-memory-mcp: the hub cannot listen: {error.strerror}")
    say_listening()
    if listener is None:
        sys.exit(0)
    from hybrid_memory_mcp.hub import run

    if paths.FOR_COMMAND in arguments:
        run.import_operations()
    else:
        run.import_serving()
    gc.enable()
    gc.freeze()
    run.serve(home, listener, paths.option(arguments, "--embedder"))
    listener.release()
    sys.stderr.flush()
    os._exit(0)


def _leave_starter() -> Callable[[], None]:
    """Become nobody's child: a client that ends the processes it started does not end the others' hub.

    Return what lets the process that was started end well. It ends with an error if this one ends before it listens, so that its starter
    does not wait for a hub that will not come.
    """
    if not hasattr(os, "fork"):
        return lambda: None
    reading, writing = os.pipe()
    if os.fork():
        os.close(writing)
        os._exit(0 if os.read(reading, 1) else 1)
    os.close(reading)

    def say_listening() -> None:
        with suppress(OSError):  # the starter has ended it
            os.write(writing, b"l")
        os.close(writing)

    return say_listening
