"""What of a person's stored statements a new one changes, so that a correction wins over what it corrects.

What is captured from a conversation is written one by one through `MemoryService.write`; who writes it asks here first what to write.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hybrid_memory.capture.model import Statement, StatementKind
from hybrid_memory.capture.oneself import is_about_oneself, may_be_of_oneself
from hybrid_memory.capture.replacing import corrected, is_fragment, is_of_the_person, questions
from hybrid_memory.capture.sentences import lowered
from hybrid_memory.capture.statements import in_place_of
from hybrid_memory.model import Memory, MemoryId, MemoryType, Origin, Scope
from hybrid_memory.requests import ReadRequest, Where, WriteRequest
from hybrid_memory.trust import BESIDE_OTHERS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hybrid_memory.requests import WriteResult
    from hybrid_memory.service.memory_service import MemoryService
    from hybrid_memory.store.writing import RequestKey

_PROMOTED = Where(unasked=True)
_LOOKED_AT = 12  # hits of each question
_LONGEST = 300  # characters of what one statement can replace as a whole


def keep(
    service: MemoryService, scope: Scope, statement: Statement, source: str, *, key: RequestKey | None = None
) -> WriteResult | None:
    """Store a statement of a person's, with what it changes; None for a fragment that corrects nothing.

    An episode changes nothing, and begins in sensory memory; what was judged worth keeping is long-term at once.

    Raises:
        InvalidInput: it cannot be stored.
    """
    change = Change(statement) if statement.episode else change_by(service, scope, statement)
    if change is None:
        return None
    said = change.statement
    request = WriteRequest(
        content=said.text,
        memory_type=MemoryType.SHORT_TERM if said.episode else MemoryType.LONG_TERM,
        importance=said.importance,
        tags=tuple(said.tags),
        origin=Origin.USER,
        session=scope.session,
        source=f"{source}{BESIDE_OTHERS if said.beside_others else ''}",
        occurred_at=said.occurred_at,
        supersedes=change.supersedes,
        episode=said.episode,
        corrects=said.kind is StatementKind.CORRECTION,
        answers=said.answers,
    )
    return service.write(scope, request, key=key)


@dataclass(frozen=True, slots=True)
class Change:
    """A ``statement`` to write, and the memory that it ``supersedes``."""

    statement: Statement
    supersedes: MemoryId | None = None


def change_by(service: MemoryService, scope: Scope, statement: Statement) -> Change | None:
    """Return what to write for a statement; None for a fragment that corrects nothing.

    Only the person's own words (origin "user") are replaced, those of the project at hand before what they told elsewhere, and only
    short ones: a longer memory says more than what changed. A message that also holds somebody else's words replaces nothing. What was
    told elsewhere is replaced only by words that are plainly about the person, since every project reads them. What was corrected by a
    fragment holds on with its value exchanged; a fragment speaks of the conversation that it was said in. Most statements replace
    nothing, and then nothing is read.
    """
    if statement.beside_others:
        return Change(statement)
    found: dict[MemoryId, Memory] = {}
    for question in questions(statement):
        result = service.read(
            scope, ReadRequest(query=question, where=_PROMOTED, limit=_LOOKED_AT, weak=True, recalls=False)
        )
        found |= {hit.memory.id: hit.memory for hit in result.hits}
    for namespace in scope.namespaces:
        own = [one for one in found.values() if _may_give_way(one, namespace)]
        change = _change_of(statement, own, scope)
        if change is not None and (namespace == scope.namespace or _is_of_the_person(change, found)):
            return change
    return None if statement.fragment else Change(statement)


def _change_of(statement: Statement, own: list[Memory], scope: Scope) -> Change | None:
    """Return what to write where a statement changes one of these memories; None where it changes none."""
    if is_fragment(lowered(statement.text)):
        own = [one for one in own if one.session == scope.session]
    own.sort(key=lambda one: (one.occurred_at or one.created_at, one.created_at))
    corrects = statement.kind is StatementKind.CORRECTION
    change = corrected(statement.text, [one.content for one in own], corrects=corrects)
    if change is None:
        return None
    old = own[change.place]
    if change.text != statement.text:
        statement = in_place_of(statement, change.text, tuple(old.tags), old.importance)
    return Change(statement, old.id)


def _is_of_the_person(change: Change, found: Mapping[MemoryId, Memory]) -> bool:
    """Return True if what replaces a memory is plainly about the person, or goes on about them: "I live in ...", "Actually I moved"."""
    text = change.statement.text
    if is_of_the_person(text) or is_about_oneself(text):
        return True
    return (
        change.supersedes is not None
        and may_be_of_oneself(text)
        and is_about_oneself(found[change.supersedes].content, sure=False)
    )


def _may_give_way(memory: Memory, namespace: str) -> bool:
    return (
        memory.origin is Origin.USER
        and memory.namespace == namespace
        and memory.superseded_by is None
        and not memory.pinned
        and len(memory.content) <= _LONGEST
    )
