from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from tests.tables import each

from hybrid_memory.errors import InvalidInput
from hybrid_memory.model import MemoryId, MemoryType
from hybrid_memory.requests import ForgetRequest, Insight, ReadRequest, UpdateRequest, Where, WriteRequest
from hybrid_memory.testing import START
from hybrid_memory.validation import check_forget, check_insights, check_read, check_update, check_where, check_write

GOOD = WriteRequest(content="fine")
ID = MemoryId("0" * 20)
NAIVE = datetime(2026, 1, 1)  # noqa: DTZ001 - the fault under test


def deep(levels):
    return {"in": deep(levels - 1)} if levels else {}


@each(
    "field, value",
    [
        ("content", ""),
        ("content", "  \n"),
        ("content", "x" * 100_001),
        ("content", "nul\x00"),
        ("content", "half \ud800"),
        ("importance", 1.01),
        ("importance", -0.1),
        ("importance", float("nan")),
        ("tags", ("",)),
        ("tags", ("x" * 101,)),
        ("tags", tuple(str(n) for n in range(51))),
        ("metadata", {"x": float("inf")}),
        ("metadata", {"x": 2**70}),
        ("metadata", {"x": "a" * 20_000}),
        ("metadata", {"nul\x00": 1}),
        ("metadata", deep(12)),
        ("metadata", {"x": object()}),
        ("source", "x" * 201),
        ("speaker", ""),
        ("session", "\x1b[31m"),
        ("key", "without working memory"),
        ("occurred_at", NAIVE),
        ("expires_at", START - timedelta(days=1)),
        ("supersedes", MemoryId("")),
    ],
)
def test_a_wrong_argument_is_refused_by_its_name_without_its_value(field, value):
    with pytest.raises(InvalidInput) as refused:
        check_write(replace(GOOD, **{field: value}), START)
    assert refused.value.field == field
    assert "x" * 50 not in str(refused.value)


def test_a_good_statement_passes_with_its_tags_in_order():
    request = replace(GOOD, tags=("b", "a", "b "), metadata={"deep": [1, {"x": None}]}, importance=1)
    assert check_write(request, START).tags == ("b", "a")


def test_a_key_goes_with_working_memory():
    check_write(replace(GOOD, key="task", memory_type=MemoryType.WORKING), START)


@each("limit", [0, -5, 101, 10**9])
def test_a_limit_out_of_range_is_refused(limit):
    with pytest.raises(InvalidInput, match="limit"):
        check_read(ReadRequest(limit=limit))


def test_ids_and_a_query_do_not_go_together():
    with pytest.raises(InvalidInput, match="ids"):
        check_read(ReadRequest(query="tea", ids=(ID,)))


def test_ids_and_a_filter_do_not_go_together():
    with pytest.raises(InvalidInput, match=r"^where: "):
        check_read(ReadRequest(ids=(ID,), where=Where(tags=("a",))))


def test_a_filter_cannot_end_before_it_begins():
    with pytest.raises(InvalidInput, match=r"where\.until"):
        check_where("where", Where(since=START, until=START))


def test_an_update_needs_a_change():
    with pytest.raises(InvalidInput):
        check_update(UpdateRequest(id=ID), START)


@pytest.mark.parametrize("request_", [ForgetRequest(), ForgetRequest(ids=(ID,), where=Where())])
def test_forgetting_needs_either_ids_or_a_filter(request_):
    with pytest.raises(InvalidInput, match="either"):
        check_forget(request_)


@pytest.mark.parametrize("insights", [[], [Insight(text="t", evidence=())], [Insight(text="", evidence=(ID,))]])
def test_insights_need_words_and_evidence(insights):
    with pytest.raises(InvalidInput, match="insights"):
        check_insights(insights)
