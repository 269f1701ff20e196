"""Which of two hits about the same thing is the later word on it, and how that reorders a ranking.

Nothing says so but the memories themselves. **Subject first**: the question is about now and asks for one thing
(``current_state.py``); both memories are among the best hits and hold every name of the question, and the later one is trusted no
less. Then a logistic regression over what the index has of both (words, vectors, tags, and bits of what each text tells, made
at writing) says how likely the later one changes what the earlier one told. Its coefficients are fitted by ``tools/fit_updates.py``,
one set left out at a time. `find_newer` does that for all pairs at once, without a text.

Of the few likely pairs `settle` reads the texts: both must write the subject as the question does ("Lantern" is not "Lantern-web").
The later one is put above the earlier one; that it *is* newer is claimed from higher odds on, of short statements of a value.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple, dataclass, fields, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hybrid_memory.language.languages import ENGLISH
from hybrid_memory.language.text import hash_in
from hybrid_memory.retrieval.arrays import Floats, Mask
from hybrid_memory.retrieval.aspects import Aspect
from hybrid_memory.retrieval.bm25 import count_terms, idfs, per_term_scores
from hybrid_memory.retrieval.current_state import asks_for_current_state
from hybrid_memory.retrieval.told_words import Statement, same_subject, written_subjects
from hybrid_memory.retrieval.vectors import top_k
from hybrid_memory.trust import may_outdate

if TYPE_CHECKING:
    from hybrid_memory.language.terms import TermHasher
    from hybrid_memory.model import Memory, MemoryId
    from hybrid_memory.retrieval.bm25 import Coverage, LexicalIndex
    from hybrid_memory.retrieval.candidates import Candidates
    from hybrid_memory.retrieval.memory_columns import MemoryColumns
    from hybrid_memory.retrieval.query import Ranking, SearchQuery
    from hybrid_memory.retrieval.term_weights import WeighedQuestion
    from hybrid_memory.retrieval.vectors import Matrix

COMPARED_HITS = 8  # how many of the best hits are compared with each other; of twelve more the sets show nothing
SURE_NAME = 0.8  # the strength from which a word of the question is treated as a name
LEAST_ATTRIBUTE = 0.1  # of the question's words, both must hold so much where it names nothing and they share no tag
SHARED_ATTRIBUTE = (
    0.2  # of the question's words that are no names, both must hold so much for a word of change to count more,
)
CLAIMED_ATTRIBUTE = 0.35  # and so much where a claim is made,
MOST_UNLIKE = 0.2  # while one alone holds no more than this
LONGEST_CLAIMED = 1.0  # `Evidence.length` of memories of some forty words; a longer one tells more than one thing
MOST_OTHER_NAMES = 2  # a memory that names more alongside the subject is about them all
_RAISE = 1e-6  # how far a newer hit is put above the older one, at least
_USUAL_LENGTH = 15.0  # terms of a note
_SHORTEST = 4.0  # terms from which the length of a note tells nothing any more
_LARGEST_NUMBER = 2_100  # as a word of its own; larger ones are mostly written with marks
_STORES = 4  # of so many at most, the numbers are kept in their terms


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What speaks for each later hit (second axis) being the newer word on an earlier one (first axis), from 0 to 1 but for the length.

    ``later``: the later one's score as a share of the best; ``attribute``: how much of the question's words that are no names both
    hold; ``beyond``: the share of the lighter one's other words that both hold; ``cosine`` of their vectors; ``nearest``: that, less
    that of the hit which is most like the later one; ``tags``: whether they share one; ``length``: logarithm of their mean length over
    that of a note; ``numbers``: whether each holds a number that the other and the question lack; ``change``: the later one has a word of
    change; ``changed``: and both hold the attribute; ``lists``: it names many things in a row.
    """

    later: Floats
    attribute: Floats
    beyond: Floats
    cosine: Floats
    nearest: Floats
    tags: Floats
    length: Floats
    numbers: Floats
    change: Floats
    changed: Floats
    lists: Floats

    def stacked(self) -> Floats:
        """Return (kinds of evidence, hits, hits), in the order of the fields."""
        return np.stack([np.broadcast_to(one, self.cosine.shape) for one in astuple(self)])


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateParameters:
    """The coefficients of `Evidence` in the log odds of an update, and two thresholds.

    From ``put_first`` on the later memory is put above the earlier; from ``claimed`` on it is said to be newer, if `_claimable`.
    ``tools/fit_updates.py`` makes the coefficients and prints the figures of the sets left out; the thresholds are chosen from them.
    """

    later: float = 1.4
    attribute: float = 1.43
    beyond: float = 4.18
    cosine: float = 3.74
    nearest: float = 5.85
    tags: float = 2.41
    length: float = -0.9
    numbers: float = 0.89
    change: float = 0.84
    changed: float = 0.58
    lists: float = -1.59
    constant: float = -7.36
    put_first: float = -1.0
    claimed: float = -1.0

    @property
    def coefficients(self) -> Floats:
        """Those of the `EVIDENCE`."""
        return np.array([getattr(self, name) for name in EVIDENCE], np.float32)


