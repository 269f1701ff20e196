"""The statements that choose what a person may want to look at (`store/reviewing.py`)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime

from hybrid_memory.clock import to_micros
from hybrid_memory.model import MemoryId
from hybrid_memory.store.postgres.sql_session import PgSession
from hybrid_memory.store.postgres.stored_lists import storable
from hybrid_memory.store.reviewing import HOOK_SOURCE, Reason, ReviewPage, ReviewRequest

# Only few memories dispute one, so whether that is live is looked up for each of them.
_REVIEW = """
    WITH waiting AS MATERIALIZED (
        SELECT namespace, id, created_at, place,
            disputes IS NOT NULL AND EXISTS (
                SELECT 1 FROM memory AS other
                WHERE other.namespace = ANY ($1::text[]) AND other.id = memory.disputes AND other.trust <> 'confirmed'
                    AND other.forgotten_at IS NULL AND other.superseded_by IS NULL
                    AND (other.expires_at IS NULL OR other.expires_at > $2)
            ) AS disputed,
            id = ANY ($3::text[]) AS secret,
            trust = 'untrusted' AS untrusted,
            coalesce(starts_with(source, $4), false) AND NOT (kind = 'episode' AND tier <> 'long_term') AS hook,
            origin = 'import' AS imported
        FROM memory
        WHERE namespace = ANY ($1::text[]) AND forgotten_at IS NULL AND superseded_by IS NULL
            AND (expires_at IS NULL OR expires_at > $2) AND verdict IS NULL AND trust <> 'confirmed'
            AND (disputes IS NOT NULL OR id = ANY ($3::text[]) OR trust = 'untrusted' OR origin = 'import'
                OR starts_with(source, $4))
    ), counts AS (
        SELECT count(*) FILTER (WHERE disputed), count(*) FILTER (WHERE secret), count(*) FILTER (WHERE untrusted),
            count(*) FILTER (WHERE hook), count(*) FILTER (WHERE imported),
            count(*) FILTER (WHERE disputed OR secret OR untrusted OR hook OR imported) FROM waiting
    ), page AS (
        SELECT namespace, id, disputed, secret, untrusted, hook, imported,
            row_number() OVER (ORDER BY disputed DESC, secret DESC, untrusted DESC, hook DESC, created_at DESC, place DESC) AS nth
        FROM waiting
        WHERE CASE $5::text WHEN 'disputed' THEN disputed WHEN 'secret' THEN secret WHEN 'untrusted' THEN untrusted
            WHEN 'hook' THEN hook WHEN 'imported' THEN imported ELSE disputed OR secret OR untrusted OR hook OR imported END
        ORDER BY nth LIMIT $6 OFFSET $7
    )
    SELECT counts.*, page.namespace, page.id, page.disputed, page.secret, page.untrusted, page.hook, page.imported
    FROM counts LEFT JOIN page ON true ORDER BY page.nth
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


def to_review(session: PgSession, namespaces: Sequence[str], wanted: ReviewRequest) -> ReviewPage:
    """Return one page of what waits for a person."""
    rows = session.rows(
        _REVIEW,
        list(namespaces),
        to_micros(wanted.now),
        storable(sorted(wanted.secrets)),
        HOOK_SOURCE,
        None if wanted.reason is None else wanted.reason.value,
        wanted.limit,
        wanted.offset,
    )
    *of_each, of_all = rows[0][: len(Reason) + 1]
    counts = dict(zip(Reason, of_each, strict=True))
    # Where nothing is on the page there is one row all the same, of counts.
    found = [row[len(Reason) + 1 :] for row in rows]
    return ReviewPage(
        memories={
            (namespace, MemoryId(id_)): tuple(one for one, holds in zip(Reason, flags, strict=True) if holds)
            for namespace, id_, *flags in found
            if id_ is not None
        },
        total=of_all if wanted.reason is None else counts[wanted.reason],
        counts=counts,
    )


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
