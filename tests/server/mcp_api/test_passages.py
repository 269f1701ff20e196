from __future__ import annotations

import unicodedata

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.tables import each

from hybrid_memory.language.text import whole_characters
from hybrid_memory_mcp.mcp_api.passages import Passages

MARK = "…[cut]"
FILLER = "Somebody brought cake and told a story. " * 40


def shown(text, question, *, room=1000, most=400):
    return Passages(question).find(text, lambda found: len(found) <= room, mark=MARK, most=most)


@each(
    "answer, question",
    [
        ("The key hangs behind the blue barrel.", "Where does the key hang?"),
        ("Der Schlüssel hängt hinter dem Fass.", "Wo hängt der Schlüssel?"),
        ("La clé est derrière le tonneau.", "Où est la clé ?"),
        ("钥匙挂在蓝色的桶后面。", "钥匙在哪里？"),
    ],
)
@each("after", ["", FILLER])
def test_the_sentence_that_answers_is_shown_wherever_it_stands(answer, question, after):
    assert answer in shown(f"{FILLER}{answer} {after}", question)


def test_a_rare_word_counts_more_than_a_frequent_one():
    text = FILLER + "cake story cake story somebody brought. " + FILLER + "The barrel leaks. " + FILLER
    assert "The barrel leaks." in shown(text, "cake barrel")


def test_two_neighbouring_sentences_with_half_of_the_words_each_are_shown_together():
    found = shown(f"{FILLER}Otto has the ladder. He lent it to Vera. {FILLER}", "Who lent Otto's ladder to Vera?")
    assert "Otto has the ladder. He lent it to Vera." in found


def test_an_answer_at_the_beginning_is_shown_with_what_follows():
    text = "The key hangs behind the barrel. " + FILLER
    assert text.startswith(shown(text, "key").removesuffix(MARK))


def test_without_a_word_of_the_question_there_is_no_passage():
    assert shown(FILLER, "glacier") is None


def test_without_room_there_is_no_passage():
    assert shown(FILLER + "The key hangs there.", "key", room=30) is None


PARTS = ("key. ", "The key hangs here! ", "e\u0301\u0301", "👩\u200d👩\u200d👧", "記鍵。", "\n", "x" * 500)
texts = st.lists(st.one_of(st.text(max_size=60), st.sampled_from(PARTS)), max_size=60).map("".join)


@settings(deadline=None)
@given(
    texts, st.sampled_from(["key", "where does the key hang", "鍵", "x", ""]), st.integers(0, 600), st.integers(20, 600)
)
def test_a_passage_is_never_longer_than_the_room_and_of_pieces_of_the_text(text, question, room, most):
    found = shown(text, question, room=room, most=most)
    if found is None:
        return
    assert len(found) <= room
    body = found.removesuffix(MARK)
    places = [at for at in range(len(body)) if body.startswith("… ", at)]
    assert text.startswith(body) or any(text.startswith(body[:at]) and body[at + 2 :] in text for at in places)


@given(texts, st.integers(0, 400))
def test_a_place_to_cut_splits_no_combined_character(text, end):
    place = whole_characters(text, end)
    assert place <= end
    if 0 < place < len(text):
        assert not unicodedata.combining(text[place])
        assert "\u200d" not in text[place - 1 : place + 1]


@settings(deadline=None)
@given(
    st.lists(st.sampled_from(["e\u0301", "👩‍👩‍👧", "key. "]), min_size=30, max_size=300).map("".join),
    st.integers(20, 200),
)
def test_a_passage_splits_no_combined_character(text, most):
    found = shown(FILLER + text, "key", most=most)
    if found is not None:
        _, _, window = found.removesuffix(MARK).partition("… ")
        assert not unicodedata.combining(window[:1] or "a")
        assert window[:1] != "\u200d"
        assert not window.endswith("\u200d")
