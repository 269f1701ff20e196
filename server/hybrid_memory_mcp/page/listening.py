"""Where the page's server listens, and whose connections it takes: this machine's alone, where possible this user's alone.

Cookies know no ports: a server at another port of 127.0.0.1 would be sent the page's cookie, and its pages count as of the same site.
All of 127.0.0.0/8 is this machine on Linux and Windows, so the page gets an address of its own there, drawn anew each time.
"""

from __future__ import annotations

import ipaddress
import os
import secrets
import socket
import sys
from collections.abc import Callable

from hybrid_memory.errors import InvalidInput
from hybrid_memory_mcp.page.peer_user import user_of
from hybrid_memory_mcp.runtime.http_serving import listen_at

USUAL_HOST = "127.0.0.1"
LOCALHOST = "localhost"

_TRIES = 5
_ANY = {socket.AF_INET: "0.0.0.0", socket.AF_INET6: "::"}  # noqa: S104 - the other end of a socket that listens
_NOT_LOOPBACK = "is this machine's own: 127.0.0.1, another address that begins with 127, ::1 or localhost"


def listen_for_page(host: str | None, port: int) -> tuple[socket.socket, str]:
    """Return a socket that listens, and the host that stands in the page's address.

    Without a ``host`` an address of 127.0.0.0/8 is drawn, or it is 127.0.0.1 where that is the only one, or where the browser may run
    on the other side of a door that knows no other (Windows, seen from its Linux). ``port`` 0 takes a free one.

    Raises:
        InvalidInput: the host is not of this machine alone, or somebody listens there.
    """
    if host is not None:
        return listen_at(_address(host), port), host.lower()
    if _is_inside_windows():
        return listen_at(USUAL_HOST, port), USUAL_HOST
    for _ in range(_TRIES):
        drawn = _drawn_host()
        try:
            return listen_at(drawn, port), drawn
        except InvalidInput:
            continue  # no such address here, or somebody has it
    return listen_at(USUAL_HOST, port), USUAL_HOST


def user_check(listening: socket.socket) -> Callable[[socket.socket], bool]:
    """Return what tells of an accepted connection whether a process of this user made it.

    Where the system does not tell (Linux does), every connection counts as this user's: the token decides alone.
    """
    if sys.platform != "linux" or _is_inside_windows():
        return lambda _: True
    here = listening.getsockname()[:2]
    # Where the system tells that this very socket is this user's, it can be believed of others.
    if user_of(here, (_ANY[listening.family], 0)) != os.geteuid():
        return lambda _: True

    def is_own(connection: socket.socket) -> bool:
        try:
            there, local = connection.getpeername()[:2], connection.getsockname()[:2]
        except OSError:
            return False  # it is gone already
        return user_of(there, local) == os.geteuid()

    return is_own


def _address(host: str) -> str:
    if host.lower() == LOCALHOST:
        return USUAL_HOST
    try:
        found = ipaddress.ip_address(host)
    except ValueError:
        raise InvalidInput("host", _NOT_LOOPBACK) from None
    if not found.is_loopback or str(found) != host.lower():
        raise InvalidInput("host", _NOT_LOOPBACK)
    return host


def _drawn_host() -> str:
    # Not 127.0.x.y and 127.1.x.y, where systems put things of their own.
    return f"127.{2 + secrets.randbelow(252)}.{secrets.randbelow(256)}.{1 + secrets.randbelow(254)}"


def _is_inside_windows() -> bool:
    return sys.platform == "linux" and "microsoft" in os.uname().release.lower()
