"""Choosing the memories that are offered for a thought."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from hybrid_memory.decisions.reflect import Candidates, plan_groups
from hybrid_memory.requests import ReflectionGroup, Where
from hybrid_memory.retrieval.query import SearchQuery
from hybrid_memory.text import check_text, terms
from hybrid_memory.validation import QUERY_LIMIT

if TYPE_CHECKING:
    from hybrid_memory.model import MemoryId
    from hybrid_memory.retrieval.index import NamespaceIndex
    from hybrid_memory.store.base import Store
    from hybrid_memory.text_encoder import TextEncoder

_FOCUS = 200
"""How many memories a focus lets in at most."""
_NEWEST = 5000
"""How many candidates are compared at most, the newest of them."""


def offer(
    store: Store,
    index: NamespaceIndex,
    encoder: TextEncoder,
    namespace: str,
    focus: str | None,
    where: Where,
    *,
    limit: int,
    now: datetime,
) -> tuple[ReflectionGroup, ...]:
    """Return groups of related memories that were not reflected upon, the most worthwhile first.

    Raises:
        InvalidInput: the focus is not text.
    """
    allowed = _focused(index, encoder, focus, where, now)
    rows = index.reflection_rows(where, now, among=allowed, newest=_NEWEST)
    candidates = Candidates(ids=rows.ids, created_at=rows.created_at, importance=rows.importance, vectors=rows.vectors)
    groups = plan_groups(candidates, limit=limit)
    members = {group: [candidates.ids[row] for row in group.rows] for group in groups}
    memories = store.get(namespace, [one for ids in members.values() for one in ids])
    return tuple(
        ReflectionGroup(memories=tuple(memories[one] for one in ids if one in memories), worth=group.worth)
        for group, ids in members.items()
    )


def _focused(
    index: NamespaceIndex, encoder: TextEncoder, focus: str | None, where: Where, now: datetime
) -> set[MemoryId] | None:
    """Return the memories that a focus is about; None when there is no focus."""
    if focus is None or not focus.strip():
        return None
    check_text("focus", focus, limit=QUERY_LIMIT)
    ask = SearchQuery(terms=terms(focus), vector=encoder.question(focus), where=where, now=now)
    ranking = index.search(ask)
    return set(ranking.ids[~ranking.weak][:_FOCUS].tolist())
