"""Answers that change nothing that is stored: search, fetch by id, the brief, related memories.

`MemoryService` calls these with a checked request and the search index of the namespace.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from hybrid_memory.cursor import FINGERPRINT_BYTES, PagePosition, decode_cursor
from hybrid_memory.language.text import excerpt
from hybrid_memory.model import TRUST_ORDER, TRUSTED_FROM, Kind, Memory, MemoryId, Scope, Trust
from hybrid_memory.project_names import project_of
from hybrid_memory.requests import Hit, ReadRequest, ReadResult, Related
from hybrid_memory.retrieval.brief import Lines, Section, lines_of, repeats_of
from hybrid_memory.retrieval.commitments import asks_for_open_items
from hybrid_memory.retrieval.current_state import asks_for_several
from hybrid_memory.retrieval.cutoff import hits_worth_showing
from hybrid_memory.retrieval.disputes import disputed_first
from hybrid_memory.retrieval.near_copies import COMPARED_HITS, copy_key, fold
from hybrid_memory.retrieval.newer import settle
from hybrid_memory.retrieval.query import RankingWeights, SearchQuery
from hybrid_memory.retrieval.question import parse_question
from hybrid_memory.retrieval.shares import COMPARED_UNTRUSTED, floods, in_shares, joined
from hybrid_memory.service.profile import gather, open_items_first
from hybrid_memory.service.readings import KEPT_IDS, going_on
from hybrid_memory.trust import have_one_authority

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hybrid_memory.changes.endings import EndingModel
    from hybrid_memory.changes.judging import LikelyChange
    from hybrid_memory.retrieval.id_columns import IdSequence
    from hybrid_memory.retrieval.index import NamespaceIndex
    from hybrid_memory.retrieval.query import Ranking
    from hybrid_memory.service.profile import Fetch
    from hybrid_memory.service.readings import Readings
    from hybrid_memory.store.base import Store

# Set by hand where no reason is named.
WEAK_SHOWN = 3  # memories below the relevance floor that fill an answer which would otherwise hold fewer
UNKNOWN_SHOWN = 3  # memories that stand nearest to a question about which nothing is known
# How far the best score lies above that of the fifth hit, as a share of it, where a memory counts as recalled. On twelve development
# sets, each one vote, the first hit of 46 % of all questions is right, and of 58 % of those.
RECALLED_LEAD = 0.5
RECALLED_AMONG = 5
ALIKE_SIMILARITY = 0.6  # cosine from which memories count as alike
RELATED_SHOWN = 3  # of a write; more would not be read
_EXCERPT_CHARACTERS = 160  # enough of a related memory to tell whether the new one contradicts it


@dataclass(frozen=True, slots=True)
class Found:
    """What a question finds, before the memories of its page are read.

    ``listing`` are the positions in the ``ranking`` that all pages show, ``page`` those of this one, which begins behind ``offset``
    others. ``held_back`` as in `ReadResult`; ``digest`` is the `fingerprint` of the question.
    """

    query: SearchQuery
    ranking: Ranking
    listing: Listing
    page: NDArray[np.intp]
    position: PagePosition
    offset: int
    held_back: int
    digest: bytes


def search(
    store: Store,
    index: NamespaceIndex,
    scope: Scope,
    request: ReadRequest,
    vector: NDArray[np.float32] | None,
    now: datetime,
    weights: RankingWeights,
    *,
    multilingual: bool = False,
    readings: Readings | None = None,
) -> ReadResult:
    """Answer a question with one page of memories, best first; weak matches only fill up a short answer.

    ``multilingual`` says that the vectors know the words of every language.

    Raises:
        InvalidInput: the cursor belongs to another question.
    """
    found = find(store, index, scope, request, vector, now, weights, multilingual=multilingual, readings=readings)
    return page_of(found, index, fetch_of(store, scope), request)


def find(
    store: Store,
    index: NamespaceIndex,
    scope: Scope,
    request: ReadRequest,
    vector: NDArray[np.float32] | None,
    now: datetime,
    weights: RankingWeights,
    *,
    multilingual: bool = False,
    readings: Readings | None = None,
) -> Found:
    """Rank what a question finds and choose its page, as `search` does.

    Raises:
        InvalidInput: the cursor belongs to another question.
    """
    # A cursor continues the question it was given for, as of the time when its first page was read.
    digest = fingerprint(scope, request)
    position = PagePosition(0, now) if request.cursor is None else decode_cursor(request.cursor, digest)
    question = parse_question(
        request.query, (request.where.as_of or position.asked_at).astimezone(request.zone), index.hasher
    )
    query = SearchQuery(
        question=question,
        vector=vector,
        multilingual=multilingual,
        where=request.where,
        now=now,
        asked_at=None if request.cursor is None else position.asked_at,
        history=request.where.as_of is None and question.time.asked_state == "past",
        scorer=weights.scorer,
        alpha=weights.alpha,
        beta=weights.beta,
        gamma=weights.gamma,
    )
    fetch = fetch_of(store, scope)
    ranking = _ranked(index, fetch, scope, query, request.query)
    # The page: positions in the ranking, behind the last memory that the page before showed.
    concise = request.concise and not asks_for_several(request.query)
    listing = _listing(ranking, index, fetch, concise=concise, all_weak=request.weak)
    listing = _disputed_first(listing, ranking, index, now)
    if readings is not None and request.cursor is not None:
        order = readings.order_of(digest, position.asked_at)
        begun = ranking.ids.places(order)
        listing = replace(listing, order=_as_begun(listing.order, [begun[one] for one in order if one in begun]))
        position = going_on(position, order, begun)
    offset = position.within(ranking.ids[listing.order]) if position.offset else 0
    page = listing.order[offset : offset + request.page_size]
    held_back = 0
    if request.cursor is None:
        page = page[: min(_first_page_size(ranking, listing, page, concise=concise), listing.first_page)]
        held_back = _held_back(listing, page, request.page_size)
        if readings is not None:
            readings.begin(digest, now, ranking.ids[listing.order[:KEPT_IDS]].encoded())
    return Found(query, ranking, listing, page, position, offset, held_back, digest)


def page_of(found: Found, index: NamespaceIndex, fetch: Fetch, request: ReadRequest) -> ReadResult:
    """Return the page of what was found, its memories read."""
    ranking, page = found.ranking, found.page
    hits = hits_at(page, found, index, fetch, explain=request.explain)
    return ReadResult(
        hits=hits,
        total=len(found.listing.order),
        offset=found.offset,
        below_floor=sum(hit.weak for hit in hits),
        pending=int(np.count_nonzero(~ranking.has_vector[page])),
        unknown=ranking.unknown,
        recalled=_recalled(ranking, hits) if request.cursor is None else None,
        held_back=found.held_back,
        fingerprint=found.digest,
        asked_at=found.position.asked_at,
    )


def _as_begun(order: NDArray[np.intp], begun: Sequence[int]) -> NDArray[np.intp]:
    """Return positions in the order in which a reading began; those that are new follow."""
    first = np.array(begun, np.intp)
    return np.concatenate((first, order[~np.isin(order, first)]))


def _ranked(index: NamespaceIndex, fetch: Fetch, scope: Scope, query: SearchQuery, text: str) -> Ranking:
    """Return what a question finds, best first, after the texts of the best hits have been read."""
    ranking = index.search(query)
    memories = gather(index, fetch, scope, query) if asks_for_open_items(text) else None

    def settled(one: Ranking) -> Ranking:
        if one.rivals is not None:
            one = settle(one, text, index.memories(one.rivals.ids, fetch))
        return one if memories is None else open_items_first(one, memories, text)

    below = ranking.below
    if below is not None:
        ranking = replace(ranking, below=replace(below, ranking=settled(below.ranking)))
    return joined(settled(ranking))


def hits_at(
    page: NDArray[np.intp], found: Found, index: NamespaceIndex, fetch: Fetch, *, explain: bool
) -> tuple[Hit, ...]:
    """Return the hits at some positions of a ranking. A memory may have been purged since the search; it is left out."""
    listing, ranking = found.listing, found.ranking
    ids: list[MemoryId] = ranking.ids[page].tolist()
    folded = {
        one: (*ranking.repeats.get(one, ()), *listing.copies.get(rank, ()))
        for rank, one in zip(page.tolist(), ids, strict=True)
    }
    memories = index.memories([*ids, *(one for some in folded.values() for one in some)], fetch)
    return tuple(
        Hit(
            memory=memories[memory_id],
            score=float(ranking.scores[scored]),
            newer=newer_than(index, memories[memory_id]) or ranking.newer.get(memory_id),
            repeats=_said_again(folded[memory_id], memories[memory_id], memories, by_others=False),
            copies=_said_again(folded[memory_id], memories[memory_id], memories, by_others=True),
            weak=bool(ranking.weak[scored]),
            terms=ranking.terms(scored) if explain else {},
        )
        for scored, memory_id in zip(listing.scored_as(page), ids, strict=True)
        if memory_id in memories
    )


def _said_again(
    folded: Sequence[MemoryId], shown: Memory, memories: Mapping[MemoryId, Memory], *, by_others: bool
) -> tuple[MemoryId, ...]:
    """Return what says the same as a memory that is shown: with its authority, or with another, which makes it no truer."""
    return tuple(
        one
        for one in folded
        if one in memories and have_one_authority(memories[one].trust, shown.trust) is not by_others
    )


def _recalled(ranking: Ranking, hits: Sequence[Hit]) -> MemoryId | None:
    """Return the memory that a question recalled: the first hit of its first page, if that is clearly the one.

    Clearly: it is not weak, something is known at all, and the scores fall off behind it. What merely is next to the answer was not
    recalled, and neither was the first of many that fit a vague question equally well: else fifty questions have used every
    memory of a small store, and attention tells nothing.
    """
    if ranking.unknown or not hits or hits[0].weak:
        return None
    scores = _scores_of_kind(ranking, hits[0].memory.trust)[:RECALLED_AMONG]
    stands_out = len(scores) < RECALLED_AMONG or scores[0] - scores[-1] >= RECALLED_LEAD * scores[0]
    return hits[0].memory.id if stands_out else None


def _scores_of_kind(ranking: Ranking, trust: Trust) -> NDArray[np.float32]:
    """Return the scores alongside which that of a hit counts: of a trusted one those of the trusted."""
    if ranking.untrusted is None or TRUST_ORDER.index(trust) < TRUST_ORDER.index(TRUSTED_FROM):
        return ranking.scores
    return ranking.scores[~ranking.untrusted]


@dataclass(frozen=True, slots=True)
class Listing:
    """What all pages show together: positions in the ranking, in order; a first page holds ``first_page`` of them at most.

    ``untrusted`` marks the positions that others go before. ``copies`` are the near-copies that a position stands for; ``best`` is the
    position at which such a one has its place, because the newest of several copies is shown in the place of the best.
    """

    order: NDArray[np.intp]
    first_page: int
    untrusted: NDArray[np.bool_] | None = None
    copies: Mapping[int, tuple[MemoryId, ...]] = field(default_factory=dict)
    best: Mapping[int, int] = field(default_factory=dict)

    def scored_as(self, page: NDArray[np.intp]) -> list[int]:
        """Return for some positions those whose score and weakness count for them."""
        return [self.best.get(rank, rank) for rank in page.tolist()]

    def are_untrusted(self, page: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Return which of some positions others go before."""
        return np.zeros(len(page), np.bool_) if self.untrusted is None else self.untrusted[page]


