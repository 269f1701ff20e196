"""Retrieval sets in search indexes of memory alone, without a store: the same ranking, asked thousands of times in a minute."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import measures, plain_bm25
from benchmarks.sets import Collection, Item, Question, collections_of
from hybrid_memory.embedding.embedder import Embedder
from hybrid_memory.embedding.passages import packed, passages_of
from hybrid_memory.embedding.registry import is_multilingual
from hybrid_memory.encoding.word_encoding import with_encoded_words
from hybrid_memory.language.text import content_hash, dense_text
from hybrid_memory.model import Kind, Memory, MemoryId, Tier
from hybrid_memory.retrieval.index import NamespaceIndex
from hybrid_memory.retrieval.newer import settle
from hybrid_memory.retrieval.query import Ranking, Scorer, SearchQuery
from hybrid_memory.retrieval.question import parse_question
from hybrid_memory.retrieval.ranking_parameters import FITTED, RankingParameters
from hybrid_memory.store.writing import ChangeType, LogEntry
from hybrid_memory.testing import HASHER

Triple = tuple[float, float, float]
"""hit@1, recall@10 and nDCG@10, from 0 to 1."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question as it is put to an index."""

    question: Question
    query: SearchQuery


@dataclass(frozen=True)
class IndexedCollection:
    """A collection whose memories are in an index."""

    collection: Collection
    index: NamespaceIndex
    asked: tuple[Asked, ...]
    memories: Mapping[MemoryId, Memory]

    def rank(self, one: Asked) -> Ranking:
        """Return the ranking of a question."""
        ranking = self.index.search(one.query)
        return settle(ranking, one.question.text, self.memories)

    def triple(self, one: Asked) -> Triple:
        """Return the measures of a question that has an answer."""
        ranking = self.rank(one)
        ranked: list[str] = []
        for id_ in ranking.ids[:10].tolist():
            ranked += [str(same) for same in (id_, *ranking.repeats.get(id_, ()))]
        return _triple(ranked, one.question)

    def plain_triple(self, one: Asked) -> Triple:
        """Return the measures of a textbook's BM25 for the same question."""
        known = [item for item in self.collection.items if item.at <= one.question.now]
        found = plain_bm25.ranked(one.question.text, [dense_text(item.text, item.speaker) for item in known])
        return _triple([known[at].id for at in found[:10]], one.question)


def indexed(collection: Collection, embedder: Embedder, scorer: Scorer = Scorer.FUSED) -> IndexedCollection:
    """Put a collection into an index; each question is asked as of its own time."""
    items = collection.items
    vectors = embedder.embed([dense_text(item.text, item.speaker) for item in items])
    memories = {
        MemoryId(item.id): Memory(
            id=MemoryId(item.id),
            namespace=collection.id,
            session=item.session,
            agent="a",
            content=item.text,
            kind=Kind.OBSERVATION,
            tier=Tier.SHORT_TERM,
            importance=0.5,
            created_at=item.at,
            occurred_at=item.at if item.spoken else None,
            content_hash=content_hash(item.text),
            speaker=item.speaker,
            tags=item.tags,
        )
        for item in items
    }
    memories = {id_: with_encoded_words(memory, HASHER) for id_, memory in memories.items()}
    index = NamespaceIndex(HASHER)
    log = [_entry(at, item.id, item.at) for at, item in enumerate(items, 1)]
    index.apply(
        log,
        memories,
        {MemoryId(item.id): vector for item, vector in zip(items, vectors, strict=True)},
        _passages(items, embedder),
    )
    questions = [question for question in collection.questions if any(item.at <= question.now for item in items)]
    asked = embedder.embed([question.text for question in questions])
    latest = max([*(item.at for item in items), *(question.now for question in questions)])
    return IndexedCollection(
        collection,
        index,
        tuple(
            _asked(question, vector, scorer, latest, is_multilingual(embedder.identity))
            for question, vector in zip(questions, asked, strict=True)
        ),
        memories,
    )


