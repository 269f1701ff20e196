"""Which assistants on this machine have the memory, and how they got it. Reads their files, writes nothing."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from hybrid_memory_mcp.clients.installer import has_our_plugin, plan_uninstall
from hybrid_memory_mcp.clients.places import Machine
from hybrid_memory_mcp.clients.table import CLIENTS


@dataclass(frozen=True, slots=True)
class Assistant:
    """One assistant of this machine.

    ``state`` is how it has the memory: by an entry in its ``file`` ("installed"), by a plugin ("plugin"), not at all ("absent"), or nobody
    knows, because the file cannot be read ("unreadable").
    """

    name: str
    title: str
    state: Literal["installed", "plugin", "absent", "unreadable"]
    file: Path


def assistants(machine: Machine) -> list[Assistant]:
    """Return the assistants that are on a machine or whose files have the memory, those with the memory first."""
    found = []
    for client in CLIENTS:
        here = machine.is_here(client)
        file = machine.file(client.servers)
        if not here and not file.exists():
            continue
        plan = plan_uninstall(client, machine)
        if plan.problem:
            state: Literal["installed", "plugin", "absent", "unreadable"] = "unreadable"
        elif plan.changes:
            state = "installed"
        else:
            state = "plugin" if has_our_plugin(client, machine) else "absent"
        if here or state == "installed":
            found.append(Assistant(client.name, client.title, state, file))
    return sorted(found, key=lambda one: one.state not in ("installed", "plugin"))
