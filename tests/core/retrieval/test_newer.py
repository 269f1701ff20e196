"""Which of two memories is the newer word on the same thing, and what that does to a ranking."""

from __future__ import annotations

import dataclasses
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.core.retrieval.memories import memory
from tests.tables import each

from hybrid_memory.embedding.static import StaticEmbedder
from hybrid_memory.model import Trust
from hybrid_memory.requests import Where
from hybrid_memory.retrieval.index import NamespaceIndex
from hybrid_memory.retrieval.newer import boosted, settle
from hybrid_memory.retrieval.query import SearchQuery
from hybrid_memory.retrieval.question import parse_question
from hybrid_memory.retrieval.shares import joined
from hybrid_memory.store.writing import ChangeType, LogEntry
from hybrid_memory.testing import HASHER

NOW = datetime(2025, 6, 20, 12, tzinfo=UTC)
EMBEDDER = StaticEmbedder()
SCORES = st.lists(st.floats(0, 3, width=32), min_size=1, max_size=8)
CROWD = [
    f"{name}'s dentist is Dr. {doctor}."
    for name, doctor in zip(
        ("Bo", "Cem", "Dara", "Edda", "Ferenc", "Greta"), ("Lind", "Falk", "Noor", "Wirth", "Otte", "Reis"), strict=True
    )
]


def noted(*texts, trusts=None):
    """Memories a month apart, the last one a month ago."""
    first = NOW - timedelta(days=30 * len(texts))
    return [
        memory(
            f"m{number}",
            text,
            created_at=first + timedelta(days=30 * number),
            trust=trusts[number] if trusts else Trust.AGENT,
        )
        for number, text in enumerate(texts)
    ]


def asked(question, memories, as_of=None):
    """The ranking of a question, settled."""
    index = NamespaceIndex(HASHER)
    log = [
        LogEntry(position=at, change=ChangeType.INSERT, id=one.id, rev=1, at=NOW, actor="", action="write", digest="")
        for at, one in enumerate(memories, 1)
    ]
    by_id = {one.id: one for one in memories}
    vectors = EMBEDDER.embed([one.content for one in memories])
    index.apply(log, by_id, {one.id: vector for one, vector in zip(memories, vectors, strict=True)})
    query = SearchQuery(
        question=parse_question(question, NOW, HASHER),
        vector=EMBEDDER.embed([question])[0],
        now=NOW,
        where=Where(as_of=as_of),
    )
    ranking = index.search(query)
    if ranking.below is not None:
        settled = settle(ranking.below.ranking, question, by_id)
        ranking = dataclasses.replace(ranking, below=dataclasses.replace(ranking.below, ranking=settled))
    return joined(settle(ranking, question, by_id))


def newer(question, *texts, trusts=None):
    """Pairs of texts of which the second is marked as newer."""
    memories = noted(*texts, trusts=trusts)
    content = {one.id: one.content for one in memories}
    return {content[old]: content[new] for old, new in asked(question, memories).newer.items()}


def first(question, *texts, trusts=None):
    memories = noted(*texts, trusts=trusts)
    return {one.id: one.content for one in memories}[asked(question, memories).ids[0]]


OLD = "Ada's dentist is Dr. Keller."
NEW = "Ada's dentist is now Dr. Vasquez."


def test_a_later_value_of_the_same_thing_comes_first_and_is_named_as_newer():
    assert first("Who is Ada's dentist?", OLD, NEW, *CROWD) == NEW
    assert newer("Who is Ada's dentist?", OLD, NEW, *CROWD) == {OLD: NEW}


def test_what_is_said_of_others_replaces_nothing():
    assert first("Who is Ada's dentist?", OLD, *CROWD) == OLD
    assert not newer("Who is Ada's dentist?", OLD, *CROWD)


@each(
    "question, old, later",
    [
        ("What is the airport transfer in York?", "York airport transfer: bus 5.", "New York airport transfer: now tram 7."),
        ("What is the port of Heron?", "The port of Heron is 7010.", "The port of Heron Lite is now 8020."),
        ("What is the port of lib/parser.py?", "The port of lib/parser.py is 7010.", "Port of lib/parsers.py: now 8020."),
        ("Which database does api-gateway use?", "Database of api-gateway: Firebird.", "Database of api-gateway-v2: now SQLite."),
        ("Who is Ada's dentist?", OLD, "Bo's dentist is Dr. Lind now, says Ada."),
        ("Who is Ada's dentist?", OLD, "Ada was at the dentist on Friday for a check."),
        ("Who is Ada's dentist?", OLD, "Met Ada, Bo, Cem, Dara and Edda at the dentist's party."),
        ("What is the decision on Heron?", "Decision on Heron: logs stay thirty days.", "Decision on Heron: reviews need two people."),
    ],
)  # fmt: skip
def test_what_only_looks_alike_is_not_newer(question, old, later):
    assert not newer(question, old, later, *CROWD)


