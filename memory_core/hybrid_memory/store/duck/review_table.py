"""The statements that choose what a person may want to look at (`store/reviewing.py`)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime

from hybrid_memory.clock import to_micros
from hybrid_memory.model import MemoryId
from hybrid_memory.store.duck.sql_session import SqlSession
from hybrid_memory.store.encoding import to_json
from hybrid_memory.store.reviewing import Reason, ReviewRequest
from hybrid_memory.trust import BESIDE_OTHERS

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
