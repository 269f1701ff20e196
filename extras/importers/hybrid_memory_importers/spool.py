"""The lines that an import consists of: what was chosen of a source, by time, each once, in a private file that the store reads.

The file lies in the store's folder while the command runs. The process that parses other programs' files writes it, so that whoever has
the store open only sees lines that are short, checked and of one form.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final, TypeAlias

from hybrid_memory.errors import InvalidInput
from hybrid_memory.ids import id_of
from hybrid_memory.language.text import content_hash
from hybrid_memory.model import MemoryId
from hybrid_memory.moments import is_in_range
from hybrid_memory.requests import WriteRequest
from hybrid_memory.validation import CONTENT_LIMIT, NAME_LIMIT, TAG_LIMIT, TAGS_LIMIT, check_write
from hybrid_memory_importers.longer_forms import LongerForms
from hybrid_memory_importers.record import Author, Chosen, Record, RecordKind

if TYPE_CHECKING:
    from hybrid_memory.model import Json

SESSION_PREFIX: Final = "import"
_DIGEST_BYTES = 8  # tells apart names that had to be cut
_HIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")
_MOMENTS = ("at", "occurred_at", "expires_at", "forgotten_at")


@dataclass(frozen=True, slots=True, kw_only=True)
class SpoolLine:
    """One memory that is to come in. ``told`` says that it is the person's own, as told to another assistant; moments are UTC.

    ``rules_of`` as in `Record`.
    """

    id: MemoryId
    content: str
    session: str
    told: bool
    digest: str
    at: datetime | None = None
    importance: float | None = None
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, Json] = field(default_factory=dict)
    source: str | None = None
    speaker: str | None = None
    occurred_at: datetime | None = None
    expires_at: datetime | None = None
    forgotten_at: datetime | None = None
    supersedes: MemoryId | None = None
    superseded_by: MemoryId | None = None
    parents: tuple[MemoryId, ...] = ()
    rules_of: str | None = None

    @property
    def may_contain(self) -> bool:
        """Whether a shorter statement may be passed over for this one: it is a fact that holds on."""
        return self.forgotten_at is None and self.expires_at is None

    @property
    def may_be_a_part(self) -> bool:
        """Whether this one may be passed over for a longer statement. A rule may not: "never push" says more than "never push today"."""
        return self.may_contain and self.rules_of is None and not self.parents

    def encoded(self) -> bytes:
        """Return the line of a file."""
        values = ((name, getattr(self, name)) for name in _NAMES)
        kept: dict[str, Json] = {name: value for name, value in values if value not in _LEFT_OUT}
        for name in _MOMENTS:
            if name in kept:
                kept[name] = getattr(self, name).isoformat()
        return json.dumps(kept, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"

    @classmethod
    def decoded(cls, line: bytes) -> SpoolLine:
        """Return what a line of a file says.

        Raises:
            InvalidInput: it is none.
        """
        try:
            values = json.loads(line)
            for name in _MOMENTS:
                if name in values:
                    values[name] = datetime.fromisoformat(values[name])
            for name in ("tags", "parents"):
                values[name] = tuple(values.get(name, ()))
            return cls(**values)
        except (ValueError, TypeError, AttributeError):
            raise InvalidInput(
                "file", "is no list of memories that this program made; import the source again"
            ) from None


_NAMES = tuple(one.name for one in fields(SpoolLine))
_LEFT_OUT: tuple[object, ...] = (None, (), {})


def line_of(chosen: Chosen, format_name: str, namespace: str, *, told: bool) -> SpoolLine:
    """Return what is chosen as a line, checked as a write is; its id is made of what it is and says, so that it is known again.

    Links are not in it: their ends are known when all lines are.

    Raises:
        InvalidInput: it cannot be stored; ``problem`` says why.
    """
    record = chosen.record
    content = _HIDDEN.sub("", chosen.text)
    if not content.strip():
        raise InvalidInput("content", "is empty")
    if len(content) > CONTENT_LIMIT:
        raise InvalidInput("content", f"is longer than {CONTENT_LIMIT:,} characters")
    line = SpoolLine(
        id=id_of("record\n" + json.dumps([namespace, format_name, record.key, chosen.part, content])),
        content=content,
        session=session_name(f"{format_name}:{record.conversation}" if record.conversation else format_name),
        told=told and (record.kind is RecordKind.MEMORY or record.author is Author.PERSON),
        digest=content_hash(content),
        at=_moment(record.at),
        importance=chosen.importance,
        tags=_tags(chosen.tags),
        metadata=_metadata(record),
        source=_name(record.source) or format_name,
        speaker=_name(record.speaker)
        or ("assistant" if record.author is Author.ASSISTANT and record.kind is RecordKind.MESSAGE else None),
        occurred_at=_moment(record.occurred_at),
        expires_at=_moment(record.expires_at),
        forgotten_at=_moment(record.forgotten_at),
        rules_of=record.rules_of,
    )
    return _checked(line)


def session_name(name: str) -> str:
    """Return the session of what comes in from a conversation; it is none of the user's own."""
    name = f"{SESSION_PREFIX}:{' '.join(_HIDDEN.sub('', name).split())}"
    if len(name) <= NAME_LIMIT:
        return name
    digest = hashlib.blake2b(name.encode(), digest_size=_DIGEST_BYTES).hexdigest()
    return f"{name[: NAME_LIMIT - len(digest) - 1]}:{digest}"


