"""What forgetting memories and bringing them back changes. Pure.

`MemoryService.forget` hands `decide_forget_or_restore` to the store, which calls it in its transaction.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from hybrid_memory.decisions.tier_context import buffers_without
from hybrid_memory.decisions.write import superseded
from hybrid_memory.errors import ConfirmationNeeded, NotFound
from hybrid_memory.model import BUFFER_TIERS, Memory, MemoryId, Scope, Tier, Verdict
from hybrid_memory.requests import ForgetRequest, ForgetResult
from hybrid_memory.store.writing import Update, WriteBatch
from hybrid_memory.trust import have_one_authority, may_displace, takes_along

if TYPE_CHECKING:
    from hybrid_memory.store.writing import WriteView


@dataclass(frozen=True, slots=True)
class Lookups:
    """What the search index knows and a decision verifies.

    ``holders_of`` a session's key are its live working memories; ``replaced_by`` one are the memories that it superseded; ``linked_to``
    are those that name one of what is brought back, whatever for.
    """

    holders_of: Callable[[str, str], Sequence[MemoryId]]
    replaced_by: Callable[[MemoryId], Sequence[MemoryId]]
    linked_to: Sequence[MemoryId] = ()


def decide_forget_or_restore(
    request: ForgetRequest, ids: Sequence[MemoryId], scope: Scope, lookups: Lookups, view: WriteView
) -> WriteBatch:
    """Return what forgetting or bringing back changes; ``ids`` are the request's own or those that its filter found.

    A request that was done before never comes here, so its repeat needs no count that fits a second time.

    Raises:
        ConfirmationNeeded: the filter found another number of memories than the request confirms.
        NotFound: names the ids that do not exist here.
    """
    if request.where is not None and request.count != len(ids):
        raise ConfirmationNeeded(len(ids))
    return (decide_restore if request.restore else decide_forget)(ids, scope, lookups, view)


def decide_forget(ids: Sequence[MemoryId], scope: Scope, lookups: Lookups, view: WriteView) -> WriteBatch:
    """Return what forgetting changes; a forgotten memory stays as it is until it is restored or purged.

    Its older versions are forgotten with it: who forgets a statement does not want its first wording to stay readable. A version
    that is more trusted is not: it is current again, unless one of its authority holds its key by now.

    Raises:
        NotFound: names the positions in ``ids`` of those that do not exist here.
    """
    found = existing(view, ids)
    live = [memory for memory in found if memory.forgotten_at is None]
    chains = _older_versions(view, live, lookups)
    forgotten = [one for one in chains.together if one.forgotten_at is None]
    gone = {one.id for one in forgotten}
    above = [one for one in chains.above if one.superseded_by in gone and one.forgotten_at is None]
    held = held_by_equals(above, gone, lookups, view)
    revived = [one for one in above if one.id not in held]
    result = ForgetResult(
        ids=tuple(memory.id for memory in live),
        unchanged=tuple(memory.id for memory in found if memory.forgotten_at is not None),
        revived=tuple(one.id for one in revived),
        held=held,
    )
    return WriteBatch(
        action="forget",
        actor=scope.actor,
        updates=(
            *(Update(replace(one, forgotten_at=view.now, tier=tier_outside_buffers(one.tier))) for one in forgotten),
            *(Update(replace(one, superseded_by=None)) for one in revived),
        ),
        buffers=buffers_without(view, live),
        result=result,
    )


def held_by_equals(
    older: Iterable[Memory], gone: Collection[MemoryId], lookups: Lookups, view: WriteView
) -> dict[MemoryId, MemoryId]:
    """Return which older versions stay replaced though what replaced them goes, each with the memory of its authority that has its key.

    Of several with one key the newest has it. ``gone`` are the memories that are forgotten, which hold nothing any more.
    """
    held: dict[MemoryId, MemoryId] = {}
    came: list[Memory] = []
    for memory in sorted(older, key=lambda one: (one.created_at, one.id), reverse=True):
        if memory.key is None:
            continue
        there = view.get(lookups.holders_of(memory.session, memory.key)).values()
        rivals = [one for one in there if one.forgotten_at is None and one.superseded_by is None and one.id not in gone]
        rivals += [one for one in came if (one.session, one.key) == (memory.session, memory.key)]
        equal = next((one for one in rivals if have_one_authority(one.trust, memory.trust)), None)
        if equal is None:
            came.append(memory)
        else:
            held[memory.id] = equal.id
    return held


def decide_restore(ids: Sequence[MemoryId], scope: Scope, lookups: Lookups, view: WriteView) -> WriteBatch:
    """Return what bringing forgotten memories back changes.

    What comes back is current again, unless a version that replaced it is there or comes back with it. Where something else is in
    its place by now (it holds the key, or replaced the same older version), that is replaced if it has less authority, and disputed if
    it has more; alongside an equal one the memory stays forgotten.

    Raises:
        NotFound: names the positions in ``ids`` of those that do not exist here.
    """
    found = existing(view, ids)
    places = _Places([memory for memory in found if memory.forgotten_at is not None], lookups, view)
    wanted = [one for one in places.forgotten if one.id in places.coming]
    coming = {one.id: one for one in _older_versions(view, wanted, lookups).together if one.forgotten_at is not None}
    replaced = places.replaced | _replaced_again(coming, view)
    result = ForgetResult(
        ids=tuple(memory.id for memory in wanted),
        unchanged=tuple(memory.id for memory in found if memory.forgotten_at is None),
        restored=True,
        held=places.held,
    )
    return WriteBatch(
        action="restore",
        actor=scope.actor,
        updates=(
            *(Update(places.brought_back(one, coming)) for one in coming.values()),
            *(Update(superseded(old, new)) for old, new in replaced.values()),
        ),
        buffers=buffers_without(view, [old for old, _ in replaced.values()]),
        result=result,
    )


class _Places:
    """Who is where when some memories come back: each place, a key or the end of a chain of versions, has one memory.

    ``coming`` are the ids of those that come back, ``held`` those that do not, with what is in their place; ``replaced`` are
    memories of less authority with the id of what takes their place.
    """

    def __init__(self, forgotten: Sequence[Memory], lookups: Lookups, view: WriteView) -> None:
        self.forgotten = forgotten
        self.coming = {memory.id for memory in forgotten}
        self.held: dict[MemoryId, MemoryId] = {}
        self.replaced: dict[MemoryId, tuple[Memory, MemoryId]] = {}
        self._disputes: dict[MemoryId, MemoryId] = {}
        self._lookups = lookups
        self._view = view
        self._came: list[Memory] = []
        self._linked_to = tuple(view.get(lookups.linked_to).values())
        # The newest of several that come back has the place, as it would be had they been written in this order.
        for memory in sorted(forgotten, key=lambda one: (one.created_at, one.id), reverse=True):
            if not _stays_replaced(memory, self.coming, view):
                self._settle(memory)

    def brought_back(self, memory: Memory, coming: Mapping[MemoryId, Memory]) -> Memory:
        """Return a memory as it stands when it is no longer forgotten: current, if nothing that replaced it is there."""
        successor = memory.superseded_by if _stays_replaced(memory, coming, self._view) else _heir(memory, coming)
        disputes = self._disputes.get(memory.id, memory.disputes)
        # Who brings back what was judged untrue takes that back.
        verdict = None if memory.verdict is Verdict.UNTRUE else memory.verdict
        return replace(memory, forgotten_at=None, superseded_by=successor, disputes=disputes, verdict=verdict)

    def _settle(self, memory: Memory) -> None:
        rivals = self._rivals(memory)
        equal = next((one for one in rivals if have_one_authority(one.trust, memory.trust)), None)
        if equal is not None:
            self.held[memory.id] = equal.id
            self.coming.remove(memory.id)
            return
        self._came.append(memory)
        for one in rivals:
            if not may_displace(memory.trust, one.trust):
                self._disputes[memory.id] = one.id
            elif one.id not in self.coming:
                self.replaced[one.id] = (one, memory.id)

    def _rivals(self, memory: Memory) -> list[Memory]:
        """Return the current memories, and those that come back, in the place of one; not its own older versions."""
        chains = _older_versions(self._view, [memory], self._lookups)
        own = {one.id for one in (*chains.together, *chains.above)}
        there = [_newest_of_chain(self._view, memory.supersedes)]
        there += [_newest_of_chain(self._view, one) for one in _further_parts(memory, self._linked_to)]
        if memory.key is not None:
            there += self._view.get(self._lookups.holders_of(memory.session, memory.key)).values()
            there += [one for one in self._came if (one.session, one.key) == (memory.session, memory.key)]
        distinct = {one.id: one for one in there if one is not None and one.id not in own}
        return [one for one in distinct.values() if one in self._came or self._is_live(one)]

    def _is_live(self, memory: Memory) -> bool:
        over = memory.expires_at is not None and memory.expires_at <= self._view.now
        return memory.forgotten_at is None and memory.superseded_by is None and not over


def _newest_of_chain(view: WriteView, memory_id: MemoryId | None) -> Memory | None:
    """Return the memory that replaced one in the end; None where that is not there."""
    seen: set[MemoryId] = set()
    memory: Memory | None = None
    while memory_id is not None and memory_id not in seen:
        seen.add(memory_id)
        memory = view.get([memory_id]).get(memory_id)
        memory_id = None if memory is None else memory.superseded_by
    return memory


def _further_parts(memory: Memory, linked_to: Sequence[Memory]) -> list[MemoryId]:
    """Return what a memory was split into but for the first parts, which are its next versions: each was made with one of these."""
    parts = [one for one in linked_to if memory.id in one.parents]
    made_at = {one.created_at for one in parts if one.supersedes == memory.id}
    return [one.id for one in parts if one.supersedes is None and one.created_at in made_at]


def _stays_replaced(memory: Memory, coming: Collection[MemoryId], view: WriteView) -> bool:
    """Return True if what replaced a memory is there, or comes back with it."""
    successor = memory.superseded_by
    if successor is None or successor in coming:
        return successor is not None
    there = view.get([successor]).get(successor)
    return there is not None and there.forgotten_at is None


def _heir(memory: Memory, coming: Mapping[MemoryId, Memory]) -> MemoryId | None:
    """Return which of those that come back is the next version of a memory whose last one does not."""
    newer = (one for one in coming.values() if one.supersedes == memory.id and may_displace(one.trust, memory.trust))
    return next((one.id for one in newer), None)


def _replaced_again(coming: Mapping[MemoryId, Memory], view: WriteView) -> dict[MemoryId, tuple[Memory, MemoryId]]:
    """Return older versions that were current while the newer one was forgotten, each with the id of that one.

    Those that were forgotten themselves meanwhile too: they come back as older versions then, not alongside the newer one.
    """
    older = view.get([one.supersedes for one in coming.values() if one.supersedes is not None])
    links = [(older.get(one.supersedes), one) for one in coming.values() if one.supersedes is not None]
    return {
        before.id: (before, one.id)
        for before, one in links
        if before is not None
        and before.id not in coming
        and not _stays_replaced(before, coming, view)
        and may_displace(one.trust, before.trust)
    }


@dataclass(frozen=True, slots=True)
class _Chains:
    """Memories with the older versions that go and come ``together`` with them, and the first ``above`` these in trust."""

    together: tuple[Memory, ...]
    above: tuple[Memory, ...]


def _older_versions(view: WriteView, memories: Iterable[Memory], lookups: Lookups) -> _Chains:
    """Return memories and the versions that they superseded, each once, as far as these are not more trusted."""
    found = {memory.id: memory for memory in memories}
    above: dict[MemoryId, Memory] = {}
    newest = list(found.values())
    while newest:
        links = [(one, older) for one in newest for older in superseded_by_it(one, view, lookups)]
        above |= {old.id: old for new, old in links if not takes_along(new.trust, old.trust)}
        newest = [old for new, old in links if takes_along(new.trust, old.trust) and old.id not in found]
        found |= {old.id: old for old in newest}
    return _Chains(tuple(found.values()), tuple(one for one in above.values() if one.id not in found))


def superseded_by_it(memory: Memory, view: WriteView, lookups: Lookups) -> list[Memory]:
    """Return the memories that one superseded: the one that it names, and others that held its key."""
    ids = [*([] if memory.supersedes is None else [memory.supersedes]), *lookups.replaced_by(memory.id)]
    return [one for one in view.get(ids).values() if one.id == memory.supersedes or one.superseded_by == memory.id]


def tier_outside_buffers(tier: Tier) -> Tier:
    """Return where a memory of a tier stands when it leaves attention."""
    return Tier.FADED if tier in BUFFER_TIERS else tier


def existing(view: WriteView, ids: Sequence[MemoryId]) -> list[Memory]:
    """Return some memories in their order.

    Raises:
        NotFound: names the positions in ``ids`` of those that do not exist here.
    """
    known = view.get(ids)
    missing = [f"ids.{at}" for at, one in enumerate(ids) if one not in known]
    if missing:
        raise NotFound(f"{', '.join(missing)}: no such memory; nothing was changed")
    return [known[one] for one in dict.fromkeys(ids)]
