"""Work on a store in a process that ends itself, by SIGKILL, when it comes to a named place for the n-th time."""

from __future__ import annotations

import json
import os
import random
import resource
import signal
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any

from tests.core.store.making import DIMENSIONS, always, memory, vector

from hybrid_memory.errors import StoreError
from hybrid_memory.language.text import content_hash
from hybrid_memory.model import Memory, Scope
from hybrid_memory.requests import ReadRequest, WriteRequest
from hybrid_memory.service import background as change
from hybrid_memory.service import memory_service as service_module
from hybrid_memory.service.memory_service import MemoryService
from hybrid_memory.store.duck import embedder_change, engine
from hybrid_memory.store.duck import store as store_module
from hybrid_memory.store.duck.embedder_change import DuckEmbedderChange
from hybrid_memory.store.duck.engine import Engine
from hybrid_memory.store.duck.files.database_lock import DatabaseLock
from hybrid_memory.store.duck.recovery import open as open_module
from hybrid_memory.store.duck.recovery import quarantine
from hybrid_memory.store.duck.recovery.journal import Journal
from hybrid_memory.store.duck.sql_session import SqlSession
from hybrid_memory.store.duck.store import DuckStore
from hybrid_memory.store.writing import Insert
from hybrid_memory.testing import FakeClock, FakeRandomSource, HashEmbedder

SCOPE = Scope(session="s")
EMBEDDERS = {one.identity: one for one in (HashEmbedder(24, "a"), HashEmbedder(32, "b"))}

_WRITES = 120
_CHECKPOINT = "CHECKPOINT"


class KillSwitch:
    """Kills this process, by SIGKILL, when a named place is reached for the n-th time after it was armed.

    ``quiet`` is how many writes come before it is armed. Through the pipe the parent learns what was acknowledged.
    """

    def __init__(self, pipe: int, hit: int, seed: int) -> None:
        self.chance = random.Random(seed)
        self.quiet = self.chance.randrange(1, 6)
        self.armed = False
        self._pipe = pipe
        self._left = hit

    def due(self) -> bool:
        self._left -= self.armed
        return self.armed and self._left == 0

    def count_hit(self) -> None:
        if self.due():
            self.end()

    def end(self) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    def acknowledged(self, *memories: Memory) -> None:
        os.write(self._pipe, b"".join(json.dumps([one.id, one.content]).encode() + b"\n" for one in memories))


def pair(number: int, size: int = 0) -> tuple[Memory, Memory]:
    """Return the two memories of a write."""
    return _made(f"a{number:04}", "x" * size), _made(f"b{number:04}", "")


def _made(name: str, more: str) -> Memory:
    content = f"what {name} says{more}"
    return memory(name, content=content, content_hash=content_hash(content))


def write_pair(store: DuckStore, kill_switch: KillSwitch, number: int, size: int = 0) -> None:
    first, second = pair(number, size)
    store.write("default", None, always(inserts=(Insert(first, vector(number)), Insert(second))))
    kill_switch.acknowledged(first, second)
    kill_switch.armed = kill_switch.armed or number + 1 >= kill_switch.quiet


def opened(path: Path) -> DuckStore:
    store = DuckStore.open(path, FakeClock())
    store.pin_embedder("e", DIMENSIONS)
    return store


def checkpoint(store: DuckStore) -> None:
    with store._engine.reading() as session:
        session.rows(_CHECKPOINT)


def writing(path: Path, kill_switch: KillSwitch) -> None:
    store = opened(path)
    for number in range(_WRITES):
        write_pair(store, kill_switch, number)


def checkpointing(path: Path, kill_switch: KillSwitch) -> None:
    store = opened(path)
    for number in range(_WRITES):
        write_pair(store, kill_switch, number)
        if number % 3 == kill_switch.quiet % 3:
            checkpoint(store)


def outgrowing_the_journal(path: Path, kill_switch: KillSwitch) -> None:
    """Write until the journal is long, so that the engine makes checkpoints of its own accord."""
    engine._MAX_JOURNAL_BYTES = 4_000
    writing(path, kill_switch)


def closing(path: Path, kill_switch: KillSwitch) -> None:
    for number in range(_WRITES):
        store = opened(path)
        write_pair(store, kill_switch, number)
        store.close()


