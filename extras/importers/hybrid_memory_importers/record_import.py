"""What was chosen of another program's file becomes memories: looked at before, and stored in batches.

The lines come from `hybrid_memory_importers.spool`, already in the order of time and checked. What is here by id, or by its words, is
passed over. A memory that comes in as the person's own is trusted as their assistant's notes are: it is next to what was said here
and never displaces it. Each import has a name of its own in the log, so that an import that was killed is done again, and is undone as
one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from hybrid_memory.admin.export_import import OnProgress, SpreadSamples, encoded, with_vectors
from hybrid_memory.capture.oneself import is_about_oneself
from hybrid_memory.clock import to_micros
from hybrid_memory.encoding.text_encoder import Embed
from hybrid_memory.errors import InvalidInput
from hybrid_memory.language.text import content_hash
from hybrid_memory.model import Kind, Memory, MemoryId, Origin, Tier, Trust
from hybrid_memory.secret_detection.secret_policy import SecretPolicy
from hybrid_memory.store.transfer import ExistingMemory, MemoryItem
from hybrid_memory.tiers.importance import heuristic_importance
from hybrid_memory.validation import check_name
from hybrid_memory_importers.longer_forms import LongerForms
from hybrid_memory_importers.spool import SpoolLine, read_spool

if TYPE_CHECKING:
    from hybrid_memory.store.transfer import TransferableStore, TransferItem

_BATCH = 1000  # lines of one transaction: what a kill loses


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Where lines go and what is done about secrets in them.

    ``of_folder`` gives the namespace of what was said in a folder; what is plainly about the person, and all without a folder, goes to
    ``namespace``. ``of_rules`` gives that of all rules for a folder.
    """

    namespace: str
    now: datetime
    secrets: SecretPolicy = field(default_factory=SecretPolicy)
    of_folder: Callable[[str], str] | None = None
    of_rules: Callable[[str], str] | None = None

    def namespace_of(self, line: SpoolLine) -> str:
        """Return where a line goes."""
        if self.of_rules is not None and line.rules_of is not None:
            return self.of_rules(line.rules_of)
        folder = line.metadata.get("folder")
        if self.of_folder is None or not isinstance(folder, str) or is_about_oneself(line.content):
            return self.namespace
        return self.of_folder(folder)


@dataclass(frozen=True, slots=True)
class LookedAt:
    """What lines come to in a store.

    ``there`` are by an earlier import, ``known`` by their words, ``longer`` as a part of a longer statement; ``secrets`` have some.

    ``refused`` lines hold what looks like a secret, where the settings say that such a thing is not taken. ``samples`` are times and words
    of some that are new, spread evenly.
    """

    new: int
    there: int
    known: int
    secrets: int
    refused: int
    samples: tuple[tuple[str, str], ...] = ()
    longer: int = 0
    projects: tuple[tuple[str, int], ...] = ()
    """Namespaces of projects to which new ones go, each with how many."""


class _Looked:
    """Decides for each line whether it comes in."""

    def __init__(self, store: TransferableStore, batch: Batch, earlier: _Looked | None = None) -> None:
        self._store = store
        self._batch = batch
        self.namespaces: dict[MemoryId, str] = {} if earlier is None else earlier.namespaces
        """Where each line goes, from an earlier reading too: judging its words takes longer than all else."""
        self.parts: frozenset[tuple[str, MemoryId]] = frozenset() if earlier is None else earlier.parts
        """Lines that a longer statement of the store has."""
        self._standing: set[tuple[str, MemoryId]] = set()
        """Lines that come in, or came in before, each with its namespace: links may lead to them."""
        self.new = self.there = self.known = self.secrets = self.refused = self.longer = 0
        self.projects: Counter[str] = Counter()
        self.samples = SpreadSamples[tuple[str, str]]()

    def compare(self, lines: Iterable[SpoolLine]) -> None:
        """Look for what of all lines is in the store in a longer form."""
        shorter: LongerForms[tuple[str, SpoolLine]] = LongerForms()
        for line in lines:
            namespace = self._namespace_of(line)
            if line.may_be_a_part:
                shorter.add((namespace, line), line.content)
        if shorter.is_empty:
            return
        names = tuple(dict.fromkeys(self.namespaces.values()))
        self.parts = frozenset(
            (namespace, line.id)
            for item in self._store.transfer.export_items(names, vectors=False).items
            if isinstance(item, MemoryItem) and item.memory.expires_at is None
            for namespace, line in shorter.contained_in(item.memory.content)
            if namespace == item.memory.namespace and _says_it_already(line, _existing(item.memory))
        )

    def _namespace_of(self, line: SpoolLine) -> str:
        if line.id not in self.namespaces:
            self.namespaces[line.id] = self._batch.namespace_of(line)
        return self.namespaces[line.id]

    def memories(self, lines: Sequence[SpoolLine]) -> list[Memory]:
        """Return what of some lines comes in."""
        own = self._batch.namespace
        placed = [(self._namespace_of(line), line) for line in lines]
        # Also where all lines went before repositories were projects.
        asked = [(one, line.id) for namespace, line in placed for one in dict.fromkeys((namespace, own))]
        by_id = self._store.transfer.existing(asked)
        by_words: dict[tuple[str, str], list[ExistingMemory]] = {}
        for name in dict.fromkeys(name for name, _ in placed):
            digests = [line.digest for namespace, line in placed if namespace == name]
            for one in self._store.transfer.same_words(name, digests):
                by_words.setdefault((name, one.content_hash), []).append(one)
        found = []
        for namespace, line in placed:
            if (namespace, line.id) in by_id or (own, line.id) in by_id:
                self.there += 1
                self._standing.add((namespace, line.id))
            elif any(_says_it_already(line, one) for one in by_words.get((namespace, line.digest), ())):
                self.known += 1
            elif (namespace, line.id) in self.parts:
                self.longer += 1
            elif (memory := self._checked(line, namespace)) is not None:
                self.new += 1
                self.projects.update([namespace] if namespace != own else [])
                self._standing.add((namespace, line.id))
                self.samples.add((memory.created_at.isoformat(), memory.content))
                found.append(memory)
        return found

    def _checked(self, line: SpoolLine, namespace: str) -> Memory | None:
        memory = replace(_memory_of(line, self._batch), namespace=namespace)
        try:
            shown, kinds = self._batch.secrets.memory(memory)
        except InvalidInput:
            self.refused += 1
            return None
        self.secrets += bool(kinds)
        return shown if shown is memory else replace(shown, content_hash=content_hash(shown.content))

    def linked(self, memory: Memory) -> Memory:
        """Return a memory with the links that lead to what stands."""

        def kept(id_: MemoryId | None) -> MemoryId | None:
            return id_ if (memory.namespace, id_) in self._standing else None

        if memory.supersedes is memory.superseded_by is None and not memory.parents:
            return memory
        return replace(
            memory,
            supersedes=kept(memory.supersedes),
            superseded_by=kept(memory.superseded_by),
            parents=tuple(id_ for id_ in memory.parents if kept(id_) is not None),
        )