EVIDENCE = tuple(field.name for field in fields(Evidence))
FITTED_UPDATES = UpdateParameters()


@dataclass(frozen=True, slots=True, kw_only=True)
class LikelyUpdate:
    """Two hits by their places in `Rivals`, of which the later is likely the newer word.

    ``claimable``: what the index has of both lets it be said, if the texts do; ``heaviest``: both hold the question's weightiest word.
    """

    earlier: int
    later: int
    claimable: bool
    heaviest: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Rivals:
    """The hits of the likely updates, with their scores in the ranking and the times of what they tell.

    ``names`` are those of the question, ``known_names`` the terms that the store mostly writes as names; ``hasher`` makes the terms.
    """

    ids: tuple[MemoryId, ...]
    rows: NDArray[np.intp]
    scores: Floats
    times: NDArray[np.int64]
    updates: tuple[LikelyUpdate, ...]
    names: frozenset[int]
    known_names: frozenset[int]
    hasher: TermHasher


@dataclass(frozen=True, slots=True, eq=False)
class Compared:
    """Hits that are compared with each other; ``may`` tells for each two whether the second is later and trusted no less.

    ``best`` are the rows of all best hits, those about other subjects too.
    """

    rows: NDArray[np.intp]
    best: NDArray[np.intp]
    held: list[NDArray[np.int32]]
    scores: Floats
    times: NDArray[np.int64]
    may: Mask
    names: frozenset[int]
    of_time: frozenset[int]


def find_newer(
    query: SearchQuery,
    candidates: Candidates,
    weighed: WeighedQuestion,
    coverage: Coverage,
    columns: MemoryColumns,
    lexical: LexicalIndex,
    matrix: Matrix,
    parameters: UpdateParameters = FITTED_UPDATES,
) -> Rivals | None:
    """Return the likely updates among the best hits; None where there are none."""
    compared = comparable(query, candidates, weighed, coverage, columns, lexical)
    if compared is None:
        return None
    evidence = evidence_of(compared, coverage, columns, lexical, matrix)
    odds = np.tensordot(parameters.coefficients, evidence.stacked(), 1) + np.float32(parameters.constant)
    likely = compared.may & (odds > parameters.put_first)
    if not likely.any():
        return None
    if not compared.names:  # then both must hold something of what is asked for
        likely &= (evidence.attribute >= LEAST_ATTRIBUTE) | (evidence.tags > 0)
    unlike, heaviest = _differences(compared, coverage)
    claimable = likely & (odds > parameters.claimed) & (unlike <= MOST_UNLIKE)
    claimable &= (evidence.attribute >= CLAIMED_ATTRIBUTE) & (evidence.length <= LONGEST_CLAIMED)
    pairs = np.argwhere(claimable | (likely & _may_lift(compared, likely)))
    if not len(pairs):
        return None
    updates = tuple(
        LikelyUpdate(
            earlier=earlier,
            later=later,
            claimable=bool(claimable[earlier, later]),
            heaviest=bool(heaviest[earlier] and heaviest[later]),
        )
        for earlier, later in pairs.tolist()
    )
    return Rivals(
        ids=tuple(columns.ids.name(row) for row in compared.rows.tolist()),
        rows=compared.rows,
        scores=compared.scores,
        times=compared.times,
        updates=updates,
        names=compared.names,
        known_names=_known_names(compared.held, lexical),
        hasher=lexical.hasher,
    )


