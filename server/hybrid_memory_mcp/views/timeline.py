"""The view `timeline`: what was learned when, when it was true, and what was believed at a moment.

Parameters: ``order`` (``learned`` or ``true``), ``zoom`` (``hour`` to ``century``), ``from`` and ``to`` (dates or words), ``as_of``
(what was believed then), ``true_at`` (what was true then), ``changes=1`` (only what took the place of something), the filters
``state``, ``tier``, ``kind``, ``trust``, ``session`` and ``tag``, ``page`` and ``limit``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from hybrid_memory.clock import from_micros, to_micros
from hybrid_memory.errors import InvalidInput
from hybrid_memory.model import Kind, MemoryId, Tier, Trust
from hybrid_memory.moments import EARLIEST, LATEST
from hybrid_memory.overview.timeline import TimelineFilter, TimelineRows, TimeOrder, timeline
from hybrid_memory.overview.times import STATES, times_of
from hybrid_memory.requests import MemoryState
from hybrid_memory_mcp.mcp_api.moments import CallTime, Meaning
from hybrid_memory_mcp.views.calendar import UNITS, Axis, Unit, edges, local_day, local_label, unit_for, unit_named
from hybrid_memory_mcp.views.life import times_as_json
from hybrid_memory_mcp.views.session_titles import session_titles
from hybrid_memory_mcp.views.view import told
from hybrid_memory_mcp.views.word_diff import word_diff

if TYPE_CHECKING:
    from hybrid_memory.model import Memory
    from hybrid_memory.service.memory_service import MemoryService
    from hybrid_memory_mcp.views.view import ViewRequest

C = TypeVar("C", bound=StrEnum)

_PAGE = 30
_SHORTEST = timedelta(hours=6)  # that a picture shows: on the first day all was learned within minutes
_PARTS_SHOWN = 60  # of a zoom that was chosen without a window
_FACETS = ("state", "tier", "kind", "trust", "session", "tag")
_QUOTED_CHARACTERS = 2000  # of an earlier or later version alongside a row


@dataclass(frozen=True, slots=True)
class _Window:
    """What a picture shows: parts of a ``unit`` between ``edges``; ``chosen`` says that the person chose from when to when."""

    unit: Unit
    edges: tuple[datetime, ...]
    chosen: bool

    @property
    def axis(self) -> Axis:
        return Axis(self.edges[0], self.edges[-1])


def load(service: MemoryService, request: ViewRequest) -> dict[str, Any]:
    """Return the picture, the facets and one page of memories.

    Raises:
        InvalidInput: a parameter is none that can be meant.
    """
    now = service.now()
    order = _choice(request, TimeOrder, "order") or TimeOrder.LEARNED
    wanted = _filter(request, now)
    limit, page = request.number("limit", _PAGE, most=200), request.number("page", 1, most=1_000_000)
    rows = service.look(request.scope, lambda columns, moment: timeline(columns, wanted, moment))
    # The picture stays as it is while a moment is chosen in it.
    pictured = rows
    if wanted.as_of is not None or wanted.true_at is not None:
        always = replace(wanted, as_of=None, true_at=None)
        pictured = service.look(request.scope, lambda columns, moment: timeline(columns, always, moment))
    window = _window(request, pictured, order, now)
    bounds = (to_micros(window.edges[0]), to_micros(window.edges[-1])) if window.chosen else (None, None)
    places = rows.newest(order, *bounds)
    ids = [rows.ids[int(place)] for place in places[(page - 1) * limit : page * limit]]
    return {
        "order": order.value,
        "now": now.isoformat(),
        "as_of": _iso(wanted.as_of),
        "true_at": _iso(wanted.true_at),
        "changes": wanted.changes,
        "filters": {name: request.text(name) for name in _FACETS if request.text(name)},
        "facets": _facets(service, request, rows.facets),
        "picture": _picture(pictured, window, now, wanted, request),
        "total": len(places),
        "everything": len(pictured.ids),
        "page": page,
        "limit": limit,
        "memories": _told_rows(service, request, ids, window, order),
    }


def _filter(request: ViewRequest, now: datetime) -> TimelineFilter:
    # The form of a page without scripts has one field for the moment, and two buttons that say which is meant.
    believed = request.text("which") != "true_at"
    return TimelineFilter(
        state=_choice(request, MemoryState, "state"),
        tier=_choice(request, Tier, "tier"),
        kind=_choice(request, Kind, "kind"),
        trust=_choice(request, Trust, "trust"),
        session=request.text("session") or None,
        tag=request.text("tag") or None,
        as_of=_end_of(request, "as_of", now) if believed else None,
        true_at=_end_of(request, "true_at", now) or (None if believed else _end_of(request, "as_of", now)),
        changes=request.flag("changes"),
    )


def _window(request: ViewRequest, rows: TimelineRows, order: TimeOrder, now: datetime) -> _Window:
    """Return what the picture shows: what the person chose, or else from the first time to the last."""
    since, until = _moment(request, "from", now, "begin"), _moment(request, "to", now, "through")
    named = request.text("zoom")
    unit = unit_named(named)
    if named and unit is None:
        raise InvalidInput("zoom", f"is one of {', '.join(one.name for one in UNITS)}")
    chosen = since is not None or until is not None
    first, last = _extent(rows, order, now)
    if until is None:
        until = last if since is None else max(last, since + _SHORTEST)
    if since is None:
        since = first if unit is None else max(first, _back(until, _PARTS_SHOWN * unit.seconds))
        chosen |= unit is not None and since > first
        since = min(since, _back(until, _SHORTEST.total_seconds()))
    if since >= until:
        raise InvalidInput("to", "lies before `from`; give a later day")
    unit = unit_for(since, until, at_least=unit)
    return _Window(unit, tuple(edges(since, until, unit, request.zone)), chosen)


def _extent(rows: TimelineRows, order: TimeOrder, now: datetime) -> tuple[datetime, datetime]:
    """Return the first and the last moment of what there is, `now` included, a little more where that is hardly any time."""
    found = rows.extent(order)
    first, last = (now, now) if found is None else (_moment_of(found[0]), _moment_of(found[1]))
    return min(first, _back(now, _SHORTEST.total_seconds())), max(last, now) + timedelta(microseconds=1)


def _picture(
    rows: TimelineRows, window: _Window, now: datetime, wanted: TimelineFilter, request: ViewRequest
) -> dict[str, Any]:
    """Return the bars of both orders of time over one axis. ``x`` and ``width`` are shares of it."""
    bounds = np.array([to_micros(one) for one in window.edges], np.int64)
    counted = {one: rows.counts(one, bounds) for one in TimeOrder}
    bars, axis = [], window.axis
    for at, (begin, end) in enumerate(zip(window.edges, window.edges[1:], strict=False)):
        bar = {
            "from": begin.isoformat(),
            "to": end.isoformat(),
            "label": local_label(begin, window.unit, request.zone),
            "x": axis.place(begin),
            "width": round(axis.place(end) - axis.place(begin), 5),
        }
        bars.append(bar | {one.value: _by_state(counts[at + 1]) for one, counts in counted.items()})
    return {
        "unit": window.unit.name,
        "from": window.edges[0].isoformat(),
        "to": window.edges[-1].isoformat(),
        "last": (window.edges[-1] - timedelta(microseconds=1)).isoformat(),
        "chosen": window.chosen,
        "bars": bars,
        "highest": {one.value: int(counts[1:-1].sum(axis=1).max(initial=0)) for one, counts in counted.items()},
        "before": {one.value: int(counts[0].sum()) for one, counts in counted.items()},
        "after": {one.value: int(counts[-1].sum()) for one, counts in counted.items()},
        "ticks": axis.marks(request.zone),
        "now": axis.inside(now),
        "as_of": axis.inside(wanted.as_of),
        "true_at": axis.inside(wanted.true_at),
        "earlier": _neighbour(window, -1),
        "later": _neighbour(window, 1),
        "finer": _finer(window),
    }


def _by_state(counts: np.ndarray) -> dict[str, int]:
    return {state.value: count for state, count in zip(STATES, counts.tolist(), strict=True) if count}


def _neighbour(window: _Window, step: int) -> dict[str, str] | None:
    """Return the window before or behind this one, as long as it is."""
    length = (window.edges[-1] - window.edges[0]) * step
    try:
        since, until = window.edges[0] + length, window.edges[-1] + length
    except OverflowError:
        return None
    return {"from": since.isoformat(), "to": until.isoformat()} if since >= EARLIEST and until <= LATEST else None


def _finer(window: _Window) -> str | None:
    at = UNITS.index(window.unit)
    return UNITS[at - 1].name if at else None


def _told_rows(
    service: MemoryService, request: ViewRequest, ids: Sequence[MemoryId], window: _Window, order: TimeOrder
) -> list[dict[str, Any]]:
    """Return the memories of a page with their times, what each took the place of, and what took its own."""
    found = service.revealed(request.scope, ids)
    linked = {one for memory in found.values() for one in (memory.supersedes, memory.superseded_by) if one is not None}
    others = service.revealed(request.scope, sorted(linked))
    told_rows = []
    for memory in (found[one] for one in ids if one in found):
        later = None if memory.superseded_by is None else others.get(memory.superseded_by)
        times = times_of(memory, later, service.now())
        row = told(service, request, memory) | {"times": times_as_json(times)}
        row["day"] = local_day(times.learned if order is TimeOrder.LEARNED else times.true_from, request.zone)
        row["spans"] = window.axis.spans(times, service.now())
        before = None if memory.supersedes is None else others.get(memory.supersedes)
        if before is not None:
            row["before"] = _version(service, request, before, memory)
        if later is not None:
            row["after"] = _version(service, request, later, replace(later, supersedes=None))
        told_rows.append(row)
    return told_rows


def _version(service: MemoryService, request: ViewRequest, version: Memory, newer: Memory) -> dict[str, Any]:
    """Return another version alongside a row: its words, since when they were believed, and what the newer ones changed in them."""
    shown, words = told(service, request, version), told(service, request, newer)["content"]
    text = shown["content"]
    version_json = {"id": version.id, "content": text[:_QUOTED_CHARACTERS], "state": shown["state"]}
    times = {"created_at": shown["created_at"], "occurred_at": shown.get("occurred_at")}
    return version_json | times | ({"diff": word_diff(text, words)} if newer.supersedes == version.id else {})


def _facets(
    service: MemoryService, request: ViewRequest, facets: Mapping[str, Mapping[str, int]]
) -> dict[str, list[dict[str, Any]]]:
    """Return the values of each filter with their counts, conversations with a title too.

    Names that hold secrets are left out unless these are asked for.
    """

    def may_be_shown(value: str) -> bool:
        return request.reveal or service.secrets.shown_text(value) == value

    found: dict[str, list[dict[str, Any]]] = {
        name: [{"value": value, "count": count} for value, count in counts.items() if may_be_shown(value)]
        for name, counts in facets.items()
    }
    titles = session_titles(service, request, (one["value"] for one in found.get("session", ())))
    for one in found.get("session", ()):
        one["title"] = titles[one["value"]]
    return found


def _moment(request: ViewRequest, name: str, now: datetime, meaning: Meaning) -> datetime | None:
    """Return the moment of a parameter: ISO 8601, or words such as "last Friday"; a day as ``through`` means until its end.

    Raises:
        InvalidInput: it names none.
    """
    written = request.text(name)
    if not written:
        return None
    found = CallTime(request.zone, now).moment(name, written, meaning)
    if found is None or not EARLIEST <= found.astimezone(UTC) <= LATEST:
        raise InvalidInput(name, "is no date; write 2026-01-31 or 2026-01-31T09:30")
    return found.astimezone(UTC)


def _end_of(request: ViewRequest, name: str, now: datetime) -> datetime | None:
    """Return the moment of a parameter; of a day its last one, so that what was learned on it is there."""
    begin, through = _moment(request, name, now, "moment"), _moment(request, name, now, "through")
    return through if through is None or begin == through else through - timedelta(microseconds=1)


def _choice(request: ViewRequest, kind: type[C], name: str) -> C | None:
    """Return the value of a filter.

    Raises:
        InvalidInput: there is none of that name; names those that there are.
    """
    given = request.text(name)
    if not given:
        return None
    try:
        return kind(given)
    except ValueError:
        raise InvalidInput(name, f"is one of {', '.join(one.value for one in kind)}") from None


def _moment_of(micros: int) -> datetime:
    return from_micros(min(max(micros, to_micros(EARLIEST)), to_micros(LATEST)))


def _back(moment: datetime, seconds: float) -> datetime:
    try:
        return max(moment - timedelta(seconds=seconds), EARLIEST)
    except OverflowError:
        return EARLIEST


def _iso(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()