def _passages(items: Sequence[Item], embedder: Embedder) -> dict[MemoryId, bytes]:
    """Return the passages of the long texts among some items; turns of a conversation have none."""
    texts = {item.id: passages_of(item.text) for item in items if not item.spoken}
    vectors = iter(embedder.embed([one for passages in texts.values() for one in passages]))
    made = {id_: packed(np.array([next(vectors) for _ in passages])) for id_, passages in texts.items() if passages}
    return {MemoryId(id_): rows for id_, rows in made.items() if rows is not None}


@dataclass(frozen=True)
class IndexedSet:
    """All collections of one set."""

    name: str
    parts: tuple[IndexedCollection, ...]

    def sample(self, count: int) -> IndexedSet:
        """Return the set with at most so many of its answerable questions, evenly chosen."""
        answerable = [one for part in self.parts for one in part.asked if _counts(one.question)]
        kept = (
            {id(answerable[at * len(answerable) // count]) for at in range(count)} if count < len(answerable) else None
        )
        if kept is None:
            return self
        parts = (replace(part, asked=tuple(one for one in part.asked if id(one) in kept)) for part in self.parts)
        return replace(self, parts=tuple(parts))

    def triple(self, parameters: RankingParameters = FITTED) -> Triple:
        """Return the mean measures over the questions that have an answer."""
        rows = []
        for part in self.parts:
            part.index.parameters = parameters
            rows += [part.triple(one) for one in part.asked if _counts(one.question)]
        return _mean(rows)

    def plain_triple(self) -> Triple:
        """Return the mean measures of a textbook's BM25."""
        return _mean([part.plain_triple(one) for part in self.parts for one in part.asked if _counts(one.question)])


def load_sets(paths: Sequence[str | Path], embedder: Embedder, scorer: Scorer = Scorer.FUSED) -> tuple[IndexedSet, ...]:
    """Read sets of files (or the generated one, "alike") and put them into indexes."""
    return tuple(
        IndexedSet(name, tuple(indexed(one, embedder, scorer) for one in collections))
        for name, collections in map(_read, paths)
    )


def mean_of(triples: Mapping[str, Triple]) -> Triple:
    """Return the mean over sets: each has one vote."""
    return _mean(list(triples.values()))


def written(triple: Sequence[float]) -> str:
    """Return measures in percent."""
    return " / ".join(f"{100 * one:.1f}" for one in triple)


def _read(path: str | Path) -> tuple[str, Sequence[Collection]]:
    if str(path) == "alike":
        from benchmarks.alike import collections

        return "alike", collections()
    data: Any = json.loads(Path(path).read_text(encoding="utf-8"))
    return Path(path).stem.removesuffix("-dev"), collections_of(data)


def _mean(rows: Sequence[Triple]) -> Triple:
    first, second, third = (fmean(column) for column in zip(*rows, strict=True))
    return first, second, third


def _triple(ranked: Sequence[str], question: Question) -> Triple:
    gold = question.gold
    is_first = float(bool(ranked) and ranked[0] in gold)
    return is_first, measures.recall(ranked, gold, 10), measures.ndcg(ranked, gold)


def _counts(question: Question) -> bool:
    return bool(question.gold) and question.category != measures.ADVERSARIAL


def _entry(position: int, id_: str, at: Any) -> LogEntry:
    return LogEntry(
        position=position, change=ChangeType.INSERT, id=MemoryId(id_), rev=1, at=at, actor="", action="write", digest=""
    )


def _asked(
    question: Question, vector: NDArray[np.float32], scorer: Scorer, latest: datetime, multilingual: bool
) -> Asked:
    # Asked as of its own time by somebody who reads when all is written: of what a clock has not reached yet nobody can tell when it came.
    return Asked(
        question,
        SearchQuery(
            question=parse_question(question.text, question.now, HASHER),
            vector=vector,
            multilingual=multilingual,
            now=latest,
            asked_at=question.now,
            scorer=scorer,
        ),
    )
