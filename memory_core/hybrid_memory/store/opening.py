"""Opens the store that the settings name: a file in the folder, or a database of an engine that an extra brings (`store.engines`).

Neither engine is imported before it is opened.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hybrid_memory.config_file import read_config
from hybrid_memory.settings import DATABASE, database_environment, variables
from hybrid_memory.store.store_file import file_restorer

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hybrid_memory.clock import Clock, RandomSource
    from hybrid_memory.settings import StoreSettings
    from hybrid_memory.store.base import Store
    from hybrid_memory.store.engines import StoreDatabase
    from hybrid_memory.store.restoring import Restorer


def database_of_settings(settings: StoreSettings) -> StoreDatabase | None:
    """Return the database that the settings name; None where the store is a file in the folder.

    Raises:
        InvalidInput: the address, or the file with its password, cannot be used.
    """
    if settings.store is None:
        return None
    return database_named(settings.store, database_environment(), settings.store_password_file)


def database_named(address: str, environ: Mapping[str, str], password_file: Path | None = None) -> StoreDatabase:
    """Return the database of an address, with ``environ`` in place of this process's variables.

    Raises:
        InvalidInput: it cannot be used.
    """
    from hybrid_memory.store.engines import engine_of

    return engine_of(address).database(address, environ, password_file)


def is_missing(home: Path) -> bool:
    """Return whether the store of a folder is a file that is not there yet; what a database holds nobody knows before it is asked."""
    return not (home / DATABASE).exists() and _named(home) is None


def shown_address(home: Path) -> str | None:
    """Return where the database of a folder's memory is, without secrets; None where the store is a file."""
    named = _named(home)
    if named is None:
        return None
    from hybrid_memory.store import engines

    return engines.shown_address(named)


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
    database = database_of_settings(settings)
    if database is not None:
        return database.open(settings, clock, random_source)
    from hybrid_memory.store.duck.store import DuckStore

    return DuckStore.open(
        home / DATABASE,
        clock,
        random_source=random_source,
    )


def restorer_of(settings: StoreSettings, home: Path) -> Restorer:
    """Return what puts a backup in the place of the store that the settings name, whether it can be opened or not.

    Raises:
        InvalidInput: the setting ``store`` cannot be used.
    """
    database = database_of_settings(settings)
    return file_restorer(home) if database is None else database.restorer(settings, home)
