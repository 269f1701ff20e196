"""Every limit of a request, each once, and the checks that hold it. `MemoryService` calls them before anything else.

The server's schemas show the same numbers to models; they import them from here.
"""

from __future__ import annotations

import json
import math
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import lru_cache

from hybrid_memory.errors import InvalidInput
from hybrid_memory.ids import WHAT_AN_ID_IS, is_id
from hybrid_memory.language.lazy_pattern import LazyPattern
from hybrid_memory.model import Json, MemoryId, MemoryType, Scope, Verdict
from hybrid_memory.moments import OUT_OF_RANGE, is_in_range
from hybrid_memory.requests import (
    ForgetRequest,
    Insight,
    JudgeRequest,
    ListRequest,
    MergeRequest,
    ReadRequest,
    SplitRequest,
    UpdateRequest,
    Where,
    WriteRequest,
)

# Limits of length count characters, the others things of one request. All were set by hand: far above what a conversation
# needs, low enough that one request cannot fill the memory of the machine.
CONTENT_LIMIT = 100_000
QUERY_LIMIT = 10_000
NAME_LIMIT = 200  # of a session, namespace, agent, speaker, source or key
TAG_LIMIT = 100  # characters of one tag
TAGS_LIMIT = 50  # tags of a memory
METADATA_LIMIT = 16_384  # as JSON
METADATA_DEPTH = 8
IDS_LIMIT = 100
PAGE_LIMIT = 100  # memories of one answer
LIST_LIMIT = 10_000  # memories of one page of a list, which a program may read
ACT_LIMIT = 1000  # memories that a person changes at once, in one transaction
PARTS_LIMIT = 50  # statements that one memory is split into
_FEWEST_MERGED = 2
INSIGHTS_LIMIT = 20  # of one call
EVIDENCE_LIMIT = 100  # ids of one insight
_INTEGER_BOUND = 1 << 63  # a column of the store holds 64 bits

_SUSPECT = LazyPattern(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff\U000e0000-\U000e007f"
    + "".join(chr(plane << 16 | low) for plane in range(1, 17) for low in (0xFFFE, 0xFFFF))
    + "]"
)
_FLAG = LazyPattern("\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{3,6}\U000e007f")
_REASON = {
    "control": "the control character",
    "surrogate": "the lone surrogate",
    "tag": "the invisible tag character",
    "none": "the noncharacter",
}


def check_scope(scope: Scope) -> None:
    """Check namespace, session and agent of a call.

    Raises:
        InvalidInput: names the part that is wrong.
    """
    for namespace in scope.namespaces:
        check_name("namespace", namespace)
    check_name("session", scope.session)
    check_name("agent", scope.agent)


def check_write(request: WriteRequest, now: datetime) -> WriteRequest:
    """Return the request with its tags in order and without repeats.

    Raises:
        InvalidInput: names the first argument that is wrong.
    """
    check_text("content", request.content, limit=CONTENT_LIMIT)
    _check_fraction("importance", request.importance)
    _check_metadata("metadata", request.metadata)
    for field in ("source", "speaker", "session", "key"):
        _check_name(field, getattr(request, field))
    if request.key is not None and request.memory_type is not MemoryType.WORKING:
        raise InvalidInput("key", "only goes with memory_type working")
    _check_moment("occurred_at", request.occurred_at)
    _check_future("expires_at", request.expires_at, now)
    if request.supersedes is not None:
        _check_ids("supersedes", (request.supersedes,))
    _check_ids("parents", request.parents)
    tags = _clean_tags("tags", request.tags)
    return request if tags == request.tags else replace(request, tags=tags)


def check_read(request: ReadRequest) -> ReadRequest:
    """Return the request with cleaned filters.

    Raises:
        InvalidInput: names the first argument that is wrong.
    """
    check_text("query", request.query, limit=QUERY_LIMIT, empty_allowed=True)
    if request.limit is not None and not 1 <= request.limit <= PAGE_LIMIT:
        raise InvalidInput("limit", f"must be from 1 to {PAGE_LIMIT}")
    _check_ids("ids", request.ids)
    if request.ids and request.query.strip():
        raise InvalidInput("ids", "cannot be combined with query; fetch by ids, or search by query")
    if request.ids and request.where != Where():
        raise InvalidInput("where", "cannot be combined with ids; what they name is fetched whatever it is")
    where = check_where("where", request.where)
    return request if where is request.where else replace(request, where=where)