def _listing(ranking: Ranking, index: NamespaceIndex, fetch: Fetch, *, concise: bool, all_weak: bool) -> Listing:
    """Return what a question shows on all its pages: weak ones in the first places alone, and near-copies once if ``concise``.

    Where something trusted answers, what is not trusted takes its shares of the places (`retrieval.shares`).
    """
    untrusted = ranking.untrusted
    if untrusted is None or not np.any(~ranking.weak & ~untrusted):
        order = _shown_by_score(ranking.weak, all_weak=all_weak)
        folded = _fold_copies(order, order[:0], ranking, index, fetch) if concise else _Folded(order, order[:0])
        return Listing(folded.trusted, len(folded.trusted), None, folded.copies, folded.best)
    trusted = np.flatnonzero(~untrusted)
    trusted = trusted[_shown_by_score(ranking.weak[trusted], all_weak=False)]
    others = np.flatnonzero(untrusted & ~ranking.weak)
    folded = _fold_copies(trusted, others, ranking, index, fetch) if concise else _Folded(trusted, others)
    alike = _floods(folded.others, ranking, index, fetch)
    shares = in_shares(folded.trusted, folded.others, alike, answered=ranking.answered)
    order = shares.order
    if all_weak:
        known = np.concatenate((trusted, others))
        order = np.concatenate((order, np.setdiff1d(np.arange(len(ranking)), known)))
    first_page = shares.first_page if shares.first_page < len(shares.order) else len(order)
    return Listing(order, first_page, untrusted, folded.copies, folded.best)


