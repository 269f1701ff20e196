"""Purge: erase memories and what was made from them, from every file of the store's folder.

Called by the operation ``purge`` of the command line, `purge` last: `check_selection`, a preview, `check_plan`, then `purge`. How the
bytes go is the store's matter (`hybrid_memory.store.erasing`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hybrid_memory.errors import ConfirmationNeeded, InvalidInput, NotFound, StoreDamaged
from hybrid_memory.store.erasing import PurgeJob
from hybrid_memory.tiers.buffers import BufferEntry, Buffers, Item, decode_buffers, encode_buffers
from hybrid_memory.validation import check_name

if TYPE_CHECKING:
    from datetime import datetime

    from hybrid_memory.model import MemoryId
    from hybrid_memory.store.administration import WholeStore
    from hybrid_memory.store.erasing import Eraser, OnStep, Purged
    from hybrid_memory.store.transfer import PurgePlan, PurgeSelection


def check_selection(selection: PurgeSelection) -> None:
    """Check that a selection is one of ids, session, forgotten or everything.

    Raises:
        InvalidInput: it is none or several.
    """
    check_name("namespace", selection.namespace)
    if selection.session is not None:
        check_name("session", selection.session)
    ways = [bool(selection.ids), selection.session is not None, selection.forgotten, selection.everything]
    if sum(ways) != 1:
        raise InvalidInput("ids", "name ids, a session, all that is forgotten or everything, and only one of these")


def check_plan(plan: PurgePlan, count: int | None) -> None:
    """Check that there is something to purge, and as much as was confirmed.

    Raises:
        NotFound: an id is not there, or nothing is.
        ConfirmationNeeded: it is not ``count`` memories.
    """
    if plan.missing:
        raise NotFound(f"ids: {', '.join(plan.missing)}: not in this namespace; nothing was purged")
    if plan.is_empty:
        raise NotFound("there is nothing of that in this namespace; nothing was purged")
    if count is not None and count != len(plan.ids):
        raise ConfirmationNeeded(len(plan.ids))


def purge(
    eraser: Eraser,
    selection: PurgeSelection,
    now: datetime,
    *,
    actor: str,
    count: int | None = None,
    on_step: OnStep = lambda _: None,
) -> Purged:
    """Erase what was selected from a store and from all its copies in its folder.

    A copy that cannot be rewritten is removed. Killed at any moment, the store is the old one or the new one.

    Raises:
        InvalidInput, NotFound, ConfirmationNeeded: nothing was changed.
        StoreLocked: somebody has the store open who must not.
        StoreFull: there is no room for the new files; the store is unchanged.
    """
    check_selection(selection)

    def make_job(store: WholeStore) -> PurgeJob:
        plan = store.transfer.plan_purge(selection)
        check_plan(plan, count)
        return PurgeJob(selection, plan.ids)

    return eraser.erase(make_job, now, actor=actor, remaining_state=remaining_state, on_step=on_step)


def remaining_state(state: str, ids: frozenset[MemoryId]) -> str | None:
    """Return a buffer's state without some memories; None where nothing is left or it cannot be read."""
    try:
        buffers = decode_buffers(state)
    except StoreDamaged:
        return None
    left = Buffers(
        sensory=tuple(one for one in buffers.sensory if one.id not in ids),
        short_term=tuple(_entry_without(one, ids) for one in buffers.short_term if one.item.id not in ids),
    )
    if left == buffers:
        return state
    return encode_buffers(left) if left != Buffers() else None


def _entry_without(entry: BufferEntry, ids: frozenset[MemoryId]) -> BufferEntry:
    enhancers: tuple[Item, ...] = tuple(one for one in entry.enhancers if one.id not in ids)
    return replace(entry, enhancers=enhancers)
