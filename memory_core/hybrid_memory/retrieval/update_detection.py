"""Which of two memories about the same thing is the later word on it, and how that reorders a ranking.

Nothing says so but the memories themselves. **Subject first**: the question is about now and asks for one thing
(``current_state.py``); both memories are among the best hits, hold every name of the question as it is written, and the later
one is trusted no less. Those are `Rivals`, found by the index (``pipeline.py``). Then a logistic regression says how likely the
later one changes what the earlier one told: by the attribute that the question asks for, by what their texts say
(``update_words.py``), by words and tags. Its coefficients are fitted by ``tools/fit_updates.py``, one set left out at a time. What
is likely is put above the earlier one; that it *is* newer is claimed from higher odds on.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hybrid_memory.clock import to_micros
from hybrid_memory.retrieval.arrays import Floats, Mask
from hybrid_memory.retrieval.bm25 import count_terms, idfs, per_term_scores
from hybrid_memory.retrieval.current_state import asks_for_current_state
from hybrid_memory.retrieval.ranking_signals import SURE_NAME
from hybrid_memory.retrieval.update_limits import not_in_force, not_so, only_announced, other_thing, told_of_another
from hybrid_memory.retrieval.update_words import Statement, same_subject, written_subjects
from hybrid_memory.retrieval.vectors import top_k
from hybrid_memory.trust import may_outdate

if TYPE_CHECKING:
    from hybrid_memory.model import Memory, MemoryId
    from hybrid_memory.retrieval.bm25 import Coverage, LexicalIndex
    from hybrid_memory.retrieval.candidates import Candidates
    from hybrid_memory.retrieval.memory_columns import MemoryColumns
    from hybrid_memory.retrieval.query import Ranking, SearchQuery
    from hybrid_memory.retrieval.term_weights import WeighedQuestion
    from hybrid_memory.retrieval.vectors import Matrix
    from hybrid_memory.terms import TermHasher

COMPARED_HITS = 12  # how many of the best hits are compared with each other; a page has about ten
# Of the weight of the question's words that are no names:
LEAST_ATTRIBUTE = 0.1  # both must hold so much, if nothing tells of a change and they share no tag,
SHARED_ATTRIBUTE = 0.2  # so much where a word of change counts more,
CLAIMED_ATTRIBUTE = 0.35  # and so much where a claim is made,
MOST_UNLIKE = 0.2  # while one alone holds no more than this.
LONGEST_CLAIMED = 1.0  # `PairFeatures.length` of memories of some forty words; a longer one tells more than one thing
MOST_OTHER_NAMES = 2  # a memory that names more beside the subject is about them all
_DAY = 86_400_000_000  # microseconds
_RAISE = 1e-6  # how far a newer hit is put above the older one, at least
_ROUNDING = 1e-3  # of odds in single precision
_USUAL_LENGTH = 15.0  # terms of a note
_SHORTEST = 4.0  # terms from which the length of a note tells nothing any more


@dataclass(frozen=True, slots=True, kw_only=True)
class Rivals:
    """Hits of which one may be the later word on another: all about the subject of a question about now.

    ``may`` tells for each two whether the second is later and trusted no less; ``likeness`` what the index knows of them, by the
    names of `PairFeatures`. ``scores`` are theirs in the ranking, ``names`` the asked ones; ``days`` those that each speaks of and
    ``asked_day`` the one that the question is about, since 1970-01-01. ``hasher`` makes the store's terms.
    """

    hasher: TermHasher
    ids: tuple[MemoryId, ...]
    rows: NDArray[np.intp]
    names: frozenset[int]
    known_names: frozenset[int]
    scores: Floats
    times: NDArray[np.int64]
    days: tuple[tuple[int, ...], ...]
    asked_day: int
    may: Mask
    likeness: Mapping[str, Floats]

    def written_day(self, place: int) -> int:
        """Return the day of a rival's time, since 1970-01-01."""
        return int(self.times[place] // _DAY)


@dataclass(frozen=True, slots=True, kw_only=True)
class PairFeatures:
    """What speaks for a later memory being the newer word on what an earlier one told; and what only `claimable` looks at.

    All from 0 to 1 but ``length``; by words of the index: ``later``: the later one's score as a share of the best; ``covered``: how
    much of the question both hold; ``attribute``: of its words that are no names; ``unlike``: of those, how much only one holds;
    ``heaviest``: whether both hold its weightiest word; ``beyond``: the share of the lighter one's other words that both hold; ``cosine``
    of their vectors; ``tags``: whether they share one; ``length``: logarithm of their mean length over that of a note;
    ``nameless``: whether the question names nothing.

    By their texts: ``change``: the later one has a word of change; ``changed_attribute``: and both hold the attribute; ``denied``: it
    denies what the earlier one says; ``past``: it tells of something that happened, without change; ``numbers_both``,
    ``names_both``: both hold numbers, or names, that the question does not, and other ones; ``crowd``: the later names many others;
    ``aside``: the earlier one does, or tells of something that happened; ``same_name``: it writes the name as the question does;
    ``another``: one names its subject by a word that the other lacks (`told_of_another`); ``announced``: the later one
    tells only of what will be.
    """

    later: float
    covered: float
    attribute: float
    unlike: float
    heaviest: float
    beyond: float
    cosine: float
    tags: float
    length: float
    nameless: float
    change: float
    changed_attribute: float
    denied: float
    past: float
    numbers_both: float
    names_both: float
    crowd: float
    aside: float
    same_name: float
    another: float
    announced: float


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateParameters:
    """The coefficients of `FITTED_FEATURES` in the log odds of an update, and three thresholds.

    From ``put_first`` on the later memory stands above the earlier, from ``value_put_first`` on where it `tells_a_value`; from
    ``claimed`` on it is said to be newer, if `claimable`. ``tools/fit_updates.py`` makes the coefficients and prints the figures of
    the sets left out; the thresholds are chosen by hand from them: no set may lose hit@1, no false claim is taken for one that is
    missed.
    """

    later: float = 0.89
    covered: float = 1.38
    beyond: float = 3.0
    cosine: float = 2.81
    tags: float = 2.61
    length: float = -1.41
    nameless: float = -0.39
    change: float = 0.76
    changed_attribute: float = 0.78
    denied: float = 0.76
    numbers_both: float = 1.51
    crowd: float = -0.95
    unlike: float = -1.99
    constant: float = -6.41
    put_first: float = -0.5
    value_put_first: float = -1.0
    claimed: float = 0.0


FITTED_UPDATES = UpdateParameters()
FITTED_FEATURES = tuple(
    field.name
    for field in fields(UpdateParameters)
    if field.name not in ("constant", "put_first", "value_put_first", "claimed")
)
"""What the odds depend on, in the order of the coefficients."""


def log_odds(features: PairFeatures, parameters: UpdateParameters = FITTED_UPDATES) -> float:
    """Return the logarithm of the odds that the later memory changes what the earlier one told."""
    weighed = [getattr(parameters, name) * getattr(features, name) for name in FITTED_FEATURES]
    return parameters.constant + math.fsum(weighed)


def boosted(scores: Sequence[float], times: Sequence[int], newer: Sequence[tuple[int, int]]) -> NDArray[np.float32]:
    """Return the scores with every later place raised just above the earlier ones that it replaces.

    ``newer`` holds pairs (earlier place, later place). Chains are followed in the order of ``times``.
    """
    raised = [float(score) for score in scores]
    for later in sorted(range(len(raised)), key=lambda place: times[place]):
        for earlier, follower in newer:
            if follower == later and raised[earlier] >= raised[later]:
                raised[later] = raised[earlier] + max(_RAISE, math.ulp(raised[earlier]) * 2**30)
    return np.array(raised, np.float32)


def find_rivals(
    query: SearchQuery,
    candidates: Candidates,
    weighed: WeighedQuestion,
    coverage: Coverage,
    columns: MemoryColumns,
    lexical: LexicalIndex,
    matrix: Matrix,
) -> Rivals | None:
    """Return the hits that `settle_updates` compares; None where nothing may be the later word on anything."""
    now = query.where.as_of or query.asked_at or query.now
    names = frozenset(name.term for name in weighed.names if name.strength >= SURE_NAME) | written_subjects(
        query.question.text, lexical.hasher
    )
    if (
        len(candidates) < 2  # noqa: PLR2004 - one hit has no others
        or not coverage.query_terms.terms
        or any(name.strength >= SURE_NAME for name in weighed.unknown_names)
        or not asks_for_current_state(query.question, now)
    ):
        return None
    scores = candidates.total()
    best = top_k(scores, COMPARED_HITS)
    rows = candidates.rows[best]
    held = lexical.terms_of_rows(rows)
    fit = ~columns.turns(rows) & np.array([names.issubset(one.tolist()) for one in held])
    if np.count_nonzero(fit) < 2:  # noqa: PLR2004 - as above
        return None
    best, rows, held = best[fit], rows[fit], [one for one, fits in zip(held, fit.tolist(), strict=True) if fits]
    times, trust = columns.happened_at(rows, query.now), columns.trust.values[rows]
    speaker = columns.speaker.values[rows]
    may = (
        (times[None, :] > times[:, None]) & (trust[None, :] >= trust[:, None]) & (speaker[None, :] == speaker[:, None])
    )
    if not may.any():
        return None
    vectors = matrix.gather(rows)
    by_words = _likeness_by_words(names, held, coverage, lexical)
    heaviest = _hold_heaviest(held, coverage)
    if not names and not heaviest.any():
        return None
    likeness = {
        **by_words,
        "heaviest": (heaviest[:, None] & heaviest[None, :]).astype(np.float32),
        "cosine": vectors @ vectors.T,
        "tags": _share_a_tag([columns.tags.of(row) for row in rows.tolist()]),
    }
    name = columns.ids.name
    return Rivals(
        hasher=lexical.hasher,
        ids=tuple(name(row) for row in rows.tolist()),
        rows=rows,
        names=names,
        known_names=_known_names(held, lexical),
        scores=scores[best],
        times=times,
        days=_days_of(columns, rows),
        asked_day=to_micros(now) // _DAY,
        may=may,
        likeness=likeness,
    )


def settle_updates(
    ranking: Ranking,
    question: str,
    memories: Mapping[MemoryId, Memory],
    parameters: UpdateParameters = FITTED_UPDATES,
) -> Ranking:
    """Return the ranking with the newer word on a thing above the older; ``memories`` are those of its ``rivals`` that exist."""
    rivals = ranking.rivals
    if rivals is None:
        return ranking
    pairs: list[tuple[int, int]] = []
    claimed: list[tuple[int, int]] = []
    likely = replace(rivals, may=rivals.may & _may_be_likely(rivals, parameters))
    if not likely.may.any():
        return replace(ranking, rivals=None)
    for pair, features in pair_features(likely, question, memories):
        odds = log_odds(features, parameters)
        if odds > (parameters.value_put_first if tells_a_value(features) else parameters.put_first):
            pairs.append(pair)
        if odds > parameters.claimed and claimable(features):
            claimed.append(pair)
    claimed.sort(key=lambda pair: rivals.times[pair[1]])
    return replace(
        _with_lifted(ranking, rivals, pairs),
        newer=_last_of_chains({rivals.ids[earlier]: rivals.ids[later] for earlier, later in claimed}),
        rivals=None,
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


def _may_be_likely(rivals: Rivals, parameters: UpdateParameters) -> Mask:
    """Return which pairs the texts can still make likely enough, so that those of the others need not be read."""
    like: dict[str, Floats] = {
        **rivals.likeness,
        "later": rivals.scores[None, :] / max(float(rivals.scores.max()), 1e-6),
        "nameless": np.full((1, 1), not rivals.names, np.float32),
    }
    known = np.zeros_like(rivals.likeness["covered"])
    for name in FITTED_FEATURES:
        if name in like:
            known = known + np.float32(getattr(parameters, name)) * like[name]
    by_texts = math.fsum(max(getattr(parameters, name), 0.0) for name in FITTED_FEATURES if name not in like)
    return np.asarray(known + np.float32(parameters.constant + by_texts) > parameters.put_first - _ROUNDING)


def pair_features(
    rivals: Rivals, question: str, memories: Mapping[MemoryId, Memory]
) -> Iterator[tuple[tuple[int, int], PairFeatures]]:
    """Yield the places of two rivals of which the second may be the later word on the first, with what speaks for it."""
    names, known, hasher = rivals.names, rivals.known_names, rivals.hasher
    asked = Statement(question, names, known, Statement(question, names).words, hasher)
    read = frozenset(np.flatnonzero(rivals.may.any(axis=0) | rivals.may.any(axis=1)).tolist())
    texts = [
        Statement(memories[one].content, names, known, asked.words, hasher) if at in read and one in memories else None
        for at, one in enumerate(rivals.ids)
    ]
    highest = max(float(rivals.scores.max()), 1e-6)
    for at, after in np.argwhere(rivals.may).tolist():
        earlier, later = texts[at], texts[after]
        if earlier is None or later is None or not same_subject(asked, earlier, later):
            continue
        if not may_outdate(memories[rivals.ids[after]]):
            continue
        if (
            not_in_force(
                later,
                rivals.days[after],
                written=rivals.written_day(after),
                earlier_day=rivals.written_day(at),
                asked_day=rivals.asked_day,
            )
            or other_thing(asked, earlier, later)
            or not_so(asked, later)
            or _said_again(earlier, texts, rivals.times, after)
        ):
            continue
        like = {name: float(values[at, after]) for name, values in rivals.likeness.items()}
        if earlier.words == later.words or (
            like["attribute"] < LEAST_ATTRIBUTE and not later.tells_change and not like["tags"]
        ):
            continue
        like["later"] = float(rivals.scores[after]) / highest
        like["announced"] = float(only_announced(later, rivals.days[after], rivals.asked_day))
        yield (at, after), _features(asked, earlier, later, like)


def _said_again(earlier: Statement, texts: Sequence[Statement | None], times: NDArray[np.int64], after: int) -> bool:
    """Return True if what the earlier of two memories says was said once more after the later one, whose place is ``after``."""
    return any(
        text is not None and time > times[after] and text.words == earlier.words
        for text, time in zip(texts, times, strict=True)
    )


def _features(asked: Statement, earlier: Statement, later: Statement, like: Mapping[str, float]) -> PairFeatures:
    of_question = asked.other_names | asked.subjects
    old_names = (earlier.other_names | earlier.subjects) - of_question
    new_names = (later.other_names | later.subjects) - of_question - old_names
    change = later.tells_change
    return PairFeatures(
        nameless=float(not asked.names),
        change=float(change),
        changed_attribute=float(change and like["attribute"] > SHARED_ATTRIBUTE),
        denied=float(later.denies(earlier)),
        past=float(later.tells_past and not change),
        numbers_both=float(bool(earlier.numbers - asked.numbers) and bool(later.numbers - asked.numbers)),
        names_both=float(bool(old_names) and bool(new_names)),
        crowd=float(later.lists_many or len(new_names) > MOST_OTHER_NAMES),
        aside=float(
            earlier.lists_many or len(old_names) > MOST_OTHER_NAMES or (earlier.tells_past and not earlier.tells_change)
        ),
        same_name=float(asked.subjects <= earlier.subjects),
        another=float(told_of_another(earlier, later)),
        **like,
    )


def tells_a_value(pair: PairFeatures) -> bool:
    """Return True if the later memory gives a value where the earlier one did: a number, a name, a denial or a word of change.

    Neither a list of many nor what merely happened: "the budget was on the agenda again".
    """
    told = pair.numbers_both or pair.names_both or pair.denied or pair.change
    return bool(told) and not (pair.crowd or pair.past)


def claimable(pair: PairFeatures) -> bool:
    """Return True if the later of two memories can be said to be newer at all, given good odds.

    Both must be short statements of a value, about the same words of the question and exactly the same name; if it names nothing, its
    weightiest word must be in both. And the later one must tell of a change: what has two values at once, as a language that one speaks,
    is told twice in the same words too.
    """
    return (
        pair.attribute >= CLAIMED_ATTRIBUTE
        and pair.unlike <= MOST_UNLIKE
        and pair.length <= LONGEST_CLAIMED
        and bool(pair.same_name)
        and not (pair.another or pair.announced)
        and not (pair.crowd or pair.aside or pair.past)
        and bool(pair.denied or pair.numbers_both or pair.names_both)
        and bool(pair.denied or pair.change)
        and not (pair.nameless and (not pair.heaviest or (pair.names_both and not pair.denied)))
    )


def _with_lifted(ranking: Ranking, rivals: Rivals, pairs: Sequence[tuple[int, int]]) -> Ranking:
    """Return the ranking with later memories just above the earlier ones of some pairs of places in ``rivals``."""
    if not pairs:
        return ranking
    lifted = boosted(rivals.scores.tolist(), rivals.times.tolist(), pairs) - rivals.scores
    ranked = ranking.ids.rows
    lift = np.zeros(len(ranking), np.float32)
    for place in np.flatnonzero(np.isin(ranked, rivals.rows)).tolist():
        lift[place] = lifted[rivals.rows == ranked[place]][0]
    if not lift.any():
        return ranking
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


def _likeness_by_words(
    names: frozenset[int], held: Sequence[NDArray[np.int32]], coverage: Coverage, lexical: LexicalIndex
) -> dict[str, Floats]:
    words, counts = coverage.query_terms, count_terms(held)
    by_words, shares = per_term_scores(words, counts), np.array(words.shares, np.float32)
    both = np.minimum(by_words[:, None, :], by_words[None, :, :])
    plain = shares * np.array([term not in names for term in words.terms], np.float32)
    sign = (by_words > 0).astype(np.float32)
    weights = idfs(len(lexical), lexical.frequencies(counts.terms))
    asked = frozenset(term for expansions in words.expansions for term in expansions)
    other = np.where([term in asked for term in counts.terms], np.float32(0), weights)
    has = (counts.counts > 0).astype(np.float32)
    whole = has @ other
    common = (has * other) @ has.T
    length = np.maximum((counts.lengths[:, None] + counts.lengths[None, :]) / 2, np.float32(_SHORTEST))
    return {
        "unlike": np.abs(sign[:, None, :] - sign[None, :, :]) @ plain / max(float(plain.sum()), 1e-6),
        "attribute": both @ plain / max(float(plain.sum()), 1e-6),
        "covered": both @ shares,
        "beyond": common / np.maximum(np.minimum(whole[:, None], whole[None, :]), np.float32(1e-6)),
        "length": np.log(length / np.float32(_USUAL_LENGTH)),
    }


def _days_of(columns: MemoryColumns, rows: NDArray[np.intp]) -> tuple[tuple[int, ...], ...]:
    """Return the days that each of some rows speaks of."""
    places, days = columns.days.of(rows)
    return tuple(tuple(days[places == place].tolist()) for place in range(len(rows)))


def _hold_heaviest(held: Sequence[NDArray[np.int32]], coverage: Coverage) -> Mask:
    """Return which rows hold the weightiest word of the question, or a near word of it."""
    words = coverage.query_terms
    stand_ins = words.expansions[int(np.argmax(words.shares))].keys()
    return np.array([not stand_ins.isdisjoint(one.tolist()) for one in held])


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
