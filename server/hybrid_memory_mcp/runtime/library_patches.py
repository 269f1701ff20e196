"""Changes to libraries in this process: no tracebacks in the log, and an empty ``pandas`` so that DuckDB does not look for it."""

from __future__ import annotations

import logging
import sys
from types import ModuleType


def redact_tracebacks() -> None:
    """Let what the handlers of the root logger write name the place of an error in its one line.

    Libraries log whole tracebacks, at a client's will when it goes away in the middle, and an error's text could hold what
    somebody stored.
    """
    for handler in logging.getLogger().handlers:
        handler.addFilter(_shortened)


def install_pandas_stub() -> None:
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
        from hybrid_memory_mcp.runtime.error_log import location_of

        record.msg, record.args = f"{record.getMessage()}: {location_of(record.exc_info[1])}", ()
        record.exc_info = record.exc_text = None
    return True
