"""Expressions that are compiled at their first use are the same expressions, and importing compiles none of them."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybrid_memory.language.lazy_pattern import LazyPattern

LAZY, EAGER = LazyPattern("(a)(b*)", re.IGNORECASE), re.compile("(a)(b*)", re.IGNORECASE)
TEXT = st.text("abAB c", max_size=20)


def spans(found):
    return [match and match.span() for match in found]


@given(TEXT)
def test_a_lazy_pattern_finds_what_a_compiled_one_finds(text):
    for name in ("search", "match", "fullmatch"):
        assert spans([getattr(LAZY, name)(text)]) == spans([getattr(EAGER, name)(text)])
    assert spans(LAZY.finditer(text)) == spans(EAGER.finditer(text))
    for name in ("findall", "split"):
        assert getattr(LAZY, name)(text) == getattr(EAGER, name)(text)
    assert LAZY.sub("x", text) == EAGER.sub("x", text)


@pytest.mark.slow
@pytest.mark.parametrize("module", ["hybrid_memory.service.memory_service", "hybrid_memory.encoding.word_encoding"])
def test_importing_compiles_no_lazy_pattern(module):
    program = f"""
import sys, {module}
from hybrid_memory.language.lazy_pattern import LazyPattern
values = [value for module in list(sys.modules.values()) for value in vars(module).values()]
found = {{id(value): value for value in values if isinstance(value, LazyPattern)}}
print(len(found), sum(value._compiled is not None for value in found.values()))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    count, compiled = map(int, done.stdout.split())
    assert count > 50
    assert compiled == 0


def test_a_source_that_is_a_function_is_called_once_and_at_the_first_use():
    calls = []
    pattern = LazyPattern(lambda: calls.append(1) or "a+", re.IGNORECASE)
    assert calls == []
    assert pattern.fullmatch("aA") is not None
    assert pattern.search("b") is None
    assert calls == [1]
