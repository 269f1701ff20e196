"""`synchronise`: let a store and a folder tell each other what is new.

The order:

1. notice what changed here, by the log, and stamp it;
2. write it into the folder as segments of this machine;
3. read the segments that are not known here, and join what they say;
4. take the words of what was purged or redacted out of this machine's own segments.

Each part can be killed: what was not noted as done is done again, and joins to the same.
"""

from __future__ import annotations

import json
import platform
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from hybrid_memory.clock import to_micros
from hybrid_memory.encoding.text_encoder import Embed, embedded
from hybrid_memory.encoding.word_encoding import with_encoded_words
from hybrid_memory.errors import InvalidInput, StoreError
from hybrid_memory.model import Memory, MemoryId, Usage
from hybrid_memory.store.syncing import FOLDERS, LAST, PATH, Outgoing, SyncBatch, SyncStore, SyncView
from hybrid_memory_sync.folder import SegmentFile, SyncFolder
from hybrid_memory_sync.lines import Change, ItemChange, MemoryChange, item_of_line, memory_of_line
from hybrid_memory_sync.machine import NOTE, after_setback, machine_of, new_name
from hybrid_memory_sync.segments import (
    NewerFormatError,
    NotWholeError,
    Segment,
    TooFarAheadError,
    lines_of,
    name_of,
    namespace_of,
    parts,
    read_segment,
    rewritten,
    segment_bytes,
)
from hybrid_memory_sync.stamps import AHEAD_AT_MOST
from hybrid_memory_sync.steps import Encoded, StepResult, decide_heard, decide_noticed, told

if TYPE_CHECKING:
    from hybrid_memory.clock import RandomSource
    from hybrid_memory.store.administration import WholeStore
    from hybrid_memory_sync.machine import Machine

OnProgress: TypeAlias = Callable[[int, int], None]

_ENTRIES_AT_ONCE = 5000  # of the log, in one transaction
_CHANGES_AT_ONCE = 1000  # joined in one transaction
_SEGMENT_CHANGES = 5000  # in one segment: some megabytes, which a carrier takes along in one go
_WHY_PASSED_OVER: dict[type[Exception], str] = {
    NewerFormatError: "newer",
    NotWholeError: "torn",
    TooFarAheadError: "ahead",
}
_WRITES = "writes "
_LEFTOVERS = "leftovers "
# Files with words that are purged here, and that are not this machine's to clean: those of other machines go when these synchronise; those
# of a machine that is gone, and copies under other names, never do. They are looked for after a purge, here or elsewhere: not each time.


@dataclass(frozen=True, slots=True)
class Leftover:
    """A file with words that are purged: ``machine`` wrote it, or "" where it is a copy that no machine looks after."""

    file: str
    machine: str
    written_at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Synced:
    """What a synchronisation did.

    ``sent`` memories went into ``segments`` of this machine; of others' segments ``read`` were read, by which memories were ``new``,
    ``changed`` or ``purged`` here; ``versions`` of them are corrections that another one replaced. ``torn`` files are not whole (yet),
    ``newer`` ones of a later version, ``ahead`` ones of a time that lies a century ahead; ``passed_over`` names these files.
    ``refused`` lines are none that this program writes; ``refused_in`` names the files that hold them. ``cleaned`` segments of ours lost
    purged words; ``leftovers`` are files of others that hold such words; ``retired`` ones of a machine that is gone were removed.
    ``machine`` is the name of this store in the folder, ``renamed`` says that it is a copy or was restored and took a new one.
    """

    folder: str
    machine: str
    renamed: bool = False
    sent: int = 0
    segments: int = 0
    read: int = 0
    new: int = 0
    changed: int = 0
    purged: int = 0
    torn: int = 0
    newer: int = 0
    ahead: int = 0
    passed_over: tuple[str, ...] = ()
    refused: int = 0
    refused_in: tuple[str, ...] = ()
    cleaned: int = 0
    retired: int = 0
    leftovers: tuple[Leftover, ...] = ()
    preview: bool = False


