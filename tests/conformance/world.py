"""What a recorded case is replayed in: its embedder, draws, scorer and extractor, and stores and memories that are watched."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import anyio.lowlevel
import numpy as np
from tests.conformance.compare import Mismatch, Unknown, plain

from hybrid_memory.store.base import Store
from hybrid_memory.testing import FakeClock
from hybrid_memory_dbgpt import (
    AgentMemoryFragment,
    DuckDBVectorConfig,
    DuckDBVectorStore,
    InsightMemoryFragment,
    MemoryFragment,
    RecallRules,
)
from hybrid_memory_dbgpt.buffers import EnhancedShortTermMemory
from hybrid_memory_dbgpt.retriever import LongTermRetriever

NOON = "2026-01-10T12:00:00"
REFUSED = "UNEMBEDDABLE"
REFERENCE = RecallRules(fetch=200, refresh=False)


def moment(text: str | None) -> datetime | None:
    if text is None:
        return None
    try:
        return datetime.fromisoformat(text).replace(tzinfo=UTC)
    except ValueError:
        raise Unknown(f"the time {text!r} cannot be read") from None


class RecordedEmbeddings:
    """The vectors of a case, behind the interface of LangChain and DB-GPT."""

    identity = "recorded"

    def __init__(self, vectors: dict[str, list[float]]) -> None:
        self._vectors = {plain(text): vector for text, vector in vectors.items()}
        if len({len(vector) for vector in vectors.values()}) > 1:
            raise Mismatch("embeddings: the vectors have different lengths")
        for text, vector in vectors.items():
            if not any(abs(np.linalg.norm(vector) - length) < 1e-5 for length in (0, 1)):
                raise Mismatch(f"embeddings.{text}: is neither a unit vector nor zero, as all recorded ones are")

    def add(self, vectors: dict[str, list[float]]) -> None:
        self._vectors |= vectors

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [self.embed_query(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        if text.startswith(REFUSED):
            raise RuntimeError("embedding backend refused the text")
        if plain(text) not in self._vectors:
            raise Mismatch(f"embeddings: a vector of {plain(text)!r} was needed, and none was recorded")
        return self._vectors[plain(text)]


class Draws(Iterator[float]):
    """The recorded draws of the present step; all of them must be used, and no more."""

    def __init__(self) -> None:
        self.left: list[float] = []

    def __next__(self) -> float:
        if not self.left:
            raise Mismatch("random_draws: more draws were made than recorded")
        return self.left.pop(0)


class Scorer:
    """Ratings by text; 5 for all others. ``slow`` lets other tasks run first."""

    def __init__(self, ratings: dict[str, float], *, slow: bool = False) -> None:
        self._ratings = ratings
        self._slow = slow

    async def score_importance(self, memory_fragment: MemoryFragment, llm_client: Any = None) -> float:
        del llm_client
        if self._slow:
            await anyio.lowlevel.checkpoint()
        return self._ratings.get(plain(memory_fragment.raw_observation), 5.0)


class Extractor:
    """Insights by a rule from text to lines."""

    def __init__(self, rule: Callable[[str], list[str]]) -> None:
        self._rule = rule

    async def extract_insights(self, memory_fragment: MemoryFragment, llm_client: Any = None) -> InsightMemoryFragment:
        del llm_client
        return InsightMemoryFragment(memory_fragment, self._rule(plain(memory_fragment.raw_observation)))


def scorer_of(config: dict[str, Any]) -> Scorer | None:
    said = config.get("scorer")
    if said is None:
        return None
    if isinstance(said, dict):
        return Scorer({plain(text): rating for text, rating in said.items()})
    if said == "slow, always 5":
        return Scorer({}, slow=True)
    raise Unknown(f"config.scorer {said!r} is of no known form")


def extractor_of(config: dict[str, Any]) -> Extractor | None:
    said = config.get("extractor")
    if said is None:
        return None
    if isinstance(said, list):
        return Extractor(lambda _: list(said))
    if isinstance(said, dict):
        by_text = {plain(text): lines for text, lines in said.items()}
        return Extractor(lambda text: _lines(by_text.get(text, [])))
    if said == "one line":
        return Extractor(lambda text: [f"insight of <{text}>"])
    if said.startswith("one line: '") and said.endswith("'"):
        template = said.removeprefix("one line: '").removesuffix("'")
        return Extractor(lambda text: [template.replace("<text>", text)])
    raise Unknown(f"config.extractor {said!r} is of no known form")


def _lines(said: Any) -> list[str]:
    return [said] if isinstance(said, str) else list(said)


class World:
    """Everything of one case that outlives its objects, and what happened in the present step."""

    def __init__(self, case: dict[str, Any], open_store: Callable[[FakeClock], Store], *, ours: bool) -> None:
        self.config = {name: value for name, value in case["config"].items() if value is not None}
        self.session_said = not {"session", "session_id"}.isdisjoint(case["config"])
        self.embeddings = RecordedEmbeddings(case.get("embeddings", {}))
        self.draws = Draws()
        self.clock = FakeClock()
        self.ours = ours
        self.recall = self._recall()
        self.scorer = scorer_of(self.config)
        self.extractor = extractor_of(self.config)
        self._open_store = open_store
        self._vectors: WatchedStore | None = None
        self.begin({}, as_recorded=True)

    @property
    def vectors(self) -> WatchedStore:
        if self._vectors is None:
            self._vectors = WatchedStore(self)
        return self._vectors

    def open_store(self) -> Store:
        return self._open_store(self.clock)

    def begin(self, step: dict[str, Any], *, as_recorded: bool) -> None:
        self.step = step
        self.as_recorded = as_recorded
        self.draws.left = list(step.get("random_draws", []))
        self.comparisons: list[dict[str, Any]] = []
        self.written: list[dict[str, Any]] = []
        self.searches: list[dict[str, Any]] = []
        self.ranking: list[dict[str, Any]] = []
        self.faded: list[str] = []

    def fragment(self, said: dict[str, Any]) -> AgentMemoryFragment:
        return AgentMemoryFragment(
            said["text"],
            importance=said.get("importance"),
            last_accessed_time=moment(said.get("last_accessed_time")),
        )

    def _recall(self) -> RecallRules:
        if self.ours:
            return RecallRules()
        return RecallRules(
            k=self.config.get("k", REFERENCE.k),
            fetch=self.config.get("fetch", REFERENCE.fetch),
            decay_rate=self.config.get("decay_rate", REFERENCE.decay_rate),
            score_threshold=self.config.get("score_threshold", REFERENCE.score_threshold),
            refresh=REFERENCE.refresh,
        )


class WatchedStore(DuckDBVectorStore):
    """The real vector store; it notes what is written and searched."""

    def __init__(self, world: World) -> None:
        config = DuckDBVectorConfig(name="case", embedding_fn=world.embeddings)
        super().__init__(config, store=world.open_store(), clock=world.clock)
        self._world = world
        self._watching = True

    def commit(self, documents: Any, buffers: Any) -> Any:
        ids = super().commit(documents, buffers)
        for document in documents:
            metadata = {name: value for name, value in document.metadata.items() if name != "created_at"}
            self._world.written.append({"document": document.content, "metadata": metadata})
        return ids

    def search_columns(self, text: Any, topk: Any, score_threshold: Any, filters: Any) -> Any:
        found = super().search_columns(text, topk, score_threshold, filters)
        if self._watching:
            self._world.searches.append(
                {
                    "query": text,
                    "topk": topk,
                    "score_threshold": score_threshold,
                    "filters": [[name, "==", value] for name, value in filters.items()] or None,
                    "candidate_count": len(found.cosines),
                }
            )
        return found

    def documents(self, filters: Any = None) -> Any:
        """Return all that equal the filters; this is not a search of anybody's."""
        self._watching = False
        try:
            return super().documents(filters)
        finally:
            self._watching = True


