"""Requests and results of `MemoryService`: frozen values without MCP. The service checks requests (`validation`).

A result of several pages carries a `cursor`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from enum import StrEnum

from hybrid_memory.cursor import PagePosition, encode_cursor, mark_of
from hybrid_memory.model import (
    Json,
    Kind,
    Memory,
    MemoryId,
    MemoryType,
    Moved,
    Origin,
    Tier,
    Trust,
    Verdict,
)

DEFAULT_PAGE = 8  # memories that answer a question; about as many as fit into the server's default budget of tokens
BRIEF_PAGE = 20  # lines of a brief: short ones, of which the same budget holds about as many


@dataclass(frozen=True, slots=True, kw_only=True)
class Where:
    """Filters of a reading: all given ones must hold.

    ``tags``: every one of them. ``metadata``: equal values of top-level keys. ``since`` (included) and ``until`` (excluded)
    bound the time something happened (``occurred_at``, else ``created_at``). ``as_of``: only what was known at that moment,
    in the versions of that moment. ``min_trust``: this or more. ``unasked``: only what may be shown to who did not ask for it, no
    episodes and no items of programs.
    """

    memory_type: MemoryType | None = None
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, Json] = field(default_factory=dict)
    session: str | None = None
    speaker: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    as_of: datetime | None = None
    min_trust: Trust | None = None
    unasked: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteRequest:
    """A statement to remember.

    ``session`` None is the scope's; ``importance`` 0..1, None lets the heuristic decide; ``parents`` are the memories that
    a derived statement was made from; ``pinned`` puts it at the head of each brief. An ``episode`` (of memory type short-term) was said
    in passing: nobody decided to keep it. ``corrects`` says that its words put something right ("no, ..."), whatever that is.
    ``answers`` is what the assistant said just before: it helps to find what the statement changes, and is not stored.
    """

    content: str
    memory_type: MemoryType = MemoryType.SHORT_TERM
    importance: float | None = None
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, Json] = field(default_factory=dict)
    source: str | None = None
    speaker: str | None = None
    origin: Origin = Origin.AGENT
    session: str | None = None
    occurred_at: datetime | None = None
    key: str | None = None
    expires_at: datetime | None = None
    supersedes: MemoryId | None = None
    parents: tuple[MemoryId, ...] = ()
    pinned: bool = False
    episode: bool = False
    corrects: bool = False
    answers: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Related:
    """An earlier memory that the new one likely changes; ``similarity`` is the cosine of the two."""

    id: MemoryId
    excerpt: str
    similarity: float
    origin: Origin
    created_at: datetime
    occurred_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteResult:
    """``id`` is the earlier memory's where the write only repeated it; ``pending`` says that its vector follows later.

    ``secrets`` are the kinds of what looked like secrets in the request: shown masked to readers, or not stored, as the setting says.
    ``disputes`` is a memory that the write was to replace but is too little trusted for; ``unpinned`` says that it was to be
    pinned and was not, for the same reason. ``namespace`` is where it lies: that of the memory that it replaces, if it names one.
    """

    id: MemoryId
    tier: Tier
    duplicate_of: MemoryId | None = None
    disputes: MemoryId | None = None
    unpinned: bool = False
    related: tuple[Related, ...] = ()
    moved: tuple[Moved, ...] = ()
    pending: bool = False
    secrets: tuple[str, ...] = ()
    namespace: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadRequest:
    """A question. An empty ``query`` without ``ids`` asks for a brief. ``cursor`` continues an earlier answer.

    ``limit`` None: `DEFAULT_PAGE` memories, of a brief `BRIEF_PAGE`.
    ``zone`` is that of "yesterday" and other times in the question, this process's own when None. ``weak`` asks for all
    memories below the relevance floor as well, behind the others. ``concise`` asks for an answer that a model reads: it ends where
    the scores fall off, and memories that say the same in nearly the same words are shown once; ``limit`` is an upper bound then,
    and what is left out before it is on the next page. ``recalls`` False looks without counting what is found as recalled.
    ``quiet`` takes the query for a prompt to an assistant, of any length, and answers with the few memories that it is clearly about
    and that the session was not shown before: usually with none. ``begins`` asks for the brief of a conversation that begins: what the
    last sessions said has a share of its own, whatever it is about.
    """

    query: str = ""
    limit: int | None = None
    where: Where = field(default_factory=Where)
    ids: tuple[MemoryId, ...] = ()
    cursor: str | None = None
    explain: bool = False
    weak: bool = False
    concise: bool = False
    recalls: bool = True
    quiet: bool = False
    begins: bool = False
    zone: tzinfo | None = None

    @property
    def page_size(self) -> int:
        """How many memories a page holds at most."""
        if self.limit is not None:
            return self.limit
        return DEFAULT_PAGE if self.query.strip() or self.ids else BRIEF_PAGE


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A memory found.

    ``section`` names the part of a brief it is in; ``terms`` are the summands of its score; ``newer`` is the memory
    that replaced it, or that a question found to tell the later state of the same thing; ``repeats`` are memories that say
    the same in the same or nearly the same words, shown with it, ``copies`` those of them that have another authority, and count for
    nothing; ``disputed_by`` are less trusted ones that were to replace it, ``disputes`` is the more trusted current one that it was to
    replace; ``contradicted_by`` is the last one that is trusted as far and likely says what changed since;
    ``weak`` says that it lies below the relevance floor; ``evidence_forgotten`` tells how many of an insight's evidence were forgotten.
    """

    memory: Memory
    score: float | None = None
    section: str | None = None
    newer: MemoryId | None = None
    repeats: tuple[MemoryId, ...] = ()
    copies: tuple[MemoryId, ...] = ()
    disputed_by: tuple[MemoryId, ...] = ()
    disputes: MemoryId | None = None
    contradicted_by: MemoryId | None = None
    weak: bool = False
    evidence_forgotten: int = 0
    terms: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadResult:
    """One page. ``total`` counts the matching memories from the first page on, ``offset`` those before this page.

    ``missing`` are asked ``ids`` that do not exist here. ``pending`` counts memories found by words alone for now;
    ``words_alone`` says that all were, because the embedding model is not at hand.
    ``unknown`` says that probably nothing is known about what was asked; False makes no claim. ``recalled`` is the memory that clearly
    answers a question, which counts as used. ``held_back`` counts untrusted memories that would stand on a first page but for their
    share of it; they come later. ``offline_seconds`` is how old that is which the answer knows, where the database of a shared store cannot
    be reached; None else.
    """

    hits: tuple[Hit, ...]
    total: int
    offset: int = 0
    below_floor: int = 0
    missing: tuple[MemoryId, ...] = ()
    pending: int = 0
    words_alone: bool = False
    unknown: bool = False
    recalled: MemoryId | None = None
    held_back: int = 0
    offline_seconds: float | None = None
    fingerprint: bytes = b""
    asked_at: datetime | None = None

    def cursor_after(self, shown: int) -> str | None:
        """Return the cursor that continues after the first ``shown`` hits of this page; None when nothing is left."""
        reached = self.offset + shown
        if reached >= self.total or self.asked_at is None:
            return None
        last = mark_of(self.hits[shown - 1].memory.id) if 0 < shown <= len(self.hits) else None
        return encode_cursor(PagePosition(reached, self.asked_at, last), self.fingerprint)


