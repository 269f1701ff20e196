"""What the five tools take: strict argument models, their plain JSON schemas, and the way into core requests."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime, tzinfo
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from hybrid_memory.errors import InvalidInput
from hybrid_memory.model import MemoryId, MemoryType, Origin, Trust
from hybrid_memory.requests import ForgetRequest, Insight, ReadRequest, UpdateRequest, Where, WriteRequest

CONTENT_LIMIT = 100_000
LEAST_BUDGET = 100
MOST_BUDGET = 200_000


def _from_json_text(value: Any) -> Any:
    """Some clients send a list or an object as the text of its JSON."""
    if isinstance(value, str) and value[:1] in ("[", "{"):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


def _whole(value: Any) -> Any:
    """JSON has one kind of number: 8.0 is 8."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


_Unwrapped = BeforeValidator(_from_json_text)
_Whole = BeforeValidator(_whole)

Texts = Annotated[list[str], _Unwrapped]
Fraction = Annotated[float, Field(ge=0, le=1)]
Content = Annotated[str, Field(min_length=1, max_length=CONTENT_LIMIT)]
FreeObject = Annotated[dict[str, Any], _Unwrapped]


class Arguments(BaseModel):
    """Base of all argument objects: exact types, no unknown names."""

    model_config = ConfigDict(strict=True, extra="forbid", hide_input_in_errors=True)


class WhereArguments(Arguments):
    """Filters; all given ones must hold."""

    memory_type: Literal["short_term", "working", "long_term", "episodic"] | None = None
    tags: Texts | None = Field(None, description="All of these")
    metadata: FreeObject | None = None
    session: str | None = None
    speaker: str | None = None
    since: str | None = None
    until: str | None = Field(None, description="Excluded")
    as_of: str | None = Field(None, description="What was known then")
    min_trust: Literal["untrusted", "agent", "user", "confirmed"] | None = None


class WriteArguments(Arguments):
    """Arguments of write_memory."""

    content: Content = Field(description="One self-contained statement")
    memory_type: Literal["short_term", "working", "long_term", "episodic"] | None = Field(
        None, description="Default short_term; working: state of the current task; episodic: summary of a session"
    )
    importance: Fraction | None = None
    tags: Texts | None = None
    metadata: FreeObject | None = None
    source: str | None = Field(None, description="Where it was found")
    speaker: str | None = Field(None, description="Who said it")
    origin: Literal["user", "agent", "tool", "import", "derived"] | None = Field(None, description="Default agent")
    session: str | None = None
    occurred_at: str | None = Field(None, description="ISO 8601")
    key: str | None = Field(None, description="With working: replaces the value of this key")
    expires_at: str | None = None
    supersedes: str | None = Field(None, description="Id of the memory that this corrects")


class ReadArguments(Arguments):
    """Arguments of read_memories."""

    query: str | None = None
    limit: Annotated[int, Field(ge=1, le=100), _Whole] | None = Field(None, description="Default 8")
    token_budget: Annotated[int, Field(ge=LEAST_BUDGET, le=MOST_BUDGET), _Whole] | None = Field(
        None, description="Default 1500"
    )
    where: Annotated[WhereArguments, _Unwrapped] | None = None
    ids: Texts | None = Field(None, description="Instead of query: fetch these")
    cursor: str | None = Field(None, description="Continues an earlier answer")
    explain: bool | None = Field(None, description="Add the parts of each score")


class InsightArguments(Arguments):
    """One thought with its evidence."""

    text: Content
    evidence: Texts = Field(min_length=1, description="Ids it rests on")
    importance: Fraction | None = None


class ReflectArguments(Arguments):
    """Arguments of reflect."""

    focus: str | None = Field(None, description="Topic")
    session: str | None = None
    since: str | None = None
    insights: Annotated[list[Annotated[InsightArguments, _Unwrapped]], Field(min_length=1), _Unwrapped] | None = None


class UpdateArguments(Arguments):
    """Arguments of update_memory."""

    id: str
    content: Content | None = None
    importance: Fraction | None = None
    tags: Texts | None = None
    pinned: bool | None = None
    expires_at: str | None = None


class ForgetArguments(Arguments):
    """Arguments of forget_memories."""

    ids: Texts | None = None
    where: Annotated[WhereArguments, _Unwrapped] | None = None
    count: Annotated[int, Field(ge=0), _Whole] | None = Field(None, description="With where: the number to confirm")
    restore: bool | None = Field(None, description="Bring back instead")


def plain_schema(model: type[BaseModel]) -> dict[str, Any]:
    """Return the model's JSON schema without references, titles, defaults and null alternatives, to save tokens.

    An optional argument may still be null; the schema need not say so.
    """
    full = model.model_json_schema()
    return _plain(full, full.get("$defs", {}), is_model=True)


