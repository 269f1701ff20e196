"""Where memories stand: the newest of all and of each tier."""

from functools import partial

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.core.speaking import remember

from hybrid_memory.model import MemoryType, Origin, Tier
from hybrid_memory.requests import ForgetRequest, ListRequest, UpdateRequest
from hybrid_memory_mcp.views.now import standing

KINDS = st.sampled_from(["said", "told by a tool", "kept", "forgotten", "corrected"])


@pytest.fixture
def stand(service, scope):
    def stand(newest=3, **of_tier):
        wanted = {Tier(name): many for name, many in of_tier.items()}
        return service.look(scope, partial(standing, newest=newest, of_tier=wanted))

    return stand


def do(service, scope, clock, number, kind):
    clock.advance(seconds=1)
    origin = Origin.TOOL if kind == "told by a tool" else Origin.USER
    memory_type = MemoryType.LONG_TERM if kind == "kept" else MemoryType.SHORT_TERM
    one = remember(service, scope, f"Thing {number} stands in room {number}", origin=origin, memory_type=memory_type).id
    if kind == "forgotten":
        service.forget(scope, ForgetRequest(ids=(one,)))
    elif kind == "corrected":
        service.update(scope, UpdateRequest(id=one, content=f"Thing {number} stands elsewhere"))


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(KINDS, max_size=12))
def test_it_names_what_a_list_of_the_store_names(service, scope, clock, stand, kinds):
    for number, kind in enumerate(kinds):
        do(service, scope, clock, f"{clock.now().timestamp()}-{number}", kind)

    found = stand(newest=3, sensory=2, long_term=2)

    assert list(found.newest) == [one.id for one in service.list_memories(scope, ListRequest(limit=3)).memories]
    for tier, ids in found.of_tier.items():
        listed = service.list_memories(scope, ListRequest(tier=tier, limit=2)).memories
        assert list(ids) == [one.id for one in listed]


def test_an_empty_memory_stands_nowhere(stand):
    found = stand(sensory=2)

    assert (found.newest, found.of_tier[Tier.SENSORY]) == ((), ())
