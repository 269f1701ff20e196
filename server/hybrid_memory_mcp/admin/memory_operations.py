"""The operations on single memories: recall, remember, list, show, correct, forget, restore, pin, reflect, history.

`hybrid_memory_mcp.admin.operations` names them and imports this module when one is asked for. Each takes ``personal``, the person's
namespace that is read alongside a project's, and ``reveal``, without which secrets are masked. Ids may be given by their beginnings.
Times are ISO 8601 with a zone. A memory has the same fields in every answer (`memory_as_json`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any, TypeVar

from hybrid_memory.errors import InvalidInput, NotFound
from hybrid_memory.model import Kind, Memory, MemoryId, MemoryType, Origin, Scope, Tier, Trust
from hybrid_memory.requests import (
    Insight,
    ListRequest,
    MemoryState,
    ReadRequest,
    UpdateRequest,
    Where,
    WriteRequest,
)
from hybrid_memory.store.listing import state_of
from hybrid_memory.validation import ACT_LIMIT
from hybrid_memory_mcp.memory_json import memory_as_json
from hybrid_memory_mcp.memory_words import asks_of

if TYPE_CHECKING:
    from hybrid_memory.admin.history import MemoryVersion
    from hybrid_memory.requests import ReadResult
    from hybrid_memory.service.memory_service import MemoryService
    from hybrid_memory_mcp.admin.operations import OperationRequest

C = TypeVar("C", bound=StrEnum)

_MOST_OTHERS = 50  # namespaces
_MOST_CHARACTERS = 8_000_000  # of one answer: with four bytes each, half of what a frame of the hub holds


def recall(request: OperationRequest) -> dict[str, Any]:
    """Return what a question finds, or a brief without one; arguments are ``query``, ``limit`` and ``reveal``, and filters as a list has.

    Who looks from outside recalls nothing.
    """
    from hybrid_memory.retrieval.brief import in_sections

    query, limit = str(request.arguments["query"]), int(request.arguments["limit"])
    where = Where(
        tags=tuple(request.arguments.get("tags") or ()),
        session=request.arguments.get("session"),
        since=_moment(request.arguments.get("since")),
        until=_moment(request.arguments.get("until")),
    )
    question = ReadRequest(query=query, limit=limit, where=where, recalls=False, zone=request.zone)
    scope = _scope(request)

    def work(service: MemoryService) -> ReadResult:
        service.load_model(scope)  # who types a question has the time, and the next one may come to another hub
        return service.read(scope, question)

    result = request.run(work)
    memories = [hit.memory for hit in result.hits]
    texts: dict[str, str] = {
        one.id: one.content for one in request.run(lambda service: _shown(service, request, memories))
    }
    hits = [
        {
            "id": hit.memory.id,
            "namespace": hit.memory.namespace,
            "created_at": hit.memory.created_at.isoformat(),
            "occurred_at": None if hit.memory.occurred_at is None else hit.memory.occurred_at.isoformat(),
            "when": (hit.memory.occurred_at or hit.memory.created_at).isoformat(),
            "kind": hit.memory.kind.value,
            "tier": hit.memory.tier.value,
            "origin": hit.memory.origin.value,
            "content": texts.get(hit.memory.id, hit.memory.content),
            "score": hit.score,
            "weak": hit.weak,
            "newer": hit.newer,
            "section": hit.section,
        }
        for hit in in_sections(result.hits, lambda hit: hit.section)
    ]
    found = {"hits": hits, "total": result.total, "words_alone": result.words_alone, "unknown": result.unknown}
    return found if result.offline_seconds is None else found | {"offline_seconds": round(result.offline_seconds, 1)}


def remember(request: OperationRequest) -> dict[str, Any]:
    """Store a statement of the person; arguments are those of `WriteRequest` by their names, all but ``content`` may be left out.

    It goes to long-term memory unless another type is given: who types it means it to be kept.
    """
    given = request.arguments
    statement = WriteRequest(
        content=str(given["content"]),
        memory_type=_choice(MemoryType, "type", given.get("memory_type")) or MemoryType.LONG_TERM,
        importance=given.get("importance"),
        tags=tuple(given.get("tags") or ()),
        origin=Origin.USER,
        session=given.get("session"),
        occurred_at=_moment(given.get("occurred_at")),
        expires_at=_moment(given.get("expires_at")),
        pinned=bool(given.get("pinned")),
    )
    scope = _scope(request)

    def work(service: MemoryService) -> dict[str, Any]:
        service.load_model(scope)  # else the first words of a new store wait for their vector until the next client
        written = service.write(scope, statement, as_act=True)
        related = _in_order(service, scope, [one.id for one in written.related])
        return {
            "memory": _told(service, request, _in_order(service, scope, [written.id]))[0],
            "known": written.duplicate_of == written.id,
            "said_before": None if written.duplicate_of == written.id else written.duplicate_of,
            "related": _told(service, request, related),
            "secrets": list(written.secrets),
            "secrets_left_out": service.settings.secrets == "mask",
        }

    return request.run(work)


def list_memories(request: OperationRequest) -> dict[str, Any]:
    """Return one page of memories, those written last first; arguments are those of `ListRequest` by their names.

    With ``others`` it says how many memories other namespaces have.
    """
    given = request.arguments
    wanted = ListRequest(
        state=_choice(MemoryState, "state", given.get("state")),
        kind=_choice(Kind, "kind", given.get("kind")),
        tier=_choice(Tier, "tier", given.get("tier")),
        origin=_choice(Origin, "origin", given.get("origin")),
        trust=_choice(Trust, "trust", given.get("trust")),
        session=given.get("session"),
        tags=tuple(given.get("tags") or ()),
        since=_moment(given.get("since")),
        until=_moment(given.get("until")),
        pinned=bool(given.get("pinned")),
        limit=int(given["limit"]),
        offset=int(given.get("offset") or 0),
    )
    scope = _scope(request)

    def work(service: MemoryService) -> dict[str, Any]:
        found = service.list_memories(scope, wanted)
        _check_size("limit", found.memories)
        told = {
            "memories": _told(service, request, found.memories),
            "total": found.total,
            "limit": wanted.limit,
            "offset": wanted.offset,
        }
        return told | ({"others": counted_in(service, others_than(service, scope))} if given.get("others") else {})

    return request.run(work)


def others_than(service: MemoryService, scope: Scope) -> list[str]:
    """Return other namespaces of the store than those that a scope reads, some of them where there are very many."""
    return sorted(set(service.store.namespaces()) - set(scope.namespaces))[:_MOST_OTHERS]


def counted_in(service: MemoryService, namespaces: Sequence[str]) -> dict[str, int]:
    """Return how many memories each of some namespaces has, those without any left out."""
    now = service.now()
    counts = {one: service.store.list_memories([one], ListRequest(limit=1), now)[1] for one in namespaces}
    return {one: count for one, count in counts.items() if count}


def show(request: OperationRequest) -> dict[str, Any]:
    """Return all that is known of some memories, whatever their state; the argument is ``ids``."""
    scope = _scope(request)

    def work(service: MemoryService) -> dict[str, Any]:
        memories = _named(service, scope, request.arguments["ids"])
        _check_size("ids", memories)
        hits = {hit.memory.id: hit for hit in service.as_hits(scope, memories)}
        told = _told(service, request, memories)
        for values, memory in zip(told, memories, strict=True):
            usage = service.store.usage(memory.namespace, [memory.id]).get(memory.id)
            values["recalls"] = usage.count if usage else 0
            values["recalled_at"] = usage.accessed_at.isoformat() if usage else None
            values["disputed_by"] = list(hits[memory.id].disputed_by)
        return {"memories": told}

    return request.run(work)


def correct(request: OperationRequest) -> dict[str, Any]:
    """Give a memory new words of the person, as a new version; arguments are ``id`` and ``content``."""
    scope = _scope(request)

    def work(service: MemoryService) -> dict[str, Any]:
        old = _current(service, _named(service, scope, [request.arguments["id"]]))[0]
        done = service.acts.edit(scope, UpdateRequest(id=old.id, content=str(request.arguments["content"])))
        return {
            "memory": _told(service, request, _in_order(service, scope, done.ids or done.unchanged))[0],
            "before": _told(service, request, [old])[0],
            "changed": bool(done.before),
            "undo": done.undo,
            "secrets": list(done.secrets),
            "secrets_left_out": service.settings.secrets == "mask",
        }

    return request.run(work)


def forget(request: OperationRequest) -> dict[str, Any]:
    """Forget some memories, or with ``restore`` bring them back; the other argument is ``ids``."""
    scope, restore = _scope(request), bool(request.arguments.get("restore"))

    def work(service: MemoryService) -> dict[str, Any]:
        ids = [one.id for one in _named(service, scope, request.arguments["ids"])]
        act = service.acts.restore if restore else service.acts.forget
        done = [act(scope, ids[at : at + ACT_LIMIT]) for at in range(0, len(ids), ACT_LIMIT)]

        def told(some: Iterable[Sequence[MemoryId]]) -> list[dict[str, Any]]:
            return _told(service, request, _in_order(service, scope, [one for part in some for one in part]))

        return {
            "memories": told(part.ids for part in done),
            "unchanged": told(part.unchanged for part in done),
            "revived": told(part.revived for part in done),
            "held": [{"id": one, "by": holder} for part in done for one, holder in part.held.items()],
        }

    return request.run(work)


def pin(request: OperationRequest) -> dict[str, Any]:
    """Put some memories at the head of each brief, or with ``off`` no longer; the other argument is ``ids``."""
    scope, pinned = _scope(request), not request.arguments.get("off")

    def work(service: MemoryService) -> dict[str, Any]:
        named = _current(service, _named(service, scope, request.arguments["ids"]))
        changed = [one for one in named if one.pinned is not pinned]
        for at in range(0, len(changed), ACT_LIMIT):
            service.acts.pin(scope, [one.id for one in changed[at : at + ACT_LIMIT]], pinned=pinned)

        def told(some: Sequence[Memory]) -> list[dict[str, Any]]:
            return _told(service, request, _in_order(service, scope, [one.id for one in some]))

        return {"memories": told(changed), "unchanged": told([one for one in named if one not in changed])}

    return request.run(work)


def reflect(request: OperationRequest) -> dict[str, Any]:
    """Return groups of memories that are worth a thought; arguments are ``focus``, ``session``, ``since`` and ``limit``."""
    given, scope = request.arguments, _scope(request)

    def work(service: MemoryService) -> dict[str, Any]:
        groups = service.offer_reflection(
            scope,
            focus=given.get("focus"),
            session=given.get("session"),
            since=_moment(given.get("since")),
            limit=int(given["limit"]),
        )
        told = [
            {
                "worth": one.worth,
                "sort": one.sort.value,
                "asks": asks_of(one),
                "changed": list(one.changed),
                "memories": _told(service, request, one.memories),
            }
            for one in groups
        ]
        return {"groups": told}

    return request.run(work)


def store_insights(request: OperationRequest) -> dict[str, Any]:
    """Store conclusions; ``insights`` is a list of objects with ``text``, ``evidence`` (ids) and perhaps ``importance``."""
    scope = _scope(request)

    def work(service: MemoryService) -> dict[str, Any]:
        insights = [
            Insight(
                text=str(one["text"]),
                evidence=tuple(memory.id for memory in _named(service, scope, one["evidence"])),
                importance=one.get("importance"),
            )
            for one in request.arguments["insights"]
        ]
        stored = service.store_insights(scope, insights)
        return {"memories": _told(service, request, _in_order(service, scope, stored))}

    return request.run(work)


def history(request: OperationRequest) -> dict[str, Any]:
    """Return one memory's life; the argument is ``id``, whole if the memory was purged."""
    from hybrid_memory.admin.history import memory_history

    given, reveal, scope = str(request.arguments["id"]), bool(request.arguments["reveal"]), _scope(request)

    def work(service: MemoryService) -> dict[str, Any]:
        try:
            (memory,) = _named(service, scope, [given])
        except NotFound:  # purged, perhaps
            places = [(namespace, MemoryId(given)) for namespace in scope.namespaces]
        else:
            places = [(memory.namespace, memory.id)]
        for at, (namespace, memory_id) in enumerate(places, 1):
            try:
                found = memory_history(service.store, namespace, memory_id, None if reveal else service.secrets)
            except NotFound:
                if at == len(places):
                    raise
            else:
                break
        return {
            "id": found.id,
            "versions": [_version_as_json(one, service.now()) for one in found.versions],
            "events": [asdict(one) | {"at": one.at.isoformat()} for one in found.events],
        }

    return request.run(work)


