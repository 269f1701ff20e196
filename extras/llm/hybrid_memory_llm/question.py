"""What a model is asked about a conversation: the person's own words in it, and the earlier ones that they may change.

Left out is what the person may not have said (tools, files, pasted words), what holds a secret, and what is no statement. Each memory has a
short name of its own here, so that an answer can name nothing else.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from hybrid_memory.changes.judging import earlier_statements
from hybrid_memory.changes.pairs import Statement
from hybrid_memory.language.token_estimate import estimate_tokens
from hybrid_memory.model import Kind, Memory, MemoryId, Scope, Trust
from hybrid_memory.requests import ListRequest
from hybrid_memory.secret_detection.masking import mark, masked_memory
from hybrid_memory.service.reads import fetch_of
from hybrid_memory.trust import BESIDE_OTHERS

if TYPE_CHECKING:
    from datetime import datetime

    from hybrid_memory.service.memory_service import MemoryService

MOST_SAID = 40
_NEAR = 4  # earlier statements shown with each: the one that is changed is among the first three mostly
_SAID_TOKENS, _EARLIER_TOKENS = 3_000, 3_000
_MASKED = mark("").rstrip("]")


@dataclass(frozen=True, slots=True)
class Question:
    """The ``text`` of a question, as JSON; ``said`` and ``earlier`` are the memories by their short names, ``near`` names those of each."""

    text: str
    asked_at: datetime
    said: dict[str, Memory]
    earlier: dict[str, Memory]
    near: dict[str, tuple[str, ...]]

    @property
    def newest(self) -> MemoryId:
        """The last memory of the conversation."""
        return max(one.id for one in self.said.values())


def question_of(service: MemoryService, scope: Scope, after: str) -> Question | None:
    """Return what to ask about the memories of a conversation that came ``after`` an id; None where there is nothing to decide."""
    told = _told(service, scope, after)
    names = {one.id: f"n{at}" for at, one in enumerate(told, 1)}
    known: dict[MemoryId, Memory] = {one.id: one for one in told}
    near: dict[str, tuple[str, ...]] = {}
    room = _EARLIER_TOKENS
    for one in told:
        shown = []
        for other in _near(service, scope, one):
            if other.id not in names:
                if (cost := estimate_tokens(other.content)) > room:
                    continue
                room -= cost
                names[other.id] = f"e{len(names) - len(told) + 1}"
                known[other.id] = other
            shown.append(names[other.id])
        near[names[one.id]] = tuple(shown)
    if not any(near.values()) and not any(one.is_episode for one in told) and len(told) < 2:  # noqa: PLR2004 - an insight has two sources
        return None
    said = {names[one.id]: one for one in told}
    earlier = {name: known[id_] for id_, name in names.items() if name not in said}
    text = json.dumps(
        {
            "said": [_as_json(name, one) | {"near": near[name]} for name, one in said.items()],
            "earlier": [_as_json(name, one) for name, one in earlier.items()],
        },
        ensure_ascii=False,
    )
    return Question(text, service.now(), said, earlier, near)


def _as_json(name: str, memory: Memory) -> dict[str, Any]:
    at = (memory.occurred_at or memory.created_at).date().isoformat()
    return {"id": name, "at": at, "state": "passing" if memory.is_episode else "kept", "text": memory.content}


def _told(service: MemoryService, scope: Scope, after: str) -> list[Memory]:
    """Return what was said in the conversation and may be sent, oldest first; of much the newest."""
    wanted = ListRequest(session=scope.session, limit=2 * MOST_SAID)
    listed = [service.list_memories(scope, one).memories for one in (wanted, replace(wanted, kind=Kind.EPISODE))]
    found = service.revealed(scope, [one.id for page in listed for one in page if one.id > after])
    newest = sorted((one for one in found.values() if may_be_sent(one)), key=lambda one: one.id, reverse=True)
    costs = accumulate(estimate_tokens(one.content) for one in newest)
    chosen = [one for one, cost in zip(newest[:MOST_SAID], costs, strict=False) if cost <= _SAID_TOKENS]
    return sorted(chosen, key=lambda one: (one.occurred_at or one.created_at, one.id))


def _near(service: MemoryService, scope: Scope, memory: Memory) -> list[Memory]:
    """Return the earlier statements of the same namespace that the offline judge would compare with one, the nearest first."""
    index = service.index_of(scope)
    vector = index.vectors_of([memory.id]).get(memory.id)
    if vector is None:
        return []
    new = Statement(
        text=memory.content,
        vector=vector,
        terms=frozenset(memory.terms),
        at=memory.occurred_at or memory.created_at,
        session=memory.session,
    )
    found = earlier_statements(index, fetch_of(service.store, scope), new, service.now(), in_passing=False).memories
    others = (one for one in found if one.id != memory.id and one.namespace == memory.namespace)
    return [one for one in others if may_be_sent(one)][:_NEAR]


def may_be_sent(memory: Memory) -> bool:
    """Return True for a statement that is surely the person's or their assistant's, and holds no secret, not even a masked one."""
    pasted = (memory.source or "").endswith(BESIDE_OTHERS) and memory.trust is not Trust.CONFIRMED
    statement = memory.kind in (Kind.OBSERVATION, Kind.EPISODE) and not memory.key
    own = memory.trust is not Trust.UNTRUSTED and not pasted
    secret = masked_memory(memory) is not memory or _MASKED in memory.content
    return own and statement and not secret
