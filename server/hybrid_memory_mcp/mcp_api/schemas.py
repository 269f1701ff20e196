"""What the five tools take and give: pydantic models of the arguments, which make the library's requests, and the output schemas.

A length or a count is checked here only where a model should see it in the schema; the figure is that
of `hybrid_memory.validation`, which checks every request for all callers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Annotated, Any, ClassVar, Final, Literal, TypeAlias

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema, model_validator
from pydantic.json_schema import SkipJsonSchema
from pydantic_core import PydanticCustomError

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
from hybrid_memory_mcp.mcp_api import lenient, not_given
from hybrid_memory_mcp.mcp_api.moments import CallTime

DEFAULT_TOKEN_BUDGET = 1500  # a page that an assistant can afford at every turn
QUIET_TOKEN_BUDGET = 600  # at every prompt of the user, whether it is asked for or not: some four memories
BRIEF_TOKEN_BUDGET = 2500  # twenty lines with their ids and times, once in a conversation
MIN_TOKEN_BUDGET = 100  # what can be said at all; `tool_results.ENOUGH_TOKENS` hold a memory
MAX_TOKEN_BUDGET = 200_000  # the context of a large model


def _fraction(value: Any) -> Any:
    """Refuse with the whole of what is wanted: a model that is told "at most 1" may think that 0 to 10 was meant."""
    found = lenient.number(value)
    if isinstance(found, bool) or not isinstance(found, (int, float)) or not 0 <= found <= 1:
        raise PydanticCustomError("fraction", "must be a number from 0 to 1, as 0.8")
    return found


_DATE = "ISO 8601 or words: last Friday"

_Whole = BeforeValidator(lenient.whole)
_NotZero = BeforeValidator(lenient.not_zero)
_Object = BeforeValidator(lenient.from_json_text)
_Choice = BeforeValidator(lenient.choice)
_JSON_TEXT = WithJsonSchema({"type": "string"})  # a free object, which strict function calling knows only as text

Texts = Annotated[list[str], BeforeValidator(lenient.names)]
Ids = Annotated[list[str], BeforeValidator(lenient.ids)]
OneId = Annotated[str, BeforeValidator(lenient.one_id)]
Fraction = Annotated[float, Field(ge=0, le=1), BeforeValidator(_fraction)]
Flag = Annotated[bool, BeforeValidator(lenient.flag)]
Text = Annotated[str, BeforeValidator(lenient.text)]
Content = Annotated[str, Field(min_length=1, max_length=CONTENT_LIMIT), BeforeValidator(lenient.text)]
FreeObject = Annotated[dict[str, Any], BeforeValidator(lenient.pairs), _JSON_TEXT]
TypeName = Annotated[Literal["short_term", "working", "long_term", "episodic"], _Choice]


_LIMITS = frozenset(("minLength", "maxLength", "minItems", "maxItems", "minimum", "maximum"))
_NOISE = frozenset(("title", "default", "$defs", "additionalProperties")) | _LIMITS


def plain_schema(model: type[BaseModel]) -> dict[str, Any]:
    """Return the model's JSON schema in the words that every provider reads: type, properties, items, enum, required and description.

    Left out, to save tokens and because strict function calling of one or the other refuses it, are references, titles, defaults, null
    alternatives, limits, and that other names are refused. An optional argument may still be null or empty, and who goes beyond a limit
    is told it; the schema need not say so.
    """
    full = model.model_json_schema()
    return _plain(full, full.get("$defs", {}), is_model=True)


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
        if name in _NOISE or (name == "description" and is_model):
            continue
        if name == "properties":
            plain[name] = {key: _plain(inner, shared) for key, inner in value.items()}
        elif name == "items":
            plain[name] = _plain(value, shared)
        else:
            plain[name] = value
    return plain


class Arguments(BaseModel):
    """Base of all argument objects: exact types but for what `lenient` makes of them, no unknown names, no given value in an error.

    An optional argument that says nothing counts as not given (`not_given`).
    """

    model_config = ConfigDict(strict=True, extra="forbid", hide_input_in_errors=True)

    @property
    def is_quiet(self) -> bool:
        """Whether nobody asked for the answer, as of a read for a hook."""
        return False

    told_by_emptiness: ClassVar[Mapping[str, type]] = {}
    """Optional arguments that say something when they are an empty value of this kind."""
    told_by_zero: ClassVar[frozenset[str]] = frozenset()
    """Optional arguments that say something when they are zero or false, but not among other empty values."""
    told_alone: ClassVar[frozenset[str]] = frozenset()
    """Those of them that do so even among empty values, if nothing else is said."""
    unlisted: ClassVar[frozenset[str]] = frozenset()
    """Arguments that programs send and no model hears of."""

    @classmethod
    def says(cls, name: str, value: Any) -> bool:
        """Return whether the value of an argument says something."""
        return not_given.says(name, value)

    @model_validator(mode="before")
    @classmethod
    def _only_given(cls, given: Any) -> Any:
        if not isinstance(given, Mapping):
            return given
        return not_given.only_given(given, _rule_of(cls))


@cache
def _rule_of(model: type[Arguments]) -> not_given.Rule:
    return not_given.Rule(
        optional=frozenset(name for name, field in model.model_fields.items() if not field.is_required()),
        listed=model.model_fields.keys() - model.unlisted,
        says=model.says,
        told_by_emptiness=model.told_by_emptiness,
        told_by_zero=model.told_by_zero,
        told_alone=model.told_alone,
    )


_ANY: Final = {"memory_type": frozenset(("any",)), "min_trust": frozenset(("any", "untrusted"))}
"""Values of filters that let everything through, by which who cannot leave a filter out says that it is none."""


class WhereArguments(Arguments):
    """Filters; all given ones must hold. Strict function calling can say all of them: "any" type, and metadata as the text of its JSON.

    A filter that lets everything through is none, so that it may appear next to ids.
    """

    memory_type: Annotated[Literal["any", "short_term", "working", "long_term", "episodic"], _Choice] | None = None
    tags: Texts | None = Field(None, description="All of these")
    metadata: FreeObject | None = Field(None, description="JSON object")
    session: Text | None = None
    speaker: Text | None = None
    since: Text | None = Field(None, description=_DATE)
    until: Text | None = Field(None, description="Its whole day")
    as_of: Text | None = Field(None, description="What was known then")
    min_trust: Annotated[Literal["untrusted", "agent", "user", "confirmed"], _Choice] | None = None

    @classmethod
    def says(cls, name: str, value: Any) -> bool:
        """Return whether a filter holds anything back."""
        return not_given.says(name, value) and not (name in _ANY and lenient.choice(value) in _ANY[name])

    def to_filters(self, call: CallTime) -> Where:
        """Return the library's filters; dates are those of the ``call``."""
        return Where(
            memory_type=MemoryType(self.memory_type) if self.memory_type else None,
            tags=tuple(self.tags or ()),
            metadata=self.metadata or {},
            session=self.session,
            speaker=self.speaker,
            since=call.moment("where.since", self.since, "begin"),
            until=call.moment("where.until", self.until, "through"),
            as_of=call.moment("where.as_of", self.as_of),
            min_trust=Trust(self.min_trust) if self.min_trust else None,
        )


