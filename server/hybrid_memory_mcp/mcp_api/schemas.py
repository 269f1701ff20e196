"""What the five tools take and give: pydantic models of the arguments, which make the library's requests, and the output schemas.

A length or a count is checked here only where a model should see it in the schema; the figure is that
of `hybrid_memory.validation`, which checks every request for all callers.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime, tzinfo
from typing import Annotated, Any, Final, Literal, TypeAlias

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from hybrid_memory.errors import InvalidInput
from hybrid_memory.model import MemoryId, MemoryType, Origin, Trust
from hybrid_memory.requests import (
    BRIEF_PAGE,
    DEFAULT_PAGE,
    ForgetRequest,
    Insight,
    ReadRequest,
    UpdateRequest,
    Where,
    WriteRequest,
)
from hybrid_memory.validation import CONTENT_LIMIT, PAGE_LIMIT

DEFAULT_TOKEN_BUDGET = 1500  # a page that an assistant can afford at every turn
MIN_TOKEN_BUDGET = 100  # the smallest page: one memory, cut, and its cursor
MAX_TOKEN_BUDGET = 200_000  # the context of a large model


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
    """Base of all argument objects: exact types, no unknown names, no given value in an error."""

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

    def to_filters(self, zone: tzinfo | None) -> Where:
        """Return the library's filters; dates without a zone are in ``zone``."""
        return Where(
            memory_type=MemoryType(self.memory_type) if self.memory_type else None,
            tags=tuple(self.tags or ()),
            metadata=self.metadata or {},
            session=self.session,
            speaker=self.speaker,
            since=moment("where.since", self.since, zone),
            until=moment("where.until", self.until, zone),
            as_of=moment("where.as_of", self.as_of, zone),
            min_trust=Trust(self.min_trust) if self.min_trust else None,
        )


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
    pinned: bool | None = Field(None, description="In every brief")

    def to_request(self, zone: tzinfo | None) -> WriteRequest:
        """Return the library's request; dates without a zone are in ``zone``."""
        return WriteRequest(
            content=self.content,
            memory_type=MemoryType(self.memory_type or MemoryType.SHORT_TERM),
            importance=self.importance,
            tags=tuple(self.tags or ()),
            metadata=self.metadata or {},
            source=self.source,
            speaker=self.speaker,
            origin=Origin(self.origin or Origin.AGENT),
            session=self.session,
            occurred_at=moment("occurred_at", self.occurred_at, zone),
            key=self.key,
            expires_at=moment("expires_at", self.expires_at, zone),
            supersedes=None if self.supersedes is None else MemoryId(self.supersedes.strip()),
            pinned=bool(self.pinned),
        )


class ReadArguments(Arguments):
    """Arguments of read_memories."""

    query: str | None = None
    limit: Annotated[int, Field(ge=1, le=PAGE_LIMIT), _Whole] | None = Field(
        None, description=f"Default {DEFAULT_PAGE}, of a brief {BRIEF_PAGE}"
    )
    token_budget: Annotated[int, Field(ge=MIN_TOKEN_BUDGET, le=MAX_TOKEN_BUDGET), _Whole] | None = Field(
        None, description=f"Default {DEFAULT_TOKEN_BUDGET}"
    )
    where: Annotated[WhereArguments, _Unwrapped] | None = None
    ids: Texts | None = Field(None, description="Instead of query: fetch these")
    cursor: str | None = Field(None, description="Continues an earlier answer")
    explain: bool | None = Field(None, description="Add the parts of each score")

    def to_request(self, zone: tzinfo | None) -> ReadRequest:
        """Return the library's request; dates without a zone are in ``zone``."""
        return ReadRequest(
            query=self.query or "",
            limit=self.limit,
            where=Where() if self.where is None else self.where.to_filters(zone),
            ids=_ids(self.ids),
            cursor=self.cursor,
            explain=bool(self.explain),
            concise=True,
            zone=zone,
        )


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

    def to_insights(self) -> tuple[Insight, ...]:
        """Return the library's insights; none unless some were given."""
        return tuple(
            Insight(text=one.text, evidence=_ids(one.evidence), importance=one.importance)
            for one in self.insights or ()
        )


class UpdateArguments(Arguments):
    """Arguments of update_memory."""

    id: str
    content: Content | None = None
    importance: Fraction | None = None
    tags: Texts | None = None
    pinned: bool | None = None
    expires_at: str | None = None

    def to_request(self, zone: tzinfo | None) -> UpdateRequest:
        """Return the library's request; dates without a zone are in ``zone``."""
        return UpdateRequest(
            id=MemoryId(self.id.strip()),
            content=self.content,
            importance=self.importance,
            tags=None if self.tags is None else tuple(self.tags),
            pinned=self.pinned,
            expires_at=moment("expires_at", self.expires_at, zone),
        )