def _shown_by_score(weak: NDArray[np.bool_], *, all_weak: bool) -> NDArray[np.intp]:
    """Return the positions that may be shown, by their scores: all above the floor, and weak ones in the first places alone."""
    if all_weak:
        return np.arange(len(weak))
    return np.flatnonzero(~weak | (np.arange(len(weak)) < WEAK_SHOWN))


def _floods(others: NDArray[np.intp], ranking: Ranking, index: NamespaceIndex, fetch: Fetch) -> list[int]:
    """Return the places of untrusted hits that say nearly what a better one says, whoever is said to have said it, and when."""
    if len(others) < 2:  # noqa: PLR2004 - one has no copies
        return []
    ids: list[MemoryId] = ranking.ids[others[:COMPARED_UNTRUSTED]].tolist()
    memories = index.memories(ids, fetch)
    return floods([frozenset(memories[one].terms) if one in memories else frozenset() for one in ids])


def _first_page_size(ranking: Ranking, listing: Listing, page: NDArray[np.intp], *, concise: bool) -> int:
    """Return how many hits of a first page are shown. Who goes on with a cursor gets the pages that were asked for.

    Where the scores fall off is told by those of the trusted hits as long as there are any, and behind the last of them by the others'.
    """
    if ranking.unknown:
        return UNKNOWN_SHOWN
    if not concise or not len(page):
        return len(page)
    scores = ranking.scores[listing.scored_as(page)].tolist()
    weak = ranking.weak[listing.scored_as(page)].tolist()
    untrusted = listing.are_untrusted(page)
    ends = [_end_of(np.flatnonzero(kind), scores, weak, len(page)) for kind in (~untrusted, untrusted) if kind.any()]
    last_trusted = int(np.flatnonzero(~untrusted)[-1]) if not untrusted.all() else -1
    return ends[0] if ends[0] <= last_trusted else min(ends, default=0)


