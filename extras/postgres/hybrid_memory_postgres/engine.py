"""What the library opens databases with: a `hybrid_memory.store.engines.StoreEngine`. psycopg is imported when one is opened."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, cast

from hybrid_memory.errors import InvalidInput
from hybrid_memory.store.engines import StoreDatabase, StoreEngine
from hybrid_memory_postgres.target import Target, refuse_secret, shown_address, target_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from hybrid_memory.clock import Clock, RandomSource
    from hybrid_memory.settings import StoreSettings
    from hybrid_memory.store.base import Store
    from hybrid_memory.store.restoring import Restorer

_WITHOUT_DRIVER = (
    "names a PostgreSQL database, for which a part of this program is missing: install it with its extra postgresql, "
    "as with `uv tool install --reinstall '.[postgresql]'` in the folder of the project"
)
_LOOK_SECONDS = 2.0  # for a note that is not worth a longer wait


@dataclass(frozen=True, slots=True)
class PostgresDatabase(StoreDatabase):
    """The database of an address (`hybrid_memory.store.engines.StoreDatabase`)."""

    at: Target

    @property
    def shown(self) -> str:
        """The address as people may see it and type it."""
        return self.at.shown

    @property
    def digest(self) -> str:
        """The same for addresses of the same database, schema and user."""
        return self.at.digest

    def open(self, settings: StoreSettings, clock: Clock, random_source: RandomSource | None) -> Store:
        """Open the store in it, with reads that go on without it if the settings say so."""
        with _driver_needed():
            from hybrid_memory_postgres.store import PostgresStore
        store = PostgresStore.open(
            self.at.conninfo_now,
            clock,
            wait_seconds=settings.store_wait_seconds,
            random_source=random_source,
            notices=self.at.notices,
        )
        if settings.offline_reads_seconds:
            from hybrid_memory_postgres.offline import OfflineReads

            return cast("Store", OfflineReads(cast("Store", store), settings.offline_reads_seconds))
        return cast("Store", store)

    def restorer(self, settings: StoreSettings, home: Path) -> Restorer:
        """Return what puts a backup in the place of the store in it, whether that can be opened or not."""
        with _driver_needed():
            from hybrid_memory_postgres.restoring_store import restorer_of_database

        return restorer_of_database(self.at.conninfo_now, home, wait_seconds=settings.store_wait_seconds)

    def namespace_role(self, namespace: str) -> str | None:
        """Return the role that a hub takes for calls on a namespace."""
        from hybrid_memory_postgres.connections import EVERYTHING, Connections
        from hybrid_memory_postgres.walls import roles_of_login

        with (
            Connections(self.at.conninfo, size=1, wait_seconds=_LOOK_SECONDS) as connections,
            connections.reading(EVERYTHING) as session,
        ):
            return next((role for role, reach in roles_of_login(session) if namespace in reach), None)


class PostgresEngine(StoreEngine):
    """Stores on PostgreSQL servers."""

    def database(self, address: str, environ: Mapping[str, str], password_file: Path | None = None) -> PostgresDatabase:
        """Return the database of an address, with the variables that libpq reads."""
        return PostgresDatabase(target_of(address, environ, password_file))

    def shown_address(self, address: str) -> str:
        """Return what may be shown of an address; never a secret, and never an error."""
        return shown_address(address)

    def refuse_secret(self, address: str, place: str) -> str:
        """Return an address, unless it holds a password in a place that others can read."""
        return refuse_secret(address, place)


def typed_target(
    address: str,
    argument: str,
    environ: Mapping[str, str],
    *,
    known: str | None = None,
    known_file: Path | None = None,
    password_file: Path | None = None,
) -> Target:
    """Return where the database of an address is that a person typed, which may not hold a password.

    That comes from ``password_file``, from ``environ`` or, where ``known`` is an address of the same database that others do not see,
    from that or from ``known_file``.

    Raises:
        InvalidInput: names the ``argument`` and what is wrong with it, or PostgreSQL's driver is not installed.
    """
    target = target_of(refuse_secret(address, argument), environ, password_file)
    if find_spec("psycopg") is None:
        raise InvalidInput(argument, _WITHOUT_DRIVER)
    if known is None or password_file is not None or target_of(known, environ).digest != target.digest:
        return target
    return target_of(known, environ) if known_file is None else target_of(address, environ, known_file)


ENGINE = PostgresEngine()
"""The entry points ``postgresql`` and ``postgres`` of the group ``hybrid_memory.stores``."""


@contextmanager
def _driver_needed() -> Iterator[None]:
    """Say what to install where PostgreSQL's driver cannot be imported."""
    try:
        yield
    except ImportError as error:
        if (error.name or "").partition(".")[0] not in ("psycopg", "psycopg_pool", "psycopg_binary", ""):
            raise
        raise InvalidInput("store", _WITHOUT_DRIVER) from None
