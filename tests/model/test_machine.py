"""Random lives of a memory, compared step by step with a model that a page explains."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from tests.stress.cases import GIVEN

from hybrid_memory.errors import ConfirmationNeeded
from hybrid_memory.model import BUFFER_TIERS, TRUST_ORDER, Kind, MemoryType, Origin, Scope, Tier, Verdict
from hybrid_memory.requests import (
    ForgetRequest,
    Insight,
    JudgeRequest,
    MergeRequest,
    ReadRequest,
    SplitRequest,
    UpdateRequest,
    Where,
    WriteRequest,
)
from hybrid_memory.service.memory_service import MemoryService
from hybrid_memory.settings import StoreSettings
from hybrid_memory.store.duck.store import DuckStore
from hybrid_memory.store.memory.store import MemoryStore
from hybrid_memory.testing import FakeClock, FakeRandomSource, HashEmbedder
from hybrid_memory.tiers.buffers import decode_buffers

if TYPE_CHECKING:
    from tests.postgres.server import PostgresServer

_TICK = 1e-6  # seconds
WORDS = st.lists(st.sampled_from(["tea", "dog", "rain", "piano", "bridge", "letter"]), min_size=1, max_size=4).map(
    " ".join
)
SESSIONS = st.sampled_from(["one", "two", "three"])
KEYS = st.sampled_from(["step", "goal"])
ORIGINS = st.sampled_from([Origin.USER, Origin.AGENT, Origin.TOOL])
LEVELS = {Origin.TOOL: 0, Origin.AGENT: 1, Origin.USER: 2}
SETTINGS = StoreSettings(sensory_buffer=2, short_term_buffer=3, episode_days=2)


@dataclass
class Known:
    """What the model remembers of a memory: words, session, its older and newer version, and what became of it."""

    content: str
    session: str
    until: datetime | None = None
    key: str | None = None
    level: int = 1
    older: frozenset = frozenset()
    parts: tuple = ()
    newer: str | None = None
    forgotten: bool = False

    @property
    def from_tool(self):
        return self.level == 0

    def live(self, now):
        over = self.until is not None and self.until <= now
        return not (self.forgotten or self.newer or over)


@dataclass
class Model:
    """A dictionary, and the trust that each memory had last."""

    memories: dict = field(default_factory=dict)
    trust: dict = field(default_factory=dict)


class Lives(RuleBasedStateMachine):
    """The service over a store in memory."""

    def __init__(self):
        super().__init__()
        self.clock = FakeClock()
        self.random_source = FakeRandomSource(1)
        self.model = Model()
        self.store = self.open_store()
        self.service = self.open_service()
        self.scope = Scope(session="one", actor="machine")

    def open_store(self):
        return MemoryStore(self.clock)

    def open_service(self):
        service = MemoryService(
            self.store, HashEmbedder(8), clock=self.clock, random_source=self.random_source, settings=SETTINGS
        )
        service.warm_up(Scope(session="one", actor="machine"))
        return service

    def teardown(self):
        self.service.close()

    def live(self):
        now = self.service.now()
        return {one for one, known in self.model.memories.items() if known.live(now)}

    def pick(self, data, *, live):
        return data.draw(st.sampled_from(sorted(self.live() if live else self.model.memories)))

    def write(self, **fields):
        """Write, note it in the model, and return the memory's id."""
        request = WriteRequest(**fields)
        written = self.service.write(self.scope, request)
        known = self.model.memories
        if written.duplicate_of != written.id:
            assert written.id not in known
            level = LEVELS[request.origin]
            known[written.id] = Known(request.content, request.session, request.expires_at, request.key, level)
        elif request.memory_type is MemoryType.WORKING:
            known[written.id].until = request.expires_at or known[written.id].until
        elif None in (request.expires_at, known[written.id].until):
            known[written.id].until = None
        else:
            known[written.id].until = max(request.expires_at, known[written.id].until)
        assert known[written.id].content == request.content
        return written.id

    def replace(self, old, new):
        self.model.memories[old].newer = new
        self.model.memories[new].older |= {old}

    def older(self, one):
        """Return what a memory superseded: the one that it names, and others as long as nothing else became of them."""
        named = self.store.get("default", [one])[one].supersedes
        return {old for old in self.model.memories[one].older if old == named or self.model.memories[old].newer == one}

    def chain(self, one):
        """Return a memory with its older versions, and the first more trusted ones above these."""
        known = self.model.memories
        together, above, next_ones = [one], set(), [one]
        while next_ones:
            new = next_ones.pop()
            for old in self.older(new):
                if known[old].level > known[new].level:
                    above.add((old, new))
                elif old not in together:
                    together.append(old)
                    next_ones.append(old)
        return together, above

    def hide(self, ones):
        """Forget memories with their older versions; returns the more trusted ones that are current again."""
        known, gone, links = self.model.memories, set(), set()
        for one in ones:
            if not known[one].forgotten:
                together, above = self.chain(one)
                gone |= set(together)
                links |= above
        for each in gone:
            known[each].forgotten = True
        return self.revive({old for old, _ in links if known[old].newer in gone and not known[old].forgotten})

    def revive(self, olds):
        """Make older versions current again, the newest first, unless one of the same weight holds their key by now."""
        known, revived = self.model.memories, set()
        stored = self.store.get("default", list(olds))
        for old in sorted(olds, key=lambda one: (stored[one].created_at, one), reverse=True):
            this = known[old]
            if this.key is None or not self.holders(this.session, this.key, from_tool=this.from_tool):
                this.newer = None
                revived.add(old)
        return revived

    def bring_back(self, one):
        """Restore a memory with its older versions; it is current, unless a newer one or an equal one is in its place."""
        known = self.model.memories
        if not known[one].forgotten:
            return
        newer = known[one].newer
        if newer is not None and known[newer].forgotten:
            newer = None
        if newer is None:
            rivals = self.rivals(one)
            if any(known[rival].from_tool is known[one].from_tool for rival in rivals):
                return
            for rival in rivals if not known[one].from_tool else ():
                self.replace(rival, one)
        known[one].newer = newer
        together, above = self.chain(one)
        coming = [each for each in together if known[each].forgotten]
        for each in coming:
            known[each].forgotten = False
        # What was current, or replaced by something else, while the newer version was forgotten is an older one again.
        links = {(old, new) for new in together for old in self.older(new)} | above
        for old, new in links:
            next_one = known[old].newer
            if new in coming and (next_one is None or known[next_one].forgotten):
                known[old].newer = new

    def rivals(self, one):
        """Return what is in the place of a forgotten memory: who holds its key, or replaced the same older version."""
        known, now = self.model.memories, self.service.now()
        found = set()
        if known[one].key is not None:
            for from_tool in (True, False):
                found |= self.holders(known[one].session, known[one].key, from_tool=from_tool)
        heads = [self.store.get("default", [one])[one].supersedes, *known[one].parts]
        while heads:
            head = heads.pop()
            if head is not None and known[head].newer is not None:
                heads.append(known[head].newer)
            elif head is not None and known[head].live(now):
                found.add(head)
        together, above = self.chain(one)
        return found - {*together, *(old for old, _ in above)}

    def holders(self, session, key, *, from_tool):
        """Return the live memories that hold a key, of those from tools or of the others."""
        now = self.service.now()
        return {
            one
            for one, known in self.model.memories.items()
            if (known.session, known.key, known.from_tool) == (session, key, from_tool) and known.live(now)
        }

    @rule(
        words=WORDS,
        session=SESSIONS,
        importance=st.none() | st.floats(0, 1),
        kind=st.sampled_from(MemoryType),
        origin=ORIGINS,
    )
    def remember(self, words, session, importance, kind, origin):
        self.write(content=words, session=session, importance=importance, memory_type=kind, origin=origin)

    @rule(words=WORDS, session=SESSIONS, importance=st.floats(0, 1))
    def say_in_passing(self, words, session, importance):
        """It is found, and told to nobody who did not ask for it, until something comes of it."""
        said = {"content": words, "session": session, "importance": importance, "origin": Origin.USER}
        one = self.service.get(self.scope, self.write(**said, episode=True))
        told = self.service.read(self.scope, ReadRequest(limit=100)).hits
        assert one.kind is Kind.EPISODE
        assert not any(hit.memory.is_episode for hit in told)

    @rule(words=WORDS, session=SESSIONS, hours=st.floats(0.1, 200), kind=st.sampled_from(MemoryType))
    def remember_for_a_time(self, words, session, hours, kind):
        until = self.service.now() + timedelta(hours=hours)
        self.write(content=words, session=session, expires_at=until, memory_type=kind)

    @rule(words=WORDS, session=SESSIONS, key=KEYS, origin=ORIGINS)
    def set(self, words, session, key, origin):
        """The newest word under a key replaces those of no more authority, and disputes the others."""
        from_tool = origin is Origin.TOOL
        replaced = self.holders(session, key, from_tool=from_tool)
        others = self.holders(session, key, from_tool=not from_tool)
        one = self.write(content=words, session=session, key=key, memory_type=MemoryType.WORKING, origin=origin)
        if one in replaced | others:
            return
        replaced |= set() if from_tool else others
        memory = self.service.get(self.scope, one)
        assert memory.supersedes in (replaced or {None})
        same = {other for other in others if self.model.memories[other].content == words}
        assert memory.disputes in ((others - same if from_tool else None) or {None})
        for old in replaced:
            self.replace(old, one)

    @rule(words=WORDS, session=SESSIONS)
    def insist(self, words, session):
        """What is said often enough in a session becomes long-term."""
        said = [self.write(content=words, session=session, importance=0.5) for _ in range(6)]
        assert set(said) == {said[-1]}
        assert self.service.get(self.scope, said[-1]).tier is Tier.LONG_TERM

    @rule(words=WORDS)
    def say_in_three_sessions(self, words):
        """What is said in enough sessions becomes long-term, once."""
        said = [self.write(content=words, session=session, importance=0.5) for session in ("one", "two", "three")]
        alike = [one for one in self.live() if self.model.memories[one].content == words]
        assert set(said) <= set(alike)
        assert Tier.LONG_TERM in {self.service.get(self.scope, one).tier for one in alike}

    @precondition(lambda self: self.live())
    @rule(data=st.data(), words=WORDS)
    def correct(self, data, words):
        old = self.pick(data, live=True)
        changed = self.service.update(self.scope, UpdateRequest(id=old, content=words))
        if changed.id != old:
            self.model.memories[changed.id] = replace(
                self.model.memories[old],
                content=words,
                older=frozenset(),
                parts=(),
                level=min(self.model.memories[old].level, LEVELS[Origin.AGENT]),
            )
            self.replace(old, changed.id)
            new = self.model.memories[changed.id]
            for other in () if new.key is None else self.holders(new.session, new.key, from_tool=new.from_tool):
                if other != changed.id:
                    self.replace(other, changed.id)

    @precondition(lambda self: self.live())
    @rule(data=st.data(), words=WORDS, session=SESSIONS, origin=ORIGINS)
    def supersede(self, data, words, session, origin):
        old = self.pick(data, live=True)
        before = set(self.model.memories)
        new = self.write(content=words, session=session, supersedes=old, origin=origin)
        if new in before:
            return
        memory = self.service.get(self.scope, new)
        if origin is Origin.TOOL and not self.model.memories[old].from_tool:
            same = self.model.memories[old].content == words
            assert (memory.supersedes, memory.disputes) == (None, None if same else old)
        else:
            assert memory.supersedes == old
            self.replace(old, new)

    @precondition(lambda self: self.live())
    @rule(data=st.data(), importance=st.floats(0, 1), pinned=st.booleans())
    def rate(self, data, importance, pinned):
        self.service.update(
            self.scope, UpdateRequest(id=self.pick(data, live=True), importance=importance, pinned=pinned)
        )

    @precondition(lambda self: self.model.memories)
    @rule(data=st.data())
    def forget(self, data):
        one = self.pick(data, live=False)
        done = self.service.forget(self.scope, ForgetRequest(ids=(one,)))
        assert set(done.revived) == self.hide([one])

    @precondition(lambda self: self.model.memories)
    @rule(data=st.data())
    def restore(self, data):
        one = self.pick(data, live=False)
        self.service.forget(self.scope, ForgetRequest(ids=(one,), restore=True))
        self.bring_back(one)

    def know(self, one):
        """Note a memory that an act has made."""
        memory = self.store.get("default", [one])[one]
        self.model.memories[one] = Known(
            memory.content, memory.session, memory.expires_at, memory.key, TRUST_ORDER.index(memory.trust)
        )

    @precondition(lambda self: len(self.live()) > 1)
    @rule(data=st.data(), words=WORDS)
    def merge(self, data, words):
        olds = data.draw(st.lists(st.sampled_from(sorted(self.live())), min_size=2, max_size=3, unique=True))
        done = self.service.acts.merge(self.scope, MergeRequest(tuple(olds), words))
        self.know(done.ids[0])
        merged = self.model.memories[done.ids[0]]
        equal = set() if merged.key is None else self.holders(merged.session, merged.key, from_tool=False)
        assert set(done.before) == {*olds, *(equal - {done.ids[0]})}
        for old in done.before:
            self.replace(old, done.ids[0])

    @precondition(lambda self: {one for one in self.live() if self.model.memories[one].key is None})
    @rule(data=st.data(), words=WORDS)
    def split(self, data, words):
        free = {one for one in self.live() if self.model.memories[one].key is None}
        old = data.draw(st.sampled_from(sorted(free)))
        self.clock.advance(seconds=_TICK)  # what one split made has one time, and no other split has it
        done = self.service.acts.split(self.scope, SplitRequest(old, (words, f"{words} too")))
        for part in done.ids:
            self.know(part)
        self.model.memories[old].parts += done.ids[1:]
        self.replace(old, done.ids[0])

    @precondition(lambda self: self.live())
    @rule(data=st.data())
    def call_untrue(self, data):
        one = self.pick(data, live=True)
        done = self.service.acts.judge(self.scope, JudgeRequest((one,), Verdict.UNTRUE))
        known, memory = self.model.memories, self.store.get("default", [one])[one]
        before = {old for old in self.older(one) if known[old].newer == one and not known[old].forgotten}
        known[one].forgotten = True
        assert set(done.revived) == self.revive(before - set(memory.parents))

    @precondition(lambda self: self.live())
    @rule(data=st.data())
    def call_over(self, data):
        one = self.pick(data, live=True)
        self.service.acts.judge(self.scope, JudgeRequest((one,), Verdict.ENDED))
        self.model.memories[one].until = self.service.now()

    @precondition(lambda self: self.live())
    @rule(data=st.data(), words=WORDS, act=st.sampled_from(["edit", "pin", "forget", "merge", "split", *Verdict]))
    def act_and_undo(self, data, words, act):
        """What is undone is as before, and what it made is forgotten; done again and undone again it is so still."""
        one, other = self.pick(data, live=True), self.pick(data, live=True)
        self.clock.advance(seconds=_TICK)
        acts, scope, before = self.service.acts, self.scope, self.live()
        if act == "edit":
            done = acts.edit(scope, UpdateRequest(id=one, content=words))
        elif act == "split" and self.model.memories[one].key is None:
            done = acts.split(scope, SplitRequest(one, (words, f"{words} too")))
        elif act == "merge" and one != other:
            done = acts.merge(scope, MergeRequest((one, other), words))
        elif act in list(Verdict):
            done = acts.judge(scope, JudgeRequest(tuple({one, other}), act))
        else:
            done = (acts.pin if act == "pin" else acts.forget)(scope, list({one, other}))
        if done.undo is None:
            return
        made = set(done.ids) - self.model.memories.keys()
        replaced = {id_: one.superseded_by for id_, one in self.store.get("default", done.before).items()}
        if act == "split" and done.action == "split":
            self.model.memories[one].parts += done.ids[1:]
        undone = acts.undo(scope, done.undo)
        acts.undo(scope, acts.undo(scope, undone.undo).undo)
        for new in made:
            self.know(new)
            self.model.memories[new].forgotten = True
            self.model.memories[new].older = frozenset(id_ for id_, by in replaced.items() if by == new)
        assert self.live() == before

    @rule(session=SESSIONS)
    def forget_a_session(self, session):
        """Forgetting by a filter takes the number that it matches, which the first attempt tells."""
        mine = {one for one in self.live() if self.model.memories[one].session == session}
        where = Where(session=session)
        with pytest.raises(ConfirmationNeeded) as told:
            self.service.forget(self.scope, ForgetRequest(where=where, count=len(mine) + 1))
        assert told.value.count == len(mine)
        done = self.service.forget(self.scope, ForgetRequest(where=where, count=len(mine)))
        assert set(done.ids) == mine
        self.hide(mine)

    @precondition(lambda self: self.model.memories)
    @rule(data=st.data())
    def fetch(self, data):
        """Replaced and expired memories can be fetched by their ids, forgotten ones cannot."""
        wanted = data.draw(st.lists(st.sampled_from(sorted(self.model.memories)), min_size=1, max_size=5, unique=True))
        found = self.service.read(self.scope, ReadRequest(ids=tuple(wanted)))
        there = {one for one in wanted if not self.model.memories[one].forgotten}
        assert {hit.memory.id for hit in found.hits} == there
        assert set(found.missing) == set(wanted) - there

    @rule(words=WORDS)
    def read(self, words):
        found = self.service.read(self.scope, ReadRequest(query=words, limit=100))
        assert {hit.memory.id for hit in found.hits} <= self.live()

    @rule()
    def reflect(self):
        for group in self.service.offer_reflection(self.scope, limit=1):
            evidence = tuple(memory.id for memory in group.memories)
            assert set(evidence) <= self.live()
            (one,) = self.service.store_insights(self.scope, [Insight(text=f"about {evidence}", evidence=evidence)])
            trusts = [memory.trust for memory in group.memories]
            assert self.service.get(self.scope, one).trust in TRUST_ORDER[: 1 + min(map(TRUST_ORDER.index, trusts))]
            self.model.memories[one] = Known(f"about {evidence}", "one")

    @rule(session=SESSIONS)
    def end(self, session):
        ended_at = self.service.now()
        # Not by a brief, which says once what is said twice.
        where = Where(memory_type=MemoryType.WORKING, session=session)
        tasks = self.service._index_cache.get("default").select(where, ended_at)
        self.service.end_session(replace(self.scope, session=session))
        self.clock.advance(seconds=1)
        for one in tasks:
            self.model.memories[one].until = ended_at

    @rule()
    def settle(self):
        self.service.flush_recalls()

    @rule()
    def start_again(self):
        """Old episodes go, and nothing else; what goes is named by nothing that stays."""
        self.service.flush_recalls()
        before = self.store.get("default", list(self.model.memories))
        self.service = self.open_service()
        after = self.store.get("default", list(self.model.memories))
        for one in before.keys() - after.keys():
            assert before[one].is_episode
            assert self.service.now() - before[one].created_at >= timedelta(days=SETTINGS.episode_days)
            assert not self.store.linked_to(["default"], [one], 1)
            del self.model.memories[one]
            for known in self.model.memories.values():
                known.older -= {one}

    @rule(words=WORDS)
    def drop_the_index(self, words):
        """What is searched with is made again from what is stored, and answers as before."""
        self.service.flush_recalls()
        asked = ReadRequest(query=words, limit=100)
        before = self.service.read(self.scope, asked)
        self.service._index_cache.keep_only([])
        after = self.service.read(self.scope, asked)
        assert [hit.memory.id for hit in after.hits] == [hit.memory.id for hit in before.hits]

    @rule(hours=st.floats(-5, 100))
    def wait(self, hours):
        self.clock.advance(hours=hours)

    @invariant()
    def what_is_live_is_found_and_nothing_else(self):
        index = self.service._index_cache.get("default")
        assert set(index.select(Where(), self.service.now())) == self.live()

    def store_ids(self):
        return [
            one for batch in self.store.snapshot("default").batches for one in map(bytes.decode, batch.ids.tolist())
        ]

    @invariant()
    def buffers_hold_exactly_the_memories_of_their_tiers(self):
        held = {}

        def look(view):
            from hybrid_memory.store.writing import WriteBatch

            for state in view.buffers():
                buffers = decode_buffers(state.state)
                assert buffers.sensory == ()
                assert len(buffers.short_term) <= SETTINGS.short_term_buffer
                sensory = view.members(state.session, state.agent, Tier.SENSORY)
                assert len(sensory) <= SETTINGS.sensory_buffer
                held.update({one.id: Tier.SENSORY for one in sensory})
                held.update({one.item.id: Tier.SHORT_TERM for one in buffers.short_term})
            return WriteBatch(action="look", actor="machine")

        self.store.write("default", None, look)
        memories = self.store.get("default", self.store_ids())
        assert held == {one: memory.tier for one, memory in memories.items() if memory.tier in BUFFER_TIERS}

    @invariant()
    def words_never_change_trust_rises_by_nobodys_writing_and_only_what_is_forgotten_is_hidden(self):
        memories = self.store.get("default", list(self.model.memories))
        assert {one: memory.content for one, memory in memories.items()} == {
            one: known.content for one, known in self.model.memories.items()
        }
        for one, memory in memories.items():
            assert (memory.forgotten_at is not None) is self.model.memories[one].forgotten
            level = TRUST_ORDER.index(memory.trust)
            assert level <= self.model.trust.setdefault(one, level)
            self.model.trust[one] = level


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
        super().teardown()
        self.folder.cleanup()