@dataclass(slots=True)
class Erased:
    """What left the store or lost words, by namespace: its bytes are to be taken out of the store's files too."""

    ids: dict[str, list[MemoryId]] = field(default_factory=dict)
    redacted: list[Memory] = field(default_factory=list)

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing."""
        return not (self.ids or self.redacted)


def synchronise(
    store: WholeStore,
    home: Path,
    folder: SyncFolder,
    random_source: RandomSource,
    *,
    embed: Embed,
    actor: str,
    namespace: str | None = None,
    preview: bool = False,
    retire: str | None = None,
    erased: Erased | None = None,
    on_progress: OnProgress = lambda *_: None,
) -> Synced:
    """Let a store and a folder tell each other what is new; ``preview`` only counts.

    ``namespace`` names the only one that is synchronised. ``retire`` names a machine that is gone for good: when all that its files say
    is known here, it is written again to files of this machine, and its files are removed. ``erased`` hears what must also leave the
    files of the store.

    Raises:
        InvalidInput: ``retire`` names no other machine of the folder, or not all of its files can be read.
        StoreReadOnly, StoreFull, StoreError: another hub synchronises this store, or a file could not be written; what was done so far
            is right, and the rest is done next time.
    """
    identity = store.syncing.identity()
    machine = machine_of(store.syncing.notes(), home, random_source, identity)
    if identity is not None:
        folder.use_id(machine.names, new_name(random_source))
    work = _Synchronisation(store, folder, machine, random_source)
    work.keeps_id = identity is not None
    work.embed, work.actor, work.namespace, work.on_progress = embed, actor, namespace, on_progress
    work.erased, work.retire = erased or Erased(), retire
    with store.syncing.alone() as alone:
        if not alone:
            raise StoreError(
                "another machine synchronises this memory at this moment; nothing was changed. Try again when it is done"
            )
        return work.run(preview=preview)


class _Synchronisation:
    """One synchronisation, with its counts."""

    embed: Embed
    actor: str
    namespace: str | None
    retire: str | None
    on_progress: OnProgress
    erased: Erased
    keeps_id: bool

    def __init__(self, store: WholeStore, folder: SyncFolder, machine: Machine, random_source: RandomSource) -> None:
        self._store = store
        self._syncing: SyncStore = store.syncing
        self._folder = folder
        self._counts: Counter[str] = Counter()
        self._passed_over: list[str] = []
        self._refused_in: list[str] = []
        self._look_for_leftovers = False
        self._notes = self._syncing.notes()
        self._files = folder.segments()
        self._known = self._syncing.segments(folder.key)
        self._machine = after_setback(machine, self._files, self._known, random_source)

    def run(self, *, preview: bool) -> Synced:
        """Do it all, or only count."""
        if preview:
            return self._previewed()
        self._check_retired()
        self._folder.begin()
        if self.keeps_id:
            self._folder.keep_id(self._machine.name)
        if self._machine.as_text() != self._notes.get(NOTE):
            self._syncing.note(NOTE, self._machine.as_text())
        if self._nothing_is_new() and self.retire is None:
            return self._result()
        self._folder.sweep(self._machine.names)
        self._find_lost_segments()
        known_folders = self._known_folders()
        for name in self._namespaces():
            self._notice(name)
            self._send(name, relay=len(known_folders) > 1)
        self._hear()
        for name in self._namespaces():
            self._clean(name)
        if self.retire is not None:
            self._retire(self.retire)
        if self._look_for_leftovers:
            own = (one.path for one in self._files if one.machine in self._machine.names)
            _find_leftovers(self._syncing, self._folder, own)
        self._syncing.note(LAST + self._folder.key, str(self._syncing.read("default", _now)))
        if self.namespace is None:
            self._note_quiet()
        return self._result()

    # --- what is new --------------------------------------------------------------------------------------------------

    def _nothing_is_new(self) -> bool:
        """Return True if neither the store nor the folder changed since the last time."""
        number, sizes = self._syncing.writes()
        return (
            self._notes.get(_WRITES + self._folder.key) == f"{number} {sizes}"
            and all(one.key in self._known for one in self._files)
            and not self._lost_segments()
        )

    def _note_quiet(self) -> None:
        """Note the state of the store, if nothing of it is left to be told: a client may have written meanwhile."""
        number, sizes = self._syncing.writes()
        for name in self._namespaces():
            if self._syncing.unsent(self._folder.key, name) or self._syncing.read(name, _changed_items):
                return
        # The note is a write itself, the next one.
        self._syncing.note(_WRITES + self._folder.key, f"{number + 1} {sizes}")

    def _lost_segments(self) -> bool:
        """Return True if segments of this machine are no longer in the folder, or not whole."""
        own = [one for one in self._files if one.machine in self._machine.names]
        whole = {one.key for one in own if self._folder.is_whole(one)}
        return any(key.partition("/")[0] in self._machine.names and key not in whole for key in self._known)

    def _find_lost_segments(self) -> None:
        """Send everything again if segments of this machine are lost; what is left of them goes."""
        if not self._lost_segments():
            return
        own = [one for one in self._files if one.machine in self._machine.names and one.key in self._known]
        torn = [one for one in own if not self._folder.is_whole(one)]
        for file in torn:
            self._folder.remove(file)
            self._files.remove(file)
        self._syncing.forget_folder(self._folder.key)
        self._known = {one.key for one in own if one not in torn}
        self._syncing.know(self._folder.key, self._known)

    def _known_folders(self) -> list[str]:
        known = [one for one in self._notes.get(FOLDERS, "").split("\n") if one]
        if self.keeps_id:
            self._syncing.note(PATH + self._folder.key, f"{platform.node()}:{self._folder.path}")
        if self._folder.key not in known:
            known.append(self._folder.key)
            self._syncing.note(FOLDERS, "\n".join(known))
        return known

    def _namespaces(self) -> list[str]:
        return [one for one in self._syncing.namespaces() if self.namespace in (None, one)]

    def _notice(self, namespace: str) -> None:
        decide = partial(decide_noticed, limit=_ENTRIES_AT_ONCE)
        while True:
            done: StepResult = self._syncing.write(namespace, decide, actor=self.actor).result
            if done.looked_at < _ENTRIES_AT_ONCE:
                return

    # --- sending ------------------------------------------------------------------------------------------------------

    def _send(self, namespace: str, *, relay: bool) -> None:
        outgoing = self._syncing.outgoing(self._folder.key, namespace, relay=relay)
        usage: dict[MemoryId, Usage] = {}
        for part in parts(self._changes(namespace, outgoing, usage), _SEGMENT_CHANGES):
            self._write(*segment_bytes(self._machine.name, self._next_number(), namespace, part))
            self._counts["segments"] += 1
        self._syncing.sent(self._folder.key, namespace, outgoing.mark, (), usage)

    def _changes(self, namespace: str, outgoing: Outgoing, usage: dict[MemoryId, Usage]) -> Iterator[Change]:
        ids = iter(outgoing.ids)
        done = 0
        while part := list(islice(ids, _CHANGES_AT_ONCE)):
            self.on_progress(done, len(outgoing.ids))
            done += len(part)
            changes: list[MemoryChange] = self._syncing.read(namespace, partial(_told, part))
            for change in changes:
                if change.state.usage is not None:
                    usage[change.id] = change.state.usage
                self._counts["sent"] += 1
                yield change
        if outgoing.items:
            states = self._syncing.read(namespace, lambda view: view.items(outgoing.items))
            for key in outgoing.items:
                if key in states:
                    yield ItemChange(key, states[key])

    def _next_number(self) -> int:
        numbers = [int(one.name[:8]) for one in self._files if one.machine == self._machine.name]
        return max(numbers, default=0) + 1

    # --- reading ------------------------------------------------------------------------------------------------------

    def _hear(self) -> None:
        new = [one for one in self._files if one.key not in self._known]
        failed: dict[str, tuple[str, str]] = {}
        for number, file in enumerate(new):
            self.on_progress(number, len(new))
            if file.key in self._known or (self.namespace is not None and not self._is_wanted(file)):
                continue
            try:
                segment = self._segment(file)
            except (NewerFormatError, NotWholeError, TooFarAheadError) as error:
                failed.setdefault(file.key, (_WHY_PASSED_OVER[type(error)], self._shown(file)))
                continue
            self._join(segment)
            # What is purged already is no news for the store, but its words came into the folder.
            self._look_for_leftovers |= self._tells_of_purged(segment)
            self._syncing.know(self._folder.key, [file.key])
            self._known.add(file.key)
            self._count_read(file, segment)
        for key, (what, name) in failed.items():
            if key not in self._known:
                self._counts[what] += 1
                self._passed_over.append(name)
        self.on_progress(len(new), len(new))

    def _segment(self, file: SegmentFile) -> Segment:
        data = self._folder.read(file)
        if data is None:
            raise NotWholeError
        segment = read_segment(data, file.name)
        if segment.latest > self._syncing.read(segment.namespace, _now) + AHEAD_AT_MOST:
            raise TooFarAheadError
        return segment

    def _tells_of_purged(self, segment: Segment) -> bool:
        ids = [one.id for one in segment.changes if isinstance(one, MemoryChange) and one.state.memory is not None]
        rows = self._syncing.read(segment.namespace, lambda view: view.rows(ids))
        return any(row.gone > row.born or "content" in row.stamps for row in rows.values())

    def _count_read(self, file: SegmentFile, segment: Segment) -> None:
        self._counts["read"] += 1
        self._counts["refused"] += segment.refused
        if segment.refused:
            self._refused_in.append(self._shown(file))

    def _shown(self, file: SegmentFile) -> str:
        return file.path.relative_to(self._folder.path).as_posix()

    def _is_wanted(self, file: SegmentFile) -> bool:
        return namespace_of(self._folder.first_line(file)) == self.namespace

    def _join(self, segment: Segment) -> None:
        for part in parts(segment.changes, _CHANGES_AT_ONCE):
            decide = partial(decide_heard, part, self._encoded(segment.namespace, part))
            done: StepResult = self._syncing.write(segment.namespace, decide, actor=self.actor).result
            self._counts.update(new=done.new, changed=done.changed, purged=len(done.removed))
            if done.removed:
                self.erased.ids.setdefault(segment.namespace, []).extend(done.removed)
            self.erased.redacted.extend(done.redacted)

    def _encoded(self, namespace: str, changes: Sequence[Change]) -> dict[MemoryId, Encoded]:
        """Return the memories that are new here with what search knows of their words: too slow for a transaction."""
        given = {
            one.id: one.state.memory
            for one in changes
            if isinstance(one, MemoryChange) and one.state.memory is not None
        }
        there = self._store.transfer.existing([(namespace, id_) for id_ in given]) if given else {}
        new = [
            with_encoded_words(one, self._store.hasher) for id_, one in given.items() if (namespace, id_) not in there
        ]
        rows = embedded(new, self.embed)
        if rows is None:
            return {one.id: Encoded(one) for one in new}
        return {one.id: Encoded(one, *row) for one, row in zip(new, rows, strict=True)}

    # --- retiring -----------------------------------------------------------------------------------------------------

    def _check_retired(self) -> None:
        if self.retire is None:
            return
        if self.retire == self._machine.name or all(one.machine != self.retire for one in self._files):
            raise InvalidInput("retire", "names no other machine of this folder; its subfolders are the names")

    def _retire(self, name: str) -> None:
        """Remove the files of a machine that is gone, when all that they say is known here and told in files of this machine."""
        theirs = [one for one in self._files if one.machine == name]
        if any(one.key not in self._known for one in theirs):
            raise InvalidInput("retire", "has files that cannot be read (yet); nothing of it was removed")
        keys = {one.key for one in self._files if one.key in self._known}
        self._syncing.forget_folder(self._folder.key)
        self._syncing.know(self._folder.key, keys)
        for namespace in self._namespaces():
            # A folder that has nothing gets everything, also what was heard from the one that goes.
            self._send(namespace, relay=True)
        for file in theirs:
            self._folder.remove(file)
            self._files.remove(file)
        self._syncing.unknow(self._folder.key, {one.key for one in theirs})
        self._known -= {one.key for one in theirs}
        self._look_for_leftovers = True
        self._counts["retired"] += len(theirs)

    # --- cleaning -----------------------------------------------------------------------------------------------------

    def _clean(self, namespace: str) -> None:
        """Take the words of what was purged or redacted out of this machine's own segments; what is redacted is written again."""
        lost, mark = self._syncing.to_clean(self._folder.key, namespace)
        ids = lost.ids
        if lost:
            self._look_for_leftovers = True
            own = [one for one in self._files if one.machine in self._machine.names]
            cleaned = [self._clean_file(file, namespace, ids) for file in own]
            again = self._syncing.read(namespace, partial(_told, sorted(ids)))
            if any(cleaned) and again:
                self._write(*segment_bytes(self._machine.name, self._next_number(), namespace, again))
        self._syncing.cleaned(self._folder.key, namespace, mark)

    def _clean_file(self, file: SegmentFile, namespace: str, ids: frozenset[MemoryId]) -> bool:
        """Write a segment again without the words that are not in the store any more; return whether there were any."""
        data = self._folder.read(file)
        found = None if data is None else lines_of(data)
        if found is None or found[0] != namespace:
            return False
        memories = {one for _, told in found[1] if (one := memory_of_line(told)) is not None}
        items = {key for _, told in found[1] if (key := item_of_line(told)) is not None}
        there = {id_ for _, id_ in self._store.transfer.existing([(namespace, id_) for id_ in memories])} - ids
        known = self._syncing.read(namespace, lambda view: view.items(items))
        gone = {key for key in items if key not in known or known[key].value is None}
        kept = [
            line
            for line, told in found[1]
            if ((one := memory_of_line(told)) is None or one in there) and item_of_line(told) not in gone
        ]
        if len(kept) == len(found[1]):
            return False
        if kept:
            self._write(*rewritten(file.machine, int(file.name[:8]), namespace, kept), machine=file.machine)
        self._folder.remove(file)
        self._files.remove(file)
        self._syncing.unknow(self._folder.key, [file.key])
        self._known.discard(file.key)
        self._counts["cleaned"] += 1
        return True

    def _write(self, name: str, data: bytes, *, machine: str | None = None) -> str:
        """Write a segment of this machine and return by what it is known."""
        machine = machine or self._machine.name
        self._folder.write(machine, name, data)
        file = SegmentFile(machine, name.removesuffix(".jsonl"), self._folder.path / machine / name)
        self._files.append(file)
        self._known.add(file.key)
        self._syncing.know(self._folder.key, [file.key])
        return file.key

    # --- counting -----------------------------------------------------------------------------------------------------

    def _previewed(self) -> Synced:
        """Return what would be done; nothing is changed."""
        for name in self._namespaces():
            self._counts["sent"] += self._syncing.unsent(self._folder.key, name)
        ids: dict[str, set[tuple[str, MemoryId]]] = {"new": set(), "changed": set(), "purged": set()}
        for file in self._files:
            if file.key in self._known or (self.namespace is not None and not self._is_wanted(file)):
                continue
            try:
                segment = self._segment(file)
            except (NewerFormatError, NotWholeError, TooFarAheadError) as error:
                self._counts[_WHY_PASSED_OVER[type(error)]] += 1
                self._passed_over.append(self._shown(file))
                continue
            self._count_read(file, segment)
            for part in parts(segment.changes, _CHANGES_AT_ONCE):
                batch = self._syncing.read(segment.namespace, partial(_heard, part))
                ids["new"] |= {(segment.namespace, one.memory.id) for one in batch.inserts}
                ids["changed"] |= {(segment.namespace, one.id) for one, _ in batch.updates}
                ids["purged"] |= {(segment.namespace, id_) for id_ in batch.removed}
        self._counts.update({name: len(found) for name, found in ids.items()})
        return self._result(preview=True)

    def _result(self, *, preview: bool = False) -> Synced:
        names = (
            "sent",
            "segments",
            "read",
            "new",
            "changed",
            "purged",
            "torn",
            "newer",
            "ahead",
            "refused",
            "cleaned",
            "retired",
        )
        return Synced(
            folder=str(self._folder.path),
            machine=self._machine.name,
            renamed=NOTE in self._notes and self._machine.name != json.loads(self._notes[NOTE])["name"],
            leftovers=_known_leftovers(self._syncing, self._folder),
            preview=preview,
            passed_over=tuple(self._passed_over),
            refused_in=tuple(self._refused_in),
            **{name: self._counts[name] for name in names},
        )


