"""One memory as one Markdown file: what is known of it in the frontmatter, its words as the body; and back again.

The body is what a person reads, made inert (`hybrid_memory_importers.markdown.inert`). Words that would not survive that, or an editor, are
in the frontmatter too, exactly. A body that somebody edited since counts for more than they do.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, TypeVar

from hybrid_memory.errors import InvalidInput
from hybrid_memory.language.text import content_hash
from hybrid_memory.model import Json, Kind, Memory, MemoryId, Origin, Tier, Trust, Verdict
from hybrid_memory.moments import OUT_OF_RANGE, is_in_range
from hybrid_memory_importers.markdown import seal
from hybrid_memory_importers.markdown.frontmatter import FrontmatterError, parse, split, written
from hybrid_memory_importers.markdown.inert import inert, is_shown_whole, spoken

E = TypeVar("E", bound=StrEnum)

_LINKS = ("supersedes", "superseded_by", "duplicate_of", "disputes")
_TIMES = ("occurred_at", "expires_at", "forgotten_at", "reflected_at")
_NAMES = ("source", "speaker", "key")
_OWN = frozenset({
    "id", "namespace", "created_at", *_TIMES, "session", "agent", "kind", "tier", "importance", "pinned", "tags", "origin", "trust",
    "verdict", *_NAMES, *_LINKS, "parents", "metadata", "text", seal.FIELD,
})  # fmt: skip
OKF_FIELDS = frozenset({"type", "title", "description", "generated", "status", "stale_after", "sources"})
"""What an export as OKF says of a memory in that format's own words; the same is in our fields."""
_LONGEST_KEY = 500  # characters of a name in metadata: PyYAML takes 1,024 bytes at most
_DEEPEST_METADATA = 20
_USUAL_IMPORTANCE = 0.5


def memory_file(memory: Memory, head: Mapping[str, Json] | None = None) -> bytes:
    """Return the bytes of a memory's file; ``head`` are fields that stand before ours, as another format wants them.

    The same memory gives the same bytes. How often it was recalled is not in them: a file would change with each question.
    """
    fields: dict[str, Json] = {**(head or {})}
    fields |= {"id": memory.id, "namespace": memory.namespace, "created_at": memory.created_at.isoformat()}
    fields |= {name: _iso(getattr(memory, name)) for name in _TIMES}
    fields |= {"session": memory.session, "agent": None if memory.agent == "default" else memory.agent}
    fields |= {name: getattr(memory, name) for name in _NAMES}
    fields |= {"kind": memory.kind.value, "tier": memory.tier.value, "importance": memory.importance}
    fields |= {"pinned": memory.pinned or None, "tags": list(memory.tags) or None}
    fields |= {"origin": memory.origin.value, "trust": memory.trust.value}
    fields |= {"verdict": None if memory.verdict is None else memory.verdict.value}
    fields |= {name: getattr(memory, name) for name in _LINKS}
    fields |= {"parents": list(memory.parents) or None, "metadata": _metadata(memory.metadata)}
    fields |= {"text": None if is_shown_whole(memory.content) else memory.content, seal.FIELD: seal.unsealed_value()}
    return seal.sealed_in_frontmatter(f"{written(fields)}\n{inert(memory.content)}\n")


def read_memory_file(text: str) -> Memory | None:
    """Return the memory of a file that `memory_file` wrote, or that somebody edited since; None for any other file.

    Fields that somebody added are in its metadata. Nothing here is believed: what a file may say of a memory, an import decides.

    Raises:
        InvalidInput: it is such a file, and a field of it is missing or no longer what it was.
    """
    block, body = split(text)
    if block is None or seal.FIELD not in block or seal.MARK not in block:
        return None
    try:
        fields = parse(block)
    except FrontmatterError:
        return None
    if not str(fields.get(seal.FIELD, "")).startswith(seal.MARK + " "):
        return None
    content = _content(fields.get("text"), body)
    return Memory(
        id=MemoryId(_text(fields, "id")),
        namespace=_text(fields, "namespace"),
        session=_text(fields, "session", ""),
        agent=_text(fields, "agent", "default"),
        content=content,
        kind=_one_of(Kind, fields, "kind", Kind.OBSERVATION),
        tier=_one_of(Tier, fields, "tier", Tier.LONG_TERM),
        importance=_fraction(fields.get("importance")),
        created_at=_moment(fields, "created_at"),
        content_hash=content_hash(content),
        pinned=fields.get("pinned") is True,
        tags=_texts(fields, "tags"),
        metadata=_read_metadata(fields),
        source=_maybe_text(fields, "source"),
        speaker=_maybe_text(fields, "speaker"),
        key=_maybe_text(fields, "key"),
        origin=_one_of(Origin, fields, "origin", Origin.IMPORT),
        trust=_one_of(Trust, fields, "trust", Trust.UNTRUSTED),
        occurred_at=_maybe_moment(fields, "occurred_at"),
        expires_at=_maybe_moment(fields, "expires_at"),
        forgotten_at=_maybe_moment(fields, "forgotten_at"),
        reflected_at=_maybe_moment(fields, "reflected_at"),
        supersedes=_maybe_id(fields, "supersedes"),
        superseded_by=_maybe_id(fields, "superseded_by"),
        duplicate_of=_maybe_id(fields, "duplicate_of"),
        disputes=_maybe_id(fields, "disputes"),
        parents=tuple(map(MemoryId, _texts(fields, "parents"))),
        verdict=_verdict(fields.get("verdict")),
    )