def write_request(given: WriteArguments, zone: tzinfo | None) -> WriteRequest:
    """Return the core's request; dates without a zone are in ``zone``."""
    return WriteRequest(
        content=given.content,
        memory_type=MemoryType(given.memory_type or MemoryType.SHORT_TERM),
        importance=given.importance,
        tags=tuple(given.tags or ()),
        metadata=given.metadata or {},
        source=given.source,
        speaker=given.speaker,
        origin=Origin(given.origin or Origin.AGENT),
        session=given.session,
        occurred_at=moment("occurred_at", given.occurred_at, zone),
        key=given.key,
        expires_at=moment("expires_at", given.expires_at, zone),
        supersedes=None if given.supersedes is None else MemoryId(given.supersedes.strip()),
    )


def read_request(given: ReadArguments, zone: tzinfo | None) -> ReadRequest:
    """Return the core's request; dates without a zone are in ``zone``."""
    return ReadRequest(
        query=given.query or "",
        limit=8 if given.limit is None else given.limit,
        where=_where(given.where, zone),
        ids=_ids(given.ids),
        cursor=given.cursor,
        explain=bool(given.explain),
        zone=zone,
    )


def insights(given: ReflectArguments) -> tuple[Insight, ...]:
    """Return the core's insights."""
    return tuple(
        Insight(text=one.text, evidence=_ids(one.evidence), importance=one.importance) for one in given.insights or ()
    )


def update_request(given: UpdateArguments, zone: tzinfo | None) -> UpdateRequest:
    """Return the core's request; dates without a zone are in ``zone``."""
    return UpdateRequest(
        id=MemoryId(given.id.strip()),
        content=given.content,
        importance=given.importance,
        tags=None if given.tags is None else tuple(given.tags),
        pinned=given.pinned,
        expires_at=moment("expires_at", given.expires_at, zone),
    )


def forget_request(given: ForgetArguments, zone: tzinfo | None) -> ForgetRequest:
    """Return the core's request; dates without a zone are in ``zone``."""
    return ForgetRequest(
        ids=_ids(given.ids),
        where=None if given.where is None else _where(given.where, zone),
        count=given.count,
        restore=bool(given.restore),
    )


def moment(field: str, text: str | None, zone: tzinfo | None) -> datetime | None:
    """Return the moment that an ISO 8601 text names; without a zone it is in ``zone``, which is this process's own when None.

    A date alone is its first moment.

    Raises:
        InvalidInput: the text is no date, or lies outside the years 1 to 9999.
    """
    if text is None:
        return None
    try:
        given = datetime.fromisoformat(text.strip())
        aware = given if given.tzinfo is not None else _in_zone(given, zone)
        aware.astimezone(UTC)
    except (ValueError, OverflowError, OSError):
        raise InvalidInput(field, "is not an ISO 8601 date; write 2026-01-31 or 2026-01-31T09:30") from None
    return aware


def _in_zone(moment: datetime, zone: tzinfo | None) -> datetime:
    return moment.astimezone() if zone is None else moment.replace(tzinfo=zone)


def _where(given: WhereArguments | None, zone: tzinfo | None) -> Where:
    if given is None:
        return Where()
    return Where(
        memory_type=MemoryType(given.memory_type) if given.memory_type else None,
        tags=tuple(given.tags or ()),
        metadata=given.metadata or {},
        session=given.session,
        speaker=given.speaker,
        since=moment("where.since", given.since, zone),
        until=moment("where.until", given.until, zone),
        as_of=moment("where.as_of", given.as_of, zone),
        min_trust=Trust(given.min_trust) if given.min_trust else None,
    )


def _ids(given: list[str] | None) -> tuple[MemoryId, ...]:
    return tuple(MemoryId(one.strip()) for one in given or ())


_NOISE = frozenset({"title", "default", "$defs"})


def _plain(node: Mapping[str, Any], shared: Mapping[str, Any], *, is_model: bool = False) -> dict[str, Any]:
    if "$ref" in node:
        target = shared[node["$ref"].rsplit("/", 1)[-1]]
        rest = {name: value for name, value in node.items() if name != "$ref"}
        return _plain(target, shared, is_model=True) | _plain(rest, shared)
    branches = [one for one in node.get("anyOf", ()) if one.get("type") != "null"]
    if len(branches) == 1:
        rest = {name: value for name, value in node.items() if name != "anyOf"}
        return _plain(branches[0], shared) | _plain(rest, shared)
    plain: dict[str, Any] = {}
    for name, value in node.items():
        if name in _NOISE or (name == "description" and is_model) or (name, value) == ("additionalProperties", True):
            continue
        if name == "properties":
            plain[name] = {key: _plain(inner, shared) for key, inner in value.items()}
        elif name == "items":
            plain[name] = _plain(value, shared)
        else:
            plain[name] = value
    return plain