def _end_of(places: NDArray[np.intp], scores: Sequence[float], weak: Sequence[bool], end: int) -> int:
    """Return before which place of a page the scores at some places fall off; ``end`` where they do not."""
    shown = hits_worth_showing([scores[at] for at in places.tolist()], [weak[at] for at in places.tolist()])
    return int(places[shown]) if shown < len(places) else end


def _held_back(listing: Listing, page: NDArray[np.intp], page_size: int) -> int:
    """Return how many untrusted memories would have stood on a first page but for their shares."""
    if listing.untrusted is None or not len(page):
        return 0
    size = page_size if len(page) == listing.first_page else len(page)
    by_score = np.sort(listing.order)[:size]
    return int(np.count_nonzero(listing.are_untrusted(by_score) & ~np.isin(by_score, page)))


@dataclass(frozen=True, slots=True)
class _Folded:
    """Positions with near-copies folded: those of trusted hits and of others, and what `Listing` tells of copies."""

    trusted: NDArray[np.intp]
    others: NDArray[np.intp]
    copies: Mapping[int, tuple[MemoryId, ...]] = field(default_factory=dict)
    best: Mapping[int, int] = field(default_factory=dict)


def _fold_copies(
    trusted: NDArray[np.intp], others: NDArray[np.intp], ranking: Ranking, index: NamespaceIndex, fetch: Fetch
) -> _Folded:
    """Fold near-copies among the best hits, the same on each page of a question.

    What was said of different days, by different people or under different keys are different memories whatever their words. Who
    copies a trusted hit is shown with it, and gives it no better place.
    """
    compared = [*trusted[:COMPARED_HITS].tolist(), *others[:COMPARED_HITS].tolist()]
    ids: list[MemoryId] = ranking.ids[np.array(compared, np.intp)].tolist()
    memories = index.memories(ids, fetch)
    known = [memories.get(one) for one in ids]
    keys = [one if memory is None else _copy_key(memory) for one, memory in zip(ids, known, strict=True)]
    ranks = [(0, 0.0) if one is None else (TRUST_ORDER.index(one.trust), one.created_at.timestamp()) for one in known]
    groups = fold(keys, ranks)
    several = [group for group in groups if len(group) > 1]
    if not several:
        return _Folded(trusted, others)
    among_trusted = min(len(trusted), COMPARED_HITS)
    shown = [[compared[group[0]] for group in groups if (min(group) < among_trusted) is kind] for kind in (True, False)]
    return _Folded(
        np.concatenate((np.array(shown[0], np.intp), trusted[COMPARED_HITS:])),
        np.concatenate((np.array(shown[1], np.intp), others[COMPARED_HITS:])),
        {
            compared[group[0]]: tuple(
                one for place in group[1:] for one in (ids[place], *ranking.repeats.get(ids[place], ()))
            )
            for group in several
        },
        {compared[group[0]]: compared[min(group)] for group in several},
    )


