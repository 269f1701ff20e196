import threading

import pytest
from tests.core.store.making import always, memory, put

from hybrid_memory.errors import ConstraintViolation
from hybrid_memory.model import MemoryId
from hybrid_memory.store.writing import Insert, RequestKey


def test_a_repeated_request_is_answered_and_not_done_again(store):
    key = RequestKey("relay", 1)
    first = store.write("default", key, always(inserts=(Insert(memory("a")),), result={"id": "a", "list": [1]}))
    put(store, "b")

    def never(view):
        raise AssertionError

    again = store.write("default", key, never)
    assert (again.replayed, again.result, again.position, again.at) == (True, first.result, 1, first.at)
    assert (again.log, dict(again.memories), dict(again.vectors)) == ((), {}, {})
    assert store.head("default") == 2


def test_the_result_of_a_request_can_be_asked_for(store):
    store.write("default", RequestKey("relay", 1), always(result={"n": 1}))
    assert store.result("default", RequestKey("relay", 1)) == {"n": 1}
    assert store.result("default", RequestKey("relay", 2)) is None
    assert store.result("default", RequestKey("other", 1)) is None


def test_an_acknowledged_request_is_forgotten(store):
    for number in (1, 2, 3):
        store.write("default", RequestKey("relay", number), always(result={"n": number}))
    store.write("default", RequestKey("other", 1), always(result={"n": 9}))
    store.acknowledge("relay", 2)
    assert [store.result("default", RequestKey("relay", number)) for number in (1, 2, 3)] == [None, None, {"n": 3}]
    assert store.result("default", RequestKey("other", 1)) == {"n": 9}
    assert not store.write("default", RequestKey("relay", 2), always()).replayed
    assert store.write("default", RequestKey("relay", 3), always()).replayed


def test_a_request_of_another_namespace_is_not_answered(store):
    store.write("default", RequestKey("relay", 1), always(result={"secret": 1}))
    with pytest.raises(ConstraintViolation):
        store.write("other", RequestKey("relay", 1), always())


@pytest.mark.parametrize("key", [RequestKey("\ud800", 1), RequestKey("relay", 2**63)])
def test_a_request_key_that_cannot_be_kept_is_refused(store, key):
    with pytest.raises(ConstraintViolation):
        store.write("default", key, always())


def test_threads_that_repeat_each_others_requests_write_each_once(store):
    names = [f"m{number}" for number in range(12)]
    outcomes: list[tuple[str, bool]] = []

    def run():
        for number, name in enumerate(names):
            written = store.write(
                "default", RequestKey("relay", number), always(inserts=(Insert(memory(name)),), result={"id": name})
            )
            assert written.result == {"id": name}
            outcomes.append((name, written.replayed))

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(name for name, replayed in outcomes if not replayed) == sorted(names)
    assert len(outcomes) == 4 * len(names)
    assert [entry.position for entry in store.changes("default", 0)] == list(range(1, 13))


@pytest.mark.slow
def test_readers_beside_a_writer_see_whole_writes_only(store):
    writes, half = 20, 10
    done, looked = threading.Event(), threading.Semaphore(0)
    seen: list[int] = []
    torn: list[int] = []

    def read():
        while not done.is_set():
            found = store.get("default", [MemoryId(f"{letter}{n}") for letter in "ab" for n in range(writes)])
            torn.extend(n for n in range(writes) if (f"a{n}" in found) != (f"b{n}" in found))
            seen.append(len(found) // 2)
            looked.release()

    reader = threading.Thread(target=read)
    reader.start()
    for number in range(writes):
        put(store, f"a{number}", f"b{number}")
        if number + 1 == half:  # a look that began before this write may end now; those after it see half of all
            for _ in range(len(seen) + 2):
                assert looked.acquire(timeout=60)
    done.set()
    reader.join()
    assert torn == []
    assert half in seen


def test_results_that_nobody_came_back_for_are_forgotten_by_their_age(store, clock):
    store.write("default", RequestKey("gone", 1), always(result={"n": 1}))
    clock.advance(seconds=60)
    between = clock.now()
    store.write("default", RequestKey("here", 1), always(result={"n": 2}))
    store.forget_results(between)
    assert store.result("default", RequestKey("gone", 1)) is None
    assert store.result("default", RequestKey("here", 1)) == {"n": 2}


def test_a_result_is_told_only_in_its_own_namespace(store):
    store.write("default", RequestKey("relay", 1), always(result={"n": 1}))
    assert store.result("other", RequestKey("relay", 1)) is None


def test_all_results_of_a_relay_that_left_are_forgotten(store):
    store.write("default", RequestKey("relay", 2**40), always(result={"n": 1}))
    store.acknowledge("relay", None)
    assert store.result("default", RequestKey("relay", 2**40)) is None
