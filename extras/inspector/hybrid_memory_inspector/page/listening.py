"""Where the page's server listens, and whose connections it takes: this machine's alone, where possible this user's alone.

Cookies know no ports: a server at another port of 127.0.0.1 would be sent the page's cookie, and its pages count as of the same site.
All of 127.0.0.0/8 is this machine on Linux and Windows, so the page gets an address of its own there, drawn again each time.
"""

from __future__ import annotations

import ipaddress
import os
import secrets
import socket
import struct
import sys
from collections.abc import Callable
from pathlib import Path

from hybrid_memory.errors import InvalidInput
from hybrid_memory_mcp.runtime.http_serving import listen_at

USUAL_HOST = "127.0.0.1"
LOCALHOST = "localhost"

_TRIES = 5
_ANY = {socket.AF_INET: "0.0.0.0", socket.AF_INET6: "::"}  # noqa: S104 - the other end of a socket that listens
_NOT_LOOPBACK = "is this machine's own: 127.0.0.1, another address that begins with 127, ::1 or localhost"

_NETLINK_SOCK_DIAG = 4
_SOCK_DIAG_BY_FAMILY = 20
_REQUEST = 1  # NLM_F_REQUEST
_HEADER = struct.Struct("=IHHII")  # of a netlink message: length, type, flags, number, port
_QUESTION = struct.Struct("=BBBBI")  # family, protocol, what else to tell, padding, states of the socket
_ANY_COOKIE = struct.pack("=III", 0, 0xFFFFFFFF, 0xFFFFFFFF)  # of any interface
_ALL_STATES = 0xFFFFFFFF
_USER_AT = _HEADER.size + 4 + 48 + 12  # in an answer: behind the state, the two ends and three numbers
_MAX_ANSWER_BYTES = 4096
_TIMEOUT_SECONDS = 0.5

_TABLES = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))
_MAX_LINES = 20_000  # of a table: a flood of connections must not stop the reader
_FIELDS = 8

Address = tuple[str, int]


def listen_for_page(host: str | None, port: int) -> tuple[socket.socket, str]:
    """Return a socket that listens, and the host that is in the page's address.

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


def user_of(local: Address, remote: Address) -> int | None:
    """Return the user of the socket that has these two ends; None where the system does not tell, as all but Linux.

    The kernel is asked for the one socket (netlink, ``sock_diag(7)``), which takes microseconds however many there are. Where it may not
    be asked, its table of all connections is read.
    """
    if sys.platform != "linux":
        return None
    try:
        return _asked_of_kernel(local, remote)
    except (OSError, struct.error):
        return _found_in_table(local, remote)


def _asked_of_kernel(local: Address, remote: Address) -> int | None:
    family = socket.AF_INET6 if ":" in local[0] else socket.AF_INET
    ends = struct.pack("!HH", local[1], remote[1]) + _padded(family, local[0]) + _padded(family, remote[0])
    body = _QUESTION.pack(family, socket.IPPROTO_TCP, 0, 0, _ALL_STATES) + ends + _ANY_COOKIE
    header = _HEADER.pack(_HEADER.size + len(body), _SOCK_DIAG_BY_FAMILY, _REQUEST, 1, 0)
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _NETLINK_SOCK_DIAG) as kernel:
        kernel.settimeout(_TIMEOUT_SECONDS)
        kernel.send(header + body)
        answer = kernel.recv(_MAX_ANSWER_BYTES)
    if _HEADER.unpack_from(answer)[1] != _SOCK_DIAG_BY_FAMILY:
        raise OSError("the kernel knows no such socket, or does not tell")
    user: int = struct.unpack_from("=I", answer, _USER_AT)[0]
    return user


def _padded(family: int, host: str) -> bytes:
    return socket.inet_pton(family, host).ljust(16, b"\0")


def _found_in_table(local: Address, remote: Address) -> int | None:
    wanted = [_in_table(*local), _in_table(*remote)]
    for table in _TABLES:
        try:
            with table.open(encoding="ascii") as lines:
                for _, line in zip(range(_MAX_LINES), lines, strict=False):
                    fields = line.split(None, _FIELDS)
                    if fields[1:3] == wanted:
                        return int(fields[7])
        except (OSError, ValueError, IndexError):
            continue
    return None


def _in_table(host: str, port: int) -> str:
    """Return an address as the table writes it: words of 32 bits in the machine's own order, and the port."""
    packed = ipaddress.ip_address(host).packed
    words = (packed[at : at + 4] for at in range(0, len(packed), 4))
    return "".join(f"{int.from_bytes(word, sys.byteorder):08X}" for word in words) + f":{port:04X}"
