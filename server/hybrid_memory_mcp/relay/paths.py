"""Names and places of the files by which a relay finds its hub: the store's folder, and in it socket, locks, token and log."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

HUB_LOCK = "hub.lock"
START_LOCK = "hub.start.lock"
SOCKET = "hub.sock"
PORT = "hub.port"
HEARTBEAT_SOCKET = "hub.beat"
HEARTBEAT_PORT = "hub.beat.port"
PID = "hub.pid"
HTTP = "hub.http"  # there while a hub that a person started serves HTTP
TOKEN = "hub.token"  # noqa: S105 - the name of a file
LOGS = "logs"
LOG = "hub.log"
FOR_COMMAND = "--for-command"  # starts a hub that imports what serves clients when one comes
HOME = "HYBRID_MEMORY_HOME"
LOOPBACK = "HYBRID_MEMORY_LOOPBACK"
# A factor for the times after which a hub that says nothing counts as hung. For tests, which have no seconds to lose.
PATIENCE = "HYBRID_MEMORY_PATIENCE"

# The system allows 108 bytes on Linux and 104 on macOS, with the zero at the end.
_MAX_SOCKET_PATH_BYTES = 100
_NAME = "hybrid-memory-mcp"


def store_folder(arguments: Sequence[str], environment: Mapping[str, str]) -> str:
    """Return the absolute folder of the store: ``--home``, else the variable, else the platform's data folder."""
    named = option(arguments, "--home") or environment.get(HOME)
    return os.path.abspath(os.path.expanduser(named)) if named else data_folder(environment)


def data_folder(environment: Mapping[str, str]) -> str:
    """Return what platformdirs calls the user's data folder of this program; without it where that is simple.

    Importing platformdirs takes as long as all else that a relay does before it is connected.
    """
    usual = {"linux": ".local/share", "darwin": "Library/Application Support"}.get(sys.platform)
    own, chosen = environment.get("HOME", ""), environment.get("XDG_DATA_HOME", "")
    if usual and "ANDROID_ROOT" not in environment:
        if not chosen and own.startswith("/"):
            return os.path.join(own.rstrip("/") or "/", usual, _NAME)
        if sys.platform == "linux" and chosen.startswith("/") and chosen == chosen.strip():
            return os.path.join(chosen, _NAME)
    from platformdirs import user_data_dir

    return user_data_dir(_NAME, appauthor=False)


def socket_path(home: str, name: str = SOCKET) -> str:
    """Return the path of a Unix socket of the hub; one that would be too long lies in the runtime folder under a hash."""
    path = os.path.join(home, name)
    if len(os.fsencode(path)) <= _MAX_SOCKET_PATH_BYTES:
        return path
    from hashlib import blake2b

    digest = blake2b(os.fsencode(os.path.realpath(home)), digest_size=12).hexdigest()
    return os.path.join(runtime_folder(), digest + os.path.splitext(name)[1])


def runtime_folder() -> str:
    """Return the folder of this user for sockets, made if need be.

    Raises:
        OSError: what is there is not this user's alone.
    """
    base = os.environ.get("XDG_RUNTIME_DIR") or "/tmp"  # noqa: S108, TID251 - checked below; before any setting is read
    folder = os.path.join(base, f"{_NAME}-{os.getuid()}")
    try:
        os.mkdir(folder, 0o700)
    except FileExistsError:
        found = os.lstat(folder)
        if found.st_uid != os.getuid() or found.st_mode & 0o077 or not found.st_mode & 0o040000:
            raise PermissionError("the folder for sockets is not this user's alone") from None
    return folder


def patience(environment: Mapping[str, str]) -> float:
    """Return the factor for the times of waiting, 1 unless a test says otherwise."""
    try:
        return float(environment.get(PATIENCE, "1"))
    except ValueError:
        return 1.0


def option(arguments: Sequence[str], name: str) -> str | None:
    """Return the last value of an option, written as ``--name value`` or ``--name=value``."""
    found = None
    for at, argument in enumerate(arguments):
        if argument == name and at + 1 < len(arguments):
            found = arguments[at + 1]
        elif argument.startswith(name + "="):
            found = argument[len(name) + 1 :]
    return found