class GroupSort(StrEnum):
    """Why memories are worth a thought together: they may contradict each other, say the same in passing, or have one subject."""

    CONFLICT = "conflict"
    REPEATED = "repeated"
    SUBJECT = "subject"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReflectionGroup:
    """Memories that are worth a thought together, oldest first. ``worth`` orders the groups of a sort.

    ``changed`` are earlier statements that these replaced or likely changed; ``silent`` says that nothing newer was said of it for long.
    """

    memories: tuple[Memory, ...]
    worth: float
    sort: GroupSort = GroupSort.SUBJECT
    changed: tuple[MemoryId, ...] = ()
    silent: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Insight:
    """A thought of the caller with the ids of the memories that it rests on; ``source`` says who thought it, if not the caller."""

    text: str
    evidence: tuple[MemoryId, ...]
    importance: float | None = None
    source: str | None = None


class MemoryState(StrEnum):
    """How a memory is; the first that holds: it is forgotten, a newer version replaced it, its time is over, or it is current."""

    FORGOTTEN = "forgotten"
    SUPERSEDED = "superseded"
    EXPIRED = "expired"
    CURRENT = "current"


@dataclass(frozen=True, slots=True, kw_only=True)
class ListRequest:
    """Which memories a list holds, the newest first; all given filters must hold.

    ``state`` None lists whatever its state. ``tags``: every one of them. ``since`` (included) and ``until`` (excluded) bound the time
    something happened (``occurred_at``, else ``created_at``). ``pinned`` lists those alone that are. ``offset`` passes over so many.
    Episodes are listed where a ``kind``, a ``tier`` or another ``state`` is asked for.
    """

    state: MemoryState | None = MemoryState.CURRENT
    kind: Kind | None = None
    tier: Tier | None = None
    origin: Origin | None = None
    trust: Trust | None = None
    session: str | None = None
    tags: tuple[str, ...] = ()
    since: datetime | None = None
    until: datetime | None = None
    pinned: bool = False
    limit: int = 20
    offset: int = 0

    @property
    def without_episodes(self) -> bool:
        """Whether episodes are left out."""
        return self.state is MemoryState.CURRENT and self.kind is None and self.tier is None


