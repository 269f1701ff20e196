"""Fragments, what every memory of this package remembers, and `DiscardedMemoryFragments`, what left a buffer."""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Self

from hybrid_memory.clock import SystemClock, SystemRandomSource
from hybrid_memory.errors import InvalidInput
from hybrid_memory.ids import new_id
from hybrid_memory.model import MemoryId
from hybrid_memory.tiers.buffers import Operation as WriteOperation

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = [
    "AgentMemoryFragment",
    "DiscardedMemoryFragments",
    "InsightMemoryFragment",
    "MemoryFragment",
    "StructuredAgentMemoryFragment",
    "WriteOperation",
    "without_prefix",
]

_PREFIX = re.compile(r"\A(?:\[\d+\] )+")


class MemoryFragment(ABC):
    """One thing to remember. Subclasses say how a text becomes a fragment and how several become one."""

    @property
    @abstractmethod
    def id(self) -> MemoryId:
        """The fragment's own id, unique and never reused."""

    @property
    @abstractmethod
    def raw_observation(self) -> str:
        """The text that is embedded and stored."""

    importance: float | None = None
    embeddings: NDArray[np.floating[Any]] | None = None
    is_insight: bool = False
    last_accessed_time: datetime | None = None
    parents: tuple[MemoryId, ...] = ()

    @property
    def metadata(self) -> dict[str, Any]:
        """Further facts; none unless a subclass adds some."""
        return {}

    def update_importance(self, importance: float) -> float | None:
        """Set the importance and return the one before."""
        before, self.importance = self.importance, importance
        return before

    def update_accessed_time(self, now: datetime) -> datetime | None:
        """Set the time of the last access and return the one before."""
        before, self.last_accessed_time = self.last_accessed_time, now
        return before

    def update_embeddings(self, embeddings: NDArray[np.floating[Any]]) -> None:
        """Set the vector of the text."""
        self.embeddings = embeddings

    @abstractmethod
    def copy(self) -> Self:
        """Return a fragment with the same id and values that changes on its own."""

    @classmethod
    @abstractmethod
    def build_from(
        cls,
        observation: str,
        embeddings: NDArray[np.floating[Any]] | None = None,
        memory_id: MemoryId | None = None,
        importance: float | None = None,
        is_insight: bool = False,
        last_accessed_time: datetime | None = None,
        *,
        parents: Sequence[MemoryId] = (),
    ) -> Self:
        """Return a fragment for a stored text."""

    @classmethod
    def reduce(cls, fragments: Sequence[MemoryFragment], *, importance: float | None = None) -> MemoryFragment:
        """Return one fragment for several: their texts joined by semicolons, their ids as its parents.

        Raises:
            InvalidInput: there is none.
        """
        if not fragments:
            raise InvalidInput("fragments", "must hold at least one fragment")
        joined = ";".join(fragment.raw_observation for fragment in fragments)
        return cls.build_from(joined, importance=importance, parents=_ids(fragments))


class AgentMemoryFragment(MemoryFragment):
    """A fragment that is a plain text. Without ``memory_id`` it gets a new one."""

    def __init__(
        self,
        observation: str,
        embeddings: NDArray[np.floating[Any]] | None = None,
        memory_id: MemoryId | str | None = None,
        importance: float | None = None,
        last_accessed_time: datetime | None = None,
        *,
        is_insight: bool = False,
        parents: Sequence[MemoryId] = (),
    ) -> None:
        self._observation = observation
        self._id = new_id(SystemClock().now(), SystemRandomSource()) if memory_id is None else MemoryId(memory_id)
        self.embeddings = embeddings
        self.importance = importance
        self.last_accessed_time = last_accessed_time
        self.is_insight = is_insight
        self.parents = tuple(parents)

    @property
    def id(self) -> MemoryId:
        """The fragment's own id."""
        return self._id

    @property
    def raw_observation(self) -> str:
        """The text."""
        return self._observation

    def copy(self) -> Self:
        """Return a fragment with the same id and values that changes on its own."""
        twin = type(self).build_from(
            self.raw_observation,
            memory_id=self.id,
            importance=self.importance,
            last_accessed_time=self.last_accessed_time,
            is_insight=self.is_insight,
            parents=self.parents,
        )
        twin.embeddings = self.embeddings
        return twin

    @classmethod
    def build_from(
        cls,
        observation: str,
        embeddings: NDArray[np.floating[Any]] | None = None,
        memory_id: MemoryId | None = None,
        importance: float | None = None,
        is_insight: bool = False,
        last_accessed_time: datetime | None = None,
        *,
        parents: Sequence[MemoryId] = (),
    ) -> Self:
        """Return a fragment for a stored text."""
        return cls(
            observation,
            embeddings,
            memory_id=memory_id,
            importance=importance,
            last_accessed_time=last_accessed_time,
            is_insight=is_insight,
            parents=parents,
        )

    def __repr__(self) -> str:
        return f"{type(self).__name__}(id={self.id!r}, importance={self.importance!r})"


