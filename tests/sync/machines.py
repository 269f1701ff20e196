"""Machines that are synchronised through a folder, each with a store, a clock and randomness of its own."""

from __future__ import annotations

import shutil
from datetime import datetime
from pathlib import Path

from tests.core.store.empty_database import discard, lay_empty

from hybrid_memory.admin.export_import import export_store
from hybrid_memory.model import MemoryId, Scope
from hybrid_memory.requests import ForgetRequest, UpdateRequest, WriteRequest
from hybrid_memory.service.memory_service import MemoryService
from hybrid_memory.settings import StoreSettings
from hybrid_memory.store.duck.store import DuckStore
from hybrid_memory.testing import START, FakeClock, FakeRandomSource, HashEmbedder
from hybrid_memory_sync.folder import SyncFolder
from hybrid_memory_sync.synchronise import Erased, Synced, synchronise


class Machine:
    """One store, opened as a service."""

    def __init__(self, home: Path, seed: int, start: datetime = START) -> None:
        self.home = home
        self.clock = FakeClock(start)
        self.random_source = FakeRandomSource(seed)
        self.erased = Erased()
        if not (home / "memory.duckdb").exists():
            lay_empty(home)
        self.open()

    def open(self) -> None:
        self.store = DuckStore.open(self.home / "memory.duckdb", self.clock, random_source=self.random_source)
        self.service = MemoryService(
            self.store,
            HashEmbedder(8),
            clock=self.clock,
            random_source=self.random_source,
            settings=StoreSettings(),
        )

    def close(self) -> None:
        self.service.close()

    def discard(self) -> None:
        """Close the store of which nobody looks at the files any more."""
        self.service.flush_recalls()
        discard(self.store)
        self.service.close()

    def copied(self, home: Path, seed: int, start: datetime = START) -> Machine:
        """Return a machine with a copy of this one's folder."""
        self.close()
        shutil.copytree(self.home, home)
        self.open()
        return Machine(home, seed, start)

    def scope(self, session: str = "s", namespace: str = "default") -> Scope:
        return Scope(namespace=namespace, session=session, actor="tester")

    def write(self, content: str, *, session: str = "s", namespace: str = "default", **values: object) -> MemoryId:
        self.clock.advance(seconds=1)
        request = WriteRequest(content=content, **values)  # type: ignore[arg-type] - fields of the request
        return self.service.write(self.scope(session, namespace), request).id

    def update(self, id_: MemoryId, **values: object) -> MemoryId:
        self.clock.advance(seconds=1)
        return self.service.update(self.scope(), UpdateRequest(id=id_, **values)).id  # type: ignore[arg-type] - as above

    def forget(self, id_: MemoryId, *, restore: bool = False) -> None:
        self.clock.advance(seconds=1)
        self.service.forget(self.scope(), ForgetRequest(ids=(id_,), restore=restore))

    def ids(self, namespace: str = "default") -> list[MemoryId]:
        """Return the ids of all memories, in the order of their making here."""
        return list(dict.fromkeys(entry.id for entry in self.store.changes(namespace, 0) if self.get(entry.id)))

    def get(self, id_: MemoryId, namespace: str = "default"):
        return self.store.get(namespace, [id_]).get(id_)

    def sync(self, folder: Path, **options: object) -> Synced:
        self.clock.advance(seconds=1)
        return synchronise(
            self.store,
            self.home,
            SyncFolder.check(folder, self.home),
            self.random_source,
            actor="tester",
            erased=self.erased,
            **{"embed": self.service.encode_texts} | options,  # type: ignore[arg-type] - as above
        )

    def export(self) -> bytes:
        file = self.home.parent / f"{self.home.name}.jsonl"
        export_store(self.store, file, on_progress=lambda *_: None)
        return file.read_bytes()