class WatchedShortTerm(EnhancedShortTermMemory):
    """The real short-term memory; it notes how each offer fared."""

    world: World | None = None

    def _offer(self, *given: Any) -> Any:
        step = super()._offer(*given)
        if self.world is not None:
            for one in step.comparisons:
                self.world.comparisons.append(
                    {
                        "similarity": one.similarity,
                        "probability": one.probability,
                        "draw": one.draw,
                        "enhanced": one.enhanced,
                    }
                )
        return step

    def structure_clone(self, now: Any = None) -> WatchedShortTerm:
        twin = super().structure_clone(now)
        assert isinstance(twin, WatchedShortTerm)
        twin.world = self.world
        return twin


class WatchedRetriever(LongTermRetriever):
    """The real retriever; it notes how each candidate ranked."""

    def __init__(self, world: World) -> None:
        super().__init__(world.vectors, world.recall)
        self._world = world

    def _best_first(self, *given: Any) -> Any:
        ranked = list(super()._best_first(*given))
        for one in ranked:
            self._world.ranking.append(
                {
                    "document": one.document.content,
                    "relevance": one.relevance,
                    "recency": one.recency,
                    "importance": one.importance,
                    "score": one.score,
                    "skipped": one.skipped,
                }
            )
        return iter(ranked)


def said(fragments: Any) -> list[dict[str, Any]]:
    return [{"text": one.raw_observation, "importance": one.importance} for one in fragments]


def enhanced_state(memory: Any) -> list[dict[str, Any]]:
    if not isinstance(memory, WatchedShortTerm):
        return said(memory.fragments)
    return [
        {
            "text": held.item.text,
            "importance": held.item.importance,
            "enhance_count": held.count,
            "enhanced_by": [item.text for item in held.enhancers],
        }
        for held in memory.held
    ]


def enhanced(world: World, size: int) -> WatchedShortTerm:
    config = world.config
    memory = WatchedShortTerm(
        world.embeddings,
        buffer_size=size,
        enhance_similarity_threshold=config.get("enhance_similarity_threshold", 0.7),
        enhance_threshold=config.get("enhance_threshold", 3),
        draws=world.draws,
    )
    memory.world = world
    return memory
