"""The view `review`: what is doubtful, one after the other, the most pressing first.

Parameters: ``reason`` (`hybrid_memory.store.reviewing.Reason`), ``page``, ``limit``. What a person has judged waits no longer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from hybrid_memory.errors import InvalidInput
from hybrid_memory.store.reviewing import Reason
from hybrid_memory_mcp.views.waiting import shown, waiting

if TYPE_CHECKING:
    from hybrid_memory.requests import PastAct
    from hybrid_memory.service.memory_service import MemoryService
    from hybrid_memory_mcp.views.view import ViewRequest

_PAGE = 10
_ACTS = 12  # of the last ones, which can be undone

LABELS: Mapping[Reason, str] = {
    Reason.DISPUTED: "Contradicts",
    Reason.SECRET: "Holds a secret",
    Reason.PASTED: "Maybe not your words",
    Reason.UNTRUSTED: "From a tool or a file",
}


def load(service: MemoryService, request: ViewRequest) -> dict[str, Any]:
    """Return one page of what waits, each with its reason and the ``ids`` of all that say it, and the last acts with what undoes them.

    Raises:
        InvalidInput: there is no such reason.
    """
    reason = _reason(request)
    limit, page = request.number("limit", _PAGE, most=200), request.number("page", 1, most=1_000_000)
    every = waiting(service, request.scope)
    counts = Counter(one.reason for one in every)
    chosen = [one for one in every if reason in (None, one.reason)]
    # Anyone who has judged the last page goes on with the one before.
    page = min(page, max(-(-len(chosen) // limit), 1))
    return {
        "reason": reason.value if reason else "",
        "facets": [
            {"name": one.value, "label": LABELS[one], "count": counts[one]}
            for one in Reason
            if counts[one] or one is reason
        ],
        "waiting": bool(every),
        "total": len(chosen),
        "page": page,
        "limit": limit,
        "memories": shown(service, request, chosen[(page - 1) * limit : page * limit]),
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


def _act(act: PastAct) -> dict[str, Any]:
    return {
        "undo": act.undo,
        "at": act.at.isoformat(),
        "actor": act.actor,
        "action": act.action,
        "count": len(act.ids),
        "ids": list(act.ids[:5]),
    }
