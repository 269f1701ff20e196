"""The journal of readings as data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from hybrid_memory.model import MemoryId
from hybrid_memory.store.readings import Asked, Outcome, Reading, Way
from hybrid_memory_mcp.views.view import ViewRequest

if TYPE_CHECKING:
    from hybrid_memory.service.memory_service import MemoryService

_TOOK: Mapping[Asked, str] = {
    Asked.QUESTION: "asked",
    Asked.MORE: "asked for the next page",
    Asked.BRIEF: "took a brief",
    Asked.IDS: "fetched memories by their ids",
    Asked.LATEST: "took the latest of a session",
}
ASKED: Mapping[Asked, str] = {
    Asked.QUESTION: "a question",
    Asked.MORE: "a further page",
    Asked.BRIEF: "a brief",
    Asked.IDS: "memories by their ids",
    Asked.LATEST: "the latest of a session",
}
OUTCOMES: Mapping[Outcome, str] = {
    Outcome.FOUND: "answered",
    Outcome.WEAK: "no clear answer",
    Outcome.UNKNOWN: "nothing known",
    Outcome.NOTHING: "nothing found",
}
_OF_A_MEMORY = 50


def readings_of(
    service: MemoryService, request: ViewRequest, memory_id: MemoryId, *, limit: int = _OF_A_MEMORY
) -> dict[str, Any]:
    """Return the readings that showed one memory, questions first, then the others, each the latest first.

    ``total`` counts all, ``questions`` those, and ``readings`` are ``limit`` at most.

    Each is as `reading_as_json` has it, without the memories themselves. ``on`` says whether a journal is kept at all.
    """
    shown = (one for one in latest(service, request) if memory_id in one.shown)
    found = sorted(shown, key=lambda one: not one.question)
    return {
        "on": service.journal.is_on,
        "total": len(found),
        "questions": sum(bool(one.question) for one in found),
        "readings": [reading_as_json(one) | {"place": one.shown.index(memory_id) + 1} for one in found[:limit]],
    }


def latest(service: MemoryService, request: ViewRequest) -> list[Reading]:
    """Return all readings of the request's namespaces, the latest first."""
    return service.journal.latest(request.scope.namespaces, service.now())


def reading_as_json(one: Reading) -> dict[str, Any]:
    """Return a reading as JSON: its fields, and in words what was done (``did``), asked (``asked_for``) and found (``found``)."""
    return {
        "number": one.number,
        "at": one.at.isoformat(),
        "client": one.client,
        "session": one.session,
        "namespace": one.namespace,
        "way": one.way.value,
        "did": _did(one),
        "asked": one.asked.value,
        "asked_for": ASKED[one.asked],
        "question": one.question,
        "filters": dict(one.filters),
        "shown": list(one.shown),
        "matched": one.matched,
        "outcome": one.outcome.value,
        "found": OUTCOMES[one.outcome],
        "unanswered": one.is_unanswered,
        "tokens": one.tokens,
    }


def _did(one: Reading) -> str:
    """Return what a client did; its name comes before it, the question behind it."""
    if one.way is Way.HOOK:
        brief = one.asked is Asked.BRIEF
        return "got a brief as the conversation began" if brief else "got these memories with a prompt"
    if one.way is Way.PROMPT and one.question:
        return "took the prompt with an answer to"
    return _TOOK[one.asked]
