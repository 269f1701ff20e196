"""The journal of readings as data: for the view of all of them, for a session's page and for a memory's."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hybrid_memory.model import Memory, MemoryId
from hybrid_memory.overview.recalls import ReadingFilter
from hybrid_memory.store.readings import Asked, Outcome, Reading, Way
from hybrid_memory_mcp.inspector.session_words import session_titles
from hybrid_memory_mcp.inspector.view import ViewRequest, told

if TYPE_CHECKING:
    from hybrid_memory.service import MemoryService

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
MEMORIES_OF_A_READING = 5  # told whole in a list; the others by their number
_OF_A_MEMORY = 50


def readings_of(
    service: MemoryService, request: ViewRequest, memory_id: MemoryId, *, limit: int = _OF_A_MEMORY
) -> dict[str, Any]:
    """Return the readings that showed one memory, questions first, then the others, each the latest first.

    ``total`` counts all, ``questions`` those, and ``readings`` are ``limit`` at most.

    Each is as `reading_as_json` has it, without the memories themselves. ``on`` says whether a journal is kept at all.
    """
    wanted = ReadingFilter(memory=memory_id)
    found = sorted((one for one in latest(service, request) if wanted.takes(one)), key=lambda one: not one.question)
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
    """Return what a client did; its name stands before it, the question behind it."""
    if one.way is Way.HOOK:
        brief = one.asked is Asked.BRIEF
        return "got a brief as the conversation began" if brief else "got these memories with a prompt"
    if one.way is Way.PROMPT and one.question:
        return "took the prompt with an answer to"
    return _TOOK[one.asked]


def with_memories(service: MemoryService, request: ViewRequest, readings: Sequence[Reading]) -> list[dict[str, Any]]:
    """Return readings with ``memories``, the first of those that were shown, and ``more``, how many further ones there were.

    One that is not there any more is left out. ``session_title`` is what a person calls the conversation.
    """
    titles = session_titles(service, request, (one.session for one in readings if one.session))
    known = fetched(service, request, (id_ for one in readings for id_ in one.shown[:MEMORIES_OF_A_READING]))
    return [
        reading_as_json(one)
        | {
            "memories": [
                told(service, request, known[id_]) for id_ in one.shown[:MEMORIES_OF_A_READING] if id_ in known
            ],
            "session_title": titles.get(one.session, ""),
            "more": max(len(one.shown) - MEMORIES_OF_A_READING, 0),
        }
        for one in readings
    ]


def fetched(service: MemoryService, request: ViewRequest, ids: Iterable[MemoryId]) -> dict[MemoryId, Memory]:
    """Return memories by id, forgotten ones included, with their secrets: what is shown of them, `told` decides."""
    return service.revealed(request.scope, list(dict.fromkeys(ids)))