def check_where(field: str, where: Where) -> Where:
    """Return the filters with cleaned tags.

    Raises:
        InvalidInput: names the first filter that is wrong.
    """
    prefix = f"{field}." if field else ""
    _check_metadata(prefix + "metadata", where.metadata)
    _check_name(prefix + "session", where.session)
    _check_name(prefix + "speaker", where.speaker)
    for name in ("since", "until", "as_of"):
        _check_moment(prefix + name, getattr(where, name))
    if where.since is not None and where.until is not None and where.until <= where.since:
        raise InvalidInput(prefix + "until", "must be later than since")
    tags = _clean_tags(prefix + "tags", where.tags)
    return where if tags == where.tags else replace(where, tags=tags)


def check_list(request: ListRequest) -> ListRequest:
    """Return the request with cleaned filters.

    Raises:
        InvalidInput: names the first filter that is wrong.
    """
    if not 1 <= request.limit <= LIST_LIMIT:
        raise InvalidInput("limit", f"must be from 1 to {LIST_LIMIT:,}")
    if request.offset < 0:
        raise InvalidInput("offset", "must not be negative")
    where = check_where("", Where(tags=request.tags, session=request.session, since=request.since, until=request.until))
    return replace(request, tags=where.tags)


def check_focus(focus: str) -> str | None:
    """Return the focus of a reflection; None where that is blank.

    Raises:
        InvalidInput: it is too long or is not text.
    """
    if not focus.strip():
        return None
    return check_text("focus", focus, limit=QUERY_LIMIT)


def check_update(request: UpdateRequest, now: datetime) -> UpdateRequest:
    """Return the request with cleaned tags.

    Raises:
        InvalidInput: names the first argument that is wrong, or says that nothing would change.
    """
    _check_ids("id", (request.id,))
    changes = (request.content, request.importance, request.tags, request.pinned, request.expires_at)
    if all(change is None for change in changes):
        raise InvalidInput("content", "nothing to change: give content, importance, tags, pinned or expires_at")
    if request.content is not None:
        check_text("content", request.content, limit=CONTENT_LIMIT)
    _check_fraction("importance", request.importance)
    _check_future("expires_at", request.expires_at, now)
    if request.tags is None:
        return request
    return replace(request, tags=_clean_tags("tags", request.tags))


def check_merge(request: MergeRequest) -> MergeRequest:
    """Return the request with each memory once.

    Raises:
        InvalidInput: names the argument that is wrong.
    """
    ids = check_acted("ids", request.ids)
    if len(ids) < _FEWEST_MERGED:
        raise InvalidInput("ids", "name two memories at least; they become one")
    check_text("content", request.content, limit=CONTENT_LIMIT)
    return replace(request, ids=ids)


def check_split(request: SplitRequest) -> SplitRequest:
    """Return the request without parts that are said twice.

    Raises:
        InvalidInput: names the argument that is wrong.
    """
    _check_ids("id", (request.id,))
    for at, part in enumerate(request.parts):
        check_text(f"parts.{at}", part, limit=CONTENT_LIMIT)
    parts = tuple({" ".join(part.split()): part for part in reversed(request.parts)}.values())[::-1]
    if not _FEWEST_MERGED <= len(parts) <= PARTS_LIMIT:
        raise InvalidInput("parts", f"give from {_FEWEST_MERGED} to {PARTS_LIMIT} different statements")
    return replace(request, parts=parts)


def check_judge(request: JudgeRequest, now: datetime) -> JudgeRequest:
    """Return the request with each memory once, and with the moment of an end.

    Raises:
        InvalidInput: names the argument that is wrong.
    """
    ids = check_acted("ids", request.ids)
    if request.verdict is not Verdict.ENDED:
        if request.until is not None:
            raise InvalidInput("until", "goes with the verdict `ended` alone")
        return replace(request, ids=ids)
    _check_moment("until", request.until)
    until = now if request.until is None else request.until
    if until > now:
        raise InvalidInput("until", "lies in the future; edit the memory to give it an end that is yet to come")
    return replace(request, ids=ids, until=until)


