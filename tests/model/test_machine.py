"""Random lives of a memory, compared step by step with a model that a page explains."""

import tempfile
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from hybrid_memory.model import ATTENTION, MemoryType, Scope, Tier
from hybrid_memory.requests import ForgetRequest, Insight, ReadRequest, UpdateRequest, Where, WriteRequest
from hybrid_memory.service import MemoryService
from hybrid_memory.settings import StoreSettings
from hybrid_memory.store.duck.store import DuckStore
from hybrid_memory.store.memory import MemoryStore
from hybrid_memory.testing import FakeClock, FakeDice, HashEmbedder
from hybrid_memory.tiers.state import decode_buffers

WORDS = st.lists(st.sampled_from(["tea", "dog", "rain", "piano", "bridge", "letter"]), min_size=1, max_size=4).map(
    " ".join
)
SESSIONS = st.sampled_from(["one", "two"])
SETTINGS = StoreSettings(sensory_buffer=2, short_term_buffer=3)


@dataclass
class Known:
    """What the model remembers of a memory: words, and whether it is forgotten, was replaced or ended with its session."""

    content: str
    forgotten: bool = False
    replaced: bool = False
    ended: bool = False

    @property
    def live(self):
        return not self.forgotten and not self.replaced and not self.ended


@dataclass
class Model:
    """A dictionary."""

    memories: dict = field(default_factory=dict)

    def live(self):
        return {one for one, known in self.memories.items() if known.live}


class Lives(RuleBasedStateMachine):
    """The service over a store in memory."""

    def __init__(self):
        super().__init__()
        self.clock = FakeClock()
        self.dice = FakeDice(1)
        self.model = Model()
        self.store = self.open_store()
        self.service = self.open_service()
        self.scope = Scope(session="one", actor="machine")

    def open_store(self):
        return MemoryStore(self.clock)

    def open_service(self):
        service = MemoryService(self.store, HashEmbedder(8), clock=self.clock, dice=self.dice, settings=SETTINGS)
        service.warm_up(Scope(session="one", actor="machine"))
        return service

    def pick(self, data, *, live):
        ids = sorted(self.model.live() if live else self.model.memories)
        return data.draw(st.sampled_from(ids))

    @rule(words=WORDS, session=SESSIONS, importance=st.none() | st.floats(0, 1), kind=st.sampled_from(MemoryType))
    def remember(self, words, session, importance, kind):
        request = WriteRequest(content=words, session=session, importance=importance, memory_type=kind)
        written = self.service.write(self.scope, request)
        if written.duplicate_of != written.id:
            assert written.id not in self.model.memories
            self.model.memories[written.id] = Known(words)
        assert self.model.memories[written.id].content == words

    @precondition(lambda self: self.model.live())
    @rule(data=st.data(), words=WORDS)
    def correct(self, data, words):
        old = self.pick(data, live=True)
        changed = self.service.update(self.scope, UpdateRequest(id=old, content=words))
        if changed.id != old:
            self.model.memories[old].replaced = True
            self.model.memories[changed.id] = Known(words)

    @precondition(lambda self: self.model.live())
    @rule(data=st.data(), importance=st.floats(0, 1), pinned=st.booleans())
    def rate(self, data, importance, pinned):
        self.service.update(
            self.scope, UpdateRequest(id=self.pick(data, live=True), importance=importance, pinned=pinned)
        )

    @precondition(lambda self: self.model.memories)
    @rule(data=st.data())
    def forget(self, data):
        one = self.pick(data, live=False)
        self.service.forget(self.scope, ForgetRequest(ids=(one,)))
        self.model.memories[one].forgotten = True

    @precondition(lambda self: self.model.memories)
    @rule(data=st.data())
    def restore(self, data):
        one = self.pick(data, live=False)
        self.service.forget(self.scope, ForgetRequest(ids=(one,), restore=True))
        self.model.memories[one].forgotten = False

    @rule(words=WORDS)
    def read(self, words):
        found = self.service.read(self.scope, ReadRequest(query=words, limit=100))
        assert {hit.memory.id for hit in found.hits} <= self.model.live()

    @rule()
    def reflect(self):
        for group in self.service.offer_reflection(self.scope, limit=1):
            evidence = tuple(memory.id for memory in group.memories)
            assert set(evidence) <= self.model.live()
            (one,) = self.service.store_insights(self.scope, [Insight(text=f"about {evidence}", evidence=evidence)])
            self.model.memories[one] = Known(f"about {evidence}")

    @rule(session=SESSIONS)
    def end(self, session):
        tasks = self.service.read(
            self.scope, ReadRequest(where=Where(memory_type=MemoryType.WORKING, session=session), limit=100)
        )
        self.service.end_session(replace(self.scope, session=session))
        self.clock.advance(seconds=1)
        for hit in tasks.hits:
            self.model.memories[hit.memory.id].ended = True

    @rule()
    def settle(self):
        self.service.settle()

    @rule()
    def start_again(self):
        self.service.settle()
        self.service = self.open_service()

    @rule(hours=st.floats(-5, 100))
    def wait(self, hours):
        self.clock.advance(hours=hours)

    @invariant()
    def what_is_live_is_found_and_nothing_else(self):
        index = self.service._indexes.of("default")
        assert set(index.select(Where(), self.service._now())) == self.model.live()

    def store_ids(self):
        return [
            one for batch in self.store.snapshot("default").batches for one in map(bytes.decode, batch.ids.tolist())
        ]

    @invariant()
    def buffers_hold_exactly_the_memories_of_their_tiers(self):
        held = {}

        def look(view):
            from hybrid_memory.store.interface import Ops

            for state in view.buffers():
                buffers = decode_buffers(state.state)
                assert buffers.sensory == ()
                assert len(buffers.short_term) <= SETTINGS.short_term_buffer
                sensory = view.members(state.session, state.agent, Tier.SENSORY)
                assert len(sensory) <= SETTINGS.sensory_buffer
                held.update({one.id: Tier.SENSORY for one in sensory})
                held.update({one.item.id: Tier.SHORT_TERM for one in buffers.short_term})
            return Ops(action="look", actor="machine")

        self.store.write("default", None, look)
        memories = self.store.get("default", self.store_ids())
        assert held == {one: memory.tier for one, memory in memories.items() if memory.tier in ATTENTION}

    @invariant()
    def words_never_change(self):
        memories = self.store.get("default", list(self.model.memories))
        assert {one: memory.content for one, memory in memories.items()} == {
            one: known.content for one, known in self.model.memories.items()
        }


class FileLives(Lives):
    """The same over DuckDB, closing and opening the file between two steps."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory()
        super().__init__()

    def open_store(self):
        return DuckStore.open(Path(self.folder.name) / "memory.duckdb", self.clock)

    @rule()
    def restart(self):
        self.service.close()
        self.store = self.open_store()
        self.service = self.open_service()

    def teardown(self):
        self.service.close()
        self.folder.cleanup()


_CALM = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]

TestLives = Lives.TestCase
TestLives.settings = settings(max_examples=120, stateful_step_count=40, deadline=None, suppress_health_check=_CALM)


@pytest.mark.stress
class TestFileLives(FileLives.TestCase):
    settings = settings(max_examples=200, stateful_step_count=50, deadline=None, suppress_health_check=_CALM)
