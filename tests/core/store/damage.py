"""A store as a killed process leaves it, ways to damage its files, and the judgement of what an opening makes of them."""

from __future__ import annotations

import hashlib
import random
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from tests.core.store.making import DIMENSIONS, always, memory, patch, put, vector

from hybrid_memory.errors import StoreError
from hybrid_memory.model import MemoryId, Tier
from hybrid_memory.store.duck.store import DuckStore
from hybrid_memory.store.writing import BufferState, Insert, RecordUse, RequestKey, SetTier
from hybrid_memory.testing import START, FakeClock

DATABASE, LOG, JOURNAL = "memory.duckdb", "memory.duckdb.wal", "memory.journal"
Files = Mapping[str, bytes]

_TABLES = "SELECT table_name FROM duckdb_tables() WHERE NOT internal ORDER BY table_name"


@dataclass(frozen=True)
class Template:
    """The files of a store that nobody closed, and the digest of its content after each of its writes."""

    files: Files
    states: tuple[str, ...]


@dataclass(frozen=True)
class Outcome:
    """What an opening made of files: refused with words, or a state (-1: none that ever was) with what is told."""

    refused: str | None = None
    state: int | None = None
    notices: tuple[str, ...] = ()


def digest(store: DuckStore) -> str:
    """Return a digest of every row of every table."""
    found = hashlib.sha256()
    with store._engine.snapshot() as session:
        for (table,) in session.rows(_TABLES):
            if table != "migration":
                rows = sorted(map(repr, session.rows(f"SELECT * FROM {table}")))  # noqa: S608 - names from the catalogue
                found.update(f"{table}{rows}".encode())
    return found.hexdigest()


def work(number: int) -> Callable[[DuckStore], object]:
    """Return the write of a number; each kind of change is among any nine in a row."""
    name = f"m{number}"
    last = MemoryId(f"m{number - number % 9}")
    kinds: list[Callable[[DuckStore], object]] = [
        lambda store: store.write(
            "default",
            RequestKey("r", number),
            always(inserts=(Insert(memory(name), vector(number)),), result={"n": number}),
        ),
        lambda store: put(store, name, tags=("a", "b"), metadata={"n": number}, speaker="Ada"),
        lambda store: store.write("default", None, always(tier_changes=(SetTier(last, Tier.SHORT_TERM),))),
        lambda store: store.write("default", None, patch(last, lambda one: replace(one, importance=number / 1000))),
        lambda store: store.touch("default", [RecordUse(last, START, 2)]),
        lambda store: store.put_entry("default", "talk", "message", {"n": number}),
        lambda store: store.write(
            "default",
            None,
            always(buffers=(BufferState("s", "a", f"state {number}", START),), inserts=(Insert(memory(name)),)),
        ),
        lambda store: store.acknowledge("r", number - 7),
        lambda store: store.trim("default", number // 2),
    ]
    return kinds[number % 9]


def make_template(folder: Path, writes: int, *, closed_at: int = 0) -> Template:
    """Write into a new store, closed and opened again after ``closed_at`` writes, and copy its files while it is open."""
    folder.mkdir()
    store = DuckStore.open(folder / DATABASE, FakeClock())
    store.pin_embedder("e", DIMENSIONS)
    states = [digest(store)]
    for number in range(writes):
        work(number)(store)
        states.append(digest(store))
        if number + 1 == closed_at:
            store.close()
            store = DuckStore.open(folder / DATABASE, FakeClock())
    files = {name: (folder / name).read_bytes() for name in (DATABASE, LOG, JOURNAL)}
    store.close()
    shutil.rmtree(folder)
    return Template(files, tuple(states))


def lay_out(folder: Path, files: Files) -> Path:
    """Write files into an emptied folder; returns the path of the database."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(mode=0o700)
    for name, content in files.items():
        (folder / name).touch(mode=0o600)
        (folder / name).write_bytes(content)
    return folder / DATABASE


def opened(path: Path, template: Template) -> Outcome:
    """Open a store, look at every row, and close it."""
    try:
        store = DuckStore.open(path, FakeClock())
    except StoreError as error:
        return Outcome(refused=str(error))
    try:
        found = digest(store)
        state = template.states.index(found) if found in template.states else -1
        return Outcome(state=state, notices=store.info().notices)
    except StoreError as error:
        return Outcome(refused=str(error))
    finally:
        store.close()


def judged(path: Path, template: Template, *, twice: bool = True) -> str:
    """Open a damaged store, and ``twice`` once more; returns ``whole``, ``told`` or ``refused``, or fails: nothing may be lost silently."""
    first, whole = opened(path, template), len(template.states) - 1
    if first.refused is not None:
        assert "doctor" in first.refused or "upgrade" in first.refused, first
        return "refused"
    assert first.state >= 0, first
    if first.state < whole:
        missing = whole - first.state
        told = f"newest {missing} acknowledged" in " ".join(first.notices)
        assert told or "how many cannot be told" in " ".join(first.notices), first
    again = opened(path, template) if twice else first
    assert (again.state, again.notices) == (first.state, first.notices), (first, again)
    return "whole" if first.state == whole else "told"


def flipped(content: bytes, bit: int) -> bytes:
    """Return bytes with one bit turned."""
    changed = bytearray(content)
    changed[bit // 8] ^= 1 << (bit % 8)
    return bytes(changed)


def zeroed(content: bytes, start: int) -> bytes:
    """Return bytes with zeros from a place on."""
    return content[:start] + bytes(len(content) - start)


def damage(kind: str, files: Files, name: str, chance: random.Random) -> dict[str, bytes]:
    """Return files of which one is damaged in a way: cut, zeroed, longer by zeros, flipped or garbage at its end."""
    content = files[name]
    place = chance.randrange(len(content))
    done = {
        "cut": lambda: content[:place],
        "zeroed": lambda: zeroed(content, place),
        "zeros behind": lambda: content + bytes(chance.randrange(1, 600)),
        "flipped": lambda: flipped(content, chance.randrange(8 * len(content))),
        "garbage": lambda: content[:place] + chance.randbytes(len(content) - place),
    }
    return {**files, name: done[kind]()}
