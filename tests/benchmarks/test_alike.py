"""The generated look-alikes: the same every time, and what they call right is right."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from benchmarks import alike
from benchmarks.claims import as_json, run
from benchmarks.retrieval import read_set

UNANSWERABLE = {"subject-unknown", "attribute-unknown"}


@pytest.fixture(scope="module", params=alike.WORDINGS.values(), ids=alike.WORDINGS)
def wording(request):
    return request.param


@pytest.fixture(scope="module")
def stores(wording):
    return alike.stores(wording=wording)


@pytest.fixture(scope="module")
def subjects(wording):
    return [subject for kind in wording.kinds for subject in kind.subjects]


@pytest.fixture(scope="module")
def words(wording):
    return {attribute.word for kind in wording.kinds for attribute in kind.attributes}


def names_in(text, names):
    """Return the longest of the names at every place of the text where one is, whatever its case."""
    longest_first = sorted(names, key=len, reverse=True)
    found = re.findall(r"(?<![\w/-])(?:" + "|".join(map(re.escape, longest_first)) + r")(?![\w-])", text, re.IGNORECASE)
    return {one.lower() for one in found}


def texts(store):
    return {item.id: item.text for item in store.collection.items}


def asked(store, *categories):
    return [one for one in store.collection.questions if one.category in categories]


def test_the_same_seed_makes_the_same_stores(stores, wording):
    assert alike.stores(wording=wording) == stores


def test_another_seed_makes_others(stores, wording):
    assert alike.stores(alike.SEED + 1, wording) != stores


def test_the_benchmark_knows_the_sets_by_their_names(wording):
    assert read_set(wording.name) == alike.collections(wording=wording)


def test_there_are_five_stores_of_growing_size(stores, wording):
    assert [store.collection.id for store in stores] == [f"{wording.name}-{size:02}" for size in (5, 10, 20, 35, 50)]


def test_there_are_about_six_hundred_answerable_questions_and_eighty_unanswerable_of_each_kind(stores):
    counted = Counter(question.category for store in stores for question in store.collection.questions)
    assert {name: counted[name] for name in UNANSWERABLE} == dict.fromkeys(UNANSWERABLE, 80)
    assert 540 <= counted.total() - 160 <= 620


def test_names_of_subjects_are_unique(subjects):
    assert len({subject.lower() for subject in subjects}) == len(subjects)


def test_every_id_of_a_question_is_in_its_store(stores):
    for store in stores:
        known = texts(store)
        assert all({*one.gold, *one.stale} <= known.keys() for one in store.collection.questions)
        assert all({*pair} <= known.keys() for pair in store.true_updates)


def test_only_questions_of_the_two_unknown_kinds_have_no_answer(stores):
    for store in stores:
        assert all(bool(one.gold) == (one.category not in UNANSWERABLE) for one in store.collection.questions)


def test_a_literal_question_shares_its_subject_and_its_attribute_with_every_answer(stores, subjects, words):
    for store in stores:
        known = texts(store)
        for one in asked(store, "literal", "lower"):
            subject = names_in(one.text, subjects)
            shared = {word for word in words if word in one.text.lower()}
            assert len(subject) == 1
            assert shared
            for gold in one.gold:
                assert subject <= names_in(known[gold], subjects)
                assert any(word in known[gold].lower() for word in shared)


def test_a_lower_case_question_has_no_capitals(stores):
    assert all(one.text == one.text.lower() for store in stores for one in asked(store, "lower"))


def test_a_changed_value_is_told_later_than_the_old_one_of_the_same_subject(stores, subjects):
    for store in stores:
        known = texts(store)
        at = {item.id: item.at for item in store.collection.items}
        for old, new in store.true_updates:
            assert at[old] < at[new]
            assert names_in(known[old], subjects) & names_in(known[new], subjects)


def test_a_question_about_a_changed_value_wants_the_new_one_and_one_about_the_past_the_old_one(stores):
    for store in stores:
        assert all((one.stale[0], one.gold[0]) in store.true_updates for one in asked(store, "update"))
        outdated = {old for old, _ in store.true_updates}
        assert all(set(one.gold) <= outdated for one in asked(store, "past"))


def test_other_questions_are_about_values_that_stand(stores):
    for store in stores:
        outdated = {old for old, _ in store.true_updates}
        assert not any(set(one.gold) & outdated for one in asked(store, "literal", "lower", "reworded"))


def test_an_unknown_subject_is_nowhere_in_its_store(stores, subjects):
    for store in stores:
        mentioned = set().union(*(names_in(text, subjects) for text in texts(store).values()))
        assert not any(names_in(one.text, subjects) & mentioned for one in asked(store, "subject-unknown"))


def test_an_unknown_attribute_is_nowhere_in_any_store(stores, wording):
    everything = "\n".join(text for store in stores for text in texts(store).values()).lower()
    assert not [word for kind in wording.kinds for _, word in kind.unknown if word.removesuffix("s") in everything]


def test_a_store_is_asked_and_counted():
    counted = as_json(run(alike.stores()[:1]))
    assert counted["answerable"]["asked"] + counted["unanswerable"]["asked"] == len(
        alike.stores()[0].collection.questions
    )
    assert counted["literal"]["right_first"] <= counted["literal"]["right_shown"] <= counted["literal"]["asked"]
    assert counted["answerable"]["true_marks"] <= counted["answerable"]["marks"]
    assert counted["unanswerable"]["right_first"] == 0
