"""Exports as JSON lines, and imports of them or of another program's lines; `hybrid_memory.admin.jsonl` has the format.

An import reads the file twice: first every line is checked, against the store too, so that a wrong one changes nothing; then the
items are stored, a transaction for each batch. Unless the caller says that an export is to be trusted, only words, times and
lineage within the file count (`hybrid_memory.admin.untrusted_lines`), as of a file of another program, and all goes into one namespace.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final, Generic, TypeAlias, TypeVar

from hybrid_memory.admin.jsonl import (
    Header,
    header_line,
    is_header,
    item_line,
    parse_foreign_line,
    parse_header,
    parse_item,
)
from hybrid_memory.admin.trusted_lines import check_trusted_item
from hybrid_memory.admin.untrusted_lines import SESSION, FileLineage, untrusted_memory, weighed
from hybrid_memory.admin.user_files import atomic_file, file_errors, open_plain
from hybrid_memory.clock import to_micros
from hybrid_memory.encoding.text_encoder import Embed, embedded
from hybrid_memory.encoding.word_encoding import with_encoded_words
from hybrid_memory.errors import ConstraintViolation, InvalidInput
from hybrid_memory.ids import id_of
from hybrid_memory.language.text import content_hash
from hybrid_memory.model import Kind, Memory, MemoryId, Tier
from hybrid_memory.secret_detection.masking import masked
from hybrid_memory.secret_detection.secret_policy import SecretPolicy
from hybrid_memory.store.encoding import check_text, object_to_json
from hybrid_memory.store.memory_fields import check_memory
from hybrid_memory.store.transfer import (
    BufferItem,
    ConversationItem,
    EntryItem,
    ExistingMemory,
    MemoryItem,
    TransferItem,
)
from hybrid_memory.validation import check_name

if TYPE_CHECKING:
    from hybrid_memory.store.transfer import TransferableStore

OnProgress: TypeAlias = Callable[[int, int], None]
"""Told how many lines of how many are done."""

SAMPLES: Final = 6  # shown of what comes in
T = TypeVar("T")

_BATCH_ITEMS = 1000  # lines of one transaction: what a kill loses and what is held in memory
_BATCH_BYTES = 1 << 22  # of lines of one transaction, for files of very long memories
_LONGEST_LINE_BYTES = 1 << 26  # 64 MiB, as the message says; a file without line ends is not read into memory


class SpreadSamples(Generic[T]):
    """Keeps some of many things, spread evenly: each time there are twice as many as wanted, every second one goes."""

    def __init__(self) -> None:
        self._kept: list[T] = []
        self._step = 1
        self._count = 0

    def add(self, one: T) -> None:
        """Take the next one."""
        if self._count % self._step == 0:
            self._kept.append(one)
            if len(self._kept) >= 2 * SAMPLES:
                del self._kept[1::2]
                self._step *= 2
        self._count += 1

    def kept(self) -> tuple[T, ...]:
        """Return those that are shown."""
        return tuple(self._kept[:SAMPLES])


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportPolicy:
    """How the lines of a file are imported.

    ``trusted`` says that an export is the person's own, so that origin, trust and everything else stay as they are. ``namespace`` is
    what the person named: of a trusted export only these lines are wanted (all when None). What is not trusted goes into one namespace,
    the named one or ``configured``; of an export with several, only the lines of that one are wanted.
    ``secrets`` is what is done about secrets in the lines.
    """

    now: datetime
    namespace: str | None = None
    configured: str = "default"
    trusted: bool = False
    secrets: SecretPolicy = field(default_factory=SecretPolicy)

    @property
    def target(self) -> str:
        """Where lines go that are not trusted."""
        return self.namespace or self.configured


@dataclass(frozen=True, slots=True)
class Exported:
    """What an export holds, and how many things of the store could not be read and are ``left_out``."""

    namespaces: tuple[str, ...]
    memories: int
    lines: int
    bytes: int
    left_out: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """What an import did: ``new`` lines came in, ``there`` were in the store already, ``left_out`` were not wanted.

    ``other_namespaces`` counts those left out because they are of another namespace than ``namespace``, into which lines without
    trust went (None for a trusted export). ``links_dropped`` are links of untrusted memories that do not lead to an earlier new line of
    the file. ``ours`` says that the file is an export of this program, ``trusted`` that origin and trust are as in the file.
    ``secrets`` counts the lines that held what looks like a secret, ``samples`` are times and words of some that are new.
    """

    new: int
    there: int
    left_out: int
    other_namespaces: int
    links_dropped: int
    namespace: str | None
    ours: bool
    trusted: bool
    secrets: int = 0
    samples: tuple[tuple[str, str], ...] = ()


def export_store(
    store: TransferableStore,
    target: Path,
    *,
    namespaces: Sequence[str] | None = None,
    vectors: bool = False,
    secrets: SecretPolicy | None = None,
    on_progress: OnProgress,
) -> Exported:
    """Write what some namespaces hold (all when none is named) to a file that takes its place when it is whole.

    The same contents give the same bytes. ``secrets`` says what is written of what looks like one; None reveals them.

    Raises:
        InvalidInput: a namespace that was named holds nothing.
        StoreFull, StoreReadOnly: the file cannot be written.
    """
    contents = store.transfer.export_items(namespaces, vectors=vectors)
    if namespaces is not None and set(namespaces) - set(contents.namespaces):
        raise InvalidInput("namespace", "holds nothing that could be exported; check its name")
    done: Counter[type[TransferItem]] = Counter()
    with atomic_file(target) as stream:
        header = header_line(contents)
        stream.write(header)
        while part := list(islice(contents.items, _BATCH_ITEMS)):
            stream.write(b"".join(item_line(one if secrets is None else _shown(one, secrets)) for one in part))
            done.update(map(type, part))
            on_progress(done.total(), contents.total)
        size = stream.tell()
        left_out = contents.total - done.total()
        if left_out:
            # What cannot be read is noticed on the way; the first line, which counts, is written again in its place.
            written = replace(
                contents,
                memories=done[MemoryItem],
                buffers=done[BufferItem],
                conversations=done[ConversationItem],
                entries=done[EntryItem],
            )
            stream.seek(0)
            stream.write(header_line(written).rstrip(b"\n").ljust(len(header) - 1) + b"\n")
            stream.seek(size)
    return Exported(contents.namespaces, done[MemoryItem], done.total() + 1, size, left_out)


def _shown(item: TransferItem, secrets: SecretPolicy) -> TransferItem:
    """Return an item as it may be seen. What is made of its words is made of those that are shown."""
    if isinstance(item, EntryItem):
        return replace(item, body=secrets.shown_body(item.body))
    if not isinstance(item, MemoryItem):
        return item
    shown = secrets.shown(item.memory)
    if shown is item.memory:
        return item
    return replace(item, memory=replace(shown, content_hash=content_hash(shown.content)))


def import_file(
    store: TransferableStore,
    file: Path,
    policy: ImportPolicy,
    *,
    embed: Embed,
    actor: str,
    on_progress: OnProgress,
    action: str = "import",
    only_check: bool = False,
) -> Imported:
    """Store what a file holds, in transactions of up to 1,000 lines each; everything is checked before the first of them.

    Nothing happens when a line is wrong. An import that was killed is done again: what is there is passed over. ``action`` is the name
    of the import in the log, by which it is undone; ``only_check`` stores nothing and counts what would come in as ``new``.

    Raises:
        InvalidInput: names the line that is wrong, or says what a line collides with.
        StoreError: the store took no more; what came in so far stays, and the import can be done again.
    """
    with file_errors(), open_plain(file) as stream:
        # First reading: every line is checked before anything is stored.
        header = _read_header(stream)
        reader = _LineReader(header, policy)
        counts = _check_file(store, reader, _lines(stream))
        reader.checked = True
        if only_check:
            return _imported(reader, policy, counts, counts.wanted - counts.passed_over - counts.there)
        vectors = _takes_vectors(store, reader)
        # Second reading: one transaction for each batch.
        stream.seek(0)
        done = new = 0
        for batch in _batches(reader, _lines(stream)):
            items = [
                encoded(one, store, keep_vector=vectors) if isinstance(one, MemoryItem) else one
                for one in _without_masked_copies(store, batch)
            ]
            if reader.trusted:
                items = _with_own_digests(store, items)
            ready = items if vectors else with_vectors(store, items, embed)
            new += store.transfer.import_items(ready, action=action, actor=actor).new
            done += len(batch)
            on_progress(done, counts.wanted - counts.passed_over)
    return _imported(reader, policy, counts, new)


def _imported(reader: _LineReader, policy: ImportPolicy, counts: _Counts, new: int) -> Imported:
    return Imported(
        new=new,
        there=counts.wanted - new,
        left_out=counts.left_out,
        other_namespaces=counts.other_namespaces,
        links_dropped=reader.lineage.dropped,
        namespace=None if reader.trusted else policy.target,
        ours=reader.header is not None,
        trusted=reader.trusted,
        secrets=len(reader.lines_with_secrets),
        samples=counts.samples.kept(),
    )


def encoded(item: MemoryItem, store: TransferableStore, *, keep_vector: bool) -> MemoryItem:
    """Return a memory with what search knows of its words, which is never taken from a file: it could match what it does not say."""
    memory = with_encoded_words(item.memory, store.hasher)
    return replace(item, memory=memory) if keep_vector else replace(item, memory=memory, vector=None, passages=None)


class _LineReader:
    """Turns the lines of a file into items; ``header`` is None for a file of another program.

    ``lineage`` has the links of an untrusted export, once the first reading is over, which ``checked`` says.
    """

    def __init__(self, header: Header | None, policy: ImportPolicy) -> None:
        self.header = header
        self.trusted = header is not None and policy.trusted
        self.lineage = FileLineage()
        self.lines_with_secrets: set[int] = set()
        self.checked = False
        self._policy = policy
        self._dimensions = header.dimensions if header else None
        for name in (policy.namespace, *(header.namespaces if header else ())):
            if name is not None:
                check_name("namespace", name)
        if header is None and policy.trusted:
            raise InvalidInput("trusted", "is for exports of this program; lines of another one come in as untrusted")
        self._wanted = None if header is None else _wanted_namespaces(header, policy)

    @property
    def only_new_links(self) -> bool:
        """Whether the file is an export that nobody vouches for, so that its links are followed within it alone."""
        return self.header is not None and not self.trusted

    def is_header(self, number: int) -> bool:
        """Return True if a line is the header."""
        return self.header is not None and number == 1

    def parsed(self, number: int, line: bytes) -> TransferItem:
        """Return what a line of an export says, or the memory that a line of another program is stored as.

        Raises:
            InvalidInput: names the line and what is wrong with it.
        """
        if self.header is None:
            return MemoryItem(self._foreign_memory(number, line))
        item = parse_item(line, number, self._dimensions)
        if _namespace_of(item) not in self.header.namespaces:
            raise InvalidInput(f"line {number}", "is of a namespace that the first line does not name")
        return item

    def is_of_other_namespace(self, item: TransferItem) -> bool:
        """Return True if an item is left out because of its namespace."""
        return self._wanted is not None and _namespace_of(item) not in self._wanted

    def stored(self, number: int, item: TransferItem) -> TransferItem | None:
        """Return what an item is stored as, without the links of an untrusted one; None where it is left out."""
        if self.is_of_other_namespace(item):
            return None
        if self.header is None or self.trusted:
            return self._checked_for_secrets(number, item)
        if not isinstance(item, MemoryItem):
            return None
        return self._checked_for_secrets(number, MemoryItem(self._untrusted(number, item.memory)))

    def _checked_for_secrets(self, number: int, item: TransferItem) -> TransferItem:
        """Return an item as it is to be stored; a line with a secret is counted, or refused, as the policy says.

        At the second reading only lines are looked at in which the first one found something.
        """
        if self.checked and number not in self.lines_with_secrets and isinstance(item, MemoryItem):
            return item
        try:
            if isinstance(item, EntryItem):
                return replace(item, body=self._policy.secrets.body(item.body))
            if not isinstance(item, MemoryItem):
                return item
            memory, kinds = self._policy.secrets.memory(item.memory)
        except InvalidInput as error:
            raise InvalidInput(f"line {number}", f"{error}; nothing was imported") from None
        if kinds:
            self.lines_with_secrets.add(number)
        if memory is item.memory:
            return item
        return replace(item, memory=replace(memory, content_hash=content_hash(memory.content)))

    def linked(self, number: int, line: bytes) -> TransferItem | None:
        """Return what a line is stored as, at the second reading; None where it is left out or there as somebody's own."""
        item = self.parsed(number, line)
        stored = self.stored(number, item)
        if self.trusted or not isinstance(item, MemoryItem) or not isinstance(stored, MemoryItem):
            return stored
        if self.only_new_links:
            if not self.lineage.has(item.memory.id):
                return None
            stored = MemoryItem(self.lineage.linked(item.memory.id, stored.memory))
        return replace(stored, memory=weighed(stored.memory))

    def is_same(self, one: MemoryItem, existing: ExistingMemory) -> bool:
        """Return True if a memory is the one of that id that is there."""
        if one.memory.content_hash != existing.content_hash:
            return False
        return self.header is None or to_micros(one.memory.created_at) == existing.created_at

    def _foreign_memory(self, number: int, line: bytes) -> Memory:
        parsed = parse_foreign_line(line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line, number)
        namespace = self._policy.target
        session = parsed.session or SESSION
        when = parsed.created_at.astimezone(UTC) if parsed.created_at else None
        # The id is made of what the line says, so that the same line is known when it comes again.
        parts = (namespace, session, when.isoformat() if when else "", parsed.speaker or "", parsed.content)
        name = "\n".join(parts)
        if any("\n" in part for part in parts[:-1]):
            name = "lines\n" + json.dumps(parts)  # so that no two lines come to the same name
        memory = Memory(
            id=id_of(name.encode("utf-8", "replace").decode()),
            namespace=namespace,
            session=session,
            agent="default",
            content=parsed.content,
            kind=Kind.OBSERVATION,
            tier=Tier.LONG_TERM,
            importance=0.0,
            created_at=when or self._policy.now,
            content_hash="",
            tags=tuple(parsed.tags),
            metadata=parsed.metadata,
            source=parsed.source,
            speaker=parsed.speaker,
            occurred_at=parsed.occurred_at,
            expires_at=parsed.expires_at,
        )
        return self._untrusted(number, memory, memory.id)

    def _untrusted(self, number: int, memory: Memory, id_: MemoryId | None = None) -> Memory:
        try:
            return untrusted_memory(memory, self._policy.target, self._policy.now, id_)
        except InvalidInput as error:
            raise InvalidInput(f"line {number}", str(error)) from None


