"""What serving over HTTP can be told, and its limits."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass, field
from datetime import tzinfo
from pathlib import Path

from hybrid_memory_mcp.relay.lines import MESSAGE_LIMIT

PATH = "/mcp"
HEALTH = "/healthz"

_WEB_PORT = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpSettings:
    """Where to listen, for whom, and how much one client may ask for. Times are seconds, sizes bytes.

    ``state_key`` seals what clients carry for the server between two requests. ``allowed_hosts`` and ``allowed_origins`` come
    beside those of this machine. ``requests``, ``calls`` (at work in the memory) and ``sessions`` are limits of one token,
    ``all_sessions`` and ``connections`` of all together; ``buffered`` is how much of bodies is held at once.
    """

    state_key: bytes = field(repr=False)
    host: str = "127.0.0.1"
    port: int = 8765
    allowed_hosts: tuple[str, ...] = ()
    allowed_origins: tuple[str, ...] = ()
    zone: tzinfo | None = None
    prompts: Path | None = None
    body: int = MESSAGE_LIMIT
    buffered: int = 4 * MESSAGE_LIMIT
    depth: int = 100
    head: int = 16 * 1024
    requests: int = 64
    calls: int = 3
    sessions: int = 32
    all_sessions: int = 512
    connections: int = 512
    session_idle: float = 30 * 60
    head_patience: float = 10
    body_patience: float = 30
    write_patience: float = 30
    grace: float = 2

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
    """Say whether only this machine can reach an address."""
    try:
        return host.lower() == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def in_url(host: str) -> str:
    """Return an address as it stands in a URL: with brackets around one of IPv6."""
    return f"[{host}]" if ":" in host else host


def _is_any(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_unspecified
    except ValueError:
        return not host