def filling_the_disk(path: Path, kill_switch: KillSwitch) -> None:
    """Let the disk be full at checkpoints, after which DuckDB answers nothing until the engine opens it again."""
    store = opened(path)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    for number in range(_WRITES):
        write_pair(store, kill_switch, number, size=30_000)
        if number % 2:
            resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size, resource.RLIM_INFINITY))
            try:
                checkpoint(store)
            except StoreError:
                pass
            finally:
                resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))


def recovering(path: Path, kill_switch: KillSwitch) -> None:
    """Open what is there, damaged or not, and close it."""
    open_module._REDO_BATCH = 2
    kill_switch.armed = True
    DuckStore.open(path, FakeClock()).close()


def served(path: Path, identity: str = "a") -> MemoryService:
    return MemoryService(
        DuckStore.open(path, FakeClock()),
        EMBEDDERS[identity],
        clock=FakeClock(),
        random_source=FakeRandomSource(os.getpid()),
    )


def write_statement(service: MemoryService, kill_switch: KillSwitch, number: int) -> None:
    content = f"statement {number} is about thing{number % 7}"
    written = service.write(SCOPE, WriteRequest(content=content, importance=0.6))
    kill_switch.acknowledged(service.store.get("default", [written.id])[written.id])


def consolidating(path: Path, kill_switch: KillSwitch) -> None:
    """Write statements; only writes that move other memories between the tiers are counted."""
    decide = service_module.decide_write

    @wraps(decide)
    def watched(*given: Any) -> Any:
        ops = decide(*given)
        kill_switch.armed = len(ops.tier_changes) > 0
        return ops

    service_module.decide_write = watched
    service = served(path)
    for number in range(_WRITES):
        write_statement(service, kill_switch, number)
        kill_switch.armed = False


