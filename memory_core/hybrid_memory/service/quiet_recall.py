"""Quiet recall: the few memories that a prompt is clearly about, for a client that asks at every prompt without being asked to.

`MemoryService.read` calls `quiet_recall` for a request with ``quiet``. Nothing relevant is the usual answer.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING

from hybrid_memory.model import Memory, MemoryId, Scope
from hybrid_memory.requests import Hit, ReadRequest, ReadResult
from hybrid_memory.retrieval.bearing import LEAST_TOLD, Bearing, bears_on, shared_words, speaks_of_own, tellings_of
from hybrid_memory.retrieval.brief import is_untrusted
from hybrid_memory.retrieval.plain_question import NOTHING_ASKED, Asked, asked_by, says_i, tells_of_own
from hybrid_memory.retrieval.question import parse_question
from hybrid_memory.service import reads
from hybrid_memory.service.profile import over_now

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from hybrid_memory.changes.endings import EndingModel
    from hybrid_memory.retrieval.index import NamespaceIndex
    from hybrid_memory.retrieval.query import RankingWeights
    from hybrid_memory.store.base import Store

QUIET_PAGE = 4  # memories that come unasked at most
_JUDGED = 12  # best hits of a search that are looked at
_LOOKED_THROUGH = 40  # memories that may answer in other words
_BESIDE = 3  # of these at most
_SESSIONS = 256  # whose shown memories are remembered
_SHOWN_IDS = 2_000  # of each session


class ShownMemories:
    """Remembers which memories the latest sessions were shown, so that nothing comes unasked twice. Safe for threads.

    It lives as long as the process: after a restart a memory may come once more.
    """

    def __init__(self) -> None:
        self._shown: OrderedDict[tuple[str, str], OrderedDict[MemoryId, None]] = OrderedDict()
        self._lock = threading.Lock()

    def note(self, scope: Scope, ids: Iterable[MemoryId]) -> None:
        """Remember that a session was shown some memories."""
        with self._lock:
            shown = self._shown.setdefault((scope.namespace, scope.session), OrderedDict())
            self._shown.move_to_end((scope.namespace, scope.session))
            for one in ids:
                shown[one] = None
                shown.move_to_end(one)
            while len(shown) > _SHOWN_IDS:
                shown.popitem(last=False)
            while len(self._shown) > _SESSIONS:
                self._shown.popitem(last=False)

    def forget(self, scope: Scope) -> None:
        """Forget what a session was shown: its context was cleared or compacted."""
        with self._lock:
            self._shown.pop((scope.namespace, scope.session), None)

    def of(self, scope: Scope) -> frozenset[MemoryId]:
        """Return what a session was shown."""
        with self._lock:
            return frozenset(self._shown.get((scope.namespace, scope.session), ()))


def quiet_recall(
    store: Store,
    index: NamespaceIndex,
    scope: Scope,
    request: ReadRequest,
    vector: NDArray[np.float32] | None,
    now: datetime,
    weights: RankingWeights,
    *,
    multilingual: bool = False,
    shown: Collection[MemoryId] = (),
    endings: EndingModel | None = None,
) -> ReadResult:
    """Return the memories that a prompt is clearly about, best first; usually none.

    The request's query is the gist of the prompt. Left out are memories that were ``shown`` before, what tools and imports say (nothing
    untrusted comes unasked), what a newer hit replaces, and what is over, as ``endings`` judges it. What likely changed one comes along.
    """
    where = replace(request.where, unasked=True)
    looked = replace(request, where=where, limit=_JUDGED, concise=True, weak=False, explain=False, cursor=None)
    found = reads.search(store, index, scope, looked, vector, now, weights, multilingual=multilingual)
    asked = asked_by(request.query)
    if found.unknown and not asked.own:
        found = replace(found, hits=())
    beside = _answers_in_other_words(partial(reads.search, store, index, scope), index, looked, asked, now, weights)
    known = {hit.memory.id for hit in found.hits}
    found = replace(found, hits=(*found.hits, *(hit for hit in beside if hit.memory.id not in known)))
    if not found.hits:
        return replace(found, hits=(), total=0, recalled=None)
    later = index.contradicted_by([hit.memory.id for hit in found.hits], now)
    # What comes along with a memory takes nothing from what that bears by itself.
    by_themselves = sorted(found.hits, key=lambda hit: hit.memory.id in later.values())
    bearings = _bearings(index, request, vector, by_themselves, now, asked)
    bearing = {hit.memory.id for hit in found.hits if bears_on(bearings[hit.memory.id])}
    bearing |= {hit.memory.id for hit in beside}
    if asked.own:
        bearing -= _of_others(found.hits, bearings, bearing)
    bearing |= {hit.newer for hit in found.hits if hit.newer is not None and hit.memory.id in bearing}
    bearing |= {one for old, one in later.items() if old in bearing}
    most = min(request.limit or QUIET_PAGE, QUIET_PAGE)
    judged = [hit.memory for hit in found.hits if hit.memory.id in bearing]
    gone = frozenset() if endings is None else over_now(endings, index, judged, now)
    chosen = [
        hit
        for hit in found.hits
        if hit.memory.id in bearing
        and hit.memory.id not in gone
        and hit.memory.id not in shown
        and not is_untrusted(hit.memory)
        and hit.memory.superseded_by is None
        and (hit.newer is None or hit.newer not in bearing)
    ][:most]
    kept = {hit.memory.id for hit in chosen}
    return replace(
        found,
        hits=tuple(chosen),
        total=len(chosen),
        below_floor=sum(hit.weak for hit in chosen),
        held_back=0,
        recalled=found.recalled if found.recalled in kept else None,
    )


def _answers_in_other_words(
    search: Callable[..., ReadResult],
    index: NamespaceIndex,
    request: ReadRequest,
    asked: Asked,
    now: datetime,
    weights: RankingWeights,
) -> list[Hit]:
    """Return memories that answer what is asked without a word of it: a name of the kind of thing asked for, a diet where food is."""
    found: dict[MemoryId, Hit] = {}
    subject = parse_question(request.query, now.astimezone(request.zone), index.hasher)
    for words, wanted in (
        (" ".join(asked.names), partial(_is_named, asked, frozenset(subject.terms))),
        (asked.standing_words, partial(_stands, asked, frozenset(subject.terms))),
    ):
        if not words:
            continue
        _, held = index.words_held(parse_question(words, now.astimezone(request.zone), index.hasher), now)
        if any(held.values()):
            hits = search(replace(request, query=words, weak=True, limit=_LOOKED_THROUGH), None, now, weights).hits
            found |= {hit.memory.id: hit for hit in hits if wanted(hit.memory) and not is_untrusted(hit.memory)}
    return list(found.values())[:_BESIDE]


def _is_named(asked: Asked, subject: frozenset[int], memory: Memory) -> bool:
    if not asked.names_in(memory.content):
        return False
    return asked.own or not subject.isdisjoint(memory.terms)


def _stands(asked: Asked, subject: frozenset[int], memory: Memory) -> bool:
    """Return True if a memory is a standing limit of the user himself, or of somebody whom the prompt names."""
    if asked.standing is None or not asked.standing.search(memory.content):
        return False
    return says_i(memory.content) or not subject.isdisjoint(memory.terms)


def _of_others(
    hits: Sequence[Hit], bearings: Mapping[MemoryId, Bearing], bearing: Collection[MemoryId]
) -> set[MemoryId]:
    """Return what is said of others where what is said of the writer answers a question of his own things as well."""
    told = {hit.memory.id: sum(word.telling for word in bearings[hit.memory.id].shared) for hit in hits}
    own = {hit.memory.id for hit in hits if hit.memory.id in bearing and tells_of_own(hit.memory.content)}
    most = max((told[one] for one in own), default=-1.0)
    return {one for one in bearing if one not in own and told.get(one, 0.0) <= most}


def _bearings(
    index: NamespaceIndex,
    request: ReadRequest,
    vector: NDArray[np.float32] | None,
    hits: Sequence[Hit],
    now: datetime,
    asked: Asked,
) -> Mapping[MemoryId, Bearing]:
    question = parse_question(request.query, now.astimezone(request.zone), index.hasher)
    names, held = index.words_held(question, now)
    # What is asked of one's own things is answered by what speaks of them; of others the ordinary rule holds.
    rules = {
        own: tellings_of(question, names, how)
        for own, how in ((True, asked), (False, NOTHING_ASKED if asked.own else asked))
    }
    own_first = next((hit.memory.id for hit in hits if asked.own and tells_of_own(hit.memory.content)), None)
    cosines = _cosines(index, vector, hits)
    own = speaks_of_own(request.query)
    found = {}
    for place, hit in enumerate(hits):
        tellings = rules[tells_of_own(hit.memory.content)]
        told = max(sum(tellings.values()), LEAST_TOLD)
        shared = shared_words(question, tellings, held, frozenset(hit.memory.terms))
        found[hit.memory.id] = Bearing(
            shared=shared,
            share=sum(word.telling for word in shared) / told,
            cosine=cosines.get(hit.memory.id, 0.0),
            first=place == 0 or hit.memory.id == own_first,
            weak=hit.weak,
            own=own,
        )
    return found


def _cosines(index: NamespaceIndex, vector: NDArray[np.float32] | None, hits: Sequence[Hit]) -> dict[MemoryId, float]:
    if vector is None:
        return {}
    found = index.vectors_of([hit.memory.id for hit in hits])
    return {one: float(its @ vector) for one, its in found.items() if len(its) == len(vector)}
