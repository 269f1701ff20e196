"""What is kept for reads without the database is never less than was read last, whoever reads at the same time."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from tests.core.store.making import always, memory

from hybrid_memory.errors import EngineUnavailable
from hybrid_memory_postgres import offline
from hybrid_memory_postgres.offline import OfflineReads

PATIENCE_SECONDS = 60


class AStore:
    """Answers with what each test says; ``gets`` are the answers to `get`, in their order."""

    def __init__(self) -> None:
        self.ids: list[str] = []
        self.gets: list[Callable[[], dict[str, Any]]] = []
        self.written: Any = None
        self.away = False
        self.lock = threading.Lock()

    def behind_seconds(self) -> float:
        return 5.0 if self.away else 0.0

    def snapshot(self, _: str) -> Any:
        return SimpleNamespace(head=len(self.ids), ids=[np.array([one.encode() for one in self.ids])])

    def get(self, *_: Any) -> dict[str, Any]:
        with self.lock:
            answer = self.gets.pop(0) if self.gets else _away
        return answer()

    def write(self, *_: Any, **__: Any) -> Any:
        return self.written


def _away() -> dict[str, Any]:
    raise EngineUnavailable("away")


@pytest.fixture
def store() -> AStore:
    return AStore()


@pytest.fixture
def reads(store: AStore) -> Any:
    return OfflineReads(store, 60.0)  # type: ignore[arg-type] # as much of a store as is asked


class LateThreads:
    """Threads that the system lets begin when a test says so."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._begun: list[Any] = []
        monkeypatch.setattr(offline.threading, "Thread", self)

    def __call__(self, target: Callable[..., None], args: tuple[Any, ...], **_: Any) -> Any:
        return SimpleNamespace(start=lambda: self._begun.append(lambda: target(*args)))

    def run(self) -> None:
        """Run all that were started, one after the other."""
        for one in self._begun:
            one()


def test_the_end_of_an_earlier_reading_does_not_make_a_later_one_whole(
    store: AStore, reads: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    late = LateThreads(monkeypatch)
    for store.ids in (["a"], ["a", "b"]):
        reads.snapshot("default")
    store.gets = [lambda: {"a": memory("a")}]  # and nothing for the second
    late.run()
    store.away = True
    with pytest.raises(EngineUnavailable):
        reads.get("default", ["b"])


def test_a_reading_that_begins_after_all_was_let_go_reads_nothing(
    store: AStore, reads: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    late = LateThreads(monkeypatch)
    store.ids = ["a"]
    reads.snapshot("default")
    reads._forget()
    late.run()
    assert reads._contents == {}


def test_a_late_answer_does_not_take_the_place_of_what_was_written_since(store: AStore, reads: Any) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def slowly() -> dict[str, Any]:
        begun.set()
        go_on.wait(PATIENCE_SECONDS)
        return {"a": memory("a")}

    reads.snapshot("default")
    newer = replace(memory("a"), content="what was written since", rev=2)
    store.gets = [slowly]
    store.written = SimpleNamespace(log=[SimpleNamespace(id="a")], memories={"a": newer})
    with ThreadPoolExecutor(1) as threads:
        late = threads.submit(reads.get, "default", ["a"])
        assert begun.wait(PATIENCE_SECONDS)
        reads.write("default", None, always())
        go_on.set()
        late.result(PATIENCE_SECONDS)
    store.away = True
    assert reads.get("default", ["a"]) == {"a": newer}
