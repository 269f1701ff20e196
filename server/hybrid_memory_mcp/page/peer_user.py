"""Whose process is at the other end of a TCP connection within this machine. Linux alone tells.

The kernel is asked for the one socket (netlink, ``sock_diag(7)``), which takes microseconds however many there are. Where it may not be
asked, its table of all connections is read.
"""

from __future__ import annotations

import ipaddress
import socket
import struct
import sys
from pathlib import Path

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
_MAX_LINES = 20_000  # of a table: a flood of connections must not stop whoever reads it
_FIELDS = 8

Address = tuple[str, int]


def user_of(local: Address, remote: Address) -> int | None:
    """Return the user of the socket that has these two ends; None where the system tells nothing of it."""
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
