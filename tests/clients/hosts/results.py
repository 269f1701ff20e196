"""How long each assistant took; `python -m tests.clients.hosts.results` writes the table into docs/clients.md."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime

from tests.clients.environments import CACHE
from tests.clients.hosts.hosts import HOSTS, TABLE, Host
from tests.clients.results import PAGE

SECONDS = CACHE / "hosts.json"
_TABLE = re.compile(r"(?<=<!-- hosts -->\n).*(?=<!-- end of hosts -->)", re.DOTALL)


def keep_seconds(host: Host, seconds: float) -> None:
    """Keep how long it took from our command to a conversation that knows."""
    kept = json.loads(SECONDS.read_text(encoding="utf-8")) if SECONDS.exists() else {}
    SECONDS.parent.mkdir(parents=True, exist_ok=True)
    SECONDS.write_text(json.dumps(kept | {host.name: round(seconds, 1)}), encoding="utf-8")


def table() -> str:
    """Return the table of the newest runs."""
    kept = json.loads(SECONDS.read_text(encoding="utf-8"))
    day = datetime.fromtimestamp(SECONDS.stat().st_mtime, UTC).date()
    lines = [f"Run on {day}.", "", "| assistant | version | remembers by | seconds |", "| --- | --- | --- | --- |"]
    for host in HOSTS:
        how = "hooks and tools" if host.runs_hooks else "tools"
        lines.append(f"| {host.shown} | `{TABLE[host.name]['package']}` | {how} | {kept[host.name]} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(_TABLE.sub(lambda _: table(), page), encoding="utf-8")