@dataclass(frozen=True, slots=True)
class ListResult:
    """One page of a list; ``total`` counts the memories of all its pages."""

    memories: tuple[Memory, ...]
    total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateRequest:
    """Changes to one memory; None leaves a field as it is. New ``content`` makes a new version.

    ``origin`` is who says the new words. The user's own words, as typed into the command line, are the user's whatever they correct;
    anybody else's are trusted no more than the version before.
    """

    id: MemoryId
    content: str | None = None
    importance: float | None = None
    tags: tuple[str, ...] | None = None
    pinned: bool | None = None
    expires_at: datetime | None = None
    origin: Origin = Origin.AGENT


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateResult:
    """``id`` is the current version; ``supersedes`` the one it replaced, None when only attributes changed.

    ``secrets`` as in `WriteResult`.
    ``disputes`` is the memory that it could not replace, because a person confirmed that one.
    """

    id: MemoryId
    tier: Tier
    supersedes: MemoryId | None = None
    disputes: MemoryId | None = None
    pending: bool = False
    secrets: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgetRequest:
    """Memories to forget, or with ``restore`` to bring back: by ``ids``, or by ``where`` with the ``count`` it matches."""

    ids: tuple[MemoryId, ...] = ()
    where: Where | None = None
    count: int | None = None
    restore: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgetResult:
    """The memories that changed state, and those that already were in it.

    ``revived`` are more trusted memories that are current again because what stood in their place was forgotten; ``held`` names
    those that stay forgotten, or replaced, because another one holds their key by now, and that one.
    """

    ids: tuple[MemoryId, ...]
    unchanged: tuple[MemoryId, ...] = ()
    restored: bool = False
    revived: tuple[MemoryId, ...] = ()
    held: Mapping[MemoryId, MemoryId] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class MergeRequest:
    """Memories that say one thing together, and the words in which they say it from now on."""

    ids: tuple[MemoryId, ...]
    content: str


@dataclass(frozen=True, slots=True)
class SplitRequest:
    """A memory that says several things, and each of these in words of its own."""

    id: MemoryId
    parts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class JudgeRequest:
    """What a person says of some memories. ``until`` is the moment at which what ended was over; None: now."""

    ids: tuple[MemoryId, ...]
    verdict: Verdict
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class SettledChange:
    """A ``later`` statement changes an ``earlier`` one: it ``ends`` that, or may contradict it."""

    later: MemoryId
    earlier: MemoryId
    ends: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Settlement:
    """What a judge decided about memories: which episodes are ``kept`` for good, each with its tags, and which statements change others."""

    kept: Mapping[MemoryId, tuple[str, ...]] = field(default_factory=dict)
    changes: tuple[SettledChange, ...] = ()

    @property
    def ids(self) -> tuple[MemoryId, ...]:
        """All memories that it names, each once."""
        named = (one for change in self.changes for one in (change.later, change.earlier))
        return tuple(dict.fromkeys((*self.kept, *named)))


@dataclass(frozen=True, slots=True, kw_only=True)
class ActResult:
    """What a person's act has done. ``ids`` are the memories as they stand after it: new versions, a merged text, parts.

    ``undo`` names the act for `Acts.undo`, None where nothing changed. ``before`` are the memories that were replaced; the others are as
    in `ForgetResult`. ``secrets`` are the kinds of secrets in new words.
    """

    action: str
    ids: tuple[MemoryId, ...]
    undo: str | None = None
    before: tuple[MemoryId, ...] = ()
    unchanged: tuple[MemoryId, ...] = ()
    revived: tuple[MemoryId, ...] = ()
    held: Mapping[MemoryId, MemoryId] = field(default_factory=dict)
    secrets: tuple[str, ...] = ()


UNDO, REDO = "undo", "redo"
"""The actions of an undo, and of what undoes one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PastAct:
    """An act that can be undone: what was done (``action``, as in the log), when and by whom, and to which memories."""

    undo: str
    namespace: str
    at: datetime
    actor: str
    action: str
    ids: tuple[MemoryId, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far a change to ``embedder`` has come: ``done`` of ``total`` memories, at ``per_second`` in this process."""

    embedder: str
    done: int
    total: int
    per_second: float = 0.0


@dataclass(frozen=True, slots=True)
class Lag:
    """How far a hub is behind the others of its store.

    ``changes`` are those that are known and not followed yet, in the namespaces that it holds in memory. ``seconds``: so long ago all was
    known and followed for certain.
    """

    seconds: float
    changes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """What the memory holds and how it is, for people and for ``memory://status``; ``episodes`` are not among the ``memories``."""

    version: str
    namespace: str
    session: str
    memories: int
    tiers: Mapping[str, int]
    forgotten: int
    superseded: int
    insights: int
    episodes: int
    sessions: int
    embedder: str
    embedder_reason: str
    pending_vectors: int
    engine: str
    schema_version: int
    bytes_on_disk: int
    reembedding: Progress | None = None
    other_hubs: tuple[str, ...] = ()
    behind: Lag | None = None
    notices: tuple[str, ...] = ()