_FILTERS_ALONE = WithJsonSchema(
    {
        "type": "object",
        "properties": {
            "memory_type": {"type": "string"},
            "tags": {"type": "array", "items": {"type": "string"}},
            "metadata": {"type": "string"},
            "session": {"type": "string"},
            "speaker": {"type": "string"},
            "since": {"type": "string"},
            "until": {"type": "string"},
        },
    }
)
"""The filters by which memories are forgotten, by their names and types alone: another tool shows the rest, which costs 100 tokens."""


class WriteArguments(Arguments):
    """Arguments of write_memory."""

    told_by_zero = frozenset(("importance", "pinned"))

    content: Content = Field(description="One statement, clear by itself: names and dates, no 'he' or 'today'")
    memory_type: TypeName | None = Field(
        None, description="Default short_term; working: the current task; episodic: a summary"
    )
    importance: Fraction | None = Field(
        None, description="0 to 1; 0.9: must never be missed, as an allergy; 0.2: passing"
    )
    tags: Texts | None = None
    metadata: FreeObject | None = Field(None, description="JSON object")
    source: Text | None = Field(None, description="Where it was found")
    speaker: Text | None = Field(None, description="Who said it")
    origin: Annotated[Literal["user", "agent", "tool", "import", "derived"], _Choice] | None = Field(
        None, description="Default agent"
    )
    session: Text | None = None
    occurred_at: Text | None = Field(None, description=_DATE)
    key: Text | None = Field(None, description="With working: replaces the value of this key")
    expires_at: Text | None = None
    supersedes: OneId | None = Field(None, description="Id of the memory this corrects")
    pinned: Flag | None = Field(None, description="In every brief")

    def to_request(self, call: CallTime) -> WriteRequest:
        """Return the library's request; dates are those of the ``call``."""
        return WriteRequest(
            content=self.content,
            memory_type=MemoryType(self.memory_type or MemoryType.SHORT_TERM),
            importance=self.importance,
            tags=() if _is_none(self.tags) else tuple(self.tags or ()),
            metadata=self.metadata or {},
            source=self.source,
            speaker=self.speaker,
            origin=Origin(self.origin or Origin.AGENT),
            session=self.session,
            occurred_at=call.moment("occurred_at", self.occurred_at),
            key=self.key,
            expires_at=call.moment("expires_at", self.expires_at, "end"),
            supersedes=None if self.supersedes is None else MemoryId(self.supersedes.strip()),
            pinned=bool(self.pinned),
        )


