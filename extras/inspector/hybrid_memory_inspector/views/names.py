"""The views `names` and `name`: the people and things that stand in memories, and everything about one of them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from hybrid_memory.errors import InvalidInput
from hybrid_memory.overview.times import times_of
from hybrid_memory_inspector.overview.overviews import names_at, overviews_of
from hybrid_memory_inspector.overview.recalls import ReadingFilter
from hybrid_memory_mcp.views.readings import latest, reading_as_json
from hybrid_memory_mcp.views.view import told

if TYPE_CHECKING:
    from hybrid_memory.model import Memory
    from hybrid_memory.service.memory_service import MemoryService
    from hybrid_memory_inspector.overview.name_table import Name
    from hybrid_memory_mcp.views.view import ViewRequest

_PAGE = 60
_PATIENT_SECONDS = 2.0  # that `wait=1` waits for what is made for the first time
_MOST_OTHERS = 24
_MOST_QUESTIONS = 20
_LONGEST = 200
_MICROS = 1_000_000
_ORDERS = ("count", "last", "name")


def load(service: MemoryService, request: ViewRequest) -> dict[str, Any]:
    """Return the names in the memories, the most frequent first; ``ready`` False while they are counted for the first time.

    ``q=`` keeps those of which a word begins so, ``kind=`` those of a kind, ``order=`` is count, last or name.
    """
    patience = _PATIENT_SECONDS if request.flag("wait") else None
    found = overviews_of(service).names(request.scope, patience)
    order = request.text("order") or _ORDERS[0]
    if order not in _ORDERS:
        raise InvalidInput("order", f"is one of {', '.join(_ORDERS)}")
    if found is None:
        return {"ready": False, "names": [], "total": 0, "kinds": {}, "order": order, "page": 1, "limit": _PAGE}
    names = names_at(found.value, request.text("q"))
    names = [one for one in names if service.secrets.shown_text(one.name) == one.name]
    kinds: dict[str, int] = {}
    for one in names:
        kinds[one.kind.value] = kinds.get(one.kind.value, 0) + 1
    if kind := request.text("kind"):
        names = [one for one in names if one.kind.value == kind]
    if order == "last":
        names.sort(key=lambda one: -one.last)
    elif order == "name":
        names.sort(key=lambda one: one.name.casefold())
    page, limit = request.number("page", 1, most=1_000_000), request.number("limit", _PAGE, most=500)
    return {
        "ready": True,
        "current": found.current,
        "version": found.version,
        "names": [_told(one) for one in names[(page - 1) * limit : page * limit]],
        "total": len(names),
        "kinds": kinds,
        "order": order,
        "page": page,
        "limit": limit,
    }


def load_one(service: MemoryService, request: ViewRequest) -> dict[str, Any]:
    """Return everything about one name: what holds, what held once and until when, who else is named with it, what was asked about it."""
    name = " ".join(request.text("name").split())
    if not name or len(name) > _LONGEST:
        raise InvalidInput("name", f"is a name of at most {_LONGEST} characters")
    about = overviews_of(service).about(request.scope, name)
    ids = [one.superseded_by for one in about.former if one.superseded_by is not None]
    newer = service.revealed(request.scope, ids)
    current = [_fact(service, request, one, None) for one in about.current]
    former = [
        _fact(service, request, one, newer.get(one.superseded_by) if one.superseded_by else None)
        for one in about.former
    ]
    moments = [one["created_at"] for one in (*current, *former)]
    return {
        "name": name,
        "total": about.holding + about.held,
        "holding": about.holding,
        "held": about.held,
        "current": current,
        "former": former,
        "timeline": sorted((*current, *former), key=lambda one: str(one["since"])),
        "others": [{"name": other, "count": count} for other, count in about.others[:_MOST_OTHERS]],
        "first": min(moments, default=None),
        "last": max(moments, default=None),
        "questions": _questions(service, request, name),
    }


def _fact(service: MemoryService, request: ViewRequest, memory: Memory, newer: Memory | None) -> dict[str, Any]:
    """Return a memory with ``since`` when it was true, and where that is known ``until`` when, and what took its place.

    ``ended`` says how it came to an end (`hybrid_memory.overview.times`).
    """
    times = times_of(memory, newer, service.now())
    more = {
        "since": times.true_from.isoformat(),
        "until": times.true_until and times.true_until.isoformat(),
        "believed_until": times.believed_until and times.believed_until.isoformat(),
        "ended": times.ended,
        "replaced_by": newer.id if newer is not None and newer.forgotten_at is None else None,
    }
    return told(service, request, memory) | {name: value for name, value in more.items() if value}


def _questions(service: MemoryService, request: ViewRequest, name: str) -> list[dict[str, Any]]:
    """Return the latest questions with the name in them."""
    wanted = ReadingFilter(words=name)
    asked = [one for one in latest(service, request) if one.question and wanted.takes(one)]
    return [reading_as_json(one) for one in asked[:_MOST_QUESTIONS]]


def _told(one: Name) -> dict[str, Any]:
    return {
        "name": one.name,
        "kind": one.kind.value,
        "count": one.count,
        "first": _iso(one.first),
        "last": _iso(one.last),
        "over_time": list(one.over_time),
    }


def _iso(micros: int) -> str:
    return datetime.fromtimestamp(micros / _MICROS, UTC).isoformat()