def _scope(request: OperationRequest) -> Scope:
    given = request.arguments
    return replace(
        request.scope,
        personal=given.get("personal"),
        about_me_is_personal=given.get("about_me_is_personal") is True,
    )


def _named(service: MemoryService, scope: Scope, given: Sequence[str]) -> list[Memory]:
    """Return the memories that some ids, or beginnings of ids, name; each once.

    Raises:
        InvalidInput: a beginning is that of several.
        NotFound: names the ids that are not there.
    """
    missing: list[str] = []
    ids: dict[MemoryId, None] = {}
    for one in given:
        try:
            ids |= dict.fromkeys(service.whole_ids(scope, [str(one)]))
        except NotFound:
            missing.append(str(one))
    if missing:
        raise NotFound(f"no such memory here: {' '.join(missing)}; --namespace looks elsewhere")
    return _in_order(service, scope, list(ids))


def _check_size(field: str, memories: Sequence[Memory]) -> None:
    """Refuse what is longer than one answer of a hub may be.

    Raises:
        InvalidInput: says so.
    """
    characters = sum(len(one.content) for one in memories)
    if characters > _MOST_CHARACTERS:
        raise InvalidInput(
            field, f"{len(memories):,} memories hold {characters:,} characters of text; ask for fewer at once"
        )


