"""Both stores choose the same memories for review, in the same order."""

from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.core.store.making import memory

from hybrid_memory.model import Kind, Origin, Tier, Trust, Verdict
from hybrid_memory.store.duck.store import DuckStore
from hybrid_memory.store.memory.store import MemoryStore
from hybrid_memory.store.reviewing import ReviewRequest
from hybrid_memory.store.writing import Insert, WriteBatch
from hybrid_memory.testing import START, FakeClock

ONE = st.fixed_dictionaries(
    {
        "trust": st.sampled_from(Trust),
        "kind": st.sampled_from([Kind.OBSERVATION, Kind.EPISODE]),
        "tier": st.sampled_from([Tier.LONG_TERM, Tier.FADED]),
        "origin": st.sampled_from(Origin),
        "source": st.sampled_from([None, "hook:codex", "hook:codex+pasted"]),
        "verdict": st.sampled_from([None, None, *Verdict]),
        "disputes": st.sampled_from([None, "m0", "m1", "nobody"]),
        "forgotten_at": st.sampled_from([None, None, START]),
        "superseded_by": st.sampled_from([None, None, "m1"]),
        "expires_at": st.sampled_from([None, START - timedelta(days=1), START + timedelta(days=9)]),
        "created_at": st.sampled_from([START, START + timedelta(hours=1)]),
        "terms": st.sampled_from([(1,), (1, 2), (3,)]),
    }
)


@pytest.mark.slow
@settings(max_examples=15, deadline=None)
@given(st.lists(ONE, min_size=1, max_size=8), st.integers(1, 8))
def test_both_stores_choose_the_same(tmp_path_factory, fields, limit):
    memories = [memory(f"m{number}", **one) for number, one in enumerate(fields)]
    wanted = ReviewRequest(now=START + timedelta(days=1), secrets=frozenset({"m2"}), limit=limit)
    found = []
    kept = DuckStore.open(tmp_path_factory.mktemp("store") / "memory.duckdb", FakeClock())
    for store in (MemoryStore(FakeClock()), kept):
        batch = WriteBatch(action="test", actor="test", inserts=tuple(Insert(one) for one in memories))
        store.write("default", None, lambda _, batch=batch: batch)
        waiting = store.to_review(["default", "other"], wanted)
        held = store.with_terms(["default"], {2, 3}, wanted.now, 5)
        found.append((list(waiting.items()), list(held)))
    kept.close()
    assert found[0] == found[1]
