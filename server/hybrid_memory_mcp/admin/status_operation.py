"""The operation `status`: what the store holds, who asked and told it something, what is new in it, and what waits for the person."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from hybrid_memory.model import Kind, MemoryId, Tier
from hybrid_memory.requests import MemoryState
from hybrid_memory.store.writing import ChangeType
from hybrid_memory_mcp.admin.acting import PERSON_ON_PAGE
from hybrid_memory_mcp.admin.erasing import synchronised_folders
from hybrid_memory_mcp.admin.memory_operations import counted_in, others_than
from hybrid_memory_mcp.hooks.definitions import ACTOR_OF_HOOKS
from hybrid_memory_mcp.runtime.judges import judges
from hybrid_memory_mcp.views import happenings
from hybrid_memory_mcp.views.needs import needs_of
from hybrid_memory_mcp.views.view import ViewRequest, told
from hybrid_memory_mcp.views.waiting import waiting

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hybrid_memory.service.memory_service import MemoryService
    from hybrid_memory_mcp.admin.operations import OperationRequest
    from hybrid_memory_mcp.views.happenings import Happening

DAYS = 7
_NEWEST = 3
_LOOKED_AT = 20  # some of the newest may be replaced or forgotten already
_OF_OTHERS = 100  # entries of the log of each other namespace
_NO_CLIENTS = frozenset({"command line", PERSON_ON_PAGE, "memory", "doctor", "late work"})  # actors of the log


def status(request: OperationRequest) -> dict[str, Any]:
    """Return what the store holds and who is connected; ``project`` is the namespace of the project at hand, if there is one.

    ``of_project`` counts what that has. ``used`` says when each client last asked and told something, ``lately`` what happened in
    `DAYS` days with the ``newest`` memories, ``needs_you`` what needs the person, ``others`` how many memories other namespaces have,
    ``judges`` a line of each extra that judges conversations, empty where that is off.
    """

    def work(service: MemoryService) -> dict[str, Any]:
        person = request.scope
        project = request.arguments.get("project")
        here = person if project is None else replace(person, namespace=str(project), personal=person.namespace)
        looked = ViewRequest(scope=here, home=request.home, parameters={"limit": "1"})
        seen: dict[str, Any] = service.shown_status(person, request.clients())
        if project is not None:
            counted = service.status(replace(person, namespace=str(project)))
            seen["of_project"] = {"memories": counted.memories, "insights": counted.insights}
        others = others_than(service, here)
        happened = happenings.latest(service, here.namespaces)
        everywhere = [*happened, *happenings.latest(service, others, _OF_OTHERS)]
        return seen | {
            "used": _used(service, everywhere),
            "lately": _lately(service, looked, happened),
            "needs_you": needs_of(service, looked, waiting(service, here)),
            "others": counted_in(service, others),
            "judges": {name: one.state(request.home, service.now()) for name, one in judges().items()},
        }

    seen: dict[str, Any] = request.run(work)
    return seen | {"synchronised": synchronised_folders(request)}


def _used(service: MemoryService, happened: Sequence[Happening]) -> dict[str, dict[str, str | None]]:
    """Return when each client last asked and told something, the last one first; a hook counts as its client."""
    asked: dict[str, datetime] = {}
    for reading in service.journal.latest(None, service.now()):
        asked.setdefault(_client(reading.client), reading.at)
    written: dict[str, datetime] = {}
    for one in happened:
        name = _client(one.entry.actor)
        if one.entry.change is ChangeType.INSERT and one.entry.actor not in _NO_CLIENTS:
            written[name] = max(one.entry.at, written.get(name, one.entry.at))
    last = {name: max(at[name] for at in (asked, written) if name in at) for name in {**asked, **written}}
    return {
        service.secrets.shown_text(name): {"asked": _iso(asked.get(name)), "told": _iso(written.get(name))}
        for name in sorted(last, key=lambda name: last[name], reverse=True)
    }


def _client(actor: str) -> str:
    return actor.removeprefix(ACTOR_OF_HOOKS)


def _iso(at: datetime | None) -> str | None:
    return None if at is None else at.isoformat(timespec="seconds")


def _lately(service: MemoryService, request: ViewRequest, happened: Sequence[Happening]) -> dict[str, Any]:
    since = service.now() - timedelta(days=DAYS)
    ids = list(_newest(happened, since))[:_LOOKED_AT]
    found = service.revealed(request.scope, ids)
    newest = [told(service, request, found[one]) for one in ids if one in found]
    current = [one for one in newest if one["state"] == MemoryState.CURRENT.value and one["kind"] != Kind.EPISODE.value]
    return {"days": DAYS, **happenings.counted(happened, since), "newest": current[:_NEWEST]}


def _newest(happened: Iterable[Happening], since: datetime) -> dict[MemoryId, None]:
    """Return the memories that were learned or kept for good since a moment, the last first."""
    return {
        one.entry.id: None
        for one in happened
        if one.entry.at >= since
        and (one.entry.change is ChangeType.INSERT or (one.move is not None and one.move[1] is Tier.LONG_TERM))
    }
