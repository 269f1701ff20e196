"""Opens the store that the settings name: a file in the folder, or a PostgreSQL database that many machines share.

The one place that knows both; neither engine is imported before it is opened.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, cast

from hybrid_memory.config_file import read_config
from hybrid_memory.errors import InvalidInput
from hybrid_memory.settings import DATABASE, database_environment, variables
from hybrid_memory.store.store_file import file_restorer

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hybrid_memory.clock import Clock, RandomSource
    from hybrid_memory.settings import StoreSettings
    from hybrid_memory.store.base import Store
    from hybrid_memory.store.postgres.target import Target
    from hybrid_memory.store.restoring import Restorer

WITHOUT_DRIVER = (
    "names a PostgreSQL database, for which a part of this program is missing: install it with its extra postgresql, "
    "as with `uv tool install --reinstall '.[postgresql]'` in the folder of the project"
)


def target_of_settings(settings: StoreSettings, environ: Mapping[str, str] | None = None) -> Target | None:
    """Return where the database is that the settings name; None where the store is a file in the folder.

    ``environ`` are the variables in which the driver looks for what the address leaves out; those of this process when not given.

    Raises:
        InvalidInput: the address, or the file with its password, cannot be used.
    """
    if settings.store is None:
        return None
    from hybrid_memory.store.postgres.target import target_of

    return target_of(
        settings.store, database_environment() if environ is None else environ, settings.store_password_file
    )


def target_named(address: str, environ: Mapping[str, str]) -> Target:
    """Return where the database of an address is, with ``environ`` in place of this process's variables.

    Raises:
        InvalidInput: it cannot be used.
    """
    from hybrid_memory.store.postgres.target import target_of

    return target_of(address, environ)


def is_missing(home: Path) -> bool:
    """Return whether the store of a folder is a file that is not there yet; what a database holds nobody knows before it is asked."""
    return not (home / DATABASE).exists() and _named(home) is None


def shown_address(home: Path) -> str | None:
    """Return where the database of a folder's memory is, without secrets; None where the store is a file."""
    named = _named(home)
    if named is None:
        return None
    from hybrid_memory.store.postgres.target import shown_address

    return shown_address(named)


def _named(home: Path) -> str | None:
    """Return the setting ``store``, whether or not the other settings can be used."""
    found = variables().get("store") or read_config(home).get("store")
    return None if found is None else str(found)


def open_store(settings: StoreSettings, home: Path, clock: Clock, random_source: RandomSource | None = None) -> Store:
    """Open the store that the settings name; one that is not there yet is made.

    ``home`` is the folder of a store that is a file. ``random_source`` gives a new store its secrets; it is the machine's when not given.

    Raises:
        InvalidInput: the setting ``store`` cannot be used, or what it needs is not installed.
        StoreError: the store cannot be opened.
    """
    target = target_of_settings(settings)
    if target is None:
        from hybrid_memory.store.duck.store import DuckStore

        return DuckStore.open(home / DATABASE, clock, random_source=random_source)
    with _driver_needed():
        from hybrid_memory.store.postgres.store import PostgresStore
    store = PostgresStore.open(
        target.conninfo_now,
        clock,
        wait_seconds=settings.store_wait_seconds,
        random_source=random_source,
        notices=target.notices,
    )
    if settings.offline_reads_seconds:
        from hybrid_memory.store.offline import OfflineReads

        return cast("Store", OfflineReads(cast("Store", store), settings.offline_reads_seconds))
    return cast("Store", store)


def restorer_of(settings: StoreSettings, home: Path) -> Restorer:
    """Return what puts a backup in the place of the store that the settings name, whether it can be opened or not.

    Raises:
        InvalidInput: the setting ``store`` cannot be used.
    """
    target = target_of_settings(settings)
    if target is None:
        return file_restorer(home)
    with _driver_needed():
        from hybrid_memory.store.postgres.restoring_store import restorer_of_database

    return restorer_of_database(target.conninfo_now, home, wait_seconds=settings.store_wait_seconds)


@contextmanager
def _driver_needed() -> Iterator[None]:
    """Say what to install where PostgreSQL's driver cannot be imported."""
    try:
        yield
    except ImportError as error:
        if (error.name or "").partition(".")[0] not in ("psycopg", "psycopg_pool", "psycopg_binary", ""):
            raise
        raise InvalidInput("store", WITHOUT_DRIVER) from None
