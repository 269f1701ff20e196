"""Operations on what programs keep: memories under keys (items), and the entries of a conversation. Asked by the adapters of `extras/`.

An item is a working memory: ``session`` is the collection that it is in, ``key`` its name there. It comes back as it was stored, secrets
included: programs work with it. Entries of a conversation are no memories; searches and briefs do not know them.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from hybrid_memory.errors import InvalidInput
from hybrid_memory.model import Kind, Memory, MemoryId, MemoryType, Tier, Trust
from hybrid_memory.requests import ForgetRequest, ListRequest, ReadRequest, Where, WriteRequest
from hybrid_memory.trust import may_displace
from hybrid_memory.validation import PAGE_LIMIT, QUERY_LIMIT, check_name

if TYPE_CHECKING:
    from hybrid_memory.service.memory_service import MemoryService
    from hybrid_memory_mcp.admin.operations import OperationRequest

_KIND, _ADDED = "message", "added"  # of what the conversation log holds; under the second stands what was added at once
_CREATED = "created_at"  # in an item's metadata: when its first version was stored
# What is read here decides what is written. A hub is the only program at work on its file.
_CHANGING = threading.Lock()


def item(request: OperationRequest) -> dict[str, Any]:
    """Return what a ``session`` keeps under a ``key`` as ``item``, None for nothing."""
    found = request.run(lambda service: _holder(service, request))
    return {"item": None if found is None else _told(found)}


def put_item(request: OperationRequest) -> dict[str, Any]:
    """Store ``content`` and ``metadata`` under a ``key`` of a ``session``, in place of what is there.

    The new version keeps tags and pin of the one before.

    ``seen`` is the id of the version that the caller has read, "" for none; without it, any version is replaced.

    Raises:
        InvalidInput: there is another version, or a person confirmed this one, or an argument is wrong.
    """
    given = request.arguments

    def work(service: MemoryService) -> dict[str, Any]:
        service.load_model(request.scope)
        before = _holder(service, request)
        if given.get("seen") is not None and given["seen"] != ("" if before is None else before.id):
            raise InvalidInput("key", "was changed meanwhile; read it again")
        if before is not None and not may_displace(Trust.AGENT, before.trust):
            raise InvalidInput("key", "was confirmed by a person, and a program does not replace that")
        metadata = dict(given.get("metadata") or {})
        if before is not None:
            metadata[_CREATED] = before.metadata.get(_CREATED) or before.created_at.isoformat()
            if (before.content, {_CREATED: metadata[_CREATED], **before.metadata}) == (given["content"], metadata):
                return {"item": _told(before)}
        wanted = WriteRequest(
            content=str(given["content"]),
            memory_type=MemoryType.WORKING,
            metadata=metadata,
            session=str(given["session"]),
            key=str(given["key"]),
            supersedes=None if before is None else before.id,
            tags=() if before is None else before.tags,
            pinned=before is not None and before.pinned,
        )
        written = service.write(request.scope, wanted).id
        return {"item": _told(service.revealed(request.scope, [written])[written])}

    with _CHANGING:
        return request.run(work)


def forget_items(request: OperationRequest) -> dict[str, Any]:
    """Forget what a ``session`` keeps under some ``keys``; a person can bring it back. Returns how many memories that were."""
    given = request.arguments

    def work(service: MemoryService) -> int:
        held = (service.held_under(request.scope, str(given["session"]), str(key)) for key in given["keys"])
        ids = [one.id for some in held for one in some]
        for at in range(0, len(ids), PAGE_LIMIT):
            service.forget(request.scope, ForgetRequest(ids=tuple(ids[at : at + PAGE_LIMIT])))
        return len(ids)

    with _CHANGING:
        return {"forgotten": request.run(work)}


def items(request: OperationRequest) -> dict[str, Any]:
    """Return a page of the items of a ``session``, those written last first; the other arguments are ``limit`` and ``offset``."""
    given = request.arguments
    wanted = ListRequest(
        kind=Kind.TASK,
        tier=Tier.WORKING,
        session=str(given["session"]),
        limit=int(given["limit"]),
        offset=int(given["offset"]),
    )

    def work(service: MemoryService) -> dict[str, Any]:
        found = service.list_memories(request.scope, wanted)
        whole = service.revealed(request.scope, [one.id for one in found.memories])
        return {"items": [_told(whole[one.id]) for one in found.memories if one.id in whole], "total": found.total}

    return request.run(work)


def search_items(request: OperationRequest) -> dict[str, Any]:
    """Return the items of a ``session`` by how well they answer a ``query``, each with its ``score``; ``limit`` is at most so many.

    ``metadata`` are values that they must have. Those that have nothing to do with the query are ranked last.
    """
    given = request.arguments
    where = Where(
        memory_type=MemoryType.WORKING, session=str(given["session"]), metadata=dict(given.get("metadata") or {})
    )

    def work(service: MemoryService) -> dict[str, Any]:
        service.load_model(request.scope)
        scores: dict[MemoryId, float | None] = {}
        cursor: str | None = None
        while True:
            question = ReadRequest(
                query=str(given["query"])[:QUERY_LIMIT], limit=PAGE_LIMIT, where=where, weak=True, cursor=cursor
            )
            page = service.read(request.scope, question)
            for hit in page.hits:
                for one in (hit.memory.id, *hit.repeats, *hit.copies):
                    scores.setdefault(one, hit.score)
            cursor = page.cursor_after(len(page.hits))
            if cursor is None or len(scores) >= given["limit"]:
                break
        whole = service.revealed(request.scope, list(scores))
        ranked = [_told(whole[one]) | {"score": score} for one, score in scores.items() if one in whole]
        return {"items": ranked[: given["limit"]]}

    return request.run(work)


def entries(request: OperationRequest) -> dict[str, Any]:
    """Return the entries of a ``conversation``, the first one first."""
    place = _place(request)
    found = request.run(lambda service: [one.body for one in service.store.entries(*place)])
    return {"entries": [one for body in found for one in _added(body)]}


def add_entries(request: OperationRequest) -> dict[str, Any]:
    """Add ``entries``, JSON objects, to a ``conversation``: all of them or none."""
    place = _place(request)
    given: dict[str, Any] = {_ADDED: list(request.arguments["entries"])}
    with _CHANGING:
        request.run(lambda service: service.store.put_entry(*place, service.secrets.body(given)))
    return {}


def pop_entry(request: OperationRequest) -> dict[str, Any]:
    """Remove the last entry of a ``conversation`` and return it as ``entry``, None for none."""
    place = _place(request)

    def work(service: MemoryService) -> Any:
        last = next((one for one in reversed(service.store.entries(*place)) if _added(one.body)), None)
        if last is None:
            return None
        *others, popped = _added(last.body)
        service.store.put_entry(*place, {_ADDED: others}, last.number)
        return popped

    with _CHANGING:
        return {"entry": request.run(work)}


def clear_entries(request: OperationRequest) -> dict[str, Any]:
    """Remove all entries of a ``conversation``."""
    place = _place(request)
    with _CHANGING:
        request.run(lambda service: service.store.remove_entries(*place))
    return {}


def _added(body: Mapping[str, Any]) -> list[Any]:
    found: list[Any] = body.get(_ADDED) or []
    return found


def _holder(service: MemoryService, request: OperationRequest) -> Memory | None:
    given = request.arguments
    found = service.held_under(request.scope, str(given["session"]), check_name("key", str(given["key"])))
    return found[0] if found else None


def _told(memory: Memory) -> dict[str, Any]:
    metadata = dict(memory.metadata)
    return {
        "id": memory.id,
        "key": memory.key,
        "content": memory.content,
        "created_at": metadata.pop(_CREATED, None) or memory.created_at.isoformat(),
        "updated_at": memory.created_at.isoformat(),
        "metadata": metadata,
    }


def _place(request: OperationRequest) -> tuple[str, str, str]:
    return request.scope.namespace, check_name("conversation", str(request.arguments["conversation"])), _KIND
