"""Reflection: which memories are worth a thought together, and what storing the thought changes. Pure.

After the reflection of Generative Agents (Park et al. 2023, section 4.2), without a model of our own: the memory offers
groups with their ids (`plan_groups`), the caller thinks, and its insights are stored with their evidence
(`decide_insights`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

import numpy as np

from hybrid_memory.errors import InvalidInput, NotFound
from hybrid_memory.model import Kind, Memory, MemoryId, Origin, Scope, Tier
from hybrid_memory.requests import Insight
from hybrid_memory.store.writing import Insert, Update, WriteBatch
from hybrid_memory.trust import trust_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hybrid_memory.model import EncodedText
    from hybrid_memory.store.writing import WriteView

NEAR = 0.35  # cosine from which two memories are about the same thing (built-in embedder; unrelated pairs lie near 0.1)
SAME = 0.65  # cosine from which two sayings say the same
# Set by hand: how far the floor lies above the mean of all pairs, and from where a pair is near whatever the mean.
_ABOVE_MEAN = 0.15
_NEAR_ENOUGH = 0.6
# Chosen on the dev files of tests/data/half_years and lives, looked at on their check files:
_PLAINLY_NEAR = 0.55  # cosine from which two memories have a subject in common, whatever their words
_OF_PAIRS = 0.9  # of the floor, which every two members of a group reach
_SUBJECT_SHARE = 0.08  # of all memories that may hold the word of a subject
_LONGEST = 40  # words of a statement; a longer text has several subjects
LARGEST_GROUP = 8  # memories in a group; set by hand
UNTRUSTED_EVERY = 3  # groups of untrusted memories alongside others
SEEDS = 256  # the most important memories, around which groups are sought: each costs a look at all others
_TIME_SCALE_MICROS = 14 * 86_400_000_000  # two weeks, in which the part of likeness that time weakens is halved


@dataclass(frozen=True, slots=True, kw_only=True)
class ReflectionCandidates:
    """Live, not yet reflected memories, aligned by row: int64 microseconds, importance 0..1, unit vectors (rows, d).

    ``terms`` are the hashes of the words of each, ``sessions`` the numbers of the conversations; ``untrusted`` marks the rows that are
    trusted less than who asks.
    """

    ids: Sequence[MemoryId]
    created_at: NDArray[np.int64]
    importance: NDArray[np.float64]
    vectors: NDArray[np.float32]
    terms: Sequence[frozenset[int]]
    sessions: NDArray[np.int64]
    untrusted: NDArray[np.bool_]

    def at(self, rows: NDArray[np.intp]) -> ReflectionCandidates:
        """Return the candidates of some rows."""
        return ReflectionCandidates(
            ids=[self.ids[row] for row in rows.tolist()],
            created_at=self.created_at[rows],
            importance=self.importance[rows],
            vectors=self.vectors[rows],
            terms=[self.terms[row] for row in rows.tolist()],
            sessions=self.sessions[rows],
            untrusted=self.untrusted[rows],
        )


@dataclass(frozen=True, slots=True)
class Group:
    """Rows of the candidates that belong together, oldest first, and what a thought about them is worth."""

    rows: tuple[int, ...]
    worth: float


def plan_groups(candidates: ReflectionCandidates, *, limit: int) -> tuple[Group, ...]:
    """Return up to ``limit`` disjoint groups of 2 to 8 memories of one subject each, the most worthwhile first.

    Members hold a word in common that few memories hold, or their meanings are plainly near; every two of them are near by their
    cosine. Likeness is the cosine weakened as memories lie further apart in time: to three quarters after two weeks, never under one
    half. A group is worth the sum of its importances times its mean likeness; ties go to the older seed. Long texts are left out.

    A group is of trusted memories or of untrusted ones: one note of a tool would make every insight on the group untrusted. Where there
    are trusted groups, one in `UNTRUSTED_EVERY` at most is untrusted, and it comes last.
    """
    short = np.array([len(one) <= _LONGEST for one in candidates.terms], np.bool_)
    trusted, untrusted = (
        _groups_among(candidates, np.flatnonzero(short & (candidates.untrusted == kind)), limit)
        for kind in (False, True)
    )
    if not trusted or not untrusted:
        return trusted or untrusted
    strangers = untrusted[: max(limit // UNTRUSTED_EVERY, 1) if limit > 1 else 0]
    # Of those that are worth most, as many as there is room for.
    chosen = sorted((*trusted, *strangers), key=lambda one: -one.worth)[:limit]
    return (*(one for one in chosen if one in trusted), *(one for one in chosen if one not in trusted))


def _groups_among(candidates: ReflectionCandidates, rows: NDArray[np.intp], limit: int) -> tuple[Group, ...]:
    """Return the most worthwhile groups of some of the rows."""
    if len(rows) < 2:  # noqa: PLR2004 - a group has at least two
        return ()
    some = candidates.at(rows)
    order = np.lexsort((some.created_at, -some.importance))[:SEEDS]
    floor, holders = _similarity_floor(some.vectors), _subjects(some.terms)
    groups = [group for seed in order for group in _groups_around(some, int(seed), floor, holders)]
    return tuple(Group(tuple(rows[list(group.rows)].tolist()), group.worth) for group in _disjoint(groups, limit))


def _disjoint(groups: Iterable[Group], limit: int) -> list[Group]:
    """Return the groups that are worth most and have no row in common."""
    best: list[Group] = []
    taken: set[int] = set()
    for group in sorted(groups, key=lambda one: -one.worth):
        if len(best) == limit:
            break
        if taken.isdisjoint(group.rows):
            best.append(group)
            taken.update(group.rows)
    return best


def _similarity_floor(vectors: NDArray[np.float32]) -> float:
    """Return the likeness from which a pair is about the same thing here.

    It lies above the mean of all pairs, because memories of one speaker are all somewhat alike; 0.6 is enough anywhere.
    """
    count = len(vectors)
    total = vectors.sum(axis=0, dtype=np.float64)
    mean = (float(total @ total) - count) / (count * (count - 1))
    return max(NEAR, min(mean + _ABOVE_MEAN, _NEAR_ENOUGH))


def _subjects(terms: Sequence[frozenset[int]]) -> dict[int, list[int]]:
    """Return the words that may name a subject, each with the rows that hold it: several, but few of all."""
    found: dict[int, list[int]] = {}
    for row, held in enumerate(terms):
        for term in held:
            found.setdefault(term, []).append(row)
    most = max(LARGEST_GROUP, _SUBJECT_SHARE * len(terms))
    return {term: rows for term, rows in found.items() if 1 < len(rows) <= most}


def _groups_around(
    candidates: ReflectionCandidates, seed: int, floor: float, holders: Mapping[int, Sequence[int]]
) -> Iterator[Group]:
    """Yield the seed with its nearest: once for each subject that its words name, and once by meaning alone."""
    cosines = candidates.vectors @ candidates.vectors[seed]
    cosines[seed] = -np.inf
    apart = np.abs(candidates.created_at - candidates.created_at[seed]) / _TIME_SCALE_MICROS
    likeness = cosines * (0.5 + 0.5 * np.exp2(-apart))
    plainly = np.flatnonzero(cosines >= max(floor, _PLAINLY_NEAR))
    for some in (plainly, *(np.array(holders.get(term, ()), np.intp) for term in sorted(candidates.terms[seed]))):
        near = some[cosines[some] >= floor]
        rows = [seed]
        for row in near[np.argsort(-likeness[near], kind="stable")].tolist():
            if len(rows) < LARGEST_GROUP and np.all(
                candidates.vectors[rows] @ candidates.vectors[row] >= _OF_PAIRS * floor
            ):
                rows.append(row)
        if len(rows) > 1:
            worth = float(candidates.importance[rows].sum()) * float(likeness[rows[1:]].mean())
            yield Group(tuple(sorted(rows, key=lambda row: (int(candidates.created_at[row]), row))), worth)


def plan_repeats(candidates: ReflectionCandidates, *, limit: int) -> tuple[Group, ...]:
    """Return up to ``limit`` disjoint groups of sayings that say the same in several sessions, the most important first."""
    found: list[Group] = []
    for seed in np.argsort(-candidates.importance, kind="stable")[:SEEDS].tolist():
        cosines = candidates.vectors @ candidates.vectors[seed]
        near = np.flatnonzero(cosines >= SAME)
        near = near[np.argsort(-cosines[near], kind="stable")][:LARGEST_GROUP]
        if len(np.unique(candidates.sessions[near])) > 1:
            rows = sorted(near.tolist(), key=lambda row: (int(candidates.created_at[row]), row))
            found.append(Group(tuple(rows), float(candidates.importance[rows].sum())))
    return tuple(_disjoint(found, limit))


def plan_conflicts(later: Mapping[MemoryId, MemoryId], alike: Mapping[MemoryId, float]) -> list[tuple[MemoryId, ...]]:
    """Return what may contradict each other, the likeliest first: memories with their ``later`` ones, as far as one leads to the next.

    ``alike`` is the cosine of each pair, by the earlier memory: what changes a statement is mostly about the same.
    """
    groups: list[tuple[MemoryId, ...]] = []
    for one in sorted(later, key=lambda one: -alike.get(one, 0.0)):
        pair = (one, later[one])
        met = [group for group in groups if not set(group).isdisjoint(pair)]
        whole = tuple(dict.fromkeys((*(each for group in met for each in group), *pair)))
        groups = (
            [whole if group is met[0] else group for group in groups if group not in met[1:]]
            if met
            else [*groups, whole]
        )
    return groups


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedInsight:
    """A checked insight with all that had to be computed before the transaction; ``repeats`` and ``elsewhere`` as in `PreparedWrite`.

    ``at`` is its place among the insights of the call.
    """

    id: MemoryId
    insight: Insight
    encoded: EncodedText
    repeats: tuple[MemoryId, ...] = ()
    elsewhere: tuple[Memory, ...] = ()
    at: int = 0

    @property
    def evidence(self) -> tuple[MemoryId, ...]:
        """What the insight rests on, each memory once."""
        return tuple(dict.fromkeys(self.insight.evidence))


def decide_insights(insights: Sequence[PreparedInsight], scope: Scope, view: WriteView) -> WriteBatch:
    """Return what storing insights changes: they go to long-term, and their evidence has been reflected upon.

    An insight that is stored already keeps its id and is not stored twice.

    Raises:
        NotFound: names the evidence that does not exist here (or is forgotten).
        InvalidInput: evidence that is an insight itself.
    """
    wanted = {one for prepared in insights for one in (*prepared.insight.evidence, *prepared.repeats)}
    here = view.get(wanted)
    known = {one.id: one for prepared in insights for one in prepared.elsewhere} | here
    _check_evidence(insights, known)
    inserts: list[Insert] = []
    ids: list[MemoryId] = []
    # The same words on the same evidence are one insight, whether stored before or given twice in this call.
    id_of_insight: dict[tuple[str, tuple[MemoryId, ...]], MemoryId] = {}
    for prepared in insights:
        same = (prepared.encoded.content_hash, prepared.insight.evidence)
        stored = id_of_insight.get(same) or _stored_insight(prepared, known)
        id_of_insight[same] = stored or prepared.id
        ids.append(id_of_insight[same])
        if stored is None:
            inserts.append(
                Insert(
                    _new_insight(prepared, known, scope, view.now), prepared.encoded.vector, prepared.encoded.passages
                )
            )
    evidence = dict.fromkeys(one for prepared in insights for one in prepared.insight.evidence)
    return WriteBatch(
        action="reflect",
        actor=scope.actor,
        inserts=tuple(inserts),
        updates=tuple(Update(replace(known[one], reflected_at=view.now)) for one in evidence if one in here),
        result=tuple(ids),
    )


def decide_reflected(evidence: Sequence[MemoryId], scope: Scope, view: WriteView) -> WriteBatch:
    """Return what it changes that memories served as evidence of insights that lie in another namespace."""
    known = view.get(evidence)
    return WriteBatch(
        action="reflect",
        actor=scope.actor,
        updates=tuple(Update(replace(one, reflected_at=view.now)) for one in known.values()),
    )


def _check_evidence(insights: Sequence[PreparedInsight], known: Mapping[MemoryId, Memory]) -> None:
    for prepared in insights:
        at = prepared.at
        for position, one in enumerate(prepared.insight.evidence):
            if one not in known or known[one].forgotten_at is not None:
                raise NotFound(f"insights.{at}.evidence.{position}: no such memory; nothing was stored")
        if any(known[one].kind is Kind.INSIGHT for one in prepared.insight.evidence):
            raise InvalidInput(f"insights.{at}.evidence", "holds an insight; name the observations it rests on instead")


def _stored_insight(prepared: PreparedInsight, known: Mapping[MemoryId, Memory]) -> MemoryId | None:
    for one in prepared.repeats:
        memory = known.get(one)
        if memory is not None and memory.kind is Kind.INSIGHT and memory.parents == prepared.evidence:
            return one
    return None


def _new_insight(prepared: PreparedInsight, known: Mapping[MemoryId, Memory], scope: Scope, now: datetime) -> Memory:
    parents = [known[one] for one in prepared.insight.evidence]
    importance = prepared.insight.importance
    if importance is None:
        importance = max(parent.importance for parent in parents)
    return Memory(
        id=prepared.id,
        namespace=scope.namespace,
        session=scope.session,
        agent=scope.agent,
        content=prepared.insight.text,
        kind=Kind.INSIGHT,
        tier=Tier.LONG_TERM,
        importance=importance,
        created_at=now,
        content_hash=prepared.encoded.content_hash,
        terms=prepared.encoded.words.terms,
        names=prepared.encoded.words.names,
        days=prepared.encoded.words.days,
        aspects=prepared.encoded.words.aspects,
        encoding=prepared.encoded.words.encoding,
        source=prepared.insight.source,
        origin=Origin.DERIVED,
        # The words are the caller's own: true evidence does not make them the user's.
        trust=trust_of(Origin.DERIVED, (parent.trust for parent in parents)),
        parents=prepared.evidence,
    )
