"""What a reflection offers: first what may contradict, what was said again and again in passing, then memories of one subject.

Changes nothing that is stored. What belongs together is decided by the pure functions of `hybrid_memory.decisions.reflect`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import numpy as np

from hybrid_memory.decisions.reflect import ReflectionCandidates, plan_conflicts, plan_groups, plan_repeats
from hybrid_memory.model import Memory, MemoryId
from hybrid_memory.requests import GroupSort, ReflectionGroup, Where
from hybrid_memory.retrieval.query import SearchQuery
from hybrid_memory.retrieval.question import parse_question
from hybrid_memory.retrieval.shares import joined
from hybrid_memory.service.profile import Fetch
from hybrid_memory.service.tidying import all_over, copies

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hybrid_memory.changes.endings import EndingModel
    from hybrid_memory.retrieval.index import NamespaceIndex
    from hybrid_memory.retrieval.query import ReflectionRows

_FOCUS_LIMIT = 200  # memories that a focus lets into a reflection at most
# The newest memories that are compared with one another for groups: all pairs of 5,000 take about a second.
_MOST_CANDIDATES = 5000
_LONG_AGO = timedelta(days=90)


@dataclass(frozen=True, slots=True)
class Focus:
    """A topic to reflect on: its words and their vector, and whether that knows the words of every language."""

    text: str
    vector: NDArray[np.float32] | None
    multilingual: bool


def offered_groups(
    index: NamespaceIndex,
    fetch: Fetch,
    where: Where,
    focus: Focus | None,
    endings: EndingModel | None,
    *,
    limit: int,
    now: datetime,
) -> tuple[ReflectionGroup, ...]:
    """Return groups of memories that were not reflected upon and are not over; half of the places go to what may contradict.

    With a ``focus`` only the memories that answer it take part, and nothing that was said in passing.
    """
    allowed = None if focus is None else _answering(index, where, focus, now)
    rows = index.reflection_rows(where, now, among=allowed, newest=_MOST_CANDIDATES)
    ids = list(rows.ids)
    later = index.contradicted_by(ids, now)
    over, again = all_over(index, fetch, endings, now), copies(index, fetch, now)
    # What changes a statement is trusted as far at least, so no group mixes what a tool says with the user's words.
    strangers = {ids[at] for at in np.flatnonzero(rows.untrusted).tolist()}
    opened = {one: last for one, last in later.items() if one not in strangers and over.isdisjoint((one, last))}
    alike = _alike(index, opened)
    conflicts = [
        (GroupSort.CONFLICT, some, max(alike.get(one, 0.0) for one in some)) for some in plan_conflicts(opened, alike)
    ]
    repeats = [] if focus else _repeats(index, where, now, limit=limit // 3)
    left_out = later.keys() | over | again.keys()
    current = _candidates(rows, [at for at, one in enumerate(ids) if one not in left_out])
    room = limit - len(repeats) - len(conflicts[: (limit + 1) // 2])
    subjects = [
        (GroupSort.SUBJECT, tuple(current.ids[row] for row in one.rows), one.worth)
        for one in plan_groups(current, limit=room)
    ]
    chosen = [*conflicts[: limit - len(repeats) - len(subjects)], *repeats, *subjects]
    memories = index.memories(list(dict.fromkeys(one for _, some, _ in chosen for one in some)), fetch)
    return tuple(
        _group(sort, [memories[one] for one in some if one in memories], worth, _changed(some, later, index), now)
        for sort, some, worth in chosen
    )


def _group(
    sort: GroupSort, memories: Sequence[Memory], worth: float, changed: tuple[MemoryId, ...], now: datetime
) -> ReflectionGroup:
    told = tuple(sorted(memories, key=_told_at))
    if sort is not GroupSort.SUBJECT:
        return ReflectionGroup(memories=told, worth=worth, sort=sort)
    silent = bool(told) and now - _told_at(told[-1])[0] > _LONG_AGO
    return ReflectionGroup(memories=told, worth=worth, sort=sort, changed=changed, silent=silent)


def _alike(index: NamespaceIndex, pairs: Mapping[MemoryId, MemoryId]) -> dict[MemoryId, float]:
    """Return the cosine of each pair whose vectors are there, by its first."""
    vectors = index.vectors_of({*pairs, *pairs.values()})
    return {
        one: float(vectors[one] @ vectors[other]) for one, other in pairs.items() if one in vectors and other in vectors
    }


def _changed(
    ids: Sequence[MemoryId], later: Mapping[MemoryId, MemoryId], index: NamespaceIndex
) -> tuple[MemoryId, ...]:
    """Return the earlier statements that some memories replaced, or that they likely changed."""
    replaced = [old for one in ids for old in index.replaced_by(one)]
    return (*replaced, *(old for old, last in later.items() if last in ids))


def _told_at(memory: Memory) -> tuple[datetime, MemoryId]:
    return memory.occurred_at or memory.created_at, memory.id


def _answering(index: NamespaceIndex, where: Where, focus: Focus, now: datetime) -> set[MemoryId]:
    """Return the memories that answer a topic, not more of the untrusted than leave room for the others."""
    query = SearchQuery(
        question=parse_question(focus.text, now, index.hasher),
        vector=focus.vector,
        multilingual=focus.multilingual,
        where=where,
        now=now,
    )
    ranking = joined(index.search(query))
    strong = np.flatnonzero(~ranking.weak)
    if ranking.untrusted is not None:
        strong = strong[np.argsort(ranking.untrusted[strong], kind="stable")]
    return set(ranking.ids[strong[:_FOCUS_LIMIT]].tolist())


def _repeats(
    index: NamespaceIndex, where: Where, now: datetime, *, limit: int
) -> list[tuple[GroupSort, tuple[MemoryId, ...], float]]:
    """Return what was said in passing in several sessions, each with all of its sayings."""
    rows = index.reflection_rows(replace(where, unasked=False), now, newest=_MOST_CANDIDATES, episodes=True)
    said = _candidates(rows, np.flatnonzero(~rows.untrusted).tolist())
    return [
        (GroupSort.REPEATED, tuple(said.ids[row] for row in one.rows), one.worth)
        for one in plan_repeats(said, limit=limit)
    ]


def _candidates(rows: ReflectionRows, kept: Sequence[int]) -> ReflectionCandidates:
    at = np.array(kept, np.intp)
    return ReflectionCandidates(
        ids=[rows.ids[one] for one in kept],
        created_at=rows.created_at[at],
        importance=rows.importance[at],
        vectors=rows.vectors[at],
        terms=[rows.terms[one] for one in kept],
        sessions=rows.sessions[at],
        untrusted=rows.untrusted[at],
    )
