from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import pytest
from tests.core.speaking import remember, texts

from hybrid_memory.errors import ConfirmationNeeded, EngineUnavailable, StoreClosed
from hybrid_memory.model import MemoryType, Origin, Tier, Trust
from hybrid_memory.requests import ForgetRequest, ReadRequest, UpdateRequest, Where
from hybrid_memory.service.memory_service import MemoryService
from hybrid_memory.settings import StoreSettings
from hybrid_memory.store.memory.store import MemoryStore
from hybrid_memory.store.writing import RequestKey
from hybrid_memory.testing import FakeRandomSource, HashEmbedder
from hybrid_memory.tiers.buffers import Buffers, decode_buffers, encode_buffers


@pytest.fixture
def direct(clock, random_source):
    """A memory whose sensory buffer holds nothing back, and whose uses never earn long-term."""
    settings = StoreSettings(sensory_buffer=0, short_term_buffer=2, earned_uses=1000)
    service = MemoryService(
        MemoryStore(clock), HashEmbedder(), clock=clock, random_source=random_source, settings=settings
    )
    yield service
    service.close()


def enhancements(service, scope):
    state = service.store._data.namespaces["default"].buffers[scope.session, scope.agent].state
    return [held.count for held in decode_buffers(state).short_term]


def test_a_recalled_memory_enhances_what_it_resembles(direct, scope):
    for number in range(3):
        words = f"the garden gate squeaks loudly again {number}"
        remember(direct, scope, words, session="old", memory_type=MemoryType.LONG_TERM)
    remember(direct, scope, "the garden gate squeaks loudly again")
    assert enhancements(direct, scope) == [0]
    for number in range(2):
        direct.read(scope, ReadRequest(query=f"garden gate squeaks {number}", where=Where(session="old")))
    direct.flush_recalls()
    assert enhancements(direct, scope) != [0]


@pytest.mark.parametrize("between", [False, True])
def test_a_memory_that_came_between_takes_part_in_the_decision(clock, scope, between):
    store = MemoryStore(clock)
    settings = StoreSettings(sensory_buffer=0)
    mine, other = (
        MemoryService(store, HashEmbedder(), clock=clock, random_source=FakeRandomSource(seed), settings=settings)
        for seed in (1, 2)
    )
    remember(mine, scope, "something else")

    def meanwhile():
        store.before_decide = None
        for number in range(8):
            remember(other, scope, f"the tea is green and hot {number}")
        state = store._data.namespaces["default"].buffers[scope.session, scope.agent]
        calm = [replace(held, count=0, enhancers=()) for held in decode_buffers(state.state).short_term]
        store._data.namespaces["default"].buffers[scope.session, scope.agent] = replace(
            state, state=encode_buffers(Buffers((), tuple(calm)))
        )

    if between:
        store.before_decide = meanwhile
    else:
        meanwhile()
    remember(mine, scope, "the tea is green and hot")
    assert any(enhancements(mine, scope))


def test_a_recall_of_an_old_version_does_not_bring_it_back_up(service, scope):
    old = remember(service, scope, "the bus leaves at nine")
    service.update(scope, UpdateRequest(id=old.id, content="the bus leaves at ten"))
    for _ in range(3):
        service.read(scope, ReadRequest(ids=(old.id,)))
    service.flush_recalls()
    assert service.get(scope, old.id).tier is Tier.FADED


def test_an_importance_raised_by_repetition_counts_when_the_memory_leaves(direct, scope):
    raised = remember(direct, scope, "plain remark here", importance=0.2)
    remember(direct, scope, "plain remark here", importance=0.6)
    for number in range(4):
        remember(direct, scope, f"other{number} words{number}", importance=0.5)
    assert direct.get(scope, raised.id).tier is Tier.SHORT_TERM


@pytest.mark.parametrize("lasting_first", [True, False])
def test_a_repetition_never_shortens_the_life_of_a_memory(service, scope, clock, lasting_first):
    until = [None, clock.now() + timedelta(hours=1)]
    for expires_at in until if lasting_first else reversed(until):
        remember(service, scope, "The door code is 4711", expires_at=expires_at)
    clock.advance(hours=2)
    assert texts(service, scope, "door code") == ["The door code is 4711"]


def test_a_task_repeated_with_a_new_end_ends_then(service, scope, clock):
    task = {"memory_type": MemoryType.WORKING, "key": "task"}
    remember(service, scope, "bake bread", expires_at=clock.now() + timedelta(hours=9), **task)
    remember(service, scope, "bake bread", expires_at=clock.now() + timedelta(hours=1), **task)
    clock.advance(hours=2)
    assert texts(service, scope, "bake bread") == []


def test_what_a_user_repeats_after_a_tool_is_trusted_as_the_users(service, scope):
    remember(service, scope, "The account is 123", origin=Origin.TOOL)
    remember(service, scope, "The account is 123", origin=Origin.USER)
    assert texts(service, scope, "account", where=Where(min_trust=Trust.USER)) == ["The account is 123"]