def reembed(path: Path, kill_switch: KillSwitch) -> None:
    """Change the embedder to and fro, with statements in between."""
    change.BATCH, change.FEW = 4, 2
    service = served(path)
    for number in range(_WRITES):
        write_statement(service, kill_switch, number)
        if number >= kill_switch.quiet and number % 2:
            kill_switch.armed = True
            service.reembed(EMBEDDERS["ba"[number // 2 % 2]])


def starting(path: Path, kill_switch: KillSwitch) -> None:
    """Open a store and load its search structures."""
    kill_switch.armed = True
    store = DuckStore.open(path, FakeClock())
    service = MemoryService(store, HashEmbedder(DIMENSIONS, "e"), clock=FakeClock(), random_source=FakeRandomSource())
    service.read(SCOPE, ReadRequest(query="what a0001 says"))
    service.close()


def anything(*_: Any) -> bool:
    return True


def of_a_write(session: SqlSession, *_: Any) -> bool:
    return session._executed is not None


def inserting(session: SqlSession, statement: str, *_: Any) -> bool:
    return of_a_write(session) and "INSERT" in statement


def is_statement(*wanted: str) -> Callable[..., bool]:
    return lambda _, statement, *__: statement in wanted


def of_a_record(_: Journal, place: int, *__: Any) -> bool:
    return place > 0


def of_the_header(_: Journal, place: int, *__: Any) -> bool:
    return place == 0


def of_the_journal(file: Path, *_: Any) -> bool:
    return file.name.endswith(".journal.new")


@dataclass(frozen=True)
class Point:
    """A place in the work: before or after a call of ``owner``'s function ``name`` for which ``when`` holds.

    ``row`` says that it is passed once an opening, so that n hits are n processes killed one after another. ``found``
    is the state in which the store is found: new, as a killed process left it (``left``), with a last write that only its
    journal has (``ahead``), or with a damaged log (``damaged``).
    """

    work: Callable[[Path, KillSwitch], None]
    owner: Any
    name: str
    moment: str = "before"
    when: Callable[..., bool] = anything
    found: str = "new"
    row: bool = False

    def set(self, kill_switch: KillSwitch) -> None:
        """Count the calls there, and kill this process at the one that is due; it stays so."""
        plain = getattr(self.owner, self.name)

        @wraps(plain)
        def watched(*given: Any, **named: Any) -> Any:
            hit = self.when(*given)
            if hit and self.moment == "before":
                kill_switch.count_hit()
            if hit and self.moment == "amid" and kill_switch.due():
                journal, place, record = given
                plain(journal, place, record[: kill_switch.chance.randrange(1, len(record))])
                kill_switch.end()
            done = plain(*given, **named)
            if hit and self.moment == "after":
                kill_switch.count_hit()
            return done

        setattr(self.owner, self.name, watched)


def both(name: str, *rest: Any, **more: Any) -> dict[str, Point]:
    """Return the points before and after a call."""
    work, owner, function, *when = rest
    return {f"{moment} {name}": Point(work, owner, function, moment, *when, **more) for moment in ("before", "after")}


_MENDED = {"found": "damaged", "row": True}

_ADVANCES = (engine._ADVANCE, engine._ADVANCE_WITH_HEAD)

POINTS: dict[str, Point] = {
    **both("the begin of a write", writing, SqlSession, "begin", of_a_write),
    **both("a row of a write", writing, SqlSession, "rows", inserting),
    **both("the number of a write", writing, SqlSession, "rows", is_statement(*_ADVANCES)),
    **both("a commit", writing, SqlSession, "commit"),
    **both("a record of the journal", writing, Journal, "append"),
    "amid a record of the journal": Point(writing, Journal, "_write", "amid", of_a_record),
    **both("the number in the journal", writing, Journal, "confirm"),
    "amid the number in the journal": Point(writing, Journal, "_write", "amid", of_the_header),
    **both("a checkpoint", checkpointing, SqlSession, "rows", is_statement(_CHECKPOINT)),
    **both("a new journal", checkpointing, Journal, "begin"),
    **both("the replacement of the journal", checkpointing, Path, "replace", of_the_journal),
    **both("the engine's checkpoint", outgrowing_the_journal, SqlSession, "rows", is_statement(_CHECKPOINT)),
    **both("the journal after the engine's checkpoint", outgrowing_the_journal, Path, "replace", of_the_journal),
    **both("the last checkpoint", closing, Engine, "_last_checkpoint"),
    **both("the end of the journal", closing, Engine, "_close_journal"),
    "before the lock is released": Point(closing, DatabaseLock, "release"),
    **both(
        "opening again after a failure", filling_the_disk, store_module, "open_database", lambda path, *_: path.exists()
    ),
    **both("the engine's mending", filling_the_disk, Engine, "_reopen"),
    **both("opening", recovering, open_module, "connect", found="left", row=True),
    **both("going on with the journal", recovering, Journal, "resume", found="left", row=True),
    **both("a write that only the journal has", recovering, open_module, "_redo", found="ahead", row=True),
    **both("loading the search", starting, store_module, "read_batches", found="left", row=True),
    **both("opening a damaged store", recovering, open_module, "connect", **_MENDED),
    **both("a file in quarantine", recovering, quarantine, "write_private", **_MENDED),
    **both("the report", recovering, quarantine, "write_report", **_MENDED),
    **both("quarantine", recovering, quarantine, "store_copies", **_MENDED),
    **both("the log's rewriting", recovering, open_module._Recovery, "_rewrite_log", **_MENDED),
    **both("a batch of the redo", recovering, open_module, "_redo_batch", found="damaged"),
    **both("a commit of the redo", recovering, SqlSession, "commit", found="damaged"),
    **both("all of the redo", recovering, open_module, "_redo", **_MENDED),
    **both("the schema", recovering, open_module, "migrate", **_MENDED),
    **both(
        "the checkpoint of the mended", recovering, SqlSession, "rows", is_statement(open_module._CHECKPOINT), **_MENDED
    ),
    **both("the removal of the journal", recovering, Journal, "remove", **_MENDED),
    **both("a row of a consolidation", consolidating, SqlSession, "rows", inserting),
    **both("the commit of a consolidation", consolidating, SqlSession, "commit"),
    **both("the record of a consolidation", consolidating, Journal, "append"),
    "amid the record of a consolidation": Point(consolidating, Journal, "_write", "amid", of_a_record),
    **both("the begin of another embedder", reembed, DuckEmbedderChange, "begin"),
    **both("gathering vectors", reembed, DuckEmbedderChange, "add_vectors"),
    **both("a commit of another embedder", reembed, SqlSession, "commit", of_a_write),
    **both("a row of the switch", reembed, SqlSession, "rows", is_statement(embedder_change._DELETE)),
    **both("the switch", reembed, DuckEmbedderChange, "finish"),
}


def embedder_of(identity: str) -> HashEmbedder | None:
    """Return the embedder of a service's store, None for the vectors of pairs."""
    return EMBEDDERS.get(identity)