def _copy_key(memory: Memory) -> Hashable:
    happened = memory.occurred_at and memory.occurred_at.date()
    return copy_key(memory.content), memory.speaker, memory.key, happened


def _disputed_first(listing: Listing, ranking: Ranking, index: NamespaceIndex, now: datetime) -> Listing:
    """Return the listing so that nothing among the best hits is in front of what it disputes, or what changed it.

    What goes before a hit and answers too little to be listed itself comes in, and counts as much as the hit: "Dr Hegarty has retired"
    answers "Who is our GP?" only next to "Our GP is Dr Hegarty".
    """
    best: list[MemoryId] = ranking.ids[listing.order[:COMPARED_HITS]].tolist()
    disputes: dict[MemoryId, MemoryId] = {}
    asked = best
    while asked:  # what goes before a hit may have been changed itself
        found = index.stands_behind(asked, now)
        disputes |= found
        asked = [one for one in found.values() if one not in disputes]
    if not disputes:
        return listing
    places = ranking.ids.places({*disputes, *disputes.values()})
    folded = ranking.ids.places(one for some in listing.copies.values() for one in some)
    listed = {*listing.order.tolist(), *folded.values()}
    brought: dict[int, int] = {}
    for one in (one for one in best if one in disputes):
        front: MemoryId | None = disputes[one]
        while front in places and places[front] not in listed:
            brought[places[front]] = listing.best.get(places[one], places[one])
            listed.add(places[front])
            front = disputes.get(front)
    order = np.concatenate((listing.order, np.array(list(brought), np.intp)))
    return replace(
        listing,
        order=order[disputed_first(ranking.ids[order].tolist(), disputes)],
        first_page=listing.first_page + len(brought),
        best={**listing.best, **brought},
    )


def with_lost_evidence(result: ReadResult, index: NamespaceIndex, scope: Scope) -> ReadResult:
    """Return a page on which each insight tells how many of the memories that it rests on were forgotten, or are gone."""
    insights = {hit.memory.id: hit.memory.parents for hit in result.hits if hit.memory.kind is Kind.INSIGHT}
    if not insights:
        return result
    # Read without the person's memories, a project's insight may rest on what this reader cannot see.
    alone = len(scope.namespaces) == 1 and project_of(scope.namespace) is not None
    kept = index.not_forgotten((parent for parents in insights.values() for parent in parents), absent=alone)
    lost = {one: sum(parent not in kept for parent in parents) for one, parents in insights.items()}
    return replace(
        result, hits=tuple(replace(hit, evidence_forgotten=lost.get(hit.memory.id, 0)) for hit in result.hits)
    )


def with_disputes(result: ReadResult, index: NamespaceIndex, now: datetime) -> ReadResult:
    """Return a page on which each memory names those that dispute it, the one that it disputes, and one that may have changed it."""
    contradicted = index.contradicted_by([hit.memory.id for hit in result.hits], now)
    disputed = index.disputed_by([hit.memory.id for hit in result.hits], now)
    disputing = [hit.memory.id for hit in result.hits if hit.memory.disputes is not None]
    disputes = index.disputed_by_these(disputing, now) if disputing else {}
    if not disputed and not disputes and not contradicted:
        return result
    hits = (
        replace(
            hit,
            disputed_by=disputed.get(hit.memory.id, ()),
            disputes=disputes.get(hit.memory.id),
            contradicted_by=contradicted.get(hit.memory.id),
        )
        for hit in result.hits
    )
    return replace(result, hits=tuple(hits))


