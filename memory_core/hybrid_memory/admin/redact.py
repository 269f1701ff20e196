"""Redaction: take secrets out of memories for good, and keep the memories, their links and their lines in the audit log.

Called by the operation ``redact`` of the command line. It reaches what `purge` reaches: the store and all its copies in its folder.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hybrid_memory.admin.purge import remaining_state
from hybrid_memory.errors import ConfirmationNeeded, InvalidInput, NotFound
from hybrid_memory.store.erasing import RedactionJob
from hybrid_memory.validation import IDS_LIMIT, check_name

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from hybrid_memory.model import MemoryId
    from hybrid_memory.store.administration import WholeStore
    from hybrid_memory.store.erasing import Eraser, OnStep, Purged
    from hybrid_memory.store.transfer import RedactionPlan

_SHORTEST_WORDS = 4  # characters that a person may have taken out: fewer stand everywhere


def check_redaction(namespace: str, ids: Sequence[MemoryId], words: str | None) -> None:
    """Check what a person wants to have redacted.

    Raises:
        InvalidInput: no ids or too many, or words that are too short to be a secret.
    """
    check_name("namespace", namespace)
    if not 1 <= len(ids) <= IDS_LIMIT:
        raise InvalidInput("ids", f"name from 1 to {IDS_LIMIT} memories")
    if words is not None and len(words.strip()) < _SHORTEST_WORDS:
        raise InvalidInput("words", f"give at least {_SHORTEST_WORDS} characters")


def check_redaction_ids(plan: RedactionPlan) -> None:
    """Check that the memories are there.

    Raises:
        NotFound: an id is not there.
    """
    if plan.missing:
        raise NotFound(f"ids: {', '.join(plan.missing)}: not in this namespace; nothing was changed")


def check_redaction_plan(plan: RedactionPlan, count: int | None) -> None:
    """Check that there is something to take out, in as many memories as was confirmed.

    Raises:
        NotFound: an id is not there, or no secret is.
        ConfirmationNeeded: it is not ``count`` memories.
    """
    check_redaction_ids(plan)
    if not plan.kinds:
        raise NotFound("nothing in them is recognised as a secret; say with --words what is to be taken out")
    if count is not None and count != len(plan.ids) + len(plan.others):
        raise ConfirmationNeeded(len(plan.ids) + len(plan.others))


def redact(
    eraser: Eraser,
    namespace: str,
    ids: Sequence[MemoryId],
    now: datetime,
    *,
    actor: str,
    words: str | None = None,
    count: int | None = None,
    on_step: OnStep = lambda _: None,
) -> Purged:
    """Take secrets out of some memories of a store, and out of all its copies in its folder; returns in how many memories.

    What is recognised in them, or the ``words`` that are given, is taken out of every memory of the namespace that holds it.

    Raises:
        InvalidInput, NotFound, ConfirmationNeeded: nothing was changed.
        StoreLocked: somebody has the store open who must not.
        StoreFull: there is no room for the new files; the store is unchanged.
    """
    check_redaction(namespace, ids, words)

    def make_job(store: WholeStore) -> RedactionJob:
        plan = store.transfer.plan_redaction(namespace, ids, words)
        check_redaction_plan(plan, count)
        return RedactionJob(namespace, plan)

    return eraser.erase(make_job, now, actor=actor, remaining_state=remaining_state, on_step=on_step)
