"""The view Now: what is in which tier at this moment, what came in and moved last and why, and what waits for the person.

``tiers`` are those through which a memory goes, each with some of its memories (``count`` counts all); a memory in short-term has
``enhanced`` of ``enhanced_of``, the repetitions and recalls that carry it on.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from hybrid_memory.errors import StoreDamaged
from hybrid_memory.model import MemoryId, Tier, Trust
from hybrid_memory.requests import ListRequest
from hybrid_memory.tiers.buffers import decode_buffers
from hybrid_memory_mcp.inspector.view import ViewRequest, told

if TYPE_CHECKING:
    from hybrid_memory.service import MemoryService

SHOWN = {Tier.SENSORY: 8, Tier.SHORT_TERM: 16, Tier.LONG_TERM: 8, Tier.FADED: 6}
_NEWEST = 6


def load(service: MemoryService, request: ViewRequest) -> dict[str, Any]:
    """Return what is known at this moment; it changes nothing and counts as no recall."""
    status = service.status(request.scope)
    return {
        "now": service.now().isoformat(),
        "memories": status.memories,
        "insights": status.insights,
        "sessions": status.sessions,
        "forgotten": status.forgotten,
        "superseded": status.superseded,
        "tiers": [_tier(service, request, tier, status.tiers.get(tier.value, 0)) for tier in SHOWN],
        "newest": _listed(service, request, ListRequest(limit=_NEWEST)),
        "waiting": _waiting(service, request, status.notices),
        "clients": request.clients(),
    }


def _tier(service: MemoryService, request: ViewRequest, tier: Tier, count: int) -> dict[str, Any]:
    memories = _listed(service, request, ListRequest(tier=tier, limit=SHOWN[tier]))
    if tier is Tier.SHORT_TERM:
        _add_enhancements(service, request, memories)
    room = {Tier.SENSORY: service.settings.sensory_buffer, Tier.SHORT_TERM: service.settings.short_term_buffer}
    return {"tier": tier.value, "count": count, "room": room.get(tier), "memories": memories}


def _listed(service: MemoryService, request: ViewRequest, wanted: ListRequest) -> list[dict[str, Any]]:
    ids = [one.id for one in service.list_memories(request.scope, wanted).memories]
    found = service.revealed(request.scope, ids)
    return [told(service, request, found[one]) for one in ids if one in found]


def _add_enhancements(service: MemoryService, request: ViewRequest, memories: Sequence[dict[str, Any]]) -> None:
    """Tell of memories in short-term how often they were enhanced there."""
    found = service.revealed(request.scope, [MemoryId(one["id"]) for one in memories])
    counts: dict[str, int] = {}
    for place in {(one.namespace, one.session, one.agent) for one in found.values()}:
        state = service.store.buffer(*place)
        try:
            entries = decode_buffers(state.state).short_term if state is not None and state.state else ()
        except StoreDamaged:  # costs the enhancements alone, as when a write meets it
            continue
        counts |= {entry.item.id: entry.count for entry in entries}
    for one in memories:
        one["enhanced"] = counts.get(one["id"], 0)
        one["enhanced_of"] = service.settings.enhance_threshold


def _waiting(service: MemoryService, request: ViewRequest, notices: Iterable[str]) -> list[dict[str, Any]]:
    """Return what a person should see to."""
    untrusted = service.list_memories(request.scope, ListRequest(trust=Trust.UNTRUSTED, limit=1)).total
    waiting = [{"kind": "untrusted", "count": untrusted}] if untrusted else []
    return [*waiting, *({"kind": "notice", "text": service.secrets.shown_text(one)} for one in notices)]