def test_a_tool_cannot_write_into_a_users_memory_by_repeating_it(service, scope):
    said = remember(service, scope, "The account is 123", origin=Origin.USER, importance=0.2)
    remember(service, scope, "The account is 123", origin=Origin.TOOL, importance=1.0, tags=("verified",))
    memory = service.get(scope, said.id)
    assert (memory.tags, memory.importance) == ((), 0.2)


def test_a_repeated_summary_rests_on_all_its_sources(service, scope):
    first = remember(service, scope, "the oven is warm", origin=Origin.USER)
    second = remember(service, scope, "the oven is cold", origin=Origin.USER)
    for parent in (first, second):
        summary = remember(
            service,
            scope,
            "baking",
            memory_type=MemoryType.EPISODIC,
            origin=Origin.DERIVED,
            parents=(parent.id,),
        )
    memory = service.get(scope, summary.id)
    assert memory.parents == (first.id, second.id)


def test_a_summary_repeated_with_doubtful_sources_is_another_one(service, scope):
    sources = [
        remember(service, scope, f"the oven is {state}", origin=origin)
        for state, origin in (("warm", Origin.USER), ("cold", Origin.TOOL))
    ]
    summaries = [
        remember(service, scope, "baking", memory_type=MemoryType.EPISODIC, origin=Origin.DERIVED, parents=(source.id,))
        for source in sources
    ]
    assert [service.get(scope, one.id).trust for one in summaries] == [Trust.AGENT, Trust.UNTRUSTED]


def test_a_write_that_meets_a_close_says_so(service, scope, monkeypatch):
    encode = service._encoder.encode

    def closes(*arguments):
        service.close()
        return encode(*arguments)

    remember(service, scope, "apples")
    monkeypatch.setattr(service._encoder, "encode", closes)
    with pytest.raises(StoreClosed):
        remember(service, scope, "pears")


def test_a_habit_leaves_working_memory_alone(service, scope):
    task = remember(service, scope, "ship it", session="one", memory_type=MemoryType.WORKING, key="task")
    remember(service, scope, "ship it", session="two")
    remember(service, scope, "ship it", session="three")
    assert service.get(scope, task.id).tier is Tier.WORKING


def test_working_memory_is_found_by_its_key(service, scope):
    for name in ("budget", "route", "phone", "colour", "recipe"):
        remember(service, scope, f"value {len(name)}", memory_type=MemoryType.WORKING, key=name)
    found = service.read(scope, ReadRequest(query="recipe", where=Where(memory_type=MemoryType.WORKING)))
    assert found.hits[0].memory.key == "recipe"


def test_working_memory_of_an_unnamed_session_that_fell_silent_ends(service, scope, clock):
    remember(service, replace(scope, session="s-0123456789ab"), "knead", memory_type=MemoryType.WORKING, key="task")
    remember(service, replace(scope, session="kitchen"), "bake", memory_type=MemoryType.WORKING, key="task")
    clock.advance(days=2)
    service.warm_up(scope)
    clock.advance(seconds=1)
    assert texts(service, scope, where=Where(memory_type=MemoryType.WORKING)) == ["bake"]


def test_the_days_of_a_new_version_are_relative_to_what_it_tells(service, scope):
    old = remember(service, scope, "We met Bob", occurred_at=datetime(2020, 5, 8, tzinfo=UTC))
    new = service.update(scope, UpdateRequest(id=old.id, content="We met Bobby yesterday"))
    assert service.get(scope, new.id).days == ((date(2020, 5, 7) - date(1970, 1, 1)).days,)


def test_what_happened_before_1970_is_found_by_its_time(service, scope):
    born = datetime(1950, 5, 8, tzinfo=UTC)
    remember(service, scope, "Grandfather was born", occurred_at=born)
    remember(service, scope, "Father was born", occurred_at=datetime(1969, 12, 31, 23, 59, 59, 999_999, UTC))
    assert texts(service, scope, where=Where(until=born + timedelta(days=1))) == ["Grandfather was born"]
    assert texts(service, scope, where=Where(since=datetime(1970, 1, 1, tzinfo=UTC))) == []


def test_a_repeated_request_to_forget_by_filter_gets_its_first_answer(service, scope):
    for content in ("one", "two"):
        remember(service, scope, content, tags=("old",))
    key = RequestKey("relay", 1)
    request = ForgetRequest(where=Where(tags=("old",)), count=2)
    first = service.forget(scope, request, key=key)
    assert service.forget(scope, request, key=key) == first
    with pytest.raises(ConfirmationNeeded):
        service.forget(scope, request)


def test_a_write_that_is_stored_does_not_fail_for_lack_of_advice(service, scope, monkeypatch):
    long = "apples are red and sweet " * 100  # so long that it is read from the store, not from the cache
    remember(service, scope, long)

    def fails(*_):
        raise EngineUnavailable("try again")

    monkeypatch.setattr(service.store, "get", fails)
    written = remember(service, scope, long + "indeed")
    assert written.related == ()