def comparable(
    query: SearchQuery,
    candidates: Candidates,
    weighed: WeighedQuestion,
    coverage: Coverage,
    columns: MemoryColumns,
    lexical: LexicalIndex,
) -> Compared | None:
    """Return the best hits that are about the subject of a question about now; None where none may be newer than another."""
    now = query.where.as_of or query.asked_at or query.now
    if (
        len(candidates) < 2  # noqa: PLR2004 - one hit has no others
        or not coverage.query_terms.terms
        or any(name.strength >= SURE_NAME for name in weighed.unknown_names)
        or not asks_for_current_state(query.question, now)
    ):
        return None
    names = frozenset(name.term for name in weighed.names if name.strength >= SURE_NAME)
    names |= written_subjects(query.question.text, lexical.hasher)
    scores = candidates.total()
    best = top_k(scores, COMPARED_HITS)
    rows = candidates.rows[best]
    held = lexical.terms_of_rows(rows)
    fit = ~columns.turns(rows) & np.array([names.issubset(one.tolist()) for one in held])
    best, rows = best[fit], rows[fit]
    times, trust = columns.happened_at(rows, query.now), columns.trust.values[rows]
    speaker = columns.speaker.values[rows]
    may = (
        (times[None, :] > times[:, None]) & (trust[None, :] >= trust[:, None]) & (speaker[None, :] == speaker[:, None])
    )
    if not may.any():
        return None
    held = [one for one, fits in zip(held, fit.tolist(), strict=True) if fits]
    of_time = frozenset(word.term for word in query.question.words if word.in_time)
    return Compared(rows, candidates.rows[top_k(scores, COMPARED_HITS)], held, scores[best], times, may, names, of_time)


def evidence_of(
    compared: Compared, coverage: Coverage, columns: MemoryColumns, lexical: LexicalIndex, matrix: Matrix
) -> Evidence:
    """Return what the index has for and against each two of some hits."""
    words, counts = coverage.query_terms, count_terms(compared.held)
    rows, asked = compared.rows, frozenset(words.terms)
    by_words, plain = per_term_scores(words, counts), _plain_shares(compared, coverage)
    attribute = np.minimum(by_words[:, None, :], by_words[None, :, :]) @ plain / max(float(plain.sum()), 1e-6)
    # What they hold alongside the question, by its rarity.
    weights = idfs(len(lexical), lexical.frequencies(counts.terms))
    other = np.where([term in asked for term in counts.terms], np.float32(0), weights)
    has = (counts.counts > 0).astype(np.float32)
    whole = has @ other
    lighter = np.maximum(np.minimum(whole[:, None], whole[None, :]), np.float32(1e-6))
    length = np.maximum((counts.lengths[:, None] + counts.lengths[None, :]) / 2, np.float32(_SHORTEST))
    vectors = matrix.gather(rows)
    cosine = vectors @ vectors.T
    told = columns.aspects.values[rows]
    change = (told & Aspect.CHANGE != 0).astype(np.float32)[None, :]
    return Evidence(
        later=(compared.scores / max(float(compared.scores.max()), 1e-6))[None, :],
        attribute=attribute,
        beyond=np.asarray((has * other) @ has.T / lighter, np.float32),
        cosine=cosine,
        nearest=_nearer_than_others(compared, vectors, matrix),
        tags=_share_a_tag([columns.tags.of(row) for row in rows.tolist()]),
        length=np.log(length / np.float32(_USUAL_LENGTH)),
        numbers=_other_numbers(has * ~np.isin(counts.terms, list(asked)), counts.terms, lexical.hasher),
        change=change,
        changed=change * (attribute > SHARED_ATTRIBUTE),
        lists=(told & Aspect.LISTS != 0).astype(np.float32)[None, :],
    )