def by_ids(store: Store, index: NamespaceIndex, scope: Scope, request: ReadRequest, now: datetime) -> ReadResult:
    """Return the named memories in the asked order; forgotten ones are missing, superseded ones name their successor."""
    digest = fingerprint(scope, request)
    position = PagePosition(0, now) if request.cursor is None else decode_cursor(request.cursor, digest)
    wanted = tuple(dict.fromkeys(request.ids))
    stored = fetch_of(store, scope)(wanted)
    live = {memory_id: index.shown(memory) for memory_id, memory in stored.items() if memory.forgotten_at is None}
    found = [live[memory_id] for memory_id in wanted if memory_id in live]
    offset = position.within([memory.id for memory in found])
    hits = tuple(Hit(memory=memory, newer=newer_than(index, memory)) for memory in found[offset:])
    missing = tuple(memory_id for memory_id in wanted if memory_id not in live)
    return ReadResult(
        hits=hits, total=len(found), offset=offset, missing=missing, fingerprint=digest, asked_at=position.asked_at
    )


@dataclass(frozen=True, slots=True)
class FoundBrief:
    """A brief before the memories of its page are read: the lines of its head, all ids in order, and what `ReadResult` tells of it."""

    lines: Lines
    listing: _SectionsFirst
    page: Sequence[MemoryId]
    position: PagePosition
    offset: int
    held_back: int
    digest: bytes


def brief(
    store: Store,
    index: NamespaceIndex,
    scope: Scope,
    request: ReadRequest,
    now: datetime,
    readings: Readings | None = None,
    endings: EndingModel | None = None,
) -> ReadResult:
    """Return who the user is, what is open, what was decided and what happened last, in shares of each page (`retrieval.brief`)."""
    found = find_brief(store, index, scope, request, now, readings, endings)
    return brief_page(found, index, fetch_of(store, scope))


def find_brief(
    store: Store,
    index: NamespaceIndex,
    scope: Scope,
    request: ReadRequest,
    now: datetime,
    readings: Readings | None = None,
    endings: EndingModel | None = None,
) -> FoundBrief:
    """Choose the lines of a brief and those of its page, as `brief` does."""
    digest = fingerprint(scope, request)
    request = replace(request, where=replace(request.where, unasked=True))
    position = PagePosition(0, now) if request.cursor is None else decode_cursor(request.cursor, digest)
    first_page_at = None if request.cursor is None else position.asked_at
    all_ids = index.select(request.where, now, asked_at=first_page_at)
    fetch = fetch_of(store, scope)
    query = SearchQuery(where=request.where, now=now, asked_at=position.asked_at)
    memories = gather(index, fetch, scope, query, begins=request.begins, endings=endings)
    lines = lines_of(memories, begins_in=scope.namespace if request.begins else None)
    sections = {one: line.section for one, line in lines.shown.items()}
    left_out = repeats_of(sections, memories) | ((memories.outdated | memories.over) - sections.keys())
    all_ids, first_page = index.with_few_untrusted(all_ids, sections, left_out)
    listing = _SectionsFirst(sections, all_ids, left_out)
    if readings is not None and request.cursor is None:
        readings.begin(digest, now, listing.beginning(KEPT_IDS))
    elif readings is not None:
        order = readings.order_of(digest, position.asked_at)
        begun = all_ids.places(order)
        listing = listing.as_begun([MemoryId(one) for one in order if one in begun])
        position = going_on(position, order, begun)
    offset = position.within(listing)
    size = request.page_size if offset else min(request.page_size, first_page)
    page = listing.beginning(offset + size)[offset:]
    held_back = 0 if offset else max(min(request.page_size, len(listing)) - first_page, 0)
    return FoundBrief(lines, listing, page, position, offset, held_back, digest)