def _namespace_of(item: TransferItem) -> str:
    return item.memory.namespace if isinstance(item, MemoryItem) else item.namespace


def _wanted_namespaces(header: Header, policy: ImportPolicy) -> frozenset[str] | None:
    """Return the namespaces of an export whose lines are wanted, None for all.

    Raises:
        InvalidInput: it holds none that the person named, or, without trust, more than one and not the one they go to.
    """
    if policy.trusted:
        if policy.namespace not in {None, *header.namespaces}:
            raise InvalidInput("namespace", "is none of this export; leave it away to import everything")
        return None if policy.namespace is None else frozenset((policy.namespace,))
    if policy.target in header.namespaces:
        return frozenset((policy.target,))
    if len(header.namespaces) == 1 and policy.namespace is not None:
        return None
    if not header.namespaces:
        return None
    if policy.namespace is None:
        where = "the file's memories are of another namespace than yours; say with --namespace where they go"
    else:
        where = "the file has several namespaces, and not this one; name one of them"
    raise InvalidInput("namespace", f"{where} (its first line names what it has)")


def _read_header(stream: BinaryIO) -> Header | None:
    first = stream.readline(_LONGEST_LINE_BYTES)
    stream.seek(0)
    return parse_header(first) if is_header(first) else None


def _lines(stream: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Yield the lines that are not blank with their numbers, counted from 1."""
    number = 0
    while line := stream.readline(_LONGEST_LINE_BYTES):
        number += 1
        if len(line) == _LONGEST_LINE_BYTES:
            raise InvalidInput(f"line {number}", "is longer than 64 MiB")
        if line.strip():
            yield number, line


@dataclass(slots=True)
class _Counts:
    """What the first reading found: lines that are wanted, of which some are there (as somebody's own: passed over), and lines left out."""

    wanted: int = 0
    passed_over: int = 0
    left_out: int = 0
    other_namespaces: int = 0
    there: int = 0
    samples: SpreadSamples[tuple[str, str]] = field(default_factory=SpreadSamples)

    def note(self, memory: Memory, *, is_there: bool) -> None:
        """Count a memory that is there, or keep one that is new as a sample."""
        self.there += is_there
        if not is_there:
            self.samples.add((memory.created_at.isoformat(), memory.content))


_Part: TypeAlias = list[tuple[int, MemoryItem, MemoryItem]]
"""Numbers of lines, what they say, and what they are stored as."""


def _check_file(store: TransferableStore, reader: _LineReader, lines: Iterable[tuple[int, bytes]]) -> _Counts:
    """Read the whole file; returns how many lines will come in and how many are left out.

    Raises:
        InvalidInput: a line is wrong, collides with the store, or lines are missing.
    """
    seen: set[tuple[str, str]] = set()
    counts = _Counts()
    part: _Part = []
    for number, line in lines:
        if reader.is_header(number):
            continue
        item = reader.parsed(number, line)
        stored = reader.stored(number, item)
        if stored is None:
            counts.left_out += 1
            counts.other_namespaces += reader.is_of_other_namespace(item)
            continue
        counts.wanted += 1
        _check_item(number, stored)
        if isinstance(item, MemoryItem) and isinstance(stored, MemoryItem):
            key = (item.memory.namespace, item.memory.id)
            if key in seen and reader.header is not None:
                raise InvalidInput(f"line {number}", "has the id of an earlier line; nothing was imported")
            seen.add(key)
            part.append((number, item, stored))
            if len(part) == _BATCH_ITEMS:
                _check_part(store, reader, part, counts)
                part.clear()
    _check_part(store, reader, part, counts)
    if reader.header is not None and counts.wanted + counts.left_out != reader.header.total:
        raise InvalidInput("file", "was cut short: it holds fewer lines than its first line says; nothing was imported")
    return counts


def _check_item(number: int, item: TransferItem) -> None:
    try:
        check_trusted_item(item)
        if isinstance(item, MemoryItem):
            check_memory(item.memory, item.memory.namespace)
            object_to_json(item.memory.metadata)
        elif isinstance(item, EntryItem):
            check_text(item.namespace, item.conversation, item.kind)
            object_to_json(item.body)
    except (ConstraintViolation, InvalidInput) as error:
        raise InvalidInput(f"line {number}", f"{error}; nothing was imported") from None


def _check_part(store: TransferableStore, reader: _LineReader, part: _Part, counts: _Counts) -> None:
    """Compare some memories with the store; of an export without trust, note which of their links count."""
    if not part:
        return
    if not reader.only_new_links:
        found = _check_existing(store, reader, [(number, stored) for number, _, stored in part])
        for _, _, stored in part:
            counts.note(stored.memory, is_there=(stored.memory.namespace, stored.memory.id) in found)
        return
    keys = [(stored.memory.namespace, id_) for _, item, stored in part for id_ in (item.memory.id, stored.memory.id)]
    known = store.transfer.existing(keys)
    for _, item, stored in part:
        own = known.get((stored.memory.namespace, item.memory.id))
        if own is not None and _is_own(store, item, stored, own):
            counts.passed_over += 1
            reader.lineage.skip(item.memory)
        else:
            there = known.get((stored.memory.namespace, stored.memory.id))
            counts.note(stored.memory, is_there=there is not None)
            reader.lineage.add(item.memory, stored.memory, there)


def _is_own(store: TransferableStore, item: MemoryItem, stored: MemoryItem, existing: ExistingMemory) -> bool:
    """Return True if a line is the memory of its id that is there, as when somebody imports an export into the store it is of."""
    if to_micros(item.memory.created_at) != existing.created_at:
        return False
    named = replace(stored, memory=replace(stored.memory, id=item.memory.id))
    return stored.memory.content_hash == existing.content_hash or _is_masked_copy(store, named)


def _check_existing(
    store: TransferableStore, reader: _LineReader, part: Sequence[tuple[int, MemoryItem]]
) -> AbstractSet[tuple[str, str]]:
    """Return the keys of memories that are there; raises `InvalidInput` where one says something else."""
    known = store.transfer.existing([(one.memory.namespace, one.memory.id) for _, one in part]) if part else {}
    for number, one in part:
        existing = known.get((one.memory.namespace, one.memory.id))
        if existing is not None and not reader.is_same(one, existing) and not _is_masked_copy(store, one):
            raise InvalidInput(
                f"line {number}",
                "has the id of a memory that is there already and says something else; nothing was imported",
            )
    return known.keys()


def _is_masked_copy(store: TransferableStore, one: MemoryItem) -> bool:
    """Return True if the memory of that id that is there says the same but for its secrets, which an export leaves out."""
    known = store.get(one.memory.namespace, [one.memory.id]).get(one.memory.id)
    if known is None:
        return False
    shown, given = masked(known.content), masked(one.memory.content)
    holds_secrets = (shown, given) != (known.content, one.memory.content)
    return holds_secrets and content_hash(shown) == content_hash(given)


def _without_masked_copies(store: TransferableStore, items: Sequence[TransferItem]) -> list[TransferItem]:
    """Return the items without memories that are there already, together with their secrets."""
    given = [one for one in items if isinstance(one, MemoryItem)]
    known = store.transfer.existing([(one.memory.namespace, one.memory.id) for one in given]) if given else {}
    copies = {
        id(one)
        for one in given
        if (there := known.get((one.memory.namespace, one.memory.id))) is not None
        and there.content_hash != one.memory.content_hash
        and _is_masked_copy(store, one)
    }
    return [one for one in items if id(one) not in copies]


def _takes_vectors(store: TransferableStore, reader: _LineReader) -> bool:
    """Return True if the file's vectors fit the store, which takes over their embedder if it has none."""
    header = reader.header
    if not reader.trusted or header is None or header.embedder is None or header.dimensions is None:
        return False
    return store.pin_embedder(header.embedder, header.dimensions)


def _batches(reader: _LineReader, lines: Iterable[tuple[int, bytes]]) -> Iterator[list[TransferItem]]:
    batch: list[TransferItem] = []
    size = 0
    for number, line in lines:
        item = None if reader.is_header(number) else reader.linked(number, line)
        if item is None:
            continue
        batch.append(item)
        size += len(line)
        if len(batch) == _BATCH_ITEMS or size > _BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _with_own_digests(store: TransferableStore, items: Sequence[TransferItem]) -> list[TransferItem]:
    """Return the items, new memories with the digests of their words: a file's could make one pass for another, or as changed since."""
    given = [one for one in items if isinstance(one, MemoryItem)]
    known = store.transfer.existing([(one.memory.namespace, one.memory.id) for one in given]) if given else {}
    return [
        replace(one, memory=replace(one.memory, content_hash=content_hash(one.memory.content)))
        if isinstance(one, MemoryItem) and (one.memory.namespace, one.memory.id) not in known
        else one
        for one in items
    ]


def with_vectors(store: TransferableStore, items: Sequence[TransferItem], embed: Embed) -> list[TransferItem]:
    """Return the items, new memories with vectors if there is a model for that."""
    given = [one for one in items if isinstance(one, MemoryItem)]
    known = store.transfer.existing([(one.memory.namespace, one.memory.id) for one in given]) if given else {}
    new = [one for one in given if (one.memory.namespace, one.memory.id) not in known]
    rows = embedded([one.memory for one in new], embed)
    if rows is None:
        return list(items)
    made = {
        id(one): replace(one, vector=vector, passages=passages)
        for one, (vector, passages) in zip(new, rows, strict=True)
    }
    return [made.get(id(one), one) for one in items]
