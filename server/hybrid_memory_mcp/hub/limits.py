"""How many clients and requests a hub serves, and how long it stays: numbers that fit every machine, so they are no settings."""

from __future__ import annotations

import os
from dataclasses import dataclass

LINGER = "HYBRID_MEMORY_LINGER_SECONDS"
"""The variable by which tests have hubs of their own processes leave at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HubLimits:
    """Limits of one hub.

    ``connections`` are clients; each has ``requests_at_once`` at work and ``requests_waiting`` behind them, then it has to wait.
    ``calls_of_a_client`` are the provider's threads that one client takes, so that others get their turn. After its last client
    a hub stays for ``linger_seconds``: a client that restarts, or the next command, finds the store open.
    """

    connections: int = 100
    calls_of_a_client: int = 3
    requests_at_once: int = 64
    requests_waiting: int = 1000
    linger_seconds: float = 5.0


def limits_of_process() -> HubLimits:
    """Return the limits of a hub in this process."""
    linger = os.environ.get(LINGER)  # noqa: TID251 - of tests, no setting
    return HubLimits(linger_seconds=float(linger)) if linger else HubLimits()
