"""What libpq is told for a connection: text, or what gives it anew for each one, since a password may be changed while hubs run."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

Conninfo: TypeAlias = str | Callable[[], str]
"""libpq's, as psycopg's pool takes it too."""


def conninfo_now(conninfo: Conninfo) -> str:
    """Return what libpq is told for a connection that is made now."""
    return conninfo if isinstance(conninfo, str) else conninfo()