class ReadArguments(Arguments):
    """Arguments of read_memories. Filters may also appear next to ``where``, as long as it does not say something else."""

    unlisted = frozenset(("quiet",))

    query: Text | None = None
    limit: Annotated[Annotated[int, Field(ge=1, le=PAGE_LIMIT), _Whole] | None, _NotZero] = Field(
        None, description=f"Default {DEFAULT_PAGE}, brief {BRIEF_PAGE}"
    )
    token_budget: Annotated[
        Annotated[int, Field(ge=MIN_TOKEN_BUDGET, le=MAX_TOKEN_BUDGET), _Whole] | None, _NotZero
    ] = Field(None, description=f"Default {DEFAULT_TOKEN_BUDGET}, brief {BRIEF_TOKEN_BUDGET}")
    where: Annotated[WhereArguments, _Object] | None = None
    ids: Ids | None = Field(None, description="Instead of query: fetch these")
    cursor: Text | None = Field(None, description="Continues an answer")
    explain: Flag | None = Field(None, description="Parts of each score")
    quiet: SkipJsonSchema[Annotated[bool | Literal["text"], BeforeValidator(lenient.quiet)] | None] = None
    """For hooks: the query is a prompt, and only the few memories that it is clearly about are given, as the answer that Claude Code and
    Codex expect of a hook at a prompt; with "text" as plain text."""

    @model_validator(mode="before")
    @classmethod
    def _filters_in_where(cls, given: Any) -> Any:
        return lenient.gathered(given, "where", tuple(WhereArguments.model_fields), WhereArguments.says)

    @property
    def is_quiet(self) -> bool:
        """Whether nobody asked for the answer."""
        return bool(self.quiet)

    @property
    def budget(self) -> int:
        """How many tokens each part of the answer may cost."""
        if self.token_budget is not None:
            return self.token_budget
        if self.quiet:
            return QUIET_TOKEN_BUDGET
        return DEFAULT_TOKEN_BUDGET if (self.query or "").strip() or self.ids else BRIEF_TOKEN_BUDGET

    def to_request(self, call: CallTime) -> ReadRequest:
        """Return the library's request; dates are those of the ``call``."""
        return ReadRequest(
            query=self.query or "",
            limit=self.limit,
            where=Where() if self.where is None else self.where.to_filters(call),
            ids=_ids(self.ids),
            cursor=self.cursor,
            explain=bool(self.explain),
            concise=True,
            quiet=bool(self.quiet),
            zone=call.zone,
        )


