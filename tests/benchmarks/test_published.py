"""The table of public sets, on a small set of one store."""

import json

import pytest
from benchmarks import published
from benchmarks.sets import collections_of
from tests.benchmarks.test_retrieval import STORE

SET = collections_of(STORE)


@pytest.mark.parametrize("answers", [published.by_bm25, lambda one: published.of_this_memory(one, "static")])
def test_an_answer_is_right_that_shows_the_evidence(answers):
    (nurse,) = SET
    rent, cat, bank = answers(nurse)
    assert (rent["evidence"], cat["evidence"], bank["evidence"]) == (("m2",), ("m3",), ())
    assert cat["ids"][cat["rank"] - 1] == "m3"
    assert rent["rank"] is not None
    assert bank["rank"] is None


def test_a_table_has_a_row_for_each_way_and_a_column_for_each_set():
    one = {"answerable": 4, "right_first": 1, "right_in_five": 2, "nothing_found": 0, "characters": 1200}
    lines = list(published.table_of({"plain BM25": {"locomo": one, "beam": one}}))
    assert lines[0].endswith("| locomo | beam | characters |")
    assert lines[2] == "| plain BM25 | 25.0 / 50.0 / 0.0 | 25.0 / 50.0 / 0.0 | 1,200 |"


def test_lists_hold_ids_and_no_texts():
    (nurse,) = SET
    lines = list(published.lines_of_lists("plain BM25", "nurses", {nurse.id: published.by_bm25(nurse)}))
    first = json.loads(lines[0])
    assert first.keys() == {"set", "in", "question", "by", "ids", "evidence"}
    assert not any(item.text in line for item in nurse.items for line in lines)
