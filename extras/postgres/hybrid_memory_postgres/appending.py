"""Many entries onto a namespace's log at once, under the lock of its head: for work on the store as a whole.

A single write of a client goes through `write_transaction`; both lock the row of the namespace first, so one order holds all changes.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from hybrid_memory.clock import from_micros, never_back
from hybrid_memory.store.audit_chain import SALT_BYTES, chained, erased_salt

if TYPE_CHECKING:
    from hybrid_memory.store.audit_chain import ChainedEntry
    from hybrid_memory.store.writing import LogEntry
    from hybrid_memory_postgres.sql_session import PgSession

_MAKE = "INSERT INTO namespace (name) VALUES ($1) ON CONFLICT DO NOTHING"
_LOCK = "SELECT position, link, last_at FROM namespace WHERE name = $1 FOR UPDATE"
_INSERT = """
    INSERT INTO log (namespace, position, change, id, rev, made_at, actor, action, digest, note, salt, link)
    SELECT $1, * FROM unnest($2::bigint[], $3::text[], $4::text[], $5::bigint[], $6::bigint[], $7::text[], $8::text[], $9::text[],
        $10::text[], $11::text[], $12::text[])
"""
_ADVANCE = "UPDATE namespace SET position = $2, link = $3, last_at = greatest(last_at, $4) WHERE name = $1"
_DIGESTS = "SELECT position, salt, digest FROM log WHERE namespace = $1 AND digest <> '' AND id = ANY ($2::text[])"
_BLANK_DIGESTS = """
    UPDATE log SET digest = '', salt = one.salt FROM unnest($2::bigint[], $3::text[]) AS one (position, salt)
    WHERE log.namespace = $1 AND log.position = one.position
"""


@dataclass(frozen=True, slots=True)
class LockedHead:
    """The head of a namespace whose row this transaction has locked: position and link of its last entry, and when that was written."""

    namespace: str
    position: int
    link: str
    last_at: datetime

    def time_of_write(self, now: datetime) -> datetime:
        """Return the time of a write that happens now: not before the last one's if the clock went back by a little."""
        return never_back(now.astimezone(UTC), self.last_at)


def lock_head(session: PgSession, namespace: str) -> LockedHead:
    """Lock the head of a namespace until the transaction ends, which is made if there is none."""
    while True:
        session.send(_MAKE, namespace)
        row = session.row(_LOCK, namespace)
        if row is not None:  # else it was erased while this one waited for it
            position, link, last_at = row
            return LockedHead(namespace, position, link, from_micros(last_at))


def append_entries(session: PgSession, head: LockedHead, log: Sequence[LogEntry]) -> LockedHead:
    """Append entries behind a head, to the log and its chain; returns the new head."""
    if not log:
        return head
    return append_chained(session, head, chained(head.namespace, log, head.link, os.urandom(SALT_BYTES * len(log))))


def append_chained(session: PgSession, head: LockedHead, entries: Sequence[ChainedEntry]) -> LockedHead:
    """Append entries that have their links to the log behind a head; returns the new head."""
    columns = zip(
        *(
            (
                one.position,
                one.change,
                one.id,
                one.rev,
                one.made_at,
                one.actor,
                one.action,
                one.digest,
                one.note or None,
                one.salt,
                one.link,
            )
            for one in entries
        ),
        strict=True,
    )
    session.send(_INSERT, head.namespace, *map(list, columns))
    last = entries[-1]
    session.send(_ADVANCE, head.namespace, last.position, last.link or "", last.made_at)
    return LockedHead(head.namespace, last.position, last.link or "", max(head.last_at, from_micros(last.made_at)))


def erase_digests(session: PgSession, namespace: str, ids: Collection[str]) -> None:
    """Take the digests of some memories' words out of the log; the seals that its chain is made of stay."""
    found = session.rows(_DIGESTS, namespace, list(ids))
    if found:
        positions = [position for position, _, _ in found]
        salts = [None if salt is None else erased_salt(salt, digest) for _, salt, digest in found]
        session.send(_BLANK_DIGESTS, namespace, positions, salts)