def look_at_records(store: TransferableStore, file: Path, batch: Batch) -> LookedAt:
    """Return what the lines of a file come to in a store; nothing is changed."""
    looked = _Looked(store, batch)
    looked.compare(read_spool(file))
    for lines in _batches(read_spool(file)):
        looked.memories(lines)
    return _told(looked)


def projects_of(file: Path, batch: Batch) -> tuple[tuple[str, int], ...]:
    """Return the namespaces of projects to which the lines of a file would go in an empty store, each with how many."""
    places = Counter(batch.namespace_of(line) for line in read_spool(file))
    del places[batch.namespace]
    return tuple(places.most_common())


def import_records(
    store: TransferableStore,
    file: Path,
    batch: Batch,
    *,
    action: str,
    embed: Embed,
    actor: str,
    on_progress: OnProgress,
) -> LookedAt:
    """Store the lines of a file, a transaction for each 1,000; what is there is passed over, so one that was killed is done again.

    Raises:
        InvalidInput: the file is none that this program made.
        StoreError: the store took no more; what came in so far stays.
    """
    check_name("namespace", batch.namespace)
    # First reading: what comes in, since a link may lead to a later line.
    first = _Looked(store, batch)
    first.compare(read_spool(file))
    for lines in _batches(read_spool(file)):
        first.memories(lines)
    # Second reading: one transaction for each batch. Where this is killed, the same import goes on.
    second = _Looked(store, batch, first)
    for lines in _batches(read_spool(file)):
        memories = [first.linked(one) for one in second.memories(lines)]
        items: list[TransferItem] = [encoded(MemoryItem(one), store, keep_vector=False) for one in memories]
        store.transfer.import_items(with_vectors(store, items, embed), action=action, actor=actor)
        on_progress(second.new, first.new)
    return _told(second)


def _says_it_already(line: SpoolLine, known: ExistingMemory) -> bool:
    """Return True if the words of a line are here. What was untrusted, or was corrected before the line was said, does not count."""
    if line.told and known.trust is Trust.UNTRUSTED:
        return False
    return known.superseded_by is None or line.at is None or to_micros(line.at) <= known.created_at


def _existing(memory: Memory) -> ExistingMemory:
    at = to_micros(memory.created_at)
    return ExistingMemory(memory.namespace, memory.id, memory.content_hash, at, memory.trust, memory.superseded_by)


def _memory_of(line: SpoolLine, batch: Batch) -> Memory:
    now = batch.now.astimezone(UTC)
    importance = line.importance
    return Memory(
        id=line.id,
        namespace=batch.namespace,
        session=line.session,
        agent="default",
        content=line.content,
        kind=Kind.OBSERVATION,
        tier=Tier.LONG_TERM,
        importance=heuristic_importance(line.content, explicit=importance, kind=Kind.OBSERVATION),
        created_at=now if line.at is None else min(line.at, now),
        content_hash=line.digest,
        tags=line.tags,
        metadata=line.metadata,
        source=line.source,
        speaker=line.speaker,
        origin=Origin.IMPORT,
        trust=Trust.AGENT if line.told else Trust.UNTRUSTED,
        occurred_at=line.occurred_at,
        expires_at=line.expires_at,
        forgotten_at=None if line.forgotten_at is None else min(line.forgotten_at, now),
        supersedes=line.supersedes,
        superseded_by=line.superseded_by,
        parents=line.parents,
    )


def _told(looked: _Looked) -> LookedAt:
    samples = looked.samples.kept()
    projects = tuple(looked.projects.most_common())
    counts = (looked.new, looked.there, looked.known, looked.secrets, looked.refused)
    return LookedAt(*counts, samples, looked.longer, projects)


def _batches(lines: Iterable[SpoolLine]) -> Iterator[list[SpoolLine]]:
    several = iter(lines)
    while batch := list(islice(several, _BATCH)):
        yield batch
