"""Where the words of a question stand in a text."""

from hypothesis import given
from hypothesis import strategies as st
from tests.tables import each

from hybrid_memory.retrieval.question import parse_question
from hybrid_memory.retrieval.understanding import UnderstoodWord
from hybrid_memory.retrieval.word_marks import word_marks
from hybrid_memory.testing import HASHER, START


def asked(question):
    words = parse_question(question, START, HASHER).words
    return [UnderstoodWord(word=one.marked, term=one.term, share=0.1, held=1) for one in words]


@each(
    "question, text, marked",
    [
        ("Who is Ada's dentist?", "Ada's dentists said: ADA", ["Ada's", "dentists", "ADA"]),
        ("東京の天気", "私は東京に住んでいます。天気がいい", ["東京", "天気"]),
        ("BUG-12", "BUG-12 and BUG-123", ["BUG-12", "BUG"]),
        ("Wo wohnt Jürgen?", "Jürgen wohnt in Köln.", ["Jürgen", "wohnt"]),
        ("soup", "tea for two", []),
    ],
)
def test_words_are_marked_as_search_tells_them_apart(question, text, marked):
    assert [text[one.begin : one.end] for one in word_marks(text, asked(question), HASHER)] == marked


@given(st.text(max_size=60), st.text(max_size=20))
def test_marks_of_any_text_lie_in_it_and_apart(text, question):
    marks = word_marks(text, asked(question), HASHER)
    ends = [0, *(one.end for one in marks)]
    assert all(end <= one.begin < one.end <= len(text) for end, one in zip(ends, marks, strict=False))
