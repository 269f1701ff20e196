"""Several hubs over one store, without a server: each knows of the others' writes what the test lets it hear."""

from collections import Counter

from hybrid_memory.model import Scope
from hybrid_memory.requests import ReadRequest, Where, WriteRequest
from hybrid_memory.service.memory_service import MemoryService
from hybrid_memory.settings import StoreSettings
from hybrid_memory.store.memory.store import MemoryStore
from hybrid_memory.store.writing import PLAIN_CODEC
from hybrid_memory.testing import FakeClock, FakeRandomSource, HashEmbedder

PATIENCE_SECONDS = 60


class HubStore:
    """One hub's way to a store that others write to as well: it knows its own writes, and what it was told."""

    def __init__(self, shared, clock):
        self.shared = shared
        self._clock = clock
        self.known = {}
        self.follower = None
        self.is_deaf = False
        self.others = []
        self.asked = Counter()
        self.before_write = None

    def __getattr__(self, name):
        if name in ("snapshot", "news"):
            self.asked[name] += 1
        return getattr(self.shared, name)

    def head(self, namespace):
        return self.known.setdefault(namespace, self.shared.head(namespace))

    def follow(self, follower):
        self.follower = follower
        return lambda: None

    def write(self, namespace, key, decide, codec=PLAIN_CODEC, **options):
        hook, self.before_write = self.before_write, None
        if hook is not None:
            hook()
        self.shared._clock = self._clock
        written = self.shared.write(namespace, key, decide, codec, **options)
        self.known[namespace] = max(self.known.get(namespace, 0), written.position)
        for other in self.others:
            if not other.is_deaf:
                other.hear(namespace, written.position)
        return written

    def used_by_others(self, namespace, since):
        ids = [memory.id for memory in self.memories_of(namespace)]
        return {id_: one for id_, one in self.shared.usage(namespace, ids).items() if one.accessed_at >= since}

    def memories_of(self, namespace):
        return self.shared.get(namespace, [entry.id for entry in self.shared.changes(namespace, 0)]).values()

    def hear(self, namespace, position):
        if self.known.get(namespace, 0) < position:
            self.known[namespace] = position
            if self.follower is not None:
                self.follower.on_change(namespace, position)

    def poll(self):
        for namespace in self.shared.namespaces():
            self.hear(namespace, self.shared.head(namespace))


class Hub:
    """One hub: its service, and short words for what the tests do with it."""

    def __init__(self, shared, clock, seed, embedder=None):
        self.clock = clock
        self.store = HubStore(shared, clock)
        self.service = MemoryService(
            self.store,
            embedder or HashEmbedder(),
            clock=clock,
            random_source=FakeRandomSource(seed),
            settings=StoreSettings(sensory_buffer=4),
        )
        self.scope = Scope(session=f"of hub {seed}", actor=f"hub {seed}")
        self.heard = []
        self.service.listen(lambda *news: self.heard.append(news))

    def tell(self, content, scope=None, **fields):
        return self.service.write(scope or self.scope, WriteRequest(content=content, **fields)).id

    def found(self, query="", **where):
        asked = ReadRequest(query=query, limit=100, weak=True, recalls=False, where=Where(**where))
        return [hit.memory.content for hit in self.service.read(self.scope, asked).hits]

    def all(self):
        return {one.content for one in self.service.recent(self.scope, limit=1000)}

    def go_deaf(self):
        self.store.is_deaf = True

    def catch_up(self):
        """Hear of everything that was missed, and wait until it is followed."""
        self.store.is_deaf = False
        self.store.poll()
        assert self.service.following.wait_until_done(PATIENCE_SECONDS)

    def settle(self):
        assert self.service.following.wait_until_done(PATIENCE_SECONDS)


def hubs_over(shared, clock, count, embedders=()):
    made = [Hub(shared, clock, seed, embedders[seed] if embedders else None) for seed in range(count)]
    for one in made:
        one.store.others = [other.store for other in made if other is not one]
    return made


def two_hubs():
    clock = FakeClock()
    return hubs_over(MemoryStore(clock), clock, 2)
