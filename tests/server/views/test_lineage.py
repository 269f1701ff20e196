"""Which memories are versions of one another."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.core.store.making import always, memory

from hybrid_memory.model import Scope
from hybrid_memory.store.writing import Insert
from hybrid_memory_mcp.views.memory import versions_of


def lineage(service, namespace, name):
    return service.look(Scope(namespace=namespace, session="s"), lambda columns, _: versions_of(columns, name))


def put(service, namespace, successors):
    """Store memories of which each is replaced by that of a number, None by none."""
    stored = [
        memory(f"{namespace}-{at}", namespace=namespace, superseded_by=None if by is None else f"{namespace}-{by}")
        for at, by in enumerate(successors)
    ]
    service.store.write(namespace, None, always(inserts=tuple(map(Insert, stored))))
    return [one.id for one in stored]


@pytest.mark.parametrize("at", range(3))
def test_each_version_knows_all(service, at):
    ids = put(service, "n", [1, 2, None, None])
    assert lineage(service, "n", ids[at]) == ids[:3]


def test_of_a_merged_text_all_that_was_merged_are_versions(service):
    ids = put(service, "n", [3, 3, None, None])
    assert lineage(service, "n", ids[0]) == [ids[0], ids[1], ids[3]]


def test_an_unknown_memory_has_none(service):
    put(service, "n", [None])
    assert lineage(service, "n", "nobody") == []


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(successors=st.lists(st.none() | st.integers(0, 7), min_size=8, max_size=8))
def test_versions_are_what_ends_where_one_ends(service, successors):
    """Whatever the links, and if they bite their tail: those from which the same newest ones are reached."""
    namespace = f"n{len(service.store.namespaces())}"
    ids = put(service, namespace, successors)

    def after(at):
        line = [at]
        while successors[line[-1]] is not None and successors[line[-1]] not in line:
            line.append(successors[line[-1]])
        return line

    for at in range(8):
        ahead = set(after(at))
        assert lineage(service, namespace, ids[at]) == [ids[one] for one in range(8) if ahead & set(after(one))]