def check_acted(field: str, ids: Sequence[MemoryId]) -> tuple[MemoryId, ...]:
    """Return the memories that a person acts upon at once, each once.

    Raises:
        InvalidInput: there are none or too many, or one is no id.
    """
    if not ids:
        raise InvalidInput(field, "name at least one memory")
    if len(ids) > ACT_LIMIT:
        raise InvalidInput(field, f"at most {ACT_LIMIT:,} memories at once")
    for at in range(0, len(ids), IDS_LIMIT):
        _check_ids(field, ids[at : at + IDS_LIMIT])
    return tuple(dict.fromkeys(ids))


def check_forget(request: ForgetRequest) -> ForgetRequest:
    """Return the request with cleaned filters.

    Raises:
        InvalidInput: unless exactly one of ids and where is given.
    """
    if bool(request.ids) == (request.where is not None):
        raise InvalidInput("ids", "give either ids or where")
    _check_ids("ids", request.ids)
    if request.count is not None and request.count < 0:
        raise InvalidInput("count", "must not be negative")
    if request.where is None:
        return request
    return replace(request, where=check_where("where", request.where))


def check_insights(insights: Sequence[Insight]) -> tuple[Insight, ...]:
    """Return the insights unchanged.

    Raises:
        InvalidInput: names the first argument that is wrong.
    """
    if not 1 <= len(insights) <= INSIGHTS_LIMIT:
        raise InvalidInput("insights", f"give from 1 to {INSIGHTS_LIMIT}")
    for at, insight in enumerate(insights):
        check_text(f"insights.{at}.text", insight.text, limit=CONTENT_LIMIT)
        _check_fraction(f"insights.{at}.importance", insight.importance)
        if not 1 <= len(insight.evidence) <= EVIDENCE_LIMIT:
            raise InvalidInput(f"insights.{at}.evidence", f"give from 1 to {EVIDENCE_LIMIT} ids of memories")
        _check_ids(f"insights.{at}.evidence", insight.evidence)
    return tuple(insights)


def check_joined(tags: Sequence[str], metadata: Mapping[str, Json]) -> None:
    """Check what a memory would carry after the same words were written again with more tags and metadata.

    Raises:
        InvalidInput: together they pass a limit that holds for a single write.
    """
    if len(tags) > TAGS_LIMIT:
        raise InvalidInput("tags", f"with those that these words have already, more than {TAGS_LIMIT}; leave some out")
    if len(json.dumps(dict(metadata), ensure_ascii=False)) > METADATA_LIMIT:
        raise InvalidInput(
            "metadata",
            f"with what these words have already, longer than {METADATA_LIMIT} characters of JSON; shorten it",
        )


def depth_of(value: object, most: int) -> int:
    """Return how deep a JSON value is nested, 0 for one that is no list or object; stops looking at ``most``."""
    inner: Iterable[object] = ()
    if isinstance(value, Mapping):
        inner = value.values()
    elif isinstance(value, list | tuple):
        inner = value
    else:
        return 0
    return 1 if most <= 1 else 1 + max((depth_of(one, most - 1) for one in inner), default=0)


def check_text(field: str, text: str, *, limit: int, empty_allowed: bool = False) -> str:
    """Return ``text`` unchanged if it can be stored, quoted and shown without doing harm.

    Refused are control characters other than tab, line feed and carriage return, lone surrogates, noncharacters, and
    tag characters (which hide text from people but not from models) outside an emoji flag. ``limit`` counts characters.

    Raises:
        InvalidInput: names ``field``, the code point and its position counted from 1; never the text.
    """
    if len(text) > limit:
        raise InvalidInput(
            field, f"is {len(text):,} characters long, at most {limit:,} are allowed; shorten or split it"
        )
    found = _first_refused(text)
    if found is not None:
        what = _REASON[_kind_of(ord(text[found]))]
        raise InvalidInput(field, f"holds {what} U+{ord(text[found]):04X} at position {found + 1}; remove it")
    if not empty_allowed and not _shows_anything(text):
        raise InvalidInput(field, "is empty; say something in it")
    return text