class InsightArguments(Arguments):
    """One thought with its evidence. An importance of 0 is none: nobody stores a thought that is worth nothing."""

    text: Content
    evidence: Ids = Field(min_length=1, description="Ids it rests on")
    importance: Annotated[Fraction | None, _NotZero] = None


def _insights(value: Any) -> Any:
    """Leave out insights of which all is empty; None if none is left."""
    value = lenient.several(value)
    if not isinstance(value, list):
        return value
    return [one for one in value if _is_insight(one)] or None


def _is_insight(value: Any) -> bool:
    found = lenient.from_json_text(value)
    if not isinstance(found, Mapping):
        return not_given.says("insights", found)
    return any(
        not_given.says(name, one) for name, one in found.items() if name != "importance" or not lenient.is_zero(one)
    )


class ReflectArguments(Arguments):
    """Arguments of reflect."""

    focus: Text | None = Field(None, description="Topic")
    session: Text | None = None
    since: Text | None = None
    insights: Annotated[list[Annotated[InsightArguments, _Object]] | None, BeforeValidator(_insights)] = None

    def to_insights(self) -> tuple[Insight, ...]:
        """Return the library's insights; none unless some were given."""
        return tuple(
            Insight(text=one.text, evidence=_ids(one.evidence), importance=one.importance)
            for one in self.insights or ()
        )


class UpdateArguments(Arguments):
    """Arguments of update_memory. An empty list of tags takes them away, if nothing else is to change; the tag "none" alone always does.

    Of who names every argument with an empty value, false is meant: such a caller unpins.
    """

    told_by_emptiness = {"tags": list}
    told_by_zero = frozenset(("importance", "pinned"))
    told_alone = frozenset(("pinned",))

    id: OneId
    content: Content | None = None
    importance: Fraction | None = Field(None, description="0 to 1")
    tags: Texts | None = None
    pinned: Flag | None = None
    expires_at: Text | None = None

    @property
    def is_all_empty(self) -> bool:
        """Whether every change was named and none with more than an empty value, which unpins and could have meant the tags."""
        others = (self.content, self.importance, self.expires_at)
        return self.pinned is False and self.tags == [] and all(one is None for one in others)

    def to_request(self, call: CallTime) -> UpdateRequest:
        """Return the library's request; dates are those of the ``call``."""
        changes = (self.content, self.importance, self.pinned, self.expires_at)
        keeps_tags = self.tags is None or (not self.tags and any(one is not None for one in changes))
        tags = () if _is_none(self.tags) else tuple(self.tags or ())
        return UpdateRequest(
            id=MemoryId(self.id.strip()),
            content=self.content,
            importance=self.importance,
            tags=None if keeps_tags else tags,
            pinned=self.pinned,
            expires_at=call.moment("expires_at", self.expires_at, "end"),
        )


class ForgetArguments(Arguments):
    """Arguments of forget_memories. Empty filters match every memory, unless ids are given."""

    told_by_emptiness = {"where": dict}

    ids: Ids | None = None
    where: Annotated[WhereArguments, _Object, _FILTERS_ALONE] | None = Field(
        None, description="Filters, as read_memories has them"
    )
    count: Annotated[int, Field(ge=0), _Whole] | None = Field(None, description="Confirms where")
    restore: Flag | None = Field(None, description="Bring back")

    def to_request(self, call: CallTime) -> ForgetRequest:
        """Return the library's request; dates are those of the ``call``."""
        where = None if self.where is None else self.where.to_filters(call)
        return ForgetRequest(
            ids=_ids(self.ids),
            where=None if where == Where() and self.ids else where,
            count=self.count,
            restore=bool(self.restore),
        )


