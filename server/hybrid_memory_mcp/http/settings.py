"""The limits of the HTTP server and the options of ``serve --http``. Read by ``http/server.py``."""

from __future__ import annotations

import argparse
import ipaddress
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import tzinfo
from pathlib import Path

from hybrid_memory.errors import InvalidInput
from hybrid_memory_mcp.relay.protocol import MAX_MESSAGE_BYTES
from hybrid_memory_mcp.runtime.client_options import Options, read_options

PATH = "/mcp"
HEALTH = "/healthz"

_WEB_PORT = 80  # a Host header leaves it out
REMOTE = (
    "host: others than this machine could reach that address. What is sent there is not encrypted: tokens and memories can be "
    "read on the way. Put a proxy with TLS before it, and say --allow-remote if that is what you want"
)

_LARGEST_PORT = 65535
_HOST = re.compile(r"[A-Za-z0-9._-]+(:\d{1,5})?|\[[0-9A-Fa-f:.]+\](:\d{1,5})?")
_ORIGIN = re.compile(r"https?://(?:" + _HOST.pattern + r")/?")
_TOKEN_OPTIONS = ("--namespace", "--agent", "--session")


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpSettings:
    """Where to listen, for whom, and how much one client may ask for.

    ``state_key`` (32 bytes) seals what clients carry for the server between two requests. ``allowed_hosts`` and ``allowed_origins``
    are accepted alongside those of this machine.
    """

    state_key: bytes = field(repr=False)
    host: str = "127.0.0.1"
    port: int = 8765
    allowed_hosts: tuple[str, ...] = ()
    allowed_origins: tuple[str, ...] = ()
    zone: tzinfo | None = None
    prompts: Path | None = None

    # Sizes of a request.
    max_head_bytes: int = 16 * 1024  # what proxies allow
    max_body_bytes: int = MAX_MESSAGE_BYTES  # as long as a line may be over stdio
    max_buffered_bytes: int = 4 * MAX_MESSAGE_BYTES  # of all bodies at once, half of it for one token
    max_depth: int = 100  # nested brackets; no message of the protocol has a tenth of them

    # At once, of one token; ``calls`` are those at work in the memory.
    requests: int = 64
    calls: int = 3
    sessions: int = 32

    # At once, of all clients together.
    all_sessions: int = 512
    connections: int = 512

    # Far above what a slow network needs, far below what an attacker would like.
    session_idle_seconds: float = 30 * 60
    head_timeout_seconds: float = 10
    body_timeout_seconds: float = 30
    write_timeout_seconds: float = 30
    shutdown_timeout_seconds: float = 2

    def hosts(self, port: int) -> frozenset[str]:
        """Return every Host header that is meant for this server when it listens on ``port``."""
        names = {"localhost", "127.0.0.1", "[::1]"}
        if not _is_any(self.host):
            names.add(in_url(self.host).lower())
        found = {f"{name}:{port}" for name in names} | {host.lower() for host in self.allowed_hosts}
        return frozenset(found | names if port == _WEB_PORT else found)

    def origins(self, port: int) -> frozenset[str]:
        """Return every Origin header that may speak to this server: its own addresses, and those that were allowed."""
        own = {f"http://{host}" for host in self.hosts(port) - {host.lower() for host in self.allowed_hosts}}
        return frozenset(own | {origin.lower().rstrip("/") for origin in self.allowed_origins})


def is_loopback(host: str) -> bool:
    """Return True if only this machine can reach an address."""
    try:
        return host.lower() == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def in_url(host: str) -> str:
    """Return an address as it is in a URL: with brackets around one of IPv6."""
    return f"[{host}]" if ":" in host else host


def _is_any(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_unspecified
    except ValueError:
        return not host


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpOptions:
    """Where to listen, and which names alongside this machine's own are meant for this server."""

    host: str
    port: int
    allowed_hosts: tuple[str, ...]
    allowed_origins: tuple[str, ...]

    def settings(self, options: Options, state_key: bytes) -> HttpSettings:
        """Return the settings of serving."""
        return HttpSettings(
            state_key=state_key,
            host=self.host,
            port=self.port,
            allowed_hosts=self.allowed_hosts,
            allowed_origins=self.allowed_origins,
            zone=options.zone,
            prompts=options.prompts,
        )


def read_http_options(arguments: Sequence[str]) -> tuple[Options, HttpOptions]:
    """Return the options of ``serve --http [--host ...]`` and those of serving at all.

    Raises:
        InvalidInput: an option is unknown or has a value that cannot be used.
        SystemExit: an option lacks its value; standard error says which.
    """
    given, rest = make_http_parser().parse_known_args(arguments)
    for name in _TOKEN_OPTIONS:
        if any(one == name or one.startswith(name + "=") for one in rest):
            raise InvalidInput(name.lstrip("-"), "comes from each client's token over HTTP; leave it out")
    if not is_loopback(given.host) and not given.allow_remote:
        raise InvalidInput(*REMOTE.split(": ", 1))
    options = HttpOptions(
        host=given.host,
        port=_port(given.port),
        allowed_hosts=_all(
            "allow-host", given.allow_host, _HOST, "a name and, if it has one, its port: memory.example:8443"
        ),
        allowed_origins=_all("allow-origin", given.allow_origin, _ORIGIN, "an origin as https://memory.example"),
    )
    return read_options(rest), options


def make_http_parser() -> argparse.ArgumentParser:
    """Return the parser of the options that only ``serve --http`` has."""
    parser = argparse.ArgumentParser(prog="hybrid-memory-mcp serve --http", add_help=False, allow_abbrev=False)
    parser.add_argument(
        "--http", action="store_true", help="serve streamable HTTP; `token create` makes a token for a client"
    )
    parser.add_argument("--host", default="127.0.0.1", help="address to listen at (127.0.0.1)")
    parser.add_argument("--port", default="8765", help="port to listen at; 0 takes a free one (8765)")
    parser.add_argument(
        "--allow-remote", action="store_true", help="listen at an address that others can reach, unencrypted"
    )
    parser.add_argument(
        "--allow-host", action="append", default=[], help="a Host header to accept, as a proxy sends it"
    )
    parser.add_argument("--allow-origin", action="append", default=[], help="an Origin header to accept")
    return parser


def _port(text: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > len(str(_LARGEST_PORT)) or int(text) > _LARGEST_PORT:
        raise InvalidInput("port", f"is a number from 0 to {_LARGEST_PORT}")
    return int(text)


def _all(name: str, values: Sequence[str], form: re.Pattern[str], what: str) -> tuple[str, ...]:
    if not all(form.fullmatch(value) for value in values):
        raise InvalidInput(name, f"is {what}")
    return tuple(values)
