"""The statements that choose memories: by filters (`store/listing.py`), by the beginning of ids, by what they name, and for review.

PostgreSQL 15 cannot ask whether a text is JSON, and reading one that is none ends the statement. So an element of a list in a column is
looked for as the characters that a list has there: behind the ``[`` at the beginning, or behind the mark that ends the text before and a
comma. Within a text a quotation mark is always behind a backslash, so what follows up to the next mark is all of the element.
`memory_fields` writes these columns, without spaces.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from string import Template
from typing import TYPE_CHECKING

from hybrid_memory.clock import to_micros
from hybrid_memory.ids import LONGEST_ID
from hybrid_memory.model import MemoryId
from hybrid_memory.store.encoding import to_json
from hybrid_memory.store.reviewing import Reason, ReviewRequest
from hybrid_memory.trust import BESIDE_OTHERS

if TYPE_CHECKING:
    from hybrid_memory.requests import ListRequest
    from hybrid_memory_postgres.sql_session import PgSession

# Which filters there are is known when the statement is planned: what is not asked for costs nothing then. All but the tags stand in the
# index by time, which has a third of the rows' size and takes a tenth of the work; a server with its own settings believes that pages of an
# index come from a disk that turns, and would read all rows instead.
_PLANNED_EACH_TIME = """
    SELECT set_config('plan_cache_mode', 'force_custom_plan', true), set_config('jit', 'off', true),
        set_config('random_page_cost', '1', true)
"""
_OF_EACH = """
    FROM unnest($1::text[]) AS one (name) CROSS JOIN LATERAL (
"""
_FILTERED = """
        FROM memory WHERE namespace = one.name
        AND ($2::text IS NULL OR kind = $2)
        AND ($3::text IS NULL OR tier = $3)
        AND ($4::text IS NULL OR origin = $4)
        AND ($5::text IS NULL OR trust = $5)
        AND ($6::text IS NULL OR session = $6)
        AND ($7::bigint IS NULL OR coalesce(occurred_at, created_at) >= $7)
        AND ($8::bigint IS NULL OR coalesce(occurred_at, created_at) < $8)
        AND (NOT $9::boolean OR pinned)
        AND ($10::text IS DISTINCT FROM 'forgotten' OR forgotten_at IS NOT NULL)
        AND ($10 IS NULL OR $10 = 'forgotten' OR forgotten_at IS NULL)
        AND ($10 IS DISTINCT FROM 'superseded' OR superseded_by IS NOT NULL)
        AND ($10 IS NULL OR $10 IN ('forgotten', 'superseded') OR superseded_by IS NULL)
        AND ($10 IS DISTINCT FROM 'expired' OR expires_at <= $11::bigint)
        AND ($10 IS DISTINCT FROM 'current' OR expires_at IS NULL OR expires_at > $11)
        AND ($12::text[] = '{}' OR tags IS NOT NULL AND NOT EXISTS (
            SELECT 1 FROM unnest($12::text[]) AS wanted
            WHERE NOT starts_with(tags, '[' || wanted) AND strpos(tags, '",' || wanted) = 0
        ))
        AND (NOT $13::boolean OR kind <> 'episode' OR tier = 'long_term')
"""
_COUNT = "SELECT coalesce(sum(found), 0)::bigint" + _OF_EACH + "SELECT count(*) AS found" + _FILTERED + ") AS counted"
# Of each namespace the newest, then of all, by the index alone; only those of the page are looked up.
_LIST = Template("""
    SELECT memory.namespace, memory.id FROM (
        SELECT namespace, created_at, place $of_each
            SELECT namespace, created_at, place $filtered
            ORDER BY created_at DESC, place DESC LIMIT $$14::bigint + $$15::bigint
        ) AS newest
        ORDER BY created_at DESC, place DESC LIMIT $$14 OFFSET $$15
    ) AS page JOIN memory USING (namespace, created_at, place)
    ORDER BY created_at DESC, place DESC
