from hypothesis import given
from hypothesis import strategies as st
from tests.tables import each

from hybrid_memory.retrieval.prompt_gist import GIST_CHARACTERS, gist_of


@each(
    "prompt, said",
    [
        ("fix auth.py", "fix auth.py"),
        ("todo: milk", "todo: milk"),
        ("from now on, use tabs", "from now on, use tabs"),
        ("let me know, please", "let me know, please"),
        ("import duties for wine, what are they?", "import duties for wine, what are they?"),
        ("why?\n```\nx = 1\n```\nthanks", "why?\nthanks"),
        ("why?\n```\nnever closed", "why?"),
        ("why?\n    x = 1\n\ty = 2", "why?"),
        ("why?\n> she said so", "why?"),
        ("why?\nTraceback (most recent call last):\nValueError: bad", "why?"),
        ("why?\n2026-11-02 10:14:07 INFO started", "why?"),
        ("why?\nimport os\nfrom a.b import c\nconst x = 1;", "why?"),
        ("why?\nname: web\nports:\n- image: nginx", "why?"),
        ("<ide>the file main.py is open</ide>rename it", "rename it"),
        ("a < b and b > c", "a < b and b > c"),
        ("translate to French: " + "We are glad that you can come to us. " * 3, "translate to French"),
        ("correct the spelling: hous", "correct the spelling: hous"),
        ("one\x00two\u2028three", "one two\nthree"),
    ],
)
def test_what_a_person_says_is_kept_and_what_is_pasted_is_not(prompt, said):
    assert gist_of(prompt) == said


@given(st.text(max_size=300).flatmap(lambda text: st.integers(1, 200).map(lambda count: text * count)))
def test_the_gist_of_any_prompt_is_short_and_can_be_printed(prompt):
    gist = gist_of(prompt)
    assert len(gist) <= GIST_CHARACTERS + 1
    assert all(c.isprintable() or c == "\n" for c in gist)


@each("piece", ["<a>", "</a>", "<a><b>", "```", "~~~", "translate ", "a:", "[", "x.y:1", "`", "<", "\n", "é "])
def test_no_repetition_takes_long(piece):
    """It would be minutes; the limit of a test is half a minute."""
    gist_of(piece * (1_000_000 // len(piece)))
