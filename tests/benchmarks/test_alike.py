"""The generated look-alikes: the same every time, and what they call right is right."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from benchmarks import alike
from benchmarks.alike_words import KINDS
from benchmarks.claims import as_json, run
from benchmarks.retrieval import read_set

UNANSWERABLE = {"subject-unknown", "attribute-unknown"}


@pytest.fixture(scope="module")
def stores():
    return alike.stores()


def names_in(text, names):
    """Return the longest of the names at every place of the text where one stands, whatever its case."""
    longest_first = sorted(names, key=len, reverse=True)
    found = re.findall(r"(?<![\w/-])(?:" + "|".join(map(re.escape, longest_first)) + r")(?![\w-])", text, re.IGNORECASE)
    return {one.lower() for one in found}


def texts(store):
    return {item.id: item.text for item in store.collection.items}


def asked(store, *categories):
    return [one for one in store.collection.questions if one.category in categories]


SUBJECTS = [subject for kind in KINDS for subject in kind.subjects]
WORDS = {attribute.word for kind in KINDS for attribute in kind.attributes}


def test_the_same_seed_makes_the_same_stores(stores):
    assert alike.stores() == stores


def test_another_seed_makes_others(stores):
    assert alike.stores(alike.SEED + 1) != stores


def test_the_benchmark_knows_the_set_by_its_name():
    assert read_set("alike") == alike.collections()


def test_there_are_five_stores_of_growing_size(stores):
    assert [store.collection.id for store in stores] == ["alike-05", "alike-10", "alike-20", "alike-35", "alike-50"]


def test_there_are_about_six_hundred_answerable_questions_and_eighty_unanswerable_of_each_kind(stores):
    counted = Counter(question.category for store in stores for question in store.collection.questions)
    assert {name: counted[name] for name in UNANSWERABLE} == dict.fromkeys(UNANSWERABLE, 80)
    assert 580 <= counted.total() - 160 <= 620


def test_names_of_subjects_are_unique():
    assert len({subject.lower() for subject in SUBJECTS}) == len(SUBJECTS)


def test_every_id_of_a_question_is_in_its_store(stores):
    for store in stores:
        known = texts(store)
        assert all({*one.gold, *one.stale} <= known.keys() for one in store.collection.questions)
        assert all({*pair} <= known.keys() for pair in store.true_updates)


def test_only_questions_of_the_two_unknown_kinds_have_no_answer(stores):
    for store in stores:
        assert all(bool(one.gold) == (one.category not in UNANSWERABLE) for one in store.collection.questions)


def test_a_literal_question_shares_its_subject_and_its_attribute_with_every_answer(stores):
    for store in stores:
        known = texts(store)
        for one in asked(store, "literal", "lower"):
            subject = names_in(one.text, SUBJECTS)
            words = {word for word in WORDS if word in one.text.lower()}
            assert len(subject) == 1
            assert words
            for gold in one.gold:
                assert subject <= names_in(known[gold], SUBJECTS)
                assert any(word in known[gold].lower() for word in words)


def test_a_lower_case_question_has_no_capitals(stores):
    assert all(one.text == one.text.lower() for store in stores for one in asked(store, "lower"))


def test_a_changed_value_is_told_later_than_the_old_one_of_the_same_subject(stores):
    for store in stores:
        known = texts(store)
        at = {item.id: item.at for item in store.collection.items}
        for old, new in store.true_updates:
            assert at[old] < at[new]
            assert names_in(known[old], SUBJECTS) & names_in(known[new], SUBJECTS)


def test_a_question_about_a_changed_value_wants_the_new_one_and_one_about_the_past_the_old_one(stores):
    for store in stores:
        assert all((one.stale[0], one.gold[0]) in store.true_updates for one in asked(store, "update"))
        outdated = {old for old, _ in store.true_updates}
        assert all(set(one.gold) <= outdated for one in asked(store, "past"))


def test_other_questions_are_about_values_that_stand(stores):
    for store in stores:
        outdated = {old for old, _ in store.true_updates}
        assert not any(set(one.gold) & outdated for one in asked(store, "literal", "lower", "reworded"))


def test_an_unknown_subject_is_nowhere_in_its_store(stores):
    for store in stores:
        mentioned = set().union(*(names_in(text, SUBJECTS) for text in texts(store).values()))
        assert not any(names_in(one.text, SUBJECTS) & mentioned for one in asked(store, "subject-unknown"))


def test_an_unknown_attribute_is_nowhere_in_any_store(stores):
    everything = "\n".join(text for store in stores for text in texts(store).values()).lower()
    assert not [word for kind in KINDS for _, word in kind.unknown if word.removesuffix("s") in everything]


def test_a_store_is_asked_and_counted():
    counted = as_json(run(alike.stores()[:1]))
    assert counted["answerable"]["asked"] + counted["unanswerable"]["asked"] == len(
        alike.stores()[0].collection.questions
    )
    assert counted["literal"]["right_first"] <= counted["literal"]["right_shown"] <= counted["literal"]["asked"]
    assert counted["answerable"]["true_marks"] <= counted["answerable"]["marks"]
    assert counted["unanswerable"]["right_first"] == 0