@each(
    "question",
    [
        "Who was Ada's dentist before Dr. Vasquez?",
        "Which dentists did Ada have over the years?",
        "How many days were between the first and the second dentist of Ada?",
        "How has Ada's dentist changed?",
        "List all dentists of Ada.",
        "Is Ada's dentist different from Bo's?",
        "Wer war früher Adas Zahnarzt?",
        "Qui était le dentiste d'Ada avant ?",
        "¿Quién era antes el dentista de Ada?",
    ],
)
def test_a_question_that_needs_both_values_changes_nothing(question):
    memories = noted(OLD, NEW, *CROWD)
    ranking = asked(question, memories)
    assert not ranking.newer
    assert "newer" not in ranking.parts


def test_what_may_have_two_values_is_put_first_but_not_claimed():
    texts = ["Heron speaks to port 7010.", "Heron speaks to port 8020."]
    assert not newer("Which port does Heron speak to?", *texts)


def test_of_three_values_in_a_row_the_last_stands_above_both():
    texts = [f"The budget of Heron is {number},000 euros." for number in (20, 30, 40)]
    memories = noted(*texts)
    order = asked("What is the budget of Heron?", memories).ids.tolist()
    assert order[0] == memories[2].id


def test_what_is_trusted_less_replaces_nothing():
    trusts = (Trust.CONFIRMED, Trust.UNTRUSTED)
    assert not newer("Who is Ada's dentist?", OLD, NEW, trusts=trusts)
    assert newer("Who is Ada's dentist?", OLD, NEW, trusts=(Trust.UNTRUSTED, Trust.CONFIRMED))


def test_a_name_that_no_memory_holds_leaves_all_as_it_is():
    assert not newer("Who is Zorana's dentist?", OLD, NEW)


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.sampled_from(CROWD), max_size=6, unique=True),
    st.permutations(["Who is Ada's dentist?", "Which dentist does Ada have?"]),
)
def test_memories_about_others_never_change_which_is_marked(others, questions):
    marks = newer(questions[0], OLD, NEW, *others)
    assert set(marks.items()) <= {(OLD, NEW)}


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(st.lists(st.sampled_from([OLD, NEW, *CROWD, "Ada's dentist is Dr. Falk, not Dr. Vasquez."]), max_size=8))
def test_no_mark_points_to_an_earlier_memory(texts):
    memories = noted(*texts)
    at = {one.id: one.created_at for one in memories}
    marks = asked("Who is Ada's dentist?", memories).newer if memories else {}
    assert all(at[new] > at[old] for old, new in marks.items())


@given(SCORES)
def test_without_a_newer_word_nothing_moves(scores):
    assert boosted(scores, list(range(len(scores))), []).tolist() == scores


@st.composite
def cases(draw):
    scores = draw(SCORES)
    times = draw(st.permutations(range(len(scores))))
    pairs = draw(st.lists(st.tuples(st.integers(0, len(scores) - 1), st.integers(0, len(scores) - 1)), max_size=6))
    return scores, times, [(a, b) for a, b in pairs if times[a] < times[b]]


@given(cases())
def test_every_newer_word_ends_above_the_older(case):
    scores, times, pairs = case
    raised = boosted(scores, times, pairs)
    assert all(raised[later] > raised[earlier] for earlier, later in pairs)


@given(cases())
def test_only_newer_words_rise_and_nothing_falls(case):
    scores, times, pairs = case
    raised = boosted(scores, times, pairs)
    rising = {later for _, later in pairs}
    for place, score in enumerate(scores):
        assert raised[place] >= np.float32(score)
        if place not in rising:
            assert raised[place] == np.float32(score)


@each("score", [0.0, 1e-8, 1.0, 1e6])
def test_a_lift_is_small_and_enough_at_any_height(score):
    old, new = boosted([score, 0.0], [0, 1], [(0, 1)])
    assert old < new <= old + max(1e-5, old * 1e-5)


@pytest.mark.slow
def test_among_look_alikes_no_mark_is_false_and_the_newest_comes_first():
    from benchmarks.alike import stores
    from benchmarks.indexed import indexed

    store = stores()[0]
    part = indexed(store.collection, EMBEDDER)
    newest = []
    for one in part.asked:
        ranking = part.rank(one)
        assert set(ranking.newer.items()) <= store.true_updates, one.question.text
        if one.question.stale:
            ids = ranking.ids.tolist()
            newest.append(ids.index(one.question.gold[0]) < ids.index(one.question.stale[0]))
    assert sum(newest) >= 0.7 * len(newest)
