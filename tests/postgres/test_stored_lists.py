"""A list of texts in a column is asked for an element by its characters alone: that must say what reading the list says."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hybrid_memory.store.memory_fields import TEXTS
from hybrid_memory_postgres.list_table import elements, storable

TEXT = st.text(st.sampled_from('ab",\\[]{}:\n é'), max_size=6)


def found(stored: str, element: str) -> bool:
    """As the statements say it."""
    return stored.startswith("[" + element) or '",' + element in stored


@given(st.lists(TEXT, min_size=1, max_size=4), TEXT)
@example(['a,"b'], "b")
@example(['x","b","y'], "b")
@example(["a\\"], "a")
@example([""], "")
@example([":,", ""], ",")
def test_an_element_is_found_exactly_where_a_list_has_it(texts, wanted):
    stored = TEXTS.encode(texts)
    assert found(stored, elements([wanted])[0]) == (wanted in texts)


@pytest.mark.parametrize("text", ["\0", "a\0b"])
def test_what_the_database_cannot_hold_is_not_asked_for(text):
    assert storable(["a", text, ""]) == ["a", ""]