class ForgetArguments(Arguments):
    """Arguments of forget_memories."""

    ids: Texts | None = None
    where: Annotated[WhereArguments, _Unwrapped] | None = None
    count: Annotated[int, Field(ge=0), _Whole] | None = Field(None, description="With where: the number to confirm")
    restore: bool | None = Field(None, description="Bring back instead")

    def to_request(self, zone: tzinfo | None) -> ForgetRequest:
        """Return the library's request; dates without a zone are in ``zone``."""
        return ForgetRequest(
            ids=_ids(self.ids),
            where=None if self.where is None else self.where.to_filters(zone),
            count=self.count,
            restore=bool(self.restore),
        )


def plain_schema(model: type[BaseModel]) -> dict[str, Any]:
    """Return the model's JSON schema without references, titles, defaults and null alternatives, to save tokens.

    An optional argument may still be null; the schema need not say so.
    """
    full = model.model_json_schema()
    return _plain(full, full.get("$defs", {}), is_model=True)


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


# What the tools give: schemas that are kept short, because some clients show them to the model.

Schema: TypeAlias = dict[str, Any]

_TEXT: Final[Schema] = {"type": "string"}
_NUMBER: Final[Schema] = {"type": "number"}
_COUNT: Final[Schema] = {"type": "integer"}
_FLAG: Final[Schema] = {"type": "boolean"}
_TEXT_OR_NULL: Final[Schema] = {"type": ["string", "null"]}
_TEXTS: Final[Schema] = {"type": "array", "items": _TEXT}


def _object_of(required: Schema, **optional: Schema) -> Schema:
    return {"type": "object", "properties": required | optional, "required": list(required)}


def _list_of(item: Schema) -> Schema:
    return {"type": "array", "items": item}


WRITE_OUTPUT: Final = _object_of(
    {
        "id": _TEXT,
        "tier": _TEXT,
        "duplicate_of": _TEXT_OR_NULL,
        "related": _list_of(_object_of({"id": _TEXT, "text": _TEXT, "similarity": _NUMBER})),
        "moved": _list_of(_object_of({"id": _TEXT, "from": _TEXT, "to": _TEXT, "reason": _TEXT}, **{"with": _TEXTS})),
    },
    embedding=_TEXT,
)

READ_OUTPUT: Final = _object_of(
    {
        "memories": _list_of(
            _object_of(
                {
                    "id": _TEXT,
                    "text": _TEXT,
                    "created_at": _TEXT,
                    "tier": _TEXT,
                    "score": {"type": ["number", "null"]},
                    "origin": _TEXT,
                },
                section=_TEXT,
                newer=_TEXT,
                repeats=_TEXTS,
                occurred_at=_TEXT,
                speaker=_TEXT,
                session=_TEXT,
                kind=_TEXT,
                key=_TEXT,
                tags=_TEXTS,
                cut=_FLAG,
                weak=_FLAG,
                explain={"type": "object"},
                importance=_NUMBER,
                pinned=_FLAG,
                trust=_TEXT,
                source=_TEXT,
                expires_at=_TEXT,
                evidence=_TEXTS,
                supersedes=_TEXT,
                metadata={"type": "object"},
            )
        ),
        "remaining": _COUNT,
        "cursor": _TEXT_OR_NULL,
        "below_floor": _COUNT,
    },
    unknown=_FLAG,
    missing=_TEXTS,
    note=_TEXT,
)

REFLECT_OUTPUT: Final[Schema] = {
    "type": "object",
    "properties": {
        "groups": _list_of(
            _object_of(
                {
                    "ids": _TEXTS,
                    "memories": _list_of(_object_of({"id": _TEXT, "text": _TEXT, "created_at": _TEXT}, cut=_FLAG)),
                },
            )
        ),
        "instructions": _TEXT,
        "stored": _TEXTS,
    },
}

UPDATE_OUTPUT: Final = _object_of({"id": _TEXT, "tier": _TEXT}, supersedes=_TEXT, embedding=_TEXT)

FORGET_OUTPUT: Final = _object_of({"ids": _TEXTS, "undo": _TEXT}, forgotten=_COUNT, restored=_COUNT, unchanged=_TEXTS)
