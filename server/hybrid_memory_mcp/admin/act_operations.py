"""The operations ``act`` and ``acts``: what a person does to memories by commands, and what of it can be undone."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from hybrid_memory_mcp.admin.acting import act

if TYPE_CHECKING:
    from hybrid_memory.service.memory_service import MemoryService
    from hybrid_memory_mcp.admin.operations import OperationRequest


def do(request: OperationRequest) -> dict[str, Any]:
    """Do something to memories; arguments are ``verb`` with its own (`hybrid_memory_mcp.admin.acting`), ``personal`` and ``reveal``."""
    given = dict(request.arguments)
    scope = replace(request.scope, personal=given.pop("personal", None))
    verb, reveal = str(given.pop("verb")), bool(given.pop("reveal", False))
    return request.run(lambda service: act(service, scope, verb, given, reveal=reveal))


def recent(request: OperationRequest) -> dict[str, Any]:
    """Return the newest acts that can be undone, each with the ``text`` of its first memory; the argument is ``limit``."""
    scope = replace(request.scope, personal=request.arguments.get("personal"))

    def work(service: MemoryService) -> list[dict[str, Any]]:
        acts = service.acts.recent(scope, limit=int(request.arguments["limit"]))
        found = service.revealed(scope, [act.ids[0] for act in acts if act.ids])
        texts = {one.id: service.secrets.shown(one).content for one in found.values()}
        return [
            asdict(act) | {"at": act.at.isoformat(), "text": texts.get(act.ids[0], "") if act.ids else ""}
            for act in acts
        ]

    return {"acts": request.run(work)}
