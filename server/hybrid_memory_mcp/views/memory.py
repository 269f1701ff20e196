"""The view `memory`: everything that is known of one memory, at `/memories/ID`; the id may be the beginning of one.

Its versions as a chain with what changed, when each was true and believed, what it rests on and what rests on it, duplicates, disputes,
recalls, who wrote it where, its life in the tiers, and the audit. What was purged has a life in the log too.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import numpy as np

from hybrid_memory.admin.history import MemoryEvent, MemoryHistory, memory_history
from hybrid_memory.errors import InvalidInput, NotFound
from hybrid_memory.ids import LONGEST_ID, SHORTEST_BEGINNING
from hybrid_memory.model import MemoryId
from hybrid_memory.moments import EARLIEST
from hybrid_memory.overview.times import MemoryTimes, times_of
from hybrid_memory.project_names import project_of
from hybrid_memory_mcp.views.calendar import Axis
from hybrid_memory_mcp.views.life import life_of, times_as_json
from hybrid_memory_mcp.views.readings import readings_of
from hybrid_memory_mcp.views.session_titles import session_titles
from hybrid_memory_mcp.views.view import told
from hybrid_memory_mcp.views.word_diff import word_diff
from hybrid_memory_mcp.words.client_words import client_name
from hybrid_memory_mcp.words.event_words import event_in_words

if TYPE_CHECKING:
    from hybrid_memory.model import Memory
    from hybrid_memory.retrieval.memory_columns import MemoryColumns
    from hybrid_memory.service.memory_service import MemoryService
    from hybrid_memory_mcp.views.view import ViewRequest

_LINKS_SHOWN = 60  # of each sort; more would not be read on one page
_LINKS_READ = 400
_ALIKE_SHOWN = 6
_VERSIONS_SHOWN = 40
_EVENTS_SHOWN = 300  # the newest; a memory that is recalled every day for years has thousands


def load(service: MemoryService, request: ViewRequest) -> dict[str, Any]:
    """Return all that is known of the memory of the parameter ``id``.

    Raises:
        InvalidInput: the id is too short, or begins several.
        NotFound: there never was such a memory here.
    """
    memory_id, namespace = _named(service, request)
    lineage = service.look(request.scope, lambda columns, _: versions_of(columns, memory_id))
    history = memory_history(service.store, namespace, memory_id, None, known=lineage)
    events = [one for one in history.events if one.id == memory_id or history.versions]
    memory = next((one.memory for one in history.versions if one.memory.id == memory_id), None)
    if memory is None:
        return _erased(memory_id, namespace, history)
    links = _Links(service, request, [one.memory for one in history.versions])
    whole_chain = _chain(memory, links.known)
    chain = _around(memory, whole_chain)
    now = service.now()
    times = {one.id: times_of(one, links.successor(one), now) for one in chain}
    axis = _axis(times.values(), now)
    (hit,) = service.as_hits(request.scope, [memory])
    usage = next(one for one in history.versions if one.memory.id == memory_id)
    return {
        "id": memory_id,
        "memory": _with_times(links, memory)
        | {"recalls": usage.recalls, "recalled_at": usage.recalled_at.isoformat() if usage.recalled_at else None},
        "versions": _versions(links, chain, whole_chain, history, axis),
        "versions_left_out": len(whole_chain) - len(chain),
        "axis": {
            "from": axis.since.isoformat(),
            "to": axis.until.isoformat(),
            "now": axis.inside(now),
            "ticks": axis.marks(request.zone),
        },
        "replaced_too": [_with_times(links, one) for one in links.replaced_beside(whole_chain)],
        "life": life_of(chain, {one: each.believed_until for one, each in times.items()}, events, now),
        "events": [_event(one) for one in events[-_EVENTS_SHOWN:]][::-1],
        "events_left_out": max(len(events) - _EVENTS_SHOWN, 0),
        "written": _written(service, request, memory, events),
        "evidence": links.named(memory.parents),
        "children": links.of(lambda one: memory_id in one.parents),
        "duplicates": links.of(lambda one: one.duplicate_of == memory_id)
        + (links.named([memory.duplicate_of]) if memory.duplicate_of else []),
        "disputes": links.named([memory.disputes])[0] if memory.disputes else None,
        "disputes_more_trusted": hit.disputes is not None,
        "disputed_by": links.named(hit.disputed_by),
        "contradicted_by": links.named([hit.contradicted_by] if hit.contradicted_by else []),
        "readings": readings_of(service, request, memory_id),
        "alike": _alike(service, request, memory, links),
    }


def versions_of(columns: MemoryColumns, memory_id: MemoryId) -> list[MemoryId]:
    """Return the ids of all versions of a memory, itself included, those stored first first; none of an unknown one.

    What replaced it, what that replaced, and so on: of a merged text that is all that was merged.
    """
    row = columns.row_of(memory_id)
    if row is None:
        return []
    successors = columns.successor.values
    linked = np.flatnonzero(successors >= 0)
    found = np.zeros(len(columns), np.bool_)
    found[row] = True
    wanted = {row}
    # Forward to the newest, then back over everything that was replaced on the way: one look at the links for each step back.
    while (at := int(successors[row])) >= 0 and not found[at]:
        found[at] = True
        wanted.add(at)
        row = at
    while wanted:
        before = linked[np.isin(successors[linked], list(wanted))]
        wanted = set(before[~found[before]].tolist())
        found[before] = True
    return columns.ids.ids_of(np.flatnonzero(found))


def _named(service: MemoryService, request: ViewRequest) -> tuple[MemoryId, str]:
    """Return the id that is meant, and the namespace that it lies in, or lay in before it was purged."""
    given = request.text("id")
    scope = request.scope
    if len(given) > LONGEST_ID:
        raise NotFound(_NO_MEMORY)
    try:
        (whole,) = service.whole_ids(scope, [given])
    except NotFound:
        for namespace in scope.namespaces:
            if given and service.store.history(namespace, [MemoryId(given)]):
                return MemoryId(given), namespace
        raise NotFound(_NO_MEMORY) from None
    except InvalidInput as problem:
        if len(given) >= SHORTEST_BEGINNING:
            raise
        raise NotFound(_NO_MEMORY) from problem
    return whole, service.revealed(scope, [whole])[whole].namespace


_NO_MEMORY = "id: no memory begins so here; choose another namespace, or search for its words"


class _Links:
    """The memories around one: what they name, and what names them."""

    def __init__(self, service: MemoryService, request: ViewRequest, versions: Sequence[Memory]) -> None:
        self.service, self.request = service, request
        self.known = {one.id: one for one in versions}
        scope = request.scope
        self.linked = self._read(
            [id_ for _, id_ in service.store.linked_to(scope.namespaces, list(self.known), _LINKS_READ)]
        )
        named = {
            link for one in versions for link in (*one.parents, one.duplicate_of, one.disputes) if link is not None
        }
        self._read(sorted(named))

    def _read(self, ids: Collection[MemoryId]) -> list[Memory]:
        missing = [one for one in ids if one not in self.known]
        self.known |= self.service.revealed(self.request.scope, missing)
        return [self.known[one] for one in ids if one in self.known]

    def successor(self, memory: Memory) -> Memory | None:
        if memory.superseded_by is None:
            return None
        self._read([memory.superseded_by])
        return self.known.get(memory.superseded_by)

    def named(self, ids: Iterable[MemoryId]) -> list[dict[str, Any]]:
        """Return the memories of some ids; of what is no longer there the id alone, as ``gone``."""
        wanted = list(dict.fromkeys(ids))
        self._read(wanted)
        return [
            _with_times(self, self.known[one]) if one in self.known else {"id": one, "gone": True}
            for one in wanted[:_LINKS_SHOWN]
        ]

    def of(self, is_meant: Callable[[Memory], bool]) -> list[dict[str, Any]]:
        """Return those that name the memory in a certain way, the newest first."""
        return [_with_times(self, one) for one in self.linked if is_meant(one)][:_LINKS_SHOWN]

    def replaced_beside(self, chain: Sequence[Memory]) -> list[Memory]:
        """Return what one of the versions replaced besides the version before it."""
        ids = {one.id for one in chain}
        return [one for one in self.linked if one.superseded_by in ids and one.id not in ids][:_LINKS_SHOWN]


def _with_times(links: _Links, memory: Memory) -> dict[str, Any]:
    times = times_of(memory, links.successor(memory), links.service.now())
    return told(links.service, links.request, memory) | {"times": times_as_json(times)}


def _chain(memory: Memory, known: Mapping[MemoryId, Memory]) -> list[Memory]:
    """Return the line of versions that a memory is in, the oldest first."""
    chain = [memory]
    seen = {memory.id}
    while (before := known.get(chain[0].supersedes or MemoryId(""))) is not None and before.id not in seen:
        chain.insert(0, before)
        seen.add(before.id)
    while (after := known.get(chain[-1].superseded_by or MemoryId(""))) is not None and after.id not in seen:
        chain.append(after)
        seen.add(after.id)
    return chain


def _axis(times: Iterable[MemoryTimes], now: datetime) -> Axis:
    """Return what holds both spans of some versions, and the moment; a little more on the left, so that no span begins at the edge."""
    moments = [now]
    for one in times:
        moments += [at for at in (one.learned, one.believed_until, one.true_from, one.true_until) if at is not None]
    first, last = min(moments), max(moments)
    room = max((last - first) / 25, timedelta(minutes=1))
    return Axis(max(first - room, EARLIEST) if first - EARLIEST > room else EARLIEST, last)


def _around(memory: Memory, chain: Sequence[Memory]) -> list[Memory]:
    """Return the versions that are shown: those around one, and the first and the newest; a key that is set every hour has thousands."""
    at = chain.index(memory)
    begin = max(min(at - _VERSIONS_SHOWN // 2, len(chain) - _VERSIONS_SHOWN), 0)
    end = begin + _VERSIONS_SHOWN
    return [*chain[: min(begin, 1)], *chain[begin:end], *chain[max(end, len(chain) - 1) :]]


def _versions(
    links: _Links, chain: Sequence[Memory], whole_chain: Sequence[Memory], history: MemoryHistory, axis: Axis
) -> list[dict[str, Any]]:
    """Return the chain, the oldest first, each with its number, who wrote it, its recalls, and what it changed in the one before."""
    usage = {one.memory.id: one for one in history.versions}
    writers: dict[MemoryId, MemoryEvent] = {}
    for event in history.events:
        writers.setdefault(event.id, event)
    versions: list[dict[str, Any]] = []
    now = links.service.now()
    numbers = {one.id: number for number, one in enumerate(whole_chain, 1)}
    for one in chain:
        version = _with_times(links, one) | {
            "number": numbers[one.id],
            "recalls": usage[one.id].recalls if one.id in usage else 0,
        }
        version["spans"] = axis.spans(times_of(one, links.successor(one), now), now)
        if one.id in writers:
            version |= {"by": client_name(writers[one.id].by), "action": writers[one.id].action}
        if versions and versions[-1]["number"] == version["number"] - 1:
            version["diff"] = word_diff(versions[-1]["content"], version["content"])
        versions.append(version)
    return versions


def _event(event: MemoryEvent) -> dict[str, Any]:
    words = event_in_words(event.action, event.note)
    moment = {
        "at": event.at.isoformat(),
        "id": event.id,
        "action": event.action,
        "by": client_name(event.by),
        "note": event.note,
    }
    return moment | {"title": words["title"], "details": words["details"]}


def _written(
    service: MemoryService, request: ViewRequest, memory: Memory, events: Sequence[MemoryEvent]
) -> dict[str, Any]:
    """Return who wrote a memory where: the client, the conversation, the project, what it was imported from."""
    first = next((one for one in events if one.id == memory.id), None)
    shown = told(service, request, memory)
    written = {
        "by": client_name(first.by) if first else None,
        "action": event_in_words(first.action, first.note)["title"] if first else None,
        "imported_from": first.action.split(" ")[1] if first and first.action.startswith("import ") else None,
        "at": memory.created_at.isoformat(),
        "session": shown["session"],
        "session_title": session_titles(service, request, [memory.session])[memory.session],
        "agent": memory.agent if memory.agent != "default" else None,
        "source": shown.get("source"),
        "speaker": shown.get("speaker"),
        "origin": memory.origin.value,
        "trust": memory.trust.value,
        "namespace": memory.namespace,
        "project": project_of(memory.namespace),
    }
    return {name: value for name, value in written.items() if value is not None}


def _alike(service: MemoryService, request: ViewRequest, memory: Memory, links: _Links) -> list[dict[str, Any]]:
    """Return what is about the same thing, without what is linked with it anyway."""
    near = service.alike(request.scope, memory.id, limit=_ALIKE_SHOWN, without=list(links.known))
    found = service.revealed(request.scope, list(near))
    return [_with_times(links, found[one]) | {"likeness": round(near[one], 3)} for one in near if one in found]


def _erased(memory_id: MemoryId, namespace: str, history: MemoryHistory) -> dict[str, Any]:
    """Return what is left of a memory that was purged: what the log tells."""
    return {
        "id": memory_id,
        "memory": None,
        "namespace": namespace,
        "events": [_event(one) for one in history.events][::-1],
        "events_left_out": 0,
    }
