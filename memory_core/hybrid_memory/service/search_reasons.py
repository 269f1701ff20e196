"""Why a question's answer is what it is: what it was taken for, what matches and is not shown, and for what reason.

For a person who looks at the memory (`MemoryService.read_with_reasons`), never for a model: an answer names nothing that was forgotten.
The answer itself is that of `reads.search`, made from the same search.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hybrid_memory.model import Memory, MemoryId
from hybrid_memory.retrieval.understanding import Understanding
from hybrid_memory.service import reads

if TYPE_CHECKING:
    from hybrid_memory.requests import Hit, ReadRequest, ReadResult
    from hybrid_memory.retrieval.index import NamespaceIndex
    from hybrid_memory.service.profile import Fetch

SHOWN_OF_EACH = 8  # memories of one reason; a person reads a few
_READ_HIDDEN = 100  # of what is hidden; each is read for its reason


class Reason(StrEnum):
    """Why a memory that matches is not in an answer; the first that holds."""

    EARLIER = "earlier"
    """It stood on a page before this one."""
    LIMIT = "limit"
    """As many were asked for as are shown."""
    UNKNOWN = "unknown"
    """Probably nothing is known about what was asked, so only the nearest are shown."""
    SHARE = "share"
    """It is a tool's or an import's, which take only a share of the first places."""
    CUT_OFF = "cut off"
    """The scores fall off in front of it."""
    WEAK = "weak"
    """Neither its words nor its meaning have to do with the question, alongside the others."""
    LATER = "later"
    """It was written after the moment that is asked about."""
    FORGOTTEN = "forgotten"
    REPLACED = "replaced"
    """A newer version is in its place."""
    EXPIRED = "expired"
    """It held until a time that is over."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """A memory that matches and is not shown.

    ``place`` is the one that it has, or would have, by its score among what can be found, from 1; ``terms`` are the summands of that.
    ``newer`` is the newest version of a replaced one.
    """

    memory: Memory
    reason: Reason
    place: int
    score: float
    terms: Mapping[str, float] = field(default_factory=dict)
    newer: MemoryId | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchReasons:
    """What comes behind an answer.

    ``left_out`` are a few memories of each reason, the best first, ``counts`` how many there are of it (of what can be found: among the
    best, which are looked at closely). ``cosines`` tell how near a memory is to the question by meaning, from -1 to 1.
    """

    understanding: Understanding = field(default_factory=Understanding)
    left_out: tuple[LeftOut, ...] = ()
    counts: Mapping[Reason, int] = field(default_factory=dict)
    cosines: Mapping[MemoryId, float] = field(default_factory=dict)


def reasons_of(
    found: reads.Found, result: ReadResult, index: NamespaceIndex, fetch: Fetch, request: ReadRequest
) -> SearchReasons:
    """Return what comes behind a page of what was found."""
    findable, counts = _findable(found, index, fetch, request)
    hidden, more = _hidden(found, index, fetch)
    left_out = (*findable, *hidden)
    return SearchReasons(
        understanding=index.understand(found.query),
        left_out=left_out,
        counts=counts | more,
        cosines=_cosines(found, index, [*result.hits, *left_out]),
    )


def _findable(
    found: reads.Found, index: NamespaceIndex, fetch: Fetch, request: ReadRequest
) -> tuple[list[LeftOut], dict[Reason, int]]:
    """Return what can be found and is not on the page, a few of each reason, and how many there are."""
    order, end = found.listing.order, found.offset + len(found.page)
    weak = np.setdiff1d(np.flatnonzero(found.ranking.weak), order)
    groups = {
        Reason.EARLIER: order[: found.offset],
        _reason_of_end(found, request): order[end:],
        Reason.WEAK: weak,
    }
    some = [(reason, at) for reason, places in groups.items() for at in np.sort(places)[:SHOWN_OF_EACH].tolist()]
    hits = dict(_hits(found, [at for _, at in some], index, fetch))
    told = [
        LeftOut(
            memory=hits[at].memory,
            reason=_share_or(reason, at, found),
            place=at + 1,
            score=hits[at].score or 0.0,
            terms=hits[at].terms,
        )
        for reason, at in some
        if at in hits
    ]
    return told, {reason: len(places) for reason, places in groups.items() if len(places)}


def _reason_of_end(found: reads.Found, request: ReadRequest) -> Reason:
    """Return why a page ends where it does."""
    if len(found.page) >= request.page_size or request.cursor is not None:
        return Reason.LIMIT
    return Reason.UNKNOWN if found.ranking.unknown else Reason.CUT_OFF


def _share_or(reason: Reason, at: int, found: reads.Found) -> Reason:
    """Return `Reason.SHARE` for an untrusted hit that by its score alone would stand on the page, else the reason of the others."""
    if reason in (Reason.WEAK, Reason.EARLIER) or not found.listing.are_untrusted(np.array([at]))[0]:
        return reason
    before = found.listing.order[: found.offset + len(found.page)]
    others_are_used_up = len(before) == found.listing.first_page
    return Reason.SHARE if others_are_used_up or np.any(before > at) else reason


def _hits(found: reads.Found, places: Sequence[int], index: NamespaceIndex, fetch: Fetch) -> Iterator[tuple[int, Hit]]:
    at = np.array(places, np.intp)
    place_of = dict(zip(found.ranking.ids[at].tolist(), places, strict=True))
    for hit in reads.hits_at(at, found, index, fetch, explain=True):
        yield place_of[hit.memory.id], hit


def _hidden(found: reads.Found, index: NamespaceIndex, fetch: Fetch) -> tuple[list[LeftOut], dict[Reason, int]]:
    """Return what matches and no reading finds, a few of each reason, and how many there are."""
    below = index.search_hidden(found.query)
    if below is None:
        return [], {}
    ranking, moment = below.ranking, found.query.where.as_of or found.query.now
    ids = ranking.ids[:_READ_HIDDEN].tolist()
    memories = index.memories(ids, fetch)
    findable = found.ranking.ids.places(ids)  # a question about the past finds what was replaced, too
    told: list[LeftOut] = []
    counts: dict[Reason, int] = {}
    for at, one in enumerate(ids):
        if one not in memories or one in findable:
            continue
        reason = _why_hidden(memories[one], moment)
        counts[reason] = counts.get(reason, 0) + 1
        if counts[reason] <= SHOWN_OF_EACH:
            told.append(
                LeftOut(
                    memory=memories[one],
                    reason=reason,
                    place=int(below.places[at]) + 1,
                    score=float(ranking.scores[at]),
                    terms=ranking.terms(at),
                    newer=reads.newer_than(index, memories[one]),
                )
            )
    return told, counts


def _why_hidden(memory: Memory, moment: datetime) -> Reason:
    if memory.forgotten_at is not None:
        return Reason.FORGOTTEN
    if memory.created_at > moment:
        return Reason.LATER
    return Reason.EXPIRED if memory.superseded_by is None else Reason.REPLACED


def _cosines(found: reads.Found, index: NamespaceIndex, shown: Sequence[Hit | LeftOut]) -> dict[MemoryId, float]:
    vector = found.query.vector
    if vector is None:
        return {}
    vectors: Mapping[MemoryId, NDArray[np.float32]] = index.vectors_of([one.memory.id for one in shown])
    return {one: float(own @ vector) for one, own in vectors.items() if own.shape == vector.shape}
