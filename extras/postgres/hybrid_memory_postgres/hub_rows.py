"""The hubs that share a store: each has a row in the table ``hub``, which it renews as long as it lives.

``marks`` says up to where a hub has followed each namespace that it holds in memory, so that no log is shortened past what somebody still
has to read. A namespace is there as its digest (`hints`). Times are the server's: the clocks of hubs differ.
"""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping
from importlib.metadata import version
from typing import TYPE_CHECKING

from hybrid_memory.clock import from_micros
from hybrid_memory.store.other_hubs import OtherHub
from hybrid_memory_postgres import schema

if TYPE_CHECKING:
    from hybrid_memory_postgres.sql_session import PgSession

ALIVE_SECONDS = 60.0
"""So long after its last sign of life a hub still counts as alive."""
BEAT_SECONDS = 10.0
_FORGOTTEN_SECONDS = 86_400.0
_MICROS = 1_000_000

_ENTER = """
    INSERT INTO hub (id, name, version, schema, started_at, seen_at, marks)
    SELECT $1, $2, $3, $4::bigint, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint,
        (extract(epoch FROM clock_timestamp()) * 1000000)::bigint, '{}'
"""
_BEAT = """
    UPDATE hub SET seen_at = (extract(epoch FROM clock_timestamp()) * 1000000)::bigint, marks = $2 WHERE id = $1 RETURNING id
"""
_FORGET_DEAD = """
    DELETE FROM hub WHERE seen_at < (extract(epoch FROM clock_timestamp()) * 1000000)::bigint - $1::bigint
"""
_LEAVE = "DELETE FROM hub WHERE id = $1"
_LIVING = """
    SELECT id, name, version, started_at, seen_at FROM hub
    WHERE seen_at >= (extract(epoch FROM clock_timestamp()) * 1000000)::bigint - $1::bigint ORDER BY started_at, id
"""
# A hub that enters now waits for this transaction, and finds out at its first look that it is too old (`follower`).
_LOCK = "LOCK TABLE hub IN SHARE ROW EXCLUSIVE MODE"
_LIVING_BELOW = """
    SELECT name, version FROM hub
    WHERE schema < $2::bigint AND seen_at >= (extract(epoch FROM clock_timestamp()) * 1000000)::bigint - $1::bigint ORDER BY started_at, id
"""
# Who does not hold the namespace has no mark, and keeps nobody from shortening its log.
_FOLLOWED = """
    SELECT min((marks::json ->> $1::text)::bigint) + 1 FROM hub
    WHERE seen_at >= (extract(epoch FROM clock_timestamp()) * 1000000)::bigint - $2::bigint
"""
_TRIM = """
    UPDATE namespace SET trimmed_before = greatest(trimmed_before, least($2::bigint, position + 1)) WHERE name = $1
"""


def enter(session: PgSession, hub: str) -> None:
    """Add a row for this process, with an id that no other has."""
    session.send(_ENTER, hub, platform.node(), version("hybrid-memory-mcp"), schema.MIGRATIONS[-1].number)


def beat(session: PgSession, hub: str, marks: Mapping[str, int]) -> bool:
    """Say that a hub lives, and up to where it has followed; returns False if its row is gone, because it was taken for dead."""
    session.send(_FORGET_DEAD, int(_FORGOTTEN_SECONDS * _MICROS))
    return bool(session.rows(_BEAT, hub, json.dumps(marks)))


def leave(session: PgSession, hub: str) -> None:
    """Take a hub's row away."""
    session.send(_LEAVE, hub)


def living(session: PgSession, besides: str | None = None) -> list[OtherHub]:
    """Return the hubs that were seen lately, those that were there first at the head; not the one of the id ``besides``."""
    return [
        OtherHub(name, release, from_micros(started), from_micros(seen))
        for id_, name, release, started, seen in session.rows(_LIVING, int(ALIVE_SECONDS * _MICROS))
        if id_ != besides
    ]


def living_below(session: PgSession, number: int) -> list[str]:
    """Return name and version of the hubs that live and know no schema of this number; none enters until the transaction ends."""
    session.send(_LOCK)
    found = session.rows(_LIVING_BELOW, int(ALIVE_SECONDS * _MICROS), number)
    return [f"{name} ({release})" for name, release in found]


def followed(session: PgSession, digest: str) -> int | None:
    """Return behind which position every living hub has followed the namespace of a digest, None where none of them holds it."""
    found: int | None = session.rows(_FOLLOWED, digest, int(ALIVE_SECONDS * _MICROS))[0][0]
    return found


def trim(session: PgSession, namespace: str, before: int) -> None:
    """Let no changes behind a position be told any more; what was let go does not come back, and the end is not passed."""
    session.send(_TRIM, namespace, before)
