"""The values that all layers share: a memory with its tier, kind, origin and trust, and the scope of a call. All are frozen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NewType, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MemoryId = NewType("MemoryId", str)

Json: TypeAlias = str | int | float | bool | list[Any] | dict[str, Any] | None


class Tier(StrEnum):
    """Where a memory is in attention; it decides rank among equals, never existence."""

    SENSORY = "sensory"
    SHORT_TERM = "short_term"
    LONG_TERM = "long_term"
    FADED = "faded"
    WORKING = "working"
    EPISODIC = "episodic"


BUFFER_TIERS: tuple[Tier, ...] = (Tier.SENSORY, Tier.SHORT_TERM)
"""The tiers whose memories stand in a buffer."""


class MemoryType(StrEnum):
    """What a writer asks for and a reader filters by (the four types of DB-GPT)."""

    SHORT_TERM = "short_term"
    WORKING = "working"
    LONG_TERM = "long_term"
    EPISODIC = "episodic"


MEMORY_TYPE_OF: Mapping[Tier, MemoryType] = {
    Tier.SENSORY: MemoryType.SHORT_TERM,
    Tier.SHORT_TERM: MemoryType.SHORT_TERM,
    Tier.FADED: MemoryType.SHORT_TERM,
    Tier.LONG_TERM: MemoryType.LONG_TERM,
    Tier.WORKING: MemoryType.WORKING,
    Tier.EPISODIC: MemoryType.EPISODIC,
}


ITEM_SESSIONS: tuple[str, ...] = ("items:memory-tool", "items:langgraph")
"""Sessions whose working memories are items that programs keep: found when asked for, not shown unasked unless they are pinned."""


class Kind(StrEnum):
    """What sort of statement a memory is."""

    OBSERVATION = "observation"
    INSIGHT = "insight"
    SUMMARY = "summary"
    TASK = "task"
    EPISODE = "episode"
    """What a person said in passing. It stays one when it is promoted: then its tier is long-term."""


class Origin(StrEnum):
    """Who a statement comes from, as the client says."""

    USER = "user"
    AGENT = "agent"
    TOOL = "tool"
    IMPORT = "import"
    DERIVED = "derived"


class Trust(StrEnum):
    """How far a statement is trusted; rises only by a human's confirmation."""

    UNTRUSTED = "untrusted"
    AGENT = "agent"
    USER = "user"
    CONFIRMED = "confirmed"


class Verdict(StrEnum):
    """What a person judged of a memory: that it is true, that it is not, or that it was true until it ended."""

    TRUE = "true"
    UNTRUE = "untrue"
    ENDED = "ended"


TRUST_ORDER: tuple[Trust, ...] = (Trust.UNTRUSTED, Trust.AGENT, Trust.USER, Trust.CONFIRMED)

TRUSTED_FROM = Trust.AGENT
"""The trust of who asks. What is trusted less comes behind what is trusted so far, and changes nothing about it (`retrieval.shares`)."""

TRUST_OF: Mapping[Origin, Trust] = {
    Origin.USER: Trust.USER,
    Origin.AGENT: Trust.AGENT,
    Origin.TOOL: Trust.UNTRUSTED,
    Origin.IMPORT: Trust.UNTRUSTED,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """On whose behalf a call is made. Nothing of another ``namespace`` is seen; ``actor``, the client's name, goes into the log.

    ``personal`` is a second namespace, of the person at work in the project that ``namespace`` is of: both are read together, as if
    they were one, new memories go to ``namespace``, and what is done to a memory is done where it lies. With ``about_me_is_personal``
    new memories in which the person plainly speaks of themselves go to ``personal``.
    """

    namespace: str = "default"
    personal: str | None = None
    about_me_is_personal: bool = False
    session: str
    agent: str = "default"
    actor: str = "unknown"

    @property
    def namespaces(self) -> tuple[str, ...]:
        """The namespaces that are read: that of writes first."""
        if self.personal is None or self.personal == self.namespace:
            return (self.namespace,)
        return (self.namespace, self.personal)


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """One stored statement, as the store holds it.

    ``terms`` are the hashes of its lexical terms in order (`hybrid_memory.language.text`), ``names`` tells which of them are written as
    names (`hybrid_memory.language.names`), ``days`` are the days that it speaks of, counted from 1970-01-01, ``aspects`` the bits of what
    its words tell about the user (`hybrid_memory.retrieval.aspects.Aspect`); ``encoding`` is the version of what made these four
    (`hybrid_memory.encoding.word_encoding`), 0 where they are to be made again. ``rev`` counts its changes;
    ``reflected_at`` says when it last served as evidence; ``duplicate_of`` names the earlier memory with the same words, ``disputes``
    a more trusted one of which this one says something else, and which it may not replace; ``verdict`` is what a person judged of it.
    """

    id: MemoryId
    namespace: str
    session: str
    agent: str
    content: str
    kind: Kind
    tier: Tier
    importance: float
    created_at: datetime
    content_hash: str
    terms: tuple[int, ...] = ()
    names: tuple[int, ...] = ()
    days: tuple[int, ...] = ()
    aspects: int = 0
    encoding: int = 0
    pinned: bool = False
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, Json] = field(default_factory=dict)
    source: str | None = None
    speaker: str | None = None
    origin: Origin = Origin.AGENT
    trust: Trust = Trust.AGENT
    key: str | None = None
    occurred_at: datetime | None = None
    expires_at: datetime | None = None
    forgotten_at: datetime | None = None
    superseded_by: MemoryId | None = None
    supersedes: MemoryId | None = None
    duplicate_of: MemoryId | None = None
    disputes: MemoryId | None = None
    parents: tuple[MemoryId, ...] = ()
    reflected_at: datetime | None = None
    rev: int = 1
    verdict: Verdict | None = None

    @property
    def is_episode(self) -> bool:
        """Whether it was said in passing and nothing came of it yet: found when asked for, never shown unasked."""
        return self.kind is Kind.EPISODE and self.tier is not Tier.LONG_TERM

    @property
    def is_turn(self) -> bool:
        """Whether it is known who said it and when: one turn of a conversation."""
        return self.speaker is not None and self.occurred_at is not None


@dataclass(frozen=True, slots=True)
class EncodedWords:
    """What search knows of the words of a memory, by the fields of `Memory` of the same names."""

    terms: tuple[int, ...]
    names: tuple[int, ...]
    days: tuple[int, ...]
    aspects: int
    encoding: int


@dataclass(frozen=True, slots=True)
class EncodedText:
    """What is computed from a text before it meets the store.

    The digest of its words, what search knows of them, and its unit vector; None while the model is missing. ``passages`` are the
    vectors of its passages as they are stored (`hybrid_memory.embedding.passages`), None where it has none.
    """

    content_hash: str
    words: EncodedWords
    vector: NDArray[np.float32] | None
    passages: bytes | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """How a memory was used; kept apart because reads change it."""

    accessed_at: datetime
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """One step of a memory between tiers, with the reason and the memories that took part."""

    id: MemoryId
    before: Tier
    after: Tier
    reason: str
    members: tuple[MemoryId, ...] = ()
