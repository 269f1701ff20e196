"""The statements that choose what a person may want to look at (`store/reviewing.py`)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime

from hybrid_memory.clock import to_micros
from hybrid_memory.model import MemoryId
from hybrid_memory.store.duck.sql_session import SqlSession
from hybrid_memory.store.encoding import to_json
from hybrid_memory.store.reviewing import HOOK_SOURCE, Reason, ReviewPage, ReviewRequest

_REVIEW = """
    WITH live AS (
        SELECT namespace, id, kind, tier, disputes, trust, origin, source, verdict, created_at, rowid AS place FROM memory
        WHERE namespace IN (SELECT unnest(from_json($1, '["VARCHAR"]')))
            AND forgotten_at IS NULL AND superseded_by IS NULL AND (expires_at IS NULL OR expires_at > $2)
    ), waiting AS (
        SELECT namespace, id, created_at, place,
            coalesce(disputes IN (SELECT id FROM live WHERE trust <> 'confirmed'), false) AS disputed,
            id IN (SELECT unnest(from_json($3, '["VARCHAR"]'))) AS secret,
            trust = 'untrusted' AS untrusted,
            coalesce(starts_with(source, $4), false) AND NOT (kind = 'episode' AND tier <> 'long_term') AS hook,
            origin = 'import' AS imported
        FROM live WHERE verdict IS NULL AND trust <> 'confirmed'
    ), counts AS (
        SELECT count(*) FILTER (disputed), count(*) FILTER (secret), count(*) FILTER (untrusted), count(*) FILTER (hook),
            count(*) FILTER (imported), count(*) FILTER (disputed OR secret OR untrusted OR hook OR imported) FROM waiting
    ), page AS (
        SELECT namespace, id, disputed, secret, untrusted, hook, imported,
            row_number() OVER (ORDER BY disputed DESC, secret DESC, untrusted DESC, hook DESC, created_at DESC, place DESC) AS nth
        FROM waiting
        WHERE CASE $5::VARCHAR WHEN 'disputed' THEN disputed WHEN 'secret' THEN secret WHEN 'untrusted' THEN untrusted
            WHEN 'hook' THEN hook WHEN 'imported' THEN imported ELSE disputed OR secret OR untrusted OR hook OR imported END
        ORDER BY nth LIMIT $6 OFFSET $7
    )
    SELECT counts.*, page.* EXCLUDE (nth) FROM counts LEFT JOIN page ON true ORDER BY nth
"""
_WITH_TERMS = """
    SELECT namespace, id FROM memory
    WHERE namespace IN (SELECT unnest(from_json($1, '["VARCHAR"]')))
        AND forgotten_at IS NULL AND superseded_by IS NULL AND (expires_at IS NULL OR expires_at > $2)
        AND list_has_any(terms, from_json($3, '["INTEGER"]'))
    ORDER BY created_at DESC, rowid DESC LIMIT $4
"""


def to_review(session: SqlSession, namespaces: Sequence[str], wanted: ReviewRequest) -> ReviewPage:
    """Return one page of what waits for a person."""
    rows = session.rows(
        _REVIEW,
        to_json(list(namespaces)),
        to_micros(wanted.now),
        to_json(sorted(wanted.secrets)),
        HOOK_SOURCE,
        None if wanted.reason is None else wanted.reason.value,
        wanted.limit,
        wanted.offset,
    )
    *of_each, of_all = rows[0][: len(Reason) + 1]
    counts = dict(zip(Reason, of_each, strict=True))
    found = [
        row[len(Reason) + 1 :] for row in rows
    ]  # where nothing is on the page there is one row all the same, of counts
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
    session: SqlSession, namespaces: Sequence[str], terms: Collection[int], now: datetime, limit: int
) -> list[tuple[str, MemoryId]]:
    """Return namespace and id of the newest current memories that have some terms."""
    rows = session.rows(_WITH_TERMS, to_json(list(namespaces)), to_micros(now), to_json(sorted(terms)), limit)
    return [(namespace, MemoryId(id_)) for namespace, id_ in rows]