def _now(view: SyncView) -> int:
    return to_micros(view.now)


def _told(ids: Sequence[MemoryId], view: SyncView) -> list[MemoryChange]:
    return told(view, ids)


def _changed_items(view: SyncView) -> int:
    return len(view.changed_items())


def _heard(changes: Sequence[Change], view: SyncView) -> SyncBatch:
    return decide_heard(changes, {}, view)


def _known_leftovers(store: SyncStore, folder: SyncFolder) -> tuple[Leftover, ...]:
    """Return the files that were found the last time and are still there."""
    noted = json.loads(store.notes().get(_LEFTOVERS + folder.key, "[]"))
    return tuple(one for name in noted if (one := _leftover(folder, folder.path / name)) is not None)


def _find_leftovers(store: SyncStore, folder: SyncFolder, own: Iterable[Path]) -> tuple[Leftover, ...]:
    """Look through all files of the folder but a store's ``own``, and note which hold words that are purged."""
    mine = set(own)
    found = [path for path in folder.any_segments() if path not in mine and _holds_purged(store, folder.read_any(path))]
    names = [path.relative_to(folder.path).as_posix() for path in found]
    if names or store.notes().get(_LEFTOVERS + folder.key, "[]") != "[]":
        store.note(_LEFTOVERS + folder.key, json.dumps(names))
    return _known_leftovers(store, folder)


