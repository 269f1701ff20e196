"""The view `review`: what waits for a person's word, one after the other, the most pressing first.

Parameters: ``reason`` (`hybrid_memory.store.reviewing.Reason`), ``page``, ``limit``. What a person has judged waits no longer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hybrid_memory.errors import InvalidInput
from hybrid_memory.languages import ENGLISH, LANGUAGES
from hybrid_memory.secret_detection.masking import kinds_of
from hybrid_memory.store.reviewing import HOOK_SOURCE, Reason, ReviewRequest
from hybrid_memory.trust import BESIDE_OTHERS
from hybrid_memory_mcp.inspector.view import told

if TYPE_CHECKING:
    from hybrid_memory.model import Memory, MemoryId, Scope
    from hybrid_memory.requests import PastAct
    from hybrid_memory.service import MemoryService
    from hybrid_memory_mcp.inspector.view import ViewRequest

_PAGE = 20
_ACTS = 12  # of the last ones, which can be undone
_MOST_SECRETS = 5000  # memories with the word of a mark that are looked at: the newest

LABELS: dict[Reason, str] = {
    Reason.DISPUTED: "Says otherwise",
    Reason.SECRET: "Holds a secret",
    Reason.UNTRUSTED: "Not trusted",
    Reason.HOOK: "Written by a hook",
    Reason.IMPORTED: "Imported",
}


def load(service: MemoryService, request: ViewRequest) -> dict[str, Any]:
    """Return one page of what waits, each with its reasons, and the last acts with what undoes them.

    Raises:
        InvalidInput: there is no such reason.
    """
    reason = _reason(request)
    limit, page = request.number("limit", _PAGE, most=200), request.number("page", 1, most=1_000_000)
    now = service.now()
    wanted = ReviewRequest(
        now=now, reason=reason, secrets=_secrets(service, request.scope), limit=limit, offset=(page - 1) * limit
    )
    found = service.store.to_review(request.scope.namespaces, wanted)
    memories = service.revealed(request.scope, [id_ for _, id_ in found.memories])
    reasons = {id_: why for (_, id_), why in found.memories.items()}
    others = service.revealed(request.scope, [one.disputes for one in memories.values() if one.disputes is not None])
    return {
        "reason": reason.value if reason else "",
        "facets": [
            {"name": one.value, "label": LABELS[one], "count": found.counts.get(one, 0)}
            for one in Reason
            if found.counts.get(one) or one is reason
        ],
        "waiting": sum(found.counts.values()) > 0,
        "total": found.total,
        "page": page,
        "limit": limit,
        "memories": [
            _told(service, request, memories[id_], why, others) for id_, why in reasons.items() if id_ in memories
        ],
        "acts": [_act(one) for one in service.acts.recent(request.scope, limit=_ACTS)],
    }


def _reason(request: ViewRequest) -> Reason | None:
    named = request.text("reason")
    if not named:
        return None
    try:
        return Reason(named)
    except ValueError:
        raise InvalidInput("reason", f"is one of {', '.join(Reason)}") from None


def _secrets(service: MemoryService, scope: Scope) -> frozenset[MemoryId]:
    """Return the memories that hold a secret; looked for anew only after something has changed."""
    return service.overviews.kept(scope, "secrets", lambda: _find_secrets(service, scope))


def _find_secrets(service: MemoryService, scope: Scope) -> frozenset[MemoryId]:
    """Return the memories that hold a secret: search knows them by the mark that it has in its place."""
    terms = {term for language in (ENGLISH, *LANGUAGES) for term in service.store.hasher.terms("secret", language)}
    places = service.store.with_terms(scope.namespaces, terms, service.now(), _MOST_SECRETS)
    found = service.revealed(scope, [id_ for _, id_ in places])
    return frozenset(one.id for one in found.values() if kinds_of(one.content))


def _told(
    service: MemoryService,
    request: ViewRequest,
    memory: Memory,
    reasons: tuple[Reason, ...],
    others: dict[MemoryId, Memory],
) -> dict[str, Any]:
    """Return a memory with why it waits, in names and in words."""
    other = None if memory.disputes is None else others.get(memory.disputes)
    source = memory.source or ""
    shown = told(service, request, memory) | {"reasons": [one.value for one in reasons]}
    if Reason.DISPUTED in reasons and other is not None:
        shown["other"] = told(service, request, other)
    if Reason.SECRET in reasons:
        shown["secret_kinds"] = list(kinds_of(memory.content))
    if Reason.HOOK in reasons:
        shown["hook"] = source.removeprefix(HOOK_SOURCE).removesuffix(BESIDE_OTHERS)
    return shown


def _act(act: PastAct) -> dict[str, Any]:
    return {
        "undo": act.undo,
        "at": act.at.isoformat(),
        "actor": act.actor,
        "action": act.action,
        "count": len(act.ids),
        "ids": list(act.ids[:5]),
    }
