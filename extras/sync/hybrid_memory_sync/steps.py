"""The steps of a synchronisation that change a store, as decisions over a `SyncView`: what is new here, and what others have said. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from hybrid_memory.clock import to_micros
from hybrid_memory.model import Memory, MemoryId, Tier, Usage
from hybrid_memory.store.memory_fields import DERIVED, NAMES
from hybrid_memory.store.syncing import SYNC, ItemKey, ItemState, LogMark, RowStamps, SyncBatch, SyncView
from hybrid_memory.store.transfer import MemoryItem
from hybrid_memory_sync.lines import Change, ItemChange, MemoryChange
from hybrid_memory_sync.merge import State, join, join_items
from hybrid_memory_sync.settle import LINKS, settled, without_purged
from hybrid_memory_sync.stamps import NEW, follows, next_stamp, stamped

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

ALL_ENTRIES = 2**40
_SETTLED = ("superseded_by", "duplicate_of", "tier")  # what `settled` may set
_COMPARED = tuple(name for name in NAMES if name not in DERIVED)


@dataclass(frozen=True, slots=True)
class Encoded:
    """A new memory with what search knows of its words, and its vector (None while the model is missing) and passages."""

    memory: Memory
    vector: NDArray[np.float32] | None = None
    passages: bytes | None = None


@dataclass(frozen=True, slots=True)
class StepResult:
    """What a step did: entries of the log that it looked at, memories that came in, changed, went or lost words, items that changed."""

    looked_at: int = 0
    new: int = 0
    changed: int = 0
    removed: tuple[MemoryId, ...] = ()
    redacted: tuple[Memory, ...] = ()
    items: int = 0


def decide_noticed(view: SyncView, limit: int = ALL_ENTRIES) -> SyncBatch:
    """Return what is to be noted of the changes that were made here since the last time, and what follows from them."""
    step = _Step(view)
    looked_at = step.notice_log(limit)
    step.notice_items()
    step.consider(view.entangled(step.noticed))
    return step.batch(looked_at)


def decide_heard(changes: Sequence[Change], encoded: Mapping[MemoryId, Encoded], view: SyncView) -> SyncBatch:
    """Return what changes when others' words are joined with what is known here.

    What was changed here in this very moment is noticed first, so that nothing of it is taken for older than it is.
    """
    step = _Step(view, encoded)
    looked_at = step.notice_log(ALL_ENTRIES)
    step.consider(view.entangled(step.noticed))
    items = [one for one in changes if isinstance(one, ItemChange)]
    if items:
        step.notice_items()
    step.hear([one for one in changes if isinstance(one, MemoryChange)])
    step.hear_items(items)
    return step.batch(looked_at)


@dataclass(slots=True)
class _Step:
    """One step: states as they are joined, until `batch` says what of it is new."""

    view: SyncView
    encoded: Mapping[MemoryId, Encoded] = field(default_factory=dict)
    noticed: set[MemoryId] = field(default_factory=set)
    _considered: set[MemoryId] = field(default_factory=set)
    _mark: LogMark = field(default_factory=LogMark)
    _rows: dict[MemoryId, RowStamps] = field(default_factory=dict)
    _before: dict[MemoryId, Memory] = field(default_factory=dict)
    _usage: dict[MemoryId, Usage] = field(default_factory=dict)
    _known: dict[MemoryId, RowStamps] = field(default_factory=dict)
    _states: dict[MemoryId, State] = field(default_factory=dict)
    _heard: dict[MemoryId, Usage] = field(default_factory=dict)
    _items: dict[ItemKey, ItemState] = field(default_factory=dict)
    _own: set[ItemKey] = field(default_factory=set)
    _clock: int = 0

    # --- what changed here --------------------------------------------------------------------------------------------

    def notice_log(self, limit: int) -> int:
        """Note what the log says behind the mark; returns how many entries that were."""
        view, mark = self.view, self.view.mark
        if not view.is_same_log():
            # Another log, as a repair may leave one: what it tells of was changed now, and what it does not tell of stays as it is.
            mark = LogMark(0, None, mark.clock)
        entries = view.log(mark.position, limit)
        self.noticed = {entry.id for entry in entries if entry.id and entry.action != SYNC}
        found, clock = stamped(entries, view.rows(self.noticed), mark.clock)
        self._rows |= found
        self._mark = mark
        self._clock = clock
        if entries:
            last = entries[-1].position
            self._mark = LogMark(last, view.link_at(last), clock)
        return len(entries)

    def notice_items(self) -> None:
        """Note what alongside the memories is not as it was left."""
        changed = self.view.changed_items()
        values = self.view.items([one.key for one in changed])
        for one in changed:
            # What is seen for the first time has its own time, so that it is the same in each copy of a store.
            if one.known:
                self._clock = next_stamp(self._clock, to_micros(self.view.now))
                stamp = self._clock
            else:
                stamp = max(one.at, 0)
            state = values.get(one.key)
            self._items[one.key] = ItemState(None if state is None else state.value, stamp)
            self._own.add(one.key)

    # --- what others say ----------------------------------------------------------------------------------------------

    def hear(self, changes: Sequence[MemoryChange]) -> None:
        """Join what others know of memories."""
        self._load({change.id for change in changes})
        gone: set[MemoryId] = set()
        touched: set[MemoryId] = set()
        for change in changes:
            self._saw(change.state)
            heard = change.state
            before = self._states.get(change.id)
            after = heard if before is None else join(before, heard)
            if after.usage is not None and after.usage == heard.usage:
                self._heard[change.id] = after.usage
            if after == before:
                continue
            self._states[change.id] = after
            touched.add(change.id)
            if after.is_gone:
                gone.add(change.id)
        self.consider(touched | (self.view.referring(gone) if gone else set()))

    def hear_items(self, changes: Sequence[ItemChange]) -> None:
        """Join what others know of items alongside the memories."""
        known = self.view.items([change.key for change in changes])
        for change in changes:
            self._clock = follows(self._clock, (change.state.stamp,))
            heard = change.state
            before = self._items.get(change.key) or known.get(change.key)
            after = heard if before is None else join_items(before, heard)
            if after != before:
                self._items[change.key] = after
                self._own.discard(change.key)

    # --- what follows -------------------------------------------------------------------------------------------------

    def consider(self, ids: Iterable[MemoryId]) -> None:
        """Load some memories with all their versions and all sayings of their words: what they are follows from each other."""
        pending = set(ids)
        seen: set[MemoryId] = set()
        while pending:
            self._load(pending)
            seen |= pending
            here = [state.memory for id_ in pending if (state := self._states.get(id_)) and state.memory is not None]
            near = self.view.linked(pending) | {
                one for memory in here for one in (memory.supersedes, memory.superseded_by) if one is not None
            }
            words = {memory.content_hash for memory in here}
            near |= self.view.same_words(words)
            near |= {
                id_ for id_, one in self._states.items() if one.memory is not None and one.memory.content_hash in words
            }
            pending = near - seen
        self._considered |= seen

    def batch(self, looked_at: int) -> SyncBatch:
        """Return what of all this is new."""
        self._drop_links_to_purged()
        # What was loaded alone and did not change is as it should be: what it follows from is not at hand.
        states = {id_: one for id_, one in self._states.items() if id_ in self._considered or one.memory is None}
        stand = settled({id_: one.memory for id_, one in states.items() if one.memory is not None})
        inserts, updates, usage = [], [], {}
        removed = [id_ for id_, one in states.items() if one.memory is None and id_ in self._before]
        for id_, state in states.items():
            self._note_row(id_, state, stand.get(id_))
            memory = stand.get(id_)
            if memory is None:
                continue
            before = self._before.get(id_)
            if before is None:
                inserts.append(self._new(memory, state.usage))
                continue
            if any(getattr(before, name) != getattr(memory, name) for name in _COMPARED):
                updates.append((before, memory))
            if state.usage is not None and state.usage != self._usage.get(id_):
                usage[id_] = state.usage
        redacted = tuple(after for before, after in updates if before.content != after.content)
        result = StepResult(looked_at, len(inserts), len(updates), tuple(removed), redacted, len(self._items))
        return SyncBatch(
            mark=replace(self._mark, clock=max(self._mark.clock, self._clock)),
            rows=self._rows,
            inserts=tuple(inserts),
            updates=tuple(updates),
            removed=tuple(removed),
            usage=usage,
            heard={id_: one for id_, one in self._heard.items() if id_ in self._before or id_ in stand},
            items=self._items,
            own=frozenset(self._own),
            result=result,
        )

    def _load(self, ids: Iterable[MemoryId]) -> None:
        """Read what is known here of some memories, if it was not yet."""
        wanted = [id_ for id_ in ids if id_ not in self._states]
        if not wanted:
            return
        self._known |= (known := self.view.rows(wanted))
        memories, usage = self.view.memories(wanted), self.view.usage(wanted)
        self._before |= memories
        self._usage |= usage
        for id_ in wanted:
            row = self._rows.get(id_) or known.get(id_) or NEW
            memory = memories.get(id_)
            if memory is not None:
                memory = replace(memory, **_raw_values(row))
            elif row == NEW:
                continue  # nothing is known of it
            self._states[id_] = State(
                memory=memory, usage=usage.get(id_), stamps=row.stamps, born=row.born, gone=row.gone
            )

    def _drop_links_to_purged(self) -> None:
        named = {id_ for one in self._states.values() if one.memory is not None for id_ in _linked_ids(one.memory)}
        rows = self.view.rows(named) | {id_: row for id_, row in self._rows.items() if id_ in named}
        gone = {id_: row.gone for id_, row in rows.items() if row.gone > row.born}
        gone |= {id_: one.gone for id_, one in self._states.items() if one.is_gone}
        if gone:
            self._states = {id_: without_purged(one, gone) for id_, one in self._states.items()}

    def _note_row(self, id_: MemoryId, state: State, memory: Memory | None) -> None:
        raw: dict[str, str | None] = {}
        if memory is not None and state.memory is not None and memory != state.memory:
            raw = {
                name: None if (value := getattr(state.memory, name)) is None else str(value)
                for name in _SETTLED
                if getattr(memory, name) != getattr(state.memory, name)
            }
        row = RowStamps(born=state.born, gone=state.gone, stamps=dict(state.stamps), raw=raw)
        if row != (self._known.get(id_) or NEW):
            self._rows[id_] = row
        else:
            self._rows.pop(id_, None)

    def _new(self, memory: Memory, usage: Usage | None) -> MemoryItem:
        encoded = self.encoded.get(memory.id)
        if encoded is None or encoded.memory.content != memory.content:
            return MemoryItem(replace(memory, terms=(), names=(), days=(), aspects=0, encoding=0), usage)
        words: dict[str, Any] = {name: getattr(encoded.memory, name) for name in DERIVED}
        return MemoryItem(replace(memory, **words), usage, encoded.vector, encoded.passages)

    def _saw(self, state: State) -> None:
        self._clock = follows(self._clock, (state.born, state.gone, *state.stamps.values()))


def _linked_ids(memory: Memory) -> set[MemoryId]:
    named = {getattr(memory, name) for name in LINKS} | set(memory.parents)
    return {one for one in named if one is not None}


def _raw_values(row: RowStamps) -> dict[str, Any]:
    return {
        name: Tier(value) if name == "tier" and value is not None else value
        for name, value in row.raw.items()
        if name in _SETTLED
    }


def told(view: SyncView, ids: Sequence[MemoryId]) -> list[MemoryChange]:
    """Return what is known of some memories, as it is told to others: each field as it was set. Episodes stay on this machine."""
    rows, memories, usage = view.rows(ids), view.memories(ids), view.usage(ids)
    found = []
    for id_ in ids:
        row, memory = rows.get(id_, NEW), memories.get(id_)
        if memory is not None and memory.is_episode:
            continue
        if memory is not None:
            memory = replace(memory, **_raw_values(row))
            state = State(memory=memory, usage=usage.get(id_), stamps=row.stamps, born=row.born, gone=row.gone)
        elif row.gone > row.born:
            state = State(memory=None, born=row.born, gone=row.gone)
        else:
            continue
        found.append(MemoryChange(id_, state))
    return found
