"""Make a database ready for hubs, as its administrator does once: for a command that does not know which database it is."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from hybrid_memory.clock import Clock
from hybrid_memory.errors import InvalidInput
from hybrid_memory.store.opening import WITHOUT_DRIVER
from hybrid_memory.store.postgres.target import Target, refuse_secret, target_of

if TYPE_CHECKING:
    from hybrid_memory.store.postgres.preparing import Prepared

_LOOK_SECONDS = 2.0  # for a note that is not worth a longer wait


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
        raise InvalidInput("address", WITHOUT_DRIVER)
    from hybrid_memory.store.postgres.connections import Connections
    from hybrid_memory.store.postgres.preparing import prepare

    connections = Connections(target.conninfo, size=1)
    connections.open()
    try:
        return prepare(connections, clock.now(), role, namespaces, hub)
    finally:
        connections.close()


def namespace_role(target: Target, namespace: str) -> str | None:
    """Return the role that a hub takes for calls on a namespace; None where it stays what it logged in as.

    Raises:
        StoreError: the database cannot be reached now, or refuses the login.
    """
    from hybrid_memory.store.postgres.connections import EVERYTHING, Connections
    from hybrid_memory.store.postgres.walls import roles_of_login

    connections = Connections(target.conninfo, size=1, wait_seconds=_LOOK_SECONDS)
    connections.open()
    try:
        with connections.reading(EVERYTHING) as session:
            return next((role for role, reach in roles_of_login(session) if namespace in reach), None)
    finally:
        connections.close()