@lru_cache(maxsize=256)  # the same few come with every call; what is refused is not kept
def check_name(field: str, name: str) -> str:
    """Return a name of a session, namespace, agent or topic unchanged.

    Raises:
        InvalidInput: it is empty, too long or holds characters that are not text.
    """
    return check_text(field, name, limit=NAME_LIMIT)


def _check_name(field: str, name: str | None) -> None:
    if name is not None:
        check_name(field, name)


def _clean_tags(field: str, tags: Sequence[str]) -> tuple[str, ...]:
    if len(tags) > TAGS_LIMIT:
        raise InvalidInput(field, f"at most {TAGS_LIMIT} tags")
    for tag in tags:
        check_text(field, tag, limit=TAG_LIMIT)
    return tuple(dict.fromkeys(tag.strip() for tag in tags))


def _check_ids(field: str, ids: Sequence[MemoryId]) -> None:
    if len(ids) > IDS_LIMIT:
        raise InvalidInput(field, f"at most {IDS_LIMIT} ids at a time")
    if not all(map(is_id, ids)):
        raise InvalidInput(field, f"an id is {WHAT_AN_ID_IS}; give the id of a memory as it was shown")


def _check_fraction(field: str, number: float | None) -> None:
    if number is not None and not 0 <= number <= 1:
        raise InvalidInput(field, "must be a number from 0 to 1")


def _check_moment(field: str, moment: datetime | None) -> None:
    if moment is None:
        return
    if moment.tzinfo is None:
        raise InvalidInput(field, "needs a time zone")
    if not is_in_range(moment):
        raise InvalidInput(field, OUT_OF_RANGE)


def _check_future(field: str, moment: datetime | None, now: datetime) -> None:
    _check_moment(field, moment)
    if moment is not None and moment <= now:
        raise InvalidInput(field, "must lie in the future")


def _check_metadata(field: str, metadata: Mapping[str, Json]) -> None:
    if not metadata:
        return
    for text in _texts(field, metadata, METADATA_DEPTH):
        check_text(field, text, limit=METADATA_LIMIT, empty_allowed=True)
    if len(json.dumps(metadata, ensure_ascii=False)) > METADATA_LIMIT:
        raise InvalidInput(field, f"is longer than {METADATA_LIMIT} characters of JSON")


def _texts(field: str, value: object, depth: int) -> Iterable[str]:
    """Yield every text in a JSON value; refuse what JSON cannot hold."""
    if depth < 0:
        raise InvalidInput(field, f"is nested deeper than {METADATA_DEPTH} levels")
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _texts(field, key, depth)
            yield from _texts(field, inner, depth - 1)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _texts(field, inner, depth - 1)
    elif value is not None and not _is_plain_number(value):
        raise InvalidInput(field, "holds a value that JSON does not have, or a number out of range")


def _is_plain_number(value: object) -> bool:
    if isinstance(value, bool):
        return True
    if isinstance(value, int):
        return -_INTEGER_BOUND <= value < _INTEGER_BOUND
    return isinstance(value, float) and math.isfinite(value)


def _shows_anything(text: str) -> bool:
    return any(not c.isspace() and unicodedata.category(c) != "Cf" for c in text)


def _first_refused(text: str) -> int | None:
    """Return the index of the first character that is refused."""
    inside_flags: set[int] | None = None
    for match in _SUSPECT.finditer(text):
        at = match.start()
        if _kind_of(ord(text[at])) != "tag":
            return at
        if inside_flags is None:
            inside_flags = {position for flag in _FLAG.finditer(text) for position in range(flag.start(), flag.end())}
        if at not in inside_flags:
            return at
    return None


def _kind_of(code: int) -> str:
    if code <= 0x9F:  # noqa: PLR2004 - the last C1 control
        return "control"
    if 0xD800 <= code <= 0xDFFF:  # noqa: PLR2004 - the surrogates' block
        return "surrogate"
    return "tag" if 0xE0000 <= code <= 0xE007F else "none"  # noqa: PLR2004 - the tags' block
