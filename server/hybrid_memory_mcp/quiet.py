"""Keeps the SDK from setting up logging by itself."""

from __future__ import annotations

import importlib


def keep_logging() -> None:
    """Leave the root logger as this program has set it up.

    The constructor of the SDK's server would otherwise import rich (tens of milliseconds) and show tracebacks with local
    text. It offers no switch for that, so its function is replaced in this process.
    """
    sdk = importlib.import_module("mcp.server.mcpserver.server")
    vars(sdk)["configure_logging"] = _leave_alone


def _leave_alone(level: str) -> None:
    del level
