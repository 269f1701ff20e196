"""The views of the sessions: all of them with what was learned in each, and one with its memories and questions in order."""

from __future__ import annotations

from calendar import month_name
from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from hybrid_memory.errors import InvalidInput, NotFound
from hybrid_memory.model import Memory, MemoryId
from hybrid_memory.retrieval.arrays import UNKNOWN
from hybrid_memory.secret_detection.masking import masked
from hybrid_memory.store.readings import Reading
from hybrid_memory.store.writing import ChangeType
from hybrid_memory_inspector.overview.sessions import (
    SessionOrder,
    SessionSummary,
    rows_of_session,
    session_page,
    summary_of,
)
from hybrid_memory_inspector.views.recalls import fetched, with_memories
from hybrid_memory_mcp.views.readings import latest
from hybrid_memory_mcp.views.session_titles import session_titles, starts_of
from hybrid_memory_mcp.views.view import ViewRequest, told
from hybrid_memory_mcp.words.client_words import client_name, client_names
from hybrid_memory_mcp.words.session_names import first_words, given_name, source_of

if TYPE_CHECKING:
    from hybrid_memory.retrieval.memory_columns import MemoryColumns
    from hybrid_memory.service.memory_service import MemoryService

_PAGE = 30
_STEPS = 100  # of one session on a page


def load(service: MemoryService, request: ViewRequest) -> dict[str, Any]:
    """Return one page of the sessions.

    Parameters: ``q`` (a part of the title or of the program), ``order`` (latest, oldest, largest), ``page``, ``limit``.

    Each session has ``name``, ``title`` (what a person calls it), ``memories``, ``current``, ``forgotten``, ``replaced``, ``first``,
    ``last``, ``clients`` (who wrote or asked there), ``questions``, ``unanswered``, ``month`` (its heading in this order) and
    ``learned``, up to three memories that weigh most.
    """
    order = request.text("order", SessionOrder.LATEST)
    if order not in {one.value for one in SessionOrder}:
        raise InvalidInput("order", f"is one of {', '.join(one.value for one in SessionOrder)}")
    page, limit = request.number("page", 1, most=100_000), request.number("limit", _PAGE, most=200)
    find = partial(
        session_page,
        named=_named(service, request, request.text("q")),
        order=SessionOrder(order),
        offset=(page - 1) * limit,
        limit=limit,
    )
    found = service.look(request.scope, find)
    told_of = _told(service, request, found.sessions)
    for one, it in zip(found.sessions, told_of, strict=True):
        it["month"] = _month(request, SessionOrder(order), one)
    return {
        "filters": {"q": request.text("q"), "order": order},
        "total": found.total,
        "page": page,
        "limit": limit,
        "sessions": told_of,
    }


def load_one(service: MemoryService, request: ViewRequest) -> dict[str, Any]:
    """Return one session: its summary, and ``steps``, its memories and questions in the order of time.

    It has the ``first`` and the ``last`` moment too. Parameters: ``name`` (of the path), ``page``, ``limit``. A step has ``at`` and
    ``kind``: "memory" with ``memory`` and ``by``, or "reading" with ``reading``.

    Raises:
        NotFound: nothing was written or asked in a session of that name.
    """
    name = _name_of(service, request, request.parameters.get("name", ""))
    page, limit = request.number("page", 1, most=100_000), request.number("limit", _STEPS, most=1000)
    summary = service.look(request.scope, partial(summary_of, name=name))
    rows = service.look(request.scope, lambda columns, _: rows_of_session(columns, name))
    asked = _asked_in(service, request, name)
    if summary is None and not asked:
        raise NotFound("name: no such session here; the list of sessions has those that there are")
    steps: list[tuple[datetime, MemoryId | Reading]] = [*rows, *((one.at, one) for one in asked)]
    steps.sort(key=lambda step: step[0])
    shown = steps[(page - 1) * limit : page * limit]
    told_of = _told(service, request, [summary])[0] if summary is not None else None
    return {
        "name": _shown_name(service, request, name),
        "title": told_of["title"] if told_of else _asked_title(service, request, name, asked),
        "summary": told_of,
        "clients": told_of["clients"] if told_of else client_names(one.client for one in asked),
        "questions": sum(bool(one.question) for one in asked),
        "readings": len(asked),
        "first": steps[0][0].isoformat(),
        "last": steps[-1][0].isoformat(),
        "total": len(steps),
        "page": page,
        "limit": limit,
        "steps": _steps(service, request, shown),
    }


