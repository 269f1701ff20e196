"""Which of a person's stored statements a new one replaces, so that a correction wins over what it corrects.

What is captured from a conversation is written one by one through `MemoryService.write`; who writes it passes this as ``supersedes``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hybrid_memory.capture import Statement
from hybrid_memory.capture.replacing import questions, replaced
from hybrid_memory.model import Memory, MemoryId, Origin, Scope
from hybrid_memory.requests import ReadRequest

if TYPE_CHECKING:
    from hybrid_memory.service import MemoryService

_LOOKED_AT = 12  # hits of each question
_LONGEST = 300  # characters of what one statement can replace as a whole


def superseded_by(service: MemoryService, scope: Scope, statement: Statement) -> MemoryId | None:
    """Return the id of what the person said before and a statement replaces; None for none.

    Only their own words (origin "user") of the namespace that the scope writes to are replaced, and only short ones: a longer memory says
    more than what changed. Most statements replace nothing, and then nothing is read.
    """
    found: dict[MemoryId, Memory] = {}
    for question in questions(statement):
        result = service.read(scope, ReadRequest(query=question, limit=_LOOKED_AT, weak=True, recalls=False))
        found |= {hit.memory.id: hit.memory for hit in result.hits}
    own = [one for one in found.values() if _may_give_way(one, scope)]
    own.sort(key=lambda one: one.created_at)
    place = replaced(statement, [one.content for one in own])
    return None if place is None else own[place].id


def _may_give_way(memory: Memory, scope: Scope) -> bool:
    return (
        memory.origin is Origin.USER
        and memory.namespace == scope.namespace
        and memory.superseded_by is None
        and not memory.pinned
        and len(memory.content) <= _LONGEST
    )
