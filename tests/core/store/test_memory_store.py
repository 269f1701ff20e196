from tests.core.store.making import always, memory, move, one, put

from hybrid_memory.model import MemoryId, Tier
from hybrid_memory.store.memory.store import MemoryStore
from hybrid_memory.testing import FakeClock


def test_another_writer_can_come_in_before_the_decision_looks():
    store = MemoryStore(FakeClock())
    put(store, "a")
    seen = []
    store.before_decide = lambda: store.write("default", None, move("a", Tier.FADED)) and None
    store.write("default", None, lambda view: seen.append((view.head, view.get([MemoryId("a")]))) or always()(view))
    assert seen == [(2, {"a": one(store, "a")})]


def test_what_a_caller_does_to_its_metadata_afterwards_changes_nothing():
    store = MemoryStore(FakeClock())
    metadata = {"list": [1]}
    put(store, "a", metadata=metadata)
    metadata["list"].append(2)
    assert one(store, "a") == memory("a", metadata={"list": [1]})