_Name: TypeAlias = tuple[str, int]
"""A record's key and a part of it."""


@dataclass(frozen=True, slots=True)
class _Taken:
    """A line that lies in the draft: what decides whether and when it comes in."""

    at: float
    place: int
    name: _Name
    id: MemoryId
    told: bool
    digest: str
    rules_of: str | None
    said_in: object

    @property
    def words(self) -> tuple[bool, str | None, str]:
        return self.told, self.rules_of, self.digest


class SpoolWriter:
    """Takes lines in the order of a source and gives them in the order of time, the same words of the same author once.

    ``draft`` is an open file for what is taken until everything is known; of each line little is held in memory.
    ``repeated`` counts what is not given because its words were there, ``contained`` because a longer statement has them.
    """

    def __init__(self, draft: BinaryIO) -> None:
        self._draft = draft
        self._taken: list[_Taken] = []
        self._older: dict[_Name, _Name] = {}
        self._parents: dict[_Name, tuple[str, ...]] = {}
        self._corrections: dict[_Name, _Name] = {}
        self._shorter: LongerForms[int] = LongerForms()
        self.repeated = self.contained = 0

    def add(self, chosen: Chosen, line: SpoolLine) -> None:
        """Take a line. What its links mean is looked up when all lines are there."""
        at = float("inf") if line.at is None else line.at.timestamp()  # what has no time counts as told now
        record, name = chosen.record, (chosen.record.key, chosen.part)
        self._taken.append(
            _Taken(
                at,
                self._draft.tell(),
                name,
                line.id,
                line.told,
                line.digest,
                line.rules_of,
                line.metadata.get("folder"),
            )
        )
        self._draft.write(line.encoded())
        if line.may_be_a_part:
            self._shorter.add(len(self._taken) - 1, line.content)
        if chosen.supersedes is not None:
            self._older[name] = chosen.supersedes
        if record.superseded_by is not None:
            self._older.setdefault((record.superseded_by, 0), name)
        if record.parents:
            self._parents[name] = record.parents

    def lines(self) -> Iterator[SpoolLine]:
        """Yield what comes in, in the order of time, with its links."""
        self._draft.flush()
        kept = self._without_parts(self._without_repetitions())
        ids = {one.name: one.id for one in kept}
        older_of = self._corrections
        newer_of = {older: name for name, older in older_of.items()}
        for one in kept:
            line = self._line(one)
            older, newer = older_of.get(one.name), newer_of.get(one.name)
            parents = [(parent, 0) for parent in self._parents.get(one.name, ())]
            yield replace(
                line,
                supersedes=ids[older] if older is not None and newer_of[older] == one.name else None,
                superseded_by=None if newer is None else ids[newer],
                parents=tuple(ids[parent] for parent in parents if parent in ids and parent != one.name),
            )

    def _line(self, taken: _Taken) -> SpoolLine:
        self._draft.seek(taken.place)
        return SpoolLine.decoded(self._draft.readline())

    def _without_parts(self, kept: list[_Taken]) -> list[_Taken]:
        """Return what no longer statement of the same place contains. What has versions, or is rested on, stays."""
        linked = {*self._corrections, *self._corrections.values()}
        linked.update((parent, 0) for parents in self._parents.values() for parent in parents)
        corrected = set(self._corrections.values())
        parts: set[int] = set()
        for one in kept:
            line = self._line(one)
            if one.name in corrected or not line.may_contain:
                continue
            for at in self._shorter.contained_in(line.content):
                shorter = self._taken[at]
                if shorter.name not in linked and (shorter.told, shorter.said_in) == (one.told, one.said_in):
                    parts.add(shorter.place)
        self.contained = sum(one.place in parts for one in kept)
        return [one for one in kept if one.place not in parts]

    def _without_repetitions(self) -> list[_Taken]:
        """Return what comes in. What was corrected and is said again later is true again, so it is no repetition."""
        kept: list[_Taken] = []
        by_name: dict[_Name, _Taken] = {}
        ids: set[MemoryId] = set()
        current: dict[tuple[bool, str | None, str], _Name] = {}
        for one in sorted(self._taken, key=lambda taken: taken.at):
            older = by_name.get(self._older.get(one.name, ("", -1)))
            if one.id in ids or (one.words in current and older is None):
                self.repeated += 1
                continue
            if older is not None:
                self._corrections[one.name] = older.name
                if current.get(older.words) == older.name:
                    del current[older.words]
            current[one.words] = one.name
            by_name[one.name] = one
            ids.add(one.id)
            kept.append(one)
        return kept