class StructuredAgentMemoryFragment(AgentMemoryFragment):
    """A fragment that is a mapping (or a list of them), stored as JSON.

    Usual keys are question, thought, phase, action_intention, action_reason, action, action_input and observation.
    Text that is not JSON counts as ``{"observation": text}``, so that nothing is left out of a merge.
    """

    def __init__(
        self,
        observation: Mapping[str, Any] | Sequence[Mapping[str, Any]] | str,
        embeddings: NDArray[np.floating[Any]] | None = None,
        memory_id: MemoryId | str | None = None,
        importance: float | None = None,
        last_accessed_time: datetime | None = None,
        *,
        is_insight: bool = False,
        parents: Sequence[MemoryId] = (),
    ) -> None:
        raw = observation if isinstance(observation, str) else json.dumps(observation, ensure_ascii=False)
        super().__init__(
            raw, embeddings, memory_id, importance, last_accessed_time, is_insight=is_insight, parents=parents
        )

    @property
    def structured_observation(self) -> Any:
        """The mapping or list that the text stands for."""
        return _structure(self.raw_observation)

    @classmethod
    def reduce(cls, fragments: Sequence[MemoryFragment], *, importance: float | None = None) -> MemoryFragment:
        """Return one fragment for several: a JSON list of what each stands for; one fragment is returned itself.

        Raises:
            InvalidInput: there is none.
        """
        if not fragments:
            raise InvalidInput("fragments", "must hold at least one fragment")
        if len(fragments) == 1:
            return fragments[0]
        parts = [_structure(fragment.raw_observation) for fragment in fragments]
        return cls(parts, importance=importance, parents=_ids(fragments))


class InsightMemoryFragment:
    """A fragment and the insights that were found in it, as fragments of their own; lines of text become such."""

    def __init__(self, original_memory_fragment: MemoryFragment, insights: Iterable[MemoryFragment | str] = ()) -> None:
        kind, parents = type(original_memory_fragment), (original_memory_fragment.id,)
        self.original_memory_fragment = original_memory_fragment
        self.insights: list[MemoryFragment] = [
            kind.build_from(one, is_insight=True, parents=parents) if isinstance(one, str) else one for one in insights
        ]


@dataclass(slots=True)
class DiscardedMemoryFragments:
    """What left a buffer: ``fragments`` go on to the next tier, with their ``insights``; ``faded`` go nowhere further.

    ``faded`` are the fragments below the sensory threshold and those that short-term evicted. The reference system
    destroys them without a word.
    """

    fragments: list[MemoryFragment] = field(default_factory=list)
    insights: list[InsightMemoryFragment] = field(default_factory=list)
    faded: list[MemoryFragment] = field(default_factory=list)

    @property
    def discarded_memory_fragments(self) -> list[MemoryFragment]:
        """What DB-GPT calls ``fragments``."""
        return self.fragments

    @property
    def discarded_insights(self) -> list[InsightMemoryFragment]:
        """What DB-GPT calls ``insights``."""
        return self.insights

    def __bool__(self) -> bool:
        return bool(self.fragments or self.insights or self.faded)


def without_prefix(text: str) -> str:
    """Return a text without the ``[n] `` counters that DB-GPT puts before stored texts."""
    return _PREFIX.sub("", text)


def _structure(raw: str) -> Any:
    for text in (raw, without_prefix(raw)):
        try:
            found = json.loads(text)
        except ValueError:
            continue
        if isinstance(found, dict | list):
            return found
    return {"observation": raw}


def _ids(fragments: Sequence[MemoryFragment]) -> tuple[MemoryId, ...]:
    return tuple(dict.fromkeys(fragment.id for fragment in fragments))