def settle(ranking: Ranking, question: str, memories: Mapping[MemoryId, Memory]) -> Ranking:
    """Return the ranking with the newer word on a thing above the older; ``memories`` are those of its ``rivals`` that exist."""
    rivals = ranking.rivals
    if rivals is None:
        return ranking
    names, known, hasher = rivals.names, rivals.known_names, rivals.hasher
    asked = Statement(question, names, known, Statement(question, names).words, hasher)
    texts = {
        place: Statement(memories[rivals.ids[place]].content, names, known, asked.words, hasher)
        for place in {place for one in rivals.updates for place in (one.earlier, one.later)}
        if rivals.ids[place] in memories
    }

    @functools.cache
    def is_update(earlier: int, later: int) -> bool:
        old, new = texts.get(earlier), texts.get(later)
        if old is None or new is None or old.words == new.words:
            return False
        return may_outdate(memories[rivals.ids[later]]) and same_subject(asked, old, new)

    claimed = [
        (one.earlier, one.later)
        for one in rivals.updates
        if one.claimable
        and (later := texts.get(one.later)) is not None
        and later.may_be_newer
        and is_update(one.earlier, one.later)
        and _claimable(one, asked, texts[one.earlier], later)
    ]
    claimed.sort(key=lambda pair: rivals.times[pair[1]])
    newer = _last_of_chains({rivals.ids[earlier]: rivals.ids[later] for earlier, later in claimed})
    return replace(_with_lifted(ranking, rivals, is_update), newer=newer, rivals=None)


def boosted(
    scores: Sequence[float],
    times: Sequence[int],
    newer: Sequence[tuple[int, int]],
    is_update: Callable[[int, int], bool] = lambda _earlier, _later: True,
) -> NDArray[np.float32]:
    """Return the scores with every later place raised just above the earlier ones that it replaces.

    ``newer`` holds pairs (earlier place, later place), of which those count that ``is_update`` confirms; it is asked only where that
    would raise a score. Chains are followed in the order of ``times``.
    """
    raised = np.array(scores, np.float32)
    earlier_of: dict[int, list[int]] = {}
    for earlier, later in newer:
        earlier_of.setdefault(later, []).append(earlier)
    for later in sorted(earlier_of, key=lambda place: times[place]):
        for earlier in earlier_of[later]:
            if raised[earlier] >= raised[later] and is_update(earlier, later):
                raised[later] = max(
                    raised[earlier] + np.float32(_RAISE), np.nextafter(raised[earlier], np.float32(np.inf))
                )
    return raised


def _may_lift(compared: Compared, likely: Mask) -> Mask:
    """Return for which likely updates the later place may have to be raised: the earlier one is above it, or may get there."""
    highest = compared.scores.copy()
    for later in np.argsort(compared.times).tolist():
        highest[later] = max(highest[later], highest[likely[:, later]].max(initial=-np.inf))
    return highest[:, None] + np.float32(len(highest) * _RAISE) >= compared.scores[None, :]


def _claimable(one: LikelyUpdate, asked: Statement, earlier: Statement, later: Statement) -> bool:
    """Return True if the later of two memories can be said to be newer at all, given good odds.

    Both must be short statements of a value, about the same words of the question and exactly the same name; if it names nothing, its
    weightiest word must be in both. And the later one must tell of a change: what has two values at once, as a language that one speaks,
    is told twice in the same words too.
    """
    of_question = asked.other_names | asked.subjects
    old_names = (earlier.other_names | earlier.subjects) - of_question
    new_names = (later.other_names | later.subjects) - of_question - old_names
    denied, names = later.denies(earlier), bool(old_names) and bool(new_names)
    numbers = bool(earlier.numbers - asked.numbers) and bool(later.numbers - asked.numbers)
    crowd = earlier.lists_many or max(len(old_names), len(new_names)) > MOST_OTHER_NAMES
    return (
        asked.subjects <= earlier.subjects
        and not crowd
        and not (earlier.tells_past and not earlier.tells_change)
        and (denied or numbers or names)
        and (denied or later.tells_change)
        and (bool(asked.names) or (one.heaviest and (denied or not names)))
    )


def _last_of_chains(newer: Mapping[MemoryId, MemoryId]) -> dict[MemoryId, MemoryId]:
    """Return for each outdated memory the one at the end of its chain, which is not outdated itself."""
    last: dict[MemoryId, MemoryId] = {}
    for outdated, after in newer.items():
        end = after
        while end in newer:  # ends, for each is later than the one before
            end = newer[end]
        last[outdated] = end
    return last


