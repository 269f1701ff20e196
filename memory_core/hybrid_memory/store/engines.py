"""Finds the engine of a store whose address the setting ``store`` names, and says what an engine offers.

A store that is a file in the folder needs none of this. An engine is an extra: it offers a `StoreEngine` as an entry point of the group
``hybrid_memory.stores``, under the scheme of its addresses (``postgresql``). Nothing here looks at entry points before there is an address.
"""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, Protocol

from hybrid_memory.errors import InvalidInput
from hybrid_memory.extras import load_extra, names_of_extras
from hybrid_memory.private_files import open_plain_file

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from hybrid_memory.clock import Clock, RandomSource
    from hybrid_memory.settings import StoreSettings
    from hybrid_memory.store.base import Store
    from hybrid_memory.store.restoring import Restorer

PASSWORD_FILE = "store_password_file"  # noqa: S105 - the name of a setting

_LONGEST_PASSWORD = 10_000  # bytes of a file; a token of a cloud's login has about 2,000
_GROUP = "hybrid_memory.stores"
_NO_ADDRESS = "must be an address as postgresql://user@host/database; the folder of a store is named by home"


class StoreDatabase(Protocol):
    """A database that an address names; nothing is connected to it before a method is called."""

    @property
    def shown(self) -> str:
        """The address as people may see it and type it, without secrets."""
        ...

    @property
    def digest(self) -> str:
        """The same for addresses of the same store as the same user, whatever else they say."""
        ...

    def open(self, settings: StoreSettings, clock: Clock, random_source: RandomSource | None) -> Store:
        """Open the store in it; one that is not there yet is made.

        Raises:
            InvalidInput: a library that this needs is not installed.
            StoreError: the store cannot be opened.
        """
        ...

    def restorer(self, settings: StoreSettings, home: Path) -> Restorer:
        """Return what puts a backup in the place of the store; ``home`` is the folder for what it replaces.

        Raises:
            InvalidInput: a library that this needs is not installed.
        """
        ...

    def namespace_role(self, namespace: str) -> str | None:
        """Return the role that a hub takes for calls on a namespace; None where it stays what it logged in as.

        Raises:
            StoreError: the database cannot be reached now, or refuses the login.
        """
        ...


class StoreEngine(Protocol):
    """What an extra offers for one kind of database. Importing it imports no driver."""

    def database(self, address: str, environ: Mapping[str, str], password_file: Path | None = None) -> StoreDatabase:
        """Return the database of an address.

        ``environ`` are the variables in which the driver looks for what the address leaves out. A password in ``password_file`` wins over
        one in the address.

        Raises:
            InvalidInput: the address or the file cannot be used; the text quotes nothing of either.
        """
        ...

    def shown_address(self, address: str) -> str:
        """Return what may be shown of an address; never a secret, and never an error."""
        ...

    def refuse_secret(self, address: str, place: str) -> str:
        """Return an address, unless it holds a password in a place that others can read.

        Raises:
            InvalidInput: it does; ``place`` names the argument or setting.
        """
        ...


def engine_of(address: str, place: str = "store") -> StoreEngine:
    """Return the engine for an address.

    Raises:
        InvalidInput: it is not an address, or no engine for it is installed; ``place`` names the argument or setting.
    """
    scheme = _scheme(address)
    if scheme is None:
        raise InvalidInput(place, _NO_ADDRESS)
    engine: StoreEngine = load_extra(_GROUP, scheme)
    return engine


def shown_address(address: str) -> str:
    """Return what may be shown of any text that is meant as an address; never a secret, and never an error."""
    try:
        return engine_of(address).shown_address(address)
    except InvalidInput:
        return "postgresql://?"


def read_password(file: Path) -> str:
    """Return the password that a file holds; a line break at its end does not count.

    Raises:
        InvalidInput: it cannot be read, holds no password, or others may read or change it. A file of the system's administrator, as
            containers mount secrets, may be readable.
    """
    try:
        with open_plain_file(file.expanduser()) as stream:
            _check_rights(os.fstat(stream.fileno()))
            content = stream.read(_LONGEST_PASSWORD + 1)
        password = content.decode().rstrip("\r\n")
    except (OSError, UnicodeDecodeError, RuntimeError):
        raise InvalidInput(PASSWORD_FILE, "names a file that is not there or cannot be read as text") from None
    if not password or len(content) > _LONGEST_PASSWORD or any(c in password for c in "\0\r\n"):
        raise InvalidInput(PASSWORD_FILE, "names a file that does not hold one line with a password")
    return password


def _check_rights(found: os.stat_result) -> None:
    if os.name != "posix":
        return
    if found.st_mode & stat.S_IWOTH or (found.st_mode & stat.S_IWGRP and found.st_gid != 0):
        raise InvalidInput(PASSWORD_FILE, "names a file that other users can change; run chmod 600 on it")
    if found.st_uid not in (0, os.getuid()):
        raise InvalidInput(PASSWORD_FILE, "names a file of another user")
    if found.st_uid != 0 and found.st_mode & (stat.S_IRGRP | stat.S_IROTH):
        raise InvalidInput(PASSWORD_FILE, "names a file that other users can read; run chmod 600 on it")


def _scheme(text: str) -> str | None:
    """Return the scheme of an address; where no engine is installed, any: `load_extra` then says what to install."""
    scheme, colon, _ = text.strip().lower().partition("://")
    if not colon:
        return None
    known = names_of_extras(_GROUP)
    return scheme if scheme in known or not known else None
