"""How sure a ranking is that it answers the question."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybrid_memory.retrieval.pipeline import confidence, is_known

PLAIN = {"terms": 4, "gap": 0.3, "rarest": 0.0, "best_exact": 0.3, "best_product": 0.1}


SHARE = st.floats(0, 1)


@given(st.integers(0, 100), st.floats(0, 5), SHARE, SHARE, SHARE)
def test_confidence_is_a_likelihood(terms, gap, rarest, exact, product):
    found = confidence(terms=terms, gap=gap, rarest=rarest, best_exact=exact, best_product=product)
    assert 0 <= found <= 1


@pytest.mark.parametrize(("name", "more"), [("gap", 0.9), ("best_product", 0.4), ("rarest", 1.0), ("terms", 9)])
def test_what_speaks_for_an_answer_raises_confidence(name, more):
    assert confidence(**(PLAIN | {name: more})) > confidence(**PLAIN)


@pytest.mark.parametrize(
    ("certain", "exact", "cosine", "expected"),
    [(0.9, 0, 0, True), (0.3, 0.6, 0, True), (0.3, 0, 0.6, True), (0.3, 0.2, 0.2, False)],
)
def test_something_is_known_by_confidence_by_words_or_by_meaning(certain, exact, cosine, expected):
    assert is_known(certain, exact, cosine) is expected
