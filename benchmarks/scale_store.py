"""Makes stores of any size quickly: generated short texts with real words, terms, digests and static vectors.

The rows go straight into the tables of an empty store that the program itself made, because a million single writes would
take an hour. Words follow Zipf's law over the embedder's vocabulary, which is ordered by frequency; a session of 20 memories
draws some of its words from a topic of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
from numpy.typing import NDArray

from hybrid_memory.clock import SystemClock, SystemRandomSource, to_micros
from hybrid_memory.embedding.static import DATA, StaticEmbedder
from hybrid_memory.encoding.word_encoding import encode_words
from hybrid_memory.ids import new_id
from hybrid_memory.language.terms import TermHasher
from hybrid_memory.language.text import content_hash, dense_text
from hybrid_memory.model import Scope
from hybrid_memory.requests import WriteRequest
from hybrid_memory.service.memory_service import MemoryService
from hybrid_memory.settings import DATABASE

SESSION_SIZE = 20
_CHUNK = 20_000
START = datetime(2024, 1, 1, tzinfo=UTC)
APART = timedelta(seconds=60)
_SPEAKERS = ("Ada", "Bruno", "Chen", "Dara", "Elif", None)
_TAGS = ("work", "travel", "family", "health")
_DIMENSIONS = 256
_INSERT_MEMORIES = """
    INSERT INTO memory (namespace, id, session, agent, content, kind, tier, importance, created_at, content_hash,
        terms, names, days, aspects, encoding, pinned, tags, speaker, origin, trust, rev)
    SELECT 'default', id, session, 'default', content, 'observation', tier, importance, created_at, content_hash,
        terms::INTEGER[], names::INTEGER[], days::INTEGER[], aspects, encoding, false, tags, speaker, 'user', 'user', 1
    FROM rows
"""
_INSERT_LOG = """
    INSERT INTO log (namespace, position, change, id, rev, made_at, actor, action, digest)
    SELECT 'default', position, 'put', id, 1, created_at, 'bench', 'write', content_hash FROM rows
"""
_INSERT_VECTORS = "INSERT INTO vector_1 SELECT 'default', id, array_value({}) FROM vectors"


class Texts:
    """Draws short texts: a sentence of 8 to 16 words, a third of them from the topic of its session."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        pieces = (DATA / "vocab.txt").read_text(encoding="utf-8").split("\n")
        self._words = np.array([word for word in pieces if word.isalpha() and word.isascii()], np.object_)
        weights = 1 / (np.arange(len(self._words)) + 2.7)
        self._sums = np.cumsum(weights / weights.sum())
        self._topic: NDArray[Any] = self._words[:0]

    def words(self, count: int) -> NDArray[Any]:
        """Return words by Zipf's law."""
        found: NDArray[Any] = self._words[np.searchsorted(self._sums, self.rng.random(count))]
        return found

    def new_session(self) -> None:
        """Choose another topic."""
        self._topic = self._words[self.rng.integers(100, len(self._words), 12)]

    def sentence(self) -> str:
        """Return a sentence of the current session."""
        drawn = self.words(int(self.rng.integers(8, 17)))
        telling = self.rng.random(len(drawn)) < 1 / 3
        drawn[telling] = self._topic[self.rng.integers(0, len(self._topic), int(telling.sum()))]
        return " ".join(drawn).capitalize() + "."


def make_store(home: Path, size: int, advance: Callable[[int], None]) -> int:
    """Make a store of ``size`` memories in the namespace ``default``; returns the bytes of their texts."""
    with_one = MemoryService.open(home, clock=SystemClock(), random_source=SystemRandomSource())
    with_one.write(Scope(session="first", namespace="first"), WriteRequest(content="The first one."))
    hasher = with_one.store.hasher
    with_one.close()
    connection = duckdb.connect(str(home / DATABASE), config={"storage_compatibility_version": "v1.5.0"})
    written = 0
    try:
        connection.execute("SET force_compression='uncompressed'")
        columns = ",".join(f"c{number}" for number in range(_DIMENSIONS))
        for rows, vectors in _chunks(size, hasher):
            connection.execute(_INSERT_MEMORIES)
            connection.execute(_INSERT_LOG)
            connection.execute(_INSERT_VECTORS.format(columns))
            written += sum(len(text.encode()) for text in rows["content"])
            del vectors
            advance(len(rows["id"]))
        connection.execute("CHECKPOINT")
    finally:
        connection.close()
    return written


def _chunks(size: int, hasher: TermHasher) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    texts, random_source, embedder = Texts(size), SystemRandomSource(), StaticEmbedder()
    for first in range(0, size, _CHUNK):
        rows: dict[str, list[Any]] = {}
        for number in range(first, min(first + _CHUNK, size)):
            if number % SESSION_SIZE == 0:
                texts.new_session()
            when = START + number * APART
            for name, value in _row(number, when, texts.sentence(), hasher).items():
                rows.setdefault(name, []).append(value)
            rows.setdefault("id", []).append(new_id(when, random_source))
        said = [dense_text(text, who) for text, who in zip(rows["content"], rows["speaker"], strict=True)]
        matrix = embedder.embed(said)
        vectors = {f"c{column}": np.ascontiguousarray(matrix[:, column]) for column in range(_DIMENSIONS)}
        vectors["id"] = np.array(rows["id"], np.object_)
        typed = {
            "position": np.int64,
            "created_at": np.int64,
            "importance": np.float64,
            "aspects": np.int64,
            "encoding": np.int64,
        }
        yield {name: np.array(values, typed.get(name, np.object_)) for name, values in rows.items()}, vectors


def _row(number: int, when: datetime, text: str, hasher: TermHasher) -> dict[str, Any]:
    speaker = _SPEAKERS[number % len(_SPEAKERS)]
    words = encode_words(text, speaker, when, hasher=hasher)
    return {
        "position": number + 1,
        "session": f"s-{number // SESSION_SIZE:012d}",
        "content": text,
        "tier": "faded" if number % 3 else "long_term",
        "importance": (number % 11) / 10,
        "created_at": to_micros(when),
        "content_hash": content_hash(text),
        "terms": str(list(words.terms)),
        "names": str(list(words.names)),
        "days": str(list(words.days)),
        "aspects": words.aspects,
        "encoding": words.encoding,
        "tags": f'["{_TAGS[number // 10 % 4]}"]' if number % 10 == 0 else None,
        "speaker": speaker,
    }
