"""The view `insights`: what was concluded, with the evidence that each conclusion rests on and what became of it.

Parameters: ``evidence=changed`` (only those of which something they rest on was replaced, forgotten or erased), ``groups=1`` (suggestions),
``page`` and ``limit``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hybrid_memory.errors import InvalidInput
from hybrid_memory.model import Kind, MemoryId
from hybrid_memory.overview.times import times_of
from hybrid_memory.requests import ListRequest, MemoryState
from hybrid_memory.store.listing import state_of
from hybrid_memory_mcp.memory_words import asks_of
from hybrid_memory_mcp.views.life import times_as_json
from hybrid_memory_mcp.views.view import told

if TYPE_CHECKING:
    from hybrid_memory.model import Memory
    from hybrid_memory.service.memory_service import MemoryService
    from hybrid_memory_mcp.views.view import ViewRequest

_PAGE = 20
_MOST_READ = 2000  # insights that are looked through for evidence that changed: an assistant makes a few a week
_READ_AT_ONCE = 500
_GROUPS = 3
_CHANGED = "changed"


def load(service: MemoryService, request: ViewRequest) -> dict[str, Any]:
    """Return one page of insights, the newest first, each with its ``evidence`` and ``evidence_counts`` (`_counts`).

    Raises:
        InvalidInput: a parameter is none that can be meant.
    """
    limit, page = request.number("limit", _PAGE, most=100), request.number("page", 1, most=100_000)
    wanted = request.text("evidence")
    if wanted not in ("", _CHANGED):
        raise InvalidInput("evidence", f"is `{_CHANGED}`, or left out")
    insights = _all(service, request)
    evidence = _evidence(service, request, insights)
    counts = {one.id: _counts(service, one, evidence) for one in insights}
    shaky = [one for one in insights if counts[one.id]["changed"] or counts[one.id]["gone"]]
    chosen = shaky if wanted else insights
    shown = chosen[(page - 1) * limit : page * limit]
    return {
        "evidence": wanted,
        "total": len(chosen),
        "all": len(insights),
        "with_changed_evidence": len(shaky),
        "page": page,
        "limit": limit,
        "insights": [_told(service, request, one, evidence) for one in shown],
        "groups": _groups(service, request) if request.flag("groups") else None,
    }


def _all(service: MemoryService, request: ViewRequest) -> list[Memory]:
    """Return the insights that are current, the newest first, with their secrets."""
    found: list[Memory] = []
    while len(found) < _MOST_READ:
        asked = ListRequest(kind=Kind.INSIGHT, state=MemoryState.CURRENT, limit=_READ_AT_ONCE, offset=len(found))
        part = service.list_memories(request.scope, asked).memories
        whole = service.revealed(request.scope, [one.id for one in part])
        found += [whole.get(one.id, one) for one in part]
        if len(part) < _READ_AT_ONCE:
            break
    return found


def _evidence(service: MemoryService, request: ViewRequest, insights: Sequence[Memory]) -> dict[MemoryId, Memory]:
    """Return what some insights rest on, and what took the place of that."""
    named = {one for insight in insights for one in insight.parents}
    found = service.revealed(request.scope, sorted(named))
    newer = {one.superseded_by for one in found.values() if one.superseded_by is not None}
    return found | service.revealed(request.scope, sorted(newer - set(found)))


def _counts(service: MemoryService, insight: Memory, evidence: Mapping[MemoryId, Memory]) -> dict[str, int]:
    """Return how much of what an insight rests on is ``current``, was ``former`` when it was drawn, ``changed`` since, or is ``gone``."""
    found = dict.fromkeys(("current", "former", "changed", "gone"), 0)
    for one in insight.parents:
        found[_standing(service, insight, one, evidence)] += 1
    return found


def _standing(service: MemoryService, insight: Memory, one: MemoryId, evidence: Mapping[MemoryId, Memory]) -> str:
    memory = evidence.get(one)
    if memory is None:
        return "gone"
    if state_of(memory, service.now()) is MemoryState.CURRENT:
        return "current"
    later = evidence.get(memory.superseded_by) if memory.superseded_by else None
    times = times_of(memory, later, service.now())
    ends = [end for end in (times.believed_until, memory.expires_at) if end is not None]
    return "former" if ends and min(ends) <= insight.created_at else "changed"


def _told(
    service: MemoryService, request: ViewRequest, insight: Memory, evidence: Mapping[MemoryId, Memory]
) -> dict[str, Any]:
    now = service.now()
    rests_on: list[dict[str, Any]] = []
    for one in insight.parents:
        memory = evidence.get(one)
        if memory is None:
            rests_on.append({"id": one, "gone": True, "standing": "gone"})
            continue
        later = evidence.get(memory.superseded_by) if memory.superseded_by else None
        row = told(service, request, memory) | {"times": times_as_json(times_of(memory, later, now))}
        row["standing"] = _standing(service, insight, one, evidence)
        if later is not None:
            row["after"] = {"id": later.id, "content": told(service, request, later)["content"]}
        rests_on.append(row)
    return told(service, request, insight) | {
        "evidence": rests_on,
        "evidence_counts": _counts(service, insight, evidence),
    }


def _groups(service: MemoryService, request: ViewRequest) -> list[dict[str, Any]]:
    """Return suggestions: memories about the same that no insight rests on yet."""
    groups = service.offer_reflection(request.scope, limit=_GROUPS)
    whole = service.revealed(request.scope, [memory.id for group in groups for memory in group.memories])
    return [
        {
            "asks": asks_of(group),
            "memories": [told(service, request, whole.get(one.id, one)) for one in group.memories],
        }
        for group in groups
    ]