class DatabaseLives(Lives):
    """The same over PostgreSQL, where another hub takes over between two steps."""

    server: PostgresServer

    def __init__(self):
        self.database = self.server.create_database()
        super().__init__()

    def open_store(self):
        from hybrid_memory_postgres.store import PostgresStore

        return PostgresStore.open(self.database.conninfo, self.clock, size=4)

    @rule()
    def restart(self):
        self.service.close()
        self.store = self.open_store()
        self.service = self.open_service()

    def teardown(self):
        super().teardown()
        self.server.drop_database(self.database.name)


_CALM = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]


def seeded(case):
    """Let hypothesis draw from the given seed; without one it draws again and prints what repeats a failure."""
    return case if GIVEN is None else seed(int(GIVEN))(case)


@pytest.mark.slow
class TestLives(Lives.TestCase):
    settings = settings(max_examples=25, stateful_step_count=30, deadline=None, suppress_health_check=_CALM)


@pytest.mark.stress
@pytest.mark.timeout(600)
@seeded
class TestManyLives(Lives.TestCase):
    settings = settings(
        max_examples=540, stateful_step_count=50, deadline=None, suppress_health_check=_CALM, print_blob=True
    )


@pytest.mark.stress
@pytest.mark.timeout(600)
@seeded
class TestFileLives(FileLives.TestCase):
    settings = settings(
        max_examples=60, stateful_step_count=50, deadline=None, suppress_health_check=_CALM, print_blob=True
    )


@pytest.mark.postgres
@pytest.mark.usefixtures("server_of_lives")
class TestDatabaseLives(DatabaseLives.TestCase):
    settings = settings(max_examples=3, stateful_step_count=20, deadline=None, suppress_health_check=_CALM)


@pytest.mark.postgres
@pytest.mark.stress
@pytest.mark.timeout(900)
@pytest.mark.usefixtures("server_of_lives")
@seeded
class TestManyDatabaseLives(DatabaseLives.TestCase):
    settings = settings(
        max_examples=60, stateful_step_count=50, deadline=None, suppress_health_check=_CALM, print_blob=True
    )


@pytest.fixture(scope="session")
def server_of_lives(postgres_server):
    """The machine is made by hypothesis, which knows no fixtures."""
    DatabaseLives.server = postgres_server
