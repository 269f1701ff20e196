"""What the memory knows about its user, gathered from index and store: for the brief, and for questions about what is open.

Used by ``reads.py``; what is shown of it is decided by the pure rules of `retrieval.brief`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

import numpy as np

from hybrid_memory.capture.replacing import outdated
from hybrid_memory.changes.endings import EndingModel, among_passing, has_passed
from hybrid_memory.language.text import words
from hybrid_memory.model import Memory, MemoryId, MemoryType, Scope, Trust
from hybrid_memory.requests import Where
from hybrid_memory.retrieval.aspects import Aspect
from hybrid_memory.retrieval.brief import BriefMemories, open_and_done
from hybrid_memory.retrieval.commitments import topic_words
from hybrid_memory.trust import may_outdate

if TYPE_CHECKING:
    from hybrid_memory.retrieval.index import NamespaceIndex
    from hybrid_memory.retrieval.query import Ranking, SearchQuery

# Set by hand.
_LINES = 30  # of each list that a brief is chosen from
_LAST_SESSION_LINES = 6
_LAST_SESSIONS = 3  # that a brief looks back on where a conversation begins
_NEWEST = 150  # memories among which is looked for what closes a commitment
_WANTED = tuple(
    (int(aspects), count)
    for aspects, count in (
        (Aspect.IDENTITY | Aspect.HEALTH | Aspect.NAME, 60),
        (Aspect.PREFERENCE | Aspect.TRAIT, 60),
        (Aspect.COMMITMENT, 60),
        (Aspect.DONE, 60),
        (Aspect.DECISION, 30),
    )
)
"""Of memories with these aspects so many are looked at."""

Fetch = Callable[[Sequence[MemoryId]], Mapping[MemoryId, Memory]]
"""Reads memories from the store by id."""


def gather(
    index: NamespaceIndex,
    fetch: Fetch,
    scope: Scope,
    query: SearchQuery,
    *,
    begins: bool = False,
    endings: EndingModel | None = None,
) -> BriefMemories:
    """Return what a brief is chosen from: what passes the filters of a query, and was written before its first page was read.

    Where a conversation ``begins``, more of the last session is there, and what the sessions before it said. ``endings`` judges what is
    over; without it nothing is but commitments whose day has passed.
    """
    where, now = query.where, query.now
    asked_at = query.asked_at or now
    chosen = {
        name: index.first_of_each_trust(index.select(where, now, asked_at=asked_at, among=ids), _LINES)
        for name, ids in (
            ("pinned", index.pinned(now)),
            ("working", index.select(Where(memory_type=MemoryType.WORKING), now)),
        )
    }
    of_last = _last_sessions(index, scope, now, asked_at, begins=begins)
    allowed = set(index.select(where, now, asked_at=asked_at, among=of_last))
    chosen["last_session"] = [one for one in of_last if one in allowed]
    chosen["recent"] = index.first_of_each_trust(index.select(where, now, asked_at=asked_at), _LINES)
    chosen["weighty"] = index.telling(where, now, wanted=_WANTED, newest=_NEWEST, asked_at=asked_at)
    ids = dict.fromkeys(one for some in chosen.values() for one in some)
    found = index.memories(list(ids), fetch)
    lists = {name: [found[one] for one in some if one in found] for name, some in chosen.items()}
    disputes, changed = index.disputed_by_these(ids, now), index.contradicted_by(ids, now)
    if disputes or changed:  # of what the filters hide, nothing is disputed or changed here
        listed = set(index.select(where, now, asked_at=asked_at, among=[*disputes.values(), *changed.values()]))
        disputes = {one: disputed for one, disputed in disputes.items() if disputed in listed}
        changed = {one: later for one, later in changed.items() if later in listed}
    later = index.memories([one for one in changed.values() if one not in found], fetch) if changed else {}
    over = frozenset() if endings is None else over_now(endings, index, [*found.values(), *later.values()], now)
    return BriefMemories(
        **lists,
        as_of=asked_at,
        disputes=disputes,
        changed={one: front for one, front in changed.items() if front not in over},
        outdated=_outdated(found.values()),
        over=over,
    )


def over_now(
    endings: EndingModel, index: NamespaceIndex, memories: Iterable[Memory], now: datetime
) -> frozenset[MemoryId]:
    """Return which of some memories speak of what has passed."""
    passed = [one for one in memories if has_passed(one, now)]
    return among_passing(endings, passed, index.vectors_of([one.id for one in passed])) if passed else frozenset()


def _outdated(memories: Iterable[Memory]) -> frozenset[MemoryId]:
    """Return the memories to whose value a later one of the same speaker and at least the same trust gives another."""
    groups: dict[tuple[str | None, Trust, str], list[Memory]] = {}
    for one in memories:
        groups.setdefault((one.speaker, one.trust, one.namespace), []).append(one)
    found: set[MemoryId] = set()
    for some in groups.values():
        some.sort(key=lambda one: (one.occurred_at or one.created_at, one.created_at))
        mute = {at for at, one in enumerate(some) if not may_outdate(one)}
        found.update(some[at].id for at in outdated([one.content for one in some], mute))
    return frozenset(found)


def open_items_first(ranking: Ranking, memories: BriefMemories, question: str) -> Ranking:
    """Return a ranking in which open commitments stand first, in their order, and everything else is weak.

    Where the question names a topic, only those are raised that hold half of its words, and what is done is weak; if none holds them,
    it asks for something else.
    """
    still_open, done = open_and_done(memories)
    topic = topic_words(question)
    meant = [one.id for one in still_open if 2 * len(topic.intersection(words(one.content))) >= len(topic)]
    place = ranking.ids.places([*(one.id for one in still_open), *done])
    raised = [place[one] for one in meant if one in place]
    if topic:
        raised.sort()  # by their scores; without a topic the question's likeness to a commitment tells nothing
    finished = [place[one] for one in done if one in place and place[one] not in raised]
    if not len(ranking) or (topic and not raised):
        return ranking
    scores, weak = ranking.scores.copy(), ranking.weak.copy()
    scores[raised] = scores.max()  # equals are shown together
    weak[finished if topic else slice(None)] = True
    weak[raised] = False
    rest = np.setdiff1d(np.arange(len(ranking)), raised)
    order = np.concatenate((np.array(raised, np.intp), rest))
    return replace(
        ranking,
        ids=ranking.ids[order],
        scores=scores[order],
        weak=weak[order],
        has_vector=ranking.has_vector[order],
        positions=ranking.positions[order],
        unknown=False,
    )


def _last_sessions(
    index: NamespaceIndex, scope: Scope, now: datetime, asked_at: datetime | None, *, begins: bool
) -> Sequence[MemoryId]:
    most, lines = (_LAST_SESSIONS, _LINES) if begins else (1, _LAST_SESSION_LINES)
    named = index.sessions("", most + 1, now=now, asked_at=asked_at, trusted=True)
    found: dict[MemoryId, None] = {}
    for last in [one for one in named if one != scope.session][:most]:
        # Its summary comes first, whenever it was written.
        summary = Where(session=last, memory_type=MemoryType.EPISODIC)
        for where in (summary, Where(session=last)):
            told = index.first_of_each_trust(index.select(where, now, asked_at=asked_at), lines)
            found |= dict.fromkeys(told)
    return list(found)