def _leftover(folder: SyncFolder, path: Path) -> Leftover | None:
    try:
        written = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    except OSError:
        return None
    is_read = path.parent.parent == folder.path and name_of(path.name) is not None
    machine = path.parent.name if is_read and not path.parent.name.startswith(".") else ""
    return Leftover(path.relative_to(folder.path).as_posix(), machine, written.isoformat(timespec="seconds"))


def _holds_purged(store: SyncStore, data: bytes) -> bool:
    found = lines_of(data)
    if found is None:
        return False
    namespace, lines = found
    words: dict[MemoryId, set[str]] = {}
    for _, line in lines:
        id_ = memory_of_line(line)
        if id_ is not None:
            words.setdefault(id_, set()).add(str(line["memory"].get("content")))
    # A buffer also goes when its session ends; conversations go by a purge alone.
    items = {key for _, line in lines if (key := item_of_line(line)) is not None and key[0] != "buffer"}

    def look(view: SyncView) -> bool:
        there = view.memories(words)
        rows = view.rows(words)
        purged = any(row.gone > row.born for id_, row in rows.items() if id_ not in there)
        redacted = any(
            "content" in rows[id_].stamps and words[id_] != {memory.content}
            for id_, memory in there.items()
            if id_ in rows
        )
        return purged or redacted or any(one.value is None for one in view.items(items).values())

    return bool(store.read(namespace, look))