def _named(service: MemoryService, request: ViewRequest, words: str) -> set[str] | None:
    """Return the sessions in whose title, name or program some words stand, in any case; None for no words."""
    if not words:
        return None
    wanted = words.casefold()
    titles = session_titles(service, request, starts_of(service, request))
    return {name for name, title in titles.items() if wanted in f"{title}\n{name}\n{source_of(name)}".casefold()}


def _month(request: ViewRequest, order: SessionOrder, one: SessionSummary) -> str:
    if order is SessionOrder.LARGEST:
        return ""
    moment = (one.first if order is SessionOrder.OLDEST else one.last).astimezone(request.zone)
    return f"{month_name[moment.month]} {moment.year}"


def _name_of(service: MemoryService, request: ViewRequest, given: str) -> str:
    """Return the name of a session that is given as it is, or as it is shown where it holds a secret."""

    def find(columns: MemoryColumns, _: datetime) -> str:
        if columns.sessions.find(given) != UNKNOWN:
            return given
        return next((one for one in columns.sessions.names if service.secrets.shown_text(one) == given), given)

    return service.look(request.scope, find)


def _shown_name(service: MemoryService, request: ViewRequest, name: str) -> str:
    return name if request.reveal else service.secrets.shown_text(name)


def _asked_title(service: MemoryService, request: ViewRequest, name: str, asked: Sequence[Reading]) -> str:
    """Return the title of a session in which nothing was kept: its first question, where it has no name of its own."""
    question = next((one.question for one in reversed(asked) if one.question), "")
    if given_name(name) is None and question:
        return first_words(question)
    return session_titles(service, request, [name])[name]


def _asked_in(service: MemoryService, request: ViewRequest, name: str) -> list[Reading]:
    names = {name, masked(name)} - {""}
    return [one for one in latest(service, request) if one.session in names]


def _told(service: MemoryService, request: ViewRequest, sessions: Sequence[SessionSummary]) -> list[dict[str, Any]]:
    learned = fetched(service, request, (id_ for one in sessions for id_ in one.learned))
    writers = _writers(service, request, [id_ for one in sessions for id_ in (one.began, one.ended)])
    titles = session_titles(service, request, [one.name for one in sessions])
    asked: dict[str, list[Reading]] = {}
    for reading in latest(service, request):
        asked.setdefault(reading.session, []).append(reading)
    asked = {one.name: asked.get(masked(one.name), []) for one in sessions}
    return [
        {
            "name": _shown_name(service, request, one.name),
            "title": titles[one.name],
            "memories": one.memories,
            "current": one.current,
            "forgotten": one.forgotten,
            "replaced": one.replaced,
            "first": one.first.isoformat(),
            "last": one.last.isoformat(),
            "clients": client_names(
                [writers.get(one.began, ""), writers.get(one.ended, ""), *(it.client for it in asked[one.name])]
            ),
            "questions": sum(bool(it.question) for it in asked[one.name]),
            "unanswered": sum(it.is_unanswered for it in asked[one.name]),
            "learned": [told(service, request, learned[id_]) for id_ in one.learned if id_ in learned],
        }
        for one in sessions
    ]


def _writers(service: MemoryService, request: ViewRequest, ids: Iterable[MemoryId]) -> dict[MemoryId, str]:
    """Return who wrote some memories, as the log has it."""
    wanted = list(dict.fromkeys(ids))
    found: dict[MemoryId, str] = {}
    for namespace in request.scope.namespaces if wanted else ():
        for entry in service.store.history(namespace, wanted):
            if entry.change is ChangeType.INSERT:
                found.setdefault(entry.id, entry.actor)
    return found


def _steps(
    service: MemoryService, request: ViewRequest, steps: Sequence[tuple[datetime, MemoryId | Reading]]
) -> list[dict[str, Any]]:
    ids = [one for _, one in steps if not isinstance(one, Reading)]
    memories = fetched(service, request, ids)
    writers = _writers(service, request, ids)
    readings = [one for _, one in steps if isinstance(one, Reading)]
    told_readings = {
        one.number: it for one, it in zip(readings, with_memories(service, request, readings), strict=True)
    }
    found: list[dict[str, Any]] = []
    for at, one in steps:
        if isinstance(one, Reading):
            found.append({"at": at.isoformat(), "kind": "reading", "reading": told_readings[one.number]})
        elif one in memories:
            found.append(_memory_step(service, request, at, memories[one], writers.get(one, "")))
    return found


def _memory_step(service: MemoryService, request: ViewRequest, at: datetime, memory: Memory, by: str) -> dict[str, Any]:
    return {"at": at.isoformat(), "kind": "memory", "by": client_name(by), "memory": told(service, request, memory)}
