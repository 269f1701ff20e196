"""The retrieval benchmark on small sets of every form, and its measures by hand."""

from __future__ import annotations

import io
import json

import pytest
from benchmarks import measures
from benchmarks.retrieval import run
from benchmarks.sets import collections_of, pairs_of
from hypothesis import given
from hypothesis import strategies as st
from tests.changing import changes_everything

from hybrid_memory.service.memory_service import MemoryService

JUNE = "2025-06-01T00:00:00Z"


def noted(name, day, session, text, *tags):
    return {
        "id": name,
        "text": text,
        "written_at": f"{day}T09:00:00Z",
        "session": session,
        "speaker": None,
        "tags": list(tags),
    }


def asked(kind, query, gold=(), stale=()):
    return {"kind": kind, "query": query, "now": JUNE, "gold": list(gold), "stale": list(stale)}


STORE = {
    "stores": [
        {
            "id": "nurse",
            "memories": [
                noted("m2", "2025-01-02", "s2", "Rent was raised to 710 euros.", "flat"),
                noted("m1", "2024-01-02", "s1", "Rent is 640 euros a month.", "flat"),
                noted("m3", "2025-02-02", "s3", "The cat is called Biscuit."),
                noted("m4", "2026-02-02", "s3", "The cat died."),
            ],
            "questions": [
                asked("update", "How much is the rent?", ["m2"], ["m1"]),
                asked("who", "What is the cat called?", ["m3"]),
                asked("none", "Which bank holds the mortgage deeds?"),
            ],
        }
    ]
}
PARAPHRASES = [
    {"memory": "I prefer tea in the morning.", "question": "What do I drink at breakfast?"},
    {"memory": "My bicycle is red.", "question": "Which colour has my bike?"},
]
PAIRS = {"pairs": [
    {"older": "The desk is on the third floor.", "newer": "The desk moved to the ground floor.", "label": "contradicts"},
    {"older": "Pears grow slowly.", "newer": "The printer is out of toner.", "label": "unrelated-but-similar"},
]}  # fmt: skip


@pytest.fixture(scope="module")
def measured():
    lines = io.StringIO()
    return run(STORE, ranked=lines), [json.loads(line) for line in lines.getvalue().splitlines()]


def test_every_question_has_a_line_with_the_whole_ranking(measured):
    _, lines = measured
    assert [(line["set"], line["question"]) for line in lines] == [("nurse", 0), ("nurse", 1), ("nurse", 2)]
    assert all(sorted(line["ranked"]) == ["m1", "m2", "m3"] for line in lines)


def test_what_is_written_after_a_question_is_hidden_from_it(measured):
    _, lines = measured
    assert all("m4" not in line["ranked"] for line in lines)


def test_the_figures_are_those_of_the_ranking(measured):
    summary, lines = measured
    assert summary["overall"]["n"] == 2
    assert summary["by_category"]["who"]["hit@1"] == float(lines[1]["ranked"][0] == "m3") == 1.0
    assert summary["update_newest_first"] == 1.0
    assert summary["none_auroc"] == 1.0
    assert set(summary["baselines"]) == {"bm25", "dense", "reference"}


def test_pairs_of_memory_and_question_are_one_store():
    summary = run(PARAPHRASES, baselines=False)
    assert summary["overall"]["n"] == 2
    assert summary["by_category"]["paraphrase"]["recall@5"] == 1.0


def test_pairs_of_statements_give_precision_and_recall(monkeypatch):
    monkeypatch.setattr(MemoryService, "_fitted_change_model", lambda _: changes_everything())
    summary = run(PAIRS)
    assert (summary["precision"], summary["recall"]) == (0.5, 1.0)


def test_nothing_is_signalled_where_no_model_judges_changes():
    assert run(PAIRS)["recall"] == 0.0


def test_an_unknown_form_is_refused():
    with pytest.raises(ValueError, match="expected"):
        collections_of({"rows": []})
    assert pairs_of(PARAPHRASES) is None


RANKED = ["a", "b", "c", "d"]


def test_measures_by_hand():
    assert measures.recall(RANKED, {"a", "d"}, 2) == 0.5
    assert measures.reciprocal_rank(RANKED, {"c"}) == pytest.approx(1 / 3)
    assert measures.ndcg(["a", "x"], {"a"}) == 1.0
    assert measures.ndcg(["x", "a"], {"a"}) == pytest.approx(0.6309, abs=1e-4)
    assert measures.newest_first(RANKED, {"b"}, {"c"}) == 1.0
    assert measures.newest_first(RANKED, {"b"}, {"a", "c"}) == 0.0
    assert measures.newest_first(RANKED, {"x"}, {"a"}) == 0.0
    assert measures.auroc([3, 2], [1, 2]) == pytest.approx(0.875)
    assert measures.session_hit(RANKED, {"d"}, dict.fromkeys(RANKED, "s")) == 1.0


def test_a_session_behind_ten_others_is_no_hit():
    many = [str(number) for number in range(12)]
    assert measures.session_hit(many, {"11"}, {one: one for one in many}) == 0.0


@given(st.lists(st.sampled_from("abcdefgh"), unique=True), st.sets(st.sampled_from("abcdefgh"), min_size=1))
def test_every_measure_is_a_share(ranked, gold):
    found = measures.of_question(ranked, gold, dict.fromkeys("abcdefgh", "s"))
    assert all(0 <= value <= 1 for value in found.values())
    assert found["recall@1"] <= found["recall@5"] <= found["recall@10"] <= found["recall@20"]
