"""What `status` shows of the hooks of clients: what they may do, and when they last ran."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from hybrid_memory_mcp.hooks.program import SWITCH, switched_off
from hybrid_memory_mcp.hooks.state import Conversations

SWITCHES = ("brief", "recall", "capture", "lessons")


def described(home: Path | None) -> dict[str, Any]:
    """Return the switches, the variable that switches all off if it is set here, and the last run of each client.

    Raises:
        InvalidInput: a switch in ``config.toml`` is wrong.
    """
    from hybrid_memory.settings import client_settings, hook_switches  # not for `--help`

    folder = client_settings(home=home).folder()
    off = switched_off(os.environ)  # noqa: TID251 - what hooks of this shell would see
    runs = {
        client: {
            "event": str(run.get("event", "")),
            "at": datetime.fromtimestamp(int(run.get("at", 0)), UTC).isoformat(),
            "kept": int(run.get("kept", 0)),
            "loaded": int(run.get("loaded", 0)),
        }
        for client, run in sorted(Conversations(str(folder)).runs().items())
    }
    return {**hook_switches(folder).model_dump(), "off_by": SWITCH if off else None, "clients": runs}


def in_words(hooks: dict[str, Any]) -> str:
    """Return it as a person reads it."""
    parts = [switches_in_words(hooks)]
    for client, run in hooks["clients"].items():
        at = datetime.fromisoformat(run["at"]).astimezone()
        parts.append(
            f"{client}: {run['event']} on {at:%Y-%m-%d %H:%M}, {run['kept']} kept and {run['loaded']} loaded so far"
        )
    return "\n".join(parts)


def switches_in_words(hooks: dict[str, Any]) -> str:
    """Return which hooks are on, and what switches all of them off."""
    switches = ", ".join(f"{name} {'on' if hooks[name] else 'off'}" for name in SWITCHES)
    return f"all off here by {hooks['off_by']}; {switches}" if hooks["off_by"] else switches
