"""Has the store of LangGraph over this memory and LangGraph's own one in memory do the same, and compares what they return."""

import random
import sys

import anyio
from langgraph.store.base import GetOp, ListNamespacesOp, MatchCondition, PutOp
from langgraph.store.memory import InMemoryStore

from hybrid_memory_adapters.langgraph_store import MemoryStore

NAMESPACES = [("users", "u1"), ("users", "u2"), ("users", "u1", "notes"), ("docs",), ("a/b",), ("a",)]
KEYS = ["one", "two", "b..c", "ä ö", "k" * 300]
VALUES = [
    {"text": "Maria is allergic to peanuts."},
    {"text": "Maria is allergic to peanuts.", "stars": 3, "kind": "food"},
    {"text": "bell\x07 and null\x00", "stars": 4.5},
    {"text": "", "stars": 1},
    {"theme": "dark", "language": "en", "stars": 2},
    {"deep": [[[[[[[[[[{"a": None}]]]]]]]]]], "kind": "food"},
    {"text": "long", "more": "y" * 17_000, "big": 2**70},
    {"text": "key", "value": {"value": [1, True, None]}, "text_field": "x"},
    {},
]
FILTERS = [None, None, {"kind": "food"}, {"stars": {"$gte": 2}}, {"stars": {"$ne": 3}}, {"deep": [1]}]
PREFIXES = [(), ("users",), ("users", "u1"), ("a",), ("nobody",)]
CONDITIONS = [None, [("prefix", ("users",))], [("suffix", ("notes",))], [("prefix", ("users", "*", "notes"))]]


def told(found):
    return None if found is None else (found.namespace, found.key, found.value)


def passes(value, wanted):
    """Return whether LangGraph's own store finds a value, which fails where there is nothing to compare."""
    store = InMemoryStore()
    store.put(("n",), "k", value)
    try:
        return bool(store.search((), filter=wanted))
    except TypeError:
        return False


async def main():
    choose = random.Random(sys.argv[1]).choice
    ours, theirs = MemoryStore("store"), InMemoryStore()
    live, unindexed = {}, set()
    for _ in range(60):
        namespace, key = choose(NAMESPACES), choose(KEYS)
        put = PutOp(namespace, key, choose([None, *VALUES]), choose([None, None, False, ["text"], ["value.value[*]"]]))
        before = ours.get(namespace, key)
        assert await ours.abatch([put, GetOp(namespace, key)]) == [None, before]
        theirs.batch([put])
        unindexed = {*unindexed, (namespace, key)} if put.index is False else unindexed - {(namespace, key)}
        live[namespace, key] = put.value
        live = {place: value for place, value in live.items() if value is not None}
        assert told(ours.get(namespace, key)) == told(theirs.get(namespace, key))
        prefix, wanted = choose(PREFIXES), choose(FILTERS)
        query = choose([None, "What must Maria not eat?"])
        found = await ours.asearch(prefix, filter=wanted, query=query, limit=100)
        fitting = {
            place: value for place, value in live.items() if place[0][: len(prefix)] == prefix and passes(value, wanted)
        }
        assert {(one.namespace, one.key): one.value for one in found} == fitting, (prefix, wanted, query)
        assert len(found) == len(fitting)
        hidden = {(one.namespace, one.key) for one in found if one.score is None} if query else set()
        assert hidden == (unindexed & fitting.keys() if query else set())
        scores = [one.score for one in found if one.score is not None]
        assert query or not scores
        assert scores == sorted(scores, reverse=True)
        assert ours.search(prefix, filter=wanted, query=query, limit=2, offset=1) == found[1:3]
        conditions = choose(CONDITIONS)
        op = ListNamespacesOp(
            None if conditions is None else tuple(MatchCondition(*one) for one in conditions),
            max_depth=choose([None, 1]),
            limit=3,
        )
        names = InMemoryStore()
        names.batch([PutOp(namespace, "k", {}) for namespace, _ in live])
        assert ours.batch([op]) == names.batch([op])


anyio.run(main)
