"""What needs a person: the one list that Now, Review, Health and `status` go by, so that none says "all is well" while another warns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from hybrid_memory.store.reviewing import Reason
from hybrid_memory_mcp.inspector.health import checks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hybrid_memory.service import MemoryService
    from hybrid_memory_mcp.inspector.review import Waiting
    from hybrid_memory_mcp.inspector.view import ViewRequest

_SAYS: Mapping[Reason, tuple[str, str, str]] = {  # of one, of several, what to do
    Reason.DISPUTED: (
        "1 memory contradicts one that you trust",
        "{:,} memories contradict one that you trust",
        "Say which of the two is true.",
    ),
    Reason.SECRET: ("1 memory holds a secret", "{:,} memories hold a secret", "Decide what to keep."),
    Reason.PASTED: (
        "1 memory may be somebody else's words",
        "{:,} memories may be somebody else's words",
        "Say what is true of you.",
    ),
    Reason.UNTRUSTED: (
        "1 memory comes from a tool or a file",
        "{:,} memories come from tools or files",
        "Nobody has said yet what is true.",
    ),
}


def needs_of(service: MemoryService, request: ViewRequest, every: Sequence[Waiting]) -> list[dict[str, Any]]:
    """Return what needs a person: what waits in Review (``every``), by its reason, then what Health warns of, the worst first.

    Each has ``kind`` (a reason, or "health"), ``count``, ``says``, ``remedy``, and the ``command`` and ``view`` that help, if any.
    """
    counts = Counter(one.reason for one in every)
    return [
        *(_of_review(reason, counts[reason]) for reason in Reason if counts[reason]),
        *(
            {"kind": "health", "count": 1, "view": "/health"}
            | {name: one[name] for name in ("says", "remedy", "command")}
            for one in checks(service, request, every)
            if one["state"] in ("bad", "warn") and not one["view"]
        ),
    ]


def _of_review(reason: Reason, count: int) -> dict[str, Any]:
    one, several, remedy = _SAYS[reason]
    return {
        "kind": reason.value,
        "count": count,
        "says": one if count == 1 else several.format(count),
        "remedy": remedy,
        "command": "",
        "view": f"/review?reason={reason.value}",
    }