def names_taken(model: type[Arguments]) -> dict[str, Sequence[str]]:
    """Return the names of a tool's arguments, and for each the names that an object in it takes."""
    inside: dict[str, type[BaseModel]] = {"where": WhereArguments, "insights": InsightArguments}
    listed = (name for name in model.model_fields if name not in model.unlisted)
    return {name: tuple(inside[name].model_fields) if name in inside else () for name in listed}


def _is_none(tags: list[str] | None) -> bool:
    """Return True for "none" as the only tag, by which who cannot leave anything out says that there are no tags."""
    return [one.strip().casefold() for one in tags or ()] == ["none"]


def _ids(given: list[str] | None) -> tuple[MemoryId, ...]:
    return tuple(MemoryId(one.strip()) for one in given or ())


# What the tools give: schemas that are kept short, because some clients show them to the model.

Schema: TypeAlias = dict[str, Any]

_TEXT: Final[Schema] = {"type": "string"}
_NUMBER: Final[Schema] = {"type": "number"}
_COUNT: Final[Schema] = {"type": "integer"}
_FLAG: Final[Schema] = {"type": "boolean"}
# A list of types is not read by all.
_TEXT_OR_NULL: Final[Schema] = {"anyOf": [_TEXT, {"type": "null"}]}
_NUMBER_OR_NULL: Final[Schema] = {"anyOf": [_NUMBER, {"type": "null"}]}
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
        "related": _list_of(
            _object_of(
                {"id": _TEXT, "text": _TEXT, "similarity": _NUMBER, "origin": _TEXT, "created_at": _TEXT},
                occurred_at=_TEXT,
            )
        ),
        "moved": _list_of(_object_of({"id": _TEXT, "from": _TEXT, "to": _TEXT, "reason": _TEXT}, **{"with": _TEXTS})),
    },
    embedding=_TEXT,
    secrets=_TEXTS,
    disputes=_TEXT,
    pinned=_FLAG,
    namespace=_TEXT,
)

READ_OUTPUT: Final = _object_of(
    {
        "memories": _list_of(
            _object_of(
                {
                    "id": _TEXT,
                    "text": _TEXT,
                    "created_at": _TEXT,
                    "origin": _TEXT,
                },
                tier=_TEXT,
                score=_NUMBER_OR_NULL,
                section=_TEXT,
                newer=_TEXT,
                contradicted_by=_TEXT,
                repeats=_TEXTS,
                disputed_by=_TEXTS,
                evidence_forgotten=_TEXT,
                disputes=_TEXT,
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
                    "memories": _list_of(
                        _object_of(
                            {"id": _TEXT, "text": _TEXT, "created_at": _TEXT, "origin": _TEXT},
                            occurred_at=_TEXT,
                            cut=_FLAG,
                        )
                    ),
                },
                asks=_TEXT,
                changed=_TEXTS,
            )
        ),
        "instructions": _TEXT,
        "stored": _TEXTS,
        "untrusted": _TEXTS,
        "secrets": _TEXTS,
    },
}

UPDATE_OUTPUT: Final = _object_of(
    {"id": _TEXT, "tier": _TEXT}, supersedes=_TEXT, disputes=_TEXT, embedding=_TEXT, secrets=_TEXTS
)

FORGET_OUTPUT: Final = _object_of(
    {"ids": _TEXTS, "undo": _TEXT},
    forgotten=_COUNT,
    restored=_COUNT,
    unchanged=_TEXTS,
    revived=_TEXTS,
    held=_list_of(_object_of({"id": _TEXT, "by": _TEXT})),
)
