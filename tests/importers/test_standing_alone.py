"""What somebody wrote down is taken apart where a sentence can be understood alone."""

from hypothesis import given
from hypothesis import strategies as st
from tests.tables import each

from hybrid_memory_importers.standing_alone import apart


@each(
    "text, expected",
    [
        ("I live in Porto. My landlord is Rui Costa.", 2),
        ("My dentist is Dr. Bauer. She is strict.", 1),
        ("We don't use alpine. Use debian slim.", 1),
        ("Never push to main. Open a pull request.", 1),
        ("Use pnpm here. Tests are in src/tests.", 2),
        ("My sister lives in Hamburg. Her kids go to school there. Mum's birthday is 4 May.", 2),
        ("Why restic? The old backups were never tested.", 1),
        ("我住在上海。他在北京工作。", 1),
        ("我住在上海。我喜欢喝茶。", 2),
    ],
)
def test_a_sentence_that_needs_the_one_before_stays_with_it(text, expected):
    assert len(apart(text)) == expected


@given(st.text("ab. !?A他。\n", max_size=80))
def test_no_word_is_lost(text):
    assert "".join("".join(apart(text)).split()) == "".join(text.split())
