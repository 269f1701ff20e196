"""The played lives: their files hold together, and what is counted is what the tools answered."""

from __future__ import annotations

import pytest
from benchmarks.lives import Score, files, play, read_life

KINDS = {"fact", "who", "when", "update", "temporal", "history", "multi", "open", "preference", "cross-language"}
EVERY = [pytest.param(path, id=path.stem) for check in (False, True) for path in files(check=check)]


@pytest.fixture(params=EVERY)
def life(request):
    return read_life(request.param)


@pytest.fixture(scope="module")
def score():
    return play(read_life(files()[0]))


def test_three_lives_are_to_develop_on_and_three_to_check():
    assert (len(files()), len(files(check=True))) == (3, 3)


def test_a_life_has_enough_memories_and_questions(life):
    assert 80 <= len(life.collection.items) <= 140
    assert len(life.collection.questions) >= 30


def test_every_kind_of_question_is_known_and_only_the_none_kinds_have_no_answer(life):
    for question in life.collection.questions:
        assert question.category in (KINDS if question.gold else {"none-absent", "none-near"}), question


def test_what_answers_a_question_was_written_before_it(life):
    at = {item.id: item.at for item in life.collection.items}
    assert all(at[one] <= asked.now for asked in life.collection.questions for one in (*asked.gold, *asked.stale))


def test_no_memory_is_both_the_answer_and_outdated(life):
    assert not [asked.text for asked in life.collection.questions if {*asked.gold} & {*asked.stale}]


def test_an_update_is_later_than_what_it_changes(life):
    at = {item.id: item.at for item in life.collection.items}
    assert all(at[old] < at[new] for old, new in life.updates)


def test_what_a_model_superseded_is_among_the_updates(life):
    named = {(memory["supersedes"], name) for name, memory in life.written.items() if "supersedes" in memory}
    assert named
    assert named <= life.updates


def test_a_brief_has_eight_parts_none_of_which_is_wrong(life):
    assert len(life.brief_parts) == 8
    assert frozenset().union(*life.brief_parts) | life.brief_wrong <= life.written.keys()
    assert not frozenset().union(*life.brief_parts) & life.brief_wrong


def test_the_mixed_lives_are_asked_across_languages():
    mixed = [read_life(path) for path in (*files(), *files(check=True)) if path.stem.endswith("craft")]
    assert all(any(asked.category == "cross-language" for asked in life.collection.questions) for life in mixed)


def test_every_question_of_a_life_is_counted_once(score):
    life = read_life(files()[0])
    assert score.reads == len(life.collection.questions)
    assert score.answerable - score.first == len(score.misses)
    assert score.asked_of.total() == score.answerable
    assert score.first_of.total() == score.first


def test_counts_stay_within_their_bounds(score):
    assert 0 < score.first <= score.in_three <= score.answerable
    assert 0 < score.bm25_first <= score.bm25_in_three <= score.answerable
    assert 0 < score.lexical_first <= score.lexical_in_three <= score.answerable
    assert score.stale_above <= score.changed
    assert score.true_marks <= score.marks
    assert score.brief_found <= score.brief_parts == 8


def test_what_is_read_costs_something(score):
    assert score.hits > 0
    assert score.characters > 20 * score.hits


def test_two_scores_add_up():
    both = Score(answerable=1, first=1, misses=["a"]) + Score(answerable=2, misses=["b"])
    assert (both.answerable, both.first, both.misses) == (3, 1, ["a", "b"])
