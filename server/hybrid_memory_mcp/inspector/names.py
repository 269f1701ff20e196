"""The views `names` and `name`: the people and things that stand in memories, and everything about one of them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from hybrid_memory.errors import InvalidInput
from hybrid_memory.overview.recalls import ReadingFilter
from hybrid_memory.overviews import names_at
from hybrid_memory_mcp.inspector.readings import latest, reading_as_json
from hybrid_memory_mcp.inspector.view import told

if TYPE_CHECKING:
    from hybrid_memory.model import Memory
    from hybrid_memory.overview.name_table import Name
    from hybrid_memory.service import MemoryService
    from hybrid_memory_mcp.inspector.view import ViewRequest

_PAGE = 60
_PATIENT_SECONDS = 2.0  # that `wait=1` waits for what is made for the first time; a page stands sooner, and its script asks again
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
    found = service.overviews.names(request.scope, patience)
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
    about = service.overviews.about(request.scope, name)
    current = [_fact(service, request, one) for one in about.current]
    former = [_fact(service, request, one) for one in about.former]
    newer = {one["supersedes"]: one for one in (*current, *former) if "supersedes" in one}
    for one in former:
        if one["id"] in newer and "until" not in one:
            one["until"], one["replaced_by"] = newer[one["id"]]["since"], newer[one["id"]]["id"]
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


def _fact(service: MemoryService, request: ViewRequest, memory: Memory) -> dict[str, Any]:
    """Return a memory with ``since`` when it is true, and ``until`` when, where that is known."""
    shown = told(service, request, memory)
    until = memory.expires_at
    return (
        shown
        | {"since": (memory.occurred_at or memory.created_at).isoformat()}
        | ({"until": until.isoformat()} if until else {})
    )


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
