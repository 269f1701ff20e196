"""What counts of a file that nobody vouches for: words, times, and lineage between memories of this file.

Everything else that a line may say (importance, kind, tier, use, pins, keys, trust) is as if it were not there. A memory gets an
id of its own, made of what its line says: a line can neither take the place of a memory that is there or will be, nor name one in a
link, because links are followed within the file alone. Sessions get a prefix, so that no line speaks in a conversation of the user's.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from hybrid_memory.ids import id_of
from hybrid_memory.language.text import content_hash
from hybrid_memory.model import Kind, Memory, MemoryId, Origin, Tier, Trust
from hybrid_memory.requests import WriteRequest
from hybrid_memory.store.transfer import ExistingMemory
from hybrid_memory.tiers.importance import heuristic_importance
from hybrid_memory.validation import NAME_LIMIT, check_name, check_write

SESSION = "import"
"""The session of lines that name none."""
_SESSION_PREFIX = f"{SESSION}:"
_DIGEST_BYTES = 8  # tells apart names that had to be cut


def untrusted_memory(memory: Memory, namespace: str, now: datetime, id_: MemoryId | None = None) -> Memory:
    """Return what counts of a memory of a file, without links, checked as a write is; its id is made of what it says if none is given.

    Its importance is 0 until it comes in (`weighed`): a file is read twice, and few lines may be new.

    Raises:
        InvalidInput: names the field that is wrong.
    """
    check_name("id", memory.id)
    request = check_write(
        WriteRequest(
            content=memory.content,
            tags=memory.tags,
            metadata=memory.metadata,
            source=memory.source,
            speaker=memory.speaker,
            session=memory.session,
            occurred_at=memory.occurred_at,
        ),
        now,
    )
    return Memory(
        id=id_ or untrusted_id(memory, namespace),
        namespace=namespace,
        session=session_of(memory.session),
        agent="default",
        content=memory.content,
        kind=Kind.OBSERVATION,
        tier=Tier.LONG_TERM,
        importance=0.0,
        created_at=min(memory.created_at, now),
        content_hash=content_hash(memory.content),
        tags=request.tags,
        metadata=memory.metadata,
        source=memory.source,
        speaker=memory.speaker,
        origin=Origin.IMPORT,
        trust=Trust.UNTRUSTED,
        occurred_at=memory.occurred_at,
        expires_at=memory.expires_at,
        forgotten_at=None if memory.forgotten_at is None else min(memory.forgotten_at, now),
    )


def weighed(memory: Memory) -> Memory:
    """Return a memory of an untrusted line with the importance that its words have."""
    return replace(memory, importance=heuristic_importance(memory.content, kind=Kind.OBSERVATION))


def untrusted_id(memory: Memory, namespace: str) -> MemoryId:
    """Return the id under which a memory of an untrusted export is stored: the same line has the same one."""
    parts = [namespace, memory.id, memory.session, memory.created_at.astimezone(UTC).isoformat(), memory.content]
    return id_of("export\n" + json.dumps(parts))


def session_of(name: str | None) -> str:
    """Return the session of a line that names one; it is none of the user's."""
    if name is None or name == SESSION:
        return SESSION
    name = _SESSION_PREFIX + name.removeprefix(_SESSION_PREFIX)
    if len(name) <= NAME_LIMIT:
        return name
    digest = hashlib.blake2b(name.encode(), digest_size=_DIGEST_BYTES).hexdigest()
    return f"{name[: NAME_LIMIT - len(digest) - 1]}:{digest}"


@dataclass(frozen=True, slots=True)
class Links:
    """The links of a memory to others, by their fields in `Memory`."""

    supersedes: MemoryId | None = None
    superseded_by: MemoryId | None = None
    duplicate_of: MemoryId | None = None
    disputes: MemoryId | None = None
    parents: tuple[MemoryId, ...] = ()

    @classmethod
    def of(cls, memory: Memory) -> Links:
        """Return the links of a memory."""
        return cls(memory.supersedes, memory.superseded_by, memory.duplicate_of, memory.disputes, memory.parents)

    @property
    def count(self) -> int:
        """How many there are."""
        one_each = (self.supersedes, self.superseded_by, self.duplicate_of, self.disputes)
        return sum(one is not None for one in one_each) + len(self.parents)


