"""The statements that choose memories: by filters (`store/listing.py`), by the beginning of ids, by what they name, and for review."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from hybrid_memory.clock import to_micros
from hybrid_memory.model import MemoryId
from hybrid_memory.store.duck.sql_session import SqlSession
from hybrid_memory.store.encoding import to_json
from hybrid_memory.store.reviewing import Reason, ReviewRequest
from hybrid_memory.trust import BESIDE_OTHERS

if TYPE_CHECKING:
    from hybrid_memory.requests import ListRequest

_FILTERED = """
    FROM memory
    WHERE namespace IN (SELECT unnest(from_json($1, '["VARCHAR"]')))
        AND ($2::VARCHAR IS NULL OR kind = $2)
        AND ($3::VARCHAR IS NULL OR tier = $3)
        AND ($4::VARCHAR IS NULL OR origin = $4)
        AND ($5::VARCHAR IS NULL OR trust = $5)
        AND ($6::VARCHAR IS NULL OR session = $6)
        AND ($7::BIGINT IS NULL OR coalesce(occurred_at, created_at) >= $7)
        AND ($8::BIGINT IS NULL OR coalesce(occurred_at, created_at) < $8)
        AND (pinned OR NOT $9::BOOLEAN)
        AND ($10::VARCHAR IS NULL OR $10 = CASE
            WHEN forgotten_at IS NOT NULL THEN 'forgotten'
            WHEN superseded_by IS NOT NULL THEN 'superseded'
            WHEN expires_at <= $11::BIGINT THEN 'expired'
            ELSE 'current'
        END)
        AND ($12::VARCHAR = '[]' OR CASE WHEN json_type(CASE WHEN json_valid(tags) THEN tags END) = 'ARRAY'
            THEN list_has_all(json_extract_string(tags, '$[*]'), from_json($12, '["VARCHAR"]')) ELSE FALSE END)
        AND (NOT $13::BOOLEAN OR kind <> 'episode' OR tier = 'long_term')
"""
_LIST = "SELECT namespace, id" + _FILTERED + "ORDER BY created_at DESC, rowid DESC LIMIT $14 OFFSET $15"
_COUNT = "SELECT count(*)" + _FILTERED
_BEGINNING = """
    SELECT DISTINCT id FROM memory
    WHERE namespace IN (SELECT unnest(from_json($1, '["VARCHAR"]'))) AND starts_with(id, $2)
    ORDER BY id LIMIT $3
"""

_LINKED_TO = """
    WITH wanted AS (SELECT unnest(from_json($2, '["VARCHAR"]')) AS id)
    SELECT namespace, id FROM memory
    WHERE namespace IN (SELECT unnest(from_json($1, '["VARCHAR"]'))) AND (
        superseded_by IN (FROM wanted) OR supersedes IN (FROM wanted)
        OR duplicate_of IN (FROM wanted) OR disputes IN (FROM wanted)
        OR CASE WHEN json_type(CASE WHEN json_valid(parents) THEN parents END) = 'ARRAY'
            THEN list_has_any(from_json(parents, '["VARCHAR"]'), from_json($2, '["VARCHAR"]')) END)
    ORDER BY created_at DESC, rowid DESC LIMIT $3
"""


def list_memories(
    session: SqlSession, namespaces: Sequence[str], wanted: ListRequest, now: datetime
) -> tuple[list[tuple[str, MemoryId]], int]:
    """Return namespace and id of the memories of one page, and how many all pages hold."""
    choices = (wanted.kind, wanted.tier, wanted.origin, wanted.trust)
    bounds = (wanted.since, wanted.until)
    values = (
        to_json(list(namespaces)),
        *(None if one is None else one.value for one in choices),
        wanted.session,
        *(None if one is None else to_micros(one) for one in bounds),
        wanted.pinned,
        None if wanted.state is None else wanted.state.value,
        to_micros(now),
        to_json(list(wanted.tags)),
        wanted.without_episodes,
    )
    total = session.rows(_COUNT, *values)[0][0]
    rows = session.rows(_LIST, *values, wanted.limit, wanted.offset) if total else []
    return [(namespace, MemoryId(id_)) for namespace, id_ in rows], total


def ids_beginning(session: SqlSession, namespaces: Sequence[str], beginning: str, limit: int) -> list[MemoryId]:
    """Return at most so many ids that begin with a text, sorted."""
    return [MemoryId(id_) for (id_,) in session.rows(_BEGINNING, to_json(list(namespaces)), beginning, limit)]


def linked_to(
    session: SqlSession, namespaces: Sequence[str], ids: Collection[MemoryId], limit: int
) -> list[tuple[str, MemoryId]]:
    """Return namespace and id of at most so many memories that name one of some ids, those written last first."""
    rows = session.rows(_LINKED_TO, to_json(list(namespaces)), to_json(list(ids)), limit)
    return [(namespace, MemoryId(id_)) for namespace, id_ in rows]


_REVIEW = """
    WITH live AS (
        SELECT namespace, id, kind, tier, disputes, trust, origin, source, verdict, created_at, rowid AS place FROM memory
        WHERE namespace IN (SELECT unnest(from_json($1, '["VARCHAR"]')))
            AND forgotten_at IS NULL AND superseded_by IS NULL AND (expires_at IS NULL OR expires_at > $2)
    ), waiting AS (
        SELECT namespace, id, created_at, place, CASE
            WHEN trust = 'untrusted' AND disputes IN (SELECT id FROM live WHERE trust IN ('agent', 'user')) THEN 0
            WHEN id IN (SELECT unnest(from_json($3, '["VARCHAR"]'))) THEN 1
            WHEN suffix(source, $4) AND NOT (kind = 'episode' AND tier <> 'long_term') THEN 2
            WHEN trust = 'untrusted' AND origin <> 'import' THEN 3 END AS reason
        FROM live WHERE verdict IS NULL AND trust <> 'confirmed'
    )
    SELECT namespace, id, reason FROM waiting WHERE reason IS NOT NULL
    ORDER BY reason, created_at DESC, place DESC LIMIT $5
"""
_WITH_TERMS = """
    SELECT namespace, id FROM memory
    WHERE namespace IN (SELECT unnest(from_json($1, '["VARCHAR"]')))
        AND forgotten_at IS NULL AND superseded_by IS NULL AND (expires_at IS NULL OR expires_at > $2)
        AND list_has_any(terms, from_json($3, '["INTEGER"]'))
    ORDER BY created_at DESC, rowid DESC LIMIT $4
"""


def to_review(
    session: SqlSession, namespaces: Sequence[str], wanted: ReviewRequest
) -> dict[tuple[str, MemoryId], Reason]:
    """Return what waits for a person, and why."""
    rows = session.rows(
        _REVIEW,
        to_json(list(namespaces)),
        to_micros(wanted.now),
        to_json(sorted(wanted.secrets)),
        BESIDE_OTHERS,
        wanted.limit,
    )
    reasons = tuple(Reason)
    return {(namespace, MemoryId(id_)): reasons[at] for namespace, id_, at in rows}


def with_terms(
    session: SqlSession, namespaces: Sequence[str], terms: Collection[int], now: datetime, limit: int
) -> list[tuple[str, MemoryId]]:
    """Return namespace and id of the newest current memories that have some terms."""
    rows = session.rows(_WITH_TERMS, to_json(list(namespaces)), to_micros(now), to_json(sorted(terms)), limit)
    return [(namespace, MemoryId(id_)) for namespace, id_ in rows]
