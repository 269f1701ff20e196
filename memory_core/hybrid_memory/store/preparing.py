"""Make a database ready for hubs, as its administrator does once: for a command that does not know which database it is."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from hybrid_memory.clock import Clock
from hybrid_memory.errors import InvalidInput
from hybrid_memory.store.postgres.target import refuse_secret, target_of

if TYPE_CHECKING:
    from hybrid_memory.store.postgres.preparing import Prepared


def prepare_database(
    address: str,
    *,
    role: str,
    namespaces: Collection[str] = (),
    hub: str | None = None,
    password_file: Path | None = None,
    environ: Mapping[str, str],
    clock: Clock,
) -> Prepared:
    """Make tables, roles and rights in the database of an address, as `hybrid_memory.store.postgres.preparing.prepare` says.

    The address is typed, so it may not hold a password: that comes from ``password_file`` or ``environ``.

    Raises:
        InvalidInput: the address, the file or a role cannot be used, or PostgreSQL's driver is not installed.
        StoreError: the database cannot be reached, or the login has no right to do this.
    """
    target = target_of(refuse_secret(address, "address"), environ, password_file)
    if find_spec("psycopg") is None:
        raise InvalidInput("address", "needs PostgreSQL's driver: install hybrid-memory-mcp[postgresql]")
    from hybrid_memory.store.postgres.connections import Connections
    from hybrid_memory.store.postgres.preparing import prepare

    connections = Connections(target.conninfo, size=1)
    connections.open()
    try:
        return prepare(connections, clock.now(), role, namespaces, hub)
    finally:
        connections.close()
