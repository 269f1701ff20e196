import pytest

from hybrid_memory.errors import ConstraintViolation

PLACE = ("default", "c-1", "message")


def numbers(store, *place):
    return [entry.number for entry in store.entries(*(place or PLACE))]


def test_entries_come_back_in_order(store):
    bodies = [{"text": "first", "n": [1, None]}, {"text": "二"}, {}]
    assert [store.put_entry(*PLACE, body) for body in bodies] == [1, 2, 3]
    assert [entry.body for entry in store.entries(*PLACE)] == bodies


def test_an_entry_of_the_same_number_is_replaced(store):
    store.put_entry(*PLACE, {"v": 1}, 5)
    assert store.put_entry(*PLACE, {"v": 2}, 5) == 5
    assert [(entry.number, entry.body) for entry in store.entries(*PLACE)] == [(5, {"v": 2})]


def test_the_next_number_follows_the_highest(store):
    store.put_entry(*PLACE, {}, 5)
    store.put_entry(*PLACE, {}, 2)
    assert store.put_entry(*PLACE, {}) == 6
    assert numbers(store) == [2, 5, 6]


def test_removed_numbers_are_not_used_again(store):
    store.put_entry(*PLACE, {})
    store.put_entry(*PLACE, {})
    assert store.remove_entries(*PLACE) == 2
    assert store.remove_entries(*PLACE) == 0
    assert (numbers(store), store.put_entry(*PLACE, {})) == ([], 3)


def test_a_number_can_be_given_again_after_removal(store):
    store.put_entry(*PLACE, {}, 1)
    store.remove_entries(*PLACE)
    store.put_entry(*PLACE, {"v": 2}, 1)
    assert numbers(store) == [1]


def test_conversations_kinds_and_namespaces_are_apart(store):
    places = [PLACE, ("default", "c-1", "plan"), ("default", "c-2", "message"), ("other", "c-1", "message")]
    for at, place in enumerate(places):
        store.put_entry(*place, {"at": at})
    assert [[entry.body["at"] for entry in store.entries(*place)] for place in places] == [[0], [1], [2], [3]]
    store.remove_entries(*PLACE)
    assert [len(numbers(store, *place)) for place in places] == [0, 1, 1, 1]


def test_a_namespace_with_a_conversation_holds_something(store):
    store.put_entry(*PLACE, {})
    assert list(store.namespaces()) == ["default"]
    store.remove_entries(*PLACE)
    assert list(store.namespaces()) == []


def test_a_body_that_is_no_json_is_refused(store):
    for body in ({"a": float("inf")}, {"a": object()}, {"a": "\ud800"}):
        with pytest.raises(ConstraintViolation):
            store.put_entry(*PLACE, body)
    assert numbers(store) == []
