"""Stores with something of everything in them, for the tests of keeping."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

from hypothesis import strategies as st
from tests.core.store.empty_database import lay_empty
from tests.core.store.making import DIMENSIONS, memory, passages, vector

from hybrid_memory.admin.export_import import ImportPolicy, export_store, import_file
from hybrid_memory.encoding.word_encoding import with_encoded_words
from hybrid_memory.ids import ID_CHARACTERS, LONGEST_ID
from hybrid_memory.language.text import content_hash
from hybrid_memory.model import Kind, Memory, MemoryId, Origin, Tier, Trust, Usage
from hybrid_memory.settings import DATABASE
from hybrid_memory.store.duck.store import DuckStore
from hybrid_memory.store.transfer import BufferItem, ConversationItem, EntryItem, MemoryItem, TransferItem
from hybrid_memory.store.writing import BufferState
from hybrid_memory.testing import HASHER, START, FakeClock
from hybrid_memory.tiers.buffers import Buffers, encode_buffers
from hybrid_memory.tiers.buffers import Item as Seen

STATE = encode_buffers(Buffers((Seen(MemoryId("m1"), "", 0.5),)))
TEXTS = st.text(st.characters(exclude_categories=("Cs",)), max_size=20)
SOME = TEXTS.filter(bool)
MOMENTS = st.integers(-(10**15), 10**15).map(lambda micros: START + timedelta(microseconds=micros))
MAYBE_MOMENTS = st.none() | MOMENTS
NUMBERS = st.integers(-(2**63), 2**63 - 1)
PLAIN = st.none() | st.booleans() | NUMBERS | st.floats(allow_nan=False, allow_infinity=False) | TEXTS
VALUES = st.recursive(PLAIN, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXTS, inner, max_size=2))
OBJECTS = st.dictionaries(TEXTS, VALUES, max_size=3)
IDS = st.text(ID_CHARACTERS, min_size=1, max_size=LONGEST_ID).map(MemoryId)

PLAIN_MEMORIES = st.builds(
    Memory,
    id=IDS,
    namespace=st.sampled_from(["default", "other", "野"]),
    session=TEXTS,
    agent=TEXTS,
    content=TEXTS,
    kind=st.sampled_from(Kind),
    tier=st.sampled_from(Tier),
    importance=st.floats(0, 1),
    created_at=MOMENTS,
    content_hash=TEXTS,
    pinned=st.booleans(),
    tags=st.lists(TEXTS, max_size=2).map(tuple),
    metadata=OBJECTS,
    source=st.none() | TEXTS,
    speaker=st.none() | TEXTS,
    origin=st.sampled_from(Origin),
    trust=st.sampled_from(Trust),
    key=st.none() | TEXTS,
    occurred_at=MAYBE_MOMENTS,
    expires_at=MAYBE_MOMENTS,
    forgotten_at=MAYBE_MOMENTS,
    superseded_by=st.none() | IDS,
    supersedes=st.none() | IDS,
    duplicate_of=st.none() | IDS,
    parents=st.lists(IDS, max_size=2).map(tuple),
    reflected_at=MAYBE_MOMENTS,
    rev=st.integers(1, 2**40),
)
MEMORIES = PLAIN_MEMORIES.map(partial(with_encoded_words, hasher=HASHER))
USES = st.none() | st.builds(Usage, accessed_at=MOMENTS, count=st.integers(1, 1000))
VECTORS = st.integers(0, 99).map(lambda seed: (vector(seed), passages(seed, 1 + seed % 16) if seed % 3 else None))
KEPT = st.builds(
    lambda one, used, found: MemoryItem(one, used, *found), MEMORIES, USES, st.just((None, None)) | VECTORS
)
BUFFERS = st.builds(BufferItem, st.just("default"), st.builds(BufferState, TEXTS, TEXTS, st.just(STATE), MOMENTS))
ENTRIES = st.builds(EntryItem, st.just("other"), TEXTS, SOME, st.integers(1, 9), OBJECTS)


def distinct(items: list[TransferItem]) -> list[TransferItem]:
    def key(item: TransferItem) -> Any:
        if isinstance(item, MemoryItem):
            return item.memory.namespace, item.memory.id
        if isinstance(item, BufferItem):
            return "buffer", item.buffer.session, item.buffer.agent
        if isinstance(item, EntryItem):
            return item.conversation, item.kind, item.number
        raise AssertionError

    return list({key(item): item for item in items}.values())


ITEMS = st.lists(st.one_of(KEPT, KEPT, BUFFERS, ENTRIES), max_size=8).map(distinct)


def opened(folder: Path) -> DuckStore:
    path = folder / DATABASE
    return DuckStore.open(path if folder.exists() else lay_empty(folder), FakeClock())


def filled(folder: Path, items: list[TransferItem], *, own_digests: bool = True) -> DuckStore:
    store = DuckStore.open(lay_empty(folder), FakeClock())
    store.pin_embedder("e-1", DIMENSIONS)
    store.transfer.import_items(
        [_with_digest(one) if own_digests else one for one in items], action="test", actor="tester"
    )
    return store


def _with_digest(item: TransferItem) -> TransferItem:
    if not isinstance(item, MemoryItem):
        return item
    return replace(item, memory=replace(item.memory, content_hash=content_hash(item.memory.content)))


def some(count: int = 3, namespace: str = "default") -> list[TransferItem]:
    """Return memories that refer to each other, with usage, vectors, buffers and conversations."""
    made = [
        MemoryItem(
            memory(f"m{n}", namespace=namespace, created_at=START + timedelta(seconds=n), rev=n + 1), None, vector(n)
        )
        for n in range(count)
    ]
    made[0] = replace(made[0], usage=Usage(accessed_at=START, count=3), passages=passages(0))
    made[-1] = replace(made[-1], memory=replace(made[-1].memory, parents=(MemoryId("m0"),), trust=Trust.CONFIRMED))
    return [
        *made,
        BufferItem(namespace, BufferState("s-1", "default", STATE, START)),
        ConversationItem(namespace, "talk", "message", 4),
        EntryItem(namespace, "talk", "message", 2, {"said": "good morning"}),
    ]


def exported(store: DuckStore, place: Path, **options: Any) -> bytes:
    export_store(store, place, on_progress=unseen, **options)
    data = place.read_bytes()
    place.unlink()
    return data


def imported(store: DuckStore, place: Path, data: bytes, *, trusted: bool = True, **options: Any) -> Any:
    place.write_bytes(data)
    incoming = ImportPolicy(now=options.pop("now", START + timedelta(days=30)), trusted=trusted, **options)
    return import_file(store, place, incoming, embed=lambda _: None, actor="tester", on_progress=unseen)


def lines_of(data: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in data.splitlines()]


def unseen(done: int, total: int) -> None:
    assert done <= total
