"""The view of what was asked: by whom, when, what was shown, and which questions nothing answered."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from hybrid_memory.errors import InvalidInput
from hybrid_memory.model import Memory, MemoryId
from hybrid_memory.store.readings import Reading, Way
from hybrid_memory_inspector.overview.recalls import DayCount, Gap, ReadingFilter, by_day, gaps, most_used, named_counts
from hybrid_memory_mcp.views.readings import OUTCOMES, latest, reading_as_json
from hybrid_memory_mcp.views.session_titles import session_titles
from hybrid_memory_mcp.views.view import ViewRequest, told

if TYPE_CHECKING:
    from hybrid_memory.service.memory_service import MemoryService

MEMORIES_OF_A_READING = 5  # told whole in a list; the others by their number
_PAGE = 25
_DAYS = 30  # of the picture
_GAPS = 8
_MOST_USED = 5
_NAMED = 12  # clients to choose from


def load(service: MemoryService, request: ViewRequest) -> dict[str, Any]:
    """Return the journal of readings, the latest first.

    Parameters: ``client``, ``way``, ``session``, ``memory`` (an id), ``q`` (words of the question), ``unanswered``, ``page``, ``limit``.

    Gives ``on`` and ``keeps`` (the limits of the journal), ``readings`` with their memories, ``total`` of those that pass the filters,
    ``session_title`` (what a person calls the session asked for), ``counts``, ``days`` (30, the first first), ``gaps`` (questions that
    nothing answered), ``most_used``, and the ``clients`` and ``ways`` to choose from.
    """
    wanted = _filter(request)
    page, limit = request.number("page", 1, most=100_000), request.number("limit", _PAGE, most=200)
    every = latest(service, request)
    found = [one for one in every if wanted.takes(one)]
    now = service.now().astimezone(request.zone)
    keep, days = service.journal.limits
    return {
        "on": service.journal.is_on,
        "keeps": {"readings": keep, "days": days},
        "filters": {
            "client": wanted.client,
            "session": wanted.session,
            "way": wanted.way.value if wanted.way else "",
            "memory": wanted.memory or "",
            "q": wanted.words,
            "unanswered": wanted.unanswered,
        },
        "session_title": session_titles(service, request, [wanted.session])[wanted.session] if wanted.session else "",
        "counts": _counts(every, now - timedelta(days=7)),
        "days": [_day_as_json(one) for one in by_day(found, now.date(), _DAYS, request.zone)],
        "gaps": [_gap_as_json(one) for one in gaps(every, _GAPS)],
        "most_used": _most_used(service, request, found),
        "clients": _named([one.client for one in every]),
        "ways": _named([one.way.value for one in every]),
        "total": len(found),
        "page": page,
        "limit": limit,
        "readings": with_memories(service, request, found[(page - 1) * limit : page * limit]),
    }


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


def _filter(request: ViewRequest) -> ReadingFilter:
    way = request.text("way")
    if way and way not in {one.value for one in Way}:
        raise InvalidInput("way", f"is one of {', '.join(one.value for one in Way)}")
    return ReadingFilter(
        client=request.text("client"),
        session=request.text("session"),
        way=Way(way) if way else None,
        memory=MemoryId(request.text("memory")) or None,
        words=request.text("q"),
        unanswered=request.flag("unanswered"),
    )


def _counts(readings: Sequence[Reading], week: Any) -> dict[str, Any]:
    questions = [one for one in readings if one.is_question]
    answered = sum(one.is_answered for one in questions)
    unanswered = sum(one.is_unanswered for one in questions)
    recent = [one for one in readings if one.at >= week]
    return {
        "readings": len(readings),
        "questions": len(questions),
        "answered": answered,
        "unclear": len(questions) - answered - unanswered,
        "unanswered": unanswered,
        "answered_share": round(answered / len(questions), 4) if questions else None,
        "memories_shown": len({id_ for one in readings for id_ in one.shown}),
        "tokens": sum(one.tokens for one in readings),
        "readings_of_week": len(recent),
        "tokens_of_week": sum(one.tokens for one in recent),
        "since": min((one.at for one in readings), default=None) and min(one.at for one in readings).isoformat(),
    }


def _most_used(service: MemoryService, request: ViewRequest, readings: Sequence[Reading]) -> list[dict[str, Any]]:
    counted = most_used(readings, 2 * _MOST_USED)
    known = fetched(service, request, (id_ for id_, _ in counted))
    there = [(known[id_], times) for id_, times in counted if id_ in known]
    return [{"memory": told(service, request, one), "times": times} for one, times in there[:_MOST_USED]]


def _named(names: Sequence[str]) -> list[dict[str, Any]]:
    return [{"name": name, "count": count} for name, count in named_counts(names)[:_NAMED]]


def _day_as_json(one: DayCount) -> dict[str, Any]:
    return {"day": one.day.isoformat(), "readings": one.readings, "unanswered": one.unanswered}


def _gap_as_json(one: Gap) -> dict[str, Any]:
    return {
        "question": one.question,
        "asked": one.asked,
        "last": one.last.isoformat(),
        "clients": list(one.clients),
        "found": OUTCOMES[one.outcome],
    }
