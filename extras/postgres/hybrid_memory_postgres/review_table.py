"""The statements that choose what a person may want to look at (`store/reviewing.py`)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime

from hybrid_memory.clock import to_micros
from hybrid_memory.model import MemoryId
from hybrid_memory.store.reviewing import Reason, ReviewRequest
from hybrid_memory.trust import BESIDE_OTHERS
from hybrid_memory_postgres.sql_session import PgSession
from hybrid_memory_postgres.stored_lists import storable

# Only few memories dispute one, so whether that is live is looked up for each of them.
_REVIEW = """
    SELECT namespace, id, reason FROM (
        SELECT namespace, id, created_at, place, CASE
            WHEN trust = 'untrusted' AND disputes IS NOT NULL AND EXISTS (
                SELECT 1 FROM memory AS other
                WHERE other.namespace = ANY ($1::text[]) AND other.id = memory.disputes AND other.trust IN ('agent', 'user')
                    AND other.forgotten_at IS NULL AND other.superseded_by IS NULL
                    AND (other.expires_at IS NULL OR other.expires_at > $2)
            ) THEN 0
            WHEN id = ANY ($3::text[]) THEN 1
            WHEN right(source, length($4)) = $4 AND NOT (kind = 'episode' AND tier <> 'long_term') THEN 2
            WHEN trust = 'untrusted' AND origin <> 'import' THEN 3 END AS reason
        FROM memory
        WHERE namespace = ANY ($1::text[]) AND forgotten_at IS NULL AND superseded_by IS NULL
            AND (expires_at IS NULL OR expires_at > $2) AND verdict IS NULL AND trust <> 'confirmed'
    ) AS waiting
    WHERE reason IS NOT NULL ORDER BY reason, created_at DESC, place DESC LIMIT $5
"""
# The four bytes of a term can stand across two others: who asks looks again.
_WITH_TERMS = """
    SELECT namespace, id, terms FROM memory
    WHERE namespace = ANY ($1::text[])
        AND forgotten_at IS NULL AND superseded_by IS NULL AND (expires_at IS NULL OR expires_at > $2)
        AND EXISTS (SELECT 1 FROM unnest($3::bytea[]) AS wanted WHERE position(wanted IN terms) > 0)
    ORDER BY created_at DESC, place DESC LIMIT $4
"""
_SPARE = 8  # rows more than are wanted, so that one that fits only by chance costs no second look


def to_review(
    session: PgSession, namespaces: Sequence[str], wanted: ReviewRequest
) -> dict[tuple[str, MemoryId], Reason]:
    """Return what waits for a person, and why."""
    rows = session.rows(
        _REVIEW,
        list(namespaces),
        to_micros(wanted.now),
        storable(sorted(wanted.secrets)),
        BESIDE_OTHERS,
        wanted.limit,
    )
    reasons = tuple(Reason)
    return {(namespace, MemoryId(id_)): reasons[at] for namespace, id_, at in rows}


def with_terms(
    session: PgSession, namespaces: Sequence[str], terms: Collection[int], now: datetime, limit: int
) -> list[tuple[str, MemoryId]]:
    """Return namespace and id of the newest current memories that have some terms."""
    wanted = [one.to_bytes(_INT32, "little", signed=True) for one in sorted(terms)]
    if not wanted or limit < 1:
        return []
    asked = limit + _SPARE
    while True:
        rows = session.rows(_WITH_TERMS, list(namespaces), to_micros(now), wanted, asked)
        found = [(namespace, MemoryId(id_)) for namespace, id_, stored in rows if _has_any(stored, wanted)]
        if len(found) >= limit or len(rows) < asked:
            return found[:limit]
        asked *= 2


def _has_any(stored: bytes, wanted: Sequence[bytes]) -> bool:
    numbers = {stored[at : at + _INT32] for at in range(0, len(stored), _INT32)}
    return not numbers.isdisjoint(wanted)


_INT32 = 4  # bytes of a number in a list
