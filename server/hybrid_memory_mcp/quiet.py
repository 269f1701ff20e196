"""Keeps libraries from doing in this process what nobody asked them for."""

from __future__ import annotations

import importlib
import logging
import sys
from types import ModuleType


def keep_logging() -> None:
    """Leave the root logger as this program has set it up.

    The constructor of the SDK's server would otherwise import rich (tens of milliseconds) and show tracebacks with local
    text. It offers no switch for that, so its function is replaced in this process.
    """
    sdk = importlib.import_module("mcp.server.mcpserver.server")
    vars(sdk)["configure_logging"] = _leave_alone


def shorten_tracebacks() -> None:
    """Let what the handlers of the root logger write name the place of an error in its one line.

    Libraries log whole tracebacks, at a client's will when it goes away in the middle, and an error's text could hold what
    somebody stored.
    """
    for handler in logging.getLogger().handlers:
        handler.addFilter(_shortened)


def settle_pandas() -> None:
    """Give this process an empty ``pandas``, before DuckDB is used.

    DuckDB 1.5.5 asks for ``pandas.NaT`` at each value that it binds: 0.1 ms each time when pandas is not installed, half a
    second of import when it is. Found once, the answer is kept. Nothing in this process works with data frames.
    """
    if "pandas" in sys.modules:
        return
    empty = ModuleType("pandas", "An empty stand-in: this server has no data frames.")
    for name in ("NaT", "NA", "DataFrame"):
        setattr(empty, name, type(name, (), {}))
    sys.modules["pandas"] = empty


def _shortened(record: logging.LogRecord) -> bool:
    if record.exc_info and record.exc_info[1] is not None:
        from hybrid_memory_mcp.errors import outline

        record.msg, record.args = f"{record.getMessage()}: {outline(record.exc_info[1])}", ()
        record.exc_info = record.exc_text = None
    return True


def _leave_alone(level: str) -> None:
    del level