def brief_page(found: FoundBrief, index: NamespaceIndex, fetch: Fetch) -> ReadResult:
    """Return the page of a brief, its memories read."""
    return ReadResult(
        hits=brief_hits(found, found.page, index, fetch),
        total=len(found.listing),
        offset=found.offset,
        held_back=found.held_back,
        fingerprint=found.digest,
        asked_at=found.position.asked_at,
    )


def brief_hits(found: FoundBrief, ids: Sequence[MemoryId], index: NamespaceIndex, fetch: Fetch) -> tuple[Hit, ...]:
    """Return some memories of a brief, each with its section; one that was purged meanwhile is left out."""
    memories = index.memories(ids, fetch)
    return tuple(Hit(memory=memories[one], section=found.listing.section_of(one)) for one in ids if one in memories)


class _SectionsFirst(Sequence[MemoryId]):
    """The ids of a brief in order: those of its sections, then the rest; no more ids are made into text than are shown."""

    def __init__(
        self, sections: Mapping[MemoryId, Section], all_ids: IdSequence, left_out: Collection[MemoryId]
    ) -> None:
        self.sections = sections
        self._all_ids = all_ids
        self._left_out = left_out

    def __len__(self) -> int:
        return len(self._all_ids) - len(self._left_out)

    def as_begun(self, order: Sequence[MemoryId]) -> _SectionsFirst:
        """Return the same memories in the order in which a reading began; those that are new follow."""
        first = dict.fromkeys(order, Section.RECENT) | {
            one: self.sections[one] for one in order if one in self.sections
        }
        rest = {one: section for one, section in self.sections.items() if one not in first}
        return _SectionsFirst(first | rest, self._all_ids, [one for one in self._left_out if one not in first])

    def section_of(self, memory_id: MemoryId) -> str:
        """Return the name of the section that an id is in."""
        return self.sections.get(memory_id, Section.RECENT).value

    def beginning(self, count: int) -> list[MemoryId]:
        """Return the first ``count`` ids."""
        others = self._all_ids[: count + len(self.sections) + len(self._left_out)].tolist()
        rest = (one for one in others if one not in self.sections and one not in self._left_out)
        return [*self.sections, *rest][:count]

    def __getitem__(self, position: Any) -> Any:
        end = position.stop if isinstance(position, slice) else position + 1
        return self.beginning(len(self) if end is None or end <= 0 else end)[position]


def as_related(changed: LikelyChange) -> Related:
    """Return what a write tells of an earlier memory that it likely changes."""
    memory = changed.memory
    return Related(
        id=memory.id,
        excerpt=excerpt(memory.content, _EXCERPT_CHARACTERS),
        similarity=round(changed.similarity, 3),
        origin=memory.origin,
        created_at=memory.created_at,
        occurred_at=memory.occurred_at,
    )


def fetch_of(store: Store, scope: Scope) -> Fetch:
    """Return what reads memories of a scope by id, in the order of the ids; of two with one id that of the first namespace."""
    if len(scope.namespaces) == 1:
        return partial(store.get, scope.namespace)
    return partial(_get_from_all, store, scope.namespaces)


def _get_from_all(store: Store, namespaces: Sequence[str], ids: Iterable[MemoryId]) -> dict[MemoryId, Memory]:
    found: dict[MemoryId, Memory] = {}
    wanted = list(dict.fromkeys(ids))
    for namespace in namespaces:
        missing = [one for one in wanted if one not in found]
        if missing:
            found |= store.get(namespace, missing)
    return {one: found[one] for one in wanted if one in found}


def newer_than(index: NamespaceIndex, memory: Memory) -> MemoryId | None:
    """Return the newest version of a superseded memory."""
    return None if memory.superseded_by is None else index.newest_version(memory.id)


def fingerprint(scope: Scope, request: ReadRequest) -> bytes:
    """Return a short digest of the question, so that a cursor cannot continue another one."""
    asked = {
        "namespace": "\0".join(scope.namespaces),
        "query": request.query,
        "ids": request.ids,
        "where": asdict(request.where),
    }
    text = json.dumps(asked, sort_keys=True, default=str, ensure_ascii=True)
    return hashlib.blake2b(text.encode(), digest_size=FINGERPRINT_BYTES).digest()
