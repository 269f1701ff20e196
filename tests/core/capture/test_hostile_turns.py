import string
import subprocess
import sys
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybrid_memory.capture.model import Turn
from hybrid_memory.capture.statements import statements

NOW = datetime(2026, 3, 2, 9, tzinfo=UTC)
PIECES = [
    *(
        "i ",
        "I prefer ",
        "my sister ",
        "no, ",
        "not ",
        "let's go with ",
        "we decided to ",
        "remember that ",
        "if ",
        "translate: ",
        "on 3 May ",
    ),
    *(
        "\n",
        "\n\n",
        "> ",
        "```",
        "<a>",
        "</a>",
        '"',
        "„",
        "「",
        "from: a\n",
        "hi,\n",
        "uh ",
        ", and i ",
        " - ",
        "a.b",
        "-",
        "'",
        "{",
        "1.",
        "?",
        ". ",
    ),
    *("，", "我喜欢", "これ", "je ", "ich ", "\0", "\u2028", "é", "İ", "🙄"),
]


@pytest.mark.parametrize("piece", PIECES)
def test_a_hundred_thousand_characters_of_anything_are_read_at_once(piece):
    text = piece * (100_000 // len(piece))

    statements(
        [Turn(text, NOW), Turn(f"I prefer {text}", NOW)]
    )  # the tests' own limit of time fails what is not linear


@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=8), max_size=60).map("".join))
def test_whatever_is_said_only_its_own_words_are_kept(text):
    for one in statements([Turn(text, NOW)]):
        assert one.text.strip() == one.text
        assert 0 < len(one.text) <= 300
        assert 0 <= one.importance <= 1


@given(st.lists(st.sampled_from(PIECES), max_size=30).map("".join))
def test_the_same_turns_give_the_same_statements(text):
    assert statements([Turn(text, NOW)]) == statements([Turn(text, NOW)])


@given(st.text(string.ascii_letters + " ,.'", max_size=200))
def test_a_quotation_is_never_kept(text):
    assert statements([Turn(f"> I prefer {text}", NOW)]) == ()


def test_importing_compiles_no_pattern():
    program = (
        "import hybrid_memory.language.lazy_pattern as lazy\n"
        "made, kind, original = [], lazy.LazyPattern, lazy.LazyPattern.compiled\n"
        "kind.compiled = property(lambda self: made.append(self) or original.fget(self))\n"
        "import hybrid_memory.capture.statements\n"
        "print(len(made))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "0"