def read_moment(value: object) -> datetime | None:
    """Return the moment that a field of somebody's frontmatter names, None where it names none.

    A day is its beginning; without a zone it is UTC.
    """
    if not isinstance(value, str) or not 8 <= len(value) <= 40:  # noqa: PLR2004 - the shortest and the longest way to write one
        return None
    try:
        moment = datetime.fromisoformat(value.strip())
    except ValueError:
        return None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return moment if is_in_range(moment) else None


def _content(exact: object, body: str) -> str:
    """Return the words: those that stand exactly in the frontmatter, unless the body says something else by now."""
    shown = body.replace("\r\n", "\n").removeprefix("\n").removesuffix("\n")
    if isinstance(exact, str) and _blanks_apart(inert(exact)) == _blanks_apart(shown):
        return exact
    return spoken(shown.strip("\n"))


def _blanks_apart(text: str) -> list[str]:
    return [line.rstrip() for line in text.strip().splitlines()]


def _metadata(metadata: Mapping[str, Json]) -> Json:
    """Return metadata as a field: an object, or its JSON as text where readers of YAML would not take that."""
    if not metadata:
        return None
    return dict(metadata) if _is_plain(metadata, _DEEPEST_METADATA) else json.dumps(metadata, ensure_ascii=False)


def _is_plain(value: object, levels: int) -> bool:
    if isinstance(value, Mapping):
        return levels > 0 and all(
            len(name) <= _LONGEST_KEY and _is_plain(inner, levels - 1) for name, inner in value.items()
        )
    if isinstance(value, list | tuple):
        return levels > 0 and all(_is_plain(inner, levels - 1) for inner in value)
    return True


def _read_metadata(fields: Mapping[str, Any]) -> dict[str, Json]:
    value = fields.get("metadata")
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            raise InvalidInput("metadata", "is no list of fields") from None
    if value is not None and not isinstance(value, dict):
        raise InvalidInput("metadata", "is no list of fields")
    added = {name: inner for name, inner in fields.items() if name not in _OWN and name not in OKF_FIELDS}
    return added | (value or {})


def _iso(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()


def _text(fields: Mapping[str, Any], name: str, usual: str | None = None) -> str:
    found = _maybe_text(fields, name)
    if found is None and usual is None:
        raise InvalidInput(name, "is missing in the frontmatter")
    return found if found is not None else str(usual)


def _maybe_text(fields: Mapping[str, Any], name: str) -> str | None:
    value = fields.get(name)
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)  # an editor of properties takes the quotes off what looks like a number
    raise InvalidInput(name, "is no text in the frontmatter")


def _maybe_id(fields: Mapping[str, Any], name: str) -> MemoryId | None:
    value = _maybe_text(fields, name)
    return None if value is None else MemoryId(value)


def _texts(fields: Mapping[str, Any], name: str) -> tuple[str, ...]:
    value = fields.get(name)
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(one, str | int | float) for one in value):
        raise InvalidInput(name, "is no list of texts in the frontmatter")
    return tuple(map(str, value))


def _moment(fields: Mapping[str, Any], name: str) -> datetime:
    found = _maybe_moment(fields, name)
    if found is None:
        raise InvalidInput(name, "is missing in the frontmatter")
    return found


def _maybe_moment(fields: Mapping[str, Any], name: str) -> datetime | None:
    value = fields.get(name)
    if value is None:
        return None
    found = read_moment(value)
    if found is None:
        raise InvalidInput(name, f"is no time in the frontmatter, or {OUT_OF_RANGE}")
    return found


def _one_of(kind: type[E], fields: Mapping[str, Any], name: str, usual: E) -> E:
    try:
        return kind(fields.get(name, usual))
    except ValueError:
        return usual


def _verdict(value: object) -> Verdict | None:
    return Verdict(value) if value in [one.value for one in Verdict] else None


def _fraction(value: object) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1:
        return float(value)
    return _USUAL_IMPORTANCE