def _with_lifted(ranking: Ranking, rivals: Rivals, is_update: Callable[[int, int], bool]) -> Ranking:
    """Return the ranking with later memories just above the earlier ones of the updates that ``is_update`` confirms."""
    pairs = [(one.earlier, one.later) for one in rivals.updates]
    lifted = boosted(rivals.scores.tolist(), rivals.times.tolist(), pairs, is_update) - rivals.scores
    if not lifted.any():
        return ranking
    ranked = ranking.ids.rows
    lift = np.zeros(len(ranking), np.float32)
    for place in np.flatnonzero(np.isin(ranked, rivals.rows)).tolist():
        lift[place] = lifted[rivals.rows == ranked[place]][0]
    scores = ranking.scores + lift
    order = np.argsort(-scores, kind="stable")
    part = np.zeros(len(next(iter(ranking.parts.values()))), np.float32)
    part[ranking.positions] = lift
    return replace(
        ranking,
        ids=ranking.ids[order],
        scores=scores[order],
        weak=ranking.weak[order],
        has_vector=ranking.has_vector[order],
        positions=ranking.positions[order],
        parts={**ranking.parts, "newer": part},
    )


def _plain_shares(compared: Compared, coverage: Coverage) -> Floats:
    """Return the shares of a question's words, 0 for its names and for words of time."""
    words = coverage.query_terms
    return np.array(
        [
            0 if term in compared.names or term in compared.of_time else share
            for term, share in zip(words.terms, words.shares, strict=True)
        ],
        np.float32,
    )


def _differences(compared: Compared, coverage: Coverage) -> tuple[Floats, Mask]:
    """Return how much of a question only one of each two hits holds, and which hold its weightiest word."""
    words = coverage.query_terms
    plain = _plain_shares(compared, coverage)
    holds = (per_term_scores(words, count_terms(compared.held)) > 0).astype(np.float32)
    unlike = np.asarray(
        np.abs(holds[:, None, :] - holds[None, :, :]) @ plain / max(float(plain.sum()), 1e-6), np.float32
    )
    weightiest = words.terms[int(np.argmax(words.shares))]
    return unlike, np.array([weightiest in one.tolist() for one in compared.held])


def _nearer_than_others(compared: Compared, vectors: Floats, matrix: Matrix) -> Floats:
    """Return for each two hits how much more alike they are than the later one and any other of the best; 0 without others."""
    count, pairs = len(compared.rows), vectors @ vectors.T
    if len(compared.best) < 3:  # noqa: PLR2004 - two have no others
        return np.zeros_like(pairs)
    # Of each one's likeness to the best hits, itself left out, the greatest; where that is the earlier one's, the second.
    near = vectors @ matrix.gather(compared.best).T
    place_of = {row: place for place, row in enumerate(compared.best.tolist())}
    places = np.array([place_of[row] for row in compared.rows.tolist()])
    near[np.arange(count), places] = -1
    order = np.argsort(near, axis=1)
    first, second = (np.take_along_axis(near, order[:, -at, None], 1)[:, 0] for at in (1, 2))
    rest = np.where(order[:, -1] == places[:, None], second, first)
    found: Floats = pairs - rest
    return found


def _other_numbers(has: Floats, terms: Sequence[int], hasher: TermHasher) -> Floats:
    """Return for each two hits 1 if each of them holds a number that the other does not; ``has`` is (hits, terms)."""
    known, wanted = number_terms(hasher), np.asarray(terms, np.int32)
    numbers = has[:, known[np.minimum(np.searchsorted(known, wanted), len(known) - 1)] == wanted] > 0
    alone = (numbers[:, None, :] & ~numbers[None, :, :]).any(axis=2)
    return np.asarray(alone & alone.T, np.float32)


@functools.lru_cache(maxsize=_STORES)
def number_terms(hasher: TermHasher) -> NDArray[np.int32]:
    """Return the terms of the numbers up to some two thousand, rising."""
    hashes = [hash_in(ENGLISH, str(number)) for number in range(_LARGEST_NUMBER + 1)]
    return np.unique(hasher.fold_all(np.array(hashes, np.uint64)))


def _known_names(held: Sequence[NDArray[np.int32]], lexical: LexicalIndex) -> frozenset[int]:
    """Return which terms of some rows the memories mostly write as names."""
    found = np.unique(np.concatenate(held))
    decided, named = lexical.name_frequencies(found.tolist())
    return frozenset(found[named * 2 > decided].tolist())


def _share_a_tag(tags: Sequence[Sequence[str]]) -> Floats:
    """Return for each two of some rows 1 if they have a tag in common."""
    shared = np.zeros((len(tags), len(tags)), np.float32)
    tagged = [(at, frozenset(names)) for at, names in enumerate(tags) if names]
    for at, names in tagged:
        for other, others in tagged:
            shared[at, other] = not names.isdisjoint(others)
    return shared
