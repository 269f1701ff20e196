"""What waits for a person's word, the most pressing first: what contradicts, holds a secret, or may be somebody else's words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hybrid_memory.language.languages import ENGLISH, languages
from hybrid_memory.secret_detection.masking import kinds_of
from hybrid_memory.store.reviewing import Reason, ReviewRequest
from hybrid_memory_mcp.views.view import told

if TYPE_CHECKING:
    from hybrid_memory.model import Memory, MemoryId, Scope
    from hybrid_memory.service.memory_service import MemoryService
    from hybrid_memory_mcp.views.view import ViewRequest

_MOST_SECRETS = 5000  # memories with the word of a mark that are looked at: the newest
_MOST_WAITING = 1000  # memories; a person who has judged these sees the others


@dataclass(frozen=True, slots=True)
class Waiting:
    """A statement that waits for a person's word, and all memories that make it in the same words, the first one first."""

    reason: Reason
    memories: tuple[Memory, ...]

    @property
    def first(self) -> Memory:
        """The memory that is shown for all."""
        return self.memories[0]


def waiting(service: MemoryService, scope: Scope) -> list[Waiting]:
    """Return what waits for a person, each statement once: what Now, Review, Health and `status` go by."""
    wanted = ReviewRequest(now=service.now(), secrets=_secrets(service, scope), limit=_MOST_WAITING)
    found = service.store.to_review(scope.namespaces, wanted)
    memories = service.revealed(scope, [id_ for _, id_ in found])
    alike: dict[str, tuple[Reason, list[Memory]]] = {}
    for (_, id_), reason in found.items():
        if id_ in memories:
            alike.setdefault(words_of(memories[id_]), (reason, []))[1].append(memories[id_])
    return [Waiting(reason, tuple(some)) for reason, some in alike.values()]


def words_of(memory: Memory) -> str:
    """Return by what two memories say the same: their words, whatever their case."""
    return " ".join(memory.content.casefold().split())


def shown(service: MemoryService, request: ViewRequest, some: list[Waiting]) -> list[dict[str, Any]]:
    """Return what waits as JSON: each memory with why, and the ``other`` one that it contradicts."""
    disputed = [one.first.disputes for one in some if one.first.disputes is not None]
    others = service.revealed(request.scope, disputed) if disputed else {}
    return [_told(service, request, one, others) for one in some]


def _secrets(service: MemoryService, scope: Scope) -> frozenset[MemoryId]:
    """Return the memories that hold a secret; looked for again only after something has changed."""
    return service.derived.value(scope, "secrets", lambda: _find_secrets(service, scope))


def _find_secrets(service: MemoryService, scope: Scope) -> frozenset[MemoryId]:
    """Return the memories that hold a secret: search knows them by the mark that it has in its place."""
    terms = {term for language in (ENGLISH, *languages()) for term in service.store.hasher.terms("secret", language)}
    places = service.store.with_terms(scope.namespaces, terms, service.now(), _MOST_SECRETS)
    found = service.revealed(scope, [id_ for _, id_ in places])
    return frozenset(one.id for one in found.values() if kinds_of(one.content))


def _told(
    service: MemoryService, request: ViewRequest, one: Waiting, others: Mapping[MemoryId, Memory]
) -> dict[str, Any]:
    memory = one.first
    other = None if memory.disputes is None else others.get(memory.disputes)
    values = told(service, request, memory) | {"reason": one.reason.value, "ids": [each.id for each in one.memories]}
    if one.reason is Reason.DISPUTED and other is not None:
        values["other"] = told(service, request, other)
    if kinds := kinds_of(memory.content):
        values["secret_kinds"] = list(kinds)
    return values
