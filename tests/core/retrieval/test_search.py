"""What a search finds, in which order, and what it says about it."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest
from tests.core.retrieval.memories import NOW, at, index_of, memory, put, vector_of
from tests.tables import each

from hybrid_memory.model import MemoryId, Tier
from hybrid_memory.requests import Where
from hybrid_memory.retrieval.candidates import MAX_CANDIDATES
from hybrid_memory.retrieval.index import NamespaceIndex
from hybrid_memory.retrieval.query import SearchQuery
from hybrid_memory.retrieval.question import parse_question
from hybrid_memory.retrieval.ranking_parameters import FITTED
from hybrid_memory.retrieval.time_expressions.parsing import TimeExpressions
from hybrid_memory.store.writing import RecordUse
from hybrid_memory.testing import HASHER


def ask(query, *, vector=True, time=None, **options):
    question = parse_question(query, NOW, HASHER)
    if time is not None:
        question = replace(question, time=time)
    return SearchQuery(question=question, vector=vector_of(query) if vector else None, **({"now": NOW} | options))


def found(index, query, **options):
    return index.search(ask(query, **options)).ids.tolist()


@pytest.fixture
def pets():
    return index_of(
        memory("cat", "my cat sleeps", session="a"),
        memory("dog", "my dog barks", minutes=1, session="b"),
        memory("tax", "taxes are due", minutes=2, session="c"),
    )


@pytest.mark.parametrize("scorer", ["fused", "lexical", "dense", "reference"])
def test_every_scorer_finds_the_right_words_first(pets, scorer):
    assert found(pets, "dog barks", scorer=scorer)[0] == "dog"


def test_all_candidates_are_ranked(pets):
    assert sorted(found(pets, "dog")) == ["cat", "dog", "tax"]


def test_words_alone_find_while_there_is_no_vector(pets):
    for scorer in ("fused", "dense", "reference", "lexical"):
        assert found(pets, "cat", vector=False, scorer=scorer, alpha=0.0, gamma=0.0)[0] == "cat"


def test_a_vector_of_another_length_leaves_the_words(pets):
    ranking = pets.search(
        SearchQuery(question=parse_question("tax", NOW, HASHER), vector=np.ones(3, np.float32), now=NOW)
    )
    assert ranking.ids[0] == "tax"


def test_a_word_in_another_form_is_found(pets):
    assert found(pets, "is a tax due", vector=False)[0] == "tax"


def test_an_unknown_question_is_answered_by_weak_memories_alone(pets):
    ranking = pets.search(ask("zebra", vector=False))
    assert ranking.weak.tolist() == [True, True, True]


def test_what_shares_words_is_not_weak(pets):
    ranking = pets.search(ask("tax", vector=False))
    assert ranking.weak.tolist() == [False, True, True]


def test_what_is_near_in_meaning_is_not_weak(pets):
    ranking = pets.search(SearchQuery(vector=vector_of("my cat sleeps"), now=NOW))
    assert dict(zip(ranking.ids, ranking.weak, strict=True))["cat"] == np.False_


def test_an_answer_to_a_matching_question_is_not_weak():
    index = index_of(
        memory("q", "where is the key?", minutes=1, speaker="Ann"),
        memory("a", "under a stone", minutes=2, speaker="Bob"),
        memory("x", "hm", minutes=3, speaker="Cid"),
    )
    ranking = index.search(ask("key", vector=False))
    assert ranking.ids.tolist()[:2] == ["q", "a"]
    assert ranking.weak.tolist() == [False, False, True]


def test_the_summands_make_up_the_score(pets):
    put(
        pets,
        memory("ann", "my bird sings", speaker="Ann", session="b", minutes=3),
        memory("bo", "how nice", speaker="Bo", session="b", minutes=4),
    )
    ranking = pets.search(ask("what bird has Ann", alpha=0.3, gamma=0.2))
    for position in range(len(ranking)):
        assert sum(ranking.terms(position).values()) == pytest.approx(float(ranking.scores[position]), abs=1e-5)
    assert {"lexical", "dense", "session", "speaker", "recency", "importance"} <= ranking.terms(0).keys()


@each("query", ["Ann", "ann's hobby", "does Ann like it", "Ms Bell"])
def test_a_speaker_that_the_question_names_counts_more(query):
    index = index_of(memory("bob", "I paint", speaker="Bob"), memory("ann", "I paint", speaker="Ann Bell?", minutes=1))
    ranking = index.search(ask(f"{query} paint", vector=False))
    assert ranking.ids.tolist() == ["ann", "bob"]
    assert ranking.terms(0)["speaker"] == pytest.approx(FITTED.speaker_weight)
    assert "speaker" not in ranking.terms(1)


def test_nobody_is_named_by_a_question_without_names():
    index = index_of(memory("bob", "I paint", speaker="Bob"))
    assert "speaker" not in index.search(ask("paint")).terms(0)


def test_a_session_that_speaks_of_it_lifts_its_members():
    index = index_of(
        memory("a1", "the boat trip", session="a", speaker="Ann"),
        memory("a2", "boat engine", session="a", speaker="Bob", minutes=1),
        memory("a3", "rain again", session="a", speaker="Ann", minutes=2),
        memory("b1", "rain again!", session="b", speaker="Ann", minutes=9),
        memory("b2", "oh", session="b", speaker="Bob", minutes=10),
    )
    order = found(index, "boat", vector=False)
    assert order.index("a3") < order.index("b1")


def test_notes_stand_for_themselves():
    index = index_of(
        memory("a1", "the boat trip"), memory("a2", "boat engine", minutes=1), memory("a3", "rain", minutes=2)
    )
    assert "session" not in index.search(ask("boat", vector=False)).terms(2)


def test_notes_of_one_speaker_stand_for_themselves_too():
    index = index_of(
        memory("allergy", "Ada is allergic to peanuts", session="a"),
        memory("boat", "the boat trip is on Tuesdays", session="b", speaker="Ada", minutes=1),
        memory("rain", "will it rain?", session="b", speaker="Ada", minutes=2),
    )
    ranking = index.search(ask("to what is Ada allergic", vector=False))
    assert ranking.ids[0] == "allergy"
    assert not {"speaker", "session", "reply"} & ranking.terms(1).keys()


def test_equals_are_ordered_by_tier_and_then_by_time():
    index = index_of(
        memory("faded", "cat", tier=Tier.FADED, session="a", minutes=9),
        memory("older", "cat!", session="b", minutes=1),
        memory("newer", "cat.", session="c", minutes=2),
    )
    assert found(index, "cat", scorer="lexical") == ["newer", "older", "faded"]


def test_a_newer_memory_comes_before_an_equal_older_one():
    index = index_of(
        memory("new", "cat", session="a", occurred_at=NOW),
        memory("old", "cat!", session="b", minutes=1, occurred_at=NOW - timedelta(days=700)),
    )
    assert found(index, "cat") == ["new", "old"]


def test_filters_hold_for_searches(pets):
    assert found(pets, "my", where=Where(session="b")) == ["dog"]


def test_what_was_created_after_the_first_page_stays_out_of_later_ones(pets):
    before = pets.search(ask("my cat", asked_at=at(5)))
    put(pets, memory("new", "my cat", minutes=9))
    after = pets.search(ask("my cat", asked_at=at(5), now=NOW + timedelta(days=90)))
    assert after.ids.tolist() == before.ids.tolist()
    assert after.scores.tolist() == pytest.approx(before.scores.tolist(), rel=1e-5)


def test_forgotten_memories_do_not_change_the_scores_of_others(pets):
    before = pets.search(ask("cat dog")).scores.tolist()
    put(pets, memory("gone", "cat cat dog", forgotten_at=NOW, session="z"))
    assert pets.search(ask("cat dog")).scores.tolist() == pytest.approx(before, rel=1e-6)


def test_the_reference_scorer_is_cosine_and_hourly_decay_and_importance():
    index = index_of(memory("m", "cat", importance=0.25, created_at=NOW - timedelta(hours=10)))
    ranking = index.search(ask("cat", scorer="reference"))
    assert float(ranking.scores[0]) == pytest.approx(1 + 0.99**10 + 0.25, rel=1e-5)
    assert ranking.terms(0) == pytest.approx({"dense": 1, "recency": 0.99**10, "importance": 0.25}, rel=1e-5)


def test_a_recall_makes_a_memory_recent_for_the_reference_scorer():
    index = index_of(memory("m", "cat", importance=0, created_at=NOW - timedelta(hours=100)))
    index.record_uses([RecordUse(MemoryId("m"), NOW)])
    assert index.search(ask("cat", scorer="reference")).terms(0)["recency"] == pytest.approx(1)


def test_weights_change_the_order():
    index = index_of(
        memory("match", "cat", importance=0.1, session="a"),
        memory("grave", "tree", importance=1.0, session="b", minutes=1),
    )
    assert found(index, "cat") == ["match", "grave"]
    assert found(index, "cat", beta=0.1, gamma=2.0) == ["grave", "match"]


def test_a_question_without_words_and_vector_gives_the_newest_first(pets):
    ranking = pets.search(SearchQuery(now=NOW, alpha=0.0))
    assert ranking.ids.tolist() == ["tax", "dog", "cat"]
    assert ranking.weak.all()


@each("scorer", ["fused", "lexical", "dense", "reference"])
def test_an_empty_index_finds_nothing(scorer):
    ranking = NamespaceIndex(HASHER, 16).search(ask("cat", scorer=scorer))
    assert len(ranking) == len(ranking.weak) == 0


def test_an_exact_paraphrase_wins_over_a_poor_match_of_words():
    index = index_of(
        memory("words", "the colour of money is a film that we saw", session="a"),
        memory("meaning", "dark mode", session="b", minutes=1),
    )
    asked = SearchQuery(
        question=parse_question("which colour theme for the editor", NOW, HASHER),
        vector=vector_of("dark mode"),
        now=NOW,
    )
    assert index.search(asked).ids[0] == "meaning"


@pytest.fixture(scope="module")
def many():
    """Return more equal memories than are weighed closely, the first of them grave."""
    first = memory("m0", "the build passed", importance=1.0, minutes=-MAX_CANDIDATES)
    others = (
        memory(f"m{number}", "the build passed", importance=0.1, minutes=number)
        for number in range(1, MAX_CANDIDATES + 500)
    )
    return index_of(first, *others)


def test_of_very_many_equal_memories_the_newest_are_found(many):
    newest = f"m{MAX_CANDIDATES + 499}"
    for scorer in ("fused", "lexical"):
        assert found(many, "did the build pass", vector=False, scorer=scorer)[0] == newest


def test_a_weight_of_importance_counts_for_all_of_very_many(many):
    assert found(many, "did the build pass", gamma=1.0, time=TimeExpressions(asked_state="past"))[0] == "m0"
    assert found(many, "build", scorer="reference", alpha=0.0)[0] == "m0"
    assert found(many, "build", scorer="lexical", beta=0.0, gamma=1.0)[0] == "m0"


def test_of_very_many_memories_none_is_ranked_twice(many):
    ranking = many.search(ask("did the build pass"))
    shown = [*ranking.ids, *(one for others in ranking.repeats.values() for one in others)]
    assert MAX_CANDIDATES <= len(shown) == len(set(shown))