def _in_order(service: MemoryService, scope: Scope, ids: Sequence[MemoryId]) -> list[Memory]:
    found = service.revealed(scope, ids)
    return [found[one] for one in ids if one in found]


def _current(service: MemoryService, memories: Sequence[Memory]) -> Sequence[Memory]:
    """Return memories that may be changed.

    Raises:
        InvalidInput: one is forgotten or was replaced; says what to do.
    """
    for one in memories:
        state = state_of(one, service.now())
        if state is MemoryState.FORGOTTEN:
            raise InvalidInput("id", f"{one.id} is forgotten; `forget --restore` brings it back")
        if state is MemoryState.SUPERSEDED:
            raise InvalidInput("id", f"{one.id} was replaced by {one.superseded_by}; name that one")
    return memories


def _shown(service: MemoryService, request: OperationRequest, memories: Sequence[Memory]) -> list[Memory]:
    """Return memories as the person asked to see them."""
    if not request.arguments.get("reveal"):
        return [service.secrets.shown(one) for one in memories]
    whole = service.revealed(_scope(request), [one.id for one in memories])
    return [whole.get(one.id, one) for one in memories]


def _told(service: MemoryService, request: OperationRequest, memories: Sequence[Memory]) -> list[dict[str, Any]]:
    now = service.now()
    return [memory_as_json(one, now) for one in _shown(service, request, memories)]


def _version_as_json(version: MemoryVersion, now: datetime) -> dict[str, Any]:
    recalled_at = version.recalled_at.isoformat() if version.recalled_at else None
    return memory_as_json(version.memory, now) | {"recalls": version.recalls, "recalled_at": recalled_at}


def _moment(written: str | None) -> datetime | None:
    return None if written is None else datetime.fromisoformat(written)


def _choice(kind: type[C], field: str, name: str | None) -> C | None:
    """Return the value of a name, None for None.

    Raises:
        InvalidInput: there is none of that name; names those that there are.
    """
    if name is None:
        return None
    try:
        return kind(name)
    except ValueError:
        raise InvalidInput(field, f"is one of {', '.join(one.value for one in kind)}") from None