def write_spool(file: BinaryIO, lines: Iterable[SpoolLine], salt: Sequence[str]) -> tuple[int, str]:
    """Write lines to a file; returns how many there are and a digest of them and of ``salt``, by which the import is known again."""
    digest = hashlib.blake2b(json.dumps(list(salt)).encode(), digest_size=_ID_BYTES)
    count = 0
    for line in lines:
        encoded = line.encoded()
        file.write(encoded)
        digest.update(encoded)
        count += 1
    return count, digest.hexdigest()


_ID_BYTES = 5  # ten hex digits: short enough to type, and nobody has a million imports


def read_spool(file: Path) -> Iterator[SpoolLine]:
    """Yield the lines of a file.

    Raises:
        InvalidInput: it is not one that this program made.
    """
    from hybrid_memory.private_files import open_plain_file

    try:
        with open_plain_file(file) as stream:
            for line in stream:
                yield SpoolLine.decoded(line)
    except OSError:
        raise InvalidInput("file", "is not there, or cannot be read; import the source again") from None


def _checked(line: SpoolLine) -> SpoolLine:
    request = WriteRequest(
        content=line.content,
        importance=line.importance,
        tags=line.tags,
        source=line.source,
        speaker=line.speaker,
        session=line.session,
        metadata=line.metadata,
    )
    try:
        return replace(line, tags=check_write(request, _LONG_AGO).tags)
    except InvalidInput as error:
        if error.field == "content":
            raise InvalidInput("content", "holds characters that hide text") from None
        if not error.field.startswith("metadata"):
            raise
    return _checked(replace(line, metadata={}))


_LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)


def _moment(moment: datetime | None) -> datetime | None:
    if moment is None or moment.tzinfo is None:
        return None
    try:
        return moment.astimezone(UTC) if is_in_range(moment) else None
    except (OverflowError, ValueError):
        return None


def _tags(tags: Sequence[str]) -> tuple[str, ...]:
    cleaned = (" ".join(_HIDDEN.sub("", tag).split())[:TAG_LIMIT] for tag in tags)
    return tuple(dict.fromkeys(tag for tag in cleaned if tag))[:TAGS_LIMIT]


def _name(name: str | None) -> str | None:
    cleaned = "" if name is None else " ".join(_HIDDEN.sub("", name).split())[:NAME_LIMIT]
    return cleaned or None


def _metadata(record: Record) -> dict[str, Json]:
    metadata = dict(record.metadata)
    title = _name(record.title)
    return metadata | {"title": title} if title else metadata
