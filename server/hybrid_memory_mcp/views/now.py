"""The view Now: what was learned since the person looked last, what contradicts, what needs the person, and where memories are.

``since`` is that last look, None where nobody has looked before; ``learned`` counts what came since then (``new``, ``corrected``) and has
the newest of it, or, where nothing did, what came last. ``contradictions`` are the first of those in Review, ``needs`` all that needs the
person (`views.needs`). ``tiers`` are those through which a memory goes, each with some of its memories (``count`` counts all, ``room``
how many one conversation may have there); a memory in short-term has ``enhanced`` of ``enhanced_of``, the repetitions and recalls that
carry it on, one that has moved ``moved_at`` and ``why``. ``happened`` are the latest changes, newest first, in plain words.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from hybrid_memory.errors import StoreDamaged
from hybrid_memory.model import Memory, MemoryId, Tier
from hybrid_memory.moments import EARLIEST
from hybrid_memory.requests import MemoryState
from hybrid_memory.retrieval.memory_columns import TIERS
from hybrid_memory.store.reviewing import Reason
from hybrid_memory.tiers.buffers import decode_buffers
from hybrid_memory_mcp.views.happenings import Happening, as_json, counted, is_learned, latest, together
from hybrid_memory_mcp.views.needs import needs_of
from hybrid_memory_mcp.views.view import ViewRequest, told
from hybrid_memory_mcp.views.waiting import shown, waiting, words_of

if TYPE_CHECKING:
    from hybrid_memory.retrieval.memory_columns import Mask, MemoryColumns
    from hybrid_memory.service.memory_service import MemoryService

SHOWN = {Tier.SENSORY: 8, Tier.SHORT_TERM: 8, Tier.LONG_TERM: 7, Tier.FADED: 4}
"""The tiers of the picture, and how many of their memories it shows."""

_NEWEST = 5
_LEARNED = 12
_CONTRADICTIONS = 3
_HAPPENED = 12
_OF_ONE_SORT = 5  # memories of one line of what happened
_EXCERPT = 200  # characters of a memory that something happened to


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """The memories that hold now: ``newest`` of all and ``of_tier``, those written last first."""

    newest: tuple[MemoryId, ...]
    of_tier: Mapping[Tier, tuple[MemoryId, ...]]


def load(service: MemoryService, request: ViewRequest) -> dict[str, Any]:
    """Return what is known at this moment; it changes nothing and counts as no recall."""
    status = service.status(request.scope)
    stand = service.look(request.scope, partial(standing, newest=_NEWEST, of_tier=SHOWN))
    happened = latest(service, request.scope.namespaces)
    every = waiting(service, request.scope)
    disputed = [one for one in every if one.reason is Reason.DISPUTED]
    return {
        "now": service.now().isoformat(),
        "since": request.last_look.isoformat() if request.last_look else None,
        "memories": status.memories,
        "episodes": status.episodes,
        "insights": status.insights,
        "sessions": status.sessions,
        "forgotten": status.forgotten,
        "superseded": status.superseded,
        "learned": _learned(service, request, happened, stand.newest),
        "contradictions": shown(service, request, disputed[:_CONTRADICTIONS]),
        "needs": needs_of(service, request, every),
        "tiers": [
            _tier(service, request, tier, status.tiers.get(tier.value, 0), (happened, stand.of_tier[tier]))
            for tier in SHOWN
        ],
        "happened": _happened(service, request, happened),
        "clients": request.clients(),
    }


def standing(columns: MemoryColumns, now: datetime, *, newest: int, of_tier: Mapping[Tier, int]) -> Standing:
    """Return where the memories of some columns are; ``newest`` and ``of_tier`` say how many are named."""
    live = columns.visible(now)
    tier = columns.tier.values
    return Standing(
        newest=_newest(columns, live, newest),
        of_tier={one: _newest(columns, live & (tier == TIERS.index(one)), many) for one, many in of_tier.items()},
    )


def _newest(columns: MemoryColumns, wanted: Mask, many: int) -> tuple[MemoryId, ...]:
    rows = np.flatnonzero(wanted)
    created = columns.created_at.values[rows]
    if len(rows) > many:
        last = np.argpartition(created, len(rows) - many)[-many:]
        rows, created = rows[last], created[last]
    in_order = rows[np.lexsort((rows, created))[::-1]]
    return tuple(columns.ids.ids_of(in_order))


def _learned(
    service: MemoryService, request: ViewRequest, happened: Sequence[Happening], newest: Sequence[MemoryId]
) -> dict[str, Any]:
    """Return what was learned since the last look: how much, and the newest of it that holds; else what came last."""
    looked = request.last_look
    since = [one for one in happened if looked is not None and one.entry.at > looked]
    counts = counted(since, EARLIEST)
    new = [one.entry.id for one in since if is_learned(one)]
    kept: dict[str, Memory] = {}
    for one in _current(service, request, list(dict.fromkeys(new))).values():
        kept.setdefault(words_of(one), one)
    memories = list(kept.values())[:_LEARNED] or _stored(service, request, newest)
    before = service.revealed(request.scope, [one.supersedes for one in memories if one.supersedes])
    told_ = []
    for one in memories:
        values = told(service, request, one)
        if one.supersedes in before:
            values["before"] = told(service, request, before[one.supersedes])["content"]
        told_.append(values)
    return {
        "new": len(kept),
        "corrected": counts["corrected"],
        "forgotten": counts["forgotten"],
        "memories": told_,
    }


def _tier(
    service: MemoryService,
    request: ViewRequest,
    tier: Tier,
    count: int,
    looked: tuple[Sequence[Happening], Sequence[MemoryId]],
) -> dict[str, Any]:
    """Return a tier with the memories that came into it last: by what happened, else those written last."""
    happened, written_last = looked
    arrivals: dict[MemoryId, Happening] = {}
    for one in happened:
        if one.move is not None and one.move[1] is tier:
            arrivals.setdefault(one.entry.id, one)
    in_order = _current(service, request, [*arrivals][: SHOWN[tier] * 2], tier)
    if len(in_order) < min(SHOWN[tier], count):
        in_order |= {one.id: one for one in _stored(service, request, written_last)}
    shown = sorted(
        in_order.values(),
        key=lambda one: arrivals[one.id].entry.at if one.id in arrivals else one.created_at,
        reverse=True,
    )[: SHOWN[tier]]
    memories = _as_shown(service, request, shown)
    for values in memories:
        came = arrivals.get(values["id"])
        if came is not None and came.move is not None:
            values["moved_at"], values["why"] = came.entry.at.isoformat(), came.move[2]
    if tier is Tier.SHORT_TERM:
        _add_enhancements(service, shown, memories)
    room = {Tier.SENSORY: service.settings.sensory_buffer, Tier.SHORT_TERM: service.settings.short_term_buffer}
    return {"tier": tier.value, "count": count, "room": room.get(tier), "memories": memories}


def _current(
    service: MemoryService, request: ViewRequest, ids: Sequence[MemoryId], tier: Tier | None = None
) -> dict[MemoryId, Memory]:
    found = service.revealed(request.scope, ids)
    return {
        one: found[one]
        for one in ids
        if one in found
        and tier in (None, found[one].tier)
        and told(service, request, found[one])["state"] == MemoryState.CURRENT
    }


def _stored(service: MemoryService, request: ViewRequest, ids: Sequence[MemoryId]) -> list[Memory]:
    """Return memories as they are stored."""
    found = service.revealed(request.scope, ids)
    return [found[one] for one in ids if one in found]


def _as_shown(service: MemoryService, request: ViewRequest, memories: Iterable[Memory]) -> list[dict[str, Any]]:
    return [told(service, request, one) for one in memories]


def _add_enhancements(service: MemoryService, memories: Sequence[Memory], shown: Sequence[dict[str, Any]]) -> None:
    """Tell of memories in short-term how often they were enhanced there."""
    counts: dict[str, int] = {}
    for place in {(one.namespace, one.session, one.agent) for one in memories}:
        state = service.store.buffer(*place)
        try:
            entries = decode_buffers(state.state).short_term if state is not None and state.state else ()
        except StoreDamaged:  # costs the enhancements alone, as when a write meets it
            continue
        counts |= {entry.item.id: entry.count for entry in entries}
    for one in shown:
        one["enhanced"] = min(counts.get(one["id"], 0), service.settings.enhance_threshold)
        one["enhanced_of"] = service.settings.enhance_threshold


def _happened(service: MemoryService, request: ViewRequest, happened: Sequence[Happening]) -> list[dict[str, Any]]:
    groups = together(happened)[:_HAPPENED]
    shown = [one.entry.id for group in groups for one in group[:_OF_ONE_SORT]]
    found: Mapping[MemoryId, Memory] = service.revealed(request.scope, shown)
    texts = {name: told(service, request, one)["content"].strip()[:_EXCERPT] for name, one in found.items()}
    lines = [as_json(group, texts) for group in groups]
    return [line | {"memories": line["memories"][:_OF_ONE_SORT]} for line in lines]
