from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from tests.tables import each

from hybrid_memory.retrieval.bearing import Bearing, SharedWord, bears_on, speaks_of_own, telling_of
from hybrid_memory.retrieval.plain_question import asked_by
from hybrid_memory.retrieval.question import QuestionWord

shares = st.floats(0, 1)
words = st.builds(SharedWord, telling=shares)
bearings = st.builds(
    Bearing,
    shared=st.lists(words, max_size=4),
    share=shares,
    cosine=st.floats(-1, 1),
    first=st.booleans(),
    weak=st.booleans(),
    own=st.booleans(),
)


@given(bearings)
def test_without_a_word_that_tells_something_nothing_bears(bearing):
    assert not bears_on(replace(bearing, shared=()))
    assert not bears_on(replace(bearing, shared=(SharedWord(0.0),)))


@given(bearings, words, shares)
def test_more_in_common_never_takes_a_memory_away(bearing, word, more):
    if bears_on(bearing):
        assert bears_on(replace(bearing, shared=(*bearing.shared, word)))
        assert bears_on(replace(bearing, share=max(bearing.share, more), first=True, weak=False, own=True))
        assert bears_on(replace(bearing, cosine=max(bearing.cosine, more)))


def test_the_best_hit_that_holds_the_one_name_of_a_prompt_bears():
    assert bears_on(Bearing(shared=[SharedWord(1.0)], share=0.6, cosine=0.3, first=True))


def test_a_common_word_alone_does_not_bear():
    assert not bears_on(Bearing(shared=[SharedWord(0.2)], share=0.2, cosine=0.5, first=True))


@each("said, own", [("who is my dentist?", True), ("I'm late", True), ("who is Mimi?", False), ("", False)])
def test_who_speaks_of_his_own_is_told_by_the_pronouns(said, own):
    assert speaks_of_own(said) is own


@each("word", ["two", "first", "them", "new", "class", "zwei"])
def test_number_words_pronouns_and_orders_are_no_topic(word):
    assert telling_of(QuestionWord(term=1, marked=word, rank=40_000), "english", 1.0) == 0.0


def test_an_order_is_the_topic_of_a_question_about_ones_own_things():
    deploy = QuestionWord(term=1, marked="deploy", rank=900)
    assert telling_of(deploy, "english") == 0.0
    assert telling_of(deploy, "english", asked=asked_by("when can we deploy?")) > 0.5
    assert asked_by("deploy it when we are done") == asked_by("")
