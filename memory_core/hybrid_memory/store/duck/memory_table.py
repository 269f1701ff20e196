"""How memories become rows of the table ``memory``, and rows become memories again."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime

from hybrid_memory.clock import from_micros, to_micros
from hybrid_memory.errors import StoreDamaged
from hybrid_memory.model import Kind, Memory, MemoryId, Origin, Tier, Trust
from hybrid_memory.store.duck.duckdb_errors import DAMAGED
from hybrid_memory.store.duck.sql_session import Row, SqlSession
from hybrid_memory.store.encoding import from_json, list_to_json, object_to_json, to_json

_INSERT = """
    INSERT INTO memory (namespace, id, session, agent, content, kind, tier, importance, created_at, content_hash,
        terms, pinned, tags, origin, trust, parents, rev, metadata, source, speaker, key, occurred_at, expires_at,
        forgotten_at, superseded_by, supersedes, duplicate_of, reflected_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?::VARCHAR::INTEGER[], ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_INSERT_PLAIN = """
    INSERT INTO memory (namespace, id, session, agent, content, kind, tier, importance, created_at, content_hash,
        terms, pinned, tags, origin, trust, parents, rev)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?::VARCHAR::INTEGER[], ?, ?, ?, ?, ?, ?)
"""
_ONE = """
    SELECT namespace, id, session, agent, content, kind, tier, importance, created_at, content_hash, terms, pinned,
        tags, metadata, source, speaker, origin, trust, key, occurred_at, expires_at, forgotten_at, superseded_by,
        supersedes, duplicate_of, parents, reflected_at, rev
    FROM memory WHERE id = ?
"""
_EIGHT = """
    SELECT namespace, id, session, agent, content, kind, tier, importance, created_at, content_hash, terms, pinned,
        tags, metadata, source, speaker, origin, trust, key, occurred_at, expires_at, forgotten_at, superseded_by,
        supersedes, duplicate_of, parents, reflected_at, rev
    FROM memory WHERE id IN (?, ?, ?, ?, ?, ?, ?, ?)
"""
_MANY = """
    SELECT namespace, id, session, agent, content, kind, tier, importance, created_at, content_hash, terms, pinned,
        tags, metadata, source, speaker, origin, trust, key, occurred_at, expires_at, forgotten_at, superseded_by,
        supersedes, duplicate_of, parents, reflected_at, rev
    FROM memory WHERE id IN (SELECT unnest(from_json(?, '["VARCHAR"]')))
"""
_MEMBERS = """
    SELECT namespace, id, session, agent, content, kind, tier, importance, created_at, content_hash, terms, pinned,
        tags, metadata, source, speaker, origin, trust, key, occurred_at, expires_at, forgotten_at, superseded_by,
        supersedes, duplicate_of, parents, reflected_at, rev
    FROM memory WHERE namespace = ? AND session = ? AND agent = ? AND tier = ? AND forgotten_at IS NULL
        AND superseded_by IS NULL
    ORDER BY created_at, rowid
"""
_EXISTING = """
    SELECT id FROM memory WHERE namespace = ? AND id IN (SELECT unnest(from_json(?, '["VARCHAR"]')))
"""
# Beside an id alone DuckDB 1.5 uses its index, so the other conditions are worded as what it cannot look up.
_UPDATE = """
    UPDATE memory SET session = ?, tier = ?, importance = ?, pinned = ?, tags = ?, metadata = ?, source = ?,
        speaker = ?, trust = ?, key = ?, expires_at = ?, forgotten_at = ?, superseded_by = ?, supersedes = ?,
        duplicate_of = ?, parents = ?, reflected_at = ?, rev = ?
    WHERE concat(namespace) = ? AND id = ? AND rev + 0 = ?
"""
_SET_TIER_ONE = "UPDATE memory SET tier = ?, rev = ? WHERE concat(namespace) = ? AND id = ?"
_SET_TIER_TWO = """
    UPDATE memory SET tier = CASE WHEN id = $2 THEN $3 ELSE $6 END, rev = CASE WHEN id = $2 THEN $4 ELSE $7 END
    WHERE namespace = $1 AND id IN ($2, $5)
"""
_SET_TIER_MANY = """
    UPDATE memory SET tier = moved.item.tier, rev = moved.item.rev
    FROM (SELECT unnest(from_json($2, '[{"id": "VARCHAR", "tier": "VARCHAR", "rev": "BIGINT"}]')) AS item) AS moved
    WHERE memory.namespace = $1 AND memory.id = moved.item.id
"""
_PAIR = 2
_MAX_BY_EIGHT = 24


_CONTENTS = "SELECT namespace, id, content FROM memory WHERE id IN (?, ?, ?)"
_NEWEST_CONTENTS = """
    SELECT id, left(content, $3) FROM memory WHERE namespace = $1 ORDER BY created_at DESC, id DESC LIMIT $2
"""


def insert_memory(session: SqlSession, memory: Memory) -> None:
    """Insert a new row; an id that exists already raises `ConstraintViolation`.

    Most memories have none of the columns that may be empty; leaving those out saves a tenth of a millisecond.
    """
    given = (
        memory.namespace,
        memory.id,
        memory.session,
        memory.agent,
        memory.content,
        memory.kind.value,
        memory.tier.value,
        memory.importance,
        to_micros(memory.created_at),
        memory.content_hash,
        "[" + ",".join(map(str, memory.terms)) + "]",
        memory.pinned,
        list_to_json(memory.tags),
        memory.origin.value,
        memory.trust.value,
        list_to_json(memory.parents),
        memory.rev,
    )
    optional = (
        object_to_json(memory.metadata) if memory.metadata else None,
        memory.source,
        memory.speaker,
        memory.key,
        micros_or_none(memory.occurred_at),
        micros_or_none(memory.expires_at),
        micros_or_none(memory.forgotten_at),
        memory.superseded_by,
        memory.supersedes,
        memory.duplicate_of,
        micros_or_none(memory.reflected_at),
    )
    if all(value is None for value in optional):
        session.change(_INSERT_PLAIN, *given)
    else:
        session.change(_INSERT, *given, *optional)


def update_memory(session: SqlSession, memory: Memory, rev_before: int) -> int:
    """Write the changeable fields of a row that still has ``rev_before``; returns the number of rows written."""
    return session.change(
        _UPDATE,
        memory.session,
        memory.tier.value,
        memory.importance,
        memory.pinned,
        list_to_json(memory.tags),
        object_to_json(memory.metadata) if memory.metadata else None,
        memory.source,
        memory.speaker,
        memory.trust.value,
        memory.key,
        micros_or_none(memory.expires_at),
        micros_or_none(memory.forgotten_at),
        memory.superseded_by,
        memory.supersedes,
        memory.duplicate_of,
        list_to_json(memory.parents),
        micros_or_none(memory.reflected_at),
        memory.rev,
        memory.namespace,
        memory.id,
        rev_before,
    )


def set_tiers(session: SqlSession, namespace: str, retiered: Sequence[Memory]) -> int:
    """Write tier and rev of existing rows; returns the number of rows written.

    One statement whatever the number, because a statement costs more than the rows it changes; but among very many rows
    only one for each finds them by the index.
    """
    if not retiered:
        return 0
    if len(retiered) == 1 or session.large:
        return sum(session.change(_SET_TIER_ONE, one.tier.value, one.rev, namespace, one.id) for one in retiered)
    if len(retiered) == _PAIR:
        values = [value for memory in retiered for value in (memory.id, memory.tier.value, memory.rev)]
        return session.change(_SET_TIER_TWO, namespace, *values)
    items = [{"id": memory.id, "tier": memory.tier.value, "rev": memory.rev} for memory in retiered]
    return session.change(_SET_TIER_MANY, namespace, to_json(items))


def memories_by_id(session: SqlSession, namespace: str, ids: Iterable[MemoryId]) -> dict[MemoryId, Memory]:
    """Return the memories of a namespace that exist, in the order of ``ids``.

    The statements name ids alone: with the namespace beside them DuckDB 1.5 does not use the index.
    """
    wanted = list(dict.fromkeys(ids))
    if not wanted:
        return {}
    if len(wanted) == 1:
        found = session.rows(_ONE, wanted[0])
    elif len(wanted) <= _MAX_BY_EIGHT:
        found = [row for part in _parts(wanted, 8) for row in session.rows(_EIGHT, *part)]
    else:
        found = session.rows(_MANY, to_json(wanted))
    memories = {memory.id: memory for memory in map(memory_of, found) if memory.namespace == namespace}
    return {id_: memories[id_] for id_ in wanted if id_ in memories}


def _parts(ids: list[MemoryId], size: int) -> Iterator[list[MemoryId]]:
    """Yield ids by ``size``; the last of them again where there are fewer."""
    for at in range(0, len(ids), size):
        part = ids[at : at + size]
        yield [*part, *part[-1:] * (size - len(part))]


def read_members(session: SqlSession, namespace: str, name: str, agent: str, tier: Tier) -> list[Memory]:
    """Return the live memories of a session's agent in a tier, oldest first; of one moment in the order of insertion."""
    return [memory_of(row) for row in session.rows(_MEMBERS, namespace, name, agent, tier.value)]


def contents_by_id(session: SqlSession, namespace: str, ids: Iterable[MemoryId]) -> dict[MemoryId, str]:
    """Return the words of the memories of a namespace that exist."""
    wanted = list(dict.fromkeys(ids))
    if not wanted:
        return {}
    # Three at a time is what one write asks for; a list of parameters is planned faster than an unnested one.
    found = [row for part in _parts(wanted, 3) for row in session.rows(_CONTENTS, *part)]
    return {MemoryId(id_): content for owner, id_, content in found if owner == namespace}


def newest_contents(session: SqlSession, namespace: str, limit: int, length: int) -> dict[MemoryId, str]:
    """Return the beginnings of the newest memories of a namespace, the oldest of them first."""
    found = session.rows(_NEWEST_CONTENTS, namespace, limit, length)
    return {MemoryId(id_): content for id_, content in reversed(found)}


def existing_ids(session: SqlSession, namespace: str, ids: Collection[MemoryId]) -> set[MemoryId]:
    """Return which memories of a namespace exist."""
    return {MemoryId(id_) for (id_,) in session.rows(_EXISTING, namespace, to_json(list(ids)))} if ids else set()


def memory_of(row: Row) -> Memory:
    """Return the memory of a row in the order of the table's columns.

    Raises:
        StoreDamaged: a value is none that this program writes.
    """
    try:
        return Memory(
            namespace=row[0],
            id=MemoryId(row[1]),
            session=row[2],
            agent=row[3],
            content=row[4],
            kind=Kind(row[5]),
            tier=Tier(row[6]),
            importance=row[7],
            created_at=from_micros(row[8]),
            content_hash=row[9],
            terms=tuple(row[10]),
            pinned=row[11],
            tags=texts_from_json(row[12]),
            metadata=from_json(row[13]) if row[13] else {},
            source=row[14],
            speaker=row[15],
            origin=Origin(row[16]),
            trust=Trust(row[17]),
            key=row[18],
            occurred_at=_moment_or_none(row[19]),
            expires_at=_moment_or_none(row[20]),
            forgotten_at=_moment_or_none(row[21]),
            superseded_by=row[22],
            supersedes=row[23],
            duplicate_of=row[24],
            parents=tuple(MemoryId(parent) for parent in texts_from_json(row[25])),
            reflected_at=_moment_or_none(row[26]),
            rev=row[27],
        )
    except (ValueError, OverflowError):
        raise StoreDamaged(DAMAGED) from None


def texts_from_json(text: str | None) -> tuple[str, ...]:
    """Return the texts of a JSON list; none for None."""
    return tuple(from_json(text)) if text else ()


def micros_or_none(moment: datetime | None) -> int | None:
    """Return microseconds since 1970, None for None."""
    return None if moment is None else to_micros(moment)


def _moment_or_none(micros: int | None) -> datetime | None:
    return None if micros is None else from_micros(micros)