""").substitute(of_each=_OF_EACH, filtered=_FILTERED)
# A span of the index: ids have the order of their bytes, and none is longer than the end of the span.
_BEGINNING = """
    SELECT DISTINCT id FROM memory WHERE namespace = ANY ($1::text[]) AND id >= $2 AND id <= $3 AND starts_with(id, $2)
    ORDER BY id LIMIT $4
"""
_LAST_CHARACTER = "\U0010ffff"
# One search by an index for each kind of link: most rows have none.
_LINKED_TO = """
    SELECT namespace, id FROM (
        SELECT namespace, id, created_at, place FROM memory
            WHERE namespace = ANY ($1::text[]) AND superseded_by IS NOT NULL AND superseded_by = ANY ($2::text[])
        UNION SELECT namespace, id, created_at, place FROM memory
            WHERE namespace = ANY ($1::text[]) AND supersedes IS NOT NULL AND supersedes = ANY ($2::text[])
        UNION SELECT namespace, id, created_at, place FROM memory
            WHERE namespace = ANY ($1::text[]) AND duplicate_of IS NOT NULL AND duplicate_of = ANY ($2::text[])
        UNION SELECT namespace, id, created_at, place FROM memory
            WHERE namespace = ANY ($1::text[]) AND disputes IS NOT NULL AND disputes = ANY ($2::text[])
        UNION SELECT namespace, id, created_at, place FROM memory
            WHERE namespace = ANY ($1::text[]) AND parents IS NOT NULL AND EXISTS (
                SELECT 1 FROM unnest($3::text[]) AS wanted
                WHERE starts_with(parents, '[' || wanted) OR strpos(parents, '",' || wanted) > 0
            )
    ) AS linked
    ORDER BY created_at DESC, place DESC LIMIT $4
"""


def list_memories(
    session: PgSession, namespaces: Sequence[str], wanted: ListRequest, now: datetime
) -> tuple[list[tuple[str, MemoryId]], int]:
    """Return namespace and id of the memories of one page, and how many all pages hold."""
    choices = (wanted.kind, wanted.tier, wanted.origin, wanted.trust)
    bounds = (wanted.since, wanted.until)
    if "\0" in (wanted.session or ""):
        return [], 0
    values = (
        list(dict.fromkeys(namespaces)),
        *(None if one is None else one.value for one in choices),
        wanted.session,
        *(None if one is None else to_micros(one) for one in bounds),
        wanted.pinned,
        None if wanted.state is None else wanted.state.value,
        to_micros(now),
        elements(wanted.tags),
        wanted.without_episodes,
    )
    session.send(_PLANNED_EACH_TIME)
    total = session.rows(_COUNT, *values)[0][0]
    rows = session.rows(_LIST, *values, wanted.limit, wanted.offset) if total else []
    return [(namespace, MemoryId(id_)) for namespace, id_ in rows], total


def ids_beginning(session: PgSession, namespaces: Sequence[str], beginning: str, limit: int) -> list[MemoryId]:
    """Return at most so many ids that begin with a text, sorted."""
    if "\0" in beginning:
        return []
    end = beginning + LONGEST_ID * _LAST_CHARACTER
    return [MemoryId(id_) for (id_,) in session.rows(_BEGINNING, list(namespaces), beginning, end, limit)]


def linked_to(
    session: PgSession, namespaces: Sequence[str], ids: Collection[MemoryId], limit: int
) -> list[tuple[str, MemoryId]]:
    """Return namespace and id of at most so many memories that name one of some ids, those written last first."""
    wanted = storable(ids)
    rows = session.rows(_LINKED_TO, list(namespaces), wanted, elements(wanted), limit) if wanted else []
    return [(namespace, MemoryId(id_)) for namespace, id_ in rows]


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
_INT32 = 4  # bytes of a number in a list
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


def elements(texts: Collection[str]) -> list[str]:
    """Return texts as they stand in a list."""
    return [to_json(one) for one in texts]


def storable(texts: Collection[str]) -> list[str]:
    """Return those of some texts that can be in the database at all: it holds no zero character, and refuses to be asked for one."""
    return [one for one in texts if "\0" not in one]
