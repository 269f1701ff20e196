"""The chain of the audit log: each entry of a namespace carries a digest of itself and of the entry before it. Pure.

Changing, dropping or moving an entry breaks the chain there; who cuts its end off is found by the head, which is stored apart. Who can
write the whole store can make a whole new chain: the head would have to be kept elsewhere.

A purge has to take the digest of a text out of the log, because a short text can be guessed from it. So the chain is not made of that
digest but of a seal: the digest of it with a random salt. A purge leaves the seal and takes digest and salt: the chain still fits,
and nobody can guess.

A repair of a damaged file appends an entry at which the chain begins again, and which says what did not fit; what comes before it is
checked no longer, and `doctor` tells so.

Entries of before the chain (earlier versions of this program) have none; it begins with the first that has.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from hybrid_memory.clock import to_micros
from hybrid_memory.store.writing import LogEntry

SALT_BYTES = 8
_DIGEST_BYTES = 16
_ANCHOR = "*"  # before the link of an entry at which the chain begins again
_ERASED = "="  # before the seal, where the salt stood


class ChainedEntry(NamedTuple):
    """An entry of the log as it is stored, so that one that says nonsense can be checked too.

    ``made_at`` are microseconds. ``salt`` (what is left of it after a purge) and ``link`` are None before the chain.
    """

    position: int
    change: str
    id: str
    rev: int
    made_at: int
    actor: str
    action: str
    digest: str
    note: str
    salt: str | None
    link: str | None


@dataclass(frozen=True, slots=True)
class LogHead:
    """The position and the link of the last entry of a namespace, as they were stored apart from it."""

    position: int
    link: str


@dataclass(frozen=True, slots=True)
class ChainCheck:
    """What a check of a namespace's log found: ``problem`` says where the chain does not fit and how, None where it does.

    ``unchained`` entries at the beginning are from before the chain, or from before the last of ``anchors`` repairs that began it again.
    """

    problem: str | None
    unchained: int = 0
    anchors: int = 0


def chained(namespace: str, log: Sequence[LogEntry], link: str, randomness: bytes) -> list[ChainedEntry]:
    """Return entries with their links, the first behind ``link`` ("" for none); ``randomness`` has `SALT_BYTES` for each."""
    found = []
    for at, entry in enumerate(log):
        salt = randomness[at * SALT_BYTES : (at + 1) * SALT_BYTES].hex()
        one = ChainedEntry(
            position=entry.position,
            change=entry.change.value,
            id=entry.id,
            rev=entry.rev,
            made_at=to_micros(entry.at),
            actor=entry.actor,
            action=entry.action,
            digest=entry.digest,
            note=entry.note,
            salt=salt,
            link=None,
        )
        link = link_of(namespace, one, link)
        found.append(one._replace(link=link))
    return found


def link_of(namespace: str, one: ChainedEntry, before: str) -> str:
    """Return the link of an entry behind the link ``before``."""
    told = (one.position, one.change, one.id, one.rev, one.made_at, one.actor, one.action, one.note)
    fields = (before, namespace, *told, seal_of(one.salt or "", one.digest))
    return _digest(json.dumps(fields, ensure_ascii=True, separators=(",", ":")))


def seal_of(salt: str, digest: str) -> str:
    """Return the seal of a digest; what a purge has left in the place of the salt is one."""
    return salt[1:] if salt.startswith(_ERASED) and not digest else _digest(f"{salt}:{digest}")


def erased_salt(salt: str, digest: str) -> str:
    """Return what is in the place of a salt after the digest was taken out."""
    return _ERASED + seal_of(salt, digest)


def anchored(namespace: str, entry: LogEntry, randomness: bytes) -> ChainedEntry:
    """Return an entry at which a chain begins again, as a repair appends it: what comes before it is checked no longer."""
    (one,) = chained(namespace, [entry], "", randomness)
    return one._replace(link=_ANCHOR + link_of(namespace, one, _ANCHOR))


def check_chain(namespace: str, log: Iterable[ChainedEntry], head: LogHead | None) -> ChainCheck:
    """Follow the chain of a namespace's log, whose entries come by rising position, to its ``head``."""
    problem: str | None = None
    last, link, unchained, anchors = 0, "", 0, 0
    for count, one in enumerate(log):
        if _is_anchor(namespace, one):
            problem, unchained, anchors = None, count, anchors + 1
        elif problem is None:
            problem = _misfit(namespace, one, last, link)
            unchained += problem is None and one.link is None
        last, link = one.position, one.link or link
    return ChainCheck(problem or _problem_at_end(last, link, head), unchained, anchors)


def _misfit(namespace: str, one: ChainedEntry, last: int, link: str) -> str | None:
    """Return how an entry does not fit behind the position ``last`` and the link there."""
    if one.position != last + 1:
        return _gap(last, one.position)
    if one.link is None or one.salt is None:
        return f"entry {one.position} has lost its digest" if link else None
    if one.link != link_of(namespace, one, link):
        return f"entry {one.position} does not fit: it was changed, or what stood before it"
    return None


def _is_anchor(namespace: str, one: ChainedEntry) -> bool:
    return (
        one.link is not None and one.link.startswith(_ANCHOR) and one.link == _ANCHOR + link_of(namespace, one, _ANCHOR)
    )


def _problem_at_end(last: int, link: str, head: LogHead | None) -> str | None:
    if head is None:
        return f"entry {last} is the last, and the head of the log is missing" if link else None
    if last < head.position:
        return f"the end is missing: entries {last + 1} to {head.position}"
    if last > head.position:
        return f"entry {head.position + 1} stands behind the head of the log"
    return None if link == head.link else f"entry {last} is not the one that the head of the log names"


def _gap(last: int, position: int) -> str:
    if position <= last:
        return f"entry {position} is there twice"
    missing = f"entry {last + 1} is" if position == last + 2 else f"entries {last + 1} to {position - 1} are"
    return f"{missing} missing"


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode("ascii", "backslashreplace"), digest_size=_DIGEST_BYTES).hexdigest()