_NO_LINKS = Links()


@dataclass(slots=True)
class _Line:
    """A memory of the file: its id in the store, what is there under that already, and the digest of its words."""

    id: MemoryId
    there: ExistingMemory | None
    digest: str


@dataclass(slots=True)
class FileLineage:
    """Which links of an untrusted file count: those to an earlier line of the same file that is new too.

    To an earlier line, because what is derived or replaces comes later; so there are no circles. A memory is superseded only if
    both lines say so. A duplicate must have the same words. A line that an earlier import of the same file stored may be linked to
    as long as nobody has vouched for it since. ``dropped`` counts the links that do not count, of the lines added so far.
    """

    _lines: dict[str, _Line] = field(default_factory=dict)
    _links: dict[str, Links] = field(default_factory=dict)
    _claims: dict[str, str] = field(default_factory=dict)
    _said: int = 0
    _kept: int = 0

    @property
    def dropped(self) -> int:
        """How many links do not count."""
        return self._said - self._kept

    def add(self, line: Memory, stored: Memory, there: ExistingMemory | None) -> None:
        """Add a line as the file has it and as it is stored, and what the store has under its id already."""
        links = Links.of(line)
        self._said += links.count
        if links.superseded_by is not None:
            self._claims[line.id] = links.superseded_by
        kept = Links(
            supersedes=self._superseded(links.supersedes, line.id, stored.id),
            duplicate_of=self._duplicate(links.duplicate_of, stored.content_hash),
            disputes=self._disputed(links.disputes),
            parents=self._parents(links.parents),
        )
        self._lines[line.id] = _Line(stored.id, there, stored.content_hash)
        if kept.count:
            self._kept += kept.count
            self._merge(line.id, kept)

    def skip(self, line: Memory) -> None:
        """Add a line whose memory is in the store already as somebody's own: nothing of the file may be linked to it."""
        self._said += Links.of(line).count

    def linked(self, file_id: str, stored: Memory) -> Memory:
        """Return the memory of a line that was added, with its links that count."""
        links = self._links.get(file_id)
        if links is None:
            return stored
        return replace(
            stored,
            supersedes=links.supersedes,
            superseded_by=links.superseded_by,
            duplicate_of=links.duplicate_of,
            disputes=links.disputes,
            parents=links.parents,
        )

    def has(self, file_id: str) -> bool:
        """Return True if the line of an id was added and not skipped."""
        return file_id in self._lines

    def _target(self, file_id: str | None) -> _Line | None:
        found = None if file_id is None else self._lines.get(file_id)
        if found is None or (found.there is not None and found.there.trust is not Trust.UNTRUSTED):
            return None
        return found

    def _superseded(self, file_id: MemoryId | None, by: str, by_id: MemoryId) -> MemoryId | None:
        target = self._target(file_id)
        if file_id is None or target is None or self._claims.get(file_id) != by:
            return None
        if target.there is not None:
            if target.there.superseded_by != by_id:
                return None
        else:
            self._merge(file_id, Links(superseded_by=by_id))
        self._kept += 1  # the other end; the caller counts this one
        return target.id

    def _duplicate(self, file_id: MemoryId | None, digest: str) -> MemoryId | None:
        target = self._target(file_id)
        return target.id if target is not None and target.digest == digest else None

    def _disputed(self, file_id: MemoryId | None) -> MemoryId | None:
        target = self._target(file_id)
        return None if target is None else target.id

    def _parents(self, file_ids: Sequence[MemoryId]) -> tuple[MemoryId, ...]:
        targets = [self._target(one) for one in dict.fromkeys(file_ids)]
        return tuple(one.id for one in targets if one is not None)

    def _merge(self, file_id: str, more: Links) -> None:
        known = self._links.get(file_id, _NO_LINKS)
        self._links[file_id] = Links(
            supersedes=more.supersedes or known.supersedes,
            superseded_by=more.superseded_by or known.superseded_by,
            duplicate_of=more.duplicate_of or known.duplicate_of,
            disputes=more.disputes or known.disputes,
            parents=more.parents or known.parents,
        )
